"""Collector among several: its leases, its exchange of replies, and its work without Redis (engine.md)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from hashlib import blake2b, sha256
from math import floor, inf, log
from types import MappingProxyType
from uuid import uuid4

from livedeck.collector.engine.packets import decode_answer, encode_answer
from livedeck.collector.engine.shared import (
    PATIENCE,
    WHOLE,
    Claim,
    Held,
    News,
    RefusedError,
    SharedStore,
    SharedStoreError,
    UnreadableLog,
)
from livedeck.log import Log
from livedeck.monitor import Clock, SharedAnswer, SharingFault

DESK = "@desk"
"""Key of the notifier lease among the leases of events. No event has this id."""

_LEASES, _ANSWERS, _NEWS = "leases", "answers", "news"
"""Kinds of work in Redis that can fail independently."""

_LEASE = 0.9
"""Lifetime of a lease as a fraction of the TTL.

The other tenth allows for jitter. So the events of a dead collector are polled again within the TTL and one interval.
"""

_SILENT = 0.5
"""Fraction of the TTL without a claim after which a collector's name is free. Claims come every third of the TTL."""

_LOOK = 0.2
"""Seconds between two checks for a live collector of the same name."""

_MARGIN = 0.02
"""Seconds from the expiry of another collector's lease to its claim, so that no claim comes too early."""

_READ_SECONDS = 1.0
_GATHER_SECONDS = 0.05
_AT_ONCE = 64
"""Maximum number of replies in a call to Redis; replies are gathered for `_GATHER_SECONDS`."""

_MAX_WAITING = 2000
"""Maximum number of replies that wait for Redis, the newest of each event; others are dropped."""

_MAX_RETRY, _ROUNDING = 600.0, 1.0
"""Maximum seconds of a platform's Retry-After that collectors share, and tolerance in seconds between clocks."""

_SETTLING = 2.0
"""Seconds after the return of Redis in which every lease stays with its last holder, until all collectors can claim."""

_log = Log("livedeck.collector")


def first_in_rank(event_id: str, workers: Iterable[str], shares: Mapping[str, int] = MappingProxyType({})) -> str:
    """Return the worker that should hold the lease of an event; empty without workers.

    Every collector computes the same result (weighted rendezvous hashing). If a worker joins or leaves, only its share
    of the events moves. `shares`: slow worker -> percent of the usual number of events; the others poll the rest.
    """

    def rank(worker: str) -> tuple[float, bytes, str]:
        weight = _weight(event_id, worker)
        chance = ((int.from_bytes(weight) >> 12) + 0.5) / 2**52  # above 0 and below 1, also as a float
        return -shares.get(worker, WHOLE) / log(chance), weight, worker

    return max(workers, key=rank, default="")


def _weight(event_id: str, worker: str) -> bytes:
    return blake2b(f"{worker}\0{event_id}".encode(), digest_size=8).digest()


def worker_of(name: str, workspace: str) -> str:
    """Return a new worker: its name in the settings, a number of this run, and a digest of the workspace if known.

    `workspace`: id of the workspace; empty if it is unknown.
    """
    mark = [sha256(workspace.encode()).hexdigest()[:12]] if workspace else []
    return "/".join([name, uuid4().hex[:8], *mark])


def is_namesake(worker: str, other: str) -> bool:
    """Return whether both workers have the same name in their settings."""
    return worker.partition("/")[0] == other.partition("/")[0]


def is_stranger(worker: str, other: str) -> bool:
    """Return whether the workers watch two workspaces. False if the workspace of either is unknown."""
    marks = {mark for _, _, mark in (each.split("/") for each in (worker, other) if each.count("/") == 2)}
    return len(marks) == 2


_STEP = 5
"""Shares are multiples of this percentage, so that small changes move no leases."""


def _share(capacity: float, fair: float) -> int:
    """Return the share of a worker in percent of the usual number of events.

    `capacity`: number of events that it polls in time. `fair`: usual number of events.
    """
    return max(_STEP, min(WHOLE, _STEP * floor(WHOLE / _STEP * capacity / fair))) if fair else WHOLE


