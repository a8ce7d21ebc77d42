"""Dialog with the handover: the sheet of `livedeck past handover`, read from the deck's history."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from livedeck.report.handover import Handover, handover_lines, handover_markdown, read_handover
from livedeck.text.segments import Line, StyleRole
from livedeck.ui.kit.dialogs.reading import ReadingDialog

if TYPE_CHECKING:
    from livedeck.ui.shell.context import Context

NOTHING_YET = "Nothing was recorded in the last 24 h. The handover appears as soon as something is."

RENEWED_EACH = 5.0
"""Minimum seconds between two readings of the history."""


class HandoverDialog(ReadingDialog):
    """Handover sheet, renewed while it is open."""

    CLOSING = "y copies it as Markdown, esc closes"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("y", "copy", "copy")]

    def __init__(self, ctx: Context) -> None:
        super().__init__()
        self._ctx, self._read_at = ctx, 0.0
        self._found: Handover | None = None

    def on_mount(self) -> None:
        self._ctx.snapshot_signal.subscribe(self, lambda _: self._renew_if_old())
        self._renew()

    def action_copy(self) -> None:
        """Copy the sheet as Markdown."""
        if self._found is not None and self._found.watched is not None:
            self._ctx.copy(handover_markdown(self._found), "handover")

    def _renew_if_old(self) -> None:
        if self._ctx.clock.monotonic() - self._read_at >= RENEWED_EACH:
            self._renew()

    def _renew(self) -> None:
        self._read_at = self._ctx.clock.monotonic()
        self.run_worker(self._read(), group="handover", exclusive=True)

    async def _read(self) -> None:
        records, history = self._ctx.records, self._ctx.history
        assert records is not None
        if history is not None:
            await history.flush()  # so that the sheet has what this deck has just seen
        self._found = await read_handover(records, self._ctx.machine_time())
        self.paint()

    def paint(self) -> None:
        found = self._found
        reason = "One moment: reading the history" if found is None else NOTHING_YET
        lines: list[Line] = [[(reason, StyleRole.DIM)]]
        if found is not None and found.watched is not None:
            lines = [[(text, _role(text))] for text in handover_lines(found, self.cells)][1:]
        self.show_lines(f"Handover {found.made:%Y-%m-%d %H:%M:%S}Z" if found else "Handover", lines)


def _role(text: str) -> StyleRole:
    """Return the role of a line: titles are in capitals."""
    return StyleRole.STRONG if text.isupper() and not text.startswith(" ") else StyleRole.TEXT
