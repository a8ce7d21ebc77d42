"""Lines for a screen reader: each event, then each change. The subject is first, the time last. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from livedeck.monitor import (
    AlarmChange,
    AlarmState,
    ConnectionState,
    EventState,
    Grade,
    NotWatched,
    Snapshot,
    not_watched_text,
    person,
)
from livedeck.presentation import events
from livedeck.presentation.alarm_text import ShownChanges
from livedeck.presentation.connection import missing_text, poor_text
from livedeck.presentation.render_time import RenderTime
from livedeck.text.values import counted, evidence_text, safe

_MAX_NAME = 80

_NAMED = 6
"""Maximum number of events that a line names."""


class _Heard(NamedTuple):
    """Tally and grade of an event in the last printed lines. `is_stale`: the grade is computed from old data."""

    tally: str
    grade: str
    is_stale: bool


class PlainLines:
    """Makes the lines, snapshot by snapshot: first one for each event, worst first, then one for each change."""

    def __init__(self) -> None:
        self._changes, self._stops = ShownChanges(), frozenset[NotWatched]()
        self._heard: dict[str, _Heard] | None = None
        self._connection, self._missing = ConnectionState.CONNECTING, ""

    def lines(self, snapshot: Snapshot, render_time: RenderTime) -> list[str]:
        """Return the lines of the next snapshot. The events are listed as soon as all events on air are judged."""
        link = [*self._connection_lines(snapshot, render_time)]
        stops, self._stops = self._stops, frozenset(snapshot.link.own.stops)
        alarms = [_change_line(change) for change in self._changes.news(snapshot)]
        is_judged = all(events.was_asked(state) for state in snapshot.events if state.phase.tally.expects_signal)
        if snapshot.link.as_of is None or (self._heard is None and not is_judged):
            return link
        before = self._heard
        heard = self._heard = {state.id: _heard(state, (before or {}).get(state.id)) for state in snapshot.events}
        if before is None:
            head = f"{counted(len(snapshot.events), 'event')}, {counted(len(snapshot.alarms), 'alarm')}."
            return [*link, _timed(head, render_time), *(_event_line(state) for state in snapshot.events)]
        return [
            *link,
            *(f"Not watched: {not_watched_text(stop)}." for stop in snapshot.link.own.stops if stop not in stops),
            *_event_changes(before, heard, snapshot, render_time),
            *alarms,
        ]

    def _connection_lines(self, snapshot: Snapshot, render_time: RenderTime) -> Iterator[str]:
        """Yield a line when the connection begins to fail or works again, and a line if events are missing."""
        link, before, missing = snapshot.link, self._connection, missing_text(snapshot)
        self._connection, self._missing, missing_before = link.state, missing, self._missing
        if link.state is not before:
            if link.state is ConnectionState.OK and before is not ConnectionState.CONNECTING:
                yield _timed("The platform responds again.", render_time)
            elif link.state is ConnectionState.POOR:
                yield _timed(f"The link is poor: {poor_text(link)}.", render_time)
            elif not link.state.is_answering and link.state is not ConnectionState.CONNECTING:
                yield _timed(f"{link.state.value.capitalize()}, the present state is unknown: {link.why}.", render_time)
        if missing != missing_before:
            yield _timed(f"{missing or 'The list of events is whole again'}.", render_time)


def _heard(state: EventState, before: _Heard | None = None) -> _Heard:
    grade = state.assessment.health.grade
    if grade is Grade.STALE:
        last = before.grade if before else ""
        return _Heard(state.phase.tally.value.lower(), last, bool(last))
    return _Heard(state.phase.tally.value.lower(), "" if grade is Grade.NONE else grade.value.lower(), False)


def _event_line(state: EventState) -> str:
    findings = [f"{finding.kind} {evidence_text(finding)}" for finding in state.assessment.findings]
    return f"{_name(state)}: {', '.join(filter(None, [_heard(state).tally, _health(state), *findings]))}."


def _health(state: EventState) -> str:
    """Return `health poor, 45, keyframes`; empty if the event has no health now."""
    health, grade = state.assessment.health, _heard(state).grade
    score = "" if health.score is None else str(health.score)
    return ", ".join(filter(None, [f"health {grade}", score, health.component or ""])) if grade else ""


def _event_changes(
    before: dict[str, _Heard], heard: dict[str, _Heard], snapshot: Snapshot, render_time: RenderTime
) -> Iterator[str]:
    stale, fresh = list[str](), list[str]()
    for state in snapshot.events:
        new, old = heard[state.id], before.get(state.id)
        if old is None:
            yield _timed(f"New event {_event_line(state)}", render_time)
            continue
        if new.is_stale is not old.is_stale:
            (stale if new.is_stale else fresh).append(_name(state))
        if new.tally != old.tally:
            yield _timed(f"{_name(state)}: {new.tally}, was {old.tally}.", render_time)
        if new.grade != old.grade and new.grade:
            was = f", was {old.grade}" if old.grade else ""
            yield _timed(f"{_name(state)}: {_health(state)}{was}.", render_time)
    for words, names in (("No fresh data", stale), ("Fresh data again", fresh)):
        if names:
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            yield _timed(f"{words}: {'; '.join(names[:_NAMED])}{more}.", render_time)
    if gone := len(before.keys() - heard.keys()):
        yield _timed(f"{counted(gone, 'event')} no longer listed.", render_time)


def _change_line(change: AlarmChange) -> str:
    alarm = change.alarm
    target = f", {safe(alarm.target_name or alarm.target, _MAX_NAME)}" if alarm.target else ""
    by = f" by {safe(person(change.actor), _MAX_NAME)}" if change.actor else ""
    is_acknowledged = alarm.state is AlarmState.ACKNOWLEDGED and alarm.acknowledged_until
    until = f" until {alarm.acknowledged_until:%H:%M:%S}Z" if is_acknowledged else ""
    head = f"{safe(alarm.subject, _MAX_NAME)}{target}: {alarm.kind} {change.transition.words}{by}{until}"
    return f"{head}, {alarm.severity.value}, {evidence_text(alarm)}. {change.at:%H:%M:%S}Z"


def _name(state: EventState) -> str:
    return safe(events.name(state), _MAX_NAME)


def _timed(text: str, render_time: RenderTime) -> str:
    return f"{text} {render_time.now:%H:%M:%S}Z"
