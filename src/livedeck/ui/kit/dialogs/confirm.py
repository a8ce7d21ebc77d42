"""A question before a change: what, its state, the effect. Cancel has the focus (interface.md, "Behaviour")."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Input

from livedeck.text import values
from livedeck.text.segments import Line, Segment, StyleRole, wrap
from livedeck.ui.kit.dialogs.dialog import Button, Dialog, Hindrance, Timer
from livedeck.ui.kit.lines import LinesWidget

WIDEST = 74

"""Cells of a dialog at most: what is wider is read less well."""


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What is asked. `body`: paragraphs. `consent`: the word on the button. `word`: what must be typed, or empty."""

    title: str
    body: tuple[Segment, ...]
    consent: str
    word: str = ""
    keep: str = "Cancel"


class Confirm(Dialog[bool]):
    """True where the person agreed. `hindrance` is asked again at the last moment: stale data blocks the change."""

    def __init__(self, question: Confirmation, timer: Timer, hindrance: Hindrance = lambda: "") -> None:
        super().__init__(timer)
        self._question, self._hindrance = question, hindrance

    def compose(self) -> ComposeResult:
        question = self._question
        with Vertical(classes="dialog-box"):
            yield LinesWidget(id="question")
            with Horizontal(classes="dialog-keys"):
                if question.word:
                    yield LinesWidget(id="demand")
                    yield Input(compact=True, id="word", select_on_focus=False)
                yield Button(question.keep, id="cancel")
                yield Button(
                    question.consent, id="consent", ink=StyleRole.STRONG if not question.word else StyleRole.CRITICAL
                )
            yield LinesWidget(id="objection")

    def on_mount(self) -> None:
        self.query_one("#objection").display = False
        if self._question.word:
            demand = f"Type {self._question.word} to {self._question.consent.casefold()}: "
            label = self.query_one("#demand", LinesWidget)
            label.styles.width = len(demand)
            label.show([[(demand, StyleRole.TEXT)]])
            self.query_one("#word", Input).cursor_blink = False
        self.query_one("#cancel").focus()

    def on_resize(self) -> None:
        cells = min(WIDEST, self.size.width) - 4
        self.query_one("#question", LinesWidget).show(
            [*heading(self._question.title, cells), *_body(self._question, cells)]
        )

    def typed(self, char: str) -> bool:
        """Letters go to where the name is typed, wherever the focus is."""
        if not self._question.word:
            return False
        field = self.query_one("#word", Input)
        field.focus()
        field.insert_text_at_cursor(char)
        return True

    def on_input_submitted(self) -> None:
        """The name is typed: on to the button. This never fires by itself."""
        self.query_one("#consent" if self._matches() else "#word").focus()
        self._object("" if self._matches() else f"that is not {self._question.word}")

    def on_button_pressed(self, message: Button.Pressed) -> None:
        if self.early:
            return
        if message.button == "cancel":
            self.dismiss(False)
            return
        objection = self._hindrance() or ("" if self._matches() else f"type {self._question.word} first")
        self._object(objection)
        if not objection:
            self.dismiss(True)

    def action_leave(self) -> None:
        """No is the answer of whoever leaves."""
        self.dismiss(False)

    def _matches(self) -> bool:
        word = self._question.word
        return not word or self.query_one("#word", Input).value.strip().casefold() == word

    def _object(self, text: str) -> None:
        cells = min(WIDEST, self.size.width) - 4
        self.query_one("#objection", LinesWidget).show(
            list(wrap(f"✖ {text}", StyleRole.CRITICAL, cells)) if text else []
        )


def heading(title: str, cells: int) -> list[Line]:
    """The title of a dialog, and a blank line."""
    return [*wrap(title, StyleRole.STRONG, cells), []]


def _body(question: Confirmation, cells: int) -> Iterable[Line]:
    for text, ink in question.body:
        yield from wrap(text, ink, cells)
    yield []


def short_name(name: str, identity: str) -> str:
    """What has to be typed for an event: the first word of its name, or the end of its id where keys cannot type it."""
    words = "".join(char if char.isalnum() else " " for char in values.safe(name)).casefold().split()
    typable = next((word for word in words if word.isascii() and len(word) > 2), "")
    return typable or identity.casefold()[-4:]
