"""Screen 3: the quality of the selected event over time."""

from __future__ import annotations

from collections.abc import Iterable

from textual.widget import Widget

from livedeck.monitor import Alarm, Episode, EventState, Snapshot
from livedeck.presentation.event_detail import title
from livedeck.presentation.events import is_doubtful, lag_text
from livedeck.presentation.qos import Axis
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import Group, Line, StyleRole, justify
from livedeck.text.values import age, safe
from livedeck.ui.kit.canvas import Canvas
from livedeck.ui.kit.lines import LinesWidget
from livedeck.ui.qos import view
from livedeck.ui.qos.plot import GUTTER, OVERLAY_GLYPH, PlotMarks
from livedeck.ui.qos.series import HistoryQuery, TimeSeries, chart_axis, concat, from_memory
from livedeck.ui.shell.keymap import with_keys
from livedeck.ui.shell.screen import TALL, WAITING, BaseScreen


class QosChart(Canvas):
    """Three curves and the status strip; drawn again only when their values, size or freshness change."""

    def __init__(self) -> None:
        super().__init__()
        self._state: EventState | None = None
        self._render_time: RenderTime | None = None
        self._series: TimeSeries | None = None
        self._marks = PlotMarks()
        self._empty_text = ""
        self._drawn: tuple[object, ...] = ()

    @property
    def columns(self) -> int:
        """The columns of a curve."""
        return max(8, self.size.width - GUTTER - 1)

    def show(
        self,
        state: EventState | None,
        render_time: RenderTime,
        series: TimeSeries | None,
        marks: PlotMarks,
        empty_text: str = "",
    ) -> None:
        """Paint that series of this event; `empty_text` says why there is none."""
        self._state, self._render_time, self._series, self._marks = state, render_time, series, marks
        self._empty_text = empty_text
        content = (
            state and (state.id, state.qos, state.assessment, state.phase.ingest.state, state.is_stale),
            render_time.stale,
            series,
            marks,
            empty_text,
            self.size,
        )
        if content != self._drawn:
            self._drawn = content
            self.repaint()

    def draw(self, width: int, height: int) -> list[Line]:
        if self._state is None or self._render_time is None:
            return [[(f" {self._empty_text}", StyleRole.DIM)]]
        if self._series is None or self._series.is_empty:
            return view.empty_lines(self._state)
        return view.chart_lines(self._state, self._render_time, self._series, self._marks, width=width, height=height)


NOT_SELECTED = "no event selected: choose one on the Events screen"

GONE = " this event is no longer in the platform's list: {qos.back} leads back to the others"


