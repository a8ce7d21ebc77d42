"""A table of any rows, one a line: virtual, so that a thousand cost what the screen shows."""

from __future__ import annotations

from itertools import accumulate
from typing import ClassVar, Generic, TypeVar

from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from livedeck.presentation import table as columns
from livedeck.presentation.filtering import TableView
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import Column, TableSchema
from livedeck.text.segments import Line, StyleRole, join
from livedeck.ui.kit.canvas import StyledWidget, changes

T = TypeVar("T")


HEAD_LINES = 1

MARK_CELLS = 1


class Table(ScrollView, StyledWidget, Generic[T], can_focus=True, inherit_bindings=False):
    """The cursor follows the key of a row, never its number."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"table--cursor", "table--head"}

    class Moved(Message):
        """The cursor is to stand on another row. `table`: the id of the table."""

        def __init__(self, key: str, table: str | None) -> None:
            super().__init__()
            self.key, self.table = key, table

    class Opened(Message):
        """The operator wants to see this row from near."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, sheet: TableSchema[T], *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._sheet, self._view = sheet, TableView()
        self._subjects: tuple[T, ...] = ()
        self._rows: dict[int, Line] = {}
        self._told: dict[str, tuple[T, Line]] = {}
        self._at = 0
        self._worse = [0]
        self._head: Line = []
        self._columns: list[tuple[Column[T], int]] = []
        self._moment: RenderTime | None = None
        self._empty = ""
        self.cursor: str | None = None

    def show(
        self, subjects: tuple[T, ...], moment: RenderTime, cursor: str | None, empty: str, view: TableView
    ) -> None:
        """Take these rows, in their order, and paint those that changed; `empty` says why there are none."""
        follow = cursor != self.cursor or self._in_sight()
        if moment != self._moment:
            self._told.clear()
        if subjects is not self._subjects:
            self._worse = [0, *accumulate(map(self._sheet.is_critical, subjects))]
        self._subjects, self._moment, self._empty, self.cursor, self._view = subjects, moment, empty, cursor, view
        self.virtual_size = Size(self.size.width, len(subjects) + HEAD_LINES)
        self.repaint()
        if follow:
            self._reveal()

    def repaint(self) -> int:
        """Draw the rows in sight again and mark those that changed. Returns how many they are."""
        if self._moment is None:
            return 0
        width = self.scrollable_content_region.width - MARK_CELLS
        layout = columns.layout(self._sheet.columns, width, self._view.hidden)
        if layout != self._columns:
            self._columns = layout
            self._told.clear()
        top = self.scroll_offset.y
        rows = {at: self._drawn(at) for at in range(top, top + max(0, self.size.height - HEAD_LINES))}
        known, head = self._rows, self._head_line()
        width = self.size.width
        marks = [_changed(at - top + HEAD_LINES, known.get(at, []), row, width) for at, row in rows.items()]
        marks.append(changes(0, self._head, head, width))
        self._rows, self._head = rows, head
        return self.mark(part for parts in marks for part in parts)

    def _head_line(self) -> Line:
        """The names of the columns; and how many rows with a critical fault were scrolled out above."""
        worse = self._worse[min(self.scroll_offset.y, len(self._subjects))]
        more: Line = [(f"✖ {worse} more above ", StyleRole.CRITICAL)] if worse else []
        names = columns.head_line(self._columns, self._view.sort, down=self._view.down)
        return join([(" ", StyleRole.HEAD), *names], more, self.size.width)

    def _drawn(self, at: int) -> Line:
        if self._moment is None or at >= len(self._subjects):
            return [(f" {self._empty}", StyleRole.DIM)] if not self._subjects and at == 0 else []
        subject = self._subjects[at]
        mark = ">" if self._sheet.key(subject) == self.cursor else " "
        return [(mark, StyleRole.STRONG), *self._row_of(subject, self._moment)]

    def _row_of(self, subject: T, moment: RenderTime) -> Line:
        """What the columns say of it: the same of the same thing, at the same moment, in the same columns."""
        key = self._sheet.key(subject)
        known = self._told.get(key)
        if known is None or known[0] is not subject:
            known = self._told[key] = subject, columns.row_line(subject, moment, self._columns)
        return known[1]

    def on_resize(self) -> None:
        """Other columns may fit now."""
        self._rows.clear()
        self.repaint()
        self._reveal()
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """The head stays; the rows scroll under it."""
        width = self.size.width
        if y < HEAD_LINES:
            base = self.base + self.get_component_rich_style("table--head", partial=True)
            return self.painted(self._head, width, base)
        at = y - HEAD_LINES + self.scroll_offset.y
        if at not in self._rows:  # it came into sight by scrolling
            self._rows[at] = self._drawn(at)
        return self.painted(self._rows[at], width, self._base(at))

    def _base(self, at: int) -> Style:
        base = self.base
        if at < len(self._subjects) and self._sheet.key(self._subjects[at]) == self.cursor:
            base += self.get_component_rich_style("table--cursor", partial=True)
        return base

    def _row(self) -> int:
        """Where the cursor is; sought only where it is not where it was left."""
        key = self._sheet.key
        if self._at >= len(self._subjects) or key(self._subjects[self._at]) != self.cursor:
            self._at = next((at for at, each in enumerate(self._subjects) if key(each) == self.cursor), 0)
        return self._at

    def _in_sight(self) -> bool:
        return 0 <= self._row() - self.scroll_offset.y < self.size.height - HEAD_LINES

    def _reveal(self) -> None:
        """Scroll as little as it takes to have the cursor in sight."""
        window = self.size.height - HEAD_LINES
        top, row = self.scroll_offset.y, self._row()
        if row < top:
            self.scroll_to(y=row, animate=False)
        elif window > 0 and row >= top + window:
            self.scroll_to(y=row - window + 1, animate=False)

    def move(self, step: int) -> None:
        """So many rows up or down; the ends are walls."""
        self.jump(min(max(self._row() + step, 0), len(self._subjects) - 1))

    def page(self, direction: int) -> None:
        """A screenful."""
        self.move(direction * max(1, self.size.height - HEAD_LINES - 1))

    def jump(self, row: int) -> None:
        """To what stands in that row now; -1 is the last."""
        if self._subjects:
            self._at = row % len(self._subjects)
            self.post_message(self.Moved(self._sheet.key(self._subjects[row]), self.id))

    def open(self) -> None:
        """Open what is under the cursor."""
        if self.cursor is not None and self._subjects:
            self.post_message(self.Opened(self.cursor))

    def on_click(self, event: events.Click) -> None:
        """A click puts the cursor there; a double click opens."""
        row = event.y - HEAD_LINES + self.scroll_offset.y
        if event.y < HEAD_LINES or row >= len(self._subjects):
            return
        key = self._sheet.key(self._subjects[row])
        self.post_message(self.Moved(key, self.id))
        if event.chain == 2:
            self.post_message(self.Opened(key))


def _changed(y: int, old: Line, new: Line, width: int) -> list[Region]:
    """The parts of a row that differ: with its mark all of it, for the row under the cursor has its own ground."""
    return changes(y, old, new, width) if old[:1] == new[:1] else [Region(0, y, width, 1)]
