"""What a person did to alarms at another deck, told by one that nobody touches. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import datetime

from livedeck.monitor.alarms import lifecycle
from livedeck.monitor.alarms.engine import on_air
from livedeck.monitor.alarms.ranking import urgent_first, worst_first
from livedeck.monitor.model.alarm import Alarm, AlarmState
from livedeck.monitor.model.snapshot import Snapshot
from livedeck.monitor.model.thresholds import AlarmLimits


def sync_acknowledgements(snapshot: Snapshot, others: Iterable[Alarm], rules: AlarmLimits) -> Snapshot:
    """The snapshot with the alarms acknowledged, shelved and out of service that are so among `others`, the same alarms
    as another deck had them last, for as long as that holds: the deck may be closed by now.
    """
    airs = on_air(snapshot.events)
    known = {other.key: other for other in others}
    before = (*snapshot.alarms, *snapshot.quiet)
    holding = ((alarm, _holding(alarm, known.get(alarm.key), snapshot.at, airs, rules)) for alarm in before)
    after = tuple(_told(alarm, other) if other else alarm for alarm, other in holding)
    if after == before:
        return snapshot
    listed = urgent_first(after, snapshot.events)
    return replace(
        snapshot,
        events=worst_first(snapshot.events, listed),
        alarms=tuple(alarm for alarm in listed if alarm.active),
        quiet=tuple(alarm for alarm in listed if not alarm.active),
    )


def _told(alarm: Alarm, other: Alarm) -> Alarm:
    """Our alarm with the state that the other deck gave it. What was acknowledged and is over is done."""
    done = other.state is AlarmState.ACKNOWLEDGED and not alarm.is_ongoing
    return replace(
        alarm,
        state=AlarmState.CLEARED if done else other.state,
        needs_ack=False,
        changed=other.changed,
        acknowledged_until=None if done else other.acknowledged_until,
        shelved_until=other.shelved_until,
        reason=other.reason,
        note=other.note,
    )


def _holding(
    alarm: Alarm, other: Alarm | None, now: datetime, airs: Collection[str], rules: AlarmLimits
) -> Alarm | None:
    """The other deck's alarm, where a person has to do with it, and that was done to ours and still holds."""
    awaited = alarm.active and alarm.needs_ack
    if not awaited or other is None or other.needs_ack or not _holds(alarm, other):
        return None
    return other if _lasts(alarm, other, now, airs, rules) else None


def _lasts(alarm: Alarm, other: Alarm, now: datetime, airs: Collection[str], rules: AlarmLimits) -> bool:
    """Whether what a person did has not run out by now, or by the end of the fault."""
    if other.state is AlarmState.SHELVED:
        return not lifecycle.shelf_ended(other, now, on_air=other.event_id in airs, rules=rules)
    moment = now if alarm.is_ongoing else alarm.changed
    return other.acknowledged_until is None or other.acknowledged_until > moment


def _holds(alarm: Alarm, other: Alarm) -> bool:
    """Whether it was done to this very episode, no worse than it was then, or whatever the episode."""
    if other.state is AlarmState.OUT_OF_SERVICE or other.shelved_until is not None:
        return True
    match other.state:
        case AlarmState.SHELVED:
            this = True
        case AlarmState.ACKNOWLEDGED:
            this = not lifecycle.worse(alarm, other)
        case _:
            this = other.state is AlarmState.CLEARED and alarm.state is AlarmState.RETURNED
    return this and other.changed >= alarm.since
