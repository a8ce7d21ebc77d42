"""Samples gathered into the columns of a screen: what a chart of any length costs is its width."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise
from math import floor, isfinite

from livedeck.monitor import EventState, Readings
from livedeck.ui.renderables.moment import Moment
from livedeck.ui.renderables.status import Look, worst


@dataclass(frozen=True, slots=True)
class Axis:
    """`columns` equal steps of time from `start` to `end` (epoch seconds, the platform's clock)."""

    start: float
    end: float
    columns: int

    @property
    def step(self) -> float:
        """Seconds a column."""
        return (self.end - self.start) / self.columns

    @classmethod
    def ending(cls, at: float, span: float, columns: int) -> Axis:
        """The last `span` seconds with `at` in the last step, aligned to whole steps: old columns stay as they are."""
        columns = max(1, columns)
        step = span / columns
        end = (floor(at / step) + 1) * step
        return cls(end - span, end, columns)

    def cuts(self, times: array[float]) -> list[int]:
        """Where each column begins in ascending `times`, and where the last one ends: `columns + 1` indexes."""
        return [bisect_left(times, self.start + self.step * column) for column in range(self.columns + 1)]


@dataclass(frozen=True, slots=True)
class Bucket:
    """The least and the greatest value that was measured in one step of time."""

    low: float
    high: float


def columns(axis: Axis, readings: Readings, values: array[float]) -> list[Bucket | None]:
    """`values` (a column of `readings`) by step of the axis; None where nothing was measured: a gap is a gap."""
    cuts = axis.cuts(readings.time)
    return [_column(values[first:last]) for first, last in pairwise(cuts)]


def _column(values: array[float]) -> Bucket | None:
    measured = list(filter(isfinite, values))
    return Bucket(min(measured), max(measured)) if measured else None


def statuses(axis: Axis, readings: Readings) -> list[Look | None]:
    """The heaviest status of each step of the axis; None where there was no sample."""
    cuts = axis.cuts(readings.time)
    return [worst(readings.status[first:last]) for first, last in pairwise(cuts)]


def axis_of(state: EventState, moment: Moment, span: float, columns: int) -> Axis | None:
    """The last `span` seconds of that event's samples, up to the last answer; None where there are none."""
    if state.qos.as_of is None or not len(state.qos.readings):
        return None
    return Axis.ending(moment.to_server(state.qos.as_of).timestamp(), span, columns)
