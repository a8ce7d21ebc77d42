"""The one field that text is typed into: what stands there is shown escaped and edited as it is."""

from __future__ import annotations

from textual.widgets import Input

from livedeck.text.outside import escaped, shown_after, unescaped

MAX_CHARS = 8192
"""In a field, typed or pasted; what is behind them goes nowhere. What came from outside may be longer."""


class TextField(Input):
    """A line of text. `text` is what stands in it, and what came from outside is that to the byte until it is edited.

    A text with anything hidden in it is shown with escapes (`\\x1b`, `\\u202e`) and a doubled backslash, and read back
    in that notation. What is typed or pasted enters as it is shown: nobody can see the rest.
    """

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
        self.cursor_blink = False  # nothing blinks but an unacknowledged alarm (interface.md, "Alarms on screen")

    @property
    def text(self) -> str:
        """What stands there, without the notation."""
        return unescaped(self.value) if self._is_escaped else self.value

    def replace(self, text: str, start: int, end: int) -> None:
        """Put a text in the place of another: all that is typed or pasted comes here."""
        start, end = sorted((max(0, start), max(0, end)))
        room = max(0, MAX_CHARS - len(self.value[:start] + self.value[end:]))
        super().replace(shown_after(self.value[:start], text)[:room], start, end)

    def action_copy(self) -> None:
        """Copy what is selected; a secret stays where it is."""
        if not self.password:
            super().action_copy()

    def action_cut(self) -> None:
        """Cut what is selected; a secret is only deleted."""
        if self.password:
            self.delete_selection()
        else:
            super().action_cut()
