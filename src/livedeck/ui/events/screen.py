"""Screen 1: every event, worst first, and the selected one in full."""

from __future__ import annotations

from collections.abc import Iterable

from textual.widget import Widget

from livedeck.monitor import EventState, Snapshot
from livedeck.presentation.event_detail import detail_lines
from livedeck.presentation.events import EVENTS
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import Line, StyleRole
from livedeck.ui.kit.canvas import Canvas
from livedeck.ui.kit.table import Table
from livedeck.ui.shell.screen import EventList


class EventDetail(Canvas):
    """What the selected event is, gets, sends and suffers from."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[EventState, RenderTime] | None = None

    def show(self, state: EventState | None, moment: RenderTime) -> None:
        """Paint this event; None where there is none to select."""
        self._shown = None if state is None else (state, moment)
        self.repaint()

    def draw(self, width: int, height: int) -> list[Line]:  # noqa: ARG002
        if self._shown is None:
            return [[(" no event selected", StyleRole.DIM)]]
        state, moment = self._shown
        return detail_lines(state, moment, width)


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

    def paint(self, snapshot: Snapshot, moment: RenderTime) -> None:
        self.query_one(EventDetail).show(self.list_events(snapshot, moment), moment)
