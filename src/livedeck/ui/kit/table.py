"""Table with a row in each line. Only visible rows are drawn, so a table of 1,000 rows takes no more time."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate, islice
from operator import is_
from typing import ClassVar, Generic, TypeVar

from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from livedeck.presentation.filtering import TableView
from livedeck.presentation.remembered import Remembered
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import GAP, SORT, Column, RowCells, TableSchema, head_line, layout
from livedeck.text.segments import Line, Link, ShadedLine, StyleRole, cell_len, fit, join, on_ground
from livedeck.text.segments import width as line_width
from livedeck.ui.kit.canvas import StyledWidget

T = TypeVar("T")

HEAD_LINES = 1
CURSOR_CELLS = 1

MAX_KEPT = 500
"""Maximum number of rows whose cells are kept while other rows are shown."""

MAX_COUNTED = 500
"""Maximum number of rows below the screen that are counted by kind. More rows would take too long each second."""


class Table(ScrollView, StyledWidget, Generic[T], can_focus=True, inherit_bindings=False):
    """Table whose cursor follows the key of a row, never its number.

    The rows are under the head of the table, divided by heads of sections. If the rows do not fit, the last line has
    the number of rows below.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"table--cursor", "table--head"}

    class Moved(Message):
        """Request to move the cursor to the row `key`. `table`: id of the table."""

        def __init__(self, key: str, table: str | None) -> None:
            super().__init__()
            self.key, self.table = key, table

    class Opened(Message):
        """Request to open the row `key`."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, schema: TableSchema[T], *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._schema, self._view = schema, TableView()
        self._all_columns = schema.columns
        self._rows: tuple[T, ...] = ()
        self._section_rows: list[int] = []  # first row of each section
        self._section_lines: list[int] = []  # line of the head of each section
        self._section_heads: dict[int, Line] = {}  # by line
        self._drawn: dict[int, ShadedLine] = {}
        self._cells: dict[str, RowCells[T]] = {}
        self._drawn_for: tuple[object, ...] = ()  # all that the lines show, except the cursor
        self._drawn_cursor: int | None = None  # line of the cursor at the last drawing
        self._more: int | None = None  # line that counts the rows below
        self._cursor_row = 0
        self._critical_above = [0]
        self._head: Line = []
        self._titles: Remembered[Line] = Remembered()
        self._columns: list[tuple[Column[T], int]] = []
        self._render_time: RenderTime | None = None
        self._empty_text = ""
        self._pressed_key: str | None = None  # row at which the mouse button was pressed
        self.cursor: str | None = None

    def show(
        self,
        rows: tuple[T, ...],
        render_time: RenderTime,
        cursor: str | None,
        empty_text: str,
        view: TableView,
        *,
        sections: Sequence[tuple[int, Line]] = (),
        columns: tuple[Column[T], ...] = (),
    ) -> None:
        """Replace the rows, in the given order, and paint changed rows.

        `cursor`: key of the row under the cursor, None for no row. `empty_text`: text to show if there are no rows.
        `sections`: heads of grouped rows, each with the index of the row below; empty for the sections of the schema.
        `columns`: columns of the table; empty for the columns of the schema.
        """
        self._all_columns = columns or self._schema.columns
        follow = cursor is not None and (cursor != self.cursor or self._is_cursor_visible())
        if rows is not self._rows or view.sort != self._view.sort or view.group != self._view.group:
            sections = sections or (() if view.sort else self._schema.sections(rows))
            self._section_rows = [row for row, _ in sections]
            self._section_lines = [row + index for index, row in enumerate(self._section_rows)]
            self._section_heads = dict(zip(self._section_lines, (head for _, head in sections), strict=True))
            self._critical_above = [*accumulate(map(self._schema.is_critical, rows), initial=0)]
        self._rows, self._render_time, self._empty_text, self._view = rows, render_time, empty_text, view
        self.cursor = cursor
        self.virtual_size = Size(self.size.width, self._line_count + HEAD_LINES)
        self.repaint()
        if follow:
            self._scroll_to_cursor()

    @property
    def _line_count(self) -> int:
        return len(self._rows) + len(self._section_rows)

    def _line_of(self, row: int) -> int:
        return row + bisect_right(self._section_rows, row)

    def _rows_above(self, line: int) -> int:
        return min(line - bisect_left(self._section_lines, line), len(self._rows))

    def _row_at(self, line: int) -> int | None:
        """Return the index of the row in a line.

        Returns None for the head of a section, for the line about rows below, and for lines after the last row.
        """
        if line in self._section_heads or line == self._more or line >= self._line_count:
            return None
        return self._rows_above(line)

    def _has_more(self, top: int) -> bool:
        """Return whether some lines from `top` on do not fit. The last visible line then counts the rows below."""
        return self._window > 1 and top + self._window < self._line_count

    @property
    def _window(self) -> int:
        """Number of visible lines under the head."""
        return max(0, self.size.height - HEAD_LINES)

    def repaint(self) -> int:
        """Draw the visible rows that may have changed, and refresh changed regions. Returns the number of regions."""
        if self._render_time is None:
            return 0
        columns = layout(self._all_columns, self.scrollable_content_region.width - CURSOR_CELLS, self._view.hidden)
        if columns != self._columns:
            self._columns = columns
        if len(self._cells) > MAX_KEPT:
            self._cells.clear()
        top, window, width = self.scroll_offset.y, self._window, self.size.width
        before, head_before = self._drawn, self._head
        lines, cursor = range(top, top + window), self._line_of_cursor()
        self._more = lines[-1] if self._has_more(top) else None
        shows = self._rows, self._render_time, self._columns, self._view.sort, self._empty_text, lines, width
        is_same = len(shows) == len(self._drawn_for) and all(map(is_, shows[:3], self._drawn_for[:3]))
        if is_same and shows[3:] == self._drawn_for[3:]:  # then only the cursor may have moved
            changed = [line for line in {self._drawn_cursor, cursor} if line is not None and line in lines]
            self._drawn = before | {line: self._draw(line) for line in changed}
        else:
            self._drawn = {line: self._draw(line) for line in lines}
        self._drawn_for, self._drawn_cursor = shows, cursor
        self._head = self._draw_head()
        regions = [
            region
            for number, line in self._drawn.items()
            if line is not (old := before.get(number, []))
            for region in self._row_regions(number - top + HEAD_LINES, old, line, width)
        ]
        return self.refresh_regions([*regions, *self.changed_regions(0, head_before, self._head, width)])

    def _row_regions(self, y: int, before: ShadedLine, after: ShadedLine, width: int) -> list[Region]:
        """Return the changed regions of a row: all of it if the cursor came or left, because its background changes."""
        return self.changed_regions(y, before, after, width) if before[:1] == after[:1] else [Region(0, y, width, 1)]

    def _line_of_cursor(self) -> int | None:
        """Return the line of the cursor; None without a cursor, or if its row is gone."""
        row = self._row_of_cursor()
        is_there = row < len(self._rows) and self._schema.key(self._rows[row]) == self.cursor
        return self._line_of(row) if is_there else None

    def _draw_head(self) -> Line:
        """Return the titles of the columns, and the number of critical rows above the screen."""
        count, width = self._critical_above[self._rows_above(self.scroll_offset.y)], self.size.width

        def draw() -> Line:
            above: Line = [(f" ✖ {count} more above ", StyleRole.CRITICAL)] if count else []
            titles = head_line(self._columns, self._view.sort, down=self._view.down)
            return join(fit([(" ", StyleRole.HEAD), *titles], width - line_width(above)), above, width)

        return self._titles.get((self._columns,), (count, width, self._view.sort, self._view.down), draw)

    def _draw(self, line: int) -> ShadedLine:
        if self._render_time is None:
            return []
        if not self._rows:
            return self._empty_line() if line == self._window // 2 else []
        if line == self._more:
            return self._more_line(self._rows_above(line))
        row = self._row_at(line)
        if row is not None:
            return self._draw_row(row)
        head = self._section_heads.get(line)
        return [*head, (" " * max(0, self.size.width - line_width(head)), StyleRole.OFF)] if head else []

    def _draw_row(self, row: int) -> ShadedLine:
        assert self._render_time is not None
        item = self._rows[row]
        key = self._schema.key(item)
        cached = self._cells.get(key)
        if cached is None or cached.row is not item:
            cached = self._cells[key] = RowCells(item)
        line = cached.line(self._render_time, self._columns)
        if key == self.cursor:
            return [("▌", StyleRole.INFO), *line]
        cells: Line = [(" ", StyleRole.INFO), *line]
        if self._schema.has_ground and self._schema.is_critical(item):
            return on_ground(cells, StyleRole.CRITICAL, self.size.width)
        return cells

    def _more_line(self, first: int) -> Line:
        """Return the line about rows below: the number of rows from the row `first` on, and the number by kind."""
        assert self._render_time is not None
        left = len(self._rows) - first
        words = ""
        if left <= MAX_COUNTED:
            words = self._schema.count(islice(self._rows, first, None), self._render_time)
        return [(f"  ▼ {left} more", StyleRole.STRONG), (f": {words}" if words else "", StyleRole.DIM)]

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Repaint, because the head counts the critical rows above."""
        super().watch_scroll_y(old_value, new_value)
        self.repaint()

    def watch_show_vertical_scrollbar(self, is_shown: bool) -> None:
        """Draw for the new width, and set the position of the scroll bar, because it did not move while hidden."""
        if is_shown:
            self.vertical_scrollbar.position = self.scroll_y
        self.repaint()

    def _empty_line(self) -> Line:
        """Return the text for a table without rows, centred."""
        free = max(0, self.size.width - cell_len(self._empty_text))
        return [(" " * (free // 2), StyleRole.TEXT), (self._empty_text, StyleRole.TEXT)]

    def on_resize(self) -> None:
        """Draw with the columns that fit now."""
        self._drawn.clear()
        self._drawn_for = ()
        self.repaint()
        if self.cursor is not None:
            self._scroll_to_cursor()
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return line `y` of the widget. The head stays in the first line while rows scroll under it."""
        width = self.size.width
        if y < HEAD_LINES:
            base = self.base + self.get_component_rich_style("table--head", partial=True)
            return self.to_strip(0, self._head, width, base)
        line = y - HEAD_LINES + self.scroll_offset.y
        if line not in self._drawn:  # scrolled into view
            self._drawn[line] = self._draw(line)
        return self.to_strip(y, self._drawn[line], width, self._base(line))

    def _base(self, line: int) -> Style:
        base = self.base
        if line == self._drawn_cursor:
            base += self.get_component_rich_style("table--cursor", partial=True)
        return base

    def _row_of_cursor(self) -> int:
        """Return the index of the row under the cursor; without a cursor, the index that it had last.

        Searches the rows only if the row has moved.
        """
        key = self._schema.key
        if self.cursor is None:
            return min(self._cursor_row, max(len(self._rows) - 1, 0))
        if self._cursor_row >= len(self._rows) or key(self._rows[self._cursor_row]) != self.cursor:
            self._cursor_row = next((row for row, item in enumerate(self._rows) if key(item) == self.cursor), 0)
        return self._cursor_row

    def _is_cursor_visible(self) -> bool:
        top = self.scroll_offset.y
        return 0 <= self._line_of(self._row_of_cursor()) - top < self._window - self._has_more(top)

    def _scroll_to_cursor(self) -> None:
        """Scroll until the cursor is visible; on the first row of a section, also the head of the section."""
        top, window, line = self.scroll_offset.y, self._window, self._line_of(self._row_of_cursor())
        first = line - 1 if line - 1 in self._section_heads else line
        if first < top:
            self.scroll_to(y=first, animate=False)
        elif window > 0 and line >= top + window - self._has_more(top):
            is_last = line == self._line_count - 1
            self.scroll_to(y=max(0, line - window + 1 + (not is_last and window > 1)), animate=False)

    def move(self, step: int) -> None:
        """Move the cursor by `step` rows, but not beyond the first or last row.

        If there is no cursor, start from its last place.
        """
        row = self._row_of_cursor() + step
        if self.cursor is None and step > 0:
            row -= 1  # the row below the removed one has taken its place
        self.jump(min(max(row, 0), len(self._rows) - 1))

    def page(self, direction: int) -> None:
        """Move the cursor a screenful down (1) or up (-1)."""
        self.move(direction * max(1, self._window - 1))

    def jump(self, row: int) -> None:
        """Move the cursor to the row with index `row`; -1 is the last."""
        if self._rows:
            self._cursor_row = row % len(self._rows)
            self.post_message(self.Moved(self._schema.key(self._rows[row]), self.id))

    def open(self) -> None:
        """Open the row under the cursor."""
        if self.cursor is not None and self._rows:
            self.post_message(self.Opened(self.cursor))

    def link_at(self, x: int, y: int) -> Link | None:
        """Return the link at a cell of the widget. The title of a column is a link that sorts by the column."""
        if y >= HEAD_LINES:
            return None
        end = CURSOR_CELLS
        for column, width in self._columns:
            end += width + GAP
            if x < end:
                return Link(StyleRole.HEAD, SORT, column.name) if column.value else None
        return None

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Remember the pressed row, because another row may be under the pointer when the button is released."""
        line = event.y - HEAD_LINES + self.scroll_offset.y
        row = self._row_at(line) if event.y >= HEAD_LINES else None
        self._pressed_key = None if row is None else self._schema.key(self._rows[row])

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the pressed row.

        A double click opens the row. A click on the line about rows below moves the cursor down by a screenful.
        """
        if self._pressed_key is not None:
            self.post_message(self.Moved(self._pressed_key, self.id))
            if event.chain == 2:
                self.post_message(self.Opened(self._pressed_key))
        elif event.y >= HEAD_LINES and event.y - HEAD_LINES + self.scroll_offset.y == self._more:
            self.page(1)
