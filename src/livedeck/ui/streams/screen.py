"""Screen 2: the current stream of every event, where it goes, and what was recorded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.widget import Widget

from livedeck.client import Recording
from livedeck.monitor import CachedList, EventState, ResourceKey, Snapshot, recordings_key
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.streams import STREAMS
from livedeck.text.segments import Line, StyleRole
from livedeck.ui.kit.canvas import Canvas
from livedeck.ui.kit.table import Table
from livedeck.ui.shell.screen import EventList
from livedeck.ui.streams.view import panel


class StreamPanel(Canvas):
    """Where the stream goes, and what was recorded."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[EventState, CachedList[Recording], RenderTime] | None = None

    def show(self, state: EventState | None, recordings: CachedList[Recording], moment: RenderTime) -> None:
        """Paint this one; None where there is none to select."""
        self._shown = None if state is None else (state, recordings, moment)
        self.repaint()

    def draw(self, width: int, height: int) -> list[Line]:  # noqa: ARG002
        if self._shown is None:
            return [[(" no stream selected", StyleRole.DIM)]]
        state, recordings, moment = self._shown
        return panel(state, recordings, moment, width)


class StreamsScreen(EventList):
    """What arrives, since when, and whereto."""

    NAME = "Streams"
    MODE = "streams"
    SCHEMA = STREAMS
    EMPTY = "no event of this workspace has a stream"
    DETAIL = "qos"

    def body(self) -> Iterable[Widget]:
        yield Table(STREAMS)
        yield StreamPanel()

    def paint(self, snapshot: Snapshot, moment: RenderTime) -> None:
        selected = self.list_events(snapshot, moment)
        recordings = snapshot.cached(recordings_key(selected.id) if selected else None)
        self.query_one(StreamPanel).show(selected, recordings, moment)
        self.ctx.monitor.watch(self.MODE, *self.keys(snapshot))

    def on_screen_suspend(self) -> None:
        """Hidden, it wants no recordings; under a dialog it goes on."""
        if self.ctx.current_mode != self.MODE:
            self.ctx.monitor.watch(self.MODE)

    def keys(self, snapshot: Snapshot) -> Sequence[ResourceKey]:  # noqa: ARG002  as of every screen
        """The lists that this screen shows."""
        selected = self.ctx.selected_event()
        return (recordings_key(selected.id),) if selected else ()
