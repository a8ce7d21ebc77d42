"""Changes of one alarm from one evaluation to the next: its fault, its state by ISA-18.2, its flapping. Pure.

An unchanged alarm stays the same object, because hundreds of alarms are evaluated each second.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from livedeck.monitor.alarms.faults import SAME_OCCURRENCE, ActiveFault
from livedeck.monitor.alarms.operator import unhide
from livedeck.monitor.detection.patterns import keep_diagnosis
from livedeck.monitor.model.alarm import Alarm, AlarmChange, AlarmKey, AlarmState, AlarmTransition, Severity
from livedeck.monitor.model.own import NotWatched, watched_seconds
from livedeck.monitor.model.state import Finding
from livedeck.monitor.model.thresholds import AlarmLimits


def raise_alarm(key: AlarmKey, fault: ActiveFault, now: datetime, limits: AlarmLimits) -> Alarm:
    """Return the alarm of a new fault."""
    finding = fault.finding
    activations = () if finding.severity is Severity.INFO else (fault.since,)
    escalated = _is_habit(activations, limits)
    alarm = Alarm(
        key.event_id,
        key.kind,
        _severity(finding, escalated),
        fault.since,
        fault.subject,
        finding.actual,
        finding.expected,
        key.target,
        finding.target_name,
        changed=now,
        activations=activations,
        flapping=_is_flapping(activations, limits),
        escalated=escalated,
        stage=finding.stage,
        affects=fault.affects,
        diagnosis=fault.diagnosis,
    )
    return expire(alarm, now, limits)


def update(alarm: Alarm, fault: ActiveFault | None, now: datetime, limits: AlarmLimits) -> Alarm:
    """Return the alarm with its current fault. `fault`: None if the fault has ended."""
    if fault is not None and not alarm.present:
        return expire(_reactivate(alarm, fault, limits), now, limits)
    alarm = expire(alarm, now, limits)
    return _end(alarm, now) if fault is None else _continue(alarm, fault)


def advance(
    key: AlarmKey,
    alarm: Alarm | None,
    ended: Iterable[ActiveFault],
    fault: ActiveFault | None,
    *,
    now: datetime,
    limits: AlarmLimits,
) -> Alarm:
    """Return the alarm after the faults that have ended, oldest first, and the current fault.

    A fault that ended before this process noticed it counts as present for one evaluation. So the number of alarms does
    not depend on how often the samples are polled.
    """
    after = alarm
    for ended_fault in ended:
        if not (fault and _is_same(ended_fault, fault)):
            after = _add_ended(key, after, ended_fault, now, limits)
    is_unnoticed = after is not None and after.present and (alarm is None or after.since != alarm.since)
    if after is None:
        assert fault, "a new alarm has a fault"
        return raise_alarm(key, fault, now, limits)
    if fault is None:
        return after if is_unnoticed else update(after, None, now, limits)
    return update(update(after, None, fault.since, limits) if is_unnoticed else after, fault, now, limits)


def _add_ended(key: AlarmKey, alarm: Alarm | None, fault: ActiveFault, now: datetime, limits: AlarmLimits) -> Alarm:
    """Return the alarm after a fault that has ended since the last evaluation.

    If the alarm did not show the fault yet, it shows the fault as present in this evaluation.
    """
    if alarm is None:
        return raise_alarm(key, fault, now, limits)
    if _is_same(fault, alarm):
        return update(alarm, None, now, limits)
    if fault.since < alarm.since:
        return alarm
    return update(update(alarm, None, fault.since, limits), fault, now, limits)


def _is_same(fault: ActiveFault, other: ActiveFault | Alarm) -> bool:
    """Return whether two faults are one occurrence: their starts differ by less than `SAME_OCCURRENCE`."""
    return abs(fault.since - other.since) < SAME_OCCURRENCE


def _reactivate(alarm: Alarm, fault: ActiveFault, limits: AlarmLimits) -> Alarm:
    """Return the alarm after its fault came back. A flapping alarm keeps its start and its acknowledgement."""
    alarm = expire(alarm, fault.since, limits)
    was_flapping = alarm.flapping
    alarm = replace(alarm, present=True, escalated=alarm.escalated and was_flapping, cleared_at=None)
    if fault.finding.severity is not Severity.INFO:
        alarm = count_activation(alarm, fault.since, limits)
    if was_flapping:
        return _continue(alarm, fault)
    alarm = replace(alarm, since=fault.since, needs_ack=True, acknowledged_until=None, acknowledged_at=None)
    alarm = replace(alarm, answered_by="", answered_at=None, timeline=(), found=False, verdict="")
    return _describe(alarm, fault)


def _continue(alarm: Alarm, fault: ActiveFault) -> Alarm:
    after = _describe(alarm, fault._replace(diagnosis=keep_diagnosis(alarm.diagnosis, fault.diagnosis)))
    if not is_worse(after, alarm):
        return after
    since = after.since if after.flapping else max(after.since, fault.since)  # LATE_START is raised before its fault
    return replace(after, since=since, needs_ack=True, acknowledged_until=None)


def is_worse(after: Alarm, before: Alarm) -> bool:
    """Return whether the severity or the stage got worse. An earlier acknowledgement does not cover a worse alarm."""
    return after.severity.rank < before.severity.rank or after.stage > before.stage


def _describe(alarm: Alarm, fault: ActiveFault) -> Alarm:
    """Return the alarm with the latest finding."""
    finding = fault.finding
    severity = _severity(finding, alarm.escalated)
    words = fault.subject, finding.actual, finding.expected, finding.target_name, fault.diagnosis
    if (severity, finding.stage, fault.affects) == (alarm.severity, alarm.stage, alarm.affects) and (
        words == (alarm.subject, alarm.actual, alarm.expected, alarm.target_name, alarm.diagnosis)
    ):
        return alarm
    return replace(
        alarm,
        severity=severity,
        subject=fault.subject,
        actual=finding.actual,
        expected=finding.expected,
        target_name=finding.target_name,
        stage=finding.stage,
        affects=fault.affects,
        diagnosis=fault.diagnosis,
    )


def _severity(finding: Finding, escalated: bool) -> Severity:
    """Return the severity; a warning that came too often is critical."""
    return Severity.CRITICAL if escalated and finding.severity is Severity.WARNING else finding.severity


def _end(alarm: Alarm, now: datetime) -> Alarm:
    alarm = replace(alarm, present=False) if alarm.present else alarm
    if alarm.is_ongoing:
        return alarm
    alarm = replace(alarm, cleared_at=now) if alarm.cleared_at is None else alarm
    needs_ack = alarm.needs_ack and alarm.severity is not Severity.INFO
    if needs_ack is alarm.needs_ack and alarm.acknowledged_until is None:
        return alarm
    return replace(alarm, needs_ack=needs_ack, acknowledged_until=None)


# Flapping


def expire(alarm: Alarm, now: datetime, limits: AlarmLimits) -> Alarm:
    """Return the alarm without activations older than 10 min, and with its flapping updated.

    Flapping ends 2 min after the last activation.
    """
    activations = tuple(at for at in alarm.activations if _is_within(at, now, limits.habit_window))
    flapping = alarm.flapping and bool(activations) and _is_within(activations[-1], now, limits.flap_window)
    if (len(activations), flapping) == (len(alarm.activations), alarm.flapping):
        return alarm
    return replace(alarm, activations=activations, flapping=flapping)


def count_activation(alarm: Alarm, since: datetime, limits: AlarmLimits) -> Alarm:
    """Return the alarm after one more activation, at `since`."""
    activations = (*alarm.activations, since)
    return replace(
        alarm,
        activations=activations,
        flapping=alarm.flapping or _is_flapping(activations, limits),
        escalated=alarm.escalated or _is_habit(activations, limits),
    )


def _is_flapping(activations: tuple[datetime, ...], limits: AlarmLimits) -> bool:
    """Return whether there were too many activations in the last 2 min."""
    return sum(_is_within(at, activations[-1], limits.flap_window) for at in activations) >= limits.flap_count


def _is_habit(activations: tuple[datetime, ...], limits: AlarmLimits) -> bool:
    return len(activations) >= limits.habit_count


def _is_within(at: datetime, now: datetime, seconds: float) -> bool:
    return now - at < timedelta(seconds=seconds)


# States


class Cover(NamedTuple):
    """Parent that hides an alarm. `parent`: kind of the parent; empty if no alarm hides this one.

    `reason`: `shelved with KIND` or `out of service with KIND` if the parent is in that state; else empty.
    """

    parent: str = ""
    reason: str = ""


NO_COVER = Cover()


def apply_suppression(
    before: Alarm | None, alarm: Alarm, cover: Cover, now: datetime, stops: tuple[NotWatched, ...] = ()
) -> Alarm:
    """Return the alarm with its state at `now`.

    Args:
        before: The alarm at the last step; None for a new alarm.
        alarm: The alarm with its current fault and actions.
        cover: Parent that hides the alarm, if any.
        now: This machine's clock.
        stops: Stops of this process. They lengthen an acknowledgement, because nobody could be reminded then.
    """
    if alarm.state in {AlarmState.SHELVED, AlarmState.OUT_OF_SERVICE}:
        is_settled = not alarm.needs_ack and alarm.acknowledged_until is None
        return alarm if is_settled else replace(alarm, needs_ack=False, acknowledged_until=None)
    if cover.parent and alarm.is_ongoing:
        was_owed = before is not None and before.needs_ack and not _is_put_away_with(before, cover)
        needs_ack = alarm.needs_ack and was_owed
        if cover.reason and alarm.acknowledged_until:
            alarm = replace(alarm, acknowledged_until=None)
        return _with_state(alarm, AlarmState.SUPPRESSED, cover, now, needs_ack)
    if _asks_again(alarm, now, stops):
        alarm = replace(alarm, needs_ack=True, acknowledged_until=None)
    return _with_state(alarm, _state(alarm), NO_COVER, now, alarm.needs_ack)


def _is_put_away_with(before: Alarm, cover: Cover) -> bool:
    """Return whether a person has just shelved the parent of this alarm, or taken it out of service."""
    return bool(cover.reason) and before.parent == cover.parent and not before.reason


def without_ended_shelf(alarm: Alarm, now: datetime, *, on_air: bool, limits: AlarmLimits) -> Alarm:
    """Return the alarm; if its shelf has ended, it is visible again."""
    is_over = alarm.state is AlarmState.SHELVED and has_shelf_ended(alarm, now, on_air=on_air, limits=limits)
    return unhide(alarm, now) if is_over else alarm


def has_shelf_ended(alarm: Alarm, now: datetime, *, on_air: bool, limits: AlarmLimits) -> bool:
    """Return whether the alarm's shelf has ended. On air a shelf ends after an hour, even one set before the show."""
    if alarm.shelved_until is None and not alarm.is_ongoing:
        return True
    has_expired = alarm.shelved_until is not None and alarm.shelved_until <= now
    return has_expired or (on_air and now - alarm.changed >= timedelta(seconds=limits.shelved_most))


