"""One curve: its scale, the curve drawn in braille, and what lies under it. The only file that imports plotext."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import plotext

from livedeck.presentation.qos import HIGHLIGHTED, Bucket, StatusStyle
from livedeck.text.segments import Line, Segment, StyleRole
from livedeck.ui.qos.series import TimeSeries

plotext.terminal.limit(width=False, height=False)


_CACHED_CURVES = 16
"""Between two answers a screen is painted several times, and its curves stay what they are."""


def draw_curve(values: Sequence[Bucket | None], rows: int, low: float, high: float) -> list[str]:
    """`rows` texts of `len(values)` cells: the values between `low` and `high`, a vertical stroke where one varies."""
    cells = len(values)
    if not cells or rows < 1 or not any(values) or not low < high:
        return [" " * cells for _ in range(max(rows, 0))]
    return [*_draw_curve(tuple(values), rows, low, high)]


@lru_cache(maxsize=_CACHED_CURVES)
def _draw_curve(values: Sequence[Bucket | None], rows: int, low: float, high: float) -> tuple[str, ...]:
    cells = len(values)
    figure = _bare_figure(cells, rows, low, high)
    xs, ys, connected = _points(values, low, high)
    signal = figure.signal(xs, ys, marker="braille")
    for index in connected:
        signal.line(index)
    figure.draw(signal)
    lines = figure.build().string(colorless=True).splitlines()
    return tuple(line.ljust(cells)[:cells] for line in lines[:rows])


@lru_cache(maxsize=_CACHED_CURVES)
def row_of(value: float, rows: int, low: float, high: float) -> int | None:
    """The row, from the top, in which `draw_curve` draws that value, found by drawing it. None outside the range."""
    if not low <= value <= high:
        return None
    lines = draw_curve([Bucket(value, value)], rows, low, high)
    return next((row for row, text in enumerate(lines) if text.strip()), None)


def _bare_figure(cells: int, rows: int, low: float, high: float) -> plotext.figure:
    figure = plotext.figure
    figure.clear.all()
    figure.plot_size(cells, rows)
    figure.axes(False)
    figure.legend(False)
    figure.canvas("default")
    for axis in (0, 1):
        for side in (0, 1):
            figure.ruler(axis, side).frequency(0)
    figure.ruler(0, 0).alignment(lim="edge").lim(0, 2 * cells - 1)
    figure.ruler(1, 0).lim(low, high)
    return figure


def _points(values: Sequence[Bucket | None], low: float, high: float) -> tuple[list[float], list[float], list[int]]:
    """At most two points a column, on its two dots, and the indexes of those that a line leads to."""
    xs: list[float] = []
    ys: list[float] = []
    connected: list[int] = []
    for column, value in enumerate(values):
        if value is None:
            continue
        if column > 0 and values[column - 1] is not None:
            connected.append(len(xs))
        connected.append(len(xs) + 1)
        xs += [2 * column, 2 * column + 1]
        ys += [min(max(value.low, low), high), min(max(value.high, low), high)]
    return xs, ys, connected


GUTTER = 9
"""Cells left of every plot, for the scale."""

OVERLAY_GLYPH = "○"
"""The curve of a second event is drawn with it."""


@dataclass(frozen=True, slots=True)
class PlotSeries:
    """One curve: its title, the scale it is drawn on, and the limits that are marked across it.

    `unit`: the values in one unit of the scale. `current`: the value now, as text. `limits`: two of them are the edges
    of a band. `overlay`: the same curve of a second event.
    """

    title: str
    role: StyleRole
    values: list[Bucket | None]
    low: float
    high: float
    unit: float
    decimals: int
    current: Line
    limits: tuple[float | None, ...] = ()
    overlay: Sequence[Bucket | None] = ()


@dataclass(frozen=True, slots=True)
class PlotMarks:
    """What all curves of a chart have in common.

    `cursor`: a column; `flags`: column -> sign of a fault or a marker; `overlay`: a second event.
    """

    cursor: int | None = None
    flags: Mapping[int, Segment] = field(default_factory=dict)
    overlay: TimeSeries | None = None


BLANKS = " ⠀"


def plot_lines(
    series: PlotSeries, statuses: Sequence[StatusStyle | None], marks: PlotMarks, rows: int, *, stale: bool
) -> list[Line]:
    """The curve in `rows` lines, each column in the role of its status; the overlay where the curve is not."""
    curve = draw_curve(series.values, rows, series.low, series.high)
    overlay = draw_curve(series.overlay, rows, series.low, series.high) if series.overlay else [""] * rows
    roles = [StyleRole.STALE if stale else style.role if style in HIGHLIGHTED else series.role for style in statuses]
    backgrounds = _backgrounds(series, rows)
    return [
        [*_gutter(series, row, rows), *_row(text, overlay[row], roles, marks, backgrounds[row])]
        for row, text in enumerate(curve)
    ]


def _backgrounds(series: PlotSeries, rows: int) -> list[Segment]:
    """What each row shows where nothing is drawn: a dash at a limit, the band between two of them."""
    found = [row_of(limit, rows, series.low, series.high) for limit in series.limits if limit is not None]
    limit_rows = sorted(row for row in found if row is not None)
    backgrounds = [(" ", StyleRole.TEXT)] * rows
    if len(limit_rows) > 1:
        backgrounds[limit_rows[0] : limit_rows[-1]] = [("░", StyleRole.BAND)] * (limit_rows[-1] - limit_rows[0])
    for row in limit_rows:
        backgrounds[row] = ("╌", StyleRole.LIMIT)
    return backgrounds


def _gutter(series: PlotSeries, row: int, rows: int) -> Line:
    """The scale: the top and the bottom value, and the middle one where there are rows enough."""
    labelled = {0, rows - 1} | ({rows // 2} if rows >= 5 else set())
    if row not in labelled or (rows == 1 and row):
        return [(f"{'│':>{GUTTER}}", StyleRole.RULE)]
    share = 1 - row / (rows - 1) if rows > 1 else 1
    value = (series.low + (series.high - series.low) * share) / series.unit
    return [(f"{value:>{GUTTER - 2}.{series.decimals}f} ", StyleRole.DIM), ("┤", StyleRole.RULE)]


def _row(text: str, overlay: str, roles: Sequence[StyleRole], marks: PlotMarks, background: Segment) -> Line:
    """A row of a plot: the curve in the role of each column, and where it is not, what lies under it."""
    line: Line = []
    for column, (char, curve_role) in enumerate(zip(text, roles, strict=False)):
        under = _under(column, overlay[column : column + 1], marks, background)
        cell, role = (char, curve_role) if char not in BLANKS else under
        if line and line[-1][1] is role:
            line[-1] = (line[-1][0] + cell, role)
        else:
            line.append((cell, role))
    return line


def _under(column: int, overlay: str, marks: PlotMarks, background: Segment) -> Segment:
    """The cursor first, then the overlay, the flags, the background."""
    if column == marks.cursor:
        return "│", StyleRole.STRONG
    if overlay and overlay not in BLANKS:
        return OVERLAY_GLYPH, StyleRole.OVERLAY
    if column in marks.flags:
        return "┊", marks.flags[column][1]
    return background
