"""The order of the events: the worst first (monitoring.md, "Alarms"). Pure."""

from __future__ import annotations

from collections.abc import Iterable

from livedeck.monitor.facts import Alarm, EventState, Grade, Severity, Tally

_TALLIES = (Tally.UNKNOWN, Tally.LATE, Tally.SCHEDULED, Tally.DRAFT, Tally.COMPLETED)
_GRADES = (Grade.NO_DATA, Grade.STALE, Grade.POOR, Grade.FAIR, Grade.WARM_UP, Grade.GOOD, Grade.NONE)

_Key = tuple[int, int, int, float, str]


def worst_first(states: Iterable[EventState], alarms: Iterable[Alarm]) -> tuple[EventState, ...]:
    """Events with alarms in the order of those; then on air by grade, late, scheduled, draft, completed newest first.

    `alarms` comes most urgent first; mere information moves no event. By grade and not by score, or two good streams
    would change places with every sample. Ties are broken by the id.
    """
    loud = [alarm.event_id for alarm in alarms if alarm.severity is not Severity.INFO]
    ranks = {event_id: rank for rank, event_id in reversed(list(enumerate(loud)))}
    return tuple(sorted(states, key=lambda state: _key(state, ranks.get(state.id, len(loud)))))


def _key(state: EventState, rank: int) -> _Key:
    on_air = state.phase.tally.owes_bits
    place = 0 if on_air else 1 + _TALLIES.index(state.phase.tally)
    grade = _GRADES.index(state.verdict.health.grade) if on_air else 0
    return rank, place, grade, _moment(state), state.id


def _moment(state: EventState) -> float:
    mark = state.phase.mark
    moment = mark.timestamp() if mark else 0.0
    return -moment if state.phase.tally is Tally.COMPLETED else moment
