"""Order of samples in time: cadence and holes (monitoring.md, "Order and holes")."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from math import inf
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar, cast

from livedeck.monitor.evidence.coverage import Coverage
from livedeck.monitor.model.thresholds import Thresholds

T = TypeVar("T")

_STEPS, _NEW_STEPS = 21, 2
"""Number of newest steps whose median is the cadence, and number of similar steps in a row that make a new cadence."""

_ALIKE = 1.25
"""Steps are similar if the longest is shorter than this multiple of the shortest."""

FIRST_STEPS = 3
"""Minimum number of steps between samples that must be known before a long step counts as a hole."""


class Step(NamedTuple):
    """Step from one sample to the next.

    `missing`: covered seconds without samples. `is_silence`: the longest covered part without samples proves that the
    encoder was away. `unwatched`: seconds that no reply covers.
    """

    missing: float = 0.0
    is_silence: bool = False
    unwatched: float = 0.0


_NEXT = Step()


def copier(kind: type[T]) -> Callable[[T], T]:
    """Return a function that copies a dataclass object in a third of the time of `dataclasses.replace`.

    The copy is shallow: the caller copies the values that can change.
    """
    make: Callable[..., T] = kind
    values: Callable[[T], tuple[Any, ...]] = attrgetter(*(each.name for each in fields(cast("Any", kind))))
    return lambda state: make(*values(state))


def silence_limit(cadence: float | None, thresholds: Thresholds) -> float:
    """Return the seconds without a sample after which the encoder counts as away. `cadence`: None if not learnt yet."""
    return max(thresholds.silence_after, thresholds.silence_intervals * (cadence or 0.0))


def hole_limit(cadence: float, thresholds: Thresholds) -> float:
    """Return the maximum seconds between two samples without a hole."""
    return max(thresholds.hole_intervals * cadence, cadence + thresholds.hole_least)


@dataclass(slots=True)
class SampleOrder:
    """Steps between the samples of a stream, in seconds.

    `cadence`: median of `steps`; None before the second sample. `steps`: newest steps that are not holes. `recent`:
    newest of all steps.
    """

    cadence: float | None = None
    steps: tuple[float, ...] = ()
    recent: tuple[float, ...] = ()

    def copy(self) -> SampleOrder:
        return _copy(self)

    def add(self, last_time: float, time: float, thresholds: Thresholds, coverage: Coverage) -> Step:
        """Add and return the step from the previous sample at `last_time` to a sample at `time` (epoch s)."""
        seconds = time - last_time
        self.recent = (*self.recent, seconds)[-_NEW_STEPS:]
        is_known = self.cadence is not None and len(self.steps) >= FIRST_STEPS
        limit = hole_limit(self.cadence or 0.0, thresholds) if is_known else inf
        if seconds > limit and self._is_new_cadence():
            self.steps = self.recent
            limit = seconds
        if seconds > limit:
            cadence = self.cadence or seconds
            pieces = [piece.seconds for piece in coverage.pieces(last_time, time)]
            watched = sum(pieces)
            is_silence = max(pieces, default=0.0) > silence_limit(cadence, thresholds)
            return Step(max(0.0, watched - cadence), is_silence, seconds - watched)
        self.steps = (*self.steps, seconds)[-_STEPS:]
        self.cadence = sorted(self.steps)[(len(self.steps) - 1) // 2]
        return _NEXT

    def _is_new_cadence(self) -> bool:
        return len(self.recent) == _NEW_STEPS and max(self.recent) < _ALIKE * min(self.recent)


_copy = copier(SampleOrder)
