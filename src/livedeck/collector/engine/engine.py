"""One of several collectors: what it holds, what it hands out, what it hears, and what it does apart (engine.md)."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from contextlib import suppress
from datetime import datetime
from math import inf
from typing import Any
from uuid import uuid4

import structlog

from livedeck.collector.engine.packets import decode_answer, encode_answer
from livedeck.collector.engine.ranks import first_in_rank
from livedeck.collector.engine.shared import (
    PATIENCE,
    Claim,
    Held,
    News,
    PassedOver,
    RefusedError,
    SharedStore,
    SharedStoreError,
)
from livedeck.monitor import Clock, SharedAnswer, SharingFault

DESK = "@desk"
"""The lease of who tells; no event has that id."""

_LEASES, _ANSWERS, _NEWS = "leases", "answers", "news"
"""What is done there, each of which may fail by itself."""

_LEASE = 0.9
"""Of the time to live: with the jitter of asking, an event is asked for again within that time and one interval."""

_SILENT = 0.5
"""Of the time to live: who has not claimed for so long has died, for each third of it is one due."""

_LOOK = 0.2
"""Seconds between two looks at who claims."""

_MARGIN = 0.02
"""Seconds after another one's lease ran out: claimed before, it is not free yet."""

_READ_SECONDS = 1.0
_GATHER_SECONDS = 0.05
_AT_ONCE = 64
"""Answers in one call; they are gathered for so long."""

_MAX_WAITING = 2000
"""Answers that wait for Redis, the newest of each event: past it the others ask for themselves."""

_MAX_RETRY, _ROUNDING = 600.0, 1.0
"""Seconds that a wish of the platform holds for all; who asks later is told of it anew."""

_SETTLING = 2.0
"""Seconds after Redis is back in which all stays with who had it meanwhile: until everybody has claimed that."""

_log: Any = structlog.get_logger("livedeck.collector")


def _name(worker: str) -> str:
    """As its settings call it."""
    return worker.partition("/")[0]


