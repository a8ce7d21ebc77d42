"""Base class of dialogs. It ignores early keys, and has keys that move the focus and keys that leave the dialog."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import ClassVar, Generic, TypeVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message

from livedeck.text.segments import Line, StyleRole, width
from livedeck.ui.kit.canvas import Canvas
from livedeck.ui.kit.dialogs.modal import Modal
from livedeck.ui.kit.selection import SEEN_AFTER

R = TypeVar("R")

EARLY = SEEN_AFTER
"""Seconds during which a new dialog ignores keys, because they are meant for the screen under it.

See interface.md, "Confirmation".
"""

Timer = Callable[[], float]
"""Function that returns monotonic seconds."""

BlockedReason = Callable[[], str]
"""Function that returns the reason why no change may be sent now; empty if a change may be sent."""


class Button(Canvas, can_focus=True):
    """Button with its key beside the label. Brackets mark the focus, because colour alone is not enough."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "press", show=False)]

    class Pressed(Message):
        """Press of the button with the id `button`."""

        def __init__(self, button: str) -> None:
            super().__init__()
            self.button = button

    def __init__(
        self,
        label: str,
        *,
        id: str,  # noqa: A002
        role: StyleRole = StyleRole.STRONG,
        key: str = "",
    ) -> None:
        super().__init__(id=id)
        self._label, self._role, self._key = label, role, f"  {key}" if key else ""

    def draw(self, width: int, height: int) -> list[Line]:  # noqa: ARG002
        left, right = "[]" if self.has_focus else "  "
        role = StyleRole.INFO if self.has_focus else self._role
        if self._role is StyleRole.CRITICAL:
            role = self._role
        return [[(f"{left} ", role), (self._label, role), (self._key, StyleRole.DIM), (f" {right}", role)]]

    def get_content_width(self, container: Size, viewport: Size) -> int:  # noqa: ARG002
        """Return the width of the label, the key and the brackets."""
        return width([(f"[ {self._label}{self._key} ]", self._role)])

    def watch_has_focus(self, has_focus: bool) -> None:
        super().watch_has_focus(has_focus)
        self.repaint()

    def action_press(self) -> None:
        self.post_message(self.Pressed(self.id or ""))

    def on_click(self) -> None:
        self.action_press()


class Dialog(Modal[R], Generic[R]):
    """Dialog that returns a value. `timer`: clock that shows which key presses are early or double."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("right,down", "app.focus_next", show=False),
        Binding("left,up", "app.focus_previous", show=False),
    ]

    def __init__(self, timer: Timer) -> None:
        super().__init__(classes="dialog")
        self._timer = timer
        self._appeared_at = inf
        self._last_enter = -inf

    def drawn(self) -> None:
        """Begin the time in which the dialog ignores keys, because nobody can have read it yet."""
        self._appeared_at = self._timer()
        super().drawn()

    @property
    def is_early(self) -> bool:
        """True if the dialog has appeared too recently to have been read."""
        return self._timer() - self._appeared_at < EARLY

    def on_key(self, event: events.Key) -> None:
        """Ignore keys that would decide too soon after the dialog opened, and the second enter of a double press."""
        is_hasty = (event.key == "enter" and self._is_echo()) or self.is_early or event in self.typed_ahead
        if is_hasty and self.decides(event.key):
            event.stop()
            event.prevent_default()
        elif event.character is not None and event.is_printable and self.typed(event.character):
            event.stop()

    def decides(self, key: str) -> bool:  # noqa: ARG002  forms use it
        """Return whether a key can close the dialog, and is therefore ignored if it comes too early.

        By default every key can.
        """
        return True

    def typed(self, char: str) -> bool:  # noqa: ARG002  confirmations use it
        """Handle a letter that no field has taken. Return whether the dialog used the letter."""
        return False

    def _is_echo(self) -> bool:
        now, before = self._timer(), self._last_enter
        self._last_enter = now
        return now - before < EARLY

    def action_leave(self) -> None:
        """Leave without a value."""
        self.dismiss(None)
