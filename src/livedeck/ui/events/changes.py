"""Dialog with the changes of the last minutes, on a terminal of any size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from livedeck.presentation.last_changes import Changes, unwatched_lines
from livedeck.text.segments import Line, StyleRole
from livedeck.ui.kit.dialogs.reading import ReadingDialog

if TYPE_CHECKING:
    from livedeck.ui.shell.context import Context


class ChangesDialog(ReadingDialog):
    """Dialog with the changes of the last `minutes` and, below them, all earlier ones. Each snapshot renews it."""

    def __init__(self, ctx: Context, minutes: int) -> None:
        super().__init__()
        self._ctx, self._minutes, self._changes = ctx, minutes, Changes()

    def on_mount(self) -> None:
        self._ctx.snapshot_signal.subscribe(self, lambda _: self.paint())

    def paint(self) -> None:
        displayed = self._ctx.displayed()
        if displayed is None:
            return
        snapshot, render_time = displayed
        recent, earlier = self._changes.recent(snapshot, render_time, self.cells, self._minutes * 60.0)
        until, doubt = render_time.server, list[Line]()
        if render_time.stale and snapshot.link.as_of:
            until = render_time.to_server(snapshot.link.as_of)
            doubt = [[(f"▒ nothing is known after {until:%H:%M:%S}Z", StyleRole.STALE)]]
        elif not snapshot.is_judged:
            doubt = [[("measuring: not every event is judged yet", StyleRole.DIM)]]
        doubt += unwatched_lines(snapshot, render_time, self._minutes * 60.0)
        head: Line = [(f"In the last {self._minutes} min", StyleRole.STRONG)]
        lines = [head, *doubt, *(recent or [[("No change seen", StyleRole.DIM)]])]
        if earlier:
            lines += [[], [("Before", StyleRole.STRONG)], *earlier]
        self.show_lines(f"Changes until {until:%H:%M:%S}Z", lines)
