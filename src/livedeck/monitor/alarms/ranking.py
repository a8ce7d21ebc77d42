"""The order of alarms and of events: the worst first (monitoring.md, "Order"). Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from livedeck.monitor.model.alarm import DECK, Alarm, AlarmKey, AlarmState, Severity
from livedeck.monitor.model.state import BroadcastState, EventState, Grade

_OFF_AIR = (
    BroadcastState.UNKNOWN,
    BroadcastState.LATE,
    BroadcastState.SCHEDULED,
    BroadcastState.DRAFT,
    BroadcastState.COMPLETED,
)

_GRADES = (Grade.NO_DATA, Grade.STALE, Grade.POOR, Grade.FAIR, Grade.WARM_UP, Grade.GOOD, Grade.NONE)

_STATE_RANKS = {AlarmState.UNACKNOWLEDGED: 0, AlarmState.RETURNED: 2}
"""Any other: 1."""

_LAST_PLACE = 3


def urgent_first(alarms: Iterable[Alarm], events: Iterable[EventState]) -> tuple[Alarm, ...]:
    """Unacknowledged critical, acknowledged critical, returned critical; then the warnings likewise.

    Among equals by place: the deck itself, events on air from which nothing arrives, other events on air, the rest; at
    one place the oldest first.
    """
    places = {DECK: 0} | {event.id: _place(event) for event in events}

    def urgency(alarm: Alarm) -> tuple[int, int, int, datetime, AlarmKey]:
        place = places.get(alarm.event_id, _LAST_PLACE)
        return alarm.severity.rank, _STATE_RANKS.get(alarm.state, 1), place, alarm.since, alarm.key

    return tuple(sorted(alarms, key=urgency))


def _place(event: EventState) -> int:
    if event.phase.is_silent:
        return 1
    return 2 if event.phase.tally.expects_signal else _LAST_PLACE


def worst_first(events: Iterable[EventState], alarms: Iterable[Alarm]) -> tuple[EventState, ...]:
    """Events with alarms in the order of those; then on air by grade, late, scheduled, draft, completed newest first.

    `alarms`: most urgent first; only an ongoing fault that nobody put away moves its event, and mere information moves
    none. By grade and not by score, or two good streams would change places with every sample. Ties are broken by the
    id.
    """
    moving = [alarm.event_id for alarm in alarms if _moves_event(alarm)]
    ranks = {event_id: rank for rank, event_id in reversed(list(enumerate(moving)))}

    def order(event: EventState) -> tuple[int, int, int, float, str]:
        phase = event.phase
        on_air = phase.tally.expects_signal
        group = 0 if on_air else 1 + _OFF_AIR.index(phase.tally)
        grade = _GRADES.index(event.assessment.health.grade) if on_air else 0
        time = phase.reference_time.timestamp() if phase.reference_time else 0.0
        newest_first = -time if phase.tally is BroadcastState.COMPLETED else time
        return ranks.get(event.id, len(moving)), group, grade, newest_first, event.id

    return tuple(sorted(events, key=order))


def _moves_event(alarm: Alarm) -> bool:
    is_put_away = alarm.state in {AlarmState.SHELVED, AlarmState.OUT_OF_SERVICE}
    return alarm.is_ongoing and not is_put_away and alarm.severity is not Severity.INFO
