"""The monitor's time: this machine's, without the steps of its wall clock (monitoring.md, "Clock steps")."""

from __future__ import annotations

from datetime import datetime, timedelta
from threading import Lock

from livedeck.monitor.model.state import Clock, ClockChange

_STEP = 1.0
"""Seconds between the two clocks of this machine at once: what synchronisation slews is far less."""

_SLEEP_AT_LEAST = 5.0
"""Seconds: the `Date` of an answer has whole seconds, so a shorter step forward is taken for a clock that was set."""


class SteadyClock:
    """`clock` without its steps. `offset`: seconds that the wall clock was set forward since the start, and which
    `now` leaves out. `slept`: seconds that the machine slept without its monotonic clock.

    A wall clock that runs ahead of the monotonic one was set, or the machine slept and its monotonic clock with it:
    only the platform's time tells which, so a step is open until an answer came. Then either is a `ClockChange`.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = clock.now(), clock.monotonic()
        self.slept = 0.0
        self._lock = Lock()  # a long answer is read in a thread
        self.offset, self.open_step = 0.0, 0.0

    def now(self) -> datetime:
        """The wall clock, but for its steps: aware, UTC."""
        with self._lock:
            wall, monotonic = self._clock.now(), self._clock.monotonic()
            before, self._last = self._last, (wall, monotonic)
            step = (wall - before[0]).total_seconds() - (monotonic - before[1])
            if abs(step) >= _STEP:
                self.offset += step
                self.open_step += step
            return wall - timedelta(seconds=self.offset)

    def monotonic(self) -> float:
        """Seconds that never run backwards, those included that the machine slept."""
        return self._clock.monotonic() + self.slept

    async def sleep(self, seconds: float) -> None:
        """Return after that many seconds of this clock."""
        await self._clock.sleep(seconds)

    def close_step(self, ahead_before: float | None, ahead: float | None) -> ClockChange:
        """What the open step was, by how far the platform was ahead of this clock before it, and is now (s).

        Where the machine slept the platform went on meanwhile, and this clock follows.
        """
        step, self.open_step = self.open_step, 0.0
        is_known = ahead_before is not None and ahead is not None
        has_slept = step >= _SLEEP_AT_LEAST and is_known and (ahead or 0.0) - (ahead_before or 0.0) > step / 2
        if has_slept:
            self.offset -= step
            self.slept += step
        return ClockChange(self.now(), step, is_sleep=has_slept)