def _asks_again(alarm: Alarm, now: datetime, stops: tuple[NotWatched, ...]) -> bool:
    """Return whether the alarm needs a new acknowledgement: the last one expired, or the alarm is no longer hidden.

    Time in which this process was stopped does not count towards the expiry.
    """
    if not alarm.is_ongoing or alarm.needs_ack:
        return False
    if until := alarm.acknowledged_until:
        acknowledged_at = alarm.acknowledged_at or alarm.changed
        return watched_seconds(acknowledged_at, now, stops) >= (until - acknowledged_at).total_seconds()
    return alarm.state is AlarmState.SUPPRESSED


def _state(alarm: Alarm) -> AlarmState:
    if alarm.is_ongoing:
        return AlarmState.UNACKNOWLEDGED if alarm.needs_ack else AlarmState.ACKNOWLEDGED
    return AlarmState.RETURNED if alarm.needs_ack else AlarmState.CLEARED


def _with_state(alarm: Alarm, state: AlarmState, cover: Cover, now: datetime, needs_ack: bool) -> Alarm:
    if (state, *cover, needs_ack) == (alarm.state, alarm.parent, alarm.reason, alarm.needs_ack):
        return alarm
    changed = alarm.changed if state is alarm.state else now
    return replace(alarm, state=state, parent=cover.parent, reason=cover.reason, changed=changed, needs_ack=needs_ack)


