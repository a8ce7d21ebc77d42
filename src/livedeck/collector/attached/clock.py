"""Clock of an attached deck, which follows the collector's clock (collector.md, "The attached deck")."""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime, timedelta
from statistics import median

from livedeck.monitor import Clock

_MEASURES = 5
"""Number of measurements whose median counts, so that a single delayed message has no effect."""

SKEW_LEAST = 2.0
"""Seconds of difference to the collector's clock below which this machine's clock counts as right."""

SILENT_AFTER = 12.0
"""Seconds without a message after which the collector counts as silent."""


class RemoteClock:
    """Clock with the collector's time, so that every age on the screen is right.

    Before the first message this clock has this machine's time. Later it runs by monotonic time, so setting this
    machine's clock has no effect. `source`: clock to use instead of the collector's, or None. `is_rehearsal`: the
    collector follows a rehearsal, so its time may run at any speed, and jump.
    """

    def __init__(self, clock: Clock, *, is_rehearsal: bool = False) -> None:
        self._clock = clock
        self._ahead = deque[float](maxlen=1 if is_rehearsal else _MEASURES)  # seconds ahead of the monotonic clock
        self._speed, self._is_known = 1.0, False  # of the rehearsal, by the last message
        self._taken_at = clock.monotonic()
        self.source: Clock | None = None
        self.is_rehearsal = is_rehearsal

    def take(self, milliseconds: int, speed: float | None = 1.0) -> None:
        """Take the collector's time (epoch ms) and its speed from a message that has just arrived.

        `speed`: None while the collector cannot read the rehearsal's clock. Then the last speed stays in force.
        """
        self._is_known, self._taken_at = speed is not None, self._clock.monotonic()
        self._speed = self._speed if speed is None else speed
        self._ahead.append(milliseconds / 1000 - self._clock.monotonic() * self._speed)

    def pace(self) -> str:
        """Return the speed of the rehearsal for people, as in `pace_text`; empty without a rehearsal."""
        is_known = self._is_known and self._clock.monotonic() - self._taken_at < SILENT_AFTER
        return pace_text(self._speed if is_known else None) if self.is_rehearsal else ""

    def now(self) -> datetime:
        """Return the current time (aware, UTC)."""
        if self.source is not None:
            return self.source.now()
        if not self._ahead:
            return self._clock.now()
        return datetime.fromtimestamp(self._clock.monotonic() * self._speed + median(self._ahead), UTC)

    def monotonic(self) -> float:
        """Return the monotonic time of this machine (s)."""
        return self._clock.monotonic()

    async def sleep(self, seconds: float) -> None:
        await self._clock.sleep(seconds)

    def ago(self, monotonic: float) -> datetime:
        """Convert a monotonic time (s) of this machine to this clock's time (aware, UTC)."""
        return self.now() - timedelta(seconds=(self._clock.monotonic() - monotonic) * self._speed)

    @property
    def skew(self) -> float:
        """Seconds that this machine's clock is ahead of the collector's; 0 if less than `SKEW_LEAST`."""
        if not self._ahead or self.source is not None or self.is_rehearsal:
            return 0.0
        ahead = (self._clock.now() - self.now()).total_seconds()
        return ahead if abs(ahead) >= SKEW_LEAST else 0.0


def pace_text(speed: float | None) -> str:
    """Return the speed of a rehearsal for people: `x20`, `paused` (0) or `clock unknown` (None)."""
    if speed is None:
        return "clock unknown"
    return f"x{speed:g}" if speed else "paused"
