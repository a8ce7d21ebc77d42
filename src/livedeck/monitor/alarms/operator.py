"""Effects of a person's commands on an alarm: acknowledge, take that back, shelve, take out of service, note
(monitoring.md, "Operator"). Pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from math import isfinite

from livedeck.monitor.model.alarm import Alarm, AlarmState, Severity
from livedeck.monitor.model.alarm_action import TAKE_BACK_FOR, AlarmAction, person
from livedeck.monitor.model.thresholds import AlarmLimits
from livedeck.text.values import safe

_MAX_CHARS = 500
"""Of a reason or a note."""

_NEEDS_ACK = frozenset({AlarmState.UNACKNOWLEDGED, AlarmState.RETURNED})


class AlarmRefused(Exception):  # noqa: N818  a refusal, no error
    """What was asked of an alarm cannot be done; the text says why and what can. `code`: the same for a program."""

    code = "refused"


def acknowledge(alarm: Alarm, now: datetime, limits: AlarmLimits) -> Alarm | None:
    """Silent until it is over or the acknowledgement runs out; one that is over is done. None: it needed none."""
    if alarm.state not in _NEEDS_ACK:
        return None
    if not alarm.is_ongoing:
        return replace(alarm, state=AlarmState.CLEARED, changed=now, needs_ack=False)
    until = acknowledged_until(alarm, now, limits)
    return replace(alarm, state=AlarmState.ACKNOWLEDGED, changed=now, needs_ack=False, acknowledged_until=until)


def acknowledged_until(alarm: Alarm, now: datetime, limits: AlarmLimits) -> datetime | None:
    """When an acknowledgement that is given now runs out; None: an info's does not."""
    if alarm.severity is Severity.INFO:
        return None
    is_critical = alarm.severity is Severity.CRITICAL
    return now + timedelta(seconds=limits.acknowledged_critical if is_critical else limits.acknowledged_warning)


def unacknowledge(
    alarm: Alarm, acknowledgement: AlarmAction | None, earlier: datetime | None, actor: str, now: datetime
) -> Alarm:
    """Return the alarm as it was before that acknowledgement.

    Args:
        acknowledgement: the acknowledgement that holds, None if none does.
        earlier: when the acknowledgement before it was given, None if it is the first.
        actor: who takes it back.

    Raises:
        AlarmRefused: nobody acknowledged it, somebody else did, or that was too long ago.
    """
    if acknowledgement is None or (alarm.severity is Severity.INFO and not alarm.is_ongoing):
        raise AlarmRefused(f"{alarm.kind} is not acknowledged: nothing to take back")
    by, mine = safe(person(acknowledgement.actor), 60), person(acknowledgement.actor) == person(actor)
    if not mine:
        raise AlarmRefused(
            f"{by} acknowledged {alarm.kind} at {acknowledgement.at:%H:%M:%S}Z: only {by} can take that back"
        )
    if now - acknowledgement.at > TAKE_BACK_FOR:
        minutes = TAKE_BACK_FOR / timedelta(minutes=1)
        raise AlarmRefused(
            f"{alarm.kind} was acknowledged at {acknowledgement.at:%H:%M:%S}Z: that can be taken back for {minutes:.0f} min"
        )
    return without_acknowledgement(alarm, earlier)


def without_acknowledgement(alarm: Alarm, earlier: datetime | None) -> Alarm:
    """Return the alarm as if nobody had acknowledged it since `earlier`: it asks since it began, as it did before."""
    alarm = replace(alarm, needs_ack=True, acknowledged_until=None, acknowledged_at=earlier)
    match alarm.state:
        case AlarmState.ACKNOWLEDGED:
            return replace(alarm, state=AlarmState.UNACKNOWLEDGED, changed=alarm.since)
        case AlarmState.CLEARED:
            return replace(alarm, state=AlarmState.RETURNED)
    return alarm


def shelve(
    alarm: Alarm, minutes: float | None, reason: str, now: datetime, *, on_air: bool, limits: AlarmLimits
) -> Alarm:
    """Out of sight for so many minutes, or (None) until it is over. Raises AlarmRefused."""
    _refuse_out_of_service(alarm)
    maximum = limits.shelved_most / 60
    if minutes is None and not alarm.is_ongoing:
        raise AlarmRefused(f"{alarm.kind} is over: acknowledge it, or shelve it for a time")
    if minutes is not None and not (isfinite(minutes) and minutes > 0):
        raise AlarmRefused("shelve for more than 0 minutes")
    if on_air and minutes is not None and minutes > maximum:
        raise AlarmRefused(f"on air at most {maximum:.0f} min")
    until = _after_minutes(now, minutes) if minutes is not None else None
    return hide(alarm, AlarmState.SHELVED, _cleaned_reason(reason), now, until)


def unshelve(alarm: Alarm, now: datetime) -> Alarm:
    """In sight again, and to be acknowledged if it is there. Raises AlarmRefused."""
    if alarm.state is not AlarmState.SHELVED:
        raise AlarmRefused(f"{alarm.kind} is not shelved")
    return unhide(alarm, now)


def take_out_of_service(alarm: Alarm, reason: str, now: datetime) -> Alarm:
    """Out of sight until it is put in service again. Raises AlarmRefused."""
    _refuse_out_of_service(alarm)
    return hide(alarm, AlarmState.OUT_OF_SERVICE, _cleaned_reason(reason), now, None)


def put_in_service(alarm: Alarm, now: datetime) -> Alarm:
    """In sight again, and to be acknowledged if it is there. Raises AlarmRefused."""
    if alarm.state is not AlarmState.OUT_OF_SERVICE:
        raise AlarmRefused(f"{alarm.kind} is in service")
    return unhide(alarm, now)


def add_note(alarm: Alarm, text: str) -> Alarm:
    """With these words beside it; empty words take them away."""
    return replace(alarm, note=note_text(text))


def note_text(text: str) -> str:
    """Those words as they are kept."""
    return safe(text.strip(), _MAX_CHARS)


def unhide(alarm: Alarm, now: datetime) -> Alarm:
    """What was put away, in sight again."""
    state = AlarmState.UNACKNOWLEDGED if alarm.is_ongoing else AlarmState.CLEARED
    return replace(alarm, state=state, changed=now, needs_ack=alarm.is_ongoing, shelved_until=None, reason="")


def _refuse_out_of_service(alarm: Alarm) -> None:
    if alarm.state is AlarmState.OUT_OF_SERVICE:
        raise AlarmRefused(f"{alarm.kind} is out of service: put it in service first")


def hide(alarm: Alarm, state: AlarmState, reason: str, now: datetime, until: datetime | None) -> Alarm:
    """Out of sight, shelved or out of service, since `now`."""
    return replace(
        alarm,
        state=state,
        changed=now,
        needs_ack=False,
        acknowledged_until=None,
        shelved_until=until,
        reason=reason,
        parent="",
    )


def _cleaned_reason(text: str) -> str:
    reason = safe(text.strip(), _MAX_CHARS)
    if not reason:
        raise AlarmRefused("say why: a reason is needed")
    return reason


def _after_minutes(now: datetime, minutes: float) -> datetime:
    try:
        return now + timedelta(minutes=minutes)
    except OverflowError:
        raise AlarmRefused("shelve for fewer minutes, or take it out of service") from None
