"""Dialog to choose the visible columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from livedeck.text.segments import Line, ShadedLine, StyleRole, linked
from livedeck.ui.kit.canvas import StyledWidget
from livedeck.ui.kit.dialogs.modal import Modal
from livedeck.ui.kit.lines import LinesWidget

ColumnTitle = tuple[str, str]
"""Name and title of a column."""


class ColumnsScreen(Modal[tuple[str, ...] | None]):
    """Dialog to choose columns. Space shows or hides a column, enter returns the hidden columns, escape None."""

    CLOSES_OUTSIDE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "close"),
        Binding("up,k", "move(-1)", "up"),
        Binding("down,j", "move(1)", "down"),
        Binding("space", "toggle_column", "show or hide"),
        Binding("enter", "take", "save"),
    ]

    def __init__(self, columns: Sequence[ColumnTitle], hidden: Sequence[str]) -> None:
        super().__init__()
        self._columns, self._hidden, self._index = columns, set(hidden), 0

    def compose(self) -> ComposeResult:
        with Vertical(id="command"):
            yield LinesWidget(id="columns")

    def on_mount(self) -> None:
        self._paint()

    def on_styled_widget_followed(self, message: StyledWidget.Followed) -> None:
        """Show or hide a clicked column. A click on the title saves."""
        message.stop()
        names = [name for name, _ in self._columns]
        if message.link.command in names:
            self._index = names.index(message.link.command)
            self.action_toggle_column()
        else:
            self.action_take()

    def action_move(self, step: int) -> None:
        """Mark the next or the previous column."""
        self._index = (self._index + step) % len(self._columns)
        self._paint()

    def action_toggle_column(self) -> None:
        """Hide the marked column, or show it again."""
        self._hidden ^= {self._columns[self._index][0]}
        self._paint()

    def action_take(self) -> None:
        """Return the hidden columns in the order of the table."""
        self.dismiss(tuple(name for name, _ in self._columns if name in self._hidden))

    def _paint(self) -> None:
        title: Line = [(" Columns   space shows or hides, enter saves; a narrow table drops some", StyleRole.HEAD)]
        lines: list[ShadedLine] = [linked(title, "take")]
        for index, (name, words) in enumerate(self._columns):
            cursor = "> " if index == self._index else "  "
            box = "[ ]" if name in self._hidden else "[x]"
            line: Line = [(cursor, StyleRole.STRONG), (f"{box} {name:<9}", StyleRole.TEXT), (words, StyleRole.DIM)]
            lines.append(linked(line, name))
        self.query_one("#columns", LinesWidget).show(lines)
