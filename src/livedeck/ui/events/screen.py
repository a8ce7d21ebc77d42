"""Screen 1: all events, worst first; the selected event with its charts; all alarms; the hours around now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from textual.containers import Grid
from textual.widget import Widget

from livedeck.monitor import Alarm, EventState, ResourceKey, Severity, Snapshot
from livedeck.presentation import events
from livedeck.presentation.alarms import pane_lines
from livedeck.presentation.event_detail import short_lines
from livedeck.presentation.events import EVENTS
from livedeck.presentation.last_changes import Changes
from livedeck.presentation.preflight import missing_keys
from livedeck.presentation.remembered import Remembered
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.timeline import Today
from livedeck.text.segments import Line, ShadedLine, StyleRole
from livedeck.text.values import counted
from livedeck.ui.events.preflight import short_preflight_lines
from livedeck.ui.events.view import Chart, cockpit_lines, waiting_lines
from livedeck.ui.kit.lines import FRAME_LINES, DetailPanel, FramedPanel, LinesWidget
from livedeck.ui.kit.table import Table
from livedeck.ui.shell.keymap import key_of
from livedeck.ui.shell.screen import EventList

PANES_WIDTH, PANES_HEIGHT = 100, 28
"""Minimum width and height of a screen with panes, which show the selected event and the alarms."""

WIDE = 160
"""Minimum width of a screen with the panes beside the table. Such a pane has room for three charts."""

TODAY_HEIGHT = 34
"""Minimum height of a screen that shows the hours around now."""

WIDEST = 200
"""Minimum width of a screen with the last changes beside the alarms."""

MAX_TABLE_LINES = 14
FIXED_LINES = 4
"""Number of lines of header, summary and footer. The lines of a banner are subtracted from the middle row."""

ALARM_STRIP_LINES = 3

CATCH_UP_SECONDS = 0.02
"""Seconds after which the pane is painted if a burst of keys has left it unpainted."""


class PaneGrid(NamedTuple):
    """Arrangement of the table and its panes, in the syntax of the stylesheet.

    `is_wide`: the panes are beside the table. `today_lines`: height of the pane with the hours around now, with its
    frame; 0 if it is hidden.
    """

    columns: int
    column_widths: str
    row_heights: str
    is_wide: bool = False
    today_lines: int = 0


TABLE_ALONE = PaneGrid(1, "1fr", "1fr")


def pane_grid(width: int, height: int, rows: int, today_rows: int) -> PaneGrid:
    """Return the arrangement for a screen with room for panes.

    The table gets the lines that its rows need, and the panes get the other lines. `today_rows`: number of events in
    the hours around now.
    """
    free = height - FIXED_LINES
    table = min(max(rows + 1, 4), MAX_TABLE_LINES, max(4, free // 2))
    heights, today_lines = f"{table} 1fr", 0
    if height >= TODAY_HEIGHT:
        today_lines = min(1 + FRAME_LINES + max(1, today_rows), free // 3)
        heights += f" {today_lines}"
    if width >= WIDEST:
        return PaneGrid(3, "72 50 1fr", heights, is_wide=True, today_lines=today_lines)
    if width >= WIDE:
        return PaneGrid(2, "1fr 60", heights, is_wide=True, today_lines=today_lines)
    return PaneGrid(2, "11fr 9fr", heights, today_lines=today_lines)


class EventsScreen(EventList):
    """Events on air, their faults, and their times."""

    NAME = "Events"
    MODE = "events"
    SCHEMA = EVENTS
    EMPTY = "No events yet. Press {event.create} to create one."
    DETAIL = "qos"

    def __init__(self) -> None:
        super().__init__()
        self._wants_panes = True
        self._grid: PaneGrid | None = None
        self._today, self._changes = Today(), Changes()
        self._summary: Remembered[events.Summary] = Remembered()
        self._counts: Remembered[str] = Remembered()
        self._missing: Remembered[tuple[ResourceKey, ...]] = Remembered()
        self._chart: Chart = Remembered()
        self._owes_pane = False

    def body(self) -> Iterable[Widget]:
        yield LinesWidget(id="summary")
        with Grid(id="panes"):
            yield Table(EVENTS)
            yield FramedPanel(id="selected")
            yield FramedPanel(id="event-alarms")
            yield FramedPanel(id="changes")
            yield FramedPanel(id="today")
        yield DetailPanel(id="short")

    def paint(self, snapshot: Snapshot, render_time: RenderTime) -> None:
        width, height = self.size  # size of the screen, because the panes are laid out later
        states, today = snapshot.events, self._today
        grid = TABLE_ALONE
        if self._has_panes:
            grid = pane_grid(width, height, len(states), today.rows(states, render_time))
        self._arrange(grid)
        summary = self._summary.get((states,), render_time.stale, lambda: events.summarize(states, render_time))
        line = events.summary_line(summary, render_time, width)
        self._show_lines("summary", [line] if line else [])
        state = self.list_events(snapshot, render_time)
        if self.ctx.has_keys_waiting():  # the next key selects another event before anybody sees this one
            self._owe_pane()
        else:
            self._owes_pane = False
            self._paint_selected(state, render_time)
        preflights = render_time.preflights
        missing = self._missing.get((states, preflights), None, lambda: missing_keys(snapshot, preflights))
        self.ctx.monitor.watch(self.MODE, *missing)
        self.query_one("#today", FramedPanel).show(
            "Today",
            today.title(states, grid.today_lines - FRAME_LINES - 1, render_time),
            lambda cells, rows: today.lines(states, render_time, cells, rows),
        )
        self.query_one("#changes", FramedPanel).show(
            "Last changes",
            f"{key_of('screen.alarms', self.ctx.actions)} Alarms shows all",
            lambda cells, rows: self._changes.lines(snapshot, render_time, cells, rows),
            "screen.alarms",
        )

    def _owe_pane(self) -> None:
        """Paint the selected event soon, once no key waits any more."""
        if not self._owes_pane:
            self._owes_pane = True
            self.set_timer(CATCH_UP_SECONDS, self._catch_up)

    def _catch_up(self) -> None:
        owes, self._owes_pane = self._owes_pane, False
        if owes and self.ctx.has_keys_under_way():
            self._owe_pane()
        elif owes:
            self.refresh_all()

    def _paint_selected(self, state: EventState | None, render_time: RenderTime) -> None:
        """Show the selected event in its pane, or in three lines while the panes are hidden."""
        nothing: Line = [(" No event selected", StyleRole.DIM)]
        actions, found = self.ctx.actions, render_time.preflights.get(state.id) if state else None

        def draw_pane(cells: int, rows: int) -> Sequence[ShadedLine]:
            if state is None:
                return [nothing]
            if found:
                return waiting_lines(state, render_time, actions, cells, rows)
            return cockpit_lines(state, render_time, cells, rows, has_grid=self.has_chart_grid, chart=self._chart)

        def draw_short(cells: int) -> list[Line]:
            if state is None:
                return [nothing]
            if found:
                return short_preflight_lines(state, found, render_time, actions, cells)
            return short_lines(state, render_time, cells)

        checks = f"{key_of('event.preflight', actions)} all checks  " if found else ""
        right = f"{checks}{key_of('row.open', actions)} opens QoS" if state else ""
        title = events.name(state) if state else "Event"
        self.query_one("#selected", FramedPanel).show(title, right, draw_pane, "row.open")
        self.query_one("#short", DetailPanel).show(draw_short)

    def on_screen_suspend(self) -> None:
        """Stop polling the fields of the preflight checks once another screen hides this one.

        A dialog does not stop the polls.
        """
        if self.ctx.current_mode != self.MODE:
            self.ctx.monitor.watch(self.MODE)

    def toggle_panes(self) -> None:
        """Show the panes, or else a higher table and three lines about the selected event."""
        self._wants_panes = not self._wants_panes
        self.refresh_all()

    def _arrange(self, grid: PaneGrid) -> None:
        """Apply the arrangement to the table and the panes."""
        if grid == self._grid:
            return
        self._grid = grid
        shown = {
            "#selected": grid.columns > 1,
            "#event-alarms": grid.columns > 1,
            "#changes": grid.columns > 2,
            "#today": grid.today_lines > 0,
            "#short": grid.columns == 1,
        }
        for name, is_shown in shown.items():
            self.query_one(name).display = is_shown
        panes = self.query_one("#panes").styles
        panes.grid_size_columns = grid.columns
        panes.grid_columns, panes.grid_rows = grid.column_widths, grid.row_heights
        self.query_one(Table).styles.column_span = grid.columns - grid.is_wide
        self.query_one("#selected").styles.row_span = 1 + grid.is_wide
        self.query_one("#today").styles.column_span = grid.columns

    @property
    def _has_panes(self) -> bool:
        return self._wants_panes and self.size.width >= PANES_WIDTH and self.size.height >= PANES_HEIGHT

    def shows_alarm(self, alarm: Alarm) -> bool:  # noqa: ARG002
        return not self._has_panes

    def max_alarm_lines(self) -> int:
        return ALARM_STRIP_LINES

    def paint_alarms(self, snapshot: Snapshot, render_time: RenderTime) -> None:
        super().paint_alarms(snapshot, render_time)
        self.query_one("#event-alarms", FramedPanel).show(
            "Alarms",
            self._counts.get((snapshot,), None, lambda: _count_text(snapshot)),
            lambda cells, rows: pane_lines(snapshot, render_time, cells, rows),
            "screen.alarms",
        )


def _count_text(snapshot: Snapshot) -> str:
    """Return the number of critical, warning and quiet alarms, without zeros: `1 critical  2 warnings  3 quiet`."""
    counts = Counter(alarm.severity for alarm in snapshot.alarms)
    critical, warnings, quiet = counts[Severity.CRITICAL], counts[Severity.WARNING], len(snapshot.quiet)
    parts = (
        f"{critical} critical" if critical else "",
        counted(warnings, "warning") if warnings else "",
        f"{quiet} quiet" if quiet else "",
    )
    return "  ".join(filter(None, parts))
