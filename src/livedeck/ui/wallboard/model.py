"""What is on the wall: the events that are on air, due or wrong, through the filter. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from livedeck.monitor import Alarm, AlarmState, BroadcastState, EventState, RuleChange, Severity, Snapshot
from livedeck.presentation.events import EVENTS, STANDING_WORDS, Standing, has_critical_finding, standing
from livedeck.presentation.filtering import Term, filter_rows
from livedeck.presentation.render_time import RenderTime

DUE_SECONDS = 12 * 3600.0
"""Seconds before its start from which an event is on the wall; later ones are in the list of what is next."""

COMPLETED_SECONDS = 600.0
"""Seconds that an event stays on the wall after its end: nothing vanishes while somebody looks away."""

RETURNED_SECONDS = 300.0
"""Seconds that an alarm is shown once its fault is over: at a wall nobody can acknowledge it."""

MAX_UPCOMING = 3
"""Events that are told as next at most."""

RULE_CHANGE_SECONDS = 300.0
"""Seconds that it is told for that events are judged otherwise: after new settings, or after somebody has ruled."""


@dataclass(frozen=True, slots=True)
class WallModel:
    """What the wall shows. `states`: the events on it, worst first. `upcoming`: scheduled events, the soonest first.

    `alarms`: of those events and of the wall itself. `matching` of `total` events pass the filter; `hidden_critical` of
    the others have a critical fault. `fault`: why nothing is kept up to date, or empty. `rule_changes`: how events are
    judged otherwise since a moment ago.
    """

    snapshot: Snapshot
    render_time: RenderTime
    states: tuple[EventState, ...]
    upcoming: tuple[EventState, ...]
    alarms: tuple[Alarm, ...]
    matching: int
    hidden_critical: int = 0
    fault: str = ""
    rule_changes: tuple[RuleChange, ...] = ()

    @property
    def total(self) -> int:
        """Events of the platform."""
        return len(self.snapshot.events)

    @property
    def on_air(self) -> int:
        """Events that viewers expect a signal of."""
        return sum(state.phase.tally.expects_signal for state in self.states)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is on air, nothing is wrong, nothing must not start, and all is fresh: the wall may dim."""
        doubtful = self.render_time.stale or self.fault
        is_no_go = any(self.render_time.no_go(state.id) for state in self.states)
        return not (self.on_air or self.alarms or doubtful or self.hidden_critical or is_no_go)


def wall_model(
    snapshot: Snapshot,
    render_time: RenderTime,
    terms: tuple[Term, ...] = (),
    fault: str = "",
    rule_changes: Iterable[RuleChange] = (),
) -> WallModel:
    """The part of a snapshot that a wall with that filter shows. `rule_changes`: those of the snapshots until now."""
    matching = filter_rows(snapshot.events, terms, EVENTS, render_time)
    ids = {state.id for state in matching}
    return WallModel(
        snapshot,
        render_time,
        states=tuple(state for state in matching if _is_on_wall(state, render_time)),
        upcoming=_upcoming(matching, render_time),
        alarms=tuple(alarm for alarm in snapshot.alarms if _is_shown(alarm, ids, render_time)),
        matching=len(matching),
        hidden_critical=_count_critical(snapshot.events) - _count_critical(matching),
        fault=fault,
        rule_changes=tuple(
            change for change in rule_changes if render_time.seconds_since(change.at) < RULE_CHANGE_SECONDS
        ),
    )


def count_standings(model: WallModel) -> list[tuple[Standing | None, int]]:
    """How many events are on air (None), then how many stand so: good always, the others where there are any. Nothing
    but on air is counted of what is stale.
    """
    counts = Counter(standing(state, model.render_time) for state in model.states)
    has_good = bool(model.states) and not model.render_time.stale
    shown = [kind for kind in STANDING_WORDS if counts[kind] or (kind is Standing.GOOD and has_good)]
    return [(None, model.on_air), *((kind, counts[kind]) for kind in shown)]


def _count_critical(states: Iterable[EventState]) -> int:
    return sum(map(has_critical_finding, states))


def _is_shown(alarm: Alarm, event_ids: set[str], render_time: RenderTime) -> bool:
    over = alarm.state is AlarmState.RETURNED and render_time.seconds_since(alarm.changed) >= RETURNED_SECONDS
    return not over and (not alarm.event_id or alarm.event_id in event_ids)


def _is_on_wall(state: EventState, render_time: RenderTime) -> bool:
    if any(finding.severity is not Severity.INFO for finding in state.assessment.findings):
        return True
    tally, reference_time = state.phase.tally, state.phase.reference_time
    seconds = None if reference_time is None else render_time.server_seconds_since(reference_time)
    if tally is BroadcastState.SCHEDULED:
        return seconds is None or seconds > -DUE_SECONDS
    if tally is BroadcastState.COMPLETED:
        return seconds is not None and seconds < COMPLETED_SECONDS
    return tally is not BroadcastState.DRAFT


def _upcoming(states: Sequence[EventState], render_time: RenderTime) -> tuple[EventState, ...]:
    """Scheduled events, the soonest first; late ones are among the events on the wall."""
    starts = [
        (state.phase.reference_time, state.id, state)
        for state in states
        if state.phase.tally is BroadcastState.SCHEDULED and state.phase.reference_time
    ]
    soonest_first = sorted(starts, key=lambda start: start[:2])
    return tuple(state for at, _, state in soonest_first if render_time.server_seconds_since(at) <= 0)


def unacknowledged_events(model: WallModel) -> frozenset[str]:
    """The ids of events with a critical alarm that nobody acknowledged: their pages are pinned."""
    return frozenset(
        event_id
        for alarm in model.alarms
        if alarm.severity is Severity.CRITICAL and alarm.state is AlarmState.UNACKNOWLEDGED
        for event_id in (alarm.event_id, *alarm.affects)
        if event_id
    )
