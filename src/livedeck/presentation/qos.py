"""The status of QoS samples as glyph, word and role, and a row of them as bars. Pure."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import floor, isfinite
from typing import NamedTuple

from livedeck.monitor import EventState, Readings
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import Line, StyleRole
from livedeck.text.values import UNKNOWN


class StatusStyle(NamedTuple):
    """How one status is shown. `weight` orders them: the heaviest of a column is the one that is drawn."""

    glyph: str
    word: str
    meaning: str
    ink: StyleRole
    weight: int


NORMAL = StatusStyle("▁", "normal", "normal", StyleRole.OK, 0)

KEY_20 = StatusStyle("▲", "KEY>20%", "key-frame time difference over 20 %", StyleRole.KEY_20, 2)

KEY_50 = StatusStyle("◆", "KEY>50%", "key-frame time difference over 50 %", StyleRole.KEY_50, 3)

LOSS = StatusStyle("✖", "LOSS", "packet loss", StyleRole.LOSS, 4)

ODD = StatusStyle(UNKNOWN, "UNKNOWN", "a status that the document does not name", StyleRole.ODD, 1)


STATUS_STYLES = {0: NORMAL, 3: KEY_20, 4: KEY_50, 5: LOSS}

HIGHLIGHTED = (KEY_20, KEY_50, LOSS)


def status_style(status: int) -> StatusStyle:
    """The look of a status; what the document does not name is unknown: neither normal nor bad."""
    return STATUS_STYLES.get(status, ODD)


def worst(statuses: Iterable[int]) -> StatusStyle | None:
    """The heaviest look among them; None where there are none."""
    return max(map(status_style, set(statuses)), key=lambda one: one.weight, default=None)


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


def bucket_columns(axis: Axis, readings: Readings, values: array[float]) -> list[Bucket | None]:
    """`values` (a column of `readings`) by step of the axis; None where nothing was measured: a gap is a gap."""
    cuts = axis.cuts(readings.time)
    return [_column(values[first:last]) for first, last in pairwise(cuts)]


def _column(values: array[float]) -> Bucket | None:
    measured = list(filter(isfinite, values))
    return Bucket(min(measured), max(measured)) if measured else None


def bucket_statuses(axis: Axis, readings: Readings) -> list[StatusStyle | None]:
    """The heaviest status of each step of the axis; None where there was no sample."""
    cuts = axis.cuts(readings.time)
    return [worst(readings.status[first:last]) for first, last in pairwise(cuts)]


def axis_of(state: EventState, moment: RenderTime, span: float, columns: int) -> Axis | None:
    """The last `span` seconds of that event's samples, up to the last answer; None where there are none."""
    if state.qos.as_of is None or not len(state.qos.readings):
        return None
    return Axis.ending(moment.to_server(state.qos.as_of).timestamp(), span, columns)


BARS = "▁▂▃▄▅▆▇█"


def spark(values: Sequence[Bucket | None], top: float, ink: StyleRole = StyleRole.VIDEO) -> Line:
    """A bar a column, by its lowest value so that a dip shows, from zero to `top`; a gap is blank."""
    return [("".join(_bar(value, top) for value in values), ink)]


def _bar(value: Bucket | None, top: float) -> str:
    if value is None:
        return " "
    level = round(value.low / top * (len(BARS) - 1)) if top > 0 else 0
    return BARS[min(max(level, 0), len(BARS) - 1)]


def strip(looks: Sequence[StatusStyle | None]) -> Line:
    """The status of each column, a glyph each, neighbours of one look joined; a gap is blank."""
    line: Line = []
    for one in looks:
        glyph, ink = (one.glyph, one.ink) if one else (" ", StyleRole.TEXT)
        if line and line[-1][1] is ink:
            line[-1] = (line[-1][0] + glyph, ink)
        else:
            line.append((glyph, ink))
    return line
