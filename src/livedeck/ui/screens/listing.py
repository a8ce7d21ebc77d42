"""What the screens share that list events: one of them is selected, for every screen of the deck."""

from __future__ import annotations

from typing import ClassVar

from livedeck.monitor import EventState, Snapshot
from livedeck.ui.renderables.moment import Moment
from livedeck.ui.screens.base import WAITING, DeckScreen
from livedeck.ui.widgets.table import Table


class EventList(DeckScreen):
    """A table of events."""

    SHOWS_EVENT = True
    NOTHING: ClassVar[str] = ""
    """Why the table is empty, though the platform answered."""

    def list_events(self, snapshot: Snapshot, moment: Moment) -> EventState | None:
        """Show the table. Returns the selected event."""
        known, view = self.arranged(snapshot, moment)
        self.deck.settle(known.rows)
        chosen = self.deck.chosen()
        empty = WAITING if snapshot.link.as_of is None else self.NOTHING
        cursor = chosen.id if chosen else None
        self.query_one(Table).show(known.rows, moment, cursor, "" if known.total else empty, view)
        return chosen

    def on_table_moved(self, message: Table.Moved) -> None:
        self.deck.choose(message.key)

    def on_table_opened(self, message: Table.Opened) -> None:
        self.deck.choose(message.key)
        self.deck.switch_mode("qos")
