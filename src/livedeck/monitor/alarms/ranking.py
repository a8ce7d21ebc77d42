"""The order of alarms and of events: the worst first (monitoring.md, "Alarms"). Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from livedeck.monitor.model.alarm import DECK, Alarm, AlarmKey, AlarmState
from livedeck.monitor.model.state import BroadcastState, EventState, Grade, Severity

_TALLIES = (
    BroadcastState.UNKNOWN,
    BroadcastState.LATE,
    BroadcastState.SCHEDULED,
    BroadcastState.DRAFT,
    BroadcastState.COMPLETED,
)

_GRADES = (Grade.NO_DATA, Grade.STALE, Grade.POOR, Grade.FAIR, Grade.WARM_UP, Grade.GOOD, Grade.NONE)


_SEVERITIES = (Severity.CRITICAL, Severity.WARNING, Severity.INFO)

_STANDINGS = {AlarmState.UNACKNOWLEDGED: 0, AlarmState.RETURNED: 2}

_LAST = 3


_Key = tuple[int, int, int, float, str]


def urgent_first(alarms: Iterable[Alarm], states: Iterable[EventState]) -> tuple[Alarm, ...]:
    """Unacknowledged critical, acknowledged critical, those that returned; then the warnings likewise.

    Among equals by place: the deck itself, events on air from which nothing arrives, other events on air, the rest; at
    one place the oldest first.
    """
    places = {DECK: 0} | {state.id: _place(state) for state in states}
    return tuple(sorted(alarms, key=lambda alarm: _urgency(alarm, places.get(alarm.event_id, _LAST))))


def _urgency(alarm: Alarm, place: int) -> tuple[int, int, int, datetime, AlarmKey]:
    return _SEVERITIES.index(alarm.severity), _STANDINGS.get(alarm.state, 1), place, alarm.since, alarm.key


def _place(state: EventState) -> int:
    if state.phase.is_silent:
        return 1
    return 2 if state.phase.tally.expects_signal else _LAST


def worst_first(states: Iterable[EventState], alarms: Iterable[Alarm]) -> tuple[EventState, ...]:
    """Events with alarms in the order of those; then on air by grade, late, scheduled, draft, completed newest first.

    `alarms`: most urgent first; only a fault that lasts and that nobody put away moves its event, and mere information
    moves none. By grade and not by score, or two good streams
    would change places with every sample. Ties are broken by the id.
    """
    loud = [alarm.event_id for alarm in alarms if _moves(alarm)]
    ranks = {event_id: rank for rank, event_id in reversed(list(enumerate(loud)))}
    return tuple(sorted(states, key=lambda state: _key(state, ranks.get(state.id, len(loud)))))


def _moves(alarm: Alarm) -> bool:
    away = alarm.state in {AlarmState.SHELVED, AlarmState.OUT_OF_SERVICE}
    return alarm.is_ongoing and not away and alarm.severity is not Severity.INFO


def _key(state: EventState, rank: int) -> _Key:
    on_air = state.phase.tally.expects_signal
    place = 0 if on_air else 1 + _TALLIES.index(state.phase.tally)
    grade = _GRADES.index(state.assessment.health.grade) if on_air else 0
    return rank, place, grade, _moment(state), state.id


def _moment(state: EventState) -> float:
    mark = state.phase.reference_time
    moment = mark.timestamp() if mark else 0.0
    return -moment if state.phase.tally is BroadcastState.COMPLETED else moment
