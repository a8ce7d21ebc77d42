"""The parts of a chart: the panel of a curve, the strip of statuses, the axis of time, the map of a whole event. Pure.

Colours, layers and sizes: interface.md, "Charts".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import ceil
from typing import NamedTuple

from livedeck.presentation.qos import BARS, HIGHLIGHTED, Axis, Bucket, StatusStyle
from livedeck.text.segments import Role, Segment, Shade, ShadedLine, StyleRole
from livedeck.ui.kit.braille import BLANK, HORIZONTAL, VERTICAL, draw_curve
from livedeck.ui.kit.scale import DOTS, LABEL_CELLS, Scale, round_scale

GUTTER = LABEL_CELLS + 1
"""Cells left of every panel, for its scale."""

GAP, CURSOR = "░", "│"

ENVELOPE, BASE, GOOD, AROUND, FAINT = 45, 55, 75, 50, 16
"""Percent of a colour: lowest and highest values, a usual value, what is normal, what lies around a window, a grid."""


@dataclass(frozen=True, slots=True)
class Curve:
    """One curve: its name, and its values, two to a cell. `scale_unit`: the values in one unit of the scale.

    `limit`: what a value must not fall under; `base`: what is usual; `second`: the same of another event.
    """

    name: str
    unit: str
    scale_unit: float
    role: StyleRole
    dots: Sequence[Bucket | None]
    limit: float | None = None
    base: float | None = None
    second: Sequence[Bucket | None] = ()

    def scale(self, rows: int, *, is_fitted: bool = False) -> Scale:
        """A scale of so many rows that holds what is measured, the limit and what is usual."""
        measured = [bucket for bucket in (*self.dots, *self.second) if bucket]
        limits = [value for value in (self.limit, self.base) if value is not None]
        ends = [*(bucket.high for bucket in measured), *(bucket.low for bucket in measured)]
        return round_scale([*ends, *limits], rows, is_fitted=is_fitted, fallback=self.scale_unit)


class TimeTick(NamedTuple):
    """A round time: the cell of its column, and what it is called."""

    cell: int
    label: str


@dataclass(frozen=True, slots=True)
class Backdrop:
    """What all panels of one chart have in common, by cell of its width.

    `statuses`: the worst in each cell; `expected`: the cells in which something should have been measured, so that
    what is missing there is a gap; `marks`: the signs of what people marked. `has_grid`: whether faint lines can be
    told from curves.
    """

    statuses: Sequence[StatusStyle | None]
    expected: range = range(0)
    ticks: Sequence[TimeTick] = ()
    cursor: int | None = None
    marks: Mapping[int, Segment] = field(default_factory=dict)
    has_grid: bool = True
    is_stale: bool = False

    @property
    def cells(self) -> int:
        """How many there are."""
        return len(self.statuses)

    def fault(self, cell: int) -> StyleRole | None:
        """The role of the fault in that cell."""
        style = self.statuses[cell]
        return style.role if style and style in HIGHLIGHTED and not self.is_stale else None


def panel_lines(curve: Curve, scale: Scale, backdrop: Backdrop) -> list[ShadedLine]:
    """The curve in as many lines as its scale has rows, its labels left of it.

    The layers, each over those before it: area, fault, grid of time, grid of values, limit, usual value, second event,
    lowest and highest values, curve, mark, cursor.
    """
    panel = _Panel(curve, scale, backdrop)
    panel.draw_grid()
    panel.draw_limits()
    panel.draw_curves()
    panel.draw_marks()
    labels = {scale.row(tick): scale.label(tick, curve.scale_unit) for tick in scale.ticks}
    return [[(f"{labels.get(row, ''):>{LABEL_CELLS}} ", StyleRole.DIM), *panel.line(row)] for row in range(scale.rows)]


_LINES = frozenset({StyleRole.TEXT, StyleRole.BAND, StyleRole.LIMIT, StyleRole.STRONG})
"""They say nothing of what was measured: they look the same when it is old."""


class _Panel:
    """The cells of a panel, drawn over layer by layer."""

    def __init__(self, curve: Curve, scale: Scale, backdrop: Backdrop) -> None:
        self._curve, self._scale, self._backdrop = curve, scale, backdrop
        cells = range(backdrop.cells)
        self._pairs = [_pair(curve.dots, cell) for cell in cells]
        self._levels = [min((scale.dot(bucket.median) for bucket in pair), default=0) for pair in self._pairs]
        self._faults = [backdrop.fault(cell) for cell in cells]
        self._drawn: list[list[_Drawn]] = [[_BLANK] * backdrop.cells for _ in range(scale.rows)]

    def draw_grid(self) -> None:
        """Faint lines at the round times and at the ticks of the scale; a shade where nothing was measured."""
        if self._backdrop.has_grid:
            for tick in self._backdrop.ticks:
                self._draw_column(tick.cell, VERTICAL, StyleRole.TEXT, FAINT)
            for value in self._scale.ticks:
                self._draw_level(value, StyleRole.TEXT, FAINT, every=1)
        for cell in self._backdrop.expected:
            if not self._pairs[cell]:
                self._draw_column(cell, GAP, StyleRole.BAND)

    def draw_limits(self) -> None:
        """What is usual, and the limit: in every second cell, so that a curve in the same dots stays readable."""
        if self._curve.base is not None:
            self._draw_level(self._curve.base, self._curve.role, BASE)
        if self._curve.limit is not None:
            self._draw_level(self._curve.limit, StyleRole.LIMIT)

    def draw_curves(self) -> None:
        """The second event dotted, two cells of three; the lowest and highest values; the curve."""
        dots = self._curve.dots
        self._draw_values([_median(bucket) for bucket in self._curve.second], StyleRole.OVERLAY, drawn_cells=2)
        if any(bucket and bucket.low < bucket.high for bucket in dots):
            self._draw_values([bucket.low if bucket else None for bucket in dots], self._curve.role, ENVELOPE)
            self._draw_values([bucket.high if bucket else None for bucket in dots], self._curve.role, ENVELOPE)
        self._draw_values([_median(bucket) for bucket in dots], self._curve.role)

    def draw_marks(self) -> None:
        """What people marked, in the first row; the cursor."""
        for cell, (sign, role) in self._backdrop.marks.items():
            self._put(0, cell, sign, role)
        if self._backdrop.cursor is not None:
            self._draw_column(self._backdrop.cursor, CURSOR, StyleRole.STRONG)

    def _draw_column(self, cell: int, glyph: str, role: StyleRole, strength: int = 100) -> None:
        for row in range(self._scale.rows):
            self._put(row, cell, glyph, role, strength)

    def _draw_level(self, value: float, role: StyleRole, strength: int = 100, *, every: int = 2) -> None:
        row, dot = self._scale.row(value), self._scale.dot(value)
        for cell in range(0, self._backdrop.cells, every):
            self._put(row, cell, HORIZONTAL[dot % DOTS], role, strength)

    def _draw_values(
        self, values: Sequence[float | None], role: StyleRole, strength: int = 100, *, drawn_cells: int = 3
    ) -> None:
        for row, text in enumerate(draw_curve(values, self._scale)):
            for cell, glyph in enumerate(text):
                if glyph != BLANK and cell % 3 < drawn_cells:
                    self._put(row, cell, glyph, role, strength)

    def _put(self, row: int, cell: int, glyph: str, role: StyleRole, strength: int = 100) -> None:
        is_old = self._backdrop.is_stale and role not in _LINES
        self._drawn[row][cell] = glyph, StyleRole.STALE if is_old else role, strength

    def line(self, row: int) -> ShadedLine:
        """A row of it, neighbours of one look as one segment; a blank has the look of what it follows on one ground.

        The area fills a cell of the curve where that is in its upper half.
        """
        from_bottom = self._scale.rows - 1 - row
        depth, half_full = 100 * from_bottom // max(1, self._scale.rows - 1), DOTS * from_bottom + DOTS // 2
        area = None if self._backdrop.is_stale else self._curve.role
        line: list[tuple[str, Role]] = []
        run, before = "", _Look(StyleRole.TEXT, 100, None, None)
        for (glyph, ink, strength), level, fault in zip(self._drawn[row], self._levels, self._faults, strict=True):
            under = area if level >= half_full else None
            look = _Look(ink, strength, under, fault)
            if run and (look == before or (glyph == BLANK and look[2:] == before[2:])):
                run += glyph
                continue
            if run:
                line.append((run, before.shade(depth)))
            run, before = glyph, look
        return [*line, (run, before.shade(depth))]


_Drawn = tuple[str, StyleRole, int]

_BLANK: _Drawn = (BLANK, StyleRole.TEXT, 100)


class _Look(NamedTuple):
    """Ink and ground of a cell."""

    ink: StyleRole
    strength: int
    area: StyleRole | None
    fault: StyleRole | None

    def shade(self, depth: int) -> Shade:
        """It, so deep in its panel."""
        return Shade(self.ink, self.strength, self.area, depth if self.area else 0, self.fault)


def _median(bucket: Bucket | None) -> float | None:
    return bucket.median if bucket else None


def _joined(cells: Iterable[tuple[str, Role]]) -> ShadedLine:
    """Neighbours of one role as one segment. A blank takes the shade of what it follows where their grounds are one."""
    line: list[tuple[str, Role]] = []
    for text, role in cells:
        if line and (line[-1][1] == role or (text == " " and _ground(line[-1][1]) == _ground(role))):
            line[-1] = line[-1][0] + text, line[-1][1]
        else:
            line.append((text, role))
    return line


def _ground(role: Role) -> object:
    return (role.area, role.depth, role.fault, role.filled) if isinstance(role, Shade) else role


def status_line(label: str, backdrop: Backdrop) -> ShadedLine:
    """A glyph a cell: faults cut out of their colour, what is normal faint, a stroke where nothing was measured."""
    cells: list[tuple[str, Role]] = []
    for cell, style in enumerate(backdrop.statuses):
        if style is None:
            cells.append(("╌" if cell in backdrop.expected else " ", StyleRole.DIM))
        elif backdrop.is_stale:
            cells.append((style.glyph, StyleRole.STALE))
        elif style in HIGHLIGHTED:
            cells.append((style.glyph, style.role))
        else:
            cells.append((style.glyph, Shade(style.role, GOOD)))
    return [_label(label, StyleRole.HEAD), *_joined(cells)]


def blocks_line(curve: Curve, scale: Scale, backdrop: Backdrop) -> ShadedLine:
    """The curve in a single row: a bar a cell, on the ground of the fault where there is one."""
    cells: list[tuple[str, Role]] = []
    for cell in range(backdrop.cells):
        pair, fault = _pair(curve.dots, cell), backdrop.fault(cell)
        if cell == backdrop.cursor:
            cells.append((CURSOR, Shade(StyleRole.STRONG, fault=fault)))
        elif pair:
            ink = StyleRole.STALE if backdrop.is_stale else curve.role
            cells.append((_bar(min(bucket.median for bucket in pair), scale.high), Shade(ink, fault=fault)))
        else:
            cells.append((GAP if cell in backdrop.expected else " ", StyleRole.BAND))
    return [_label(curve.name, StyleRole.HEAD), *_joined(cells)]


TIME_STEPS = (5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200)
"""Seconds between two round times of an axis shorter than a day; over that whole days."""

TICK_CELLS = 13
"""Cells between two labels at least."""

DAY_SECONDS = 86_400


def time_ticks(axis: Axis) -> list[TimeTick]:
    """The round times in the axis, 13 cells and more apart; over a day and more midnight is a date."""
    shortest = axis.step * TICK_CELLS
    step = next((step for step in TIME_STEPS if step >= shortest), ceil(shortest / DAY_SECONDS) * DAY_SECONDS)
    first, clock = ceil(axis.start / step), "%H:%M:%S" if step < 60 else "%H:%M"
    ticks = []
    for at in range(first * step, ceil(axis.end), step):
        is_date = not at % DAY_SECONDS and axis.end - axis.start > DAY_SECONDS
        ticks.append(
            TimeTick(axis.column_of(at), datetime.fromtimestamp(at, UTC).strftime("%d %b" if is_date else clock))
        )
    return ticks


def time_line(axis: Axis, backdrop: Backdrop) -> ShadedLine:
    """The labels of the ticks, each in the middle under its column; that of the cursor, filled, before any."""
    cells: list[tuple[str, Role]] = [(" ", StyleRole.DIM)] * backdrop.cells
    labels: list[tuple[TimeTick, Role]] = [(tick, StyleRole.DIM) for tick in backdrop.ticks]
    if backdrop.cursor is not None:
        at = datetime.fromtimestamp(axis.start + axis.step * backdrop.cursor, UTC)
        labels.insert(0, (TimeTick(backdrop.cursor, f"{at:%H:%M:%S}"), Shade(StyleRole.STRONG, filled=True)))
    for tick, role in labels:
        start = max(0, min(tick.cell - len(tick.label) // 2, backdrop.cells - len(tick.label)))
        place = slice(start, start + len(tick.label))
        around = cells[max(0, start - 1) : place.stop + 1]
        if len(tick.label) <= backdrop.cells and all(text == " " for text, _ in around):
            cells[place] = [(char, role) for char in tick.label]
    return [_label("UTC", StyleRole.DIM), *_joined(cells)]


def _label(text: str, role: StyleRole) -> Segment:
    """What stands left of the cells."""
    return f" {text:<{GUTTER - 1}}"[:GUTTER], role


def _pair(dots: Sequence[Bucket | None], cell: int) -> list[Bucket]:
    """What was measured in that cell, of two values to a cell."""
    return [bucket for bucket in dots[2 * cell : 2 * cell + 2] if bucket]


def map_lines(
    dots: Sequence[Bucket | None], role: StyleRole, backdrop: Backdrop, window: range, rows: int
) -> list[ShadedLine]:
    """The whole event in one row of bars or, with a second one, its statuses: half as bright around the `window`, whose
    edges are two marks.
    """
    bars = _map_bars(dots, role, backdrop, window, shows_faults=rows == 1)
    lines: list[ShadedLine] = []
    for label, cells in (("whole", bars), ("event", _map_statuses(backdrop, window)))[:rows]:
        for cell, edge in ((window.start, "▐"), (window.stop - 1, "▌")):
            if 0 <= cell < len(cells):
                cells[cell] = edge, StyleRole.STRONG
        lines.append([_label(label, StyleRole.DIM), *_joined(cells)])
    return lines


def _map_bars(
    dots: Sequence[Bucket | None], role: StyleRole, backdrop: Backdrop, window: range, *, shows_faults: bool
) -> list[tuple[str, Role]]:
    """`shows_faults`: a bar has the colour of the fault in it."""
    top = max((bucket.high for bucket in dots if bucket), default=0.0)
    cells: list[tuple[str, Role]] = []
    for cell in range(backdrop.cells):
        pair, fault = _pair(dots, cell), backdrop.fault(cell)
        ink = StyleRole.STALE if backdrop.is_stale else fault if fault and shows_faults else role
        if pair:
            bar = _bar(min(bucket.median for bucket in pair), top)
            cells.append((bar, Shade(ink, 100 if cell in window else AROUND)))
        else:
            cells.append((GAP if cell in backdrop.expected else " ", StyleRole.BAND))
    return cells


def _map_statuses(backdrop: Backdrop, window: range) -> list[tuple[str, Role]]:
    normal = StyleRole.STALE if backdrop.is_stale else StyleRole.OK
    cells: list[tuple[str, Role]] = []
    for cell, style in enumerate(backdrop.statuses):
        fault, strength = backdrop.fault(cell), 100 if cell in window else AROUND
        cells.append(("▀" if fault else "▔" if style else " ", Shade(fault or normal, strength)))
    return cells


def _bar(value: float, top: float) -> str:
    return BARS[min(int(value / top * len(BARS)), len(BARS) - 1)] if top > 0 else BARS[0]
