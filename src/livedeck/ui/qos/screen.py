"""Screen 3: quality of the selected event over time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta

from textual import events as textual_events
from textual.containers import Horizontal
from textual.message import Message
from textual.widget import Widget

from livedeck.monitor import Alarm, BroadcastState, Episode, EventState, NotReadError, Severity, Snapshot, event_key
from livedeck.presentation import events
from livedeck.presentation.event_detail import title
from livedeck.presentation.events import is_doubtful, lag_text, not_watched_text
from livedeck.presentation.past_streams import PastStream, day_words, stream_at, stream_words
from livedeck.presentation.preflight import missing_fields
from livedeck.presentation.qos import Axis
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.time_series import (
    TimeSeries,
    chart_axis,
    concat,
    from_memory,
    hold_until_answer,
    stream_start,
)
from livedeck.text.segments import Group, Line, Link, ShadedLine, StyleRole, justify, wrap_groups
from livedeck.text.times import is_time_of_day
from livedeck.text.values import age, safe
from livedeck.ui.kit.canvas import Canvas
from livedeck.ui.kit.chart import GUTTER
from livedeck.ui.kit.lines import LinesWidget
from livedeck.ui.qos import side, view
from livedeck.ui.qos.past import Subject, current_stream, load_streams, open_stream, with_current
from livedeck.ui.qos.series import HistoryQuery
from livedeck.ui.shell.keymap import with_keys
from livedeck.ui.shell.screen import AlarmFilter, BaseScreen, is_active, no_event_line, waiting_text

SIDE_FROM = 160
"""Minimum width in cells of a screen with panes beside the chart."""

WORDY_FROM = 100
"""Minimum width in cells of a screen with the word `range` before the ranges."""

PAST_KEYS = "{qos.now} live", "{qos.previous_stream}, {qos.next_stream} other streams   {qos.open} all"

WINDOW_KEYS = "{qos.earlier} {qos.later} pan   {qos.shorter} {qos.longer} zoom   {qos.now} now"


DrawEmpty = Callable[[int, int], Sequence[ShadedLine]]


class QosChart(Canvas):
    """Chart of the screen: panels, statuses, the map of the whole event, and the list of faults.

    Curves are redrawn only when values, size or freshness change.
    """

    class Picked(Message):
        """Click on a column of the panels, or of the map if `is_map` is True."""

        def __init__(self, cell: int, *, is_map: bool) -> None:
            super().__init__()
            self.cell, self.is_map = cell, is_map

    class Dragged(Message):
        """Drag of the chart by `cells` columns; positive to the right."""

        def __init__(self, cells: int) -> None:
            super().__init__()
            self.cells = cells

    def __init__(self) -> None:
        super().__init__()
        self._shown: view.Shown | None = None
        self._draw_empty: DrawEmpty = lambda *_: []
        self._drawn: tuple[object, ...] = ()
        self._chart_lines: list[ShadedLine] = []
        self._pressed: int | None = None  # column at which the button of the mouse was pressed
        self.has_side = False

    @property
    def layout_rows(self) -> view.Layout:
        """Number of rows for each part of the chart."""
        return view.layout(self.size.height, has_side=self.has_side)

    @property
    def columns(self) -> int:
        """Number of columns in a curve."""
        return self.layout_rows.columns(self.size.width)

    def show(self, shown: view.Shown | None, draw_empty: DrawEmpty) -> None:
        """Paint the chart. `draw_empty`: returns the lines in place of a chart without samples, for a size."""
        self._shown, self._draw_empty = shown, draw_empty
        self.repaint()

    def draw(self, width: int, height: int) -> Sequence[ShadedLine]:
        if self._shown is None or self._shown.is_empty:
            return self._draw_empty(width, height)
        state, render_time, chart, *_ = self._shown
        rows = self.layout_rows
        content = (state.id, state.qos, state.assessment, state.is_stale, render_time.stale, chart, width, rows)
        if content != self._drawn:
            self._drawn = content
            self._chart_lines = view.chart_lines(state, render_time, chart, rows, width)
        below = [] if self.has_side else view.below_lines(self._shown, width, rows.below)
        return [*self._chart_lines, *below][:height]

    def on_mouse_down(self, event: textual_events.MouseDown) -> None:
        """Begin a click or a drag."""
        cell = int(event.x) - GUTTER
        self._pressed = cell if 0 <= cell < self.columns and event.y < len(self._chart_lines) else None
        if self._pressed is not None:
            self.capture_mouse()

    def on_mouse_up(self, event: textual_events.MouseUp) -> None:
        """Finish a click or a drag.

        A click sets the cursor, or moves the window on the map. A drag moves the window.
        """
        if self._pressed is None:
            return
        self.release_mouse()
        cell, pressed, self._pressed = int(event.x) - GUTTER, self._pressed, None
        if cell == pressed:
            first_of_map = len(self._chart_lines) - self.layout_rows.whole
            self.post_message(self.Picked(cell, is_map=event.y >= first_of_map))
        else:
            self.post_message(self.Dragged(cell - pressed))


class QosSide(Canvas):
    """Panes beside the chart on a wide screen: faults, cause, comparison, fault share."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: view.Shown | None = None

    def show(self, shown: view.Shown | None) -> None:
        """Paint the panes for the content of the chart; without content, leave them empty."""
        self._shown = shown
        self.repaint()

    def draw(self, width: int, height: int) -> Sequence[ShadedLine]:
        if self._shown is None or self._shown.is_empty:
            return []
        return side.side_lines(self._shown, width, height)


