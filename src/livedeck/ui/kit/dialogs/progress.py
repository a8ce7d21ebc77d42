"""Dialog about slow work: title, elapsed time and progress. A person can hide the dialog or stop the work."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from livedeck.text import values
from livedeck.text.segments import StyleRole, wrap
from livedeck.ui.kit.dialogs.confirm import MAX_CELLS
from livedeck.ui.kit.dialogs.dialog import Button, Dialog, Timer
from livedeck.ui.kit.lines import LinesWidget


class ProgressDialog(Dialog[bool]):
    """Dialog about work in progress.

    Returns True if the person stops the work, False if the person hides the dialog or the work is done.
    """

    def __init__(self, title: str, timer: Timer) -> None:
        super().__init__(timer)
        self._title_text, self._started_at = title, timer()
        self._progress_text = ""
        self._is_done = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog-box"):
            yield LinesWidget(id="work")
            with Horizontal(classes="dialog-keys"):
                yield Button("Continue in background", id="hide")
                yield Button("Stop", id="stop")

    def on_mount(self) -> None:
        self.query_one("#hide").focus()
        self.set_interval(1.0, self._paint)
        self._paint()

    def on_resize(self) -> None:
        self._paint()

    def on_screen_resume(self) -> None:
        self._close_when_done()

    def drawn(self) -> None:
        """Close the dialog at once if the work ended before the first picture."""
        super().drawn()
        self._close_when_done()

    def progress(self, done: int, total: int | None) -> None:
        """Report the bytes transferred so far, of `total` bytes; None if the total is unknown."""
        self._progress_text = f"{done:,} of {total:,} bytes" if total else f"{done:,} bytes"

    def finish(self) -> None:
        """Close the dialog, because the work is done. A covered dialog closes once no other dialog covers it."""
        self._is_done = True
        self._close_when_done()

    def _close_when_done(self) -> None:
        if self._is_done and self.is_current and self.is_drawn:
            self.dismiss(False)

    def on_button_pressed(self, message: Button.Pressed) -> None:
        if not self.is_early:
            self.dismiss(message.button == "stop")

    def action_leave(self) -> None:
        """Hide the dialog; the work continues."""
        self.dismiss(False)

    def _paint(self) -> None:
        if self._is_done:
            return
        cells = min(MAX_CELLS, self.size.width) - 4
        elapsed = f"{values.age(self._timer() - self._started_at)}  {self._progress_text}".strip()
        self.query_one("#work", LinesWidget).show(
            [*wrap(self._title_text, StyleRole.STRONG, cells), [(elapsed, StyleRole.DIM)], []]
        )
