"""Screen 7: the board of alarms, and the logs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from statistics import median

from textual.app import ComposeResult

from livedeck.monitor import (
    FIGURES_SINCE,
    UNIT_UNKNOWN,
    Alarm,
    AlarmKey,
    LinkRecord,
    NotReadError,
    Silence,
    Snapshot,
    read_figures,
)
from livedeck.presentation.alarms import ALARMS, NOT_MEASURED, alarm_key, all_alarms, section_heads
from livedeck.presentation.badges import SILENCE_GLYPH
from livedeck.presentation.connection import is_seen, missing_text, way_lines
from livedeck.presentation.events import name as event_name
from livedeck.presentation.incidents import INCIDENTS, Incident, incident_lines, incident_title, incidents
from livedeck.presentation.remembered import Remembered
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.silences import named, silence_lines, what_text
from livedeck.text.segments import Groups, Line, Link, Role, ShadedLine, StyleRole, justify, wrap
from livedeck.text.values import compact_duration, safe
from livedeck.ui.alarms.hour import clear_text, hour_lines
from livedeck.ui.alarms.view import (
    FIGURES,
    LOG,
    MIN_CHART_LINES,
    SILENCES,
    TABS,
    FigureRow,
    LoggedAction,
    LogRecord,
    advice_lines,
    newest_first,
    panel_lines,
    panel_state,
    panel_title,
    silent_together,
)
from livedeck.ui.kit.lines import FramedPanel, LinesWidget
from livedeck.ui.kit.selection import RowSelection, find_row
from livedeck.ui.kit.table import Table
from livedeck.ui.shell.keymap import key_of
from livedeck.ui.shell.screen import AlarmFilter, BaseScreen, Listing, is_active, waiting_text

MIN_PANEL_LINES = 8
"""Minimum height in lines of the selected alarm's panel, frame included. The panel gets lines that the table leaves."""

_BEFORE = timedelta(hours=12)
"""Time before the log that is also searched for the starts of changes, because only the start names the author."""

NOT_SEEN = "No alarms at the platform's last reply"

HOUR_FROM = 34
"""Minimum height in lines of a screen that shows the last hour."""

FRAME_LINES = 4
"""Number of lines that header, table head and footer take together."""

MIN_ROWS = 3
"""Minimum number of rows in the table, head excluded."""

OTHER_LINES = frozenset({"tabs", "hour", "ways", "banner", "filter", "alarms", "notice"})
"""Ids of the widgets whose lines are not available to a table and its panel."""

FIGURES_EACH = 30
"""Number of snapshots between two reads of the key figures. They cover days, so they change slowly."""

LOG_HOURS, MAX_LOG_ROWS = 24, 1000
"""Number of past hours in a log, and maximum number of its rows."""

MAX_INCIDENT_RECORDS = 5000
"""Maximum number of records that are grouped into incidents."""

_SILENCE_KEYS = {"alarm.silence": "extend", "alarm.undo": "end"}
"""Action -> what it does to the silence under the cursor, in a word."""

_SELECTIONS = {"board": "alarms"}
"""Id of a table -> name of its selection, if they differ."""