NOT_SELECTED = "No event selected: choose one on the Events screen"


class QosScreen(BaseScreen):
    """Video, audio, frame rate and status on one time axis."""

    NAME = "QoS"
    MODE = "qos"
    SHOWS_EVENT = True

    def __init__(self) -> None:
        super().__init__()
        self._range = 1
        self._until: float | None = None  # epoch s, server clock; None: now
        self._cursor: float | None = None  # the same
        self._episode: tuple[str, Episode] | None = None  # event id, and the fault as it was when it was selected
        self._opened: Subject | None = None  # a past stream
        self._selected_before: str | None = None  # event selected when a stream of an unlisted event was opened
        self._searched_ids: set[str] = set()  # completed events whose last stream was searched in the history
        self._second_id: str | None = None
        self._second_stream: Subject | None = None  # a past stream in place of the second event
        self._is_fitted = self._is_since_start = False
        self._history, self._second_history, self._whole_history = (
            HistoryQuery(self, group) for group in ("past", "past of another", "past of the whole")
        )

    def forget(self) -> None:
        super().forget()
        for history in (self._history, self._second_history, self._whole_history):
            history.forget()
        self._close_stream()
        self._second_stream = None
        self._searched_ids.clear()

    def body(self) -> Iterable[Widget]:
        yield LinesWidget(id="title")
        yield Horizontal(QosChart(), QosSide(), classes="chart")

    @property
    def range_name(self) -> str:
        return view.RANGES[self._range][0]

    @property
    def range_names(self) -> Sequence[str]:
        """Names of all ranges, the shortest first."""
        return [name for name, _ in view.RANGES]

    def on_screen_resume(self) -> None:
        """Choose the shown event, so that it stays selected until the operator chooses another one."""
        state = self.ctx.selected_event()
        if state is not None:
            self.ctx.select_event(state.id)
        super().on_screen_resume()

    def on_mount(self) -> None:
        super().on_mount()
        self.app.theme_changed_signal.subscribe(self, lambda _: self.refresh_all())  # some themes have no grid

    def on_screen_suspend(self) -> None:
        self.ctx.watch_event(None)
        self.ctx.monitor.watch(self.MODE)

    def shows_alarm(self, alarm: Alarm) -> bool:
        """Return whether the alarm needs a separate line. False if its fault is in the list of faults."""
        subject = self.subject()
        ongoing = {episode.kind for episode in self._faults(subject) if episode.until is None} if subject else set()
        return subject is None or alarm.event_id != subject.state.id or alarm.kind not in ongoing

    def target_alarms(self, snapshot: Snapshot, wants: AlarmFilter = is_active) -> tuple[Alarm, ...]:
        """Return the alarms that a key acts on: only that of the fault that a person has selected in the list.

        Without a selected fault: all of the event, that of the marked fault first.
        """
        found, subject = super().target_alarms(snapshot, wants), self.subject()
        faults = self._faults(subject) if subject and subject.stream is None else []
        if subject is None or not faults:
            return found
        index = view.index_of(faults, self._selected_episode(subject.state))
        fault, skew = faults[index or 0], timedelta(seconds=snapshot.link.skew)

        def is_of_fault(alarm: Alarm) -> bool:
            is_later = fault.until is not None and alarm.since + skew > fault.until
            is_alike = (alarm.event_id, alarm.kind, alarm.target) == (subject.state.id, fault.kind, fault.target)
            return is_alike and not is_later

        if index is not None:
            return tuple(filter(is_of_fault, found))
        return tuple(sorted(found, key=lambda alarm: not is_of_fault(alarm)))

    def _faults(self, subject: Subject) -> list[Episode]:
        """Return the faults of the subject, in the order of the list.

        The faults of a current stream include faults that only an alarm shows.
        """
        displayed, state = self.ctx.displayed(), subject.state
        if displayed is None or subject.stream is not None:
            return view.sort_episodes(state.episodes)
        snapshot = displayed[0]
        alarms = [alarm for alarm in snapshot.alarms if alarm.event_id == state.id]
        return view.with_running(state.episodes, alarms, snapshot.link.skew)

    def subject(self) -> Subject | None:
        """Return the subject of the charts; None without one.

        An opened past stream is the subject until another event is selected. Without one, the selected event is.
        """
        displayed, selected = self.ctx.displayed(), self.ctx.selected_event()
        if self._opened and (selected is None or selected.id == self._opened.state.id):
            return self._opened
        return Subject(selected, displayed[1]) if displayed and selected else None

    @property
    def is_live(self) -> bool:
        """True if the window shows the newest sample of the current stream."""
        return self._until is None and self._opened is None

    def paint(self, snapshot: Snapshot, render_time: RenderTime) -> None:
        subject, chart, side_pane = self.subject(), self.query_one(QosChart), self.query_one(QosSide)
        if self._opened and subject is not self._opened:
            self._opened = self._until = self._cursor = self._episode = None
        selected = self.ctx.selected_event()
        self.ctx.watch_event(selected.id if selected else None)
        lacks_fields = selected and selected.id in render_time.preflights and missing_fields(selected.event)
        self.ctx.monitor.watch(self.MODE, *([event_key(selected.id)] if selected and lacks_fields else []))
        chart.has_side = side_pane.display = self.size.width >= SIDE_FROM
        shown = self._shown(subject) if subject else None
        if subject is None:
            gone = [no_event_line(self.ctx, "qos.back")] if snapshot.events else []
            self.query_one("#title", LinesWidget).show(gone)
        else:
            self._open_if_completed(subject.state)
            head = self._head(subject, shown)
            self.query_one("#title", LinesWidget).show([*self._past_line(shown, render_time), *head])
        nothing = NOT_SELECTED if snapshot.link.as_of else waiting_text(snapshot)

        def draw_empty(cells: int, lines: int) -> Sequence[ShadedLine]:
            if subject is None:
                return [[(f" {nothing}", StyleRole.DIM)]]
            return view.empty_lines(subject.state, subject.render_time, self.ctx.actions, cells, lines)

        chart.show(shown, draw_empty)
        side_pane.show(shown)

    def _past_line(self, shown: view.Shown | None, render_time: RenderTime) -> list[ShadedLine]:
        """Return a line with the times and the stream of the window; empty if the window is live."""
        if shown is None or self.is_live:
            return []
        stream = self._opened.stream if self._opened else None
        words = view.past_words(shown.chart.series.axis, stream, render_time.server.date())
        live, others = (with_keys(keys, self.ctx.actions) for keys in PAST_KEYS)
        chip: Line = [(f" ‖ {words} ", StyleRole.WARNING_FILL)]
        groups: list[Group] = [(0, chip), (0, [(live, StyleRole.DIM)]), (1, [(others, StyleRole.DIM)])]
        fault = self._history.fault
        return [wrap_groups(groups, self.size.width), *([[(f"▲ {fault}", StyleRole.WARNING)]] if fault else [])]

    def _open_if_completed(self, state: EventState) -> None:
        """Open a completed event's last stream from the history, if no samples of the event have been polled."""
        is_completed = state.phase.tally is BroadcastState.COMPLETED and state.qos.as_of is None
        if is_completed and self.ctx.records is not None and state.id not in self._searched_ids:
            self._searched_ids.add(state.id)
            self.run_worker(self._open_last(state.id), group="last stream", exclusive=True)

    async def _open_last(self, event_id: str) -> None:
        records = self.ctx.records
        try:
            streams = await self.streams(event_id)
        except NotReadError as error:
            self.ctx.announce(str(error), Severity.WARNING)
            return
        selected = self.ctx.selected_event()
        is_still_shown = self.ctx.records is records and selected is not None and selected.id == event_id
        if streams and self._opened is None and is_still_shown:
            await self.open(streams[0])

    async def streams(self, event_id: str | None = None) -> tuple[PastStream, ...]:
        """Return the streams of an event, newest first; of all events if `event_id` is None. Raises NotReadError.

        The current stream of the selected event is among them, unless `event_id` names another event.
        """
        displayed, selected, history = self.ctx.displayed(), self.ctx.selected_event(), self.ctx.records
        if displayed is None:
            return ()
        now = displayed[1].server
        found = await history.whole(load_streams(history, now, event_id)) if history else ()
        if selected is None or event_id not in {None, selected.id}:
            return found
        return with_current(found, current_stream(selected, displayed[1]))

    async def open(self, stream: PastStream, at: datetime | None = None) -> None:
        """Show a past stream around the moment `at`; None shows its end. A current stream is shown live."""
        displayed, history = self.ctx.displayed(), self.ctx.records
        state = displayed[0].find(stream.event_id) if displayed else None
        current = current_stream(state, displayed[1]) if state and displayed else None
        if state is not None:
            self.ctx.select_event(state.id)
        if current and current.stream_id == stream.stream_id:
            self._opened = None
        elif history is not None:
            subject = await open_stream(history, stream, state.event if state else None)
            if state is None and (selected := self.ctx.selected_event()):
                self._selected_before = selected.id
                self.ctx.reconcile_selection(())  # keys must not act on an event that is not on the screen
            self._opened = subject
        self._until = self._cursor = None
        if at is not None:
            self._cursor = at.timestamp()
            self._move_window(self._cursor + (view.RANGES[self._range][1] or 0.0) / 2)
        self.refresh_all()

    async def jump(self, text: str, at: datetime) -> None:
        """Show the event's stream that ran at the moment `at`; without one, the nearest stream.

        `text`: the typed moment. A text with only a time of day means the latest day with a stream at that time.
        """
        subject = self.subject()
        if subject is None:
            return
        state, today = subject.state, self._today()
        streams = await self.streams(state.id)
        found = stream_at(streams, at, any_day=is_time_of_day(text))
        if found is None:
            self.ctx.announce(f"{events.name(state)}: no streams known", Severity.WARNING)
            return
        stream, moment = found
        await self.open(stream, moment)
        if not stream.has(at) and not (is_time_of_day(text) and stream.has(moment) and moment.time() == at.time()):
            nearest = f"{moment:%H:%M}Z of {stream_words(stream, today)}"
            self.ctx.announce(f"{events.name(state)}: no stream known at {at:%d %b %H:%M}Z; the nearest is {nearest}")
        else:
            self.ctx.announce(f"{moment:%H:%M}Z {day_words(moment, today)}: {events.name(state)}")

    def _today(self) -> date:
        displayed = self.ctx.displayed()
        return (displayed[1].server if displayed else self.ctx.clock.now()).date()

    async def step_stream(self, step: int) -> None:
        """Show the event's stream after (1) or before (-1) the shown stream."""
        subject = self.subject()
        if subject is None:
            return
        streams = await self.streams(subject.state.id)
        ids = [stream.stream_id for stream in streams]
        stream = subject.state.event.stream
        shown_id = stream.id if stream else None
        index = ids.index(shown_id) - step if shown_id in ids else 0 if step < 0 else -1
        if 0 <= index < len(streams):
            await self.open(streams[index])
        else:
            self.ctx.announce(f"{events.name(subject.state)}: no {'later' if step > 0 else 'earlier'} stream known")

    def shown_stream(self) -> PastStream | None:
        """Return the shown stream; None if unknown."""
        subject = self.subject()
        if subject is None:
            return None
        return subject.stream or current_stream(*subject[:2])

    def _shown(self, subject: Subject) -> view.Shown | None:
        """Return the content of the screen for an event; None before the first reply for the event."""
        state, render_time, _ = subject
        axis = self._axis(state, render_time)
        whole_axis = chart_axis(state, render_time, None, self.query_one(QosChart).columns)
        if axis is None or whole_axis is None:
            return None
        second = self._second_subject()
        whole = _series(self._whole_history, state, render_time, whole_axis)
        markers, faults = (marker.at for marker in self._history.markers(state.id)), self._faults(subject)
        chart = view.Chart(
            _series(self._history, state, render_time, axis),
            whole,
            self._second_series(state, second, axis) if second else None,
            self._cursor_cell(axis),
            view.flags(axis, faults, (*markers, *(ruling.moment for ruling in state.rulings))),
            self._is_fitted,
            has_grid=self.has_chart_grid,
            window=f"{view.window_words(axis, whole)}   {with_keys(WINDOW_KEYS, self.ctx.actions)}",
        )
        second_state, selected = second.state if second else None, self._selected_episode(state)
        return view.Shown(state, render_time, chart, faults, second_state, selected)

    def _axis(self, state: EventState, render_time: RenderTime) -> Axis | None:
        span, columns = view.RANGES[self._range][1], self.query_one(QosChart).columns
        return chart_axis(state, render_time, span, columns, self._until if span else None)

    def _second_series(self, state: EventState, second: Subject, axis: Axis) -> TimeSeries:
        """Return the second event's values on the axis.

        If the curves are aligned by start, the values are shifted by the distance of the two starts.
        """
        later = stream_start(second.state, axis.start) - stream_start(state, axis.start)
        shifted = axis.shifted(later) if self._is_since_start else axis
        return _series(self._second_history, second.state, second.render_time, shifted)

    def _second_subject(self) -> Subject | None:
        """Return the event or past stream to compare with; None without one, or if it is the shown event."""
        subject, displayed = self.subject(), self.ctx.displayed()
        if self._second_stream is not None:
            return self._second_stream
        state = displayed[0].find(self._second_id) if displayed and self._second_id else None
        is_other = state and (subject is None or state.id != subject.state.id)
        return Subject(state, displayed[1]) if displayed and state and is_other else None

    def compare_with(self, event_id: str | None) -> None:
        """Draw the curves of another event over the shown curves. None removes them."""
        self._second_id, self._second_stream = event_id, None
        self.refresh_all()

    async def compare_with_stream(self, stream: PastStream) -> None:
        """Draw the curves of a past stream under the shown curves, aligned by the starts of both streams."""
        if self.ctx.records is None:
            return
        name = f"{stream.name}, {day_words(stream.first, self._today())}"
        subject = await open_stream(self.ctx.records, replace(stream, name=name), None)
        self._second_id, self._second_stream, self._is_since_start = None, subject, True
        self.refresh_all()

    def align(self) -> None:
        """Align the second event's curves by the clock, or again by the starts of both events."""
        self._is_since_start = not self._is_since_start
        self.ctx.announce(f"second event aligned by {'its start' if self._is_since_start else 'the clock'}")
        self.refresh_all()

    def fit(self) -> None:
        """Switch the charts between scales that fit the values and scales from zero."""
        self._is_fitted = not self._is_fitted
        self.refresh_all()

    @property
    def second_id(self) -> str | None:
        """Id of the second event; None without one."""
        second = self._second_subject()
        return second.state.id if second else None

    def _selected_episode(self, state: EventState) -> Episode | None:
        """Return the selected fault if it belongs to this event."""
        return self._episode[1] if self._episode and self._episode[0] == state.id else None

    def _cursor_cell(self, axis: Axis) -> int | None:
        """Return the cell of the cursor; None without a visible cursor.

        The cursor stays at its time while the axis moves.
        """
        if self._cursor is None or not axis.start <= self._cursor < axis.end:
            return None
        return axis.column_of(self._cursor)

    def _shown_axis(self) -> Axis | None:
        subject = self.subject()
        return self._axis(*subject[:2]) if subject else None

    def move_cursor(self, step: int) -> None:
        """Move the cursor by `step` columns; negative to the left.

        The first step to the left puts the cursor on the newest column. A step to the right of this column removes the
        cursor.
        """
        subject, axis = self.subject(), self._shown_axis()
        if axis is None or subject is None:
            return
        newest = min(axis.columns - 1, axis.column_of(_now(*subject[:2])))
        cell = self._cursor_cell(axis)
        if cell is not None:
            cell += step
        elif step < 0:
            cell = newest
        self._cursor = None if cell is None or cell > newest else axis.start + (max(cell, 0) + 0.5) * axis.step
        self.refresh_all()

    def on_qos_chart_picked(self, message: QosChart.Picked) -> None:
        subject, axis = self.subject(), self._shown_axis()
        if axis is None or subject is None:
            return
        whole = chart_axis(*subject[:2], None, self.query_one(QosChart).columns)
        if message.is_map and whole is not None:
            middle = whole.start + (message.cell + 0.5) * whole.step
            self._move_window(middle + (axis.end - axis.start) / 2)
        else:
            self._cursor = axis.start + (message.cell + 0.5) * axis.step
            self.refresh_all()

    def on_qos_chart_dragged(self, message: QosChart.Dragged) -> None:
        axis = self._shown_axis()
        if axis is not None:
            self._move_window(axis.end - message.cells * axis.step)

    def on_mouse_scroll_up(self) -> None:
        """Zoom in."""
        self.change_range(-1)

    def on_mouse_scroll_down(self) -> None:
        """Zoom out."""
        self.change_range(1)

    def pan(self, step: int) -> None:
        """Move the window later (1) or earlier (-1) by half its width, within the stream.

        The window becomes live when it reaches the newest sample.
        """
        axis = self._shown_axis()
        if axis is not None:
            self._move_window(axis.end + step * (axis.end - axis.start) / 2)

    def _move_window(self, until: float) -> None:
        """Move the window so that it ends at `until` (epoch s), within the stream.

        The window becomes live when it reaches the newest sample.
        """
        subject, span = self.subject(), view.RANGES[self._range][1]
        if subject is not None and span is not None:
            now = _now(*subject[:2])
            self._until = None if until >= now else max(until, min(now, stream_start(subject.state, now) + span))
        self.refresh_all()

    def _look_at(self, at: float) -> None:
        """Put the cursor at a time (epoch s). If the time is not visible, move the window to it."""
        self._cursor, axis = at, self._shown_axis()
        if axis is not None and not axis.start <= at < axis.end:
            self._move_window(at + (axis.end - axis.start) / 2)
        self.refresh_all()

    def show_now(self) -> None:
        """Make the window live: close any past stream, remove cursor and selection, and show the newest sample."""
        self._close_stream()
        self.refresh_all()

    def _close_stream(self) -> None:
        self._opened = self._until = self._cursor = self._episode = None
        before, self._selected_before = self._selected_before, None
        if before is not None and self.ctx.selected_event() is None:
            self.ctx.select_event(before)

    def show_end(self) -> None:
        """Show the end of the stream; of a current stream, the newest sample."""
        self._until = self._cursor = None
        self.refresh_all()

    def show_start(self) -> None:
        """Show the start of the stream."""
        if subject := self.subject():
            self._look_at(stream_start(subject.state, 0.0))

    def step_marker(self, step: int) -> None:
        """Move the cursor to the next (1) or previous (-1) marker of the stream."""
        subject = self.subject()
        if subject is None:
            return
        end = _now(*subject[:2])
        start = stream_start(subject.state, end)
        marks = sorted(marker.at.timestamp() for marker in self._history.markers(subject.state.id))
        here = self._cursor if self._cursor is not None else end + 1
        beyond = [at for at in marks if start <= at <= end and (at > here if step > 0 else at < here)]
        if beyond:
            self._look_at(beyond[0 if step > 0 else -1])
        elif fault := self._history.fault:
            self.ctx.announce(fault, Severity.WARNING)
        else:
            self.ctx.announce(f"no marker in this stream {'after' if step > 0 else 'before'} this moment")

    def select_fault(self, step: int) -> None:
        """Select the next (1) or previous (-1) fault in the list, and move the cursor to the start of the fault."""
        subject = self.subject()
        episodes = self._faults(subject) if subject else []
        if subject is None or not episodes:
            self.ctx.announce("no faults known for this event")
            return
        state = subject.state
        index = view.index_of(episodes, self._selected_episode(state))
        episode = episodes[0 if index is None else min(max(index + step, 0), len(episodes) - 1)]
        self._episode = state.id, episode
        self._look_at(episode.since.timestamp())

    def show_new_marker(self) -> None:
        """Read the markers again, because a marker was just added."""
        self._history.invalidate()
        self.refresh_all()

    def _head(self, subject: Subject, shown: view.Shown | None) -> list[ShadedLine]:
        """Return the two lines above the chart: event and ranges, then the values and their age."""
        state, render_time, stream = subject
        word = "range " if self.size.width >= WORDY_FROM else ""
        tabs = wrap_groups([(0, [(word, StyleRole.DIM), *self._range_tabs()])], self.size.width)
        lines: list[ShadedLine] = [
            [*title(state, render_time, self.size.width - sum(len(text) for text, _ in tabs) - 1), *tabs]
        ]
        measured = view.readout(shown) if shown else []
        freshness = _freshness(state, render_time) if stream is None else []
        return [*lines, justify(measured, freshness, self.size.width - 1)]

    def _range_tabs(self) -> ShadedLine:
        return [
            (f"[{name}]", Link(StyleRole.STRONG, "qos.longer", name))
            if index == self._range
            else (f" {name} ", Link(StyleRole.DIM, "qos.longer", name))
            for index, (name, _) in enumerate(view.RANGES)
        ]

    def change_range(self, step: int) -> None:
        """Change to the next longer (1) or shorter (-1) range. The cursor keeps its column."""
        axis = self._shown_axis()
        cell = self._cursor_cell(axis) if axis else None
        before, self._range = self._range, min(max(self._range + step, 0), len(view.RANGES) - 1)
        span = view.RANGES[self._range][1]
        if axis and self._cursor and cell is not None and span and before != self._range:
            self._move_window(self._cursor + span * (1 - cell / axis.columns))
        else:
            self.refresh_all()

    def step_event(self, step: int) -> None:
        """Select the next (1) or previous (-1) event that should be sending, in the order of the Events screen."""
        displayed, selected = self.ctx.displayed(), self.ctx.selected_event()
        ids = [state.id for state in displayed[0].events if state.phase.tally.expects_signal] if displayed else []
        if ids:
            index = ids.index(selected.id) + step if selected and selected.id in ids else 0
            self.ctx.select_event(ids[index % len(ids)])