def is_audible(before: Alarm | None, after: Alarm) -> bool:
    """Return whether the change makes the alarm ring. A flapping alarm does not ring again.

    A silenced alarm does not ring. If it is still unacknowledged at the end of its silence, it rings then.
    """
    if after.state is not AlarmState.UNACKNOWLEDGED or after.severity is Severity.INFO or after.silenced:
        return False
    if before and before.silenced:
        return True
    if before and is_taken_back(before, after):
        return is_worse(after, before)
    if before is None or before.state is not after.state:
        return True
    return is_worse(after, before) and not after.flapping


def is_taken_back(before: Alarm, after: Alarm) -> bool:
    """Return whether a person took back an acknowledgement between these two states.

    Such an alarm does not ring again.
    """
    states = {(AlarmState.ACKNOWLEDGED, AlarmState.UNACKNOWLEDGED), (AlarmState.CLEARED, AlarmState.RETURNED)}
    is_by_person = after.answered_at is not None and after.answered_at != before.answered_at
    return (before.state, after.state) in states and is_by_person


# Changes, for the log


_ENTERED = {
    AlarmState.UNACKNOWLEDGED: AlarmTransition.RAISED,
    AlarmState.ACKNOWLEDGED: AlarmTransition.ACKNOWLEDGED,
    AlarmState.RETURNED: AlarmTransition.RETURNED,
    AlarmState.CLEARED: AlarmTransition.CLEARED,
    AlarmState.SHELVED: AlarmTransition.SHELVED,
    AlarmState.SUPPRESSED: AlarmTransition.SUPPRESSED,
    AlarmState.OUT_OF_SERVICE: AlarmTransition.OUT_OF_SERVICE,
}

