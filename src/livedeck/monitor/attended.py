"""What a person did to alarms at another deck, told by one that nobody touches. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from livedeck.monitor.board import Alarm, AlarmState
from livedeck.monitor.ranking import urgent_first, worst_first
from livedeck.monitor.snapshot import Snapshot

_AWAY = frozenset({AlarmState.SHELVED, AlarmState.OUT_OF_SERVICE})


def attended(snapshot: Snapshot, others: Iterable[Alarm]) -> Snapshot:
    """The snapshot with the alarms acknowledged, shelved and out of service that are so among `others`, the same alarms
    as another deck has them, for as long as that holds.
    """
    known = {alarm.key: alarm for alarm in others}
    before = (*snapshot.alarms, *snapshot.quiet)
    after = tuple(_told(alarm, known.get(alarm.key), snapshot.at) for alarm in before)
    if after == before:
        return snapshot
    listed = urgent_first(after, snapshot.events)
    return replace(
        snapshot,
        events=worst_first(snapshot.events, listed),
        alarms=tuple(alarm for alarm in listed if alarm.active),
        quiet=tuple(alarm for alarm in listed if not alarm.active),
    )


def _told(alarm: Alarm, other: Alarm | None, now: datetime) -> Alarm:
    """Our alarm with the state that the other deck gave it, where a person has to do with it and it still holds."""
    awaited = alarm.active and alarm.owed
    if not awaited or other is None or other.owed or not _holds(alarm, other, now):
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


def _holds(alarm: Alarm, other: Alarm, now: datetime) -> bool:
    """Whether it was done to this very episode, or for a time that is not over."""
    runs_out = other.shelved_until or other.acknowledged_until
    if runs_out is not None and runs_out <= now:
        return False
    if other.state in _AWAY:
        return runs_out is not None or other.state is AlarmState.OUT_OF_SERVICE or other.changed >= alarm.since
    over = other.state is AlarmState.CLEARED and alarm.state is AlarmState.RETURNED
    return (over or other.state is AlarmState.ACKNOWLEDGED) and other.changed >= alarm.since
