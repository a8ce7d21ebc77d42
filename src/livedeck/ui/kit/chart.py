"""Parts of a chart: panel of a curve, strip of statuses, time axis, map of a whole event. Pure.

Colours, layers and sizes: interface.md, "Charts".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime

from msgspec import field

from livedeck.presentation.qos import BARS, HIGHLIGHTED, UNWATCHED, Axis, Bucket, StatusStyle
from livedeck.presentation.scale import DOTS, LABEL_CELLS, Scale, TimeTick, round_scale
from livedeck.record import Record
from livedeck.text.segments import Role, Segment, Shade, ShadedLine, StyleRole
from livedeck.ui.kit.braille import BLANK, HORIZONTAL, VERTICAL, draw_curve

GUTTER = LABEL_CELLS + 1
"""Number of cells to the left of every panel, for the labels of its scale."""

GAP, CURSOR = "░", "│"

ENVELOPE, BASE, GOOD, AROUND, FAINT = 45, 55, 75, 50, 16
"""Strengths of a colour, in percent: extreme values; baseline; normal statuses; map outside the window; grid."""


class Curve(Record):
    """Curve of a value: name, unit and values.

    `scale_unit`: value of one unit of the scale, such as 1e6 for Mbit/s. `dots`: values, two in each cell; None in a
    gap. `limit`: lowest good value. `base`: baseline. `second`: values of a second event.
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
        """Return a scale of `rows` rows that contains the values, the limit and the baseline.

        The scale begins at zero; if `is_fitted`, near the least value.
        """
        measured = [bucket for bucket in (*self.dots, *self.second) if bucket]
        limits = [value for value in (self.limit, self.base) if value is not None]
        ends = [*(bucket.high for bucket in measured), *(bucket.low for bucket in measured)]
        return round_scale([*ends, *limits], rows, is_fitted=is_fitted, fallback=self.scale_unit)


class Backdrop(Record):
    """Parts that all panels of a chart share, by cell.

    `statuses`: worst status in each cell. `expected`: cells that should have samples; without samples they are gaps.
    `unwatched`: cells of time that was not watched. `marks`: signs of markers and faults. `has_grid`: False if faint
    lines would look like curves.
    """

    statuses: Sequence[StatusStyle | None]
    expected: range = range(0)
    ticks: Sequence[TimeTick] = ()
    cursor: int | None = None
    marks: Mapping[int, Segment] = field(default_factory=dict)
    has_grid: bool = True
    is_stale: bool = False
    unwatched: Collection[int] = frozenset()

    @property
    def cells(self) -> int:
        """Number of cells of a panel's width."""
        return len(self.statuses)

    def empty_sign(self, cell: int) -> str:
        """Return the sign of a cell without samples."""
        if cell in self.unwatched:
            return UNWATCHED
        return GAP if cell in self.expected else " "

    def fault(self, cell: int) -> StyleRole | None:
        """Return the role of the fault in a cell; None if it has no fault or the data are stale."""
        style = self.statuses[cell]
        return style.role if style and style in HIGHLIGHTED and not self.is_stale else None


def panel_lines(curve: Curve, scale: Scale, backdrop: Backdrop) -> list[ShadedLine]:
    """Return the panel of a curve, in as many lines as the scale has rows, with labels at the left.

    The layers, from bottom to top: area, fault, grid of time, grid of values, limit, baseline, second event, extreme
    values, curve, markers, cursor.
    """
    panel = _Panel(curve, scale, backdrop)
    panel.draw_grid()
    panel.draw_limits()
    panel.draw_curves()
    panel.draw_marks()
    labels = {scale.row(tick): scale.label(tick, curve.scale_unit) for tick in scale.ticks}
    return [[(f"{labels.get(row, ''):>{LABEL_CELLS}} ", StyleRole.DIM), *panel.line(row)] for row in range(scale.rows)]


_LINES = frozenset({StyleRole.TEXT, StyleRole.BAND, StyleRole.LIMIT, StyleRole.STRONG})
"""Roles that show no measurement. They look the same when data are stale."""


