"""Sort alarms and events, worst first (monitoring.md, "Order"). Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from livedeck.monitor.model.alarm import DECK, Alarm, AlarmKey, AlarmState, Severity
from livedeck.monitor.model.state import BroadcastState, EventState, Grade
from livedeck.text.names import name_order

_OFF_AIR = (
    BroadcastState.UNKNOWN,
    BroadcastState.LATE,
    BroadcastState.SCHEDULED,
    BroadcastState.DRAFT,
    BroadcastState.COMPLETED,
)

_GRADES = (Grade.NO_DATA, Grade.STALE, Grade.POOR, Grade.FAIR, Grade.WARM_UP, Grade.GOOD, Grade.NONE)

_STATE_RANKS = {AlarmState.UNACKNOWLEDGED: 0, AlarmState.RETURNED: 2}
"""Rank of each state in the order of alarms; any other state has rank 1."""

_LAST_PLACE = 3


def urgent_first(alarms: Iterable[Alarm], events: Iterable[EventState]) -> tuple[Alarm, ...]:
    """Sort alarms by four criteria.

    1. Severity.
    2. State: unacknowledged, acknowledged or silenced, cleared but not acknowledged.
    3. Subject: the deck itself, events on air without a signal, other events on air, the rest.
    4. Age, oldest first.
    """
    places = {DECK: 0} | {event.id: _place(event) for event in events}

    def urgency(alarm: Alarm) -> tuple[int, int, int, datetime, AlarmKey]:
        place = places.get(alarm.event_id, _LAST_PLACE)
        state = AlarmState.ACKNOWLEDGED if alarm.silenced else alarm.state  # nobody is asked to handle it
        return alarm.severity.rank, _STATE_RANKS.get(state, 1), place, alarm.since, alarm.key

    return tuple(sorted(alarms, key=urgency))


def _place(event: EventState) -> int:
    if event.phase.is_silent:
        return 1
    return 2 if event.phase.tally.expects_signal else _LAST_PLACE


def worst_first(events: Iterable[EventState], alarms: Iterable[Alarm]) -> tuple[EventState, ...]:
    """Sort events: first those with alarms, in the order of `alarms`, which has the most urgent first.

    Only ongoing warnings and critical alarms that are not shelved or out of service count. The other events follow:
    on air by grade, unknown, late, scheduled, draft, completed (newest first). Each group is sorted by start, then by
    name. Events on air are sorted by grade and not by score, because scores change with every sample.
    """
    moving = [alarm.event_id for alarm in alarms if _moves_event(alarm)]
    ranks = {event_id: rank for rank, event_id in reversed(list(enumerate(moving)))}

    def order(event: EventState) -> tuple[int, int, int, float, tuple[tuple[int, str], ...], str]:
        phase = event.phase
        on_air = phase.tally.expects_signal
        group = 0 if on_air else 1 + _OFF_AIR.index(phase.tally)
        grade = _GRADES.index(event.assessment.health.grade) if on_air else 0
        time = phase.reference_time.timestamp() if phase.reference_time else 0.0
        newest_first = -time if phase.tally is BroadcastState.COMPLETED else time
        return (
            ranks.get(event.id, len(moving)),
            group,
            grade,
            newest_first,
            name_order(event.event.name or ""),
            event.id,
        )

    return tuple(sorted(events, key=order))


def _moves_event(alarm: Alarm) -> bool:
    is_hidden = alarm.state in {AlarmState.SHELVED, AlarmState.OUT_OF_SERVICE}
    return alarm.is_ongoing and not is_hidden and alarm.severity is not Severity.INFO
