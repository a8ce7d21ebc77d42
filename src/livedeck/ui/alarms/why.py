"""Pane that explains the alarms of an event, renewed while it is open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from livedeck.monitor import AlarmRefused, Explanation
from livedeck.presentation.explanation import explanation_lines, explanation_title
from livedeck.text.segments import Line, StyleRole, labelled, wrap
from livedeck.ui.kit.dialogs.reading import RenewedDialog

if TYPE_CHECKING:
    from livedeck.ui.shell.context import Context

LABEL_CELLS = 14

_STRONG = frozenset({"alarms", "would alarm"})
"""Labels of the lines in bold, because these lines answer most questions."""


def why_lines(found: Explanation, cells: int, *, of_collector: bool = False) -> list[Line]:
    """Return an explanation as lines of `cells` cells. `of_collector`: a collector judges the event."""
    lines = [*wrap(explanation_title(found), StyleRole.STRONG, cells)]
    for label, texts in explanation_lines(found, of_collector=of_collector):
        role = StyleRole.STRONG if label in _STRONG else StyleRole.TEXT
        rows = [row for text in texts for row in wrap(text, role, max(1, cells - LABEL_CELLS))]
        lines += [labelled("" if number else label, row, LABEL_CELLS) for number, row in enumerate(rows)]
    return lines


class WhyScreen(RenewedDialog):
    """Pane with the explanation of an event's alarms, or of one kind of them. Renewed every few seconds."""

    def __init__(self, ctx: Context, event_id: str, kind: str = "") -> None:
        super().__init__(ctx.snapshot_signal, ctx.clock.monotonic)
        self._ctx, self._event_id, self._kind = ctx, event_id, kind
        self._found: Explanation | None = None
        self._reason = "One moment"

    async def read(self) -> None:
        """Ask the monitor for the explanation, which takes a third of a second."""
        try:
            self._found, self.fault = await self._ctx.monitor.explain(self._event_id, self._kind), ""
            self._reason = "This event is no longer listed"
        except AlarmRefused as error:
            self._found, self._reason, self.fault = None, str(error), ""

    def paint(self) -> None:
        found, attachment = self._found, self._ctx.snapshot.attachment if self._ctx.snapshot else None
        of_collector = attachment is not None and not attachment.is_alone
        lines = (
            why_lines(found, self.cells, of_collector=of_collector)
            if found
            else [*wrap(self._reason, StyleRole.DIM, self.cells)]
        )
        self.show_lines(f"Why {self._kind}" if self._kind else "Why", lines)
