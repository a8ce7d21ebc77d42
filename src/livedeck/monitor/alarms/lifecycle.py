"""The life of one alarm, from one evaluation to the next: its fault, its state after ISA-18.2, its flapping. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from livedeck.monitor.alarms.faults import TOGETHER, ActiveFault
from livedeck.monitor.alarms.operator import unshelved
from livedeck.monitor.detection.patterns import keep_diagnosis
from livedeck.monitor.model.alarm import Alarm, AlarmChange, AlarmKey, AlarmState, AlarmTransition
from livedeck.monitor.model.state import Severity
from livedeck.monitor.model.thresholds import AlarmLimits


def expire(alarm: Alarm, now: datetime, rules: AlarmLimits) -> Alarm:
    """The alarm with what counts at `now`: its activations of the last 10 min, and whether it still flaps.

    It flaps until it has not come for 2 min: one that comes each 40 s does not begin anew with every third time.
    """
    activations = tuple(moment for moment in alarm.activations if _within(moment, now, rules.habit_window))
    flapping = alarm.flapping and bool(activations) and _within(activations[-1], now, rules.flap_window)
    if (len(activations), flapping) == (len(alarm.activations), alarm.flapping):
        return alarm
    return replace(alarm, activations=activations, flapping=flapping)


def count_activation(alarm: Alarm, since: datetime, rules: AlarmLimits) -> Alarm:
    """The alarm after one more activation, that began at `since`."""
    activations = (*alarm.activations, since)
    return replace(
        alarm,
        activations=activations,
        flapping=alarm.flapping or _often(activations, since, rules),
        escalated=alarm.escalated or len(activations) >= rules.habit_count,
    )


def _often(activations: tuple[datetime, ...], now: datetime, rules: AlarmLimits) -> bool:
    return sum(_within(moment, now, rules.flap_window) for moment in activations) >= rules.flap_count


def _within(moment: datetime, now: datetime, seconds: float) -> bool:
    return now - moment < timedelta(seconds=seconds)


SEVERITIES = (Severity.CRITICAL, Severity.WARNING, Severity.INFO)

"""Loudest first."""


def raise_alarm(key: AlarmKey, fault: ActiveFault, now: datetime, rules: AlarmLimits) -> Alarm:
    """The alarm of a fault that was not known."""
    finding = fault.finding
    alarm = Alarm(key.event_id, key.kind, finding.severity, fault.since, "", "", "", key.target, changed=now)
    return expire(_told(count_activation(alarm, fault.since, rules), fault), now, rules)


def update(alarm: Alarm, fault: ActiveFault | None, now: datetime, rules: AlarmLimits) -> Alarm:
    """A known alarm with its fault as it is now, or (None) without one."""
    if fault is not None and not alarm.present:
        return expire(_again(alarm, fault, rules), now, rules)
    alarm = expire(alarm, now, rules)
    return _ended(alarm) if fault is None else _lasts(alarm, fault)


def advance(
    key: AlarmKey,
    alarm: Alarm | None,
    past: Iterable[ActiveFault],
    fault: ActiveFault | None,
    *,
    now: datetime,
    rules: AlarmLimits,
) -> Alarm:
    """The alarm after the faults that are over, the oldest first, and the one that is there now.

    One of which nobody has heard, and that is over already, is present for this one look: so what a person is told
    follows from the samples, and not from how often they were asked for.
    """
    lived = alarm
    for one in past:
        if not (fault and _same(one, fault)):
            lived = _passed(key, lived, one, now, rules)
    unheard = lived is not None and lived.present and (alarm is None or lived.since != alarm.since)
    if lived is None:
        assert fault, "an alarm comes from something"
        return raise_alarm(key, fault, now, rules)
    if fault is None:
        return lived if unheard else update(lived, None, now, rules)
    return update(update(lived, None, fault.since, rules) if unheard else lived, fault, now, rules)


def _passed(key: AlarmKey, alarm: Alarm | None, fault: ActiveFault, now: datetime, rules: AlarmLimits) -> Alarm:
    """The alarm after a fault that is over; it is left present where that is news."""
    if alarm is None:
        return raise_alarm(key, fault, now, rules)
    if _same(fault, alarm):
        return update(alarm, None, fault.since, rules)
    if fault.since < alarm.since:
        return alarm
    return update(update(alarm, None, fault.since, rules), fault, now, rules)


def _same(fault: ActiveFault, other: ActiveFault | Alarm) -> bool:
    """Whether both are one occurrence: they began together, but for what a clock's correction moves."""
    return abs(fault.since - other.since) < TOGETHER


def _again(alarm: Alarm, fault: ActiveFault, rules: AlarmLimits) -> Alarm:
    """It came back. While it flaps that is no news: it lasts, and who acknowledged it is not asked again."""
    alarm = expire(alarm, fault.since, rules)
    known = alarm.flapping
    came = count_activation(replace(alarm, present=True, escalated=alarm.escalated and known), fault.since, rules)
    if known:
        return _lasts(came, fault)
    came = replace(came, since=fault.since, needs_ack=True, acknowledged_until=None)
    return _told(came, fault)


def _lasts(alarm: Alarm, fault: ActiveFault) -> Alarm:
    told = _told(alarm, fault._replace(diagnosis=keep_diagnosis(alarm.diagnosis, fault.diagnosis)))
    return replace(told, needs_ack=True, acknowledged_until=None) if worse(told, alarm) else told


