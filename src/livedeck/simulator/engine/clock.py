"""The simulator's own time: it can stand still, run fast and jump, so that a rehearsal need not wait."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

FIRST = datetime(1970, 1, 1, tzinfo=UTC)
LAST = datetime(2200, 1, 1, tzinfo=UTC)
MAX_SPEED = 1000.0


class SimulatorClock:
    """A clock that starts at `start` (None: this machine's time) and runs `speed` simulated seconds a second.

    Raises ValueError for a time that is naive or outside 1970 to 2200, and for a speed outside 0 (excluded) to 1000.
    """

    def __init__(self, start: datetime | None = None, speed: float = 1.0, paused: bool = False) -> None:
        self._speed = _checked_speed(speed)
        self._paused = paused
        self._set_at = time.time()
        self._base = _checked_time(start or datetime.now(UTC))

    @property
    def speed(self) -> float:
        """Simulated seconds that pass in a second while the clock runs."""
        return self._speed

    @property
    def paused(self) -> bool:
        """Whether the clock stands still."""
        return self._paused

    def now(self) -> datetime:
        """The simulator's time: aware, UTC. It never passes the year 2200."""
        if self._paused:
            return self._base
        return min(LAST, self._base + timedelta(seconds=(time.time() - self._set_at) * self._speed))

    def run(self, speed: float) -> None:
        """Go on from now at that many simulated seconds a second."""
        speed = _checked_speed(speed)
        self._set(self.now())
        self._speed = speed

    def pause(self) -> None:
        """Stand still."""
        self._set(self.now())
        self._paused = True

    def resume(self) -> None:
        """Go on from where it stands."""
        self._set(self.now())
        self._paused = False

    def step(self, seconds: float) -> None:
        """Move by that many seconds, running or not; back when negative."""
        try:
            self.jump(self.now() + timedelta(seconds=seconds))
        except OverflowError as error:
            raise ValueError(_RANGE) from error

    def jump(self, to: datetime) -> None:
        """Be at that time, running or not."""
        self._set(_checked_time(to))

    def _set(self, now: datetime) -> None:
        self._base, self._set_at = now, time.time()


_RANGE = "a time from 1970 to 2200"


def _checked_time(value: datetime) -> datetime:
    if value.tzinfo is None or not FIRST <= value <= LAST:
        raise ValueError(_RANGE)
    return value.astimezone(UTC)


def _checked_speed(speed: float) -> float:
    if not 0 < speed <= MAX_SPEED:
        raise ValueError(f"a speed above 0, at most {MAX_SPEED:.0f}")
    return speed


def format_timestamp(value: datetime) -> str:
    """A timestamp as the API writes it: ISO 8601, UTC, fractional seconds (platform-api.md, "Timestamps")."""
    return f"{value.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def format_epoch(seconds: float) -> str:
    """The same for epoch seconds."""
    return format_timestamp(datetime.fromtimestamp(seconds, UTC))
