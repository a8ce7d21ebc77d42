"""Screen 1: every event, worst first; the selected one and its charts; every alarm; the hours around now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from textual.containers import Grid
from textual.widget import Widget

from livedeck.monitor import Alarm, EventState, Severity, Snapshot
from livedeck.presentation import events
from livedeck.presentation.alarms import alarm_lines
from livedeck.presentation.event_detail import cockpit_lines, short_lines
from livedeck.presentation.events import EVENTS
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.timeline import today_lines, today_title
from livedeck.text.segments import Line, ShadedLine, StyleRole
from livedeck.ui.kit.lines import FRAME_LINES, DetailPanel, FramedPanel, LinesWidget
from livedeck.ui.kit.table import Table
from livedeck.ui.shell.keymap import key_of
from livedeck.ui.shell.screen import EventList

PANES_WIDTH, PANES_HEIGHT = 100, 28
"""From this size on the selected event and the alarms have panes beside or below the table."""

WIDE = 160
"""From this width on the panes stand beside the table; there is room for three charts."""

TODAY_HEIGHT = 34
"""From this height on the hours around now are shown."""

MAX_TABLE_LINES = 14
FIXED_LINES = 4
"""Of the header, the summary and the footer; a banner's are the middle row's."""

ALARM_STRIP_LINES = 3
SHORT_LINES = 3


class EventsScreen(EventList):
    """What is on air, what is wrong, since when."""

    NAME = "Events"
    MODE = "events"
    SCHEMA = EVENTS
    EMPTY = "No events yet. {event.new} makes one."
    DETAIL = "qos"

    def body(self) -> Iterable[Widget]:
        yield LinesWidget(id="summary")
        with Grid(id="panes"):
            yield Table(EVENTS)
            yield FramedPanel(id="selected")
            yield FramedPanel(id="event-alarms")
            yield FramedPanel(id="today")
        yield DetailPanel(id="short")

    def paint(self, snapshot: Snapshot, render_time: RenderTime) -> None:
        self._arrange(len(snapshot.events))
        width = self.size.width
        self._show_lines(
            "summary", [line] if (line := events.summary_line(snapshot.events, render_time, width)) else []
        )
        state = self.list_events(snapshot, render_time)
        self._paint_selected(state, render_time)
        today = self.query_one("#today", FramedPanel)
        title = today_title(snapshot.events, self._today_lines - FRAME_LINES - 1, render_time)
        today.show("Today", title, lambda cells, rows: today_lines(snapshot.events, render_time, cells, rows))

    def _paint_selected(self, state: EventState | None, render_time: RenderTime) -> None:
        """The selected event in its pane, or in three lines where there is no room for one."""
        nothing: Line = [(" no event selected", StyleRole.DIM)]
        enter = f"{key_of('row.open', self.ctx.actions)} opens QoS"
        self.query_one("#selected", FramedPanel).show(
            events.name(state) if state else "Event",
            enter if state else "",
            lambda cells, rows: cockpit_lines(state, render_time, cells, rows) if state else [nothing],
            "row.open",
        )
        self.query_one("#short", DetailPanel).show(
            lambda cells: short_lines(state, render_time, cells) if state else [nothing]
        )

    def _arrange(self, count: int) -> None:
        """Share the room out: the table has what its rows need, the panes have the rest."""
        width, height = self.size.width, self.size.height - FIXED_LINES  # not of the panes: they are laid out later
        has_panes = self._has_panes
        for name in ("#selected", "#event-alarms"):
            self.query_one(name).display = has_panes
        has_today = has_panes and self.size.height >= TODAY_HEIGHT
        self.query_one("#today").display = has_today
        self.query_one("#short").display = not has_panes
        panes = self.query_one("#panes")
        if not has_panes:
            layout: tuple[object, ...] = (1, "1fr", "1fr")
        else:
            table = min(max(count + 1, 4), MAX_TABLE_LINES, max(4, height // 2))
            today = min(3 + count, height // 3) if has_today else 0
            columns = "122 1fr" if width >= WIDE + 40 else "1fr 60" if width >= WIDE else "11fr 9fr"
            layout = (2, columns, f"{table} 1fr {today}" if has_today else f"{table} 1fr")
            self._today_lines = today
        if layout == self._layout:
            return
        self._layout = layout
        panes.styles.grid_size_columns, panes.styles.grid_columns, panes.styles.grid_rows = layout  # type: ignore[assignment]
        wide = has_panes and width >= WIDE
        self.query_one(Table).styles.column_span = 2 if has_panes and not wide else 1
        self.query_one("#selected").styles.row_span = 2 if wide else 1
        self.query_one("#today").styles.column_span = 2 if has_panes else 1

    _layout: tuple[object, ...] = ()
    _today_lines: int = 0

    @property
    def _has_panes(self) -> bool:
        return self.size.width >= PANES_WIDTH and self.size.height >= PANES_HEIGHT

    def shows_alarm(self, alarm: Alarm) -> bool:  # noqa: ARG002
        return not self._has_panes

    def max_alarm_lines(self) -> int:
        return ALARM_STRIP_LINES

    def paint_alarms(self, snapshot: Snapshot, render_time: RenderTime) -> None:
        super().paint_alarms(snapshot, render_time)
        counts = Counter(alarm.severity for alarm in snapshot.alarms)
        parts = [
            f"{counts[Severity.CRITICAL]} critical" if counts[Severity.CRITICAL] else "",
            f"{counts[Severity.WARNING]} warnings" if counts[Severity.WARNING] else "",
            f"{len(snapshot.quiet)} quiet" if snapshot.quiet else "",
        ]

        def draw(cells: int, rows: int) -> Sequence[ShadedLine]:
            lines = [
                self.linked_alarm(alarm, line)
                for alarm in snapshot.alarms
                for line in alarm_lines(alarm, render_time, cells)
            ]
            return lines[:rows] or [[("nothing to read", StyleRole.DIM)]]

        right = "  ".join(part for part in parts if part)
        self.query_one("#event-alarms", FramedPanel).show("Alarms", right, draw, "screen.alarms")
