"""The PLATFORM incident: many events fail at once, so the cause is shared and one alarm lists them. Pure.

Three or more events, and half of those on air, within 60 s (monitoring.md, "Alarms"); it ends when fewer remain.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from math import ceil
from typing import NamedTuple

from livedeck.monitor.attention import Attention
from livedeck.monitor.board import Alarm
from livedeck.monitor.facts import Finding, Severity

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


def find(known: Alarm | None, alarms: Iterable[Alarm], on_air: Collection[str], rules: Attention) -> Incident | None:
    """The incident that lasts or begins. `known`: the present one; who fails soon after its last joins it."""
    alarms = [alarm for alarm in alarms if alarm.lasting and alarm.event_id in on_air and alarm.kind in SHARED]
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


def _joined(known: Collection[str], begun: Mapping[str, datetime], rules: Attention) -> tuple[str, ...]:
    members, window = [event_id for event_id in begun if event_id in known], _window(rules)
    for event_id, since in begun.items():
        if event_id not in members and any(abs(since - begun[member]) <= window for member in members):
            members.append(event_id)
    return tuple(sorted(members, key=lambda event_id: (begun[event_id], event_id)))


def _densest(begun: Mapping[str, datetime], rules: Attention) -> tuple[str, ...]:
    """The most events whose faults began within one window."""
    window = _window(rules)
    groups = (
        tuple(event_id for event_id, since in begun.items() if first <= since <= first + window)
        for first in begun.values()
    )
    return max(groups, key=len, default=())


def _window(rules: Attention) -> timedelta:
    return timedelta(seconds=rules.shared_window)
