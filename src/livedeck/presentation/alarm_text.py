"""Alarms, their changes and their answers as plain text, for the command line. Pure."""

from __future__ import annotations

from livedeck.monitor import (
    Alarm,
    AlarmAction,
    AlarmChange,
    AlarmState,
    AlarmTransition,
    RuleChange,
    Severity,
    Snapshot,
    person,
)
from livedeck.presentation.alarms import affected_names, answered_by, rule_words
from livedeck.presentation.badges import SEVERITY_BADGES
from livedeck.presentation.render_time import RenderTime
from livedeck.text.values import safe, short_duration

HIDDEN_TRANSITIONS = frozenset({AlarmTransition.SUPPRESSED, AlarmTransition.RELEASED, AlarmTransition.NOTED})
"""Transitions that nobody needs to act on."""


_TURNS = {AlarmTransition.RETURNED: "over, not read"}
"""What would be read otherwise than it is meant: the fault has not come back."""


def alarm_text(alarm: Alarm, render_time: RenderTime, snapshot: Snapshot) -> list[str]:
    """The alarm on one line, and below it what is known of its cause, what viewers see, and what to do."""
    since = f"since {alarm.since:%H:%M:%S}Z ({short_duration(render_time.seconds_since(alarm.since))})"
    head = f"{_severity_text(alarm)}  {alarm.state.value}{_until(alarm)}  {since}  {_fault_text(alarm)}"
    details = {
        "cause": alarm.diagnosis.cause,
        "viewers": alarm.diagnosis.viewers,
        "do": alarm.diagnosis.advice,
        "by": answered_by(alarm),
        "note": alarm.note,
        "affects": affected_names(alarm, snapshot),
    }
    return [head, *(f"        {label}: {safe(text)}" for label, text in details.items() if text)]


def change_text(change: AlarmChange) -> str:
    """A transition of an alarm, on one line."""
    alarm, transition = change.alarm, _TURNS.get(change.transition, change.transition.value)
    return f"{change.at:%Y-%m-%d %H:%M:%S}Z  {transition:<16}  {_severity_text(alarm)}  {_fault_text(alarm)}"


def answer_text(answer: AlarmAction, subject: str) -> str:
    """What a person answered to an alarm, on one line."""
    until = f" until {answer.until:%H:%M:%S}Z" if answer.until else ""
    reason = f" ({safe(answer.reason)})" if answer.reason else ""
    return (
        f"{answer.at:%Y-%m-%d %H:%M:%S}Z  {answer.kind.value:<16}  by {safe(person(answer.actor), 80)}{until}  "
        f"{safe(subject, 80)}: {answer.key.kind}{reason}"
    )


def rule_change_text(change: RuleChange, subject: str) -> str:
    """How an event is judged otherwise than before, on one line. `subject`: which event, empty for all."""
    glyph = f"{SEVERITY_BADGES[Severity.WARNING].glyph} " if change.is_fault else ""
    return f"{change.at:%Y-%m-%d %H:%M:%S}Z  {'judged otherwise':<16}  {glyph}{rule_words(change, subject)}"


def _fault_text(alarm: Alarm) -> str:
    """Whose alarm it is, its kind and the numbers: `Town hall: PACKET_LOSS loss in 4 of 6 (expected: no loss)`."""
    target = f" / {safe(alarm.target_name or alarm.target, 80)}" if alarm.target else ""
    expected = f" (expected: {safe(alarm.expected)})" if alarm.expected else ""
    return f"{safe(alarm.subject, 80)}{target}: {alarm.kind} {safe(alarm.actual)}{expected}"


def _severity_text(alarm: Alarm) -> str:
    glyph, word, _ = SEVERITY_BADGES[alarm.severity]
    return f"{glyph} {word}{' ~ FLAPPING' if alarm.flapping else ''}"


def _until(alarm: Alarm) -> str:
    """Why it is quiet, and until when."""
    if alarm.state is AlarmState.SUPPRESSED:
        return f" by {alarm.parent}"
    if alarm.state is AlarmState.ACKNOWLEDGED and alarm.acknowledged_until:
        return f" until {alarm.acknowledged_until:%H:%M:%S}Z"
    until = f" until {alarm.shelved_until:%H:%M:%S}Z" if alarm.shelved_until else ""
    return until + (f" ({safe(alarm.reason)})" if alarm.reason else "")