class AlarmsScreen(BaseScreen):
    """Board of alarms, and the logs of alarms, actions, notices and the connection."""

    NAME = "Alarms"
    MODE = "alarms"
    SCHEMA = ALARMS

    def __init__(self) -> None:
        super().__init__()
        self._tab = TABS[0]
        self._selections = {name: RowSelection() for name in ("alarms", "incidents", "log", "figures")}
        self._figures: tuple[FigureRow, ...] = ()
        self._incidents: tuple[Incident, ...] = ()
        self._grouped: Remembered[tuple[Incident, ...]] = Remembered()
        self._incident_lines: Remembered[list[Line]] = Remembered()
        self._log: tuple[LogRecord, ...] = ()
        self._fault = ""  # reason why the last reading of a log failed
        self._log_key = (-1, "")  # snapshot and tab for which the log was read

    def body(self) -> ComposeResult:
        yield LinesWidget(id="tabs")
        yield LinesWidget(id="hour")
        yield LinesWidget(id="ways")
        yield Table(ALARMS, id="board")
        yield FramedPanel(id="alarm")
        yield Table(INCIDENTS, id="incidents")
        yield FramedPanel(id="incident")
        yield Table(LOG, id="log")
        yield FramedPanel(id="silence")
        yield Table(FIGURES, id="figures")

    @property
    def _is_board(self) -> bool:
        return self._tab == TABS[0]

    @property
    def _has_incidents(self) -> bool:
        return self._tab == "incidents"

    @property
    def _has_figures(self) -> bool:
        return self._tab == "kpi"

    def shows_alarm(self, alarm: Alarm) -> bool:  # noqa: ARG002  the board shows every alarm
        return not self._is_board

    def listing(self, snapshot: Snapshot) -> Listing:
        if self._has_figures:
            return Listing("figures", FIGURES, self._figures)
        if self._has_incidents:
            return Listing("incidents", INCIDENTS, self._incidents)
        return super().listing(snapshot) if self._is_board else Listing("log", LOG, self._log)

    def alarm_at_cursor(self) -> Alarm | None:
        """Return the alarm under the cursor of the board."""
        displayed = self.ctx.displayed()
        if not self._is_board or displayed is None:
            return None
        return find_row(ALARMS, all_alarms(displayed[0]), self._selections["alarms"].key)

    def silence_at_cursor(self) -> Silence | None:
        """Return the silence under the cursor of the silences; None on another tab."""
        silences = [record for record in self._log if isinstance(record, Silence)] if self._tab == SILENCES else []
        row: LogRecord | None = find_row(LOG, silences, self._selections["log"].key)
        return row if isinstance(row, Silence) else None

    def target_alarms(self, snapshot: Snapshot, wants: AlarmFilter = is_active) -> tuple[Alarm, ...]:
        """Return the alarm under the cursor of the board, even if `wants` rejects it."""
        if not self._is_board:
            return super().target_alarms(snapshot, wants)
        held = self.ctx.preferences.frozen
        alarm = find_row(ALARMS, all_alarms(held.snapshot if held else snapshot), self._selections["alarms"].key)
        return (alarm,) if alarm else ()

    def pin(self, alarm: Alarm | None) -> None:
        """Make the next keys act on the alarm; in a log, on the alarm's event.

        On the board, does nothing if `alarm` is None.
        """
        if not self._is_board:
            super().pin(alarm)
        elif alarm:
            self._selections["alarms"].choose(alarm_key(alarm))

    def alarm_label(self, alarms: Sequence[Alarm]) -> str:
        return "" if self._is_board else super().alarm_label(alarms)

    def blink(self) -> None:
        """Paint the whole board. Cells that do not blink are not sent again."""
        self.refresh_all()

    def forget(self) -> None:
        super().forget()
        self._log, self._log_key, self._figures, self._incidents, self._fault = (), (-1, ""), (), (), ""

    def show_board(self) -> None:
        """Show the board in place of a log."""
        if not self._is_board:
            self.show_tab(0, TABS[0])

    def show_tab(self, step: int, name: str = "") -> bool:
        """Show the tab `name`; without a name, the tab `step` further. Returns False if no tab has the name."""
        if name and name not in TABS:
            return False
        self._tab = name or TABS[(TABS.index(self._tab) + step) % len(TABS)]
        self._log, self._log_key, self._selections["log"], self._fault = (), (-1, ""), RowSelection(), ""
        self._pinned_event = None
        self.refresh_all()
        return True

    def paint(self, snapshot: Snapshot, render_time: RenderTime) -> None:
        self._show_lines("tabs", [self._tab_line(snapshot, render_time)])
        has_hour = (
            (self._is_board or self._has_incidents)
            and self.size.height >= HOUR_FROM
            and snapshot.link.as_of is not None
        )
        hour = self.query_one("#hour", LinesWidget)
        hour.show(hour_lines(snapshot, render_time, self.size.width) if has_hour else [])
        hour.display = has_hour
        self.query_one("#board").display = self.query_one("#alarm").display = self._is_board
        self.query_one("#incidents").display = self.query_one("#incident").display = self._has_incidents
        self.query_one("#log").display = not (self._is_board or self._has_figures or self._has_incidents)
        self.query_one("#figures").display = self._has_figures
        if not self._is_board:
            self._update_log(snapshot)
        name, schema, rows = self.listing(snapshot)
        filtered, view = self.filtered_rows(snapshot, render_time)
        selection = self._selections[name]
        selection.follow_rows(schema, filtered.rows, rows, render_time)
        ways = self._way_lines(snapshot, render_time) if self._tab == "connection" else []
        doubt = wrap(f" ▲ {self._fault}", StyleRole.WARNING, self.size.width) if self._fault else []
        self._show_lines("ways", [*ways, *doubt])
        self.query_one("#ways").display = bool(ways or doubt)
        empty_text = "" if filtered.total else self._empty_text(snapshot, render_time)
        self.table().show(filtered.rows, render_time, selection.key, empty_text, view)
        self._show_silence(self.silence_at_cursor(), snapshot, render_time)
        others = sum(len(lines.content) for lines in self.query(LinesWidget) if lines.id in OTHER_LINES)
        room = self.size.height - FRAME_LINES - others
        if self._has_incidents:
            most = room - max(MIN_PANEL_LINES, self.size.height // 3)
            self.table().styles.height = max(MIN_ROWS, min(len(self._incidents), most)) + 1
            self._show_incident(find_row(INCIDENTS, self._incidents, selection.key), snapshot, render_time)
        if self._is_board:
            table_lines = len(filtered.rows) + len(section_heads(filtered.rows))
            self._show_alarm(snapshot, render_time, room - max(MIN_ROWS, table_lines))

    def _way_lines(self, snapshot: Snapshot, render_time: RenderTime) -> list[Line]:
        """Return the parts of the data path, then the time and whole cause of the row under the cursor."""
        row: LogRecord | None = find_row(LOG, self._log, self._selections["log"].key)
        cause = f"{row.at:%H:%M:%S}Z  {safe(row.why)}" if isinstance(row, LinkRecord) and row.why else ""
        return [*way_lines(snapshot, render_time), *(wrap(cause, StyleRole.TEXT, self.size.width) if cause else [])]

    def _show_incident(self, incident: Incident | None, snapshot: Snapshot, render_time: RenderTime) -> None:
        """Show the facts of an incident. If its first alarm is still open, add advice and chart of the alarm."""
        panel = self.query_one("#incident", FramedPanel)
        panel.styles.height = "1fr"
        if incident is None:
            panel.show("Incident", "", lambda _cells, _rows: [[("No incident selected", StyleRole.DIM)]])
            return
        record = incident.lead.last
        key = AlarmKey(record.event_id, record.kind, record.target)
        alarm = next((alarm for alarm in snapshot.alarms if alarm.key == key and alarm.is_ongoing), None)

        def lines(cells: int, rows: int) -> Sequence[ShadedLine]:
            thread = self._incident_lines.get((incident,), (cells, rows), lambda: incident_lines(incident, cells, rows))
            left = rows - len(thread) - 1
            if alarm is None or incident.lead.ended or left < MIN_CHART_LINES:
                return thread
            advice = advice_lines(alarm, snapshot, render_time, cells, left, has_grid=self.has_chart_grid)
            return [*thread, [], *advice]

        panel.show(incident_title(incident), "", lines)

    def _show_silence(self, row: Silence | None, snapshot: Snapshot, render_time: RenderTime) -> None:
        """Show the alarms that a silence hides now. `row`: the silence with names of events instead of ids."""
        panel = self.query_one("#silence", FramedPanel)
        silence = next((found for found in snapshot.silences if row and found.id == row.id), None)
        panel.display = silence is not None
        if row is None or silence is None:
            return
        panel.styles.height = max(MIN_PANEL_LINES, self.size.height - FRAME_LINES - max(MIN_ROWS, len(self._log)) - 1)
        keys = [f"{key_of(name, self.ctx.actions)} {does}" for name, does in _SILENCE_KEYS.items()]
        panel.show(
            f"{SILENCE_GLYPH} {what_text(row)}",
            "  ".join(keys),
            lambda cells, _rows: [*silence_lines(silence, snapshot, render_time.now, cells)],
        )

    def _show_alarm(self, snapshot: Snapshot, render_time: RenderTime, free_lines: int) -> None:
        alarm, panel = self.alarm_at_cursor(), self.query_one("#alarm", FramedPanel)
        panel.styles.height = max(MIN_PANEL_LINES, free_lines)
        if alarm is None:
            panel.show("Alarm", "", lambda _cells, _rows: [[("No alarm selected", StyleRole.DIM)]])
            return
        panel.show(
            panel_title(alarm),
            panel_state(alarm, render_time),
            lambda cells, rows: panel_lines(alarm, snapshot, render_time, cells, rows, has_grid=self.has_chart_grid),
        )

    def _tab_line(self, snapshot: Snapshot, render_time: RenderTime) -> ShadedLine:
        tabs = (
            (f"[{tab}]", Link(StyleRole.STRONG, "log.next", tab))
            if tab == self._tab
            else (f" {tab} ", Link(StyleRole.DIM, "log.next", tab))
            for tab in TABS
        )
        left: Groups[Role] = [(0, [(" ", StyleRole.TEXT), *tabs])]
        right: Groups[Role] = [
            (rank, [(f"{words} ", StyleRole.DIM)] if words and self._is_board else [])
            for rank, words in enumerate(_waits(snapshot, render_time), 1)
        ]
        return justify(left, right, self.size.width)

    def _empty_text(self, snapshot: Snapshot, render_time: RenderTime) -> str:
        """Return the reason why the table is empty.

        Before the first reply, an empty table does not mean that there are no alarms.
        """
        if self._is_board:
            if snapshot.link.as_of is None:
                return waiting_text(snapshot)
            if is_seen(snapshot, render_time):
                return clear_text(snapshot, render_time) if snapshot.is_judged else NOT_MEASURED
            return NOT_SEEN if snapshot.is_whole else f"{NOT_SEEN}; {missing_text(snapshot)}"
        if self._tab == SILENCES:
            return f"No silence runs or is planned. {key_of('alarm.silence', self.ctx.actions)} adds one."
        if self.ctx.records is None and self._tab != "notices":
            return "No history is kept. Set `history` in the settings to keep one."
        is_reading = self._has_figures and not self._figures
        found = "One moment: reading 7 days" if is_reading else f"No entries in the last {LOG_HOURS} h"
        return "Entries unknown" if self._fault else found

    def _update_log(self, snapshot: Snapshot) -> None:
        """Reread the log on display if the snapshot or the tab has changed."""
        number = snapshot.seq // FIGURES_EACH if self._has_figures else snapshot.seq
        if self._log_key != (number, self._tab):
            self._log_key = number, self._tab
            self.run_worker(self._read_log(self._tab), group="log", exclusive=True)

    async def _read_log(self, tab: str) -> None:
        try:
            await self._read_rows(tab)
            self._fault = ""
        except NotReadError as error:  # earlier rows stay
            self._fault = str(error)
        self.refresh_all()

    async def _read_rows(self, tab: str) -> None:
        """Read the rows of a log. Raises NotReadError."""
        if tab == "kpi":
            await self._read_figures()
        elif tab == "incidents" and self.ctx.records is not None:
            since = self.ctx.clock.now() - timedelta(hours=LOG_HOURS)
            log = tuple(await self.ctx.records.whole(self.ctx.records.alarm_log(since)))[-MAX_INCIDENT_RECORDS:]
            self._incidents = self._grouped.get((), log, lambda: incidents(log))
        elif tab == SILENCES:
            displayed = self.ctx.displayed()
            self._log = named(displayed[0].silences, _names(displayed[0])) if displayed else ()
        else:
            records, reading = self.ctx.records, self._records(tab)
            rows = await (records.whole(reading) if records else reading)
            self._log = tuple(newest_first(rows)[:MAX_LOG_ROWS])

    async def _read_figures(self) -> None:
        if self.ctx.records is not None:
            now = self.ctx.clock.now()
            found = await self.ctx.records.whole(read_figures(self.ctx.records, now - FIGURES_SINCE, now))
            self._figures = (*found.figures, *found.bad_actors)

    async def _records(self, tab: str) -> Sequence[LogRecord]:
        history, since = self.ctx.records, self.ctx.clock.now() - timedelta(hours=LOG_HOURS)
        if history is None:
            return self.ctx.preferences.notices if tab == "notices" else ()
        if tab == "actions":
            actors = {intent.id: intent.by for intent in await history.intents(since - _BEFORE)}
            return [LoggedAction(record, actors.get(record.intent, "")) for record in await history.audit(since)]
        if tab == "notices":
            return await history.notifications(since)
        return await history.connection_log(since)

    def on_table_moved(self, message: Table.Moved) -> None:
        self._selections[_SELECTIONS.get(message.table or "", message.table or "")].choose(message.key)
        self.refresh_all()

    def on_table_opened(self, message: Table.Opened) -> None:  # noqa: ARG002  the cursor has the row
        """Show the QoS of the alarm's event. If the alarm is an open question, such as the unit, ask the question."""
        alarm, displayed = self.alarm_at_cursor(), self.ctx.displayed()
        if alarm is not None and alarm.kind == UNIT_UNKNOWN:
            self.ctx.dispatch("alarm.unit")
        elif alarm is not None and displayed and silent_together(alarm, displayed[0].alarms):
            self.ctx.dispatch("alarm.silent")
        elif alarm is not None and alarm.event_id:
            self.ctx.select_event(alarm.event_id)
            self.ctx.go_to("qos")


def _names(snapshot: Snapshot) -> dict[str, str]:
    """Return event id -> name."""
    return {state.id: event_name(state) for state in snapshot.events}


def _waits(snapshot: Snapshot, render_time: RenderTime) -> tuple[str, str]:
    """Return the age of the oldest new alarm and the median time to acknowledge, as texts. An unknown one is empty."""
    new = [alarm.since for alarm in snapshot.alarms if alarm.needs_ack and not alarm.silenced]
    waits = [seconds for alarm in all_alarms(snapshot) if (seconds := alarm.seconds_to_acknowledge) is not None]
    return (
        f"oldest new alarm {compact_duration(render_time.seconds_since(min(new)))}" if new else "",
        f"median to acknowledge {compact_duration(median(waits))}" if waits else "",
    )
