"""The order of samples: how often they come, and where some are missing (monitoring.md, "Order and holes")."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from livedeck.monitor.model.thresholds import Thresholds

_STEPS, _NEW_STEPS = 21, 3
"""The newest steps, of which the cadence is the median; and how many alike are a new cadence at once."""

_ALIKE = 1.25
"""The longest over the shortest of steps that are alike."""

FIRST_STEPS = 3
"""Before so many steps nobody can say what a hole would be."""


class Step(NamedTuple):
    """From one sample to the next: how many seconds are missing between, and whether the encoder was away."""

    missing: float = 0.0
    is_silence: bool = False


_NEXT = Step()


def silence_limit(cadence: float | None, thresholds: Thresholds) -> float:
    """Seconds without a sample after which the encoder was away; `cadence` None where it is not learnt yet."""
    return max(thresholds.silence_after, thresholds.silence_intervals * (cadence or 0.0))


class SampleOrder:
    """Learns the cadence (s) from steps that are no holes; None before the second sample."""

    __slots__ = ("_recent", "_steps", "cadence")

    def __init__(self) -> None:
        self.cadence: float | None = None
        self._steps: deque[float] = deque(maxlen=_STEPS)
        self._recent: deque[float] = deque(maxlen=_NEW_STEPS)

    def copy(self) -> SampleOrder:
        """An independent copy."""
        copied = SampleOrder()
        copied.cadence, copied._steps, copied._recent = self.cadence, self._steps.copy(), self._recent.copy()
        return copied

    def add(self, seconds: float, thresholds: Thresholds) -> Step:
        """Take the time since the sample before."""
        self._recent.append(seconds)
        limit = self._hole_limit(thresholds)
        if seconds > limit and self._is_new_cadence():
            self._steps = deque(self._recent, maxlen=_STEPS)
            limit = seconds
        if seconds > limit:
            cadence = self.cadence or seconds
            return Step(seconds - cadence, seconds > silence_limit(cadence, thresholds))
        self._steps.append(seconds)
        self.cadence = sorted(self._steps)[(len(self._steps) - 1) // 2]
        return _NEXT

    def _hole_limit(self, thresholds: Thresholds) -> float:
        if self.cadence is None or len(self._steps) < FIRST_STEPS:
            return float("inf")
        return max(thresholds.hole_intervals * self.cadence, self.cadence + thresholds.hole_least)

    def _is_new_cadence(self) -> bool:
        return len(self._recent) == _NEW_STEPS and max(self._recent) < _ALIKE * min(self._recent)
