"""Which columns a table shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line
from livedeck.ui.widgets.frame import Lines

Named = tuple[str, str]
"""A column by its name and its head."""


class ColumnsScreen(ModalScreen[tuple[str, ...] | None]):
    """Space takes a column out or in; enter gives the hidden ones, escape None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "close"),
        Binding("up,k", "move(-1)", "up"),
        Binding("down,j", "move(1)", "down"),
        Binding("space", "turn", "show or hide"),
        Binding("enter", "take", "take"),
    ]

    def __init__(self, columns: Sequence[Named], hidden: Sequence[str]) -> None:
        super().__init__()
        self._columns, self._hidden, self._at = columns, set(hidden), 0

    def compose(self) -> ComposeResult:
        with Vertical(id="command"):
            yield Lines(id="columns")

    def on_mount(self) -> None:
        self._paint()

    def action_move(self, step: int) -> None:
        """Mark the next or the previous one."""
        self._at = (self._at + step) % len(self._columns)
        self._paint()

    def action_turn(self) -> None:
        """Hide the marked one, or show it again."""
        self._hidden ^= {self._columns[self._at][0]}
        self._paint()

    def action_take(self) -> None:
        """Done."""
        self.dismiss(tuple(name for name, _ in self._columns if name in self._hidden))

    def _paint(self) -> None:
        lines: list[Line] = [[(" Columns   space shows or hides, enter keeps; a narrow table drops some", Ink.HEAD)]]
        for at, (name, head) in enumerate(self._columns):
            box = "[ ]" if name in self._hidden else "[x]"
            marked = at == self._at
            lines.append([("> " if marked else "  ", Ink.STRONG), (f"{box} {name:<9}", Ink.TEXT), (head, Ink.DIM)])
        self.query_one("#columns", Lines).show(lines)
