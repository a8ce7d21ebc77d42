"""Curves of samples for print, drawn by plotext. The deck draws its own: decisions.md, "Own curves in braille".

plotext gets only numbers and livedeck's own labels, so no text from outside passes through it. It returns plain text,
and this module adds the roles. The figure of plotext is global: draw in one thread.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import ceil, inf, isnan
from typing import NamedTuple

import plotext
from plotext import figure

from livedeck.monitor import NO_STATUS, Readings
from livedeck.presentation.qos import (
    ODD,
    STATUS_STYLES,
    UNWATCHED,
    Axis,
    Bucket,
    StatusStyle,
    bucket_columns,
    bucket_statuses,
    held,
    longest_step,
    status_style,
)
from livedeck.presentation.scale import LABEL_CELLS, round_scale, time_ticks
from livedeck.record import Record
from livedeck.text.segments import Line, StyleRole, clip, merge_neighbours, plain
from livedeck.text.values import counted, short_duration

GAP = "░"
"""Sign of a cell in which samples are missing."""

GUTTER = LABEL_CELLS + 1
"""Number of cells at the left of a curve, for its labels and its axis."""

_MIN_COLUMNS, _TALL_COLUMNS = 20, 100
"""Minimum number of cells of a curve, and minimum number for tall curves."""

_SHORTEST = 60.0
"""Minimum length of an axis in seconds."""

Period = tuple[float, float]
"""Start and end in epoch seconds."""


class Measure(NamedTuple):
    """Measure of samples. `name`: field of `Readings`. `scale_unit`: value of one `unit`. `rows`: rows of its curve."""

    name: str
    unit: str
    scale_unit: float
    role: StyleRole
    rows: int
    tall_rows: int


VIDEO = Measure("video", "Mbit/s", 1e6, StyleRole.VIDEO, 7, 11)
AUDIO = Measure("audio", "kbit/s", 1e3, StyleRole.AUDIO, 3, 5)
FPS = Measure("fps", "frames/s", 1.0, StyleRole.FPS, 3, 5)


class Plot(Record):
    """Samples on a time axis with a column for each cell.

    `cadence`: usual seconds between two samples. `gaps`: times in which samples are missing. `unwatched`: times without
    samples that were not watched either. `until`: time up to which the newest sample is repeated.
    """

    axis: Axis
    samples: Readings
    cadence: float
    gaps: Sequence[Period] = ()
    unwatched: Sequence[Period] = ()
    until: float = -inf

    @property
    def width(self) -> int:
        """Width of the plot in cells."""
        return GUTTER + self.axis.columns

    def dots(self, measure: Measure) -> list[Bucket | None]:
        """Return the values of a measure, two for each cell. No value is repeated over missing samples."""
        dots = self.axis.halved()
        values = bucket_columns(dots, self.samples, getattr(self.samples, measure.name))
        return held(values, dots, self.samples.time, longest_step(self.cadence), self.until)

    def statuses(self) -> list[StatusStyle | None]:
        """Return the worst status of each cell. No status is repeated over missing samples."""
        statuses = bucket_statuses(self.axis, self.samples)
        return held(statuses, self.axis, self.samples.time, longest_step(self.cadence), self.until)

    def missing(self) -> dict[str, list[Period]]:
        """Return sign -> times on the axis without samples."""
        beyond = ((-inf, self.axis.start), (self.axis.end, inf))
        gaps = _without(self.gaps, (*self.unwatched, *beyond))
        return {
            GAP: [(since, until) for since, until in gaps if until - since > self.cadence],
            UNWATCHED: _without(self.unwatched, beyond),
        }

    def empty_signs(self) -> dict[int, str]:
        """Return cell -> sign of missing samples, for each cell that lacks all or some of its samples."""
        periods = ((sign, period) for sign, periods in self.missing().items() for period in periods)
        return {cell: sign for sign, period in periods for cell in self._cells(period)}

    def _cells(self, period: Period) -> range:
        """Return the cells of a time without samples. They begin a cadence after the last sample before that time."""
        since, until = period
        before = bisect_right(self.samples.time, since) - 1
        if before >= 0:
            since = max(since, self.samples.time[before] + self.cadence)
        last = ceil((until - self.axis.start) / self.axis.step) if since < until else 0
        return range(self.axis.column_of(since), min(last, self.axis.columns))

    def on_axis(self) -> Readings:
        """Return the samples within the axis."""
        found = self.samples
        part = slice(bisect_left(found.time, self.axis.start), bisect_left(found.time, self.axis.end))
        return Readings(found.time[part], found.video[part], found.audio[part], found.fps[part], found.status[part])


def plot_axis(start: float, end: float, width: int) -> Axis:
    """Return the axis of a plot that is `width` cells wide, from `start` to `end` (epoch s).

    The axis is at least a minute long.
    """
    return Axis(min(start, end - _SHORTEST), end, max(_MIN_COLUMNS, width - GUTTER))


def missing_between(times: Sequence[float], cadence: float) -> list[Period]:
    """Return the periods between two samples in which samples are missing (monitoring.md, "Order and holes")."""
    return [(before, after) for before, after in pairwise(times) if after - before > longest_step(cadence)]


def _without(periods: Iterable[Period], holes: Iterable[Period]) -> list[Period]:
    """Return the periods without the time of `holes`."""
    left = [*periods]
    for start, end in holes:
        parts = (part for since, until in left for part in ((since, min(until, start)), (max(since, end), until)))
        left = [(since, until) for since, until in parts if since < until]
    return left


def plot_lines(plot: Plot) -> Iterator[Line]:
    """Yield the curves of all measures over the same times, the statuses under them, and the meaning of all signs."""
    for measure in (VIDEO, AUDIO, FPS):
        head = [(f"{measure.name:>{LABEL_CELLS}}", measure.role), (f" {range_text(plot, measure)}", StyleRole.DIM)]
        yield clip(head, plot.width)
        yield from curve_lines(plot, measure, measure.tall_rows if plot.axis.columns >= _TALL_COLUMNS else measure.rows)
    yield status_line(plot)
    yield from time_lines(plot.axis)
    yield from (clip(line, plot.width) for line in legend_lines([plot]))


def range_text(plot: Plot, measure: Measure) -> str:
    """Return the unit of a measure with its least and greatest value: `Mbit/s, 3.91 to 4.62`."""
    values = [value / measure.scale_unit for value in getattr(plot.on_axis(), measure.name)]
    measured = [value for value in values if not isnan(value)]
    if not measured:
        return f"{measure.unit}, no values"
    without = len(values) - len(measured)
    note = f", {counted(without, 'sample')} without a value" if without else ""
    return f"{measure.unit}, {min(measured):.3g} to {max(measured):.3g}{note}"


def curve_lines(plot: Plot, measure: Measure, rows: int) -> Iterator[Line]:
    """Yield the curve: the medians of the dots as a line, their ranges as strokes. No line crosses missing samples.

    Yields nothing if no sample has a value.
    """
    dots = plot.dots(measure)
    if not any(dots):
        return
    scale = round_scale((dot.high for dot in dots if dot), rows, fallback=measure.scale_unit)
    labels = [f"{scale.label(tick, measure.scale_unit):>{LABEL_CELLS}}" for tick in scale.ticks]
    _begin(plot.axis.columns, rows, (scale.low, scale.high), scale.ticks, labels)
    row = (scale.high - scale.low) / rows
    middles = [scale.low + row * (index + 0.5) for index in range(rows)]
    _draw_signs({cell: sign for cell, sign in plot.empty_signs().items() if not any(dots[2 * cell :][:2])}, middles)
    filled = [(index, dot) for index, dot in enumerate(dots) if dot]
    starts = {place for place, (index, _) in enumerate(filled) if not index or dots[index - 1] is None}
    _draw([(index / 2 + 0.25, dot.median) for index, dot in filled], "braille", starts)
    ends = [(index / 2 + 0.25, value) for index, dot in filled for value in (dot.low, dot.high)]
    _draw(ends, "braille", range(0, len(ends), 2))
    yield from _painted(measure.role)


def status_line(plot: Plot) -> Line:
    """Return the line of statuses. A cell in which samples are missing shows the gap, unless its status is abnormal."""
    _begin(plot.axis.columns, 1, (0.0, 1.0), [0.5], [f"{'status':>{LABEL_CELLS}}"])
    styles = {cell: style for cell, style in enumerate(plot.statuses()) if style}
    normal, abnormal = ({c: s.glyph for c, s in styles.items() if bool(s.weight) == is_bad} for is_bad in (False, True))
    _draw_signs({**normal, **plot.empty_signs(), **abnormal}, [0.5])
    return next(_painted(StyleRole.DIM))


def time_lines(axis: Axis) -> Iterator[Line]:
    """Yield the time axis, and the round times under it."""
    ticks, zone = time_ticks(axis), f"{'UTC':>{LABEL_CELLS}}"
    _begin(axis.columns, 1, (0.0, 1.0), [0.5], [zone])
    figure.axes(True, axis="x", side="lower").plot_size(axis.columns + GUTTER, 3)
    figure.ruler("x").ticks([tick.cell + 0.5 for tick in ticks], [tick.label for tick in ticks])
    _, rule, times = (plain(line) for line in _painted(StyleRole.DIM))
    yield [(rule, StyleRole.DIM)]
    yield [(zone + times[LABEL_CELLS:], StyleRole.DIM)]


def legend_lines(plots: Sequence[Plot]) -> Iterator[Line]:
    """Yield a line for each sign in the plots: its meaning, and the samples or the time with this sign."""
    statuses = [status for plot in plots for status in plot.on_axis().status]
    for status in sorted({*statuses}):
        style = status_style(status)
        meaning = "no status" if status == NO_STATUS else f"{status} {style.meaning}"
        yield _legend_line(style.glyph, style.role, meaning, counted(statuses.count(status), "sample"))
    missing = [plot.missing() for plot in plots]
    gaps, unwatched = (
        [until - since for periods in missing for since, until in periods[sign]] for sign in (GAP, UNWATCHED)
    )
    if gaps:
        count = f"{counted(len(gaps), 'gap')}, the longest " if len(gaps) > 1 else ""
        yield _legend_line(GAP, StyleRole.BAND, "no samples", f"{count}{short_duration(max(gaps))}")
    if unwatched:
        text = f"{short_duration(sum(unwatched))}, a signal may have arrived"
        yield _legend_line(UNWATCHED, StyleRole.BAND, "not watched", text)


def _legend_line(sign: str, role: StyleRole, meaning: str, count: str) -> Line:
    return [(f"{sign:>{LABEL_CELLS}}", role), (f" {meaning}: {count}", StyleRole.DIM)]


def _begin(columns: int, rows: int, limits: tuple[float, float], ticks: Sequence[float], labels: Sequence[str]) -> None:
    """Begin a figure: a curve of this size and between these limits, with an axis and labels at its left."""
    plotext.terminal.limit(width=False, height=False)
    figure.clear().theme("colorless").axes(False).axes(True, axis="y", side="left")
    figure.plot_size(columns + GUTTER, rows)
    figure.ruler("x").lim(0, columns).alignment(lim="edge").ticks([])
    figure.ruler("y").lim(*limits).alignment(lim="edge").ticks([*ticks], [*labels])


def _draw(places: Sequence[tuple[float, float]], marker: str, starts: Iterable[int] | None = None) -> None:
    """Draw points, given by cell and value. `starts`: indexes of the points that begin a line; None for no lines."""
    cells, values = zip(*places, strict=True)
    signal = figure.signal(cells, values, marker=marker).lines(starts is not None)
    for index in starts or ():
        signal.line(index, False)
    figure.draw(signal)


def _draw_signs(signs: Mapping[int, str], values: Sequence[float]) -> None:
    """Draw the sign of each cell at these values."""
    for sign in {*signs.values()}:
        _draw([(cell + 0.5, value) for cell, found in signs.items() if found == sign for value in values], sign)


def _painted(role: StyleRole) -> Iterator[Line]:
    """Yield the lines of the figure. The dots of the curve get this role; signs get the role of their status."""
    for row in figure.build().string(colorless=True).splitlines():
        yield merge_neighbours(
            (char, _SIGNS.get(char, role if char >= _NO_DOTS else StyleRole.DIM)) for char in row.rstrip()
        )


_SIGNS = {style.glyph: style.role for style in (*STATUS_STYLES.values(), ODD)} | dict.fromkeys(
    (GAP, UNWATCHED), StyleRole.BAND
)
"""Sign -> role."""

_NO_DOTS = "\u2800"
"""First braille character."""
