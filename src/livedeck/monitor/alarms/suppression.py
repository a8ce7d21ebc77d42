"""Which alarm hides which: a parent its children, and the PLATFORM incident the faults that share its cause. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from math import ceil
from typing import NamedTuple

from livedeck.monitor.kinds.deck import API_BLIND
from livedeck.monitor.model.alarm import DECK, Alarm, AlarmKey, AlarmState
from livedeck.monitor.model.state import Finding, Severity
from livedeck.monitor.model.thresholds import AlarmLimits

PLATFORM = "PLATFORM"


SHARED = frozenset(
    {
        *("NO_INGEST", "RECONNECTING", "BLACKOUT", "VIDEO_LOW", "VIDEO_STARVED", "FPS_COLLAPSE", "AUDIO_LOST"),
        *("PACKET_LOSS", "QOS_STALE", "RESTREAM_DOWN"),
    }
)

"""What the platform or the way to it can do to many events at once. How an encoder is set up is its own matter."""


class Incident(NamedTuple):
    """What is wrong, the affected events in the order in which they failed, and since when (this machine's clock)."""

    finding: Finding
    affects: tuple[str, ...]
    since: datetime


def find(known: Alarm | None, alarms: Iterable[Alarm], on_air: Collection[str], rules: AlarmLimits) -> Incident | None:
    """The incident that lasts or begins. `known`: the present one; who fails soon after its last joins it."""
    alarms = [alarm for alarm in alarms if alarm.is_ongoing and alarm.event_id in on_air and alarm.kind in SHARED]
    begun = _begun(alarms)
    least = max(rules.shared_events, ceil(rules.shared_part * len(on_air)))
    members = _joined(known.affects, begun, rules) if known else ()
    if len(members) < least:
        members = _densest(begun, rules)
    if len(members) < least:
        return None
    kinds = sorted({alarm.kind for alarm in alarms if alarm.event_id in members})
    actual = f"{len(members)} of {len(on_air)} events on air: {', '.join(kinds)}"
    finding = Finding(PLATFORM, Severity.CRITICAL, actual, "faults one at a time", stage=len(members))
    return Incident(finding, members, begun[members[0]])


def _begun(alarms: Iterable[Alarm]) -> Mapping[str, datetime]:
    """Event -> when its first fault began, the earliest first."""
    begun: dict[str, datetime] = {}
    for alarm in sorted(alarms, key=lambda alarm: (alarm.since, alarm.event_id)):
        begun.setdefault(alarm.event_id, alarm.since)
    return begun


def _joined(known: Collection[str], begun: Mapping[str, datetime], rules: AlarmLimits) -> tuple[str, ...]:
    members, window = [event_id for event_id in begun if event_id in known], _window(rules)
    for event_id, since in begun.items():
        if event_id not in members and any(abs(since - begun[member]) <= window for member in members):
            members.append(event_id)
    return tuple(sorted(members, key=lambda event_id: (begun[event_id], event_id)))


def _densest(begun: Mapping[str, datetime], rules: AlarmLimits) -> tuple[str, ...]:
    """The most events whose faults began within one window."""
    window = _window(rules)
    groups = (
        tuple(event_id for event_id, since in begun.items() if first <= since <= first + window)
        for first in begun.values()
    )
    return max(groups, key=len, default=())


def _window(rules: AlarmLimits) -> timedelta:
    return timedelta(seconds=rules.shared_window)


_PICTURE = frozenset(
    {
        *("VIDEO_LOW", "VIDEO_STARVED", "FPS_LOW", "FPS_COLLAPSE", "BITRATE_UNSTABLE"),
        *("KEYFRAME_DRIFT", "KEYFRAME_SEVERE"),
    }
)

_SAMPLES = _PICTURE | {
    *("BLACKOUT", "AUDIO_LOST", "AUDIO_LOW", "AUDIO_HIGH", "PACKET_LOSS", "UNKNOWN_STATUS", "UNKNOWN_DATA"),
    "RESTREAM_DOWN",
}


_CHILDREN: tuple[tuple[str, frozenset[str]], ...] = (
    ("NO_INGEST", _SAMPLES),
    ("RECONNECTING", _SAMPLES),
    ("BLACKOUT", _PICTURE),
    ("AUDIO_LOST", frozenset({"AUDIO_LOW"})),
    ("VIDEO_STARVED", frozenset({"VIDEO_LOW", "FPS_LOW", "BITRATE_UNSTABLE"})),
    ("VIDEO_LOW", frozenset({"BITRATE_UNSTABLE"})),
    ("PACKET_LOSS", frozenset({"BITRATE_UNSTABLE"})),
    ("FPS_COLLAPSE", frozenset({"FPS_LOW"})),
    ("KEYFRAME_SEVERE", frozenset({"KEYFRAME_DRIFT"})),
)

"""Parent and children within one event. Without a stream there is nothing to say of it, nor of its copies; without a
picture, nothing of its rates; and of two alarms on one axis the lesser is no news."""


_RANKS = {kind: rank for rank, kind in enumerate((API_BLIND, PLATFORM, *(kind for kind, _ in _CHILDREN)))}


_MUTE = frozenset({AlarmState.SHELVED, AlarmState.OUT_OF_SERVICE})


def hidden_by(alarm: Alarm, alarms: Mapping[AlarmKey, Alarm]) -> str:
    """The kind of the alarm that hides this one, the widest first; empty where none does.

    A parent that is shelved or out of service hides nothing: to silence one alarm is not to silence all below it.
    """
    if _speaks(alarms.get(AlarmKey(DECK, API_BLIND))) and (alarm.event_id != DECK or alarm.kind == PLATFORM):
        return API_BLIND
    incident = alarms.get(AlarmKey(DECK, PLATFORM))
    if incident and _speaks(incident) and alarm.event_id in incident.affects and alarm.kind in SHARED:
        return PLATFORM
    return next((kind for kind, below in _CHILDREN if alarm.kind in below and _own(alarm, kind, alarms)), "")


def priority(kind: str) -> int:
    """In which order alarms take their stand: who may hide others first."""
    return _RANKS.get(kind, len(_RANKS))


def _own(alarm: Alarm, kind: str, alarms: Mapping[AlarmKey, Alarm]) -> bool:
    return _speaks(alarms.get(AlarmKey(alarm.event_id, kind)))


def _speaks(alarm: Alarm | None) -> bool:
    return alarm is not None and alarm.is_ongoing and alarm.state not in _MUTE