class Engine:
    """Implementation of the monitor's `Shares` through Redis. No poll waits for Redis, which may become unreachable.

    Call `join` before the monitor starts, `run` until cancelled, and `leave` to give back the leases. `ttl`: seconds; a
    lease lasts nine tenths of them. `forgotten`: number of times that Redis lost its data. `refused`: number of replies
    that Redis refused, because another collector held the lease of their event by then.
    """

    def __init__(self, store: SharedStore, clock: Clock, ttl: float) -> None:
        self._store, self._clock, self._ttl = store, clock, ttl
        self._wanted: frozenset[str] = frozenset()
        self._is_able, self._share = True, WHOLE
        self._shares: Mapping[str, int] = {}  # slow worker -> share in percent
        self._epochs: dict[str, int] = {}  # held lease -> epoch
        self._workers: tuple[str, ...] = (store.worker,)
        self._generation = ""  # changes when Redis has lost its data
        self._redis_ahead, self._is_redis_time_known = 0.0, False  # seconds by which Redis is ahead of monotonic time
        self._next_claim = 0.0  # seconds until the next claim
        self._retry_at, self._unsent_retry = -inf, 0.0  # end of a wait that the platform demands (monotonic s)
        self._apart_since: datetime | None = None
        self._reasons: dict[str, str] = {}  # failing work -> reason; not empty while this collector is apart
        self._settled_at = -inf  # end of settling after the return of Redis (monotonic s)
        self._suspected: tuple[str, ...] = ()  # collectors that are lost by the last claim
        self._lost: tuple[str, ...] = ()  # collectors that are lost by the last two claims
        self._outbox: dict[str, tuple[int, str]] = {}
        self._inbox: dict[str, tuple[str, str]] = {}
        self._rows: list[str] = []
        self._is_listening, self._unreadable = False, UnreadableLog()
        self.forgotten = self.refused = 0
        self._has_outbox, self._has_news, self._hurry = asyncio.Event(), asyncio.Event(), asyncio.Event()

    # Face for the monitor

    @property
    def part(self) -> float:
        """Share of the request budget for this collector, from 0 to 1; smaller if it is slow."""
        own, all_shares = self._share_of(self._store.worker), sum(map(self._share_of, self._workers))
        return own / max(own, all_shares)

    def _share_of(self, worker: str) -> int:
        return self._shares.get(worker, WHOLE)

    @property
    def held_events(self) -> frozenset[str]:
        """Events that this collector polls for all."""
        return frozenset(self._epochs.keys() - {DESK})

    @property
    def fault(self) -> SharingFault:
        """Current fault of the exchange with the other collectors."""
        return SharingFault(self._apart_since, next(iter(self._reasons.values()), ""), self._lost)

    @property
    def is_cut_off(self) -> bool:
        """True while Redis is unreachable; False if Redis only refuses some work."""
        return _LEASES in self._reasons

    @property
    def retry_seconds(self) -> float:
        """Seconds until any collector may poll the platform again."""
        return max(0.0, self._retry_at - self._clock.monotonic())

    def holds(self, event_id: str) -> bool:
        """Return whether this collector polls an event for all."""
        return event_id in self._epochs

    def want(self, event_ids: Collection[str], *, is_answering: bool, capacity: float | None = None) -> None:
        """Set the events to share.

        `is_answering`: this collector has good replies from the platform. `capacity`: number of events that it polls in
        time; None without a limit.
        """
        wanted = frozenset(event_ids)
        share = WHOLE if capacity is None else _share(capacity, len(wanted) / max(1, len(self._workers)))
        if (wanted, is_answering, share) != (self._wanted, self._is_able, self._share):
            self._wanted, self._is_able, self._share = wanted, is_answering, share
            self._hurry.set()

    def publish(self, answer: SharedAnswer) -> None:
        """Publish a reply if this collector holds the lease of the event. Returns at once."""
        epoch = self._epochs.get(answer.event_id)
        is_room = answer.event_id in self._outbox or len(self._outbox) < _MAX_WAITING
        if epoch is not None and not self.is_cut_off and is_room:
            self._outbox[answer.event_id] = epoch, encode_answer(answer, self._redis_ms())
            self._has_outbox.set()

    def hold_back(self, seconds: float) -> None:
        """Make all collectors wait for `seconds` before they poll, because the platform demands it."""
        self._unsent_retry = min(seconds, _MAX_RETRY)
        self._note_retry(self._unsent_retry)
        self._has_outbox.set()

    def received(self) -> tuple[SharedAnswer, ...]:
        """Return the replies from other collectors since the last call, only the newest of each event."""
        inbox, self._inbox = self._inbox, {}
        self._has_news.clear()
        answers = []
        for event_id, (worker, body) in inbox.items():
            try:
                answers.append(decode_answer(event_id, body, self._redis_ms()))
            except ValueError as error:
                self._unreadable.log("reply from another collector", error, by=worker)
        return tuple(answers)

    async def wait(self) -> None:
        """Wait for a reply from another collector, or for a change of the held leases."""
        await self._has_news.wait()

    # Face for the notifier and for the rows of people's actions

    @property
    def desk_epoch(self) -> int | None:
        """Epoch of the notifier lease; None if another collector holds the lease.

        The lease goes to the first in rank, like any other. While Redis is unreachable, the last notifier continues. It
        regains the lease afterwards (`_claims`), because only this collector knows the notifications that it sent.
        """
        return self._epochs.get(DESK)

    @property
    def workers(self) -> tuple[str, ...]:
        """Names of the collectors that were alive when this one last claimed leases."""
        return self._workers

    def note(self, work: str, error: SharedStoreError | None = None) -> None:
        """Note the success or failure of one kind of work in Redis.

        A refusal counts as a fault of the exchange, because the other collectors do not get this work. After any other
        failure, the next claim comes at once, to learn whether Redis is reachable.
        """
        if isinstance(error, RefusedError):
            self._be_apart(work, str(error))
        elif error is None:
            self._be_together(work)
        else:
            self._hurry.set()

    def take_rows(self) -> list[str]:
        """Return the rows from other collectors since the last call."""
        rows, self._rows = self._rows, []
        return rows

    # Background work

    async def meets(self, is_meant: Callable[[str, str], bool]) -> bool:
        """Return whether a collector for which `is_meant` is true is running. Raises SharedStoreError.

        Waits until such a collector claims leases, or until none has done so for half of the TTL. `is_meant`: gets this
        worker and the worker of another collector.
        """
        first = dict[str, int]()
        until = self._clock.monotonic() + self._ttl
        while self._clock.monotonic() < until:
            oldest = await self._store.time_ms() - round(self._ttl * _SILENT * 1000)
            workers = await self._store.seen_ms()
            seen = {worker: at for worker, at in workers.items() if is_meant(self._store.worker, worker)}
            first = seen | first
            if any(at > first[worker] for worker, at in seen.items()):
                return True
            if all(at < oldest for at in seen.values()):
                break
            await self._clock.sleep(_LOOK)
        return False

    async def join(self) -> None:
        """Claim leases. If Redis is unreachable, begin without the other collectors."""
        await self._claim_or_part()
        if not self.is_cut_off and not self._is_listening:
            with suppress(SharedStoreError):
                await self._store.listen()
                self._is_listening = True

    async def leave(self) -> None:
        """Give back all leases if Redis is reachable; otherwise they expire."""
        try:
            await self._store.release()
        except SharedStoreError as error:
            _log.warning("could not give back leases; they will expire", why=str(error))

    async def run(self) -> None:
        """Renew leases, publish and receive until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._keep_leases(), name="engine leases")
            group.create_task(self._write(), name="engine writer")
            group.create_task(self._read(), name="engine reader")

    async def _keep_leases(self) -> None:
        while True:
            await self._wait_hurried(self._next_claim)
            await self._claim_or_part()

    async def _wait_hurried(self, seconds: float) -> None:
        """Wait for `seconds`, or until a claim becomes urgent."""
        tasks = [asyncio.ensure_future(work) for work in (self._clock.sleep(seconds), self._hurry.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
        self._hurry.clear()

    async def _claim_or_part(self) -> None:
        workers, shares, was_settling = self._workers, self._shares, self._is_settling
        try:
            held = await self._claim()
            is_news = (held.workers, held.shares) != (workers, shares)
            if is_news and not was_settling:  # the first claim did not take leases by rank
                held = await self._claim()
        except SharedStoreError as error:
            self._go_apart(str(error))
            if isinstance(error, RefusedError):  # the name may resolve to another server by now
                await self._store.reconnect()
        else:
            self._apply(held)

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
            shares=self._shares,
            share=self._share,
        )
        self._set_redis_time(begun, held.redis_ms)
        if self._generation not in {"", held.generation}:
            _log.warning("Redis has lost its data")
            self.forgotten += 1
            self._store.start_over()
            self._settled_at = self._clock.monotonic() + _SETTLING
        self._generation = held.generation
        if not self._is_settling:
            self._workers, self._shares = held.workers, held.shares
        return held

    @property
    def _is_settling(self) -> bool:
        """True while Redis is unreachable, and for `_SETTLING` seconds after, when not all workers have claimed yet."""
        return self.is_cut_off or self._clock.monotonic() < self._settled_at

    def _claims(self) -> dict[str, Claim]:
        """Return lease -> way to claim it.

        While settling, this collector claims only leases that it held last; otherwise it claims by rank.
        """
        me, wanted = self._store.worker, (*sorted(self._wanted), DESK)
        if self._is_settling:
            return {event_id: Claim.IF_FREE if event_id in self._epochs else Claim.RENEW for event_id in wanted}
        return {event_id: Claim(first_in_rank(event_id, self._workers, self._shares) == me) for event_id in wanted}

    def _go_apart(self, reason: str) -> None:
        """Continue without Redis, with the leases that this collector holds."""
        self._is_redis_time_known, self._next_claim = False, PATIENCE
        if not self.is_cut_off:
            self._outbox.clear()
        self._be_apart(_LEASES, reason)

    def _be_apart(self, work: str, why: str) -> None:
        self._reasons[work] = why
        if self._apart_since is None:
            self._apart_since = self._clock.now()
            self._has_news.set()
            _log.warning("lost contact with the other collectors", why=why)

    def _be_together(self, work: str) -> None:
        self._reasons.pop(work, None)
        if self._apart_since is not None and not self._reasons:
            self._apart_since = None
            _log.warning("in contact with the other collectors again", workers=len(self._workers))

    def _apply(self, held: Held) -> None:
        """Apply the result of a claim."""
        if self.is_cut_off:
            self._settled_at = self._clock.monotonic() + _SETTLING
            self._be_together(_LEASES)
        if held.epochs.keys() != self._epochs.keys():
            self._has_news.set()
        self._epochs = dict(held.epochs)
        if not self.held_events:
            self._be_together(_ANSWERS)  # no replies to publish
        self._note_retry(held.retry_ms / 1000)
        self._lost = tuple(name for name in held.lost if name in self._suspected and not self._is_settling)
        self._suspected = held.lost
        to_next_end = (held.next_ms - held.redis_ms) / 1000 + _MARGIN
        is_moving = self._is_settling or held.workers != self._workers
        self._next_claim = min(self._ttl / 3, max(_MARGIN, to_next_end), PATIENCE if is_moving else self._ttl)

    async def _write(self) -> None:
        """Publish waiting replies until cancelled. Replies that cannot be published are dropped: newer ones follow."""
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
                self._hurry.set()  # another collector holds the leases, or Redis has lost them

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
        """Forbid polls for `seconds`. Longer waits than any collector demands are ignored."""
        if seconds <= _MAX_RETRY + _ROUNDING:
            self._retry_at = max(self._retry_at, self._clock.monotonic() + seconds)

    def _redis_ms(self) -> int:
        """Return the estimated time of Redis, in epoch ms."""
        return round((self._clock.monotonic() + self._redis_ahead) * 1000)

    def _set_redis_time(self, begun: float, redis_ms: int) -> None:
        """Estimate the clock of Redis from a call that returned `redis_ms` now. `begun`: its start (monotonic s)."""
        self._redis_ahead = redis_ms / 1000 - (begun + self._clock.monotonic()) / 2
        self._is_redis_time_known = True
