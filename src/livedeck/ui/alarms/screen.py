"""Screen 7: the board of alarms, and the logs of what was."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from textual.app import ComposeResult

from livedeck.monitor import Alarm, Snapshot
from livedeck.presentation.alarms import ALARMS, alarm_key, all_alarms
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import Line, StyleRole
from livedeck.ui.alarms.view import LOG, TABS, LogRecord, detail, newest_first
from livedeck.ui.kit.canvas import Canvas
from livedeck.ui.kit.lines import LinesWidget
from livedeck.ui.kit.table import Table
from livedeck.ui.shell.screen import WAITING, BaseScreen, Listing


class AlarmPanel(Canvas):
    """Why, what viewers see of it, and what to do."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[Alarm, RenderTime] | None = None

    def show(self, alarm: Alarm | None, moment: RenderTime) -> None:
        """Paint this one; None where there is none to select."""
        self._shown = None if alarm is None else (alarm, moment)
        self.repaint()

    def draw(self, width: int, height: int) -> list[Line]:  # noqa: ARG002
        if self._shown is None:
            return [[(" no alarm selected", StyleRole.DIM)]]
        return detail(*self._shown)


LOGGED_HOURS = 24

LOGGED_MOST = 1000

"""A log reaches back so far, and has so many lines at most."""


class AlarmsScreen(BaseScreen):
    """What must be read now, and what was: alarms, what people did, what the deck said, the link."""

    NAME = "Alarms"
    MODE = "alarms"
    SCHEMA = ALARMS

    def __init__(self) -> None:
        super().__init__()
        self._tab = TABS[0]
        self._cursors: dict[str, str] = {}
        self._log: tuple[LogRecord, ...] = ()
        self._read = (-1, "")

    def body(self) -> ComposeResult:
        yield LinesWidget(id="tabs")
        yield Table(ALARMS, id="board")
        yield AlarmPanel()
        yield Table(LOG, id="log")

    def shows_alarm(self, alarm: Alarm) -> bool:  # noqa: ARG002  the board has them all
        return self._tab != TABS[0]

    def listing(self, snapshot: Snapshot) -> Listing:
        if self._tab == TABS[0]:
            return super().listing(snapshot)
        return Listing("log", LOG, self._log)

    def alarm_at_cursor(self) -> Alarm | None:
        """The alarm under the cursor, as it is shown."""
        shown = self.ctx.displayed()
        if self._tab != TABS[0] or shown is None:
            return None
        return next((one for one in all_alarms(shown[0]) if alarm_key(one) == self._cursor()), None)

    def alarm_without_cursor(self, snapshot: Snapshot, *, needs_ack: bool = False, away: bool = False) -> Alarm | None:
        if self._tab == TABS[0]:
            return None
        return super().alarm_without_cursor(snapshot, needs_ack=needs_ack, away=away)

    def blink(self) -> None:
        """The whole board: what does not blink is not sent again."""
        self.refresh_all()

    def turn(self, step: int, name: str = "") -> bool:
        """To the next log, or to the one that is named. Returns whether there is one of that name."""
        if name and name not in TABS:
            return False
        self._tab = name or TABS[(TABS.index(self._tab) + step) % len(TABS)]
        self._log, self._read = (), (-1, "")
        self.refresh_all()
        return True

    def paint(self, snapshot: Snapshot, moment: RenderTime) -> None:
        board = self._tab == TABS[0]
        self.query_one("#tabs", LinesWidget).show([self._tab_line(snapshot)])
        self.query_one("#board").display = self.query_one(AlarmPanel).display = board
        self.query_one("#log").display = not board
        if not board:
            self._ask(snapshot)
        name, sheet, _ = self.listing(snapshot)
        known, view = self.filtered_rows(snapshot, moment)
        keys = [sheet.key(one) for one in known.rows]
        if self._cursors.get(name) not in keys:
            self._cursors[name] = next(iter(keys), "")
        table = self.query_one("#board" if board else "#log", Table)
        table.show(known.rows, moment, self._cursors[name], "" if known.total else self._nothing(snapshot), view)
        if board:
            self.query_one(AlarmPanel).show(self.alarm_at_cursor(), moment)

    def _cursor(self) -> str:
        return self._cursors.get("alarms" if self._tab == TABS[0] else "log", "")

    def _tab_line(self, snapshot: Snapshot) -> Line:
        line: Line = [(" ", StyleRole.TEXT)]
        for tab in TABS:
            chosen = tab == self._tab
            line.append((f"[{tab}]" if chosen else f" {tab} ", StyleRole.STRONG if chosen else StyleRole.DIM))
        quiet = f"   {len(snapshot.alarms)} to read, {len(snapshot.quiet)} quiet" if self._tab == TABS[0] else ""
        return [*line, (quiet, StyleRole.DIM)]

    def _nothing(self, snapshot: Snapshot) -> str:
        """Why there is no line: what was never asked is not quiet."""
        if self._tab == TABS[0] and snapshot.link.as_of is None:
            return WAITING
        if self._tab == TABS[0]:
            return "no alarm now, and none in the last 5 min"
        if self.ctx.history is None and self._tab != "notices":
            return "no history is kept: see `history` in the settings"
        return f"nothing in the last {LOGGED_HOURS} h"

    def _ask(self, snapshot: Snapshot) -> None:
        """Read the log again once a snapshot, while it is looked at."""
        if self._read != (snapshot.seq, self._tab):
            self._read = snapshot.seq, self._tab
            self.run_worker(self._asked(self._tab), group="log", exclusive=True)

    async def _asked(self, tab: str) -> None:
        self._log = tuple(newest_first(await self._records(tab))[:LOGGED_MOST])
        self.refresh_all()

    async def _records(self, tab: str) -> Sequence[LogRecord]:
        history, since = self.ctx.history, self.ctx.clock.now() - timedelta(hours=LOGGED_HOURS)
        if history is None:
            return self.ctx.preferences.notices if tab == "notices" else ()
        if tab == "incidents":
            return await history.alarm_log(since)
        if tab == "actions":
            return await history.audit(since)
        if tab == "notices":
            return await history.notifications(since)
        return await history.connection_log(since)

    def on_table_moved(self, message: Table.Moved) -> None:
        self._cursors["alarms" if self._tab == TABS[0] else "log"] = message.key
        self.refresh_all()

    def on_table_opened(self, message: Table.Opened) -> None:  # noqa: ARG002  the cursor tells
        """To the QoS of the event that the alarm is about."""
        alarm = self.alarm_at_cursor()
        if alarm is not None and alarm.event_id:
            self.ctx.select_event(alarm.event_id)
            self.ctx.go_to("qos")
