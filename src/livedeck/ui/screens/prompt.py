"""One line to type into, at the foot of the screen; what is typed is judged as it is typed."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line
from livedeck.ui.widgets.frame import Lines

Judge = Callable[[str], tuple[Line, bool]]
"""What to say of the text, and whether it may be taken."""


class PromptScreen(ModalScreen[str | None]):
    """Enter takes what may be taken; escape leaves everything as it was: None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "close")]

    def __init__(self, title: str, judge: Judge, value: str = "") -> None:
        super().__init__()
        self._title, self._judge, self._value = title, judge, value

    def compose(self) -> ComposeResult:
        with Vertical(id="command"):
            yield Lines(id="asked")
            yield Lines(id="said")
            line = Input(self._value, compact=True)
            line.cursor_blink = False
            yield line

    def on_mount(self) -> None:
        self.query_one("#asked", Lines).show([[(f" {self._title}", Ink.HEAD)]])
        self.query_one(Input).focus()
        self.on_input_changed()

    def on_input_changed(self) -> None:
        said, _ = self._judge(self.query_one(Input).value)
        self.query_one("#said", Lines).show([said])

    def on_input_submitted(self) -> None:
        text = self.query_one(Input).value.strip()
        if self._judge(text)[1]:
            self.dismiss(text)
