"""Screen 3: the quality of the selected event over time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from livedeck import wording
from livedeck.monitor import Alarm, Episode, EventState, Snapshot
from livedeck.ui import bindings
from livedeck.ui.actions.keymap import worded
from livedeck.ui.past import Past
from livedeck.ui.renderables import cells, detail, episodes, qos_view
from livedeck.ui.renderables.buckets import Axis
from livedeck.ui.renderables.episodes import flags
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line, spread
from livedeck.ui.renderables.moment import Moment
from livedeck.ui.renderables.plot import OVER, Marked
from livedeck.ui.renderables.stretch import Stretch, at_hand, axis_for, joined
from livedeck.ui.screens.base import TALL, WAITING, DeckScreen
from livedeck.ui.widgets.frame import Lines
from livedeck.ui.widgets.qos_chart import QosChart

UNCHOSEN = "no event selected: choose one on the Events screen"

GONE = " this event is no longer in the platform's list: {qos.back} leads back to the others"


class QosScreen(DeckScreen):
    """Video, audio, frame rate and status on one time axis."""

    NAME = "QoS"
    MODE = "qos"
    SHOWS_EVENT = True
    BINDINGS: ClassVar[list[BindingType]] = bindings.here(MODE)

    def __init__(self) -> None:
        super().__init__()
        self._range = 1
        self._cursor: float | None = None  # epoch s, server clock
        self._episode: tuple[str, Episode] | None = None  # the id of its event, and how it was when it was chosen
        self._over: str | None = None
        self._past, self._past_over = Past(self), Past(self, "past of another")

    def body(self) -> Iterable[Widget]:
        yield Lines(id="title")
        yield QosChart()
        yield Lines(id="episodes")

    @property
    def span_name(self) -> str:
        """The range that is shown, by its name."""
        return qos_view.RANGES[self._range][0]

    def on_screen_resume(self) -> None:
        """What is shown stays the same event until the operator takes another one."""
        state = self.deck.chosen()
        if state is not None:
            self.deck.choose(state.id)
        super().on_screen_resume()

    def on_screen_suspend(self) -> None:
        self.deck.attend(None)

    def tells(self, alarm: Alarm) -> bool:
        """What the list of the shown event's faults, right above, does not say."""
        state = self.deck.chosen()
        return state is None or alarm.event_id != state.id or alarm.kind not in _lasting(state)

    def paint(self, snapshot: Snapshot, moment: Moment) -> None:
        state, chart = self.deck.chosen(), self.query_one(QosChart)
        self.deck.attend(state.id if state else None)
        gone: list[Line] = [[(worded(GONE, self.deck.keymap), Ink.WARNING)]] if snapshot.events else []
        self.query_one("#title", Lines).show(gone if state is None else self._title(state, moment))
        listed = self._listed(state, moment) if state else []
        self.query_one("#episodes", Lines).show(listed)
        axis = axis_for(state, moment, qos_view.RANGES[self._range][1], chart.columns) if state else None
        if state is None or axis is None:
            chart.show(state, moment, None, Marked(), UNCHOSEN if snapshot.link.as_of else WAITING)
            return
        other, flagged = self._second(), flags(axis, state.episodes, self._past.markers(state.id))
        over = _stretch(self._past_over, other, axis) if other else None
        chart.show(state, moment, _stretch(self._past, state, axis), Marked(self._column(axis), flagged, over))

    def _second(self) -> EventState | None:
        """The event whose curves lie over those of the shown one, where that is another."""
        shown, chosen = self.deck.shown(), self.deck.chosen()
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

    def _listed(self, state: EventState, moment: Moment) -> list[Line]:
        rows = 5 if self.size.height >= TALL else 2
        return episodes.lines(state, self._picked(state), moment, self.size.width, rows)

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
        shown = self.deck.shown()
        state, chart = self.deck.chosen(), self.query_one(QosChart)
        if shown is None or state is None:
            return
        axis = axis_for(state, shown[1], qos_view.RANGES[self._range][1], chart.columns)
        if axis is None:
            return
        column = self._column(axis)
        column = axis.columns - 1 if column is None and step < 0 else None if column is None else column + step
        within = column is not None and column < axis.columns
        self._cursor = axis.start + (max(column, 0) + 0.5) * axis.step if within and column is not None else None
        self.refresh_all()

    def walk(self, step: int) -> None:
        """Down (1) or up the list of faults: it marks the one, the cursor shows where that began."""
        state = self.deck.chosen()
        if state is None or not state.episodes:
            self.deck.tell("no fault of this event is known")
            return
        known = episodes.ranked(state.episodes)
        at = episodes.place(known, self._picked(state))
        one = known[0 if at is None else min(max(at + step, 0), len(known) - 1)]
        self._episode = state.id, one
        self._cursor = one.since.timestamp()
        self.refresh_all()

    def marked(self) -> None:
        """Something was marked: it is shown at once."""
        self._past.forget()
        self.refresh_all()

    def _title(self, state: EventState, moment: Moment) -> list[Line]:
        width = self.size.width
        lines = [detail.title(state, moment, width), spread(_age(state, moment), [(1, self._ranges())], width)]
        second = self._second()
        return [*lines, [(f" {OVER}", Ink.OVER), *detail.title(second, moment, width - 2)]] if second else lines

    def _ranges(self) -> Line:
        return [
            (f"[{name}]" if at == self._range else f" {name} ", Ink.STRONG if at == self._range else Ink.DIM)
            for at, (name, _) in enumerate(qos_view.RANGES)
        ]

    def span(self, step: int) -> None:
        """A longer or a shorter stretch of time."""
        self._range = min(max(self._range + step, 0), len(qos_view.RANGES) - 1)
        self.refresh_all()

    def step(self, step: int) -> None:
        """The next or the previous event that should be sending, in the order of the Events screen."""
        shown, chosen = self.deck.shown(), self.deck.chosen()
        sending = [state.id for state in shown[0].events if state.phase.tally.owes_bits] if shown else []
        if sending:
            at = sending.index(chosen.id) + step if chosen and chosen.id in sending else 0
            self.deck.choose(sending[at % len(sending)])


def _lasting(state: EventState) -> set[str]:
    """The kinds of fault that are listed and not over: what comes of samples, and not of their absence."""
    return {one.kind for one in state.episodes if one.until is None}


def _stretch(past: Past, state: EventState, axis: Axis) -> Stretch:
    """What is known of the event on that axis: at hand, and from the history."""
    return joined(past.known(state, axis), at_hand(axis, state.qos.readings))


def _age(state: EventState, moment: Moment) -> list[tuple[int, Line]]:
    if state.qos.as_of is None:
        return [(0, [(" never answered", Ink.STALE)])]
    age = wording.age(moment.since(state.qos.as_of))
    stale = cells.doubtful(state, moment)
    words = f" {'▒ STALE, as of' if stale else 'as of'} {state.qos.as_of:%H:%M:%S}Z ({age})"
    parts: list[tuple[int, Line]] = [(0, [(words, Ink.WARNING if stale else Ink.DIM)])]
    if state.qos.cadence is not None:
        parts.append((2, [(f"cadence {state.qos.cadence:g} s", Ink.DIM)]))
    if state.qos.error:
        parts.append((0, [(f"▲ {wording.safe(state.qos.error, 80)}", Ink.WARNING)]))
    return parts
