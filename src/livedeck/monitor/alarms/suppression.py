"""Suppression of alarms by a parent alarm, according to the table of kinds (monitoring.md, "Suppression"). Pure."""

from __future__ import annotations

from collections.abc import Container, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from livedeck.monitor.alarms.faults import SAME_OCCURRENCE
from livedeck.monitor.alarms.lifecycle import Cover
from livedeck.monitor.kinds import ALARM_KINDS
from livedeck.monitor.kinds.ingest import ENDED_ON_AIR, QOS_STALE
from livedeck.monitor.kinds.kind import API_BLIND, DROPOUTS, NO_INGEST, RECONNECTING
from livedeck.monitor.model.alarm import DECK, Alarm, AlarmKey, AlarmState, Severity
from livedeck.monitor.model.thresholds import AlarmLimits

_PARENTS = {kind.name: kind.parents for kind in ALARM_KINDS.values()}
_OF_DECK = frozenset(kind.name for kind in ALARM_KINDS.values() if kind.is_of_deck)
_OF_PICTURE = tuple(kind.name for kind in ALARM_KINDS.values() if kind.is_of_picture)
_OF_SOUND = tuple(kind.name for kind in ALARM_KINDS.values() if kind.is_of_sound)
_SIGNS = {**dict.fromkeys(_OF_PICTURE, _OF_PICTURE), **dict.fromkeys(_OF_SOUND, _OF_SOUND)}
"""Kind -> all signs of the same fault of picture or sound."""
_HIDDEN = frozenset({AlarmState.SHELVED, AlarmState.OUT_OF_SERVICE})


def hidden_by(
    before: Alarm | None,
    alarm: Alarm,
    alarms: Mapping[AlarmKey, Alarm],
    now: datetime,
    limits: AlarmLimits,
    *,
    waiting: Container[AlarmKey] = (),
) -> Cover:
    """Return the parent that hides this alarm, if any. `before`: this alarm at the last step.

    An incident hides alarms that began with it or later. Older alarms have another cause, so neither the incident nor
    its members hide them. API_BLIND does not hide an alarm that was on the board before the platform stopped replying.
    An info hides nothing. A parent of the same event does not hide an alarm whose stage has risen; RECONNECTING rises,
    for example, after half of the reconnect window. ENDED_ON_AIR hides a late start at any stage. Of the signs of one
    fault, a milder one does not hide a graver one. A hidden alarm stays hidden for some seconds after its parent
    cleared, because the signs of one fault do not end together.

    A parent that is shelved or out of service may still hide its symptoms (`_keeps_hidden`).

    `waiting`: alarms that are not announced yet. They do not hide an alarm that has been on the board for longer than
    `shared_hold_most`, because people would then see neither alarm.
    """
    is_in_sight = before is not None and before.active
    is_seen = is_in_sight and now - alarm.changed > timedelta(seconds=limits.shared_hold_most)
    is_open = is_in_sight and before is not None and (before.is_ongoing or not alarm.is_ongoing)
    case = _Case(alarm, alarms, limits, waiting if is_seen else (), is_in_sight=is_in_sight, is_open=is_open)
    parents = _parents(alarm.kind, alarm.event_id)
    parent = next((parent for parent in parents if _hides(parent, case)), "") or _graver_sign(case)
    if not parent and _has_parent_just_cleared(alarm, alarms, now, limits):
        parent = alarm.parent
    other = _parent_of(alarm, parent, alarms)
    return Cover(parent, f"{other.state} with {parent}" if other and other.state in _HIDDEN else "")


def priority(kind: str) -> int:
    """Return the rank of a kind in the order of suppression: parents before the alarms that they hide."""
    return _PRIORITIES.get(kind, len(_PRIORITIES))


def possible_parents(kind: str, event_id: str) -> tuple[str, ...]:
    """Return the kinds that can hide a kind: its parents, the widest first, then other signs of the same fault."""
    signs = tuple(other for other in _SIGNS.get(kind, ()) if other != kind)
    return tuple(dict.fromkeys((*_parents(kind, event_id), *signs)))


def _parents(kind: str, event_id: str) -> tuple[str, ...]:
    """Return the parents of a kind. A kind that only the history knows has only API_BLIND."""
    if kind in _PARENTS:
        return _PARENTS[kind]
    return () if event_id == DECK else (API_BLIND,)


def _parent_of(alarm: Alarm, parent: str, alarms: Mapping[AlarmKey, Alarm]) -> Alarm | None:
    return alarms.get(AlarmKey(DECK if parent in _OF_DECK else alarm.event_id, parent))


class _Case(NamedTuple):
    """Alarm that may be hidden, with all alarms by key.

    `waiting`: alarms that do not hide it yet. `is_in_sight`: the alarm was on the board at the last step. `is_open`:
    the same, but False if the fault had cleared and has just returned.
    """

    alarm: Alarm
    alarms: Mapping[AlarmKey, Alarm]
    limits: AlarmLimits
    waiting: Container[AlarmKey]
    is_in_sight: bool
    is_open: bool


