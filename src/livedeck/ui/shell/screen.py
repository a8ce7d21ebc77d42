"""What every screen of the deck shares: the frame, and the way by which snapshots reach it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, cast

from textual.app import ComposeResult
from textual.geometry import Size
from textual.screen import Screen
from textual.widget import Widget

from livedeck.monitor import Alarm, AlarmState, EventState, Snapshot
from livedeck.presentation import filtering
from livedeck.presentation.alarms import FLOOD_LINE, alarm_line
from livedeck.presentation.connection import banner_line
from livedeck.presentation.filtering import FilteredRows, TableView
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import TableSchema
from livedeck.text import values
from livedeck.text.segments import StyleRole, clip, plain
from livedeck.ui.kit.lines import LinesWidget
from livedeck.ui.kit.table import Table
from livedeck.ui.shell import frame, preferences
from livedeck.ui.shell.context import Context
from livedeck.ui.shell.frame import Footer, Header
from livedeck.ui.shell.keymap import key_of

AWAY = frozenset({AlarmState.SHELVED, AlarmState.OUT_OF_SERVICE})


SUBJECT_CELLS = 12

"""What the name of what an alarm is about takes at most."""


def target_alarm(
    snapshot: Snapshot, chosen: EventState | None, *, owed: bool = False, away: bool = False
) -> Alarm | None:
    """The most urgent alarm of the selected event, else of all.

    `owed`: of those that await an acknowledgement; `away`: of those that are shelved or out of service.
    """
    known = [one for one in snapshot.quiet if one.state in AWAY] if away else [*snapshot.alarms]
    known = [one for one in known if one.needs_ack] if owed else known
    own = [one for one in known if chosen and one.event_id == chosen.id]
    return next(iter([*own, *known]), None)


def alarm_label(alarm: Alarm, seen: EventState | None) -> str:
    """Its kind; before that whose it is, unless that is the event which the screen shows as the selected one."""
    if seen and alarm.event_id == seen.id:
        return alarm.kind
    return f"{plain(clip([(values.safe(alarm.subject), StyleRole.DIM)], SUBJECT_CELLS))} {alarm.kind}"


LEAST = Size(60, 20)

"""Columns and rows under which nothing of use can be shown."""


WAITING = "waiting for the platform's first answer"

"""Why a screen is empty that nothing was ever heard for."""


TALL = 30

"""From this many rows on there is room for more than the worst alarm."""


class BaseScreen(Screen[None], inherit_bindings=False):
    """Header, banner, body, alarms, keys. A hidden screen is not painted; it catches up when it is shown.

    `NAME`: the title of its tab. `MODE`: its name for actions and preferences. `SCHEMA`: its table, where it has one
    whose rows come of a snapshot.
    """

    NAME: ClassVar[str] = ""
    MODE: ClassVar[str] = ""
    SCHEMA: ClassVar[TableSchema[Any]]
    SHOWS_EVENT: ClassVar[bool] = False
    """Whether it can be seen on it which event is selected."""

    _found: tuple[tuple[Any, ...], tuple[str, TableView, RenderTime], FilteredRows[Any]] | None = None
    """What was arranged last, how, and what came of it: to sort ten thousand rows takes longer than to paint them."""

    @property
    def ctx(self) -> Context:
        """The app, as screens may use it."""
        return cast("Context", self.app)

    def body(self) -> Iterable[Widget]:
        """The widgets between banner and alarms."""
        return ()

    def paint(self, snapshot: Snapshot, moment: RenderTime) -> None:
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
        yield Header(**self.ctx.identity, current=self.NAME, registry=self.ctx.actions)
        yield LinesWidget(id="banner")
        yield LinesWidget(id="filter")
        yield from self.body()
        yield LinesWidget(id="alarms")
        yield LinesWidget(id="notice")
        yield LinesWidget(id="small")
        yield Footer(self.MODE, self.ctx.actions, read_only=self.ctx.identity["read_only"])

    def on_mount(self) -> None:
        for name in ("banner", "filter", "alarms", "notice", "small"):
            self.query_one(f"#{name}").display = False
        self.ctx.snapshot_signal.subscribe(self, lambda _: self.refresh_all())

    def on_screen_resume(self) -> None:
        self.refresh_all()

    def on_resize(self) -> None:
        self.set_class(self.is_small, "-small")
        self.call_after_refresh(self.refresh_all)

    def refresh_all(self) -> None:
        """Paint everything that differs from what is shown."""
        if not self._in_sight:
            return
        snapshot, moment, shown = self.ctx.snapshot, self.ctx.render_time(), self.ctx.displayed()
        if snapshot is None or moment is None or shown is None:
            return
        self.query_one("#small", LinesWidget).show([frame.small(snapshot, self.size, LEAST)] if self.is_small else [])
        if self.is_small:
            for name in ("banner", "filter", "alarms", "notice"):
                self.query_one(f"#{name}", LinesWidget).show([])
            return
        warning = banner_line(snapshot, moment, self.ctx.fault)
        self.query_one(Header).show(snapshot, moment)
        held = frame.frozen(shown[1], moment) if self.ctx.preferences.frozen else []
        self.query_one("#banner", LinesWidget).show([each for each in (warning, held) if each])
        self.paint(*shown)  # which may select another event: what stands below it speaks of that one
        self._paint_alarms(snapshot, moment)
        self.query_one("#notice", LinesWidget).show(preferences.line(self.ctx.preferences.notices, moment))
        self.query_one(Footer).show(self._called(self.alarm_meant(snapshot, owed=True)))

    def listed(self, snapshot: Snapshot) -> tuple[str, TableSchema[Any], Sequence[Any]]:
        """The table that is shown: the name of its view, its columns, all its rows."""
        return self.MODE, self.SCHEMA, self.SCHEMA.rows(snapshot)

    def arranged(self, snapshot: Snapshot, moment: RenderTime) -> tuple[FilteredRows[Any], TableView]:
        """The rows of this screen's table as the operator has them, said above it where a filter hides some."""
        name, sheet, listed = self.listed(snapshot)
        view, rows = self.ctx.preferences.view(name), tuple(listed)
        asked = name, view, moment
        if self._found is None or self._found[0] is not rows or self._found[1] != asked:
            self._found = rows, asked, filtering.apply_view(sheet, rows, view, moment)
        known = self._found[2]
        clear = key_of("view.clear", self.ctx.actions)
        self.query_one("#filter", LinesWidget).show(filtering.filter_line(view, known, clear))
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
        return target_alarm(snapshot, self.ctx.selected_event(), owed=owed, away=away)

    def _called(self, alarm: Alarm | None) -> str:
        return alarm_label(alarm, self.ctx.selected_event() if self.SHOWS_EVENT else None) if alarm else ""

    def blink(self) -> None:
        """Paint what blinks."""
        snapshot, moment = self.ctx.snapshot, self.ctx.render_time()
        if self._in_sight and not self.is_small and snapshot is not None and moment is not None:
            self._paint_alarms(snapshot, moment)

    def _paint_alarms(self, snapshot: Snapshot, moment: RenderTime) -> None:
        room = 3 if self.size.height >= TALL else 1
        told = [alarm_line(one, moment) for one in snapshot.alarms if self.tells(one)][:room]
        flood = [FLOOD_LINE] if snapshot.flood else []
        self.query_one("#alarms", LinesWidget).show([*flood, *told])


class EventList(BaseScreen):
    """A table of events."""

    SHOWS_EVENT = True
    NOTHING: ClassVar[str] = ""
    """Why the table is empty, though the platform answered."""

    def list_events(self, snapshot: Snapshot, moment: RenderTime) -> EventState | None:
        """Show the table. Returns the selected event."""
        known, view = self.arranged(snapshot, moment)
        self.ctx.reconcile_selection(known.rows)
        chosen = self.ctx.selected_event()
        empty = WAITING if snapshot.link.as_of is None else self.NOTHING
        cursor = chosen.id if chosen else None
        self.query_one(Table).show(known.rows, moment, cursor, "" if known.total else empty, view)
        return chosen

    def on_table_moved(self, message: Table.Moved) -> None:
        self.ctx.select_event(message.key)

    def on_table_opened(self, message: Table.Opened) -> None:
        self.ctx.select_event(message.key)
        self.ctx.go_to("qos")
