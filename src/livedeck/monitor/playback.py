"""The past as a feed: what was published, shown again as it stood, at a pace of its own (past.md)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NoReturn

from livedeck.monitor.alarms.operator import AlarmRefused
from livedeck.monitor.history.past import PastHistory
from livedeck.monitor.history.published import Frame
from livedeck.monitor.model.resources import ResourceKey, Video
from livedeck.monitor.model.snapshot import Snapshot
from livedeck.monitor.model.state import Clock
from livedeck.monitor.published.codec import UnreadableSnapshotError, decode

FASTEST = 60.0
"""Times as fast as it happened."""

_TURN_SECONDS = 0.25
"""Between two looks for what was published next, while it plays."""


class PastError(Exception):
    """Nothing can be shown of that moment: why, and what can be."""


class PlayedClock:
    """The clock of a `Playback`: it stands, or runs `speed` times as fast as the machine's, whose delays it keeps."""

    def __init__(self, clock: Clock, at: datetime) -> None:
        self.speed = 0.0
        self.offset = 0.0  # seconds that the machine's clock was set forward by then: times are told without that
        self._clock, self._at, self._since = clock, at, clock.monotonic()

    @property
    def moment(self) -> datetime:
        """The moment by the clock of the machine then."""
        passed = (self._clock.monotonic() - self._since) * self.speed if self.speed else 0.0
        return min(self._at + timedelta(seconds=passed), max(self._at, self._clock.now()))

    def set(self, at: datetime, speed: float) -> None:
        """Stand at that moment, or run on from it."""
        self._at, self._since, self.speed = at, self._clock.monotonic(), speed

    def now(self) -> datetime:
        """The moment as the monitor told its times then."""
        return self.moment - timedelta(seconds=self.offset)

    def monotonic(self) -> float:
        """That of the machine, whatever moment is shown."""
        return self._clock.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Return after that many seconds of the machine's."""
        await self._clock.sleep(seconds)


class Playback:
    """A `Feed` of what a history file keeps; made by `open`. Nothing is written, neither there nor at the platform.

    It stands at a moment, until `play` has it run on. `history`: the history as it stood at that moment, never later.
    `first`: the earliest moment that can be shown.
    """

    actor = ""

    def __init__(self, history: PastHistory, clock: Clock, first: datetime, at: datetime) -> None:
        self.history, self.first = history, first
        self._clock, self._machine = PlayedClock(clock, at), clock
        self._frame: Frame | None = None
        self._snapshot: Snapshot | None = None
        self._seq = 0
        self._wanted = asyncio.Event()

    @classmethod
    async def open(cls, path: Path, clock: Clock, at: datetime | None = None) -> Playback:
        """What that file says of that moment; None: of the first one. `clock`: the machine's. Raises PastError."""
        history = PastHistory(path)
        try:
            return await cls._standing(history, clock, at)
        except BaseException:
            await history.close()
            raise

    @classmethod
    async def _standing(cls, history: PastHistory, clock: Clock, at: datetime | None) -> Playback:
        bounds = await history.bounds()
        if bounds is None:
            raise PastError(history.fault or f"history {history.path}: nothing is kept of the past yet")
        playback = cls(history, clock, bounds[0], at or bounds[0])
        await playback.jump(at or bounds[0])
        return playback

    @property
    def clock(self) -> PlayedClock:
        """That of the past: it stands, or plays."""
        return self._clock

    @property
    def moment(self) -> datetime:
        """The moment that is shown, by this machine's clock then."""
        return self._clock.moment

    @property
    def speed(self) -> float:
        """How many times as fast as it happened it plays; 0: it stands."""
        return self._clock.speed

    @property
    def snapshot(self) -> Snapshot:
        """What was published last at that moment."""
        assert self._snapshot is not None
        return self._snapshot

    async def jump(self, at: datetime) -> None:
        """Show that moment. Raises PastError, and stays where it was, where nothing is kept of it."""
        if at > self._machine.now():
            raise PastError(f"{at:%Y-%m-%d %H:%M:%S}Z is yet to come")
        if not await self._show(at, None):
            since = f"what is kept begins at {self.first:%Y-%m-%d %H:%M:%S}Z"
            raise PastError(self.history.fault or f"nothing is kept of {at:%Y-%m-%d %H:%M:%S}Z: {since}")
        self._clock.set(at, self._clock.speed)
        self._wanted.set()

    async def step(self, step: int) -> bool:
        """Stand at the moment at which something happened next, or with -1 before; False where nothing did."""
        found = await self.history.news_beside(self.moment, step)
        if found is None:
            return False
        self._clock.speed = 0.0
        await self.jump(found)
        return True

    def play(self, speed: float = 1.0) -> None:
        """Run on from the moment that is shown, so many times as fast as it happened: up to 60; 0: stand."""
        self._clock.set(self.moment, min(max(speed, 0.0), FASTEST))
        self._wanted.set()

    def machine_time(self) -> datetime:
        """What this machine's clock says, whatever moment is shown."""
        return self._machine.now()

    async def close(self) -> None:
        """Let go of the file."""
        self._wanted.set()
        await self.history.close()

    async def snapshots(self) -> AsyncGenerator[Snapshot, None]:
        """What was published last at the moment that is shown: at once, and whenever that is another."""
        seq = 0
        while True:
            if self._seq != seq:
                seq = self._seq
                yield self.snapshot
            await self._rest()
            if self.speed:
                await self._show(self.moment, self._frame)

    async def _rest(self) -> None:
        """While it plays for a moment, while it stands until somebody acts."""
        if not self.speed:
            await self._wanted.wait()
            self._wanted.clear()
            return
        await self._clock.sleep(_TURN_SECONDS)

    async def _show(self, at: datetime, frame: Frame | None) -> bool:
        found = await self.history.show(at, frame)
        if found is None:
            return False
        frame, readings = found
        is_same = self._frame is not None and (frame.segment, frame.part) == (self._frame.segment, self._frame.part)
        if is_same and self._snapshot is not None:
            return True
        try:
            snapshot = decode(frame.values, readings)
        except UnreadableSnapshotError as error:
            raise PastError(f"what was published at {frame.at:%Y-%m-%d %H:%M:%S}Z cannot be read: {error}") from error
        self._frame, self._snapshot, self._seq = frame, snapshot, self._seq + 1
        self._clock.offset = snapshot.link.clock_offset
        return True

    def refresh(self) -> None:
        """Nothing is asked anew of the past."""

    def set_focus(self, event_id: str | None) -> None:
        """What was looked at then is what was asked often."""

    def watch(self, viewer: str, *keys: ResourceKey) -> None:
        """What was watched then is what is known."""

    async def find_video(self, video_id: str) -> Video:
        """The video of that id: nobody is asked whether there is one."""
        return Video(video_id)

    async def _refuse(self, *_: Any) -> NoReturn:
        """Raises AlarmRefused: nothing can be changed any more."""
        raise AlarmRefused("this is the past: nothing in it can be answered or changed")

    acknowledge = unacknowledge = shelve = unshelve = out_of_service = in_service = note = _refuse
    take_as_usual = choose_content = remember_materials = forget_materials = _refuse
