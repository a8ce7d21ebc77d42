"""Screen 1: all events, worst first; the selected event with its charts; all alarms; the hours around now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from textual.containers import Grid
from textual.widget import Widget

from livedeck.monitor import Alarm, EventState, ResourceKey, Severity, Snapshot
from livedeck.presentation import events
from livedeck.presentation.alarms import pane_length, pane_lines
from livedeck.presentation.event_detail import short_lines
from livedeck.presentation.events import EVENTS
from livedeck.presentation.last_changes import Changes
from livedeck.presentation.preflight import missing_keys
from livedeck.presentation.remembered import Remembered
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import Column
from livedeck.presentation.timeline import Today
from livedeck.text.segments import Line, ShadedLine, StyleRole
from livedeck.text.values import counted
from livedeck.ui.events.view import PICTURE, cockpit_lines, waiting_lines
from livedeck.ui.kit.lines import FRAME_LINES, DetailPanel, FramedPanel, LinesWidget
from livedeck.ui.kit.signal_chart import Chart
from livedeck.ui.kit.table import Table
from livedeck.ui.shell.keymap import key_of
from livedeck.ui.shell.preflight import short_preflight_lines
from livedeck.ui.shell.screen import EventList

if TYPE_CHECKING:
    from livedeck.ui.kit.viewer_picture import Look

PANES_WIDTH, PANES_HEIGHT = 100, 28
"""Minimum width and height of a screen with panes, which show the selected event and the alarms."""

WIDE = 160
"""Minimum width of a screen with the panes beside the table. Each pane then has room for three charts."""

TODAY_HEIGHT = 34
"""Minimum height of a screen that shows the hours around now."""

WIDEST = 200
"""Minimum width of a screen with the last changes beside the alarms."""

VIEWER_WIDTH = 140
"""Minimum width of a screen whose table has a column of what viewers get."""

FIXED_LINES = 4
"""Number of lines of header, summary and footer. A banner takes its lines from the middle part of the screen."""

MIN_PANES, MAX_MIN_PANES = 8, 14
"""Bounds, in lines, of the height that panes beside a long table have at least. Their content decides within them."""

MIN_CHART_PANES = 10
"""Minimum height in lines of panes with a chart."""

MIN_TODAY_ROWS = 3
"""Minimum number of rows in the hours around now while the table has more rows than lines."""

CONTENT_STEP = 6
"""Heights of panes are multiples of this, so that a new alarm rarely moves the other parts."""

ALARM_STRIP_LINES = 3


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


def pane_grid(width: int, height: int, rows: int, today_rows: int, content_lines: int) -> PaneGrid:
    """Return the arrangement for a screen with room for panes.

    Each row of the table gets a line first, then each row of the hours around now. On a narrow screen, the panes get
    the lines that are left. On a wide screen, the panes are as high as their content, and the table gets the rest.
    `today_rows`: number of events in the hours around now. `content_lines`: lines of the alarms and last changes.
    """
    free, is_wide = height - FIXED_LINES, width >= WIDE
    content = FRAME_LINES + ceil(content_lines / CONTENT_STEP) * CONTENT_STEP
    least = min(max(MIN_PANES, content), MAX_MIN_PANES) if is_wide else MIN_CHART_PANES
    wanted, today_lines = max(1 + rows, 4), 0
    if height >= TODAY_HEIGHT:
        most, fewest = (1 + FRAME_LINES + max(1, min(today_rows, count)) for count in (today_rows, MIN_TODAY_ROWS))
        today_lines = min(max(free - wanted - least, fewest), most, free // 3)
    room = free - today_lines
    table = min(wanted, room - least)
    is_filled = not is_wide or table + content >= room
    heights = f"{table} 1fr" if is_filled else f"1fr {max(least, content)}"
    if today_lines:
        heights += f" {today_lines}"
    if width >= WIDEST:
        return PaneGrid(3, "72 50 1fr", heights, is_wide=True, today_lines=today_lines)
    if is_wide:
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
        self._is_probing: Remembered[bool] = Remembered()

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
            content = max(pane_length(snapshot), self._changes.count(snapshot, render_time) if width >= WIDEST else 0)
            rows = len(states) + len(self.filtered_rows(snapshot, render_time)[0].sections)
            grid = pane_grid(width, height, rows, today.rows(states, render_time), content)
        self._arrange(grid)
        summary = self._summary.get((states,), render_time.stale, lambda: events.summarize(states, render_time))
        line = events.summary_line(summary, render_time, width)
        self._show_lines("summary", [line] if line else [])
        self.paint_soon(self.list_events(snapshot, render_time), snapshot, render_time)
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

    def columns(self, snapshot: Snapshot) -> tuple[Column[EventState], ...]:
        """Return the columns with what viewers get while a probe runs; otherwise empty, which means the usual columns.

        A narrow table has no column for viewers. There, a fault for viewers replaces a good health.
        """
        if not self._is_probing.get((snapshot.events,), None, lambda: snapshot.has_probe):
            return ()
        from livedeck.presentation.viewer import WITH_VIEWER_FAULTS, WITH_VIEWERS

        return WITH_VIEWERS if self.size.width >= VIEWER_WIDTH else WITH_VIEWER_FAULTS

    def paint_selected(self, state: EventState | None, snapshot: Snapshot, render_time: RenderTime) -> None:  # noqa: ARG002
        """Show the selected event in its pane, or in three lines while the panes are hidden."""
        nothing: Line = [(" No event selected", StyleRole.DIM)]
        actions, found = self.ctx.actions, render_time.preflights.get(state.id) if state else None

        def draw_pane(cells: int, rows: int) -> Sequence[ShadedLine]:
            if state is None:
                return [nothing]
            if found:
                return waiting_lines(state, render_time, actions, cells, rows)
            look = self._look(state, render_time)
            grid, chart = self.has_chart_grid, self._chart
            return cockpit_lines(state, render_time, cells, rows, has_grid=grid, chart=chart, look=look)

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

    def _look(self, state: EventState, render_time: RenderTime) -> Look | None:
        """Return how to show the picture that viewers of the event get; None without a picture.

        If the picture has changed, starts to fetch it.
        """
        found = state.viewer
        if found is None or not self._has_panes:
            return None
        from livedeck.presentation import viewer
        from livedeck.ui.kit.viewer_picture import look_at
        from livedeck.ui.shell.viewer_pictures import ViewerPictures, Wanted, can_show_pictures

        if not can_show_pictures(self.ctx):
            return None
        pictures = self.ctx.state(ViewerPictures)
        has_picture = viewer.picture_age(found, render_time) is not None
        pictures.want({state.id: Wanted(found.image, PICTURE)} if has_picture else {}, self._repaint_selected)
        shot = pictures.get(state.id)
        return look_at(state, render_time, shot, has_blocks=True) if shot or has_picture else None

    def _repaint_selected(self) -> None:
        """Show a new picture, unless another screen is in front."""
        if self._is_in_front:
            self.query_one("#selected", FramedPanel).repaint()

    def on_screen_suspend(self) -> None:
        """Stop polling the fields of the preflight checks once another screen hides this one.

        A dialog does not stop the polls.
        """
        if self.ctx.current_mode != self.MODE:
            self.ctx.monitor.watch(self.MODE)

    def toggle_panes(self) -> None:
        """Switch between the panes, and a higher table with three lines about the selected event."""
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
