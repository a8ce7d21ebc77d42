"""Screen 2: the current stream of each event, its destinations and its recordings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.widget import Widget

from livedeck.monitor import ResourceKey, Snapshot, recordings_key
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.streams import STREAMS
from livedeck.text.segments import Line, StyleRole
from livedeck.ui.kit.lines import DetailPanel
from livedeck.ui.kit.table import Table
from livedeck.ui.shell.screen import EventList
from livedeck.ui.streams.view import panel


class StreamPanel(DetailPanel):
    """Panel with destinations and recordings of the selected stream."""


class StreamsScreen(EventList):
    """Table of streams with signal, start and destinations, and under it the details of the selected stream."""

    NAME = "Streams"
    MODE = "streams"
    SCHEMA = STREAMS
    EMPTY = "No event in this workspace has a stream"
    DETAIL = "qos"

    def body(self) -> Iterable[Widget]:
        yield Table(STREAMS)
        yield StreamPanel()

    def paint(self, snapshot: Snapshot, render_time: RenderTime) -> None:
        state = self.list_events(snapshot, render_time)
        recordings = snapshot.cached(recordings_key(state.id) if state else None)

        def draw(width: int) -> list[Line]:
            if state is None:
                return [[(" No stream selected", StyleRole.DIM)]]
            return panel(state, recordings, render_time, width)

        self.query_one(StreamPanel).show(draw)
        self.ctx.monitor.watch(self.MODE, *self.keys(snapshot))

    def on_screen_suspend(self) -> None:
        """Stop polling recordings once another screen hides this one. A dialog does not stop the polls."""
        if self.ctx.current_mode != self.MODE:
            self.ctx.monitor.watch(self.MODE)

    def keys(self, snapshot: Snapshot) -> Sequence[ResourceKey]:  # noqa: ARG002  same signature on every screen
        """Return the keys of the resources to poll for this screen: recordings of the selected event."""
        selected = self.ctx.selected_event()
        return (recordings_key(selected.id),) if selected else ()
