"""Clock of the monitor: this machine's clock without the steps of its wall time (monitoring.md, "Clock steps")."""

from __future__ import annotations

from datetime import datetime, timedelta
from threading import Lock

from livedeck.monitor.model.state import Clock, ClockChange

_STEP = 1.0
"""Sudden difference between this machine's clocks, in seconds, that is a step; time synchronisation slews far less."""

_SLEEP_AT_LEAST = 5.0
"""Minimum seconds of a sleep. `Date` has whole seconds, so a shorter step forward counts as a clock that was set."""


class SteadyClock:
    """Wraps `clock` and leaves out its steps.

    `offset`: seconds that the wall clock was set forward since the start, which `now` leaves out. `slept`: seconds that
    the machine slept without its monotonic clock.

    A wall clock that gets ahead of the monotonic one was set, or the machine and its monotonic clock slept. Only the
    platform's time can tell, so a step is open until a response arrives. It then becomes a `ClockChange`.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = clock.now(), clock.monotonic()
        self.slept = 0.0
        self._lock = Lock()  # a long response is read in a thread
        self.offset, self.open_step = 0.0, 0.0

    def now(self) -> datetime:
        """Return the wall clock without its steps: aware, UTC."""
        with self._lock:
            wall, monotonic = self._clock.now(), self._clock.monotonic()
            before, self._last = self._last, (wall, monotonic)
            step = (wall - before[0]).total_seconds() - (monotonic - before[1])
            if abs(step) >= _STEP:
                self.offset += step
                self.open_step += step
            return wall - timedelta(seconds=self.offset)

    def monotonic(self) -> float:
        """Return monotonic seconds, including the time in which the machine slept."""
        return self._clock.monotonic() + self.slept

    async def sleep(self, seconds: float) -> None:
        """Return after `seconds` of this clock."""
        await self._clock.sleep(seconds)

    def close_step(self, ahead_before: float | None, ahead: float | None) -> ClockChange:
        """Classify the open step, by how far the platform was ahead of this clock before the step, and is now (s).

        If the machine slept, the platform went on meanwhile, and this clock follows.
        """
        step, self.open_step = self.open_step, 0.0
        is_known = ahead_before is not None and ahead is not None
        has_slept = step >= _SLEEP_AT_LEAST and is_known and (ahead or 0.0) - (ahead_before or 0.0) > step / 2
        if has_slept:
            self.offset -= step
            self.slept += step
        return ClockChange(self.now(), step, is_sleep=has_slept)
