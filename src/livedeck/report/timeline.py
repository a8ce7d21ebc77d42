"""Timeline of an event: its states, its alarms and the actions of people. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING

from livedeck.monitor import (
    ActionKind,
    ActionRecord,
    AlarmAction,
    AlarmRecord,
    AlarmTransition,
    EventRecord,
    LinkRecord,
    Marker,
    Ruling,
    Severity,
    person,
)
from livedeck.report.recorded import Recorded, actor_of
from livedeck.report.spans import Span, Spans, joined, without
from livedeck.text.times import isoformat_utc
from livedeck.text.values import evidence_text, safe, short_duration

if TYPE_CHECKING:
    from livedeck.presentation import documents


class EntryKind(StrEnum):
    """Type of an entry."""

    EVENT = "event"
    RESTREAM = "restream"
    ALARM = "alarm"
    ALARM_ACTION = "alarm action"
    ACTION = "action"
    MARKER = "marker"
    RULING = "ruling"
    LINK = "link"
    WATCH = "watch"


@dataclass(frozen=True, slots=True)
class Entry:
    """Entry of a timeline: a change at the time `at`.

    `event_id`, `event`: empty for the deck itself. `by`: person as `user@host`; empty if no person acted.
    """

    at: datetime
    kind: EntryKind
    text: str
    event_id: str = ""
    event: str = ""
    by: str = ""
    severity: Severity | None = None

    def as_object(self) -> documents.Entry:
        return {
            "at": isoformat_utc(self.at),
            "type": self.kind.value,
            "event_id": self.event_id or None,
            "event": self.event or None,
            "severity": self.severity,
            "by": self.by or None,
            "text": self.text,
        }


ENTRY_FIELDS = ("at", "type", "event_id", "event", "severity", "by", "text")


def timeline(recorded: Recorded) -> tuple[Entry, ...]:
    """Return an entry for each change in the recorded period, oldest first."""
    return tuple(sorted(_entries(recorded), key=lambda entry: entry.at))


def _entries(recorded: Recorded) -> Iterator[Entry]:
    yield from _events(recorded)
    for record in recorded.alarms:
        if (
            recorded.contains(record.at) and record.turn is not AlarmTransition.NOTED
        ):  # the alarm action has the note and its author
            yield _alarm(record, recorded)
    for action in recorded.alarm_actions:
        if action.kind in _SHOWN_ACTIONS:
            yield _alarm_action(action, recorded)
    yield from (_action(change, recorded) for change in recorded.actions)
    yield from (_marker(marker, recorded) for marker in recorded.markers)
    yield from (_ruling(ruling, recorded) for ruling in recorded.rulings if recorded.contains(ruling.at))
    yield from (_link(link) for link in recorded.links)
    yield from _watch(recorded)
    yield from _unwatched_streams(recorded)


def _events(recorded: Recorded) -> Iterator[Entry]:
    by_event: dict[str, list[EventRecord]] = {}
    for record in recorded.events:
        by_event.setdefault(record.event_id, []).append(record)
    for event_id, records in by_event.items():
        name, first = recorded.name_of(event_id), records[0]
        if recorded.contains(first.at):
            yield Entry(first.at, EntryKind.EVENT, f"first seen: {_standing(first)}", event_id, name)
        for before, after in pairwise(records):
            for kind, text in _changes(before, after):
                yield Entry(after.at, kind, text, event_id, name)


def _standing(record: EventRecord) -> str:
    words = [record.tally.value]
    if record.tally.expects_signal and record.started_at:
        words.append(f"since {record.started_at:%H:%M:%S}Z")
    elif record.planned and not record.is_completed:
        words.append(f"planned for {record.planned:%Y-%m-%d %H:%M}Z")
    return " ".join(words)


def _changes(before: EventRecord, after: EventRecord) -> Iterator[tuple[EntryKind, str]]:
    """Yield the differences between two records of an event as text."""
    if after.is_gone and not before.is_gone:
        yield EntryKind.EVENT, "no longer listed"
        return
    if before.is_gone and not after.is_gone:
        yield EntryKind.EVENT, "listed again"
    if before.name != after.name:
        yield EntryKind.EVENT, f"renamed from {safe(before.name or 'no name', 60)!r} to {safe(after.name, 60)!r}"
    if before.tally is not after.tally:
        ended = f" at {after.finished_at:%H:%M:%S}Z" if after.is_completed and after.finished_at else ""
        yield EntryKind.EVENT, f"{before.tally} -> {after.tally}{ended}"
    if before.planned != after.planned and not (after.tally.expects_signal or after.is_completed):
        yield EntryKind.EVENT, f"planned for {_moment(after.planned)}, was {_moment(before.planned)}"
    if before.stream_id != after.stream_id and after.stream_id:
        yield EntryKind.EVENT, f"new stream {after.stream_id}"
    if before.parent_id != after.parent_id:
        yield EntryKind.EVENT, "moved to another folder"
    yield from ((EntryKind.RESTREAM, text) for text in _restreams(before, after))


def _restreams(before: EventRecord, after: EventRecord) -> Iterator[str]:
    was, now = ({restream.id: restream for restream in record.restreams} for record in (before, after))
    for key, restream in now.items():
        name = safe(restream.name or key, 40)
        if key not in was:
            yield f"{name} added, {restream.status}"
        elif was[key].status != restream.status:
            yield f"{name} {restream.status}"
        elif was[key].is_enabled != restream.is_enabled:
            yield f"{name} switched {'on' if restream.is_enabled else 'off'}"
    yield from (f"{safe(was[key].name or key, 40)} removed" for key in was if key not in now)


def _moment(at: datetime | None) -> str:
    return f"{at:%Y-%m-%d %H:%M}Z" if at else "no time"


def _alarm(record: AlarmRecord, recorded: Recorded) -> Entry:
    target = f" {safe(record.target_name, 40)}" if record.target_name else ""
    words = f"{record.kind}{target} {record.turn.words}"
    if record.turn in {AlarmTransition.RAISED, AlarmTransition.SUPPRESSED, AlarmTransition.SEVERITY}:
        words += f": {evidence_text(record)} (since {record.since:%H:%M:%S}Z)"
    if record.reason and record.turn in {AlarmTransition.SHELVED, AlarmTransition.OUT_OF_SERVICE}:
        words += f": {record.reason}"
    if record.turn is AlarmTransition.ACKNOWLEDGED:
        words += f", {short_duration((record.at - record.since).total_seconds())} after the fault began"
    name = recorded.name_of(record.event_id) if record.event_id else "platform"
    by = person(record.actor) if record.actor else ""
    return Entry(record.at, EntryKind.ALARM, safe(words, 400), record.event_id, name, safe(by, 60), record.severity)


_SHOWN_ACTIONS = {ActionKind.NOTE, ActionKind.SHELVE, ActionKind.SHELVE_ALONE}
"""Alarm actions with more details than the alarm's transition: text of a note, and end of a shelf."""


