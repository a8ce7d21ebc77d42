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
from livedeck.ui.screens.base import WAITING, DeckScreen
from livedeck.ui.widgets.event_detail import EventDetail
from livedeck.ui.widgets.table import Table


class EventsScreen(DeckScreen):
    """What is on air, what is wrong, since when."""

    NAME = "Events"
    MODE = "events"
    SHOWS_EVENT = True
    BINDINGS: ClassVar[list[BindingType]] = bindings.here(MODE)

    def body(self) -> Iterable[Widget]:
        yield Table(EVENTS)
        yield EventDetail()

    def paint(self, snapshot: Snapshot, moment: Moment) -> None:
        known, view = self.arranged(snapshot, moment)
        self.deck.settle([state.id for state in known.rows])
        chosen = self.deck.chosen()
        unasked = snapshot.link.as_of is None
        empty = WAITING if unasked else "this workspace has no events"
        cursor = chosen.id if chosen else None
        self.query_one(Table).show(known.rows, moment, cursor, "" if known.total else empty, view)
        self.query_one(EventDetail).show(chosen, moment)

    def on_table_moved(self, message: Table.Moved) -> None:
        self.deck.choose(message.key)

    def on_table_opened(self, message: Table.Opened) -> None:
        self.deck.choose(message.key)
        self.deck.switch_mode("qos")
