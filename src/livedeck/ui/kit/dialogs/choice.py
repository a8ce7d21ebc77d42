"""Dialogs for a short list of options, and for one line of text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from livedeck.text.segments import Line, ShadedLine, StyleRole, linked
from livedeck.text.values import safe
from livedeck.ui.kit.canvas import StyledWidget
from livedeck.ui.kit.dialogs.modal import Modal
from livedeck.ui.kit.lines import LinesWidget
from livedeck.ui.kit.text_field import TextField

Option = tuple[str, str, str]
"""Letter, value and label of an option."""


class ChoiceScreen(Modal[str | None]):
    """Dialog to choose a value by its letter, or by arrows and enter. Escape returns None.

    The last line shows a typed letter that belongs to no option.
    """

    TAKES_TYPED_AHEAD = True
    CLOSES_OUTSIDE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "close"),
        Binding("up", "move(-1)", "up"),
        Binding("down", "move(1)", "down"),
        Binding("enter", "take", "choose"),
    ]

    def __init__(self, title: str, options: Sequence[Option]) -> None:
        super().__init__()
        self._title, self._options, self._index, self._refused = title, options, 0, ""

    def compose(self) -> ComposeResult:
        with Vertical(id="command"):
            yield LinesWidget(id="options")

    def on_mount(self) -> None:
        self._paint()

    def on_key(self, event: events.Key) -> None:
        chosen = next((value for letter, value, _ in self._options if letter == event.character), None)
        if chosen is not None:
            event.stop()
            self.dismiss(chosen)
        elif event.is_printable and event.character:
            event.stop()
            self._refused = event.character
            self._paint()

    def on_styled_widget_followed(self, message: StyledWidget.Followed) -> None:
        message.stop()
        self.dismiss(message.link.command)

    def action_move(self, step: int) -> None:
        """Mark the next or previous option."""
        self._index = (self._index + step) % len(self._options)
        self._paint()

    def action_take(self) -> None:
        self.dismiss(self._options[self._index][1])

    def _paint(self) -> None:
        lines: list[ShadedLine] = [[(f" {self._title}", StyleRole.HEAD)]]
        for index, (letter, value, label) in enumerate(self._options):
            cursor = "> " if index == self._index else "  "
            line: Line = [(cursor, StyleRole.STRONG), (letter, StyleRole.STRONG), (f"  {label}", StyleRole.TEXT)]
            lines.append(linked(line, value))
        if self._refused:
            letters = ", ".join(letter for letter, _, _ in self._options)
            lines.append([(f" ✖ {safe(self._refused)} is no choice here: {letters}", StyleRole.CRITICAL_MARK)])
        self.query_one("#options", LinesWidget).show(lines)


Validator = Callable[[str], tuple[Line, bool]]
"""Function that takes the typed text, and returns a remark about it and whether it is accepted."""


class PromptScreen(Modal[str | None]):
    """Dialog that returns a line of text. Enter returns an accepted text, escape None."""

    TAKES_TYPED_AHEAD = True
    CLOSES_OUTSIDE = True
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "close")]

    def __init__(self, title: str, validate: Validator, value: str = "") -> None:
        super().__init__()
        self._title, self._validate_text, self._value = title, validate, value

    def compose(self) -> ComposeResult:
        with Vertical(id="command"):
            yield LinesWidget(id="prompt")
            yield LinesWidget(id="remark")
            yield TextField(self._value)

    def on_mount(self) -> None:
        self.query_one("#prompt", LinesWidget).show([[(f" {self._title}", StyleRole.HEAD)]])
        self.query_one(TextField).focus()
        self.on_input_changed()

    def on_input_changed(self) -> None:
        remark, _ = self._validate_text(self.query_one(TextField).text)
        self.query_one("#remark", LinesWidget).show([remark])

    def on_text_field_refused(self, message: TextField.Refused) -> None:
        """Show why a paste was refused."""
        self.query_one("#remark", LinesWidget).show([[(f" ✖ {message.reason}", StyleRole.CRITICAL_MARK)]])

    def on_input_submitted(self) -> None:
        text = self.query_one(TextField).text.strip()
        if self._validate_text(text)[1]:
            self.dismiss(text)
