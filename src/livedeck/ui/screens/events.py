"""Screen 1: every event, worst first, and the selected one in full."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from livedeck.monitor import Snapshot
from livedeck.ui import bindings
from livedeck.ui.renderables.event_rows import EVENTS
from livedeck.ui.renderables.moment import Moment
from livedeck.ui.screens.listing import EventList
from livedeck.ui.widgets.event_detail import EventDetail
from livedeck.ui.widgets.table import Table


class EventsScreen(EventList):
    """What is on air, what is wrong, since when."""

    NAME = "Events"
    MODE = "events"
    NOTHING = "this workspace has no events"
    BINDINGS: ClassVar[list[BindingType]] = bindings.here(MODE)

    def body(self) -> Iterable[Widget]:
        yield Table(EVENTS)
        yield EventDetail()

    def paint(self, snapshot: Snapshot, moment: Moment) -> None:
        self.query_one(EventDetail).show(self.list_events(snapshot, moment), moment)
