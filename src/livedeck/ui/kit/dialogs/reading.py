"""Dialogs of lines to read, which scroll and are closed by a key or a click beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.signal import Signal

from livedeck.log import Log
from livedeck.monitor import NotReadError
from livedeck.text.segments import Line, StyleRole, wrap
from livedeck.ui.kit.dialogs.modal import Modal
from livedeck.ui.kit.lines import LinesWidget

log = Log(__name__)

RENEWED_EACH = 5.0
"""Minimum seconds from the end of a reading to the next one."""


class ReadingDialog(Modal[None]):
    """Dialog of lines to read. A subclass shows them in `paint`, which also runs after each change of size.

    `CLOSING`: names of the keys in the lower frame, which no scrolling hides.
    """

    CLOSES_OUTSIDE = True
    CLOSING: ClassVar[str] = "esc closes"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter", "dismiss", "close"),
        Binding("up,k", "scroll(-1)", "up"),
        Binding("down,j", "scroll(1)", "down"),
        Binding("pageup", "scroll(-10)", "page up"),
        Binding("pagedown", "scroll(10)", "page down"),
    ]

    def __init__(self) -> None:
        super().__init__(classes="dialog")

    def compose(self) -> ComposeResult:
        with Vertical(id="reading-box", classes="dialog-box form-box"), VerticalScroll(can_focus=False):
            yield LinesWidget(id="reading")

    def on_mount(self) -> None:
        self.query_one("#reading-box").border_subtitle = self.CLOSING

    def on_resize(self) -> None:
        self.paint()

    def paint(self) -> None:
        """Show the lines."""

    @property
    def cells(self) -> int:
        """Width of a line in cells, beside a scrollbar."""
        box, scroll = self.query_one("#reading-box"), self.query_one(VerticalScroll)
        return box.content_size.width - scroll.styles.scrollbar_size_vertical

    def show_lines(self, title: str, lines: Sequence[Line]) -> None:
        """Show a title and lines of `cells` cells."""
        self.query_one("#reading-box").border_title = title
        self.query_one("#reading", LinesWidget).show(lines)

    def action_scroll(self, step: int) -> None:
        """Scroll by some lines, up if `step` is negative."""
        self.query_one(VerticalScroll).scroll_relative(y=step, animate=False)


class RenewedDialog(ReadingDialog):
    """Dialog of lines that are read again every few seconds while the dialog is open.

    `signal`: published at least each second. `timer`: returns monotonic seconds. `fault`: reason why the last reading
    failed, shown above the lines; empty if it succeeded.
    """

    fault: str = ""

    def __init__(self, signal: Signal[Any], timer: Callable[[], float]) -> None:
        super().__init__()
        self._signal, self._timer = signal, timer
        self._is_reading, self._read_at = False, -inf

    async def read(self) -> None:
        """Read the data that `paint` shows, and set `fault`. Raises NotReadError."""

    def on_mount(self) -> None:
        self._signal.subscribe(self, lambda _: self._renew_if_old())
        self._renew_if_old()

    def _renew_if_old(self) -> None:
        if not self._is_reading and self._timer() - self._read_at >= RENEWED_EACH:
            self._is_reading = True
            self.run_worker(self._renew(), group="reading", exit_on_error=False)

    async def _renew(self) -> None:
        try:
            await self.read()
        except NotReadError as error:
            self.fault = str(error)
        except Exception as error:
            log.exception("a dialog could not read")
            self.fault = f"Not read because of a fault in the deck: {type(error).__name__}; see the log"
        self._is_reading, self._read_at = False, self._timer()
        self.paint()

    def show_lines(self, title: str, lines: Sequence[Line]) -> None:
        fault = wrap(f"▲ {self.fault}", StyleRole.WARNING, self.cells) if self.fault else ()
        super().show_lines(title, [*fault, *lines])