class QosScreen(BaseScreen):
    """Video, audio, frame rate and status on one time axis."""

    NAME = "QoS"
    MODE = "qos"
    SHOWS_EVENT = True

    def __init__(self) -> None:
        super().__init__()
        self._range = 1
        self._cursor: float | None = None  # epoch s, server clock
        self._episode: tuple[str, Episode] | None = None  # the id of its event, and how it was when it was selected
        self._overlay_id: str | None = None
        self._history, self._overlay_history = HistoryQuery(self), HistoryQuery(self, "past of another")

    def body(self) -> Iterable[Widget]:
        yield LinesWidget(id="title")
        yield QosChart()
        yield LinesWidget(id="episodes")

    @property
    def range_name(self) -> str:
        """The name of the range that is shown."""
        return view.RANGES[self._range][0]

    def on_screen_resume(self) -> None:
        """What is shown stays the same event until the operator selects another one."""
        state = self.ctx.selected_event()
        if state is not None:
            self.ctx.select_event(state.id)
        super().on_screen_resume()

    def on_screen_suspend(self) -> None:
        self.ctx.watch_event(None)

    def shows_alarm(self, alarm: Alarm) -> bool:
        """Whether the list of the event's faults, right above the alarms, does not say it already."""
        state = self.ctx.selected_event()
        ongoing = {episode.kind for episode in state.episodes if episode.until is None} if state else set()
        return state is None or alarm.event_id != state.id or alarm.kind not in ongoing

    def paint(self, snapshot: Snapshot, render_time: RenderTime) -> None:
        state, chart = self.ctx.selected_event(), self.query_one(QosChart)
        self.ctx.watch_event(state.id if state else None)
        gone: list[Line] = [[(with_keys(GONE, self.ctx.actions), StyleRole.WARNING)]] if snapshot.events else []
        self.query_one("#title", LinesWidget).show(gone if state is None else self._title(state, render_time))
        episodes = self._episode_lines(state, render_time) if state else []
        self.query_one("#episodes", LinesWidget).show(episodes)
        axis = self._axis(state, render_time) if state else None
        if state is None or axis is None:
            chart.show(state, render_time, None, PlotMarks(), NOT_SELECTED if snapshot.link.as_of else WAITING)
            return
        markers = (marker.at for marker in self._history.markers(state.id))
        flags = view.flags(axis, state.episodes, (*markers, *(ruling.moment for ruling in state.rulings)))
        overlay_event = self._overlay_event()
        overlay = _series(self._overlay_history, overlay_event, axis) if overlay_event else None
        marks = PlotMarks(self._cursor_column(axis), flags, overlay)
        chart.show(state, render_time, _series(self._history, state, axis), marks)

    def _axis(self, state: EventState, render_time: RenderTime) -> Axis | None:
        return chart_axis(state, render_time, view.RANGES[self._range][1], self.query_one(QosChart).columns)

    def _overlay_event(self) -> EventState | None:
        """The second event, whose curves lie over those of the first one, unless it is the same."""
        displayed, selected = self.ctx.displayed(), self.ctx.selected_event()
        state = displayed[0].find(self._overlay_id) if displayed and self._overlay_id else None
        return state if state and (selected is None or state.id != selected.id) else None

    def set_overlay(self, event_id: str | None) -> None:
        """Draw that event's curves over those that are shown; None: no longer."""
        self._overlay_id = event_id
        self.refresh_all()

    @property
    def overlay_id(self) -> str | None:
        """The id of the second event."""
        state = self._overlay_event()
        return state.id if state else None

    def _episode_lines(self, state: EventState, render_time: RenderTime) -> list[Line]:
        rows = 5 if self.size.height >= TALL else 2
        return view.episode_lines(state, self._selected_episode(state), render_time, self.size.width, rows)

    def _selected_episode(self, state: EventState) -> Episode | None:
        """The selected fault, if it is one of this event."""
        return self._episode[1] if self._episode and self._episode[0] == state.id else None

    def _cursor_column(self, axis: Axis) -> int | None:
        """The column of the cursor: it keeps its time while the axis moves on, until that is out of sight."""
        if self._cursor is None or not axis.start <= self._cursor < axis.end:
            return None
        return axis.column_of(self._cursor)

    def move_cursor(self, step: int) -> None:
        """Move the cursor by columns; the first step puts it on the newest column, one past that removes it."""
        displayed, state = self.ctx.displayed(), self.ctx.selected_event()
        axis = self._axis(state, displayed[1]) if displayed and state else None
        if axis is None:
            return
        column = self._cursor_column(axis)
        if column is not None:
            column += step
        elif step < 0:
            column = axis.columns - 1
        removed = column is None or column >= axis.columns
        self._cursor = None if column is None or removed else axis.start + (max(column, 0) + 0.5) * axis.step
        self.refresh_all()

    def select_fault(self, step: int) -> None:
        """Select the next (1) or previous fault in the list; the cursor shows where it began."""
        state = self.ctx.selected_event()
        if state is None or not state.episodes:
            self.ctx.announce("no fault of this event is known")
            return
        episodes = view.sort_episodes(state.episodes)
        index = view.index_of(episodes, self._selected_episode(state))
        episode = episodes[0 if index is None else min(max(index + step, 0), len(episodes) - 1)]
        self._episode = state.id, episode
        self._cursor = episode.since.timestamp()
        self.refresh_all()

    def show_new_marker(self) -> None:
        """A marker was added: show it at once."""
        self._history.invalidate()
        self.refresh_all()

    def _title(self, state: EventState, render_time: RenderTime) -> list[Line]:
        width = self.size.width
        freshness = justify(_freshness(state, render_time), [(1, self._range_tabs())], width)
        lines = [title(state, render_time, width), freshness]
        overlay = self._overlay_event()
        if overlay:
            lines.append([(f" {OVERLAY_GLYPH}", StyleRole.OVERLAY), *title(overlay, render_time, width - 2)])
        return lines

    def _range_tabs(self) -> Line:
        return [
            (f"[{name}]", StyleRole.STRONG) if index == self._range else (f" {name} ", StyleRole.DIM)
            for index, (name, _) in enumerate(view.RANGES)
        ]

    def change_range(self, step: int) -> None:
        """A longer (1) or a shorter range of time."""
        self._range = min(max(self._range + step, 0), len(view.RANGES) - 1)
        self.refresh_all()

    def step_event(self, step: int) -> None:
        """Select the next or previous event that should be sending, in the order of the Events screen."""
        displayed, selected = self.ctx.displayed(), self.ctx.selected_event()
        ids = [state.id for state in displayed[0].events if state.phase.tally.expects_signal] if displayed else []
        if ids:
            index = ids.index(selected.id) + step if selected and selected.id in ids else 0
            self.ctx.select_event(ids[index % len(ids)])


def _series(history: HistoryQuery, state: EventState, axis: Axis) -> TimeSeries:
    """The event on that axis, from memory and from the history."""
    return concat(history.series(state, axis), from_memory(axis, state.qos.readings))


def _freshness(state: EventState, render_time: RenderTime) -> list[Group]:
    as_of = state.qos.as_of
    if as_of is None:
        return [(0, [(" never answered", StyleRole.STALE)])]
    stale = is_doubtful(state, render_time)
    text = f" {'▒ STALE, as of' if stale else 'as of'} {as_of:%H:%M:%S}Z ({age(render_time.seconds_since(as_of))})"
    groups: list[Group] = [(0, [(text, StyleRole.WARNING if stale else StyleRole.DIM)])]
    if lag := lag_text(state):
        groups.append((0, [(lag, StyleRole.DIM)]))
    if state.qos.cadence is not None:
        groups.append((2, [(f"cadence {state.qos.cadence:g} s", StyleRole.DIM)]))
    if state.qos.error:
        groups.append((0, [(f"▲ {safe(state.qos.error, 80)}", StyleRole.WARNING)]))
    return groups
