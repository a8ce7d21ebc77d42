"""Question before a change: target, state and effect. Cancel has the focus (interface.md, "Confirmation")."""

from __future__ import annotations

from collections.abc import Iterable

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from livedeck.operations.operation import Confirmation, ConfirmLevel
from livedeck.text.outside import shown_after
from livedeck.text.segments import Line, StyleRole, wrap
from livedeck.ui.kit.dialogs.dialog import BlockedReason, Button, Dialog, Timer
from livedeck.ui.kit.lines import LinesWidget
from livedeck.ui.kit.text_field import TextField

MAX_CELLS = 74
"""Maximum width of a dialog, in cells. Longer lines are harder to read."""


class NameField(TextField):
    """Field in which a person types a name to confirm a change.

    `lost`: True if the field dropped invisible characters of a pasted text. Then the pasted name is a different name.
    """

    lost = False

    def replace(self, text: str, start: int, end: int) -> None:
        """Replace a range by a text. Set `lost` if the field dropped characters of the text."""
        was_lost = self.lost or shown_after(self.value[: min(start, end)], text) != text
        super().replace(text, start, end)
        self.lost = was_lost and bool(self.value)

    def watch_value(self, value: str) -> None:
        """Reset `lost` once the field is empty."""
        self.lost = self.lost and bool(value)


class Confirm(Dialog[bool]):
    """Question before a change. Returns True if the person agrees.

    `blocked_reason`: called when the person agrees. If it returns a reason, such as stale data, nothing is confirmed.
    """

    def __init__(self, confirmation: Confirmation, timer: Timer, blocked_reason: BlockedReason = lambda: "") -> None:
        super().__init__(timer)
        self._confirmation, self._blocked_reason = confirmation, blocked_reason
        self._word = confirmation.word if confirmation.level is ConfirmLevel.TYPE_NAME else ""

    def compose(self) -> ComposeResult:
        confirmation = self._confirmation
        with Vertical(classes="dialog-box"):
            yield LinesWidget(id="question")
            if self._word:
                yield LinesWidget(id="demand")
            with Horizontal(classes="dialog-keys"):
                if self._word:
                    yield NameField(id="word", select_on_focus=False)
                yield Button(confirmation.cancel, id="cancel")
                role = StyleRole.CRITICAL if self._word else StyleRole.STRONG
                yield Button(confirmation.button, id="consent", role=role)
            yield LinesWidget(id="objection")

    def on_mount(self) -> None:
        self.query_one("#objection").display = False
        self.query_one("#cancel").focus()

    def on_resize(self) -> None:
        cells = min(MAX_CELLS, self.size.width) - 4
        self.query_one("#question", LinesWidget).show(
            [*heading(self._confirmation.title, cells), *_paragraphs(self._confirmation, cells)]
        )
        if self._word:
            verb = self._confirmation.button.casefold()
            whole, end = f"Type the whole name to {verb}: ", f"Type the end of the id to {verb}: "
            demand = f"{whole if self._confirmation.wants_name else end}{self._word}"
            self.query_one("#demand", LinesWidget).show(list(wrap(demand, StyleRole.STRONG, cells)))

    def typed(self, char: str) -> bool:
        """Put a letter into the field for the name, even if another part of the dialog has the focus."""
        if not self._word:
            return False
        field = self.query_one("#word", NameField)
        field.focus()
        field.insert_text_at_cursor(char)
        return True

    def on_input_submitted(self) -> None:
        """Move the focus to the button if the name is right. Enter in the field never confirms."""
        self.query_one("#consent" if self._matches() else "#word").focus()
        self._object("" if self._matches() else self._mismatch())

    def on_button_pressed(self, message: Button.Pressed) -> None:
        if self.is_early:
            return
        if message.button == "cancel":
            self.dismiss(False)
            return
        objection = self._blocked_reason() or ("" if self._matches() else self._mismatch())
        self._object(objection)
        if not objection:
            self.dismiss(True)

    def action_leave(self) -> None:
        """Decline: return False."""
        self.dismiss(False)

    def _matches(self) -> bool:
        if not self._word:
            return True
        field = self.query_one("#word", NameField)
        return not field.lost and self._confirmation.is_word(field.text)

    def _mismatch(self) -> str:
        """Return why the typed name is not accepted."""
        field = self.query_one("#word", NameField)
        if field.lost:
            return "the pasted text has invisible characters, so it is a different name: clear the field and type"
        return f"that is not {self._word}" if field.text.strip() else f"type {self._word} first"

    def _object(self, text: str) -> None:
        cells = min(MAX_CELLS, self.size.width) - 4
        self.query_one("#objection", LinesWidget).show(
            list(wrap(f"✖ {text}", StyleRole.CRITICAL_MARK, cells)) if text else []
        )


def heading(title: str, cells: int) -> list[Line]:
    """Return the title of a dialog, and a blank line."""
    return [*wrap(title, StyleRole.STRONG, cells), []]


def _paragraphs(confirmation: Confirmation, cells: int) -> Iterable[Line]:
    for text, role in confirmation.lines:
        yield from wrap(text, role, cells)
    yield []
