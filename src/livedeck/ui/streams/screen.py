"""Screen 2: the signal of each event, from its encoder to its destinations, and its recordings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.containers import Horizontal
from textual.widget import Widget

from livedeck.monitor import EventState, ResourceKey, Snapshot, recordings_key
from livedeck.presentation import events
from livedeck.presentation.remembered import Remembered
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.streams import STREAMS, streaming_events, summary_line
from livedeck.text.segments import Line, ShadedLine, StyleRole
from livedeck.ui.kit.lines import DetailPanel, FramedPanel, LinesWidget
from livedeck.ui.kit.signal_chart import Chart
from livedeck.ui.kit.table import HEAD_LINES, Table
from livedeck.ui.shell.keymap import key_of
from livedeck.ui.shell.screen import EventList
from livedeck.ui.streams.view import panel, signal_lines, way_lines

PANES_WIDTH, PANES_HEIGHT = 100, 30
"""Minimum width and height of a screen with panes about the selected stream."""

MIN_TABLE = 4
"""Minimum height of the table in lines."""

_NOTHING: Line = [(" No stream selected", StyleRole.DIM)]


class StreamPanel(DetailPanel):
    """Lines about the selected stream, on a screen without panes."""


class StreamsScreen(EventList):
    """Table of streams with signal and destinations, and under it the details of the selected stream."""

    NAME = "Streams"
    MODE = "streams"
    SCHEMA = STREAMS
    EMPTY = "No event in this workspace has a stream"
    DETAIL = "qos"

    def __init__(self) -> None:
        super().__init__()
        self._chart: Chart = Remembered()

    def body(self) -> Iterable[Widget]:
        yield LinesWidget(id="summary")
        yield Table(STREAMS)
        with Horizontal(classes="panes"):
            yield FramedPanel(id="signal")
            yield FramedPanel(id="way")
        yield StreamPanel()

    def paint(self, snapshot: Snapshot, render_time: RenderTime) -> None:
        streams = streaming_events(snapshot)
        summary = summary_line(streams, render_time, self.size.width)
        self._show_lines("summary", [summary] if summary else [])
        has_panes = self.size.width >= PANES_WIDTH and self.size.height >= PANES_HEIGHT
        self.query_one(".panes").display = has_panes
        self.query_one(StreamPanel).display = not has_panes
        rows = max(MIN_TABLE, min(HEAD_LINES + len(streams), self.size.height // 2))
        self.query_one(Table).styles.height = rows if has_panes else "1fr"
        self.paint_soon(self.list_events(snapshot, render_time), snapshot, render_time)
        self.ctx.monitor.watch(self.MODE, *self.keys(snapshot))

    def paint_selected(self, state: EventState | None, snapshot: Snapshot, render_time: RenderTime) -> None:
        recordings = snapshot.cached(recordings_key(state.id) if state else None)

        def draw_signal(cells: int, rows: int) -> Sequence[ShadedLine]:
            if state is None:
                return [_NOTHING]
            return signal_lines(state, render_time, cells, rows, has_grid=self.has_chart_grid, chart=self._chart)

        def draw_way(cells: int, rows: int) -> Sequence[Line]:
            return way_lines(state, snapshot, render_time, cells, rows) if state else []

        opens = f"{key_of('row.open', self.ctx.actions)} opens QoS" if state else ""
        title = events.name(state) if state else "Stream"
        self.query_one("#signal", FramedPanel).show(title, opens, draw_signal, "row.open")
        self.query_one("#way", FramedPanel).show("Destinations and recordings", "", draw_way)
        self.query_one(StreamPanel).show(
            lambda cells: panel(state, recordings, render_time, cells) if state else [_NOTHING]
        )

    def on_screen_suspend(self) -> None:
        """Stop polling recordings once another screen hides this one. A dialog does not stop the polls."""
        if self.ctx.current_mode != self.MODE:
            self.ctx.monitor.watch(self.MODE)

    def keys(self, snapshot: Snapshot) -> Sequence[ResourceKey]:  # noqa: ARG002  same signature on every screen
        """Return the keys of the resources to poll for this screen: recordings of the selected event."""
        selected = self.ctx.selected_event()
        return (recordings_key(selected.id),) if selected else ()
