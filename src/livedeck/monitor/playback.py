"""Past as a feed: plays the stored snapshots of a history at any speed (past.md)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NoReturn

from livedeck.monitor.alarms.operator import AlarmRefused
from livedeck.monitor.history.past import PastHistory
from livedeck.monitor.history.published import Frame
from livedeck.monitor.model.explanation import Explanation
from livedeck.monitor.model.records import IntentRecord
from livedeck.monitor.model.resources import ResourceKey, Video
from livedeck.monitor.model.snapshot import Snapshot
from livedeck.monitor.model.state import Clock
from livedeck.monitor.published.codec import UnreadableSnapshotError, decode

FASTEST = 60.0
"""Highest speed, as a multiple of real time."""

_TURN_SECONDS = 0.25
"""Seconds between two reads of the next snapshot while playing."""


class PastError(Exception):
    """A moment cannot be shown. The message has the reason, and names the moments that can be shown."""


class PlayedClock:
    """Clock of a `Playback`, which runs `speed` times as fast as the machine's clock; 0 is paused.

    Delays are in real time.
    """

    def __init__(self, clock: Clock, at: datetime) -> None:
        self.speed = 0.0
        self.offset = 0.0  # seconds by which the recording machine's clock was ahead of the times in snapshots
        self._clock, self._at, self._since = clock, at, clock.monotonic()

    @property
    def moment(self) -> datetime:
        """Shown moment, by the clock of the machine that recorded it."""
        passed = (self._clock.monotonic() - self._since) * self.speed if self.speed else 0.0
        return min(self._at + timedelta(seconds=passed), max(self._at, self._clock.now()))

    def set(self, at: datetime, speed: float) -> None:
        """Go to a moment and run on at a speed; 0 pauses."""
        self._at, self._since, self.speed = at, self._clock.monotonic(), speed

    def now(self) -> datetime:
        """Return the shown moment, by the clock of the times in snapshots."""
        return self.moment - timedelta(seconds=self.offset)

    def monotonic(self) -> float:
        """Return this machine's monotonic seconds, which do not depend on the shown moment."""
        return self._clock.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Sleep for some seconds of real time."""
        await self._clock.sleep(seconds)


class Playback:
    """Read-only `Feed` of the snapshots in a history file, paused at first. Create it with `open`.

    Attributes:
        history: The history as it was at the shown moment.
        first: Earliest moment that can be shown.
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
        """Open a history at a moment. Raises PastError.

        `clock`: clock of this machine. `at`: None for the first moment.
        """
        history = PastHistory(path)
        try:
            return await cls._paused(history, clock, at)
        except BaseException:
            await history.close()
            raise

    @classmethod
    async def _paused(cls, history: PastHistory, clock: Clock, at: datetime | None) -> Playback:
        bounds = await history.bounds()
        if bounds is None:
            raise PastError(history.fault or f"history {history.path}: no snapshots recorded yet")
        playback = cls(history, clock, bounds[0], at or bounds[0])
        await playback.jump(at or bounds[0])
        return playback

    @property
    def clock(self) -> PlayedClock:
        """Clock of the shown moment."""
        return self._clock

    @property
    def moment(self) -> datetime:
        """Shown moment, by the clock of the machine that recorded it."""
        return self._clock.moment

    @property
    def speed(self) -> float:
        """Playing speed as a multiple of real time; 0 while paused."""
        return self._clock.speed

    @property
    def snapshot(self) -> Snapshot:
        """Snapshot at the shown moment."""
        assert self._snapshot is not None
        return self._snapshot

    async def jump(self, at: datetime) -> None:
        """Go to a moment, and keep the speed. If the moment cannot be shown, raises PastError and changes nothing."""
        if at > self._machine.now():
            raise PastError(f"{at:%Y-%m-%d %H:%M:%S}Z is in the future")
        if not await self._show(at, None):
            since = f"the history begins at {self.first:%Y-%m-%d %H:%M:%S}Z"
            raise PastError(self.history.fault or f"nothing recorded at {at:%Y-%m-%d %H:%M:%S}Z: {since}")
        self._clock.set(at, self._clock.speed)
        self._wanted.set()

    async def step(self, step: int) -> bool:
        """Pause at the next change (`step` 1) or the previous change (-1). Returns False if there is none."""
        found = await self.history.news_beside(self.moment, step)
        if found is None:
            return False
        self._clock.speed = 0.0
        await self.jump(found)
        return True

    def play(self, speed: float = 1.0) -> None:
        """Play on from the shown moment, at most 60 times as fast as real time; 0 pauses."""
        self._clock.set(self.moment, min(max(speed, 0.0), FASTEST))
        self._wanted.set()

    def machine_time(self) -> datetime:
        """Return the present time of this machine's clock."""
        return self._machine.now()

    async def close(self) -> None:
        self._wanted.set()
        await self.history.close()

    async def snapshots(self) -> AsyncGenerator[Snapshot, None]:
        """Yield the snapshot of the shown moment at once, and each later snapshot."""
        seq = 0
        while True:
            if self._seq != seq:
                seq = self._seq
                yield self.snapshot
            await self._rest()
            if self.speed:
                await self._show(self.moment, self._frame)

    async def _rest(self) -> None:
        """Wait a quarter of a second while playing, or for a command while paused."""
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
            raise PastError(f"the snapshot of {frame.at:%Y-%m-%d %H:%M:%S}Z cannot be read: {error}") from error
        self._frame, self._snapshot, self._seq = frame, snapshot, self._seq + 1
        self._clock.offset = snapshot.link.clock_offset
        return True

    def refresh(self) -> None:
        """Do nothing: the past is not polled."""

    def note_intent(self, intent: IntentRecord) -> None:
        """Do nothing: nobody can change the past."""

    def set_focus(self, event_id: str | None) -> None:
        """Do nothing: the samples are recorded."""

    def watch(self, viewer: str, *keys: ResourceKey) -> None:
        """Do nothing: the lists are recorded."""

    async def find_video(self, video_id: str) -> Video:
        """Return a video with this id, without a check whether it exists."""
        return Video(video_id)

    async def explain(self, event_id: str, kind: str = "") -> Explanation | None:
        """Return the explanation of an event's alarms at the shown moment, from what was recorded."""
        from livedeck.monitor.alarms.explain import explain_snapshot

        return explain_snapshot(self.snapshot, event_id, kind)

    async def viewer_picture(self, _event_id: str, /) -> bytes:
        """Return nothing: pictures are not recorded."""
        return b""

    async def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise AlarmRefused("You are viewing the past: nothing can be changed here")

    acknowledge = close_alarm = unacknowledge = shelve = unshelve = out_of_service = in_service = note = _refuse
    add_silence = extend_silence = end_silence = _refuse
    take_as_usual = choose_content = choose_unit = remember_materials = forget_materials = _refuse