class _Panel:
    """Cells of a panel, drawn layer by layer."""

    def __init__(self, curve: Curve, scale: Scale, backdrop: Backdrop) -> None:
        self._curve, self._scale, self._backdrop = curve, scale, backdrop
        cells = range(backdrop.cells)
        self._pairs = [_pair(curve.dots, cell) for cell in cells]
        self._levels = [min((scale.dot(bucket.median) for bucket in pair), default=0) for pair in self._pairs]
        self._faults = [backdrop.fault(cell) for cell in cells]
        self._drawn: list[list[_Drawn]] = [[_BLANK] * backdrop.cells for _ in range(scale.rows)]

    def draw_grid(self) -> None:
        """Draw faint lines at round times and at the scale's ticks, and shade the gaps."""
        if self._backdrop.has_grid:
            for tick in self._backdrop.ticks:
                self._draw_column(tick.cell, VERTICAL, StyleRole.TEXT, FAINT)
            for value in self._scale.ticks:
                self._draw_level(value, StyleRole.TEXT, FAINT, every=1)
        for cell, pair in enumerate(self._pairs):
            if not pair and (sign := self._backdrop.empty_sign(cell)) != " ":
                self._draw_column(cell, sign, StyleRole.BAND)

    def draw_limits(self) -> None:
        """Draw baseline and limit in every second cell, so that a curve in the same dots stays readable."""
        if self._curve.base is not None:
            self._draw_level(self._curve.base, self._curve.role, BASE)
        if self._curve.limit is not None:
            self._draw_level(self._curve.limit, StyleRole.LIMIT)

    def draw_curves(self) -> None:
        """Draw the second event's curve without every third cell, then the extreme values, then the curve."""
        dots = self._curve.dots
        self._draw_values([_median(bucket) for bucket in self._curve.second], StyleRole.OVERLAY, drawn_cells=2)
        if any(bucket and bucket.low < bucket.high for bucket in dots):
            self._draw_values([bucket.low if bucket else None for bucket in dots], self._curve.role, ENVELOPE)
            self._draw_values([bucket.high if bucket else None for bucket in dots], self._curve.role, ENVELOPE)
        self._draw_values([_median(bucket) for bucket in dots], self._curve.role)

    def draw_marks(self) -> None:
        """Draw signs in the first row, and the cursor."""
        for cell, (sign, role) in self._backdrop.marks.items():
            self._drawn[0][cell] = sign, self._ink(role), 100
        if self._backdrop.cursor is not None:
            self._draw_column(self._backdrop.cursor, CURSOR, StyleRole.STRONG)

    def _draw_column(self, cell: int, glyph: str, role: StyleRole, strength: int = 100) -> None:
        for row in self._drawn:
            row[cell] = glyph, self._ink(role), strength

    def _draw_level(self, value: float, role: StyleRole, strength: int = 100, *, every: int = 2) -> None:
        row, glyph = self._drawn[self._scale.row(value)], HORIZONTAL[self._scale.dot(value) % DOTS]
        for cell in range(0, self._backdrop.cells, every):
            row[cell] = glyph, self._ink(role), strength

    def _draw_values(
        self, values: Sequence[float | None], role: StyleRole, strength: int = 100, *, drawn_cells: int = 3
    ) -> None:
        ink = self._ink(role)
        for row, text in zip(self._drawn, draw_curve(values, self._scale), strict=True):
            for cell, glyph in enumerate(text):
                if glyph != BLANK and cell % 3 < drawn_cells:
                    row[cell] = glyph, ink, strength

    def _ink(self, role: StyleRole) -> StyleRole:
        return StyleRole.STALE if self._backdrop.is_stale and role not in _LINES else role

    def line(self, row: int) -> ShadedLine:
        """Return a row of the panel. Neighbouring cells with the same look become one segment.

        A blank takes the look of the previous cell if both have the same background. A cell has the background of the
        area if the curve reaches the upper half of the cell.
        """
        from_bottom = self._scale.rows - 1 - row
        depth, half_full = 100 * from_bottom // max(1, self._scale.rows - 1), DOTS * from_bottom + DOTS // 2
        area = None if self._backdrop.is_stale else self._curve.role
        line: list[tuple[str, Role]] = []
        run, before = "", _PLAIN
        for (glyph, ink, strength), level, fault in zip(self._drawn[row], self._levels, self._faults, strict=True):
            under = area if level >= half_full else None
            look = ink, strength, under, fault
            if run and (look == before or (glyph == BLANK and look[2:] == before[2:])):
                run += glyph
                continue
            if run:
                line.append((run, _shade(before, depth)))
            run, before = glyph, look
        return [*line, (run, _shade(before, depth))]


