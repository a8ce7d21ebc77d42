"""The order of samples: how often they come, and where some are missing (monitoring.md, "Order and holes")."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from livedeck.monitor.model.thresholds import Thresholds

T = TypeVar("T")

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


def bounded(values: deque[T], length: int) -> deque[T]:
    """These values in a deque that holds so many: one that was read from a file holds any number."""
    return values if values.maxlen == length else deque(values, maxlen=length)


def silence_limit(cadence: float | None, thresholds: Thresholds) -> float:
    """Seconds without a sample after which the encoder was away; `cadence` None where it is not learnt yet."""
    return max(thresholds.silence_after, thresholds.silence_intervals * (cadence or 0.0))


@dataclass(slots=True)
class SampleOrder:
    """Learns the cadence (s) from steps that are no holes; None before the second sample. `steps`: the newest of these;
    `recent`: the newest of all."""

    cadence: float | None = None
    steps: deque[float] = field(default_factory=deque)
    recent: deque[float] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self.steps, self.recent = bounded(self.steps, _STEPS), bounded(self.recent, _NEW_STEPS)

    def copy(self) -> SampleOrder:
        """An independent copy."""
        return SampleOrder(self.cadence, self.steps.copy(), self.recent.copy())

    def add(self, seconds: float, thresholds: Thresholds) -> Step:
        """Take the time since the sample before."""
        self.recent.append(seconds)
        limit = self._hole_limit(thresholds)
        if seconds > limit and self._is_new_cadence():
            self.steps = deque(self.recent, maxlen=_STEPS)
            limit = seconds
        if seconds > limit:
            cadence = self.cadence or seconds
            return Step(seconds - cadence, seconds > silence_limit(cadence, thresholds))
        self.steps.append(seconds)
        self.cadence = sorted(self.steps)[(len(self.steps) - 1) // 2]
        return _NEXT

    def _hole_limit(self, thresholds: Thresholds) -> float:
        if self.cadence is None or len(self.steps) < FIRST_STEPS:
            return float("inf")
        return max(thresholds.hole_intervals * self.cadence, self.cadence + thresholds.hole_least)

    def _is_new_cadence(self) -> bool:
        return len(self.recent) == _NEW_STEPS and max(self.recent) < _ALIKE * min(self.recent)
