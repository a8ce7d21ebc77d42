"""Screen 3: the quality of the selected event over time."""

from __future__ import annotations

from collections.abc import Iterable

from textual.widget import Widget

from livedeck.monitor import Alarm, Episode, EventState, Snapshot
from livedeck.presentation import event_detail, events
from livedeck.presentation.qos import Axis
from livedeck.presentation.render_time import RenderTime
from livedeck.text import values
from livedeck.text.segments import Line, StyleRole, justify
from livedeck.ui.kit.canvas import Canvas
from livedeck.ui.kit.lines import LinesWidget
from livedeck.ui.qos import view
from livedeck.ui.qos.plot import CLIPPED, GUTTER, PlotMarks
from livedeck.ui.qos.series import HistoryQuery, TimeSeries, axis_for, concat, from_memory
from livedeck.ui.qos.view import flags
from livedeck.ui.shell.keymap import worded
from livedeck.ui.shell.screen import TALL, WAITING, BaseScreen


class QosChart(Canvas):
    """Three curves and the status strip; drawn again only when what they show, size or trust changed."""

    def __init__(self) -> None:
        super().__init__()
        self._state: EventState | None = None
        self._moment: RenderTime | None = None
        self._shown: TimeSeries | None = None
        self._marked = PlotMarks()
        self._empty = ""
        self._drawn_for: tuple[object, ...] = ()

    @property
    def columns(self) -> int:
        """How many columns a curve has."""
        return max(8, self.size.width - GUTTER - 1)

    def show(
        self, state: EventState | None, moment: RenderTime, shown: TimeSeries | None, marked: PlotMarks, empty: str = ""
    ) -> None:
        """Paint that stretch of this event; `empty` says why there is none."""
        self._empty = empty
        self._state, self._moment, self._shown, self._marked = state, moment, shown, marked
        wanted = (
            state and (state.id, state.qos, state.assessment, state.phase.ingest.state, state.is_stale),
            moment.stale,
            shown,
            marked,
            empty,
            self.size,
        )
        if wanted != self._drawn_for:
            self._drawn_for = wanted
            self.repaint()

    def draw(self, width: int, height: int) -> list[Line]:
        if self._state is None or self._moment is None:
            return [[(f" {self._empty}", StyleRole.DIM)]]
        if self._shown is None or self._shown.empty:
            return view.empty(self._state)
        return view.view(self._state, self._moment, self._shown, self._marked, width=width, height=height)


