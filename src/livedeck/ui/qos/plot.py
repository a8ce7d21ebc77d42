"""One curve: its scale, the curve drawn in braille, and what lies under it. The only file that knows plotext."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import plotext

from livedeck.presentation.qos import HIGHLIGHTED, Bucket, StatusStyle
from livedeck.text.segments import Line, Segment, StyleRole
from livedeck.ui.qos.series import TimeSeries

plotext.terminal.limit(width=False, height=False)


_KEPT = 16

"""Pictures that are kept: between two answers a screen is painted several times, and its curves stay what they are."""


def curve(values: Sequence[Bucket | None], rows: int, low: float, high: float) -> list[str]:
    """`rows` texts of `len(values)` cells: the values between `low` and `high`, a vertical stroke where one varies."""
    cells = len(values)
    if not cells or rows < 1 or not any(values) or not low < high:
        return [" " * cells for _ in range(max(rows, 0))]
    return [*_drawn(tuple(values), rows, low, high)]


@lru_cache(maxsize=_KEPT)
def _drawn(values: Sequence[Bucket | None], rows: int, low: float, high: float) -> tuple[str, ...]:
    cells = len(values)
    figure = _bare_figure(cells, rows, low, high)
    xs, ys, joined = _points(values, low, high)
    signal = figure.signal(xs, ys, marker="braille")
    for index in joined:
        signal.line(index)
    figure.draw(signal)
    drawn = figure.build().string(colorless=True).splitlines()
    return tuple(line.ljust(cells)[:cells] for line in drawn[:rows])


@lru_cache(maxsize=_KEPT)
def row_of(value: float, rows: int, low: float, high: float) -> int | None:
    """The row, from the top, in which `curve` draws that value: it is asked, not guessed. None outside the range."""
    if not low <= value <= high:
        return None
    drawn = curve([Bucket(value, value)], rows, low, high)
    return next((row for row, text in enumerate(drawn) if text.strip()), None)


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
    """Two points a column at most, on its two dots, and the indexes of those that a line leads to."""
    xs: list[float] = []
    ys: list[float] = []
    joined: list[int] = []
    for column, value in enumerate(values):
        if value is None:
            continue
        follows = column > 0 and values[column - 1] is not None
        if follows:
            joined.append(len(xs))
        joined.append(len(xs) + 1)
        xs += [2 * column, 2 * column + 1]
        ys += [min(max(value.low, low), high), min(max(value.high, low), high)]
    return xs, ys, joined


GUTTER = 9

"""Cells left of every plot, for the scale."""


CLIPPED = "○"

"""What the curve of a second event is drawn with."""


@dataclass(frozen=True, slots=True)
class PlotSeries:
    """One curve: its head, its unit's size, the scale it is drawn on, and the values to mark across it.

    `marks`: two of them are the edges of a band. `over`: the same of a second event.
    """

    head: str
    ink: StyleRole
    values: list[Bucket | None]
    low: float
    high: float
    unit: float
    decimals: int
    now: Line
    marks: tuple[float | None, ...] = ()
    over: Sequence[Bucket | None] = ()


@dataclass(frozen=True, slots=True)
class PlotMarks:
    """What stands on the axis beside the curves.

    `cursor`: a column; `flags`: column -> sign of a fault or a marker; `over`: a second event.
    """

    cursor: int | None = None
    flags: Mapping[int, Segment] = field(default_factory=dict)
    over: TimeSeries | None = None


BLANKS = " ⠀"


def plot(
    measure: PlotSeries, looks: Sequence[StatusStyle | None], marked: PlotMarks, rows: int, *, stale: bool
) -> list[Line]:
    """The curve in `rows` lines, each column in the ink of its status; a second event where the curve is not."""
    drawn = curve(measure.values, rows, measure.low, measure.high)
    beside = curve(measure.over, rows, measure.low, measure.high) if measure.over else [""] * rows
    inks = [StyleRole.STALE if stale else look.role if look in HIGHLIGHTED else measure.ink for look in looks]
    grounds = _grounds(measure, rows)
    return [
        [*_gutter(measure, row, rows), *_painted(text, beside[row], inks, marked, grounds[row])]
        for row, text in enumerate(drawn)
    ]


def _grounds(measure: PlotSeries, rows: int) -> list[Segment]:
    """What each row has where nothing is drawn: a dash at a value that is marked, the band between two of them."""
    at = [row_of(value, rows, measure.low, measure.high) for value in measure.marks if value is not None]
    marks = sorted(row for row in at if row is not None)
    grounds = [(" ", StyleRole.TEXT)] * rows
    if len(marks) > 1:
        grounds[marks[0] : marks[-1]] = [("░", StyleRole.BAND)] * (marks[-1] - marks[0])
    for row in marks:
        grounds[row] = ("╌", StyleRole.LIMIT)
    return grounds


def _gutter(measure: PlotSeries, row: int, rows: int) -> Line:
    """The scale: the top and the bottom value, and the middle where there is room for it."""
    marked = {0, rows - 1} | ({rows // 2} if rows >= 5 else set())
    if row not in marked or (rows == 1 and row):
        return [(f"{'│':>{GUTTER}}", StyleRole.RULE)]
    share = 1 - row / (rows - 1) if rows > 1 else 1
    value = (measure.low + (measure.high - measure.low) * share) / measure.unit
    return [(f"{value:>{GUTTER - 2}.{measure.decimals}f} ", StyleRole.DIM), ("┤", StyleRole.RULE)]


def _painted(text: str, beside: str, inks: Sequence[StyleRole], marked: PlotMarks, ground: Segment) -> Line:
    """A row of a plot: the curve in the ink of each column, and where it is not, what lies under it."""
    line: Line = []
    for column, (char, ink) in enumerate(zip(text, inks, strict=False)):
        other = beside[column : column + 1]
        shown, cell = (char, ink) if char not in BLANKS else _under(column, other, marked, ground)
        if line and line[-1][1] is cell:
            line[-1] = (line[-1][0] + shown, cell)
        else:
            line.append((shown, cell))
    return line


def _under(column: int, beside: str, marked: PlotMarks, ground: Segment) -> Segment:
    """The cursor first, then the second event, the flags, the band."""
    if column == marked.cursor:
        return "│", StyleRole.STRONG
    if beside and beside not in BLANKS:
        return CLIPPED, StyleRole.OVERLAY
    if column in marked.flags:
        return "┊", marked.flags[column][1]
    return ground
