"""What every screen of the deck shares: the frame, and the road by which snapshots reach it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual.app import ComposeResult
from textual.geometry import Size
from textual.screen import Screen
from textual.widget import Widget

from livedeck.monitor import Alarm, Snapshot
from livedeck.ui import arranging, notices
from livedeck.ui.actions.keymap import key_of
from livedeck.ui.arranging import Arranged, View
from livedeck.ui.pointing import called, meant
from livedeck.ui.renderables import frame
from livedeck.ui.renderables.columns import Sheet
from livedeck.ui.renderables.moment import Moment
from livedeck.ui.sheets import SHEETS
from livedeck.ui.widgets.frame import Footer, Header, Lines
from livedeck.ui.widgets.table import Table

if TYPE_CHECKING:
    from livedeck.ui.app import Deck

LEAST = Size(60, 20)
"""Columns and rows under which nothing of use can be shown."""

WAITING = "waiting for the platform's first answer"
"""Why a screen is empty that nothing was ever heard for."""

TALL = 30
"""From this many rows on there is room for more than the worst alarm."""


class DeckScreen(Screen[None]):
    """Header, banner, body, alarms, keys. A hidden screen is not painted; it catches up when it is shown."""

    NAME: ClassVar[str] = ""
    MODE: ClassVar[str] = ""
    SHOWS_EVENT: ClassVar[bool] = False
    """Whether it can be seen on it which event is selected."""

    _found: tuple[tuple[Any, ...], tuple[str, View, Moment], Arranged[Any]] | None = None
    """What was arranged last, how, and what came of it: to sort ten thousand rows takes longer than to paint them."""

    @property
    def deck(self) -> Deck:
        """The app, by its own type."""
        return cast("Deck", self.app)

    def body(self) -> Iterable[Widget]:
        """The widgets between banner and alarms."""
        return ()

    def paint(self, snapshot: Snapshot, moment: Moment) -> None:
        """Show the body for this snapshot and moment."""

    def back(self) -> None:
        """To where one came from, on a screen or in a pane that lies within another."""

    def tells(self, alarm: Alarm) -> bool:  # noqa: ARG002
        """Whether the alarm is worth a line here; not where the body says the same."""
        return True

    def table(self) -> Table[Any]:
        """The table that the keys move in."""
        return next(table for table in self.query(Table) if table.display)

    def compose(self) -> ComposeResult:
        yield Header(**self.deck.identity, current=self.NAME, keymap=self.deck.keymap)
        yield Lines(id="banner")
        yield Lines(id="filter")
        yield from self.body()
        yield Lines(id="alarms")
        yield Lines(id="notice")
        yield Lines(id="small")
        yield Footer(self.MODE, self.deck.keymap, read_only=self.deck.read_only)

    def on_mount(self) -> None:
        for name in ("banner", "filter", "alarms", "notice", "small"):
            self.query_one(f"#{name}").display = False
        self.deck.news.subscribe(self, lambda _: self.refresh_all())

    def on_screen_resume(self) -> None:
        self.refresh_all()

    def on_resize(self) -> None:
        self.set_class(self.is_small, "-small")
        self.call_after_refresh(self.refresh_all)

    def refresh_all(self) -> None:
        """Paint everything that differs from what is shown."""
        if not self._in_sight:
            return
        snapshot, moment, shown = self.deck.snapshot, self.deck.moment(), self.deck.shown()
        if snapshot is None or moment is None or shown is None:
            return
        self.query_one("#small", Lines).show([frame.small(snapshot, self.size, LEAST)] if self.is_small else [])
        if self.is_small:
            for name in ("banner", "filter", "alarms", "notice"):
                self.query_one(f"#{name}", Lines).show([])
            return
        warning = frame.banner(snapshot, moment, self.deck.fault)
        self.query_one(Header).show(snapshot, moment)
        held = frame.frozen(shown[1], moment) if self.deck.arrangement.frozen else []
        self.query_one("#banner", Lines).show([each for each in (warning, held) if each])
        self.paint(*shown)  # which may select another event: what stands below it speaks of that one
        self._paint_alarms(snapshot, moment)
        self.query_one("#notice", Lines).show(notices.line(self.deck.arrangement.notices, moment))
        self.query_one(Footer).show(self._called(self.alarm_meant(snapshot, owed=True)))

    def listed(self, snapshot: Snapshot) -> tuple[str, Sheet[Any], Sequence[Any]]:
        """The table that is shown: the name of its view, its columns, all its rows."""
        sheet = SHEETS[self.MODE]
        return self.MODE, sheet, sheet.rows(snapshot)

    def arranged(self, snapshot: Snapshot, moment: Moment) -> tuple[Arranged[Any], View]:
        """The rows of this screen's table as the operator has them, said above it where a filter hides some."""
        name, sheet, listed = self.listed(snapshot)
        view, rows = self.deck.arrangement.view(name), tuple(listed)
        asked = name, view, moment
        if self._found is None or self._found[0] is not rows or self._found[1] != asked:
            self._found = rows, asked, arranging.arranged(sheet, rows, view, moment)
        known = self._found[2]
        clear = key_of("view.clear", self.deck.keymap)
        self.query_one("#filter", Lines).show(arranging.line(view, known, clear))
        return known, view

    @property
    def _in_sight(self) -> bool:
        """Whether it is in front; no longer while the deck leaves, when its widgets go one by one."""
        return self.is_current and self.is_mounted and self.app.is_running

    @property
    def is_small(self) -> bool:
        """Whether the terminal is too small for anything but one line that says so."""
        return self.size.width < LEAST.width or self.size.height < LEAST.height

    def alarm(self) -> Alarm | None:
        """The alarm under the cursor, where the screen has one."""
        return None

    def alarm_meant(self, snapshot: Snapshot, *, owed: bool = False, away: bool = False) -> Alarm | None:
        """The alarm that is meant where no cursor shows it (`pointing.meant`); None where a cursor would."""
        return meant(snapshot, self.deck.chosen(), owed=owed, away=away)

    def _called(self, alarm: Alarm | None) -> str:
        return called(alarm, self.deck.chosen() if self.SHOWS_EVENT else None) if alarm else ""

    def blink(self) -> None:
        """Paint what blinks."""
        snapshot, moment = self.deck.snapshot, self.deck.moment()
        if self._in_sight and not self.is_small and snapshot is not None and moment is not None:
            self._paint_alarms(snapshot, moment)

    def _paint_alarms(self, snapshot: Snapshot, moment: Moment) -> None:
        room = 3 if self.size.height >= TALL else 1
        told = [frame.alarm(one, moment) for one in snapshot.alarms if self.tells(one)][:room]
        flood = [frame.FLOOD] if snapshot.flood else []
        self.query_one("#alarms", Lines).show([*flood, *told])