class Engine:
    """The monitor's `Shares`, over a store that may go away at any moment. No poll waits for it.

    `join` before the monitor starts; `run` until cancelled; `leave` gives everything back. `ttl`: seconds after which
    others take over what a dead one held. `forgotten`: how often Redis has lost everything; `refused`: how many
    answers were handed out too late, as another one had taken over.
    """

    def __init__(self, store: SharedStore, clock: Clock, ttl: float) -> None:
        self._store, self._clock, self._ttl = store, clock, ttl
        self._wanted: frozenset[str] = frozenset()
        self._is_able = True
        self._epochs: dict[str, int] = {}  # of what is held
        self._workers: tuple[str, ...] = (store.worker,)
        self._generation = ""  # another one where Redis has forgotten everything
        self._redis_ahead, self._is_redis_time_known = 0.0, False  # seconds, of the monotonic clock
        self._next_claim = 0.0  # seconds
        self._retry_at, self._unsent_retry = -inf, 0.0  # when the platform may be asked again (monotonic s)
        self._apart_since: datetime | None = None
        self._why: dict[str, str] = {}  # apart, by what fails
        self._settled_at = -inf  # soon after Redis is back (monotonic s)
        self._suspected: tuple[str, ...] = ()  # lost, by the last claim
        self._lost: tuple[str, ...] = ()  # lost, by the last two
        self._outbox: dict[str, tuple[int, str]] = {}
        self._inbox: dict[str, tuple[str, str]] = {}
        self._rows: list[str] = []
        self._is_listening, self._passed_over = False, PassedOver()
        self.forgotten = self.refused = 0
        self._has_outbox, self._has_news, self._hurry = asyncio.Event(), asyncio.Event(), asyncio.Event()

    # What the monitor sees of it

    @property
    def part(self) -> float:
        """Of the request budget that is this collector's."""
        return 1.0 / max(1, len(self._workers))

    @property
    def held_events(self) -> int:
        """How many events this one asks for, for all."""
        return len(self._epochs.keys() - {DESK})

    @property
    def fault(self) -> SharingFault:
        """What is wrong."""
        return SharingFault(self._apart_since, next(iter(self._why.values()), ""), self._lost)

    @property
    def is_cut_off(self) -> bool:
        """Whether Redis is away, as far as is known. Apart is also who is there, and may not do all that it must."""
        return _LEASES in self._why

    @property
    def retry_seconds(self) -> float:
        """For how long nobody may ask the platform."""
        return max(0.0, self._retry_at - self._clock.monotonic())

    def holds(self, event_id: str) -> bool:
        """Whether this one asks for that event's samples, for all."""
        return event_id in self._epochs

    def want(self, event_ids: Collection[str], *, is_answering: bool) -> None:
        """These are to be shared out."""
        wanted = frozenset(event_ids)
        if wanted != self._wanted or is_answering is not self._is_able:
            self._wanted, self._is_able = wanted, is_answering
            self._hurry.set()

    def publish(self, answer: SharedAnswer) -> None:
        """Hand it out, if it is held. Returns at once."""
        epoch = self._epochs.get(answer.event_id)
        is_room = answer.event_id in self._outbox or len(self._outbox) < _MAX_WAITING
        if epoch is not None and not self.is_cut_off and is_room:
            self._outbox[answer.event_id] = epoch, encode_answer(answer, self._redis_ms())
            self._has_outbox.set()

    def hold_back(self, seconds: float) -> None:
        """The platform wants nobody to ask for so long."""
        self._unsent_retry = min(seconds, _MAX_RETRY)
        self._note_retry(self._unsent_retry)
        self._has_outbox.set()

    def received(self) -> tuple[SharedAnswer, ...]:
        """What others were answered since the last call, the newest of each event."""
        inbox, self._inbox = self._inbox, {}
        self._has_news.clear()
        answers = []
        for event_id, (worker, body) in inbox.items():
            try:
                answers.append(decode_answer(event_id, body, self._redis_ms()))
            except ValueError as error:
                self._passed_over.tell("an answer of another collector", error, by=worker)
        return tuple(answers)

    async def wait(self) -> None:
        """Return when something was received, or it changed what is held."""
        await self._has_news.wait()

    # What the notifier and the rows of persons need of it

    @property
    def desk_epoch(self) -> int | None:
        """Of the lease of the desk: who holds it tells. None where another one does.

        It is a lease like any other, and falls to the first in rank. While Redis is away, who told goes on, and soon
        after it has the desk again (`_claims`): nobody else knows what was told meanwhile.
        """
        return self._epochs.get(DESK)

    @property
    def workers(self) -> tuple[str, ...]:
        """Who is there, as it was last known."""
        return self._workers

    def note(self, what: str, error: SharedStoreError | None = None) -> None:
        """How that went which all collectors do there. Where Redis answers and refuses it, the others do without: that
        is to be known. Whether it answers at all the leases tell, which are claimed at once."""
        if isinstance(error, RefusedError):
            self._be_apart(what, str(error))
        elif error is None:
            self._be_together(what)
        else:
            self._hurry.set()

    def take_rows(self) -> list[str]:
        """What others said since the last call."""
        rows, self._rows = self._rows, []
        return rows

    # Its work

    async def has_namesake(self) -> bool:
        """Whether another one is at work under this one's name: it claims again while this one looks on. Who has died
        under that name does not, and is not waited for longer than it takes to tell. Raises SharedStoreError."""
        name, first = _name(self._store.worker), dict[str, int]()
        until = self._clock.monotonic() + self._ttl
        while self._clock.monotonic() < until:
            oldest = await self._store.time_ms() - round(self._ttl * _SILENT * 1000)
            seen = {worker: at for worker, at in (await self._store.seen_ms()).items() if _name(worker) == name}
            first = seen | first
            if any(at > first[worker] for worker, at in seen.items()):
                return True
            if all(at < oldest for at in seen.values()):
                break
            await self._clock.sleep(_LOOK)
        return False

    async def join(self) -> None:
        """Be there with what falls to this one, or be apart."""
        await self._claim_or_part()
        if not self.is_cut_off and not self._is_listening:
            with suppress(SharedStoreError):
                await self._store.listen()
                self._is_listening = True

    async def leave(self) -> None:
        """Give everything back, where Redis can be reached; else the leases run out."""
        try:
            await self._store.release()
        except SharedStoreError as error:
            _log.warning("the leases are not given back, and run out", why=str(error))

    async def run(self) -> None:
        """Renew, hand out and hear, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._keep_leases(), name="engine leases")
            group.create_task(self._write(), name="engine writer")
            group.create_task(self._read(), name="engine reader")

    async def _keep_leases(self) -> None:
        while True:
            await self._wait_hurried(self._next_claim)
            await self._claim_or_part()

    async def _wait_hurried(self, seconds: float) -> None:
        """So long, or until something makes a claim urgent."""
        tasks = [asyncio.ensure_future(work) for work in (self._clock.sleep(seconds), self._hurry.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
        self._hurry.clear()

    async def _claim_or_part(self) -> None:
        known, was_settling = self._workers, self._is_settling
        try:
            held = await self._claim()
            if held.workers != known and not was_settling:  # then it took nothing by rank
                held = await self._claim()
        except SharedStoreError as error:
            self._part(str(error))
            if isinstance(error, RefusedError):  # such as one that only reads: its name may lead to another one by now
                await self._store.reconnect()
        else:
            self._heed(held)

    async def _claim(self) -> Held:
        if not self._is_redis_time_known:
            self._set_redis_time(self._clock.monotonic(), await self._store.time_ms())
        begun = self._clock.monotonic()
        held = await self._store.claim(
            self._claims(),
            span_ms=round(self._ttl * _LEASE * 1000),
            expected_ms=self._redis_ms(),
            workers=self._workers,
            generation=uuid4().hex,
            is_able=self._is_able,
        )
        self._set_redis_time(begun, held.redis_ms)
        if self._generation not in {"", held.generation}:
            _log.warning("Redis has forgotten everything")
            self.forgotten += 1
            self._store.start_over()
            self._settled_at = self._clock.monotonic() + _SETTLING
        self._generation = held.generation
        if not self._is_settling:
            self._workers = held.workers
        return held

    @property
    def _is_settling(self) -> bool:
        """Whether who is there is what was last known: Redis is away, or so new that not everybody has been heard."""
        return self.is_cut_off or self._clock.monotonic() < self._settled_at

    def _claims(self) -> dict[str, Claim]:
        """How each lease is claimed: by rank; while it settles, by who held it and nobody else: that one has asked for
        the event all the time, and has told what there was to tell."""
        me, wanted = self._store.worker, (*sorted(self._wanted), DESK)
        if self._is_settling:
            return {event_id: Claim.IF_FREE if event_id in self._epochs else Claim.RENEW for event_id in wanted}
        return {event_id: Claim(first_in_rank(event_id, self._workers) == me) for event_id in wanted}

    def _part(self, reason: str) -> None:
        """Redis is away: go on with what is held, and ask for everything."""
        self._is_redis_time_known, self._next_claim = False, PATIENCE
        if not self.is_cut_off:
            self._outbox.clear()
        self._be_apart(_LEASES, reason)

    def _be_apart(self, what: str, why: str) -> None:
        self._why[what] = why
        if self._apart_since is None:
            self._apart_since = self._clock.now()
            self._has_news.set()
            _log.warning("apart from the other collectors", why=why)

    def _be_together(self, what: str) -> None:
        self._why.pop(what, None)
        if self._apart_since is not None and not self._why:
            self._apart_since = None
            _log.warning("together with the other collectors again", workers=len(self._workers))

    def _heed(self, held: Held) -> None:
        """Redis answers: this is what is held."""
        if self.is_cut_off:
            self._settled_at = self._clock.monotonic() + _SETTLING
            self._be_together(_LEASES)
        if held.epochs.keys() != self._epochs.keys():
            self._has_news.set()
        self._epochs = dict(held.epochs)
        if not self.held_events:
            self._be_together(_ANSWERS)  # it has none to hand out
        self._note_retry(held.retry_ms / 1000)
        self._lost = tuple(name for name in held.lost if name in self._suspected and not self._is_settling)
        self._suspected = held.lost
        to_next_end = (held.next_ms - held.redis_ms) / 1000 + _MARGIN
        is_moving = self._is_settling or held.workers != self._workers
        self._next_claim = min(self._ttl / 3, max(_MARGIN, to_next_end), PATIENCE if is_moving else self._ttl)

    async def _write(self) -> None:
        """Hand out what waits; what cannot be handed out is dropped, for the next answer is newer."""
        while True:
            await self._has_outbox.wait()
            await self._clock.sleep(_GATHER_SECONDS)
            self._has_outbox.clear()
            try:
                await self._hand_out()
            except SharedStoreError as error:
                self._outbox.clear()
                self.note(_ANSWERS, error)
            else:
                self.note(_ANSWERS)

    async def _hand_out(self) -> None:
        if self._unsent_retry:
            seconds, self._unsent_retry = self._unsent_retry, 0.0
            await self._store.hold_back(seconds)
        while self._outbox:
            events = [*self._outbox][:_AT_ONCE]
            batch = [(event_id, *self._outbox.pop(event_id)) for event_id in events]
            if refused := await self._store.publish(batch):
                self.refused += len(refused)
                self._hurry.set()  # another one has them, or Redis has forgotten whose they are

    async def _read(self) -> None:
        while True:
            try:
                news = await self._store.read(_READ_SECONDS)
            except SharedStoreError as error:
                self.note(_NEWS, error)
                await self._clock.sleep(PATIENCE)
            else:
                self.note(_NEWS)
                self._take_news(news)

    def _take_news(self, news: News) -> None:
        self._inbox |= {answer.event_id: (answer.worker, answer.body) for answer in news.answers}
        self._rows += news.rows
        self._note_retry((news.retry_ms - self._redis_ms()) / 1000)
        if news.answers or news.retry_ms:
            self._has_news.set()
        if news.has_left:
            self._hurry.set()

    def _note_retry(self, seconds: float) -> None:
        """For so long nobody may ask. More than any of us writes is of another clock, or a stranger's."""
        if seconds <= _MAX_RETRY + _ROUNDING:
            self._retry_at = max(self._retry_at, self._clock.monotonic() + seconds)

    def _redis_ms(self) -> int:
        """Redis' time, as far as it is known."""
        return round((self._clock.monotonic() + self._redis_ahead) * 1000)

    def _set_redis_time(self, begun: float, redis_ms: int) -> None:
        """By an exchange that began then (monotonic s) and has just ended."""
        self._redis_ahead = redis_ms / 1000 - (begun + self._clock.monotonic()) / 2
        self._is_redis_time_known = True