def _alarm_action(action: AlarmAction, recorded: Recorded) -> Entry:
    until = f" until {action.until:%H:%M:%S}Z" if action.until else ""
    text = safe(f"{action.key.kind} {action.kind}{until}{f': {action.reason}' if action.reason else ''}", 400)
    name = recorded.name_of(action.key.event_id) if action.key.event_id else "platform"
    return Entry(action.at, EntryKind.ALARM_ACTION, text, action.key.event_id, name, safe(person(action.actor), 60))


def _action(action: ActionRecord, recorded: Recorded) -> Entry:
    edits = ", ".join(f"{edit.name} {edit.before or '-'} -> {edit.after or '-'}" for edit in action.edits)
    detail = f", {action.detail}" if action.detail else ""
    words = f"{action.action}: {action.outcome}{f' ({edits})' if edits else ''}{detail}"
    is_event = any(record.event_id == action.target_id for record in recorded.events)
    return Entry(
        action.at,
        EntryKind.ACTION,
        safe(words, 400),
        action.target_id if is_event else "",
        safe(action.target_name, 80),
        safe(actor_of(action, recorded.intents), 60),
    )


def _marker(marker: Marker, recorded: Recorded) -> Entry:
    text = safe(marker.text, 400) or "marked"
    return Entry(marker.at, EntryKind.MARKER, text, marker.event_id, recorded.name_of(marker.event_id))


def _ruling(ruling: Ruling, recorded: Recorded) -> Entry:
    name = recorded.name_of(ruling.event_id)
    return Entry(ruling.at, EntryKind.RULING, ruling.text, ruling.event_id, name, safe(person(ruling.actor), 60))


def _link(link: LinkRecord) -> Entry:
    why = f": {safe(link.why, 200)}" if link.why else ""
    return Entry(link.at, EntryKind.LINK, f"connection {link.state}{why}", event="platform")


def _watch(recorded: Recorded) -> Iterator[Entry]:
    """Yield entries for the periods without a watching process."""
    for hole in unwatched(recorded):
        lasted, until = short_duration(hole.seconds), f"{hole.until:%H:%M:%S}Z"
        words = f"nobody watched for {lasted}, until {until}"
        if hole.until == recorded.known_until != recorded.span.until:
            words = f"nobody has watched since: {lasted} as of {until}"
        yield Entry(hole.since, EntryKind.WATCH, words)


def _unwatched_streams(recorded: Recorded) -> Iterator[Entry]:
    """Yield an entry for each time of a stream that was not watched.

    If the collector is too old to record such times, yields a single entry with this fact.
    """
    if recorded.unrecorded:
        yield Entry(recorded.span.since, EntryKind.WATCH, NOT_RECORDED_TEXT)
    for gap in recorded.unwatched:
        if recorded.contains(gap.at):
            lasted = short_duration((gap.until - gap.at).total_seconds())
            words = f"not watched for {lasted}, until {gap.until:%H:%M:%S}Z"
            yield Entry(gap.at, EntryKind.WATCH, words, gap.event_id, recorded.name_of(gap.event_id))


def unwatched(recorded: Recorded) -> Spans:
    """Return the periods of at least `SHORTEST_GAP` seconds when no process got replies from the platform.

    Omits the time after `recorded.known_until`.
    """
    watched = joined(Span(record.at, record.until) for record in recorded.watched)
    since, until = recorded.span
    observed = Span(since, min(until, recorded.known_until or until))
    return tuple(hole for hole in without([observed], watched) if hole.seconds >= SHORTEST_GAP)


NOT_RECORDED_TEXT = "unwatched times of single streams: not recorded by this collector (older version)"

SHORTEST_GAP = 20.0
"""Minimum length of a gap between two responses, in seconds. Two polling intervals are normally shorter."""


def matching(entries: Iterable[Entry], words: str) -> tuple[Entry, ...]:
    """Return the entries that contain all the words. Ignores upper and lower case."""
    wanted = words.casefold().split()

    def text(entry: Entry) -> str:
        return f"{entry.text} {entry.event} {entry.by} {entry.kind} {entry.event_id}".casefold()

    return tuple(entry for entry in entries if all(word in text(entry) for word in wanted))
