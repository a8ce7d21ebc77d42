"""What a person did to alarms at another deck, taken over by one that nobody operates (monitoring.md, "Operator").
Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import datetime

from livedeck.monitor.alarms import lifecycle
from livedeck.monitor.alarms.engine import ids_on_air
from livedeck.monitor.alarms.ranking import urgent_first, worst_first
from livedeck.monitor.model.alarm import Alarm, AlarmState
from livedeck.monitor.model.snapshot import Snapshot
from livedeck.monitor.model.thresholds import AlarmLimits


def sync_acknowledgements(snapshot: Snapshot, others: Iterable[Alarm], limits: AlarmLimits) -> Snapshot:
    """The snapshot with the alarms acknowledged, shelved and out of service that are so among `others`, the same alarms
    as another deck had them last, for as long as that holds: the deck may be closed by now.
    """
    on_air = ids_on_air(snapshot.events)
    by_key = {other.key: other for other in others}
    before = (*snapshot.alarms, *snapshot.quiet)
    after = tuple(_sync(alarm, by_key.get(alarm.key), snapshot.at, on_air, limits) for alarm in before)
    if after == before:
        return snapshot
    ordered = urgent_first(after, snapshot.events)
    return replace(
        snapshot,
        events=worst_first(snapshot.events, ordered),
        alarms=tuple(alarm for alarm in ordered if alarm.active),
        quiet=tuple(alarm for alarm in ordered if not alarm.active),
    )


def _sync(alarm: Alarm, other: Alarm | None, now: datetime, on_air: Collection[str], limits: AlarmLimits) -> Alarm:
    """Our alarm with what a person did to the other deck's, where that was done to ours too and still holds."""
    is_awaited = alarm.active and alarm.needs_ack
    if not is_awaited or other is None or other.needs_ack or not _is_meant(alarm, other):
        return alarm
    return _with_state_of(alarm, other) if _is_in_force(alarm, other, now, on_air, limits) else alarm


def _with_state_of(alarm: Alarm, other: Alarm) -> Alarm:
    """What was acknowledged and is over is done."""
    is_done = other.state is AlarmState.ACKNOWLEDGED and not alarm.is_ongoing
    return replace(
        alarm,
        state=AlarmState.CLEARED if is_done else other.state,
        needs_ack=False,
        changed=other.changed,
        acknowledged_until=None if is_done else other.acknowledged_until,
        shelved_until=other.shelved_until,
        reason=other.reason,
        note=other.note,
    )


def _is_in_force(alarm: Alarm, other: Alarm, now: datetime, on_air: Collection[str], limits: AlarmLimits) -> bool:
    """Whether what a person did has not run out by now, or by the end of the fault."""
    if other.state is AlarmState.SHELVED:
        return not lifecycle.has_shelf_ended(other, now, on_air=other.event_id in on_air, limits=limits)
    until = now if alarm.is_ongoing else alarm.changed
    return other.acknowledged_until is None or other.acknowledged_until > until


def _is_meant(alarm: Alarm, other: Alarm) -> bool:
    """Whether it was done to this very episode, no worse than it was then, or whatever the episode."""
    if other.state is AlarmState.OUT_OF_SERVICE or other.shelved_until is not None:
        return True
    match other.state:
        case AlarmState.SHELVED:
            is_same = True
        case AlarmState.ACKNOWLEDGED:
            is_same = not lifecycle.is_worse(alarm, other)
        case _:
            is_same = other.state is AlarmState.CLEARED and alarm.state is AlarmState.RETURNED
    return is_same and other.changed >= alarm.since
