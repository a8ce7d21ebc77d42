"""Alarms, their changes and the actions on them as plain text, for the command line. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from livedeck.monitor import (
    Alarm,
    AlarmAction,
    AlarmChange,
    AlarmKey,
    AlarmState,
    AlarmTransition,
    NotWatched,
    RuleChange,
    Severity,
    Snapshot,
    not_watched_text,
    person,
)
from livedeck.presentation.alarms import affected_names, answered_by, rule_words
from livedeck.presentation.badges import SEVERITY_BADGES
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.silences import silenced_text
from livedeck.text.values import evidence_text, safe, short_duration

_FOLLOWING = frozenset({AlarmTransition.SEVERITY, AlarmTransition.RETURNED, AlarmTransition.CLEARED})
"""Transitions that are printed only if the onset of the alarm was printed."""

_QUIET = frozenset({AlarmTransition.SUPPRESSED, AlarmTransition.RELEASED, AlarmTransition.NOTED})
"""Transitions that need no action."""


_FOUND = "found"
"""Word for an alarm whose fault began before the first look at its event."""

_NAMED = 6
"""Maximum number of alarms that are named in the line about a first look. `alarm list` prints all alarms."""

_CELLS = 25
"""Width of the first word of a line."""


def alarm_text(alarm: Alarm, render_time: RenderTime, snapshot: Snapshot) -> list[str]:
    """Return a line with the alarm, then a line each with its cause, its effect on viewers and the advice."""
    since = f"since {alarm.since:%H:%M:%S}Z ({short_duration(render_time.seconds_since(alarm.since))})"
    silenced = silenced_text(alarm, render_time.now)
    state = f"{alarm.state.words}{_until(alarm)}{f', {silenced}' if silenced else ''}"
    head = f"{_severity_text(alarm)}  {state}  {since}  {_fault_text(alarm)}"
    details = {
        "cause": alarm.diagnosis.cause,
        "viewers": alarm.diagnosis.viewers,
        "do": alarm.diagnosis.advice,
        "by": answered_by(alarm),
        "note": alarm.note,
        "closed": alarm.verdict,
        "affects": affected_names(alarm, snapshot),
    }
    return [head, *(f"        {label}: {safe(text)}" for label, text in details.items() if text)]


def change_text(change: AlarmChange) -> str:
    """Return a transition of an alarm on one line."""
    head = _head(change, _FOUND if _is_found(change) else change.transition.words)
    silenced = silenced_text(change.alarm, change.at)
    fault = f"{_fault_text(change.alarm)}{f'  {silenced}' if silenced else ''}"
    return f"{head}  {_severity_text(change.alarm)}  {fault}"


def _head(change: AlarmChange, word: str) -> str:
    return f"{change.at:%Y-%m-%d %H:%M:%S}Z  {word:<{_CELLS}}"


class ShownChanges:
    """Selects the transitions to print, snapshot by snapshot.

    Omits transitions that need no action, and later transitions of an alarm whose onset was not printed, such as the
    clearance of an alarm that an incident hid.
    """

    def __init__(self) -> None:
        self._shown: set[AlarmKey] | None = None

    def news(self, snapshot: Snapshot) -> list[AlarmChange]:
        """Return the announced transitions of the next snapshot to print."""
        if self._shown is None:
            self._shown = {alarm.key for alarm in snapshot.alarms}
        shown = []
        for change in snapshot.changes:
            key, transition = change.alarm.key, change.transition
            is_released = transition is AlarmTransition.RELEASED and change.alarm.active
            if transition is AlarmTransition.RAISED or is_released:
                self._shown.add(key)
            elif transition in _QUIET or (transition in _FOLLOWING and key not in self._shown):
                continue
            shown.append(change)
        return shown


def change_lines(changes: Iterable[AlarmChange]) -> list[str]:
    """Return the transitions of alarms, a line each. Alarms of a first look share one line."""
    shown = list(changes)
    found = [change for change in shown if _is_found(change)]
    others = [change_text(change) for change in shown if len(found) < 2 or not _is_found(change)]
    return [_found_text(found), *others] if len(found) > 1 else others


def _is_found(change: AlarmChange) -> bool:
    return change.transition is AlarmTransition.RAISED and change.alarm.found


def _found_text(found: Sequence[AlarmChange]) -> str:
    """Return the alarms of a first look on one line: their number, and the names of the worst."""
    alarms = sorted((change.alarm for change in found), key=lambda alarm: (alarm.severity.rank, alarm.since))
    names = [f"{safe(alarm.subject, 80)} {alarm.kind}" for alarm in alarms[:_NAMED]]
    more = f" and {len(alarms) - _NAMED} more" if len(alarms) > _NAMED else ""
    count = f"{len(alarms)} alarms at the first look"
    return f"{_head(found[0], _FOUND)}  {_severity_text(alarms[0])}  {count}: {', '.join(names)}{more}"


def answer_text(answer: AlarmAction, subject: str) -> str:
    """Return an operator's action on an alarm, on one line."""
    until = f" until {answer.until:%H:%M:%S}Z" if answer.until else ""
    reason = f" ({safe(answer.reason)})" if answer.reason else ""
    return (
        f"{answer.at:%Y-%m-%d %H:%M:%S}Z  {answer.kind.value:<{_CELLS}}  by {safe(person(answer.actor), 80)}{until}  "
        f"{safe(subject, 80)}: {answer.key.kind}{reason}"
    )


def rule_change_text(change: RuleChange, subject: str) -> str:
    """Return a change of the rules that judge events, on one line. `subject`: name of the event; empty for all."""
    glyph = f"{SEVERITY_BADGES[Severity.WARNING].glyph} " if change.is_fault else ""
    return f"{change.at:%Y-%m-%d %H:%M:%S}Z  {'rules changed':<{_CELLS}}  {glyph}{rule_words(change, subject)}"


def stop_text(stop: NotWatched) -> str:
    """Return a line about a time that livedeck did not watch."""
    return f"{stop.until:%Y-%m-%d %H:%M:%S}Z  {'not watched':<{_CELLS}}  {not_watched_text(stop)}"


def note_done(text: str) -> str:
    """Return the notice that a note was attached, or was removed by an empty text."""
    return "note attached" if text.strip() else "note removed"


def _fault_text(alarm: Alarm) -> str:
    """Return subject, kind and values: `Town hall: PACKET_LOSS loss in 4 of 6 samples, expected under 3 of 6`."""
    target = f" / {safe(alarm.target_name or alarm.target, 80)}" if alarm.target else ""
    return f"{safe(alarm.subject, 80)}{target}: {alarm.kind} {evidence_text(alarm)}"


def _severity_text(alarm: Alarm) -> str:
    glyph, word, _ = SEVERITY_BADGES[alarm.severity]
    return f"{glyph} {word}{' ~ FLAPPING' if alarm.flapping else ''}"


def _until(alarm: Alarm) -> str:
    """Return the reason why the alarm is quiet, and the end of that time."""
    if alarm.state is AlarmState.SUPPRESSED:
        return f", {alarm.reason}" if alarm.reason else f" by {alarm.parent}"
    if alarm.state is AlarmState.ACKNOWLEDGED and alarm.acknowledged_until:
        return f" until {alarm.acknowledged_until:%H:%M:%S}Z"
    until = f" until {alarm.shelved_until:%H:%M:%S}Z" if alarm.shelved_until else ""
    return until + (f" ({safe(alarm.reason)})" if alarm.reason else "")
