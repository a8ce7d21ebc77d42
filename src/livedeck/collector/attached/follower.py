"""Follower of a collector: keeps a deck's copy of the snapshot up to date (collector.md, "The attached deck")."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from random import Random
from urllib.parse import quote

from livedeck.collector.attached.clock import RemoteClock
from livedeck.collector.attached.link import CollectorError, CollectorRefusedError, Link, ServerEvent
from livedeck.collector.protocol.wire import LISTED_SAMPLES, STARTING, Held, UnknownSchemaError
from livedeck.log import Log
from livedeck.monitor import AttachmentState, ConnectionState
from livedeck.monitor.polling.poller import wait_first
from livedeck.monitor.published.codec import UnreadableSnapshotError
from livedeck.text.secrets import masked_line

_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 5.0
"""Seconds until the first retry, doubled after each failure up to the longest. Jitter halves a pause at most."""

_SOON = 3
"""Maximum of `failures` while the collector starts, so that the pause between two retries stays short."""

_REFUSED_PAUSE = 30.0
"""Seconds until a retry after a refused token. Frequent tries would get 429, which hides the reason."""

_GIVE_UP = 2
"""Number of failures after which `list_once` gives up."""

_GONE, _TOO_MANY = 410, 429

_PLACE = re.compile(r"[A-Za-z0-9_.-]{1,64}-[0-9]{1,18}")
_REHEARSAL = "the collector follows a rehearsal; start with --follow-clock to keep the rehearsal out of your history"
_ITS_CLOCK = "the collector has its machine's time; leave --follow-clock out"

_SPEED = re.compile(r"[0-9]{1,2}(\.[0-9]{1,6})?")  # of a rehearsal
_TIME = re.compile(r"[0-9]{1,14}")  # epoch ms

_log = Log("livedeck.collector")


class _RelistError(Exception):
    """The copy cannot be updated any more; a new listing is needed. The message has the reason."""


class Follower:
    """Follower of the collector at `link`, which keeps a copy of its snapshot while `follow` runs.

    `take`: called with the copy after each change, and with True if the copy is from a new listing. `look`: called
    before each message is read; it may call `start_over`.

    Attributes:
        held: The copy; None before the first listing.
        state: LISTING, WATCHING or RESUMING.
        since: Time of the last change of `state` (monotonic s).
        heard: Time of the last message (monotonic s), or None.
        reason: Reason in words why no messages arrive; empty if messages arrive.
        is_refused: `reason` is a refusal by the collector.
        failures: Number of failures in a row.
        actor: Name of this deck's token in the last listing, or empty.
        may: Right of this deck's token in the last listing, or empty.
        next_try: Time of the next retry (monotonic s); -inf while no retry waits.
    """

    def __init__(
        self,
        link: Link,
        clock: RemoteClock,
        take: Callable[[Held, bool], None],
        random: Random | None = None,
        look: Callable[[], object] = lambda: None,
    ) -> None:
        self._link, self._clock, self._take, self._look = link, clock, take, look
        self._is_outdated = asyncio.Event()  # messages on their way are old
        self._random = random or Random()  # noqa: S311  jitter is no secret
        self._id = ""
        self._hurry, self._is_listed_only = asyncio.Event(), False
        self.held: Held | None = None
        self._began = clock.monotonic()
        self.state, self.since = AttachmentState.LISTING, self._began
        self.heard: float | None = None
        self.reason, self.is_refused, self.failures = "", False, 0
        self.actor = self.may = ""
        self.next_try = -inf

    @property
    def quiet_since(self) -> float:
        """Time of the last message, or of the start before the first message (monotonic s)."""
        return self._began if self.heard is None else self.heard

    async def follow(self) -> None:
        """Follow the collector's change stream until cancelled."""
        while True:
            with self._noting_failures():
                if not self._id:
                    await self._list()
                await wait_first(self._watch(), self._is_outdated.wait())
                if self._is_outdated.is_set():
                    raise _RelistError("this deck did not watch for some time")
            if self.failures:
                await self._pause()

    async def list_once(self) -> None:
        """Request the listing until the collector has data. Gives up after a refusal or `_GIVE_UP` failures."""
        while True:
            with self._noting_failures():
                await self._list()
                if self.held and self.held.snapshot.link.state is not ConnectionState.CONNECTING:
                    return
                self._fail("the collector has just started and has no data yet")
                self.failures = 1
            if self.is_refused or self.failures >= _GIVE_UP:
                return
            await self._pause()

    @contextmanager
    def _noting_failures(self) -> Iterator[None]:
        try:
            yield
        except _RelistError as error:
            self._lose(str(error))
        except CollectorRefusedError as refusal:
            if refusal.status == _GONE:
                self._lose(str(refusal))
            elif refusal.status == _TOO_MANY and self.is_refused:
                self._fail(self.reason, is_refused=True)
            else:
                self._fail(str(refusal), is_refused=refusal.is_of_token)
                if refusal.code == STARTING:
                    self.failures = min(self.failures, _SOON)
        except CollectorError as error:
            self._fail(str(error))
        except (UnknownSchemaError, UnreadableSnapshotError) as error:
            self._id = ""
            self._fail(f"{self._link.host}: {error}", is_refused=isinstance(error, UnknownSchemaError))

    def hurry(self) -> None:
        """Retry at once, without the rest of the pause."""
        self._hurry.set()

    def start_over(self) -> None:
        """Request a new listing, and ignore messages under way, because this deck did not watch when they were sent."""
        self._is_outdated.set()
        self._hurry.set()

    async def fill(self, event_id: str) -> None:
        """Load all samples of an event that the collector has in memory into the copy. Raises CollectorError."""
        rows = await self._link.get(f"/v1/events/{quote(event_id, safe='')}/samples")
        if self.held is not None:
            self.held = self.held.filled(event_id, rows)

    async def _list(self) -> None:
        self._is_outdated.clear()
        listing = await self._link.get("/v1/snapshot", f"samples={LISTED_SAMPLES}")
        if ("speed" in listing) != self._clock.is_rehearsal:
            raise UnknownSchemaError(_ITS_CLOCK if self._clock.is_rehearsal else _REHEARSAL)
        held, place = await asyncio.to_thread(Held.listed, listing), str(listing.get("id", ""))
        if not _PLACE.fullmatch(place):
            raise UnreadableSnapshotError("the collector's listing has no id to resume from")
        self.held, self._id, self._is_listed_only = held, place, True
        self.actor, self.may = (masked_line(listing.get(name, ""), 100) for name in ("by", "may"))
        self._measure(str(listing.get("now", "")), str(listing.get("speed", "")))
        self._take(held, True)

    async def _watch(self) -> None:
        async with self._link.stream("/v1/changes", self._id) as events:
            async for event in events:
                self._look()
                if self._is_outdated.is_set():
                    return
                if event.data is None:
                    self._note(event.comment)
                elif event.name == "gone":
                    raise _RelistError("this deck was too slow for the collector")
                elif event.name == "message":
                    self._change(event)

    def _note(self, comment: str) -> None:
        """Take a comment `BOOT-SEQ TIME [SPEED]`: the id of the last change, the collector's time, and its speed."""
        place, _, rest = comment.partition(" ")
        time, _, speed = rest.partition(" ")
        if place and time.isdecimal():
            if place != self._id:
                raise _RelistError("a change from the collector did not arrive")
            self._measure(time, speed)
            self._settle()

    def _change(self, event: ServerEvent) -> None:
        boot, _, seq = self._id.rpartition("-")
        if self.held is None or event.id != f"{boot}-{int(seq) + 1}":
            raise _RelistError("a change from the collector did not arrive")
        try:
            change = json.loads(event.data or "")
        except (ValueError, RecursionError) as error:
            raise UnreadableSnapshotError(f"a change is not JSON: {error}") from None
        self.held, self._id = self.held.changed(change), event.id
        self.heard = self._clock.monotonic()
        self._settle()
        self._take(self.held, False)

    def _measure(self, milliseconds: str, speed: str) -> None:
        self.heard = self._clock.monotonic()
        if _TIME.fullmatch(milliseconds):
            missing = None if self._clock.is_rehearsal else 1.0
            self._clock.take(int(milliseconds), float(speed) if _SPEED.fullmatch(speed) else missing)

    def _settle(self) -> None:
        self._is_listed_only = False
        self.failures, self.reason, self.is_refused = 0, "", False
        self._turn(AttachmentState.WATCHING)

    def _lose(self, reason: str) -> None:
        """Give up the change stream, so that the next step requests a new listing.

        The request waits for a pause if no change stream followed the last listing.
        """
        self._id = ""
        _log.info("listing the collector again", reason=reason)
        self._turn(AttachmentState.LISTING)
        self.failures += self._is_listed_only

    def _fail(self, reason: str, *, is_refused: bool = False) -> None:
        if reason != self.reason:
            _log.warning("no connection to the collector", reason=reason)
        self.reason, self.is_refused = reason, is_refused
        self.failures += 1
        self._turn(AttachmentState.RESUMING if self._id else AttachmentState.LISTING)

    def _turn(self, state: AttachmentState) -> None:
        if state is not self.state:
            self.state, self.since = state, self._clock.monotonic()

    async def _pause(self) -> None:
        longest = min(_FIRST_PAUSE * 2 ** (self.failures - 1), _LONGEST_PAUSE)
        pause = _REFUSED_PAUSE if self.is_refused else longest * (1 - self._random.random() / 2)
        self.next_try = self._clock.monotonic() + pause
        self._hurry.clear()
        await wait_first(self._clock.sleep(pause), self._hurry.wait())
        self.next_try = -inf
