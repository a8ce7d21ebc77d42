"""The time of an attached deck: the collector's (collector.md, "The attached deck")."""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime, timedelta
from statistics import median

from livedeck.monitor import Clock

_MEASURES = 5
"""Of which the median counts: one that was long on its way moves nothing."""

SKEW_LEAST = 2.0
"""Seconds; a clock that is off by less is right."""


class RemoteClock:
    """The collector's time, by which every age on a screen is right; until it has told that, this machine's.

    It runs by the monotonic clock: whoever sets this machine's changes nothing. `source`: the clock that counts where
    it is not the collector's.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ahead = deque[float](maxlen=_MEASURES)  # s, of the monotonic clock
        self.source: Clock | None = None

    def take(self, milliseconds: int) -> None:
        """The collector says that it is this time (epoch ms), now."""
        self._ahead.append(milliseconds / 1000 - self._clock.monotonic())

    def now(self) -> datetime:
        """Aware, UTC."""
        if self.source is not None:
            return self.source.now()
        if not self._ahead:
            return self._clock.now()
        return datetime.fromtimestamp(self._clock.monotonic() + median(self._ahead), UTC)

    def monotonic(self) -> float:
        """That of this machine."""
        return self._clock.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Return after that many seconds."""
        await self._clock.sleep(seconds)

    def ago(self, monotonic: float) -> datetime:
        """The time at that moment of the monotonic clock."""
        return self.now() - timedelta(seconds=self._clock.monotonic() - monotonic)

    @property
    def skew(self) -> float:
        """Seconds that this machine's clock is ahead of the collector's; 0 while it is under two."""
        if not self._ahead or self.source is not None:
            return 0.0
        ahead = (self._clock.now() - self.now()).total_seconds()
        return ahead if abs(ahead) >= SKEW_LEAST else 0.0
