"""Alarms as lines of text for people: glyph and word, since when, of what, and what to do. Pure."""

from __future__ import annotations

from livedeck.monitor import Alarm, AlarmChange, AlarmState, AlarmTransition
from livedeck.presentation.events import SEVERITIES
from livedeck.presentation.render_time import RenderTime
from livedeck.text import values

_INDENT = " " * 8


HIDDEN_TRANSITIONS = frozenset({AlarmTransition.SUPPRESSED, AlarmTransition.RELEASED, AlarmTransition.NOTED})

"""Changes that call for nobody."""


def block(alarm: Alarm, moment: RenderTime) -> list[str]:
    """The alarm on one line, and under it what is known of its cause, what viewers see, and what to do."""
    since = f"since {alarm.since:%H:%M:%S}Z ({values.short_duration(moment.seconds_since(alarm.since))})"
    head = f"{_severity(alarm)}  {alarm.state.value}{_until(alarm)}  {since}  {what(alarm)}"
    told = {
        "cause": alarm.diagnosis.cause,
        "viewers": alarm.diagnosis.viewers,
        "do": alarm.diagnosis.advice,
        "note": alarm.note,
        "affects": ", ".join(alarm.affects),
    }
    return [head, *(f"{_INDENT}{name}: {values.safe(text)}" for name, text in told.items() if text)]


def turn(change: AlarmChange) -> str:
    """What became of an alarm, on one line."""
    alarm, transition = change.alarm, change.transition.value
    return f"{change.at:%Y-%m-%d %H:%M:%S}Z  {transition:<16}  {_severity(alarm)}  {what(alarm)}"


def what(alarm: Alarm) -> str:
    """Whose it is, which it is, and the numbers: `Town hall: PACKET_LOSS loss in 4 of 6 (no packet loss)`."""
    subject = values.safe(alarm.subject, 80)
    if alarm.target:
        subject = f"{subject} / {values.safe(alarm.target_name or alarm.target, 80)}"
    expected = f" (expected: {values.safe(alarm.expected)})" if alarm.expected else ""
    return f"{subject}: {alarm.kind} {values.safe(alarm.actual)}{expected}"


def _severity(alarm: Alarm) -> str:
    glyph, word, _ = SEVERITIES[alarm.severity]
    flapping = " ~ FLAPPING" if alarm.flapping else ""
    return f"{glyph} {word}{flapping}"


def _until(alarm: Alarm) -> str:
    """Why it is quiet, and until when."""
    if alarm.state is AlarmState.SUPPRESSED:
        return f" by {alarm.parent}"
    if alarm.state is AlarmState.ACKNOWLEDGED and alarm.acknowledged_until:
        return f" until {alarm.acknowledged_until:%H:%M:%S}Z"
    until = f" until {alarm.shelved_until:%H:%M:%S}Z" if alarm.shelved_until else ""
    return until + (f" ({values.safe(alarm.reason)})" if alarm.reason else "")