_LEFT = {AlarmState.SHELVED: AlarmTransition.UNSHELVED, AlarmState.OUT_OF_SERVICE: AlarmTransition.IN_SERVICE}


def change_between(before: Alarm | None, after: Alarm, now: datetime) -> AlarmChange | None:
    """Return the transition between two states of an alarm; None if nothing to log has changed."""
    transition = _transition(before, after)
    return AlarmChange(now, transition, after) if transition else None


def _transition(before: Alarm | None, after: Alarm) -> AlarmTransition | None:
    if before is after:
        return None
    if before is None:
        return _ENTERED[after.state]
    if before.state is not after.state:
        return _state_transition(before, after)
    if after.active and bool(before.silenced) is not bool(after.silenced):
        return AlarmTransition.SILENCED if after.silenced else AlarmTransition.UNSILENCED
    if before.severity is not after.severity:
        return AlarmTransition.SEVERITY
    return AlarmTransition.NOTED if before.note != after.note else None


def _state_transition(before: Alarm, after: Alarm) -> AlarmTransition:
    if before.state in _LEFT and after.state is not AlarmState.SHELVED:
        return _LEFT[before.state]
    if before.state is AlarmState.SUPPRESSED and after.is_ongoing:
        return AlarmTransition.RELEASED
    if is_taken_back(before, after):
        return AlarmTransition.UNACKNOWLEDGED
    if (before.state, after.state) == (AlarmState.ACKNOWLEDGED, AlarmState.UNACKNOWLEDGED):
        has_worsened = before.severity is not after.severity or before.stage < after.stage
        return AlarmTransition.RAISED if has_worsened else AlarmTransition.LAPSED
    return _ENTERED[after.state]
