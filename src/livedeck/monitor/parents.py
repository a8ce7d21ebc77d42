"""Which alarm hides which: one cause is one alarm (monitoring.md, "A parent hides its children"). Pure."""

from __future__ import annotations

from collections.abc import Mapping

from livedeck.monitor.board import DECK, Alarm, AlarmKey, AlarmState
from livedeck.monitor.deck import API_BLIND
from livedeck.monitor.incident import PLATFORM, SHARED

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


def parent(alarm: Alarm, alarms: Mapping[AlarmKey, Alarm]) -> str:
    """The kind of the alarm that hides this one, the widest first; empty where none does.

    A parent that is shelved or out of service hides nothing: to silence one alarm is not to silence all below it.
    """
    if _speaks(alarms.get(AlarmKey(DECK, API_BLIND))) and (alarm.event_id != DECK or alarm.kind == PLATFORM):
        return API_BLIND
    incident = alarms.get(AlarmKey(DECK, PLATFORM))
    if incident and _speaks(incident) and alarm.event_id in incident.affects and alarm.kind in SHARED:
        return PLATFORM
    return next((kind for kind, below in _CHILDREN if alarm.kind in below and _own(alarm, kind, alarms)), "")


def rank(kind: str) -> int:
    """In which order alarms take their stand: who may hide others first."""
    return _RANKS.get(kind, len(_RANKS))


def _own(alarm: Alarm, kind: str, alarms: Mapping[AlarmKey, Alarm]) -> bool:
    return _speaks(alarms.get(AlarmKey(alarm.event_id, kind)))


def _speaks(alarm: Alarm | None) -> bool:
    return alarm is not None and alarm.lasting and alarm.state not in _MUTE
