"""Base classes of all screens, with the frame around a screen and the path of snapshots to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import chain, islice
from typing import Any, ClassVar, NamedTuple, cast

from textual.app import ComposeResult
from textual.geometry import Size
from textual.widget import Widget

from livedeck.monitor import Alarm, AlarmState, EventState, Silence, Snapshot, is_acknowledged, take_back_until
from livedeck.presentation.alarms import FLOOD_LINE, alarm_line
from livedeck.presentation.connection import banner_line, missing_line, missing_text
from livedeck.presentation.filtering import FilteredRows, TableView, apply_view, filter_line, sort_line
from livedeck.presentation.open_changes import open_changes_line
from livedeck.presentation.remembered import Remembered
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import SELECT, Column, TableSchema
from livedeck.text.segments import Line, ShadedLine, StyleRole, clip, linked, plain
from livedeck.text.values import safe
from livedeck.ui.kit import themes
from livedeck.ui.kit.layers import LayeredScreen
from livedeck.ui.kit.lines import LinesWidget
from livedeck.ui.kit.selection import Absence
from livedeck.ui.kit.table import Table
from livedeck.ui.shell.context import Context, needs_collector, own_actor
from livedeck.ui.shell.frame import Footer, Header, attachment_hint, frozen_line, past_line, too_small_line
from livedeck.ui.shell.keymap import key_of, with_keys
from livedeck.ui.shell.preferences import notice_lines

MIN_SIZE = Size(60, 20)
"""Minimum columns and rows of a terminal that shows a whole screen."""

TALL = 30
"""Minimum rows of a screen with lines for several alarms below the body."""

ALONE = "collector.alone"
"""Name of the action that a banner about the collector offers."""

TAKE_BACK = "alarm.undo"
"""Name of the action that takes an acknowledgement back."""

ONE_PRESS = timedelta(seconds=10)
"""Maximum time between acknowledgements of one key press. A collector may take a second for each alarm."""


def waiting_text(snapshot: Snapshot) -> str:
    """Return the reason for an empty table before the first reply from the platform or the collector."""
    attachment = snapshot.attachment
    is_of_collector = attachment is not None and attachment.heard_at is None and not attachment.is_alone
    return f"Waiting for the first reply from the {'collector' if is_of_collector else 'platform'}."


AlarmFilter = Callable[[Alarm], bool]
"""Function that returns whether a key acts on an alarm."""

AWAY = frozenset({AlarmState.SHELVED, AlarmState.OUT_OF_SERVICE})


def is_active(alarm: Alarm) -> bool:
    """Return whether an operator must look at the alarm now."""
    return alarm.active


def is_waiting(alarm: Alarm) -> bool:
    """Return whether the alarm awaits an acknowledgement. A silenced alarm does not."""
    return alarm.active and alarm.needs_ack and not alarm.silenced


def is_away(alarm: Alarm) -> bool:
    """Return whether the alarm is shelved or out of service."""
    return alarm.state in AWAY


def last_given(alarms: Iterable[Alarm]) -> tuple[Alarm, ...]:
    """Return the alarms that the last press of the acknowledge key acknowledged, latest first."""
    dated = [(alarm.answered_at, alarm) for alarm in alarms if alarm.answered_at]
    last = max((at for at, _ in dated), default=None)
    given = [(at, alarm) for at, alarm in dated if last and last - at <= ONE_PRESS]
    return tuple(alarm for _, alarm in sorted(given, key=lambda dated: dated[0], reverse=True))


def alarms_by_event(snapshot: Snapshot) -> Mapping[str, Sequence[Alarm]]:
    """Return event id -> alarms of the event and of incidents that affect it, most urgent first."""
    by_event: dict[str, list[Alarm]] = {}
    for alarm in chain(snapshot.alarms, snapshot.quiet):
        for event_id in {alarm.event_id, *alarm.affects}:
            by_event.setdefault(event_id, []).append(alarm)
    return by_event


NO_EVENT = {
    Absence.GONE: " This event is no longer in the platform's list: press {key} to see the others",
    Absence.FILTERED: " A filter has hidden this event: press {key} to choose one",
    Absence.UNLISTED: " Streams lists no event without a stream: press {key} to choose one",
}


def no_event_line(ctx: Context, action: str) -> Line:
    """Return why the screen has no selected event, with the key of `action`, which lists the events."""
    text = NO_EVENT[ctx.event_absence()]
    return [(with_keys(text.replace("{key}", f"{{{action}}}"), ctx.actions), StyleRole.WARNING)]


class Listing(NamedTuple):
    """Table before filter and sorting. `name`: name of the table in the operator's preferences."""

    name: str
    schema: TableSchema[Any]
    rows: Sequence[Any]


