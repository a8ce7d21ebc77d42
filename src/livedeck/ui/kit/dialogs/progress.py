"""Something takes long: what, for how long, how far. It can be put away, and it can be stopped."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from livedeck.text import values
from livedeck.text.segments import StyleRole, wrap
from livedeck.ui.kit.dialogs.confirm import WIDEST
from livedeck.ui.kit.dialogs.dialog import Button, Dialog, Timer
from livedeck.ui.kit.lines import LinesWidget


class ProgressDialog(Dialog[bool]):
    """True where the person waits no longer; False where it was put away, or is done."""

    def __init__(self, what: str, timer: Timer) -> None:
        super().__init__(timer)
        self._what, self._began = what, timer()
        self._far = ""
        self._over = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog-box"):
            yield LinesWidget(id="work")
            with Horizontal(classes="dialog-keys"):
                yield Button("Go on behind", id="hide")
                yield Button("Stop", id="stop")

    def on_mount(self) -> None:
        self.query_one("#hide").focus()
        self.set_interval(1.0, self._tell)
        self._tell()

    def on_resize(self) -> None:
        self._tell()

    def on_screen_resume(self) -> None:
        self._go()

    def appeared(self) -> None:
        """It may have been over before it was there."""
        self._go()

    def progress(self, done: int, whole: int | None) -> None:
        """Bytes that have passed, and of how many."""
        self._far = f"{done:,} of {whole:,} bytes" if whole else f"{done:,} bytes"

    def finish(self) -> None:
        """It is done: go away, at once or when what lies above is gone."""
        self._over = True
        self._go()

    def _go(self) -> None:
        if self._over and self.is_current and self.has_appeared:
            self.dismiss(False)

    def on_button_pressed(self, message: Button.Pressed) -> None:
        if not self.early:
            self.dismiss(message.button == "stop")

    def action_leave(self) -> None:
        """Put it away; it goes on."""
        self.dismiss(False)

    def _tell(self) -> None:
        if self._over:
            return
        cells = min(WIDEST, self.size.width) - 4
        after = f"{values.age(self._timer() - self._began)}  {self._far}".strip()
        self.query_one("#work", LinesWidget).show(
            [*wrap(self._what, StyleRole.STRONG, cells), [(after, StyleRole.DIM)], []]
        )
