"""Suppression of alarms by a parent alarm, according to the table of kinds (monitoring.md, "Suppression"). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from livedeck.monitor.alarms.faults import SAME_OCCURRENCE
from livedeck.monitor.kinds import ALARM_KINDS
from livedeck.monitor.kinds.kind import API_BLIND
from livedeck.monitor.model.alarm import DECK, Alarm, AlarmKey, AlarmState, Severity
from livedeck.monitor.model.thresholds import AlarmLimits

_PARENTS = {kind.name: kind.parents for kind in ALARM_KINDS.values()}
_OF_DECK = frozenset(kind.name for kind in ALARM_KINDS.values() if kind.is_of_deck)
_OF_PICTURE = tuple(kind.name for kind in ALARM_KINDS.values() if kind.is_of_picture)
_HIDDEN = frozenset({AlarmState.SHELVED, AlarmState.OUT_OF_SERVICE})


def hidden_by(alarm: Alarm, alarms: Mapping[AlarmKey, Alarm], now: datetime, limits: AlarmLimits) -> str:
    """Return the kind of the widest alarm that hides this one; empty if none does.

    An incident hides alarms that began with it or later; older alarms have another cause. An alarm of severity INFO
    hides nothing. Nor does a parent that is shelved or out of service: silencing one alarm must not silence all below
    it. A shelved incident is an exception and covers its members. A parent of the same event does not hide an alarm at
    a later stage, such as an encoder that is away for half its window. A hidden alarm stays hidden a little longer than
    its parent lasts, because the signs of one fault do not end together.
    """
    parents = _parents(alarm.kind, alarm.event_id)
    parent = next((parent for parent in parents if _hides(parent, alarm, alarms)), "")
    if parent := parent or _graver_of_picture(alarm, alarms, limits):
        return parent
    return alarm.parent if _has_parent_just_cleared(alarm, alarms, now, limits) else ""


def priority(kind: str) -> int:
    """Return the rank in which alarms get their state: parents come before the alarms that they may hide."""
    return _PRIORITIES.get(kind, len(_PRIORITIES))


def _parents(kind: str, event_id: str) -> tuple[str, ...]:
    """Return the parents of a kind. A kind unknown to this version, read from the history, has only API_BLIND."""
    if kind in _PARENTS:
        return _PARENTS[kind]
    return () if event_id == DECK else (API_BLIND,)


def _hides(parent: str, alarm: Alarm, alarms: Mapping[AlarmKey, Alarm]) -> bool:
    other = alarms.get(AlarmKey(DECK if parent in _OF_DECK else alarm.event_id, parent))
    if other is None or not other.is_ongoing or _is_silenced_alone(other) or other.severity is Severity.INFO:
        return False
    if not other.affects:
        return not alarm.stage or parent in _OF_DECK
    return alarm.event_id in other.affects and alarm.since >= other.since - SAME_OCCURRENCE


def _is_silenced_alone(parent: Alarm) -> bool:
    return parent.state in _HIDDEN and not (parent.affects and parent.state is AlarmState.SHELVED)


def incident_of(alarm: Alarm, alarms: Mapping[AlarmKey, Alarm]) -> Alarm | None:
    """Return the incident that covers this alarm, while the incident lasts or still hides the alarm; else None."""
    for kind in _parents(alarm.kind, alarm.event_id):
        incident = alarms.get(AlarmKey(DECK, kind))
        if incident is None or not incident.affects or _is_silenced_alone(incident):
            continue
        is_member = alarm.parent == kind or (incident.is_ongoing and alarm.event_id in incident.affects)
        if is_member and alarm.since >= incident.since - SAME_OCCURRENCE:
            return incident
    return None


def _graver_of_picture(alarm: Alarm, alarms: Mapping[AlarmKey, Alarm], limits: AlarmLimits) -> str:
    """Return the kind of the gravest sign of the same picture fault; empty if this alarm is the gravest."""
    if alarm.kind not in _OF_PICTURE:
        return ""
    window = timedelta(seconds=limits.picture_window)
    for kind in _OF_PICTURE:
        other = alarms.get(AlarmKey(alarm.event_id, kind))
        if other is None or not _is_graver(other, alarm) or not _hides(kind, alarm, alarms):
            continue
        if abs(other.since - alarm.since) <= window:
            return kind
    return ""


def _is_graver(other: Alarm, alarm: Alarm) -> bool:
    order = other.severity.rank, _OF_PICTURE.index(other.kind)
    return order < (alarm.severity.rank, _OF_PICTURE.index(alarm.kind))


def _has_parent_just_cleared(
    alarm: Alarm, alarms: Mapping[AlarmKey, Alarm], now: datetime, limits: AlarmLimits
) -> bool:
    if alarm.state is not AlarmState.SUPPRESSED or alarm.parent == API_BLIND:
        return False
    parent = alarms.get(AlarmKey(DECK if alarm.parent in _OF_DECK else alarm.event_id, alarm.parent))
    if parent is None or parent.is_ongoing or _is_silenced_alone(parent):
        return False
    return now - parent.changed <= timedelta(seconds=limits.hidden_after)


def _depth(kind: str) -> int:
    return 1 + max(map(_depth, _PARENTS[kind]), default=-1)


_PRIORITIES = {kind: _depth(kind) for kind in ALARM_KINDS}
