"""Model of the wall: the events that pass the filter and are on air, about to start, or faulty. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from livedeck.monitor import Alarm, AlarmState, BroadcastState, EventState, RuleChange, Severity, Snapshot
from livedeck.presentation.events import EVENTS, STANDING_WORDS, Standing, has_critical_finding, standing
from livedeck.presentation.filtering import Term, filter_rows
from livedeck.presentation.render_time import RenderTime

DUE_SECONDS = 12 * 3600.0
"""Time before the planned start at which an event appears on the wall, in seconds.

Earlier, the header lists the event among the next events.
"""

COMPLETED_SECONDS = 600.0
"""Seconds that a completed event stays on the wall, so that people see its end."""

RETURNED_SECONDS = 300.0
"""Seconds that a cleared alarm stays on the wall. Nobody can remove it there, because the wall acknowledges nothing."""

MAX_UPCOMING = 3
"""Maximum number of next events in the header."""

RULE_CHANGE_SECONDS = 300.0
"""Seconds for which the wall shows a change of the rules for judging events, by a person or by new settings."""


@dataclass(frozen=True, slots=True)
class WallModel:
    """Content of the wall.

    Attributes:
        states: events on the wall, worst first.
        upcoming: scheduled events that are not on the wall yet, soonest first.
        alarms: alarms of the matching events, and alarms without an event.
        matching: number of events that pass the filter.
        hidden_critical: number of events with a critical fault that the filter hides.
        fault: reason why the wall is no longer updated, or empty.
        rule_changes: recent changes of the rules for judging events.
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
        """Number of events on the platform."""
        return len(self.snapshot.events)

    @property
    def on_air(self) -> int:
        """Number of events that should have a signal."""
        return sum(state.phase.tally.expects_signal for state in self.states)

    @property
    def is_idle(self) -> bool:
        """True if the wall may dim: no event on air, no alarm, no NO-GO, no running silence, and fresh data."""
        doubtful = self.render_time.stale or self.fault
        is_no_go = any(self.render_time.no_go(state.id) for state in self.states)
        silences = self.render_time.silences
        return not (self.on_air or self.alarms or doubtful or self.hidden_critical or is_no_go or silences)


def wall_model(
    snapshot: Snapshot,
    render_time: RenderTime,
    terms: tuple[Term, ...] = (),
    fault: str = "",
    rule_changes: Iterable[RuleChange] = (),
) -> WallModel:
    """Return the model of a snapshot for a wall with the filter `terms`.

    `rule_changes`: rule changes of all snapshots so far.
    """
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
    """Count the events on air (None), then the events of each standing.

    Good events are always counted, other standings only if events have them. With stale data, only the events on air
    are counted.
    """
    counts = Counter(standing(state, model.render_time) for state in model.states)
    has_good = bool(model.states) and not model.render_time.stale
    shown = [kind for kind in STANDING_WORDS if counts[kind] or (kind is Standing.GOOD and has_good)]
    return [(None, model.on_air), *((kind, counts[kind]) for kind in shown)]


def _count_critical(states: Iterable[EventState]) -> int:
    return sum(map(has_critical_finding, states))


def _is_shown(alarm: Alarm, event_ids: set[str], render_time: RenderTime) -> bool:
    is_old = alarm.state is AlarmState.RETURNED and render_time.seconds_since(alarm.changed) >= RETURNED_SECONDS
    return not is_old and (not alarm.event_id or alarm.event_id in event_ids)


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
    """Return scheduled events, soonest first. Late events are not included, because they are on the wall."""
    starts = [
        (state.phase.reference_time, state.id, state)
        for state in states
        if state.phase.tally is BroadcastState.SCHEDULED and state.phase.reference_time
    ]
    soonest_first = sorted(starts, key=lambda start: start[:2])
    return tuple(state for at, _, state in soonest_first if render_time.server_seconds_since(at) <= 0)


def unacknowledged_events(model: WallModel) -> frozenset[str]:
    """Return the ids of events with an unacknowledged critical alarm; the wall pins their pages."""
    return frozenset(
        event_id
        for alarm in model.alarms
        if alarm.severity is Severity.CRITICAL and alarm.state is AlarmState.UNACKNOWLEDGED and not alarm.silenced
        for event_id in (alarm.event_id, *alarm.affects)
        if event_id
    )
