"""Effects of operators' commands on an alarm: acknowledge, close, take back, shelve, take out of service, note.

Pure.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from math import isfinite

from livedeck.monitor.model.alarm import Alarm, AlarmState, Severity
from livedeck.monitor.model.alarm_action import TAKE_BACK_FOR, AlarmAction, Verdict, person
from livedeck.monitor.model.thresholds import AlarmLimits
from livedeck.text.values import safe

_MAX_CHARS = 500
"""Maximum number of characters of a reason or a note."""

_AWAY = frozenset({AlarmState.SHELVED, AlarmState.OUT_OF_SERVICE, AlarmState.SUPPRESSED})
_NEEDS_ACK = frozenset({AlarmState.UNACKNOWLEDGED, AlarmState.RETURNED})


class AlarmRefused(Exception):  # noqa: N818  a refusal, no error
    """A command for an alarm was refused; the text says why and what to do. `code`: the reason, for programs."""

    code = "refused"


class AlarmNotSent(AlarmRefused):
    """A command did not reach the collector, so it was not carried out."""


class AlarmOutcomeUnknown(AlarmRefused):
    """A command was sent, and no usable reply arrived: the collector may have carried it out."""


def acknowledge(alarm: Alarm, now: datetime, limits: AlarmLimits) -> Alarm | None:
    """Return the alarm acknowledged for a time, or until its fault ends; None if it needs no acknowledgement."""
    if alarm.state not in _NEEDS_ACK:
        return None
    if not alarm.is_ongoing:
        return replace(alarm, state=AlarmState.CLEARED, changed=now, needs_ack=False)
    until = acknowledged_until(alarm, now, limits)
    return replace(alarm, state=AlarmState.ACKNOWLEDGED, changed=now, needs_ack=False, acknowledged_until=until)


def close(alarm: Alarm, verdict: str, now: datetime, limits: AlarmLimits) -> Alarm | None:
    """Return the alarm acknowledged and with a verdict; None if it has this verdict already. Raises AlarmRefused."""
    if verdict not in {*Verdict}:
        raise AlarmRefused(f"Close as {', '.join(Verdict)}.")
    if alarm.state in _AWAY:
        raise AlarmRefused(f"{alarm.kind} is {alarm.state.words}: make it visible first")
    if alarm.verdict == verdict and alarm.state not in _NEEDS_ACK:
        return None
    return replace(acknowledge(alarm, now, limits) or alarm, verdict=verdict)


def acknowledged_until(alarm: Alarm, now: datetime, limits: AlarmLimits) -> datetime | None:
    """Return the time at which an acknowledgement given now expires; None (never) for an alarm of severity INFO."""
    if alarm.severity is Severity.INFO:
        return None
    is_critical = alarm.severity is Severity.CRITICAL
    return now + timedelta(seconds=limits.acknowledged_critical if is_critical else limits.acknowledged_warning)


def unacknowledge(
    alarm: Alarm, acknowledgement: AlarmAction | None, earlier: datetime | None, actor: str, now: datetime
) -> Alarm:
    """Return the alarm as it was before its acknowledgement.

    Args:
        alarm: The alarm.
        acknowledgement: The acknowledgement in force, or None.
        earlier: Time of the previous acknowledgement, or None.
        actor: Person who takes back the acknowledgement.
        now: This machine's clock.

    Raises:
        AlarmRefused: The alarm is not acknowledged, another person acknowledged it, or `TAKE_BACK_FOR` has passed.

    """
    if acknowledgement is None or (alarm.severity is Severity.INFO and not alarm.is_ongoing):
        raise AlarmRefused(f"{alarm.kind} is not acknowledged: there is nothing to take back")
    by, mine = safe(person(acknowledgement.actor), 60), person(acknowledgement.actor) == person(actor)
    if not mine:
        raise AlarmRefused(
            f"{by} acknowledged {alarm.kind} at {acknowledgement.at:%H:%M:%S}Z: only {by} can take it back"
        )
    if now - acknowledgement.at > TAKE_BACK_FOR:
        minutes = TAKE_BACK_FOR / timedelta(minutes=1)
        raise AlarmRefused(
            f"{alarm.kind} was acknowledged at {acknowledgement.at:%H:%M:%S}Z: "
            f"an acknowledgement cannot be taken back after {minutes:.0f} min"
        )
    return without_acknowledgement(alarm, earlier)


def without_acknowledgement(alarm: Alarm, earlier: datetime | None) -> Alarm:
    """Return the alarm without its acknowledgement. `earlier`: time of the previous acknowledgement, or None."""
    alarm = replace(alarm, needs_ack=True, acknowledged_until=None, acknowledged_at=earlier, verdict="")
    match alarm.state:
        case AlarmState.ACKNOWLEDGED:
            return replace(alarm, state=AlarmState.UNACKNOWLEDGED, changed=alarm.since)
        case AlarmState.CLEARED:
            return replace(alarm, state=AlarmState.RETURNED)
    return alarm


def shelve(
    alarm: Alarm, minutes: float | None, reason: str, now: datetime, *, on_air: bool, limits: AlarmLimits
) -> Alarm:
    """Return the alarm shelved. `minutes`: how long; None to shelve it until it clears. Raises AlarmRefused."""
    _refuse_out_of_service(alarm)
    maximum = limits.shelved_most / 60
    if minutes is None and not alarm.is_ongoing:
        raise AlarmRefused(f"{alarm.kind} has cleared: acknowledge it, or shelve it for some minutes")
    if minutes is not None and not (isfinite(minutes) and minutes > 0):
        raise AlarmRefused("Shelve for more than 0 minutes.")
    if on_air and minutes is not None and minutes > maximum:
        raise AlarmRefused(f"On air, shelve for at most {maximum:.0f} min.")
    until = _after_minutes(now, minutes) if minutes is not None else None
    return hide(alarm, AlarmState.SHELVED, _cleaned_reason(reason), now, until, hides=alarm.severity)


def unshelve(alarm: Alarm, now: datetime) -> Alarm:
    """Return the alarm unshelved. It needs an acknowledgement if its fault is present. Raises AlarmRefused."""
    if alarm.state is not AlarmState.SHELVED:
        raise AlarmRefused(f"{alarm.kind} is not shelved")
    return unhide(alarm, now)


def take_out_of_service(alarm: Alarm, reason: str, now: datetime) -> Alarm:
    """Return the alarm out of service, hidden until a person brings it back. Raises AlarmRefused."""
    _refuse_out_of_service(alarm)
    return hide(alarm, AlarmState.OUT_OF_SERVICE, _cleaned_reason(reason), now, None, hides=alarm.severity)


def put_in_service(alarm: Alarm, now: datetime) -> Alarm:
    """Return the alarm, back in service. It needs an acknowledgement if its fault is present. Raises AlarmRefused."""
    if alarm.state is not AlarmState.OUT_OF_SERVICE:
        if alarm.state is AlarmState.SHELVED:
            raise AlarmRefused(f"{alarm.kind} is shelved, not out of service: unshelve it")
        raise AlarmRefused(f"{alarm.kind} is not out of service")
    return unhide(alarm, now)


def add_note(alarm: Alarm, text: str) -> Alarm:
    """Return the alarm with this note; an empty text removes the note."""
    return replace(alarm, note=note_text(text))


def note_text(text: str) -> str:
    """Return a note as it is stored: trimmed, without control characters."""
    return safe(text.strip(), _MAX_CHARS)


def unhide(alarm: Alarm, now: datetime) -> Alarm:
    """Return a shelved or out-of-service alarm visible again."""
    state = AlarmState.UNACKNOWLEDGED if alarm.is_ongoing else AlarmState.CLEARED
    return replace(
        alarm, state=state, changed=now, needs_ack=alarm.is_ongoing, shelved_until=None, reason="", hides=None
    )


def _refuse_out_of_service(alarm: Alarm) -> None:
    if alarm.state is AlarmState.OUT_OF_SERVICE:
        raise AlarmRefused(f"{alarm.kind} is out of service: return it to service first")


def hide(
    alarm: Alarm, state: AlarmState, reason: str, now: datetime, until: datetime | None, *, hides: Severity | None
) -> Alarm:
    """Return the alarm hidden from `now` on. `state`: shelved or out of service.

    `until`: end of the shelving; None to hide the alarm until it clears. `hides`: highest severity of the symptoms that
    are hidden too; None to hide no symptoms.
    """
    return replace(
        alarm,
        state=state,
        changed=now,
        needs_ack=False,
        acknowledged_until=None,
        shelved_until=until,
        reason=reason,
        parent="",
        hides=hides,
    )


def _cleaned_reason(text: str) -> str:
    reason = safe(text.strip(), _MAX_CHARS)
    if not reason:
        raise AlarmRefused("A reason is required: say why.")
    return reason


def _after_minutes(now: datetime, minutes: float) -> datetime:
    try:
        return now + timedelta(minutes=minutes)
    except OverflowError:
        raise AlarmRefused("Shelve for fewer minutes, or take the alarm out of service.") from None
