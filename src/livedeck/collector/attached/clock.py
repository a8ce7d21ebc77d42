"""Clock of an attached deck, which follows the collector's (collector.md, "The attached deck")."""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime, timedelta
from statistics import median

from livedeck.monitor import Clock

_MEASURES = 5
"""Measurements whose median counts, so that one delayed message moves nothing."""

SKEW_LEAST = 2.0
"""Difference in seconds below which this machine's clock counts as right."""


class RemoteClock:
    """The collector's time, so that every age on the screen is right; before the first message, this machine's time.

    It advances by the monotonic clock, so setting this machine's clock changes nothing. `source`: clock to use instead
    of the collector's, or None.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ahead = deque[float](maxlen=_MEASURES)  # seconds ahead of the monotonic clock
        self.source: Clock | None = None

    def take(self, milliseconds: int) -> None:
        """Take the collector's current time (epoch ms), which has just arrived."""
        self._ahead.append(milliseconds / 1000 - self._clock.monotonic())

    def now(self) -> datetime:
        """Return the current time (aware, UTC)."""
        if self.source is not None:
            return self.source.now()
        if not self._ahead:
            return self._clock.now()
        return datetime.fromtimestamp(self._clock.monotonic() + median(self._ahead), UTC)

    def monotonic(self) -> float:
        """Return the monotonic time of this machine (s)."""
        return self._clock.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait that many seconds."""
        await self._clock.sleep(seconds)

    def ago(self, monotonic: float) -> datetime:
        """Return the time (aware, UTC) at a monotonic time."""
        return self.now() - timedelta(seconds=self._clock.monotonic() - monotonic)

    @property
    def skew(self) -> float:
        """Seconds that this machine's clock is ahead of the collector's; 0 below `SKEW_LEAST`."""
        if not self._ahead or self.source is not None:
            return 0.0
        ahead = (self._clock.now() - self.now()).total_seconds()
        return ahead if abs(ahead) >= SKEW_LEAST else 0.0