def worse(alarm: Alarm, than: Alarm) -> bool:
    """Whether it is graver or at a later stage: an acknowledgement of the other does not hold for it."""
    return SEVERITIES.index(alarm.severity) < SEVERITIES.index(than.severity) or alarm.stage > than.stage


def _told(alarm: Alarm, fault: ActiveFault) -> Alarm:
    """The alarm in the latest words. A warning that became a habit is critical."""
    finding = fault.finding
    loud = alarm.escalated and finding.severity is Severity.WARNING
    return replace(
        alarm,
        severity=Severity.CRITICAL if loud else finding.severity,
        subject=fault.subject,
        actual=finding.actual,
        expected=finding.expected,
        target_name=finding.target_name,
        stage=finding.stage,
        affects=fault.affects,
        diagnosis=fault.diagnosis,
    )


def _ended(alarm: Alarm) -> Alarm:
    alarm = replace(alarm, present=False) if alarm.present else alarm
    if alarm.is_ongoing:
        return alarm
    owed = alarm.needs_ack and alarm.severity is not Severity.INFO
    if owed is alarm.needs_ack and alarm.acknowledged_until is None:
        return alarm
    return replace(alarm, needs_ack=owed, acknowledged_until=None)


def apply_suppression(
    before: Alarm | None, alarm: Alarm, parent: str, now: datetime, *, on_air: bool, rules: AlarmLimits
) -> Alarm:
    """The alarm in its state at `now`. `parent`: the kind that hides it; `before`: the alarm at the last look."""
    if alarm.state is AlarmState.SHELVED and shelf_ended(alarm, now, on_air=on_air, rules=rules):
        alarm = unshelved(alarm, now)
    if alarm.state in {AlarmState.SHELVED, AlarmState.OUT_OF_SERVICE}:
        return (
            replace(alarm, needs_ack=False, acknowledged_until=None)
            if alarm.needs_ack or alarm.acknowledged_until
            else alarm
        )
    if parent and alarm.is_ongoing:
        told = before is not None and before.needs_ack
        return _in_state(replace(alarm, needs_ack=alarm.needs_ack and told), AlarmState.SUPPRESSED, parent, now)
    if _lapsed(alarm, now):
        alarm = replace(alarm, needs_ack=True, acknowledged_until=None)
    return _in_state(alarm, _state(alarm), "", now)


def shelf_ended(alarm: Alarm, now: datetime, *, on_air: bool, rules: AlarmLimits) -> bool:
    """On air no shelf is older than an hour, whenever it was filled: the show must not begin half deaf."""
    if alarm.shelved_until is None and not alarm.is_ongoing:
        return True
    over = alarm.shelved_until is not None and alarm.shelved_until <= now
    return over or (on_air and now - alarm.changed >= timedelta(seconds=rules.shelved_most))


def _lapsed(alarm: Alarm, now: datetime) -> bool:
    """Whether it asks again: its acknowledgement ran out, or its parent went and nobody was told of it yet."""
    if not alarm.is_ongoing or alarm.needs_ack:
        return False
    if alarm.acknowledged_until:
        return alarm.acknowledged_until <= now
    return alarm.state is AlarmState.SUPPRESSED


def _state(alarm: Alarm) -> AlarmState:
    if alarm.is_ongoing:
        return AlarmState.UNACKNOWLEDGED if alarm.needs_ack else AlarmState.ACKNOWLEDGED
    return AlarmState.RETURNED if alarm.needs_ack else AlarmState.CLEARED


def _in_state(alarm: Alarm, state: AlarmState, parent: str, now: datetime) -> Alarm:
    if (state, parent) == (alarm.state, alarm.parent):
        return alarm
    return replace(alarm, state=state, parent=parent, changed=alarm.changed if state is alarm.state else now)


def is_audible(before: Alarm | None, after: Alarm) -> bool:
    """Whether the alarm asks for attention anew, aloud. What flaps already has rung often enough."""
    if after.state is not AlarmState.UNACKNOWLEDGED or after.severity is Severity.INFO:
        return False
    if before is None or before.state is not after.state:
        return True
    return worse(after, before) and not after.flapping


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


def changed(before: Alarm | None, after: Alarm, now: datetime) -> AlarmChange | None:
    """What became of the alarm, if anything did that a log should tell."""
    turn = _turn(before, after)
    return AlarmChange(now, turn, after) if turn else None


def _turn(before: Alarm | None, after: Alarm) -> AlarmTransition | None:
    if before is None:
        return _ENTERED[after.state]
    if before.state is not after.state:
        return _crossed(before, after)
    if before.severity is not after.severity:
        return AlarmTransition.SEVERITY
    return AlarmTransition.NOTED if before.note != after.note else None


def _crossed(before: Alarm, after: Alarm) -> AlarmTransition:
    if before.state in _LEFT and after.state is not AlarmState.SHELVED:
        return _LEFT[before.state]
    if before.state is AlarmState.SUPPRESSED and after.is_ongoing:
        return AlarmTransition.RELEASED
    if (before.state, after.state) == (AlarmState.ACKNOWLEDGED, AlarmState.UNACKNOWLEDGED):
        worse = before.severity is not after.severity or before.stage < after.stage
        return AlarmTransition.RAISED if worse else AlarmTransition.LAPSED
    return _ENTERED[after.state]
