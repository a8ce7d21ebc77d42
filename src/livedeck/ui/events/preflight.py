"""Preflight dialog: every check of an event."""

from __future__ import annotations

from typing import TYPE_CHECKING

from livedeck.monitor import event_key
from livedeck.presentation import events
from livedeck.presentation.preflight import gather_facts, missing_fields, preflight
from livedeck.text.segments import Line, StyleRole
from livedeck.ui.kit.dialogs.reading import ReadingDialog
from livedeck.ui.shell.preflight import KEY, list_lines

if TYPE_CHECKING:
    from livedeck.ui.shell.context import Context


class PreflightScreen(ReadingDialog):
    """Dialog with every check of an event.

    While it is open, the fields that the event list lacks are polled.
    """

    def __init__(self, ctx: Context, event_id: str) -> None:
        super().__init__()
        self._ctx, self._event_id = ctx, event_id

    def on_mount(self) -> None:
        self._ctx.snapshot_signal.subscribe(self, lambda _: self.paint())

    def on_unmount(self) -> None:
        self._ctx.monitor.watch(KEY)

    def paint(self) -> None:
        displayed = self._ctx.displayed()
        if displayed is None:
            return
        snapshot, render_time = displayed
        state, title = snapshot.find(self._event_id), "Preflight"
        lines: list[Line] = [[("This event is no longer listed", StyleRole.DIM)]]
        if state is not None:
            self._ctx.monitor.watch(KEY, *([event_key(state.id)] if missing_fields(state.event) else []))
            title = f"Preflight: {events.name(state)}"
            read_only = self._ctx.identity["read_only"]
            found = preflight(gather_facts(snapshot, state.event, render_time.server, is_read_only=read_only))
            lines = [*list_lines(found, render_time, self._ctx.actions, self.cells)]
        self.show_lines(title, lines)
