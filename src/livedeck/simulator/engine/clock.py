"""The service's own time: it can stand still, run fast and jump, so that a rehearsal need not wait."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

FIRST = datetime(1970, 1, 1, tzinfo=UTC)

LAST = datetime(2200, 1, 1, tzinfo=UTC)

FASTEST = 1000.0


class SimulatorClock:
    """A clock that starts at `start` (None: this machine's time) and runs `speed` service seconds a second.

    Raises ValueError for a time that is naive or outside 1970 to 2200, and for a speed outside 0 (excluded) to 1000.
    """

    def __init__(self, start: datetime | None = None, speed: float = 1.0, paused: bool = False) -> None:
        self._speed = _speed(speed)
        self._paused = paused
        self._mark = time.time()
        self._at = _within(start or datetime.now(UTC))

    @property
    def speed(self) -> float:
        """Service seconds that pass in a second while the clock runs."""
        return self._speed

    @property
    def paused(self) -> bool:
        """Whether the clock stands still."""
        return self._paused

    def now(self) -> datetime:
        """The service's time: aware, UTC. It never passes the year 2200."""
        if self._paused:
            return self._at
        return min(LAST, self._at + timedelta(seconds=(time.time() - self._mark) * self._speed))

    def run(self, speed: float) -> None:
        """Go on from now at that many service seconds a second."""
        speed = _speed(speed)
        self._settle(self.now())
        self._speed = speed

    def pause(self) -> None:
        """Stand still."""
        self._settle(self.now())
        self._paused = True

    def resume(self) -> None:
        """Go on from where it stands."""
        self._settle(self.now())
        self._paused = False

    def step(self, seconds: float) -> None:
        """Move by that many seconds, running or not; back when negative."""
        try:
            self.jump(self.now() + timedelta(seconds=seconds))
        except OverflowError as error:
            raise ValueError(_SPAN) from error

    def jump(self, to: datetime) -> None:
        """Be at that moment, running or not."""
        self._settle(_within(to))

    def _settle(self, at: datetime) -> None:
        self._at, self._mark = at, time.time()


_SPAN = "a time from 1970 to 2200"


def _within(moment: datetime) -> datetime:
    if moment.tzinfo is None or not FIRST <= moment <= LAST:
        raise ValueError(_SPAN)
    return moment.astimezone(UTC)


def _speed(speed: float) -> float:
    if not 0 < speed <= FASTEST:
        raise ValueError(f"a speed above 0, at most {FASTEST:.0f}")
    return speed


def stamp(moment: datetime) -> str:
    """A timestamp as the API writes it: ISO 8601, UTC, fractional seconds (platform-api.md, Conventions)."""
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def stamp_epoch(seconds: float) -> str:
    """The same for epoch seconds."""
    return stamp(datetime.fromtimestamp(seconds, UTC))
