"""Dialog with the handover: the sheet of `livedeck past handover`, read from the deck's history."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from livedeck.report.handover import Handover, handover_lines, handover_markdown, read_handover
from livedeck.text.segments import Line, StyleRole
from livedeck.ui.kit.dialogs.reading import RenewedDialog

if TYPE_CHECKING:
    from livedeck.ui.shell.context import Context

NOTHING_YET = "Nothing was recorded in the last 24 h. The handover appears as soon as something is."


class HandoverDialog(RenewedDialog):
    """Handover sheet, renewed while it is open."""

    CLOSING = "y copies it as Markdown, esc closes"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("y", "copy", "copy")]

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx.snapshot_signal, ctx.clock.monotonic)
        self._ctx = ctx
        self._found: Handover | None = None

    def action_copy(self) -> None:
        """Copy the sheet as Markdown."""
        if self._found is not None and self._found.watched is not None:
            self._ctx.copy(handover_markdown(self._found), "handover")

    async def read(self) -> None:
        """Read the sheet. If a query fails, keep the previous sheet, because missing faults would look like none."""
        records, history = self._ctx.records, self._ctx.history
        assert records is not None
        if history is not None:
            await history.flush()  # so that the sheet has what this deck has just seen
        self._found = await records.whole(read_handover(records, self._ctx.machine_time()))
        self.fault = ""

    def paint(self) -> None:
        found = self._found
        lines: list[Line] = []
        if found is None and not self.fault:
            lines = [[("One moment: reading the history", StyleRole.DIM)]]
        elif found is not None and found.watched is None:
            lines = [[(NOTHING_YET, StyleRole.DIM)]]
        elif found is not None:
            lines = [[(text, _role(text))] for text in handover_lines(found, self.cells)][1:]
        self.show_lines(f"Handover {found.made:%Y-%m-%d %H:%M:%S}Z" if found else "Handover", lines)


def _role(text: str) -> StyleRole:
    """Return the role of a line: titles are in capitals."""
    return StyleRole.STRONG if text.isupper() and not text.startswith(" ") else StyleRole.TEXT
