"""Screen 1: every event, worst first, and the selected one in full."""

from __future__ import annotations

from collections.abc import Iterable

from textual.widget import Widget

from livedeck.monitor import Snapshot
from livedeck.presentation.event_detail import detail_lines
from livedeck.presentation.events import EVENTS
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import Line, StyleRole
from livedeck.ui.kit.lines import DetailPanel
from livedeck.ui.kit.table import Table
from livedeck.ui.shell.screen import EventList


class EventDetail(DetailPanel):
    """The selected event: what it is, what arrives, where it goes, what is wrong."""


class EventsScreen(EventList):
    """What is on air, what is wrong, since when."""

    NAME = "Events"
    MODE = "events"
    SCHEMA = EVENTS
    EMPTY = "this workspace has no events"
    DETAIL = "qos"

    def body(self) -> Iterable[Widget]:
        yield Table(EVENTS)
        yield EventDetail()

    def paint(self, snapshot: Snapshot, render_time: RenderTime) -> None:
        state = self.list_events(snapshot, render_time)

        def draw(width: int) -> list[Line]:
            if state is None:
                return [[(" no event selected", StyleRole.DIM)]]
            return detail_lines(state, render_time, width)

        self.query_one(EventDetail).show(draw)
