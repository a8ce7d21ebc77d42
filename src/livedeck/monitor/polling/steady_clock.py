"""Clock of the monitor: this machine's clock without its steps (monitoring.md, "Clock steps")."""

from __future__ import annotations

from datetime import datetime, timedelta
from threading import Lock

from livedeck.monitor.model.state import Clock, ClockChange

_STEP = 1.0
"""Sudden difference between this machine's two clocks (s) that counts as a step; time synchronisation causes far less.
"""

_READINGS = 5
"""Maximum number of tries to read both clocks at one instant."""

_SLEEP_AT_LEAST = 5.0
"""Minimum seconds of a sleep. A shorter step forward counts as a clock that was set, because `Date` is not exact."""


class SteadyClock:
    """Clock that wraps `clock` and leaves out its steps.

    `offset`: seconds by which the wall clock was set forward since the start; `now` leaves them out. `slept`: seconds
    that the machine slept with a stopped monotonic clock. `open_step`: seconds of a step with an open cause.

    If the wall clock steps forward, either it was set, or the machine slept. Only the platform's time shows which, so
    the step stays open until a reply arrives. It then becomes a `ClockChange`.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last: tuple[datetime, float] | None = None  # both clocks at the last instant that was read
        self.slept = 0.0
        self._lock = Lock()  # a long reply is read in a thread
        self.offset, self.open_step = 0.0, 0.0
        self.now()

    def now(self) -> datetime:
        """Return the wall clock without its steps, as an aware time in UTC."""
        with self._lock:
            wall, monotonic, is_exact = self._read()
            if is_exact:
                self._note(wall, monotonic)
            return wall - timedelta(seconds=self.offset)

    def _note(self, wall: datetime, monotonic: float) -> None:
        """Take both clocks at one instant, and notice a step since the last time."""
        before, self._last = self._last, (wall, monotonic)
        if before is not None:
            step = (wall - before[0]).total_seconds() - (monotonic - before[1])
            if abs(step) >= _STEP:
                self.offset += step
                self.open_step += step

    def _read(self) -> tuple[datetime, float, bool]:
        """Return both clocks, and whether they were read at one instant.

        If this process was stopped between the two readings, reads both again, up to `_READINGS` times.
        """
        for _ in range(_READINGS):
            monotonic = self._clock.monotonic()
            wall = self._clock.now()
            if self._clock.monotonic() - monotonic < _STEP / 4:
                return wall, monotonic, True
        return wall, monotonic, False

    def monotonic(self) -> float:
        """Return monotonic seconds, including the sleep of the machine."""
        return self._clock.monotonic() + self.slept

    async def sleep(self, seconds: float) -> None:
        """Wait for `seconds` of this clock."""
        await self._clock.sleep(seconds)

    def close_step(self, ahead_before: float | None, ahead: float | None) -> ClockChange:
        """Decide the cause of the open step: the clock was set, or the machine slept.

        `ahead_before`, `ahead`: seconds by which the platform's clock was ahead of this clock before the step, and is
        ahead now; None if unknown. If the machine slept, this clock moves by the step, too.
        """
        step, self.open_step = self.open_step, 0.0
        is_known = ahead_before is not None and ahead is not None
        has_slept = step >= _SLEEP_AT_LEAST and is_known and (ahead or 0.0) - (ahead_before or 0.0) > step / 2
        if has_slept:
            self.offset -= step
            self.slept += step
        return ClockChange(self.now(), step, is_sleep=has_slept)
