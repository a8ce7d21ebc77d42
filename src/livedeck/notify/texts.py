"""The words of a message: title, text and JSON (notifications.md, "Texts"). Pure.

Names and words of the platform are text from outside: each passes through `masked_line`, and nothing of it is markup.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from hashlib import sha256
from urllib.parse import quote

from livedeck.monitor import Severity
from livedeck.notify.message import Beginning, Entry, Message, Status
from livedeck.text.secrets import masked_line
from livedeck.text.values import safe

SCHEMA = 1
MAX_TEXT = 1000
"""Characters of a message's text: what every receiver takes."""

MAX_TITLE = 120
MAX_NAMED = 5
"""Alarms that a text names; the JSON has more."""

MAX_ALARMS = 50
"""Alarms in the JSON of one message."""

_WORDS = {Severity.CRITICAL: "CRIT", Severity.WARNING: "WARN", Severity.INFO: "INFO"}


@dataclass(frozen=True, slots=True)
class Sender:
    """Who tells. `collector`: the host; `zone`: in which times are told; `link`: an address with `{event_id}`, or
    empty: the command that shows more."""

    collector: str = ""
    profile: str = ""
    zone: tzinfo = UTC
    link: str = ""


def compose(route: str, target: str, entries: Sequence[Entry], at: datetime, sender: Sender) -> Message:
    """The message of these alarms, which have one status. The first is the one that is told at length."""
    entries = sorted(entries, key=lambda entry: (entry.severity.rank, entry.since, entry.key))
    status = entries[0].status
    key = _key(route, target, entries, at)
    title, text = _title(entries), _text(entries, at, sender)
    payload = {
        "schema": SCHEMA,
        "id": key,
        "status": status.value,
        "route": route,
        "at": at.astimezone(UTC).isoformat(),
        "incident": next((entry.incident for entry in entries if entry.incident), ""),
        "alarms": [_alarm(entry) for entry in entries[:MAX_ALARMS]],
        "truncated": max(0, len(entries) - MAX_ALARMS),
        "title": title,
        "text": text,
    }
    is_beginning = status in {Status.FIRING, Status.ESCALATED}
    beginnings = tuple(Beginning(entry.life, entry.stage_before) for entry in entries if is_beginning)
    return Message(key, route, target, at, status, title, text, json.dumps(payload, ensure_ascii=False), beginnings)


def _key(route: str, target: str, entries: Sequence[Entry], at: datetime) -> str:
    told = [route, target, at.isoformat(), *(f"{entry.life} {entry.status} {entry.stage}" for entry in entries)]
    return sha256("\n".join(told).encode(errors="replace")).hexdigest()[:32]


def _alarm(entry: Entry) -> dict[str, object]:
    return {
        "key": [entry.event_id, entry.kind, entry.target],
        "life": entry.life,
        "severity": entry.severity.value,
        "event_id": entry.event_id,
        "event": masked_line(entry.event, 200),
        "actual": masked_line(entry.actual, 300),
        "expected": masked_line(entry.expected, 300),
        "since": entry.since.astimezone(UTC).isoformat(),
        "cause": masked_line(entry.cause, 300),
        "viewers": masked_line(entry.viewers, 300),
        "advice": masked_line(entry.advice, 300),
    }


_LABELS = {Status.RESOLVED: "RESOLVED ", Status.ESCALATED: "NOBODY ANSWERS "}


def _title(entries: Sequence[Entry]) -> str:
    first = entries[0]
    label = _LABELS.get(first.status, "")
    if first.status is Status.TEST:
        text = f"TEST {_subject(first)}"
    elif len(entries) > 1:
        names = ", ".join(f"{entry.kind} {_subject(entry)}" for entry in entries[:MAX_NAMED])
        text = f"{label}{len(entries)} alarms: {names}"
    elif first.status is Status.RESOLVED:
        text = f"{label}{first.kind} {_subject(first)} after {_length(first.seconds)}"
    else:
        text = f"{label}{_WORDS[first.severity]} {first.kind} {_subject(first)}"
    return safe(text, MAX_TITLE)