UNCHOSEN = "no event selected: choose one on the Events screen"


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
        self._episode: tuple[str, Episode] | None = None  # the id of its event, and how it was when it was chosen
        self._over: str | None = None
        self._past, self._past_over = HistoryQuery(self), HistoryQuery(self, "past of another")

    def body(self) -> Iterable[Widget]:
        yield LinesWidget(id="title")
        yield QosChart()
        yield LinesWidget(id="episodes")

    @property
    def span_name(self) -> str:
        """The range that is shown, by its name."""
        return view.RANGES[self._range][0]

    def on_screen_resume(self) -> None:
        """What is shown stays the same event until the operator takes another one."""
        state = self.ctx.selected_event()
        if state is not None:
            self.ctx.select_event(state.id)
        super().on_screen_resume()

    def on_screen_suspend(self) -> None:
        self.ctx.watch_event(None)

    def tells(self, alarm: Alarm) -> bool:
        """What the list of the shown event's faults, right above, does not say."""
        state = self.ctx.selected_event()
        return state is None or alarm.event_id != state.id or alarm.kind not in _lasting(state)

    def paint(self, snapshot: Snapshot, moment: RenderTime) -> None:
        state, chart = self.ctx.selected_event(), self.query_one(QosChart)
        self.ctx.watch_event(state.id if state else None)
        gone: list[Line] = [[(worded(GONE, self.ctx.actions), StyleRole.WARNING)]] if snapshot.events else []
        self.query_one("#title", LinesWidget).show(gone if state is None else self._title(state, moment))
        listed = self._listed(state, moment) if state else []
        self.query_one("#episodes", LinesWidget).show(listed)
        axis = axis_for(state, moment, view.RANGES[self._range][1], chart.columns) if state else None
        if state is None or axis is None:
            chart.show(state, moment, None, PlotMarks(), UNCHOSEN if snapshot.link.as_of else WAITING)
            return
        other, flagged = self._second(), flags(axis, state.episodes, self._past.markers(state.id))
        over = _stretch(self._past_over, other, axis) if other else None
        chart.show(state, moment, _stretch(self._past, state, axis), PlotMarks(self._column(axis), flagged, over))

    def _second(self) -> EventState | None:
        """The event whose curves lie over those of the shown one, where that is another."""
        shown, chosen = self.ctx.displayed(), self.ctx.selected_event()
        found = shown[0].find(self._over) if shown and self._over else None
        return found if found and (chosen is None or found.id != chosen.id) else None

    def lay_over(self, event_id: str | None) -> None:
        """Draw that event's curves over those that are shown; None: no longer."""
        self._over = event_id
        self.refresh_all()

    @property
    def laid_over(self) -> str | None:
        """The id of the second event."""
        second = self._second()
        return second.id if second else None

    def _listed(self, state: EventState, moment: RenderTime) -> list[Line]:
        rows = 5 if self.size.height >= TALL else 2
        return view.lines(state, self._picked(state), moment, self.size.width, rows)

    def _picked(self, state: EventState) -> Episode | None:
        """The fault that was walked to, where that is one of this event."""
        return self._episode[1] if self._episode and self._episode[0] == state.id else None

    def _column(self, axis: Axis) -> int | None:
        """Where the cursor stands: it keeps its moment while the axis moves on, until that is out of sight."""
        if self._cursor is None or not axis.start <= self._cursor < axis.end:
            return None
        return int((self._cursor - axis.start) // axis.step)

    def point(self, step: int) -> None:
        """Move the cursor by columns; the first step puts it to the newest column, one past that takes it away."""
        shown = self.ctx.displayed()
        state, chart = self.ctx.selected_event(), self.query_one(QosChart)
        if shown is None or state is None:
            return
        axis = axis_for(state, shown[1], view.RANGES[self._range][1], chart.columns)
        if axis is None:
            return
        column = self._column(axis)
        column = axis.columns - 1 if column is None and step < 0 else None if column is None else column + step
        within = column is not None and column < axis.columns
        self._cursor = axis.start + (max(column, 0) + 0.5) * axis.step if within and column is not None else None
        self.refresh_all()

    def walk(self, step: int) -> None:
        """Down (1) or up the list of faults: it marks the one, the cursor shows where that began."""
        state = self.ctx.selected_event()
        if state is None or not state.episodes:
            self.ctx.announce("no fault of this event is known")
            return
        known = view.ranked(state.episodes)
        at = view.place(known, self._picked(state))
        one = known[0 if at is None else min(max(at + step, 0), len(known) - 1)]
        self._episode = state.id, one
        self._cursor = one.since.timestamp()
        self.refresh_all()

    def marked(self) -> None:
        """Something was marked: it is shown at once."""
        self._past.forget()
        self.refresh_all()

    def _title(self, state: EventState, moment: RenderTime) -> list[Line]:
        width = self.size.width
        lines = [event_detail.title(state, moment, width), justify(_age(state, moment), [(1, self._ranges())], width)]
        second = self._second()
        return (
            [*lines, [(f" {CLIPPED}", StyleRole.OVERLAY), *event_detail.title(second, moment, width - 2)]]
            if second
            else lines
        )

    def _ranges(self) -> Line:
        return [
            (
                f"[{name}]" if at == self._range else f" {name} ",
                StyleRole.STRONG if at == self._range else StyleRole.DIM,
            )
            for at, (name, _) in enumerate(view.RANGES)
        ]

    def span(self, step: int) -> None:
        """A longer or a shorter stretch of time."""
        self._range = min(max(self._range + step, 0), len(view.RANGES) - 1)
        self.refresh_all()

    def step(self, step: int) -> None:
        """The next or the previous event that should be sending, in the order of the Events screen."""
        shown, chosen = self.ctx.displayed(), self.ctx.selected_event()
        sending = [state.id for state in shown[0].events if state.phase.tally.expects_signal] if shown else []
        if sending:
            at = sending.index(chosen.id) + step if chosen and chosen.id in sending else 0
            self.ctx.select_event(sending[at % len(sending)])


def _lasting(state: EventState) -> set[str]:
    """The kinds of fault that are listed and not over: what comes of samples, and not of their absence."""
    return {one.kind for one in state.episodes if one.until is None}


def _stretch(past: HistoryQuery, state: EventState, axis: Axis) -> TimeSeries:
    """What is known of the event on that axis: at hand, and from the history."""
    return concat(past.known(state, axis), from_memory(axis, state.qos.readings))


def _age(state: EventState, moment: RenderTime) -> list[tuple[int, Line]]:
    if state.qos.as_of is None:
        return [(0, [(" never answered", StyleRole.STALE)])]
    age = values.age(moment.seconds_since(state.qos.as_of))
    stale = events.is_doubtful(state, moment)
    words = f" {'▒ STALE, as of' if stale else 'as of'} {state.qos.as_of:%H:%M:%S}Z ({age})"
    parts: list[tuple[int, Line]] = [(0, [(words, StyleRole.WARNING if stale else StyleRole.DIM)])]
    if state.qos.cadence is not None:
        parts.append((2, [(f"cadence {state.qos.cadence:g} s", StyleRole.DIM)]))
    if state.qos.error:
        parts.append((0, [(f"▲ {values.safe(state.qos.error, 80)}", StyleRole.WARNING)]))
    return parts
