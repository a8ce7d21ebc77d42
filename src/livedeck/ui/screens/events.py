"""Screen 1: every event, worst first, and the selected one in full."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.widget import Widget

from livedeck.monitor import Snapshot
from livedeck.ui.renderables.moment import Moment
from livedeck.ui.screens.base import DeckScreen
from livedeck.ui.widgets.event_detail import EventDetail
from livedeck.ui.widgets.event_table import EventTable


class EventsScreen(DeckScreen):
    """What is on air, what is wrong, since when."""

    NAME = "Events"
    KEYS: ClassVar[tuple[tuple[str, str], ...]] = (
        ("q", "quit"),
        ("?", "help"),
        ("enter", "QoS"),
        ("↑↓", "select"),
        ("r", "ask now"),
        ("1 3", "screens"),
    )

    def body(self) -> Iterable[Widget]:
        yield EventTable()
        yield EventDetail()

    def paint(self, snapshot: Snapshot, moment: Moment) -> None:
        if snapshot.events and self.deck.chosen() is None:  # gone from the list: back to the worst one
            self.deck.choose(None)
        chosen = self.deck.chosen()
        unasked = snapshot.link.as_of is None
        empty = "waiting for the platform's first answer" if unasked else "this workspace has no events"
        self.query_one(EventTable).show(snapshot.events, moment, chosen.id if chosen else None, empty)
        self.query_one(EventDetail).show(chosen, moment)

    def on_event_table_moved(self, message: EventTable.Moved) -> None:
        self.deck.choose(message.event_id)

    async def on_event_table_opened(self, message: EventTable.Opened) -> None:
        self.deck.choose(message.event_id)
        await self.deck.switch_mode("qos")
