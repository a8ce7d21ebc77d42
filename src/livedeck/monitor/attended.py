"""What a person did to alarms at another deck, told by one that nobody touches. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import datetime

from livedeck.monitor import life
from livedeck.monitor.alarms import on_air
from livedeck.monitor.attention import Attention
from livedeck.monitor.board import Alarm, AlarmState
from livedeck.monitor.ranking import urgent_first, worst_first
from livedeck.monitor.snapshot import Snapshot


def attended(snapshot: Snapshot, others: Iterable[Alarm], rules: Attention) -> Snapshot:
    """The snapshot with the alarms acknowledged, shelved and out of service that are so among `others`, the same alarms
    as another deck had them last, for as long as that holds: the deck may be closed by now.
    """
    airs = on_air(snapshot.events)
    known = {alarm.key: alarm for alarm in others if _lasts(alarm, snapshot.at, airs, rules)}
    before = (*snapshot.alarms, *snapshot.quiet)
    after = tuple(_told(alarm, known.get(alarm.key)) for alarm in before)
    if after == before:
        return snapshot
    listed = urgent_first(after, snapshot.events)
    return replace(
        snapshot,
        events=worst_first(snapshot.events, listed),
        alarms=tuple(alarm for alarm in listed if alarm.active),
        quiet=tuple(alarm for alarm in listed if not alarm.active),
    )


def _lasts(other: Alarm, now: datetime, airs: Collection[str], rules: Attention) -> bool:
    """Whether what a person did to it has not run out by now."""
    if other.state is AlarmState.SHELVED:
        return not life.shelf_ended(other, now, on_air=other.event_id in airs, rules=rules)
    return other.acknowledged_until is None or other.acknowledged_until > now


def _told(alarm: Alarm, other: Alarm | None) -> Alarm:
    """Our alarm with the state that the other deck gave it, where a person has to do with it and it still holds."""
    awaited = alarm.active and alarm.owed
    if not awaited or other is None or other.owed or not _holds(alarm, other):
        return alarm
    return replace(
        alarm,
        state=other.state,
        owed=False,
        changed=other.changed,
        acknowledged_until=other.acknowledged_until,
        shelved_until=other.shelved_until,
        reason=other.reason,
        note=other.note,
    )


def _holds(alarm: Alarm, other: Alarm) -> bool:
    """Whether it was done to this very episode, no worse than it was then, or whatever the episode."""
    if other.state is AlarmState.OUT_OF_SERVICE or other.shelved_until is not None:
        return True
    match other.state:
        case AlarmState.SHELVED:
            this = True
        case AlarmState.ACKNOWLEDGED:
            this = not life.worse(alarm, other)
        case _:
            this = other.state is AlarmState.CLEARED and alarm.state is AlarmState.RETURNED
    return this and other.changed >= alarm.since