class BaseScreen(LayeredScreen[None], inherit_bindings=False):
    """Screen with header, banner, body, alarms and keys.

    A hidden screen is not painted until it is shown again.

    `NAME`: title of the screen's tab. `MODE`: the screen's name for actions and preferences. `SCHEMA`: schema of its
    table, if the rows come from a snapshot. `SHOWS_EVENT`: True if the screen shows which event is selected.
    """

    NAME: ClassVar[str] = ""
    MODE: ClassVar[str] = ""
    SCHEMA: ClassVar[TableSchema[Any]]
    SHOWS_EVENT: ClassVar[bool] = False

    _pinned_event: str | None = None
    """Event of the last alarm action on this screen: its id, or empty for the deck itself. None before an action."""

    _filtered: tuple[tuple[Any, ...], tuple[str, TableView, RenderTime], FilteredRows[Any]] | None = None
    """Cache of filtered rows: input, key, result. Sorting 10,000 rows takes longer than painting them."""

    def __init__(self) -> None:
        super().__init__()
        self._alarms_by_event: Remembered[Mapping[str, Sequence[Alarm]]] = Remembered()

    @property
    def ctx(self) -> Context:
        """Part of the deck that screens may use."""
        return cast("Context", self.app)

    @property
    def has_chart_grid(self) -> bool:
        """True if charts have a grid. Without colours or in ASCII, a grid looks like a curve."""
        return self.ctx.has_fine_lines and not themes.PALETTES[self.ctx.theme].plain

    def body(self) -> Iterable[Widget]:
        """Return the widgets between banner and alarms."""
        return ()

    def paint(self, snapshot: Snapshot, render_time: RenderTime) -> None:
        """Show the snapshot in the body."""

    def forget(self) -> None:
        """Drop data of the previous time, because the deck shows a different time now."""
        self._filtered = None

    def back(self) -> None:
        """Return to the previous pane or screen, if there is one."""

    def shows_alarm(self, alarm: Alarm) -> bool:  # noqa: ARG002
        """Return whether the alarm needs a line below the body. False if the body shows the alarm."""
        return True

    def table(self) -> Table[Any]:
        """Return the table whose cursor the keys move."""
        return next(table for table in self.query(Table) if table.display)

    def on_table_moved(self, message: Table.Moved) -> None:
        """Select the row of a table. A screen without a selection does nothing."""

    def listing(self, snapshot: Snapshot) -> Listing:
        """Return the shown table with all its rows."""
        return Listing(self.MODE, self.SCHEMA, self.SCHEMA.rows(snapshot))

    def target_alarms(self, snapshot: Snapshot, wants: AlarmFilter = is_active) -> tuple[Alarm, ...]:
        """Return the alarms that a key acts on and `wants` accepts, most urgent first.

        A screen that shows the selected event returns all its alarms, with incidents that affect it. Any other screen
        returns one alarm: the most urgent of the selected event, or of all events if the selected one has none. After
        an action it stays with the event of that action.
        """
        by_event = self._alarms_by_event.get((snapshot,), None, lambda: alarms_by_event(snapshot))
        if not self.SHOWS_EVENT and self._pinned_event is not None:
            return tuple(islice(filter(wants, by_event.get(self._pinned_event, ())), 1))
        event = self.ctx.selected_event()
        own = filter(wants, by_event.get(event.id, ())) if event else iter(())
        if self.SHOWS_EVENT:
            return tuple(own)
        return tuple(islice(chain(own, filter(wants, chain(snapshot.alarms, snapshot.quiet))), 1))

    def to_take_back(self, snapshot: Snapshot) -> tuple[tuple[Alarm, ...], datetime | None]:
        """Return the alarms whose acknowledgement a key can take back now, latest first, and the end of that time.

        Returns `((), None)` if the person at this deck has acknowledged no alarm in the last minutes, or if an alarm
        was hidden later, because the key then brings back the hidden alarm.
        """
        acknowledged = self.target_alarms(snapshot, is_acknowledged)
        actor, now = own_actor(self.ctx), self.ctx.clock.now()
        ends = {alarm.key: take_back_until(alarm, actor) for alarm in acknowledged}
        own = last_given(alarm for alarm in acknowledged if (end := ends[alarm.key]) and end >= now)
        away = next(iter(self.target_alarms(snapshot, is_away)), None) if own else None
        if not own or (away and is_away(away) and own[0].answered_at and own[0].answered_at <= away.changed):
            return (), None
        return own, min(end for alarm in own if (end := ends[alarm.key]))

    def pin(self, alarm: Alarm | None) -> None:
        """Make the next keys act on the event of the last action.

        `alarm`: first alarm of the last action, or None.
        """
        event = self.ctx.selected_event() if self.SHOWS_EVENT else None
        if event:
            self.ctx.select_event(event.id)
        elif alarm and not self.SHOWS_EVENT:
            self._pinned_event = alarm.event_id

    def on_screen_suspend(self) -> None:
        """Release the pinned event once another screen hides this one. A dialog does not release it."""
        if self.ctx.current_mode != self.MODE:
            self._pinned_event = None

    def compose(self) -> ComposeResult:
        yield Header(self.ctx.identity, self.ctx.actions, self.NAME)
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
        self.set_class(self._is_too_small, "-small")
        self.call_after_refresh(self.refresh_all)

    def refresh_all(self) -> None:
        """Paint all parts that have changed since the last paint."""
        snapshot, render_time, displayed = self.ctx.snapshot, self.ctx.render_time(), self.ctx.displayed()
        if not self._is_in_front or snapshot is None or render_time is None or displayed is None:
            return
        if self._is_too_small:
            self._show_lines("small", [too_small_line(snapshot, render_time, self.size, MIN_SIZE)])
            for name in ("banner", "filter", "alarms", "notice"):
                self._show_lines(name, [])
            return
        self._show_lines("small", [])
        self.query_one(Header).show(snapshot, render_time)
        hint = attachment_hint(snapshot, self.ctx.monitor, key_of(ALONE, self.ctx.actions))
        warning = banner_line(snapshot, render_time, self.ctx.fault, hint)
        frozen = frozen_line(displayed.render_time, render_time) if self.ctx.preferences.frozen else []
        key = key_of("change.close", self.ctx.actions)
        unresolved = open_changes_line(self.ctx.open_changes.items, key, self.size.width)
        banner = (
            past_line(self.ctx.past, self.ctx.identity["recording"], self.size.width),
            linked(warning, ALONE) if hint else warning,
            linked(unresolved, "change.close"),
            missing_line(snapshot),
            linked(frozen, "view.freeze"),
        )
        self._show_lines("banner", [line for line in banner if line])
        self.paint(*displayed)  # first, because it may select another event, on which the lines below depend
        self.paint_alarms(snapshot, render_time)
        self._show_lines("notice", notice_lines(self.ctx.preferences.notices, self.ctx.machine_time(), self.size.width))
        self.ctx.note_sight()
        targets = self.target_alarms(snapshot, is_waiting)
        refusal = needs_collector(self.ctx, *(alarm.key for alarm in targets or self.target_alarms(snapshot)))
        self._show_keys(snapshot, targets, can_act=not refusal)

    def _show_keys(self, snapshot: Snapshot, targets: Sequence[Alarm], *, can_act: bool) -> None:
        """Show the keys of the screen.

        The key to acknowledge names its alarm. The key to take back names the time until which it works.
        """
        registry = self.ctx.actions
        actions = registry.past_footer(self.ctx) if self.ctx.past else registry.footer(self.MODE)
        label = self.alarm_label(targets)
        labels = {action.name: f"{action.alarm_label} {label}" for action in actions if action.alarm_label and label}
        is_possible = can_act and not self.ctx.past and not self.silence_at_cursor()
        own, until = self.to_take_back(snapshot) if is_possible else ((), None)
        if until:
            undo = registry.by_name[TAKE_BACK]
            actions = actions if undo in actions else (*actions, undo)
            name = "" if self.SHOWS_EVENT or label else self.alarm_label(own)
            labels[TAKE_BACK] = f"take back {name}{' ' if name else ''}until {until:%H:%M:%S}Z"
        self.query_one(Footer).show(actions, labels if can_act else {}, can_act=can_act)

    def filtered_rows(self, snapshot: Snapshot, render_time: RenderTime) -> tuple[FilteredRows[Any], TableView]:
        """Return the rows that pass the operator's filter, in the operator's order, and the table's view.

        Shows filter and order above the table.
        """
        name, schema, all_rows = self.listing(snapshot)
        view, rows = self.ctx.preferences.view(name), tuple(all_rows)
        key = name, view, render_time
        if self._filtered is None or self._filtered[0] is not rows or self._filtered[1] != key:
            self._filtered = rows, key, apply_view(schema, rows, view, render_time)
        filtered = self._filtered[2]
        sorted_by = sort_line(schema, view, key_of("view.sort", self.ctx.actions))
        self._show_lines("filter", [*filter_line(view, filtered, key_of("view.clear", self.ctx.actions)), *sorted_by])
        return filtered, view

    def blink(self) -> None:
        """Paint the parts that blink."""
        snapshot, render_time = self.ctx.snapshot, self.ctx.render_time()
        if self._is_in_front and not self._is_too_small and snapshot is not None and render_time is not None:
            self.paint_alarms(snapshot, render_time)

    @property
    def _is_in_front(self) -> bool:
        """True if the screen can be painted. False while the deck ends, because its widgets disappear one by one."""
        return self.is_current and self.is_mounted and self.app.is_running

    @property
    def _is_too_small(self) -> bool:
        return self.size.width < MIN_SIZE.width or self.size.height < MIN_SIZE.height

    def _show_lines(self, name: str, lines: Sequence[ShadedLine]) -> None:
        self.query_one(f"#{name}", LinesWidget).show(lines)

    def silence_at_cursor(self) -> Silence | None:
        """Return the silence under the cursor; None on a screen without silences."""
        return None

    def alarm_label(self, alarms: Sequence[Alarm]) -> str:
        """Return the text for alarms in the footer: the kind of the first alarm, and the number of the others.

        The text begins with the subject of the first alarm, unless the subject is the selected event of this screen, or
        a narrow screen shows this alarm in the line above. Empty without alarms. A screen on which the cursor shows the
        alarm returns an empty text, too.
        """
        if not alarms:
            return ""
        alarm, event = alarms[0], self.ctx.selected_event() if self.SHOWS_EVENT else None
        below = filter(self.shows_alarm, self.ctx.snapshot.alarms if self.ctx.snapshot else ())
        is_named = self.size.width < NAMES_FROM and next(below, None) == alarm
        more = f" +{len(alarms) - 1}" if len(alarms) > 1 else ""
        if is_named or (event and alarm.event_id == event.id):
            return f"{alarm.kind}{more}"
        return f"{plain(clip([(safe(alarm.subject), StyleRole.DIM)], SUBJECT_CELLS))} {alarm.kind}{more}"

    def max_alarm_lines(self) -> int:
        """Return the maximum number of alarms with a line below the body."""
        return 3 if self.size.height >= TALL else 1

    def paint_alarms(self, snapshot: Snapshot, render_time: RenderTime) -> None:
        """Show the current alarms, even while the body is frozen."""
        shown = islice(filter(self.shows_alarm, snapshot.alarms), self.max_alarm_lines())
        lines = [self.linked_alarm(alarm, alarm_line(alarm, render_time, self.size.width)) for alarm in shown]
        self._show_lines("alarms", [*([linked(FLOOD_LINE, "screen.alarms")] if snapshot.flood else []), *lines])

    def linked_alarm(self, alarm: Alarm, line: Line) -> ShadedLine:  # noqa: ARG002  lists of events use it
        """Return the alarm's line as a link to the board of alarms."""
        return linked(line, "screen.alarms")


