"""What all parts of the Videos screen share: a head, a table, a panel, and a list that is asked for when it is old."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from textual.widget import Widget

from livedeck.monitor import EventState, Snapshot
from livedeck.ui.actions.keymap import worded
from livedeck.ui.library import PARTS, Library, Listing
from livedeck.ui.renderables import extra_panel
from livedeck.ui.renderables.columns import Sheet
from livedeck.ui.renderables.moment import Moment
from livedeck.ui.screens.base import DeckScreen
from livedeck.ui.widgets.extra_panel import ExtraPanel
from livedeck.ui.widgets.frame import Lines
from livedeck.ui.widgets.table import Table


class VideoScreen(DeckScreen):
    """One part: its table, and the panel of what is selected. `EMPTY`: what is said of an empty list, once `worded`."""

    NAME = "Videos"
    SHEET: ClassVar[Sheet[Any]]
    EMPTY: ClassVar[str] = ""

    def __init__(self) -> None:
        super().__init__()
        self._cursor = ""
        self._asking: tuple[str, str] | None = None

    @property
    def library(self) -> Library:
        """What is known of videos."""
        return self.deck.library

    def body(self) -> Iterable[Widget]:
        yield Lines(id="head")
        yield Table(self.SHEET)
        yield ExtraPanel()

    def rows(self) -> Sequence[Any]:
        """What the table shows, before it is filtered and sorted."""
        return self.library.known(self.MODE).items

    def listed(self, snapshot: Snapshot) -> tuple[str, Sheet[Any], Sequence[Any]]:  # noqa: ARG002  not of the monitor
        return self.MODE, self.SHEET, self.rows()

    def picked(self) -> Any:
        """What the cursor stands on, as it is shown; None where there is nothing."""
        return next((one for one in self.rows() if self.SHEET.key(one) == self._cursor), None)

    def paint(self, snapshot: Snapshot, moment: Moment) -> None:
        moment = replace(moment, stale=moment.stale or self.library.known(self.MODE).stale(moment.now))
        self.library.part = self.MODE if self.MODE in PARTS else self.library.part
        arranged, view = self.arranged(snapshot, moment)
        keys = [self.SHEET.key(one) for one in arranged.rows]
        if self._cursor not in keys:
            self._cursor = next(iter(keys), "")
        self.query_one("#head", Lines).show(self._head(moment))
        empty = "" if arranged.total else self._nothing()
        self.query_one(Table).show(arranged.rows, moment, self._cursor, empty, view)
        self.query_one(ExtraPanel).show(self.picked(), stale=moment.stale)
        self._ask(snapshot)

    def _head(self, moment: Moment) -> list[Any]:
        known, cells = self.library.known(self.MODE), self.size.width
        counts = {part: len(self.library.known(part).items) for part in PARTS if self.library.known(part).at}
        tabs = extra_panel.tabs(self.MODE, counts, known, moment, cells)
        return [self.whose(), tabs, *extra_panel.failure(known, cells)]

    def whose(self) -> Any:
        """Whose extras these are."""
        return extra_panel.title(self.library.video)

    def _nothing(self) -> str:
        known = self.library.known(self.MODE)
        if known.at is None:
            return "the platform gives no answer" if known.why else "waiting for the platform's answer"
        return worded(self.EMPTY, self.deck.keymap)

    def ready(self) -> bool:
        """Whether there is anything to ask for."""
        return self.library.api is not None and self.library.video is not None

    def _ask(self, snapshot: Snapshot) -> None:
        """Have the list asked for where it is old; one question at a time, none while the display is held still."""
        place = self.MODE, self.library.video.id if self.library.video and self.MODE != "videos" else ""
        if self.deck.arrangement.frozen or not self.ready() or self._asking == place:
            return
        if self.library.known(self.MODE).due(self.deck.clock.now()):
            self._asking = place
            self.run_worker(self._asked(place, self.wanted(snapshot)), group="list", exclusive=True)

    def wanted(self, snapshot: Snapshot) -> Sequence[EventState]:  # noqa: ARG002  for the one that asks for events
        """The events that are asked for recordings."""
        return ()

    async def _asked(self, place: tuple[str, str], events: Sequence[EventState]) -> None:
        try:
            before, after = await self.library.ask(self.MODE, events)
        finally:
            if self._asking == place:  # this one ends, too, when another question takes its place
                self._asking = None
        self.compared(before, after)
        self.refresh_all()

    def compared(self, before: Listing, after: Listing) -> None:
        """Tell what became otherwise."""

    def back(self) -> None:
        self.deck.switch_mode("videos")

    def on_table_moved(self, message: Table.Moved) -> None:
        self._cursor = message.key
        self.refresh_all()

    def on_table_opened(self, message: Table.Opened) -> None:
        self._cursor = message.key
        self.open()

    def open(self) -> None:
        """See from near what the cursor stands on."""
