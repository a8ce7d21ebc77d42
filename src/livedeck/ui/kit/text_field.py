"""Text field of all dialogs. It shows hidden characters of its content as escapes."""

from __future__ import annotations

from textual import events
from textual.message import Message
from textual.widgets import Input

from livedeck.text.outside import escaped, shown_after, unescaped

MAX_CHARS = 8192
"""Maximum number of characters of a field for typed or pasted text. A text from outside may be longer."""


class TextField(Input):
    r"""Field for a line of text. `text`: content of the field. A text from outside stays unchanged until it is edited.

    A text with hidden characters is shown with escapes (`\x1b`, `\u202e`) and doubled backslashes, and is read back in
    this notation. Typed or pasted text loses its invisible characters.
    """

    class Refused(Message):
        """A paste was refused, and the field is unchanged. `reason`: why, in words."""

        def __init__(self, reason: str) -> None:
            super().__init__()
            self.reason = reason

    def __init__(
        self,
        text: str = "",
        *,
        placeholder: str = "",
        password: bool = False,
        select_on_focus: bool = True,
        id: str | None = None,  # noqa: A002
    ) -> None:
        value = text if password else escaped(text)
        self._is_escaped = value != text
        super().__init__(value, placeholder, password=password, select_on_focus=select_on_focus, id=id, compact=True)
        self.cursor_blink = False  # only an unacknowledged alarm blinks (interface.md, "Alarms on screen")

    @property
    def text(self) -> str:
        """Content of the field, without escapes."""
        return unescaped(self.value) if self._is_escaped else self.value

    def replace(self, text: str, start: int, end: int) -> None:
        """Replace a range of characters by a text. All typed or pasted text passes this method."""
        start, end = sorted((max(0, start), max(0, end)))
        room = max(0, MAX_CHARS - len(self.value[:start] + self.value[end:]))
        super().replace(shown_after(self.value[:start], text)[:room], start, end)

    def on_paste(self, event: events.Paste) -> None:
        """Paste one line. Refuse several lines: the field would drop some of them unseen."""
        event.prevent_default()
        event.stop()
        lines = [line for line in event.text.splitlines() if line.strip()]
        if len(lines) > 1:
            self.post_message(self.Refused(f"{len(lines)} lines pasted, only one fits: nothing changed"))
        elif lines:
            self.replace(lines[0], *self.selection)

    def action_copy(self) -> None:
        """Copy the selection, but never a secret."""
        if not self.password:
            super().action_copy()

    def action_cut(self) -> None:
        """Cut the selection; a secret is only deleted."""
        if self.password:
            self.delete_selection()
        else:
            super().action_cut()
