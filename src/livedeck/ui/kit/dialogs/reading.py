"""Dialog of lines to read, which scrolls and is closed by a key or a click beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll

from livedeck.text.segments import Line, StyleRole
from livedeck.ui.kit.dialogs.modal import Modal
from livedeck.ui.kit.lines import LinesWidget


class ReadingDialog(Modal[None]):
    """Dialog of lines to read. A subclass shows them in `paint`, which a new size calls again.

    `CLOSING`: last line, which names the keys.
    """

    CLOSES_OUTSIDE = True
    CLOSING: ClassVar[str] = "esc closes"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter", "dismiss", "close"),
        Binding("up,k", "scroll(-1)", "up"),
        Binding("down,j", "scroll(1)", "down"),
        Binding("pageup", "scroll(-10)", "page up"),
        Binding("pagedown", "scroll(10)", "page down"),
    ]

    def __init__(self) -> None:
        super().__init__(classes="dialog")

    def compose(self) -> ComposeResult:
        with Vertical(id="reading-box", classes="dialog-box form-box"), VerticalScroll(can_focus=False):
            yield LinesWidget(id="reading")

    def on_resize(self) -> None:
        self.paint()

    def paint(self) -> None:
        """Show the lines."""

    @property
    def cells(self) -> int:
        """Width of a line in cells."""
        return self.query_one("#reading-box").content_size.width

    def show_lines(self, title: str, lines: Sequence[Line]) -> None:
        """Show a title and lines of `cells` cells."""
        self.query_one("#reading-box").border_title = title
        self.query_one("#reading", LinesWidget).show([*lines, [], [(self.CLOSING, StyleRole.DIM)]])

    def action_scroll(self, step: int) -> None:
        """Scroll by some lines, up if `step` is negative."""
        self.query_one(VerticalScroll).scroll_relative(y=step, animate=False)