def _hides(parent: str, case: _Case) -> bool:
    alarm = case.alarm
    other = _parent_of(alarm, parent, case.alarms)
    if other is None or other.severity is Severity.INFO:
        return False
    is_milder_sign = parent in _SIGNS.get(alarm.kind, ()) and alarm.severity.rank < other.severity.rank
    if is_milder_sign or (other.state in _HIDDEN and not _keeps_hidden(other, case)):
        return False
    if other.state not in _HIDDEN and (not other.is_ongoing or other.key in case.waiting):
        return False
    if other.affects:
        return alarm.event_id in other.affects and alarm.since >= other.since - SAME_OCCURRENCE
    if parent in _OF_DECK:
        return not _was_open(case, other)
    return (parent == ENDED_ON_AIR or not alarm.stage) and not _is_of_incident(other, case)


def _was_open(case: _Case, blind: Alarm) -> bool:
    """Return whether this alarm was on the board before the platform stopped replying.

    Only alarms of events and incidents count. An alarm about missing samples or replies does not count if it began
    shortly before: the platform's silence explains it, too.
    """
    alarm, window = case.alarm, timedelta(seconds=case.limits.shared_window)
    is_explained = alarm.kind in _ABSENCES and alarm.since >= blind.since - window
    return case.is_open and not is_explained and (alarm.event_id != DECK or bool(alarm.affects))


_ABSENCES = frozenset({NO_INGEST, RECONNECTING, DROPOUTS, QOS_STALE})
"""Kinds of missing samples or replies."""


def _is_of_incident(parent: Alarm, case: _Case) -> bool:
    """Return whether an incident hides the parent, but not this alarm, which is older than the incident."""
    incident = case.alarms.get(AlarmKey(DECK, parent.parent))
    is_hidden_by_it = parent.state is AlarmState.SUPPRESSED and incident is not None and bool(incident.affects)
    return incident is not None and is_hidden_by_it and case.alarm.since < incident.since - SAME_OCCURRENCE


def _keeps_hidden(parent: Alarm, case: _Case) -> bool:
    """Return whether a parent that is shelved or out of service also hides this alarm.

    The parent never hides an alarm of a higher severity than its `hides`. An incident hides its members until it
    clears. Any other parent hides only alarms that began before or soon after it cleared. It does not hide an alarm
    that is on the board, or that a third alarm hides.
    """
    alarm, window = case.alarm, timedelta(seconds=case.limits.picture_window)
    if parent.hides is None or alarm.severity.rank < parent.hides.rank:
        return False
    if parent.affects:
        return parent.is_ongoing
    is_with = parent.is_ongoing or (parent.cleared_at is not None and alarm.since <= parent.cleared_at + window)
    is_hidden_by_another = alarm.state is AlarmState.SUPPRESSED and alarm.parent != parent.kind
    return is_with and not case.is_in_sight and not is_hidden_by_another


def incident_of(alarm: Alarm, alarms: Mapping[AlarmKey, Alarm], *, waits: bool = False) -> Alarm | None:
    """Return the incident that has this alarm as a member; None without one.

    A member belongs to its incident while the incident lasts or still hides the member. `waits`: the alarm was not
    announced yet, so it belongs to the incident even if its fault has ended meanwhile.
    """
    for kind in _parents(alarm.kind, alarm.event_id):
        incident = alarms.get(AlarmKey(DECK, kind))
        if incident is None or not incident.affects or _is_hidden_alone(incident):
            continue
        is_explained = waits or alarm.event_id in incident.affects
        is_member = alarm.parent == kind or (incident.is_ongoing and is_explained)
        if is_member and alarm.since >= incident.since - SAME_OCCURRENCE:
            return incident
    return None


def _is_hidden_alone(parent: Alarm) -> bool:
    return parent.state in _HIDDEN and parent.hides is None


def _graver_sign(case: _Case) -> str:
    """Return the first sign of the same fault that is graver than this alarm and hides it; empty without one."""
    alarm, window = case.alarm, timedelta(seconds=case.limits.picture_window)
    for kind in _SIGNS.get(alarm.kind, ()):
        other = case.alarms.get(AlarmKey(alarm.event_id, kind))
        if other is None or not _is_graver(other, alarm) or not _hides(kind, case):
            continue
        is_with = alarm.state is AlarmState.SUPPRESSED and alarm.parent == kind and other.state in _HIDDEN
        if is_with or abs((other.cleared_at or other.since) - alarm.since) <= window:
            return kind
    return ""


def _is_graver(other: Alarm, alarm: Alarm) -> bool:
    signs = _SIGNS[alarm.kind]
    return (other.severity.rank, signs.index(other.kind)) < (alarm.severity.rank, signs.index(alarm.kind))


def _has_parent_just_cleared(
    alarm: Alarm, alarms: Mapping[AlarmKey, Alarm], now: datetime, limits: AlarmLimits
) -> bool:
    if alarm.state is not AlarmState.SUPPRESSED or alarm.parent == API_BLIND:
        return False
    parent = _parent_of(alarm, alarm.parent, alarms)
    if parent is None or parent.is_ongoing or _is_hidden_alone(parent):
        return False
    return now - (parent.cleared_at or parent.changed) <= timedelta(seconds=limits.hidden_after)


def _depth(kind: str) -> int:
    return 1 + max(map(_depth, _PARENTS[kind]), default=-1)


_PRIORITIES = {kind: _depth(kind) for kind in ALARM_KINDS}
