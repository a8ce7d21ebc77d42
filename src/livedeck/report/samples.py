"""Samples aggregated into steps of time. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import isfinite
from statistics import median

from livedeck.monitor import NO_STATUS, Readings
from livedeck.presentation.qos import StatusStyle, worst_status
from livedeck.report.spans import Span

STEPS = (10, 30, 60, 300, 600, 900, 1800, 3600, 7200, 21_600, 86_400)
"""Possible lengths of a step, in seconds."""


@dataclass(frozen=True, slots=True)
class Step:
    """Summary of the samples of `span`: rates in bit/s and `fps` in frames/s, as minimum, median and maximum.

    A measure is None if no sample has a value. `status`: worst status; None without samples.
    """

    span: Span
    count: int
    video: tuple[float, float, float] | None
    audio: tuple[float, float, float] | None
    fps: tuple[float, float, float] | None
    status: StatusStyle | None


def step_seconds(span: Span, most: int, least: float = 0.0) -> float:
    """Return the length (s) of the shortest step of at least `least` s that divides the span into at most `most`."""
    least = max(least, span.seconds / most)
    return next((float(step) for step in STEPS if step >= least), least)


def cadence_of(readings: Readings) -> float | None:
    """Return the median seconds between samples; None for fewer than two."""
    return median(after - before for before, after in pairwise(readings.time)) if len(readings.time) > 1 else None


def steps(readings: Readings, span: Span, seconds: float) -> Iterator[Step]:
    """Yield the steps of the span, each `seconds` long and aligned to multiples of `seconds`. Includes empty steps."""
    start = span.since.timestamp() // seconds * seconds
    while start < span.until.timestamp():
        first, last = bisect_left(readings.time, start), bisect_left(readings.time, start + seconds)
        at = datetime.fromtimestamp(start, UTC)
        yield Step(
            Span(at, at + timedelta(seconds=seconds)),
            last - first,
            _spread(readings.video[first:last]),
            _spread(readings.audio[first:last]),
            _spread(readings.fps[first:last]),
            worst_status(status for status in readings.status[first:last] if status != NO_STATUS),
        )
        start += seconds


def _spread(values: Iterable[float]) -> tuple[float, float, float] | None:
    measured = sorted(filter(isfinite, values))
    return (measured[0], median(measured), measured[-1]) if measured else None
