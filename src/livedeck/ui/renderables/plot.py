"""One curve of the QoS screen: its scale, the curve, and what lies under it where it is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from livedeck.ui.renderables import buckets
from livedeck.ui.renderables.chart import curve, row_of
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line, Span
from livedeck.ui.renderables.status import HIGHLIGHTED, Look
from livedeck.ui.renderables.stretch import Stretch

GUTTER = 9
"""Cells left of every plot, for the scale."""

OVER = "○"
"""What the curve of a second event is drawn with."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One curve: its head, its unit's size, the scale it is drawn on, and the values to mark across it.

    `marks`: two of them are the edges of a band. `over`: the same of a second event.
    """

    head: str
    ink: Ink
    values: list[buckets.Bucket | None]
    low: float
    high: float
    unit: float
    decimals: int
    now: Line
    marks: tuple[float | None, ...] = ()
    over: Sequence[buckets.Bucket | None] = ()


@dataclass(frozen=True, slots=True)
class Marked:
    """What stands on the axis beside the curves.

    `cursor`: a column; `flags`: column -> sign of a fault or a marker; `over`: a second event.
    """

    cursor: int | None = None
    flags: Mapping[int, Span] = field(default_factory=dict)
    over: Stretch | None = None


BLANKS = " ⠀"


def plot(measure: Measure, looks: Sequence[Look | None], marked: Marked, rows: int, *, stale: bool) -> list[Line]:
    """The curve in `rows` lines, each column in the ink of its status; a second event where the curve is not."""
    drawn = curve(measure.values, rows, measure.low, measure.high)
    beside = curve(measure.over, rows, measure.low, measure.high) if measure.over else [""] * rows
    inks = [Ink.STALE if stale else look.ink if look in HIGHLIGHTED else measure.ink for look in looks]
    grounds = _grounds(measure, rows)
    return [
        [*_gutter(measure, row, rows), *_painted(text, beside[row], inks, marked, grounds[row])]
        for row, text in enumerate(drawn)
    ]


def _grounds(measure: Measure, rows: int) -> list[Span]:
    """What each row has where nothing is drawn: a dash at a value that is marked, the band between two of them."""
    at = [row_of(value, rows, measure.low, measure.high) for value in measure.marks if value is not None]
    marks = sorted(row for row in at if row is not None)
    grounds = [(" ", Ink.TEXT)] * rows
    if len(marks) > 1:
        grounds[marks[0] : marks[-1]] = [("░", Ink.BAND)] * (marks[-1] - marks[0])
    for row in marks:
        grounds[row] = ("╌", Ink.LIMIT)
    return grounds


def _gutter(measure: Measure, row: int, rows: int) -> Line:
    """The scale: the top and the bottom value, and the middle where there is room for it."""
    marked = {0, rows - 1} | ({rows // 2} if rows >= 5 else set())
    if row not in marked or (rows == 1 and row):
        return [(f"{'│':>{GUTTER}}", Ink.RULE)]
    share = 1 - row / (rows - 1) if rows > 1 else 1
    value = (measure.low + (measure.high - measure.low) * share) / measure.unit
    return [(f"{value:>{GUTTER - 2}.{measure.decimals}f} ", Ink.DIM), ("┤", Ink.RULE)]


def _painted(text: str, beside: str, inks: Sequence[Ink], marked: Marked, ground: Span) -> Line:
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


def _under(column: int, beside: str, marked: Marked, ground: Span) -> Span:
    """The cursor first, then the second event, the flags, the band."""
    if column == marked.cursor:
        return "│", Ink.STRONG
    if beside and beside not in BLANKS:
        return OVER, Ink.OVER
    if column in marked.flags:
        return "┊", marked.flags[column][1]
    return ground
