"""Which alarm hides which: a parent its children, by the table of kinds (monitoring.md, "Suppression"). Pure."""

from __future__ import annotations

from collections.abc import Mapping

from livedeck.monitor.kinds import ALARM_KINDS
from livedeck.monitor.kinds.kind import API_BLIND
from livedeck.monitor.model.alarm import DECK, Alarm, AlarmKey, AlarmState

_PARENTS = {kind.name: kind.parents for kind in ALARM_KINDS.values()}
_OF_DECK = frozenset(kind.name for kind in ALARM_KINDS.values() if kind.is_of_deck)
_PUT_AWAY = frozenset({AlarmState.SHELVED, AlarmState.OUT_OF_SERVICE})


def hidden_by(alarm: Alarm, alarms: Mapping[AlarmKey, Alarm]) -> str:
    """The kind of the alarm that hides this one, the widest first; empty where none does.

    A parent that is shelved or out of service hides nothing: to silence one alarm is not to silence all below it.
    """
    return next((parent for parent in _parents(alarm.kind, alarm.event_id) if _hides(parent, alarm, alarms)), "")


def priority(kind: str) -> int:
    """The order in which alarms get their state: parents before what they may hide."""
    return _PRIORITIES.get(kind, len(_PRIORITIES))


def _parents(kind: str, event_id: str) -> tuple[str, ...]:
    """Of a kind of another version, that the history remembers, the event alone is known."""
    if kind in _PARENTS:
        return _PARENTS[kind]
    return () if event_id == DECK else (API_BLIND,)


def _hides(parent: str, alarm: Alarm, alarms: Mapping[AlarmKey, Alarm]) -> bool:
    other = alarms.get(AlarmKey(DECK if parent in _OF_DECK else alarm.event_id, parent))
    if other is None or not other.is_ongoing or other.state in _PUT_AWAY:
        return False
    return not other.affects or alarm.event_id in other.affects


def _depth(kind: str) -> int:
    return 1 + max(map(_depth, _PARENTS[kind]), default=-1)


_PRIORITIES = {kind: _depth(kind) for kind in ALARM_KINDS}
