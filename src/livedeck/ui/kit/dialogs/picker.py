"""Dialog to pick a row from a long list. Typed words reduce the list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from livedeck.text.segments import Line, ShadedLine, StyleRole, linked, plain
from livedeck.ui.kit.canvas import StyledWidget
from livedeck.ui.kit.dialogs.modal import Modal
from livedeck.ui.kit.lines import LinesWidget
from livedeck.ui.kit.text_field import TextField

MAX_ROWS = 10


class PickerRow(NamedTuple):
    """Row of the list. `key`: result if a person picks the row. `line`: text on the screen, which is also searched."""

    key: str
    line: Line

    def has(self, words: str) -> bool:
        """Return whether the row contains all the words, regardless of case."""
        text = plain(self.line).casefold()
        return all(word in text for word in words.casefold().split())


class PickerScreen(Modal[str | None]):
    """List of the rows that contain all typed words.

    Arrows mark a row. Enter returns the key of the marked row, escape None. `marked`: key of the row that is marked at
    first.
    """

    TAKES_TYPED_AHEAD = True
    CLOSES_OUTSIDE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "close"),
        Binding("up", "move(-1)", "up", priority=True),
        Binding("down", "move(1)", "down", priority=True),
    ]

    def __init__(self, title: str, rows: Sequence[PickerRow], marked: str = "") -> None:
        super().__init__()
        self._title, self._rows = title, rows
        self._matches = list(rows)
        self._index = next((index for index, row in enumerate(rows) if row.key == marked), 0)

    def compose(self) -> ComposeResult:
        with Vertical(id="command"):
            yield LinesWidget(id="rows")
            yield TextField("", placeholder="words from the name or the date")

    def on_mount(self) -> None:
        self.query_one(TextField).focus()
        self._paint()

    def on_input_changed(self) -> None:
        words = self.query_one(TextField).text
        matches = [row for row in self._rows if row.has(words)]
        if matches != self._matches:
            self._matches, self._index = matches, 0
            self._paint()

    def on_input_submitted(self) -> None:
        if self._matches:
            self.dismiss(self._matches[self._index].key)

    def on_styled_widget_followed(self, message: StyledWidget.Followed) -> None:
        message.stop()
        self.dismiss(message.link.command)

    def action_move(self, step: int) -> None:
        """Mark the next or previous row."""
        if self._matches:
            self._index = (self._index + step) % len(self._matches)
            self._paint()

    def _paint(self) -> None:
        first = max(0, self._index - MAX_ROWS + 1)
        lines: list[ShadedLine] = [[(f" {self._title}", StyleRole.HEAD)]]
        for index, row in enumerate(self._matches[first : first + MAX_ROWS], first):
            cursor = "> " if index == self._index else "  "
            lines.append(linked([(cursor, StyleRole.STRONG), *row.line], row.key))
        hidden = len(self._matches) - first - MAX_ROWS
        if hidden > 0 or not self._matches:
            lines.append([(f"   {hidden} more" if self._matches else "   no match", StyleRole.DIM)])
        self.query_one("#rows", LinesWidget).show(lines)
