"""Sheet for the next person at the deck: events on air, open alarms, acknowledgements and planned events.

Pure, except for reading the history.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from livedeck.monitor import (
    Alarm,
    AlarmState,
    CaseEvent,
    EventRecord,
    HistoryReads,
    MaintenanceWindow,
    OpenChange,
    Silence,
    Silences,
    may_cover,
    person,
)
from livedeck.presentation.badges import SEVERITY_BADGES, SILENCE_GLYPH, TALLY_BADGES
from livedeck.presentation.silences import silenced_text, time_text, what_text
from livedeck.report.recorded import latest_events
from livedeck.report.text import hanging
from livedeck.text.markdown import literal
from livedeck.text.times import isoformat_utc
from livedeck.text.values import age, duration, evidence_text, safe, short_duration

if TYPE_CHECKING:
    from livedeck.presentation import documents

_AHEAD = timedelta(hours=24)
"""Time from now within which the sheet lists every planned event. Of later events, it lists only the first."""

_LOOK_BACK = timedelta(days=1)

_FRESH_SECONDS = 90.0
"""Maximum age in seconds of the last watch record while a deck watches. A deck writes a record every 30 s."""

_PUT_AWAY = frozenset({AlarmState.SHELVED, AlarmState.OUT_OF_SERVICE})
_OPEN = frozenset({AlarmState.UNACKNOWLEDGED, AlarmState.ACKNOWLEDGED})


@dataclass(frozen=True, slots=True)
class Handover:
    """Handover sheet. `watched`: last watched time, for which the sheet is valid; None if it is more than a day ago.

    `wrong`: open alarms. `cleared`: alarms that cleared before anybody acknowledged them. `put_away`: alarms that are
    shelved or out of service. `coming`: planned events, next first. `silences`: running silences that cover an event on
    air, with the names of these events.
    """

    made: datetime
    watched: datetime | None
    on_air: tuple[EventRecord, ...]
    wrong: tuple[Alarm, ...]
    put_away: tuple[Alarm, ...]
    coming: tuple[EventRecord, ...]
    open_changes: tuple[OpenChange, ...]
    silences: tuple[tuple[Silence, tuple[str, ...]], ...] = ()
    cleared: tuple[Alarm, ...] = ()

    @property
    def known_until(self) -> datetime:
        """Time up to which the state is known: now while a process watches, else the end of the watched time."""
        return self.made if self.is_fresh or self.watched is None else self.watched

    @property
    def is_fresh(self) -> bool:
        """True if a process watches now."""
        return self.watched is not None and (self.made - self.watched).total_seconds() <= _FRESH_SECONDS


async def read_handover(history: HistoryReads, now: datetime, windows: Sequence[MaintenanceWindow] = ()) -> Handover:
    """Read the history and return the handover sheet. `windows`: maintenance windows of the settings."""
    events = [record for record in await latest_events(history) if not record.is_gone]
    alarms = sorted(await history.standing_alarms(now), key=lambda alarm: (alarm.severity.rank, alarm.since))
    watches = await history.watched(now - _LOOK_BACK, now + _LOOK_BACK)
    waiting = [record for record in events if record.is_waiting and record.planned]
    planned = sorted(waiting, key=lambda record: record.planned or now)
    soon = [record for record in planned if record.planned and record.planned - now <= _AHEAD]
    return Handover(
        now,
        max((watch.until for watch in watches), default=None),
        tuple(record for record in events if record.tally.expects_signal),
        tuple(alarm for alarm in alarms if alarm.state in _OPEN),
        tuple(alarm for alarm in alarms if alarm.state in _PUT_AWAY),
        tuple(soon or planned[:1]),
        await history.open_changes(),
        tuple(await _silences(history, now, windows, [record for record in events if record.tally.expects_signal])),
        tuple(alarm for alarm in alarms if alarm.state is AlarmState.RETURNED),
    )


async def _silences(
    history: HistoryReads, now: datetime, windows: Sequence[MaintenanceWindow], on_air: Sequence[EventRecord]
) -> list[tuple[Silence, tuple[str, ...]]]:
    """Return the running silences that cover an event on air, with the names of these events."""
    events = [CaseEvent(record.event_id, record.name or record.event_id, record.parent_id) for record in on_air]
    found = Silences().including(await history.silence_log(now)).with_windows(windows, now).current(now)
    covered = {
        silence: tuple(event.name for event in events if may_cover(silence, event))
        for silence in found
        if silence.covers(now)
    }
    return [(silence, names) for silence, names in covered.items() if names]


Section = tuple[str, Sequence[tuple[str, Sequence[str]]], str]
"""Title, items with their details, and text for an empty section."""


def _sections(handover: Handover, words: Callable[[str], str]) -> Iterator[Section]:
    """Yield all sections as text. `words`: escapes text from outside for the output format."""
    now, known_until = handover.made, handover.known_until
    yield "On air", [_event(record, known_until, words) for record in handover.on_air], "nothing is on air"
    yield "Open alarms", [_alarm(alarm, known_until, words) for alarm in handover.wrong], "no open alarms"
    if handover.cleared:
        yield "Cleared, not acknowledged", [_alarm(alarm, known_until, words) for alarm in handover.cleared], ""
    yield "Shelved or out of service", [_alarm(alarm, now, words) for alarm in handover.put_away], "no alarms"
    if handover.silences:
        yield "Silences of events on air", [_silence(*silence, now, words) for silence in handover.silences], ""
    yield "Next", [_coming(record, now, words) for record in handover.coming], "nothing is planned"
    if handover.open_changes:
        changes = [_change(change, words) for change in handover.open_changes]
        yield "Changes with unknown outcome", changes, ""


def _event(record: EventRecord, now: datetime, words: Callable[[str], str]) -> tuple[str, Sequence[str]]:
    badge = TALLY_BADGES[record.tally]
    since = (
        f", since {record.started_at:%H:%M:%S}Z ({duration((now - record.started_at).total_seconds())})"
        if record.started_at
        else ""
    )
    restreams = [f"{words(item.name or item.id)} {item.status}" for item in record.restreams if item.is_enabled]
    details = [f"restreams: {', '.join(restreams)}"] if restreams else []
    return f"{badge.glyph} {words(record.name or record.event_id)}: {record.tally}{since}", details


def _coming(record: EventRecord, now: datetime, words: Callable[[str], str]) -> tuple[str, Sequence[str]]:
    assert record.planned is not None
    ahead = (record.planned - now).total_seconds()
    distance = f"in {duration(ahead)}" if ahead >= 0 else f"late by {duration(-ahead)}"
    name = words(record.name or record.event_id)
    return f"{TALLY_BADGES[record.tally].glyph} {name}: {record.planned:%Y-%m-%d %H:%M}Z, {distance}", []


def _alarm(alarm: Alarm, now: datetime, words: Callable[[str], str]) -> tuple[str, Sequence[str]]:
    target = f" / {words(alarm.target_name)}" if alarm.target_name else ""
    until = alarm.cleared_at if alarm.state is AlarmState.RETURNED else None
    lasted = short_duration(((until or now) - alarm.since).total_seconds())
    when = f"from {alarm.since:%H:%M:%S}Z to {until:%H:%M:%S}Z" if until else f"since {alarm.since:%H:%M:%S}Z"
    badge = SEVERITY_BADGES[alarm.severity]
    head = (
        f"{badge.glyph} {words(alarm.subject)}{target}: {alarm.kind} {when} ({lasted}), {words(evidence_text(alarm))}"
    )
    details = [_handling(alarm, now, words)]
    if alarm.note:
        details.append(f"note: {words(alarm.note)}")
    if alarm.diagnosis.advice and alarm.present and alarm.state in _OPEN:
        details.append(f"do: {alarm.diagnosis.advice}")
    return head, details


def _handling(alarm: Alarm, now: datetime, words: Callable[[str], str]) -> str:
    """Return who acknowledged or shelved the alarm, and until when."""
    by = f" by {words(person(alarm.answered_by))}" if alarm.answered_by else ""
    at = f" at {alarm.answered_at:%H:%M:%S}Z" if alarm.answered_at and by else ""
    until = alarm.acknowledged_until if alarm.state is AlarmState.ACKNOWLEDGED else alarm.shelved_until
    ends = f", until {until:%Y-%m-%d %H:%M:%S}Z" if until else ""
    reason = f": {words(alarm.reason)}" if alarm.reason and alarm.state in _PUT_AWAY else ""
    if alarm.silenced and alarm.active:
        return words(silenced_text(alarm, now))
    if alarm.state is AlarmState.UNACKNOWLEDGED:
        return "not acknowledged"
    if alarm.state is AlarmState.RETURNED:
        return f"cleared at {alarm.changed:%H:%M:%S}Z, not acknowledged"
    if alarm.state is AlarmState.SHELVED and not until:
        ends = ", until it clears"
    return f"{alarm.state.words}{by}{at}{ends}{reason}"


def _silence(
    silence: Silence, names: Sequence[str], now: datetime, words: Callable[[str], str]
) -> tuple[str, Sequence[str]]:
    head = f"{SILENCE_GLYPH} {', '.join(map(words, names))}: {time_text(silence, now)}, {words(silence.comment)}"
    return head, [f"{words(what_text(silence))}; by {words(person(silence.by))}; {words(silence.id)}"]


def _change(change: OpenChange, words: Callable[[str], str]) -> tuple[str, Sequence[str]]:
    intent = change.intent
    name = words(intent.target_name or intent.target_id)
    head = f"? {intent.verb} {name} at {intent.at:%Y-%m-%d %H:%M:%S}Z by {words(intent.by)}"
    return head, [words(change.detail)] if change.detail else []


def _standing(handover: Handover) -> str:
    """Return a text about the age of the sheet."""
    if handover.watched is None:
        return "NOBODY HAS WATCHED FOR A DAY: this is the last known state"
    seconds = (handover.made - handover.watched).total_seconds()
    if handover.is_fresh:
        return f"state at {handover.watched:%H:%M:%S}Z, {age(seconds)} ago"
    watched = f"{handover.watched:%Y-%m-%d %H:%M:%S}Z"
    return f"NOBODY WATCHES NOW: state at {watched}, {age(seconds)} ago"


def handover_lines(handover: Handover, cells: int | None) -> Iterator[str]:
    """Yield the lines for a terminal of `cells` columns, or for a pipe."""
    yield f"Handover {handover.made:%Y-%m-%d %H:%M:%S}Z"
    yield from hanging("", _standing(handover), cells)
    for title, items, empty_text in _sections(handover, safe):
        yield from ("", title.upper())
        for head, details in items:
            yield from hanging(f"  {head[:2]}", head[2:], cells)
            for detail in details:
                yield from hanging(" " * 6, detail, cells)
        if not items:
            yield f"  {empty_text}"


def handover_markdown(handover: Handover) -> str:
    """Return the sheet as Markdown for a chat or a ticket."""
    lines = [f"# Handover {handover.made:%Y-%m-%d %H:%M:%S}Z", "", f"{_standing(handover)}.", ""]
    for title, items, empty_text in _sections(handover, literal):
        lines += [f"## {title}", ""]
        for head, details in items:
            lines += [f"- {head}", *(f"  - {detail}" for detail in details)]
        lines += [] if items else [f"{empty_text.capitalize()}."]
        lines.append("")
    return "\n".join(lines)


def handover_object(handover: Handover) -> documents.Handover:
    """Return the sheet as JSON."""
    return {
        "schema": "livedeck past handover v1",
        "written": isoformat_utc(handover.made),
        "watched": isoformat_utc(handover.watched),
        "fresh": handover.is_fresh,
        "on_air": [_event_object(record) for record in handover.on_air],
        "open_alarms": [_alarm_object(alarm) for alarm in handover.wrong],
        "cleared_alarms": [_alarm_object(alarm) for alarm in handover.cleared],
        "quiet_alarms": [_alarm_object(alarm) for alarm in handover.put_away],
        "silences": [
            {
                "id": silence.id,
                "ends_at": isoformat_utc(silence.ends_at),
                "what": silence.what,
                "comment": silence.comment,
                "by": silence.by,
                "on_air": list(names),
            }
            for silence, names in handover.silences
        ],
        "next": [_event_object(record) for record in handover.coming],
        "open_changes": [_change_object(change) for change in handover.open_changes],
    }


def _event_object(record: EventRecord) -> documents.HandoverEvent:
    return {
        "id": record.event_id,
        "name": record.name or None,
        "tally": record.tally.value,
        "planned": isoformat_utc(record.planned),
        "started": isoformat_utc(record.started_at),
        "restreams": [
            {"name": item.name, "status": item.status, "enabled": item.is_enabled} for item in record.restreams
        ],
    }


def _alarm_object(alarm: Alarm) -> documents.HandoverAlarm:
    until = alarm.acknowledged_until if alarm.state is AlarmState.ACKNOWLEDGED else alarm.shelved_until
    return {
        "event_id": alarm.event_id or None,
        "subject": alarm.subject,
        "kind": alarm.kind,
        "target_name": alarm.target_name or None,
        "severity": alarm.severity,
        "state": alarm.state.value,
        "since": isoformat_utc(alarm.since),
        "cleared_at": isoformat_utc(alarm.cleared_at),
        "actual": alarm.actual,
        "expected": alarm.expected,
        "handled_by": alarm.answered_by or None,
        "handled_at": isoformat_utc(alarm.answered_at),
        "until": isoformat_utc(until),
        "reason": alarm.reason or None,
        "note": alarm.note or None,
    }


def _change_object(change: OpenChange) -> documents.HandoverChange:
    intent = change.intent
    return {
        "id": intent.id,
        "sent": isoformat_utc(intent.at),
        "action": intent.action,
        "target": intent.target_name or intent.target_id,
        "by": intent.by,
        "detail": change.detail or None,
    }
