"""A few things to choose from, each by its letter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line
from livedeck.ui.widgets.frame import Lines

Option = tuple[str, str, str]
"""The letter, what is chosen, and how it reads."""


class ChoiceScreen(ModalScreen[str | None]):
    """The letter chooses, or the arrows and enter; escape chooses nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "close"),
        Binding("up", "move(-1)", "up"),
        Binding("down", "move(1)", "down"),
        Binding("enter", "take", "take"),
    ]

    def __init__(self, title: str, options: Sequence[Option]) -> None:
        super().__init__()
        self._title, self._options, self._at = title, options, 0

    def compose(self) -> ComposeResult:
        with Vertical(id="command"):
            yield Lines(id="options")

    def on_mount(self) -> None:
        self._paint()

    def on_key(self, event: events.Key) -> None:
        chosen = next((value for letter, value, _ in self._options if letter == event.character), None)
        if chosen is not None:
            event.stop()
            self.dismiss(chosen)

    def action_move(self, step: int) -> None:
        """Mark the next or the previous one."""
        self._at = (self._at + step) % len(self._options)
        self._paint()

    def action_take(self) -> None:
        """Choose the marked one."""
        self.dismiss(self._options[self._at][1])

    def _paint(self) -> None:
        lines: list[Line] = [[(f" {self._title}", Ink.HEAD)]]
        for at, (letter, _, words) in enumerate(self._options):
            mark = "> " if at == self._at else "  "
            lines.append([(mark, Ink.STRONG), (letter, Ink.STRONG), (f"  {words}", Ink.TEXT)])
        self.query_one("#options", Lines).show(lines)
