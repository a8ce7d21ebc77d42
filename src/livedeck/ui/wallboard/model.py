"""What has a place on the wall: what is on air, due or wrong, through the filter. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from livedeck.monitor import Alarm, AlarmState, BroadcastState, EventState, Severity, Snapshot
from livedeck.presentation.events import EVENTS, has_critical_finding
from livedeck.presentation.filtering import Term, filter_rows
from livedeck.presentation.render_time import RenderTime

DUE = 12 * 3600.0

"""Seconds before its start from which an event has a place; what comes later is in the list of what is next."""


OVER = 600.0

"""Seconds that an event keeps its place after its end: nothing vanishes while somebody looks away."""


LISTED = 300.0

"""Seconds that an alarm is told of once it is over: at a wall nobody can acknowledge it, ever."""


@dataclass(frozen=True, slots=True)
class WallModel:
    """What the wall tells. `states`: the events that have a place, worst first. `coming`: what is to start, the soonest
    first. `alarms`: of those events and of the wall itself. `matching` of `total` events pass the filter; `grave` of
    the others have a critical fault. `fault`: why nothing is kept up to date, or empty.
    """

    snapshot: Snapshot
    moment: RenderTime
    states: tuple[EventState, ...]
    coming: tuple[EventState, ...]
    alarms: tuple[Alarm, ...]
    matching: int
    grave: int = 0
    fault: str = ""

    @property
    def total(self) -> int:
        """Events of the platform."""
        return len(self.snapshot.events)

    @property
    def on_air(self) -> int:
        """How many owe their audience bits."""
        return sum(state.phase.tally.expects_signal for state in self.states)

    @property
    def calm(self) -> bool:
        """Nothing is on air, nothing is wrong and all of it is believed: the wall may dim."""
        return not self.on_air and not self.alarms and not self.moment.stale and not self.fault and not self.grave


def wall_model(snapshot: Snapshot, moment: RenderTime, terms: tuple[Term, ...] = (), fault: str = "") -> WallModel:
    """The part of a snapshot that a wall with that filter tells."""
    kept = filter_rows(snapshot.events, terms, EVENTS, moment)
    names = {state.id for state in kept}
    return WallModel(
        snapshot,
        moment,
        states=tuple(state for state in kept if _has_a_place(state, moment)),
        coming=coming(kept, moment),
        alarms=tuple(one for one in snapshot.alarms if _told(one, names, moment)),
        matching=len(kept),
        grave=sum(map(has_critical_finding, snapshot.events)) - sum(map(has_critical_finding, kept)),
        fault=fault,
    )


def _told(alarm: Alarm, names: set[str], moment: RenderTime) -> bool:
    listed = alarm.state is not AlarmState.RETURNED or moment.seconds_since(alarm.changed) < LISTED
    return listed and (not alarm.event_id or alarm.event_id in names)


def _has_a_place(state: EventState, moment: RenderTime) -> bool:
    phase = state.phase
    distance = None if phase.reference_time is None else moment.server_seconds_since(phase.reference_time)
    if phase.tally is BroadcastState.SCHEDULED:
        return distance is None or distance > -DUE or _wrong(state)
    if phase.tally is BroadcastState.COMPLETED:
        return (distance is not None and distance < OVER) or _wrong(state)
    return phase.tally is not BroadcastState.DRAFT or _wrong(state)


def _wrong(state: EventState) -> bool:
    return any(one.severity is not Severity.INFO for one in state.assessment.findings)


def coming(states: Sequence[EventState], moment: RenderTime) -> tuple[EventState, ...]:
    """What is scheduled, the soonest first; what is late has its place among the others."""
    marked = [
        (one.phase.reference_time, one.id, one)
        for one in states
        if one.phase.tally is BroadcastState.SCHEDULED and one.phase.reference_time
    ]
    return tuple(
        one for mark, _, one in sorted(marked, key=lambda each: each[:2]) if moment.server_seconds_since(mark) <= 0
    )


def unanswered(sight: WallModel) -> frozenset[str]:
    """The events with a critical alarm that nobody acknowledged: their pages stay up."""
    return frozenset(
        event_id
        for alarm in sight.alarms
        if alarm.severity is Severity.CRITICAL and alarm.state is AlarmState.UNACKNOWLEDGED
        for event_id in (alarm.event_id, *alarm.affects)
        if event_id
    )
