"""What every screen of the deck shares: the frame, and the road by which snapshots reach it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.screen import Screen
from textual.widget import Widget

from livedeck.monitor import Alarm, Snapshot
from livedeck.ui.renderables import frame
from livedeck.ui.renderables.moment import Moment
from livedeck.ui.widgets.frame import Footer, Header, Lines

if TYPE_CHECKING:
    from livedeck.ui.app import Deck

TALL = 30
"""From this many rows on there is room for more than the worst alarm."""


class DeckScreen(Screen[None]):
    """Header, banner, body, alarms, keys. A hidden screen is not painted; it catches up when it is shown."""

    NAME: ClassVar[str] = ""
    KEYS: ClassVar[tuple[tuple[str, str], ...]] = ()

    @property
    def deck(self) -> Deck:
        """The app, by its own type."""
        return cast("Deck", self.app)

    def body(self) -> Iterable[Widget]:
        """The widgets between banner and alarms."""
        return ()

    def paint(self, snapshot: Snapshot, moment: Moment) -> None:
        """Show the body for this snapshot and moment."""

    def tells(self, alarm: Alarm) -> bool:  # noqa: ARG002
        """Whether the alarm is worth a line here; not where the body says the same."""
        return True

    def compose(self) -> ComposeResult:
        yield Header(**self.deck.identity, current=self.NAME)
        yield Lines(id="banner")
        yield from self.body()
        yield Lines(id="alarms")
        yield Footer(self.KEYS)

    def on_mount(self) -> None:
        self.query_one("#banner").display = False
        self.query_one("#alarms").display = False
        self.deck.news.subscribe(self, lambda _: self.refresh_all())

    def on_screen_resume(self) -> None:
        self.refresh_all()

    def on_resize(self) -> None:
        self.call_after_refresh(self.refresh_all)

    def refresh_all(self) -> None:
        """Paint everything that differs from what is shown."""
        if not self.is_current or not self.is_mounted:
            return
        snapshot, moment = self.deck.snapshot, self.deck.moment()
        if snapshot is None or moment is None:
            return
        warning = frame.banner(snapshot, moment, self.deck.fault)
        self.query_one(Header).show(snapshot, moment)
        self.query_one("#banner", Lines).show([warning] if warning else [])
        room = 3 if self.size.height >= TALL else 1
        alarms = [one for one in snapshot.alarms if self.tells(one)][:room]
        self.query_one("#alarms", Lines).show([frame.alarm(one, moment) for one in alarms])
        self.query_one(Footer).repaint()
        self.paint(snapshot, moment)
