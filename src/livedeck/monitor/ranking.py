"""The order of the events: the worst first (monitoring.md, "Alarms"). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from livedeck.monitor.alarms import SEVERITIES
from livedeck.monitor.facts import Alarm, EventState, Grade, Severity, Tally

_BROADCAST = frozenset({Tally.ON_AIR, Tally.RECONNECTING, Tally.LOST})
_CALM = len(SEVERITIES)

_TALLIES = (Tally.UNKNOWN, Tally.LATE, Tally.SCHEDULED, Tally.DRAFT, Tally.COMPLETED)
_GRADES = (Grade.NO_DATA, Grade.STALE, Grade.POOR, Grade.FAIR, Grade.WARM_UP, Grade.GOOD, Grade.NONE)

_Key = tuple[int, int, bool, float, int, float, str]


def worst_first(states: Iterable[EventState], alarms: Iterable[Alarm]) -> tuple[EventState, ...]:
    """Events with alarms in the alarms' order; then on air by grade, late, scheduled, draft, completed newest first.

    Among events of one severity, those from which nothing arrives stand before those that arrive badly.
    By grade and not by score, or two good streams would change places with every sample. `alarms` comes most urgent
    first; ties are broken by the id.
    """
    loudest: dict[str, Alarm] = {}
    for alarm in alarms:
        if alarm.severity is not Severity.INFO:
            loudest.setdefault(alarm.event_id, alarm)
    return tuple(sorted(states, key=lambda state: _key(state, loudest)))


def _key(state: EventState, loudest: Mapping[str, Alarm]) -> _Key:
    alarm = loudest.get(state.id)
    severity = SEVERITIES.index(alarm.severity) if alarm else _CALM
    since = alarm.since.timestamp() if alarm else 0.0
    on_air = state.phase.tally in _BROADCAST
    place = 0 if on_air else 1 + _TALLIES.index(state.phase.tally)
    grade = _GRADES.index(state.verdict.health.grade) if on_air else 0
    silent = on_air and state.verdict.health.grade is Grade.NO_DATA
    return severity, place, not silent, since, grade, _moment(state), state.id


def _moment(state: EventState) -> float:
    mark = state.phase.mark
    moment = mark.timestamp() if mark else 0.0
    return -moment if state.phase.tally is Tally.COMPLETED else moment
