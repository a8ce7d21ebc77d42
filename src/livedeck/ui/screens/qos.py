"""Screen 3: the quality of the selected event over time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from livedeck import wording
from livedeck.monitor import Alarm, EventState, Snapshot
from livedeck.ui.renderables import cells, detail, qos_view
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line, spread
from livedeck.ui.renderables.moment import Moment
from livedeck.ui.screens.base import DeckScreen
from livedeck.ui.widgets.frame import Lines
from livedeck.ui.widgets.qos_chart import QosChart

GONE: list[Line] = [[(" this event is no longer in the platform's list: esc leads back to the others", Ink.WARNING)]]


class QosScreen(DeckScreen):
    """Video, audio, frame rate and status on one time axis."""

    NAME = "QoS"
    KEYS: ClassVar[tuple[tuple[str, str], ...]] = (
        ("q", "quit"),
        ("?", "help"),
        ("esc", "events"),
        ("+ -", "range"),
        ("[ ]", "event"),
        ("r", "ask now"),
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("plus,equals_sign", "span(1)", "longer range"),
        Binding("minus", "span(-1)", "shorter range"),
        Binding("left_square_bracket", "step(-1)", "previous event"),
        Binding("right_square_bracket", "step(1)", "next event"),
        Binding("escape", "app.switch_mode('events')", "back to the events"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._range = 1

    def body(self) -> Iterable[Widget]:
        yield Lines(id="title")
        yield QosChart()
        yield Lines(id="findings")

    def on_screen_resume(self) -> None:
        """What is shown stays the same event until the operator takes another one."""
        state = self.deck.chosen()
        if state is not None:
            self.deck.choose(state.id)
        super().on_screen_resume()

    def on_screen_suspend(self) -> None:
        self.deck.attend(None)

    def tells(self, alarm: Alarm) -> bool:
        """The findings of the shown event stand right above."""
        state = self.deck.chosen()
        return state is None or alarm.event_id != state.id

    def paint(self, snapshot: Snapshot, moment: Moment) -> None:
        state = self.deck.chosen()
        self.deck.attend(state.id if state else None)
        gone = GONE if snapshot.events else []
        self.query_one("#title", Lines).show(gone if state is None else self._title(state, moment))
        findings = state.verdict.findings[:3] if state else ()
        self.query_one("#findings", Lines).show(
            [[(" ", Ink.TEXT), *detail.finding_line(one, moment)] for one in findings]
        )
        self.query_one(QosChart).show(state, moment, qos_view.RANGES[self._range][1])

    def _title(self, state: EventState, moment: Moment) -> list[Line]:
        width = self.size.width
        return [detail.title(state, moment, width), spread(_age(state, moment), [(1, self._ranges())], width)]

    def _ranges(self) -> Line:
        return [
            (f"[{name}]" if at == self._range else f" {name} ", Ink.STRONG if at == self._range else Ink.DIM)
            for at, (name, _) in enumerate(qos_view.RANGES)
        ]

    def action_span(self, step: int) -> None:
        """A longer or a shorter stretch of time."""
        self._range = min(max(self._range + step, 0), len(qos_view.RANGES) - 1)
        self.refresh_all()

    def action_step(self, step: int) -> None:
        """The next or the previous event that should be sending, in the order of the Events screen."""
        snapshot, chosen = self.deck.snapshot, self.deck.chosen()
        sending = [state.id for state in snapshot.events if state.phase.tally.owes_bits] if snapshot else []
        if sending:
            at = sending.index(chosen.id) + step if chosen and chosen.id in sending else 0
            self.deck.choose(sending[at % len(sending)])


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