NAMES_FROM = 100
"""Minimum width, in cells, of a footer that repeats the subject of the alarm in the line above it."""

SUBJECT_CELLS = 12
"""Maximum width, in cells, of an alarm's subject in the footer."""

CATCH_UP_SECONDS = 0.02
"""Seconds until the details are painted after a burst of keys that left them unpainted."""


class EventList(BaseScreen):
    """Table of events, and details of the selected event, which a subclass paints in `paint_selected`.

    `EMPTY`: text for a table without rows. `DETAIL`: mode of the screen that opens for a row.
    """

    SHOWS_EVENT = True
    EMPTY: ClassVar[str] = ""
    DETAIL: ClassVar[str] = ""

    def __init__(self) -> None:
        super().__init__()
        self._owes_details = False

    def list_events(self, snapshot: Snapshot, render_time: RenderTime) -> EventState | None:
        """Show the table and return the selected event."""
        events, view = self.filtered_rows(snapshot, render_time)
        self.ctx.reconcile_selection(events.rows, self.listing(snapshot).rows, events.first)
        selected = self.ctx.selected_event()
        reason = waiting_text(snapshot) if snapshot.link.as_of is None else with_keys(self.EMPTY, self.ctx.actions)
        reason = reason if snapshot.is_whole else missing_text(snapshot)
        cursor = selected.id if selected else None
        empty = "" if events.total else reason
        columns = self.columns(snapshot)
        table = self.query_one(Table)
        table.show(events.rows, render_time, cursor, empty, view, sections=events.sections, columns=columns)
        return selected

    def columns(self, snapshot: Snapshot) -> tuple[Column[EventState], ...]:  # noqa: ARG002
        """Return the columns of the table. An empty tuple stands for the columns of the table's schema."""
        return ()

    def paint_selected(self, state: EventState | None, snapshot: Snapshot, render_time: RenderTime) -> None:
        """Show the details of the selected event."""

    def paint_soon(self, state: EventState | None, snapshot: Snapshot, render_time: RenderTime) -> None:
        """Show the details of the selected event; in a burst of keys, only after the last key."""
        if self.ctx.has_keys_waiting():  # the next key selects another event before anybody sees this one
            self._owe_details()
        else:
            self._owes_details = False
            self.paint_selected(state, snapshot, render_time)

    def _owe_details(self) -> None:
        """Paint the selected event soon, once no key waits any more."""
        if not self._owes_details:
            self._owes_details = True
            self.set_timer(CATCH_UP_SECONDS, self._catch_up)

    def _catch_up(self) -> None:
        owes, self._owes_details = self._owes_details, False
        if owes and self.ctx.has_keys_under_way():
            self._owe_details()
        elif owes:
            self.refresh_all()

    def linked_alarm(self, alarm: Alarm, line: Line) -> ShadedLine:
        """Return the alarm's line as a link that selects the alarm's event."""
        return linked(line, SELECT, alarm.event_id) if alarm.event_id else super().linked_alarm(alarm, line)

    def on_table_moved(self, message: Table.Moved) -> None:
        self.ctx.select_event(message.key)

    def on_table_opened(self, message: Table.Opened) -> None:
        self.ctx.select_event(message.key)
        self.ctx.go_to(self.DETAIL)