_Drawn = tuple[str, StyleRole, int]

_BLANK: _Drawn = (BLANK, StyleRole.TEXT, 100)

_Look = tuple[StyleRole, int, StyleRole | None, StyleRole | None]
"""Look of a cell: role and strength of its ink, and roles of the area and the fault that tint the background."""

_PLAIN: _Look = (StyleRole.TEXT, 100, None, None)


def _shade(look: _Look, depth: int) -> Shade:
    """Return the look as a shade. `depth`: height of the row in the panel, in percent."""
    ink, strength, area, fault = look
    return Shade(ink, strength, area, depth if area else 0, fault)


def _median(bucket: Bucket | None) -> float | None:
    return bucket.median if bucket else None


def _joined(cells: Iterable[tuple[str, Role]]) -> ShadedLine:
    """Return the cells as a line. Neighbours of the same role become one segment.

    A blank takes the shade of the previous cell if both have the same background.
    """
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
    """Return the line of statuses, a glyph for each cell. Faults are bright, normal statuses faint, gaps strokes."""
    cells: list[tuple[str, Role]] = []
    for cell, style in enumerate(backdrop.statuses):
        if style is None:
            sign = backdrop.empty_sign(cell)
            cells.append(("╌" if sign == GAP else sign, StyleRole.DIM))
        elif backdrop.is_stale:
            cells.append((style.glyph, StyleRole.STALE))
        elif style in HIGHLIGHTED:
            cells.append((style.glyph, style.role))
        else:
            cells.append((style.glyph, Shade(style.role, GOOD)))
    return [_label(label, StyleRole.HEAD), *_joined(cells)]


def blocks_line(curve: Curve, scale: Scale, backdrop: Backdrop) -> ShadedLine:
    """Return the curve as one row of bars. Faults tint the background."""
    cells: list[tuple[str, Role]] = []
    for cell in range(backdrop.cells):
        pair, fault = _pair(curve.dots, cell), backdrop.fault(cell)
        if cell == backdrop.cursor:
            cells.append((CURSOR, Shade(StyleRole.STRONG, fault=fault)))
        elif pair:
            ink = StyleRole.STALE if backdrop.is_stale else curve.role
            cells.append((_bar(min(bucket.median for bucket in pair), scale.high), Shade(ink, fault=fault)))
        else:
            cells.append((backdrop.empty_sign(cell), StyleRole.BAND))
    return [_label(curve.name, StyleRole.HEAD), *_joined(cells)]


def time_line(axis: Axis, backdrop: Backdrop) -> ShadedLine:
    """Return the line of times: the labels of the ticks, each centred under its column.

    The label of the cursor has a background, and replaces labels that it would touch.
    """
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
    """Return the label at the left of a line's cells."""
    return f" {text:<{GUTTER - 1}}"[:GUTTER], role


def _pair(dots: Sequence[Bucket | None], cell: int) -> list[Bucket]:
    """Return the one or two values in a cell; empty in a gap."""
    return [bucket for bucket in dots[2 * cell : 2 * cell + 2] if bucket]


def map_lines(
    dots: Sequence[Bucket | None], role: StyleRole, backdrop: Backdrop, window: range, rows: int
) -> list[ShadedLine]:
    """Return the map of the whole event: a row of bars, and a row of statuses if `rows` is 2.

    Cells outside `window` are half as bright. Two marks show the edges of `window`.
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
    """Return the cells of the row of bars. `shows_faults`: a bar with a fault has the colour of the fault."""
    top = max((bucket.high for bucket in dots if bucket), default=0.0)
    cells: list[tuple[str, Role]] = []
    for cell in range(backdrop.cells):
        pair, fault = _pair(dots, cell), backdrop.fault(cell)
        ink = StyleRole.STALE if backdrop.is_stale else fault if fault and shows_faults else role
        if pair:
            bar = _bar(min(bucket.median for bucket in pair), top)
            cells.append((bar, Shade(ink, 100 if cell in window else AROUND)))
        else:
            cells.append((backdrop.empty_sign(cell), StyleRole.BAND))
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