def _now(state: EventState, render_time: RenderTime) -> float:
    """Return the time of the newest reply for the event (epoch s, server clock); 0 before the first."""
    return render_time.to_server(state.qos.as_of).timestamp() if state.qos.as_of else 0.0


def _series(history: HistoryQuery, state: EventState, render_time: RenderTime, axis: Axis) -> TimeSeries:
    """Return the event's values on an axis, joined from memory and the history."""
    series = concat(history.series(state, axis), from_memory(axis, state.qos.readings))
    return hold_until_answer(state, render_time, series)


def _freshness(state: EventState, render_time: RenderTime) -> list[Group]:
    as_of = state.qos.as_of
    if as_of is None:
        return [(0, [(" no reply yet", StyleRole.STALE)])]
    stale = is_doubtful(state, render_time)
    words = f"{'▒ STALE, as of' if stale else 'as of'} {as_of:%H:%M:%S}Z ({age(render_time.seconds_since(as_of))})"
    groups: list[Group] = [
        (0, [(f"▲ {safe(state.qos.error, 80)}", StyleRole.WARNING)] if state.qos.error else []),
        (0 if stale else 3, [(words, StyleRole.WARNING if stale else StyleRole.DIM)]),
    ]
    if gap := not_watched_text(state):
        groups.append((2, [(gap, StyleRole.DIM)]))
    if lag := lag_text(state):
        groups.append((0, [(lag, StyleRole.DIM)]))
    if state.qos.cadence is not None:
        groups.append((4, [(f"cadence {state.qos.cadence:g} s", StyleRole.DIM)]))
    return groups