def _subject(entry: Entry) -> str:
    """Whose alarm it is, in few words."""
    if entry.affected:
        return f"{len(entry.affected)} of {max(entry.on_air, len(entry.affected))} events"
    part = f" / {masked_line(entry.part, 40)}" if entry.part else ""
    return f"{masked_line(entry.event, 60)}{part}"


def _text(entries: Sequence[Entry], at: datetime, sender: Sender) -> str:
    lines = [*_details(entries[0], sender)] if len(entries) == 1 else [*_list(entries, sender)]
    where = " ".join(filter(None, [sender.collector, f"profile {sender.profile}" if sender.profile else ""]))
    tail = [f"{where}: {_link(entries[0], sender)}" if where else _link(entries[0], sender)]
    if entries[0].status is Status.TEST:
        lines.insert(0, f"A test message of livedeck, {_time(at, sender)}: nothing is wrong.")
    kept = "\n".join(lines)
    end = "\n" + "\n".join(tail)
    if len(kept) + len(end) > MAX_TEXT:
        kept = kept[: MAX_TEXT - len(end) - 1] + "…"
    return kept + end


def _details(entry: Entry, sender: Sender) -> Iterator[str]:
    """Of a single alarm, what a lock screen shows first."""
    yield _head(entry, sender)
    labelled = {
        "Viewers": entry.viewers,
        "Cause": entry.cause,
        "Do": entry.advice,
        "Event": entry.airing,
        "Other alarms": ", ".join(entry.others),
        "Acknowledged": entry.acknowledged,
        "Events": _names(entry.affected),
    }
    skipped = {"Viewers", "Cause", "Do", "Other alarms"} if entry.status is Status.RESOLVED else set[str]()
    for label, words in labelled.items():
        if words and label not in skipped:
            yield f"{label}: {masked_line(words, 300)}"


def _head(entry: Entry, sender: Sender) -> str:
    """What is, and since when: `Friday show: 42 s without samples (expected samples), since 20:14:05 CET, 42 s`."""
    since = f"since {_time(entry.since, sender)}"
    subject = masked_line(entry.event, 40)
    if entry.status is Status.RESOLVED:
        return f"{subject}: {entry.kind} is over after {_length(entry.seconds)}, {since}"
    expected = f" (expected {masked_line(entry.expected, 60)})" if entry.expected else ""
    length = f"over after {_length(entry.seconds)}" if entry.is_over else _length(entry.seconds)
    return f"{subject}: {masked_line(entry.actual, 80)}{expected}, {since}, {length}"


def _list(entries: Sequence[Entry], sender: Sender) -> Iterator[str]:
    """Of several, the worst by name, the rest as their number."""
    for entry in entries[:MAX_NAMED]:
        yield f"{_WORDS[entry.severity]} {entry.kind} {_head(entry, sender)}"
    if len(entries) > MAX_NAMED:
        rest = entries[MAX_NAMED:]
        events = {entry.event_id for entry in rest}
        yield f"and {len(rest)} more of {len(events)} event{'s' if len(events) > 1 else ''}"
    if advice := entries[0].advice:
        yield f"First: {masked_line(advice, 200)}"


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(masked_line(name, 60) for name in names[:MAX_NAMED])
    return f"{shown} and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else shown


def _link(entry: Entry, sender: Sender) -> str:
    if sender.link:
        return sender.link.replace("{event_id}", quote(entry.event_id[:200], safe=""))
    profile = f" --profile {sender.profile}" if sender.profile else ""
    return f"livedeck alarms{profile}"


def _time(at: datetime, sender: Sender) -> str:
    """By the reader's clock: `20:14:05 CET`."""
    return f"{at.astimezone(sender.zone):%H:%M:%S %Z}"


def _length(seconds: float) -> str:
    """A length of time as one says it: `42 s`, `4 min`, `2 h 10 min`."""
    whole = max(0, int(seconds))
    if whole < 120:
        return f"{whole} s"
    minutes = whole // 60
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"
