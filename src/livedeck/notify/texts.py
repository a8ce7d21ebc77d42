"""Words of a message: title, text and JSON (notifications.md, "Texts"). Pure.

Text of the platform comes from outside, so each piece passes through `masked_line` and is never markup.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from hashlib import sha256
from secrets import token_hex
from urllib.parse import quote

from livedeck.monitor import Severity
from livedeck.notify.message import BEGINNINGS, Beginning, Entry, Message, Status, link_place
from livedeck.notify.templates import Template, filled, names_field
from livedeck.record import Record
from livedeck.text.secrets import masked_line
from livedeck.text.values import MASK, safe

NO_TEMPLATE = Template()

SCHEMA = 1
MAX_TEXT = 1000
"""Maximum number of characters of a text; every receiver takes this many."""

MAX_KEY = 255
"""Maximum number of characters of a dedup key, which every receiver takes."""

MAX_TITLE = 120
MAX_SEEN = 120
"""Number of characters of a text that a lock screen shows: event, fault and onset."""

MIN_ACTUAL = 16
"""Minimum number of characters for the fault, out of `MAX_SEEN`."""

MAX_NAMED = 5
"""Maximum number of alarms that a text names; the JSON has more."""

MAX_ALARMS = 50
"""Maximum number of alarms in the JSON of a message."""

_WORDS = {Severity.CRITICAL: "CRIT", Severity.WARNING: "WARN", Severity.INFO: "INFO"}


class Sender(Record):
    """Sender named in the messages.

    `collector`: host of the collector. `zone`: time zone of the times. `link`: an address with `{event_id}`; if empty,
    messages name the command that shows more. `origin`: 8 digits that stand for the platform's address. `has_links`:
    texts keep places for links that acknowledge alarms.
    """

    collector: str = ""
    profile: str = ""
    zone: tzinfo = UTC
    link: str = ""
    origin: str = ""
    has_links: bool = False


def dedup_key(life: str, sender: Sender) -> str:
    """Return the key by which a receiver knows an alarm, from its beginning to its end. Long keys end with a digest."""
    key = f"livedeck/{sender.origin}/{life}"
    if len(key) <= MAX_KEY:
        return key
    digest = sha256(key.encode(errors="replace")).hexdigest()
    return f"{key[: MAX_KEY - len(digest) - 1]}/{digest}"


def shown_status(entry: Entry) -> Status:
    """Return the status that the receiver gets: RESOLVED if the alarm cleared before its message was sent."""
    return Status.RESOLVED if entry.is_cleared and entry.status is not Status.TEST else entry.status


def is_over(entry: Entry) -> bool:
    """Return whether the entry reports the end of an alarm, or of a test."""
    return entry.is_cleared or entry.status is Status.RESOLVED


def compose(
    route: str,
    target: str,
    entries: Sequence[Entry],
    at: datetime,
    sender: Sender,
    *,
    flood: int = 0,
    has_end: bool = True,
    template: Template = NO_TEMPLATE,
) -> Message:
    """Return the message about alarms of one status. The worst alarms come first, and cleared alarms last.

    `flood`: number of alarms of the route in the last 10 min, if it is a flood; otherwise 0. `has_end`: the route also
    sends the ends of alarms. `template`: words of the target.
    """
    entries = sorted(entries, key=lambda entry: (entry.is_cleared, entry.severity.rank, entry.since, entry.key))
    status = shown_status(entries[0])
    key = _key(route, target, entries, at)
    title = _title_by(template, entries, at, sender)
    text = _text_by(template, entries, at, sender, flood) or _text(entries, at, sender, flood)
    payload = {
        "schema": SCHEMA,
        "id": key,
        "status": status.value,
        "route": route,
        "at": at.astimezone(UTC).isoformat(),
        "incident": next((entry.incident for entry in entries if entry.incident), ""),
        "alarms": [_alarm(entry, sender) for entry in entries[:MAX_ALARMS]],
        "truncated": max(0, len(entries) - MAX_ALARMS),
        "title": title,
        "text": text,
    }
    is_test_end = status is Status.TEST and entries[0].is_cleared
    is_beginning = status in {*BEGINNINGS, Status.TEST} and not is_test_end
    return Message(
        key,
        route,
        target,
        at,
        status,
        title,
        text,
        json.dumps(payload, ensure_ascii=False),
        tuple(_beginning(entry, at, sender, template, has_end=has_end) for entry in entries if is_beginning),
        tuple(entry.life for entry in entries if status is Status.RESOLVED or is_test_end),
        any(entry.is_urgent for entry in entries),
        tuple(entry.life for entry in entries if status is Status.ACKNOWLEDGED),
        entries=tuple(entry.to_json() for entry in entries) if len(entries) > 1 else (),
    )


def _key(route: str, target: str, entries: Sequence[Entry], at: datetime) -> str:
    parts = [route, target, at.isoformat(), *(f"{entry.life} {entry.status} {entry.stage}" for entry in entries)]
    return sha256("\n".join(parts).encode(errors="replace")).hexdigest()[:32]


def _beginning(entry: Entry, at: datetime, sender: Sender, template: Template, *, has_end: bool) -> Beginning:
    composed = replace(entry, title=_title_by(template, [entry], at, sender), link=_page(entry, sender))
    return Beginning(
        entry.life, entry.stage_before, dedup_key(entry.life, sender), composed.to_json() if has_end else ""
    )


def _alarm(entry: Entry, sender: Sender) -> dict[str, object]:
    return {
        "key": [entry.event_id, entry.kind, entry.target],
        "life": entry.life,
        "dedup_key": dedup_key(entry.life, sender),
        "severity": entry.severity.value,
        "event_id": entry.event_id,
        "event": masked_line(entry.event, 200),
        "actual": masked_line(entry.actual, 300),
        "expected": masked_line(entry.expected, 300),
        "since": entry.since.astimezone(UTC).isoformat(),
        "cleared": _end(entry).astimezone(UTC).isoformat() if is_over(entry) else None,
        "cause": masked_line(entry.cause, 300),
        "viewers": masked_line(entry.viewers, 300),
        "advice": masked_line(entry.advice, 300),
        "link": _page(entry, sender),
        "acknowledge": "",  # filled in for each try (`Message.linked`)
    }


_LABELS = {
    Status.RESOLVED: "RESOLVED",
    Status.ESCALATED: "NOT ACKNOWLEDGED",
    Status.REPEATED: "STILL NOT ACKNOWLEDGED",
    Status.ACKNOWLEDGED: "ACKNOWLEDGED",
    Status.TEST: "TEST",
}


def _title(entries: Sequence[Entry]) -> str:
    first = entries[0]
    label = _label(first)
    severity = _WORDS[first.severity] if first.status in BEGINNINGS else ""
    names = [" ".join(filter(None, [entry.kind, _subject(entry)])) for entry in entries[:MAX_NAMED]]
    if first.status is Status.TEST:
        names = [_subject(first), *(["ended"] if first.is_cleared else [])]
    elif len(entries) > MAX_NAMED:
        names = [_counted(entries)]
    elif len(entries) > 1:
        names = [f"{len(entries)} alarms: {', '.join(names)}"]
    elif first.is_cleared or first.status is Status.RESOLVED:
        names += [] if first.is_undated else ["after", _length(first.seconds)]
    return safe(" ".join(filter(None, [label, severity, *names])), MAX_TITLE)


def _title_by(template: Template, entries: Sequence[Entry], at: datetime, sender: Sender) -> str:
    """Return the title by a template, after the status. Ignores the template for a message about several alarms."""
    if not template.title or len(entries) > 1:
        return _title(entries)
    words = _filled(template.title, entries[0], at, replace(sender, has_links=False))
    label = "" if names_field(template.title, "status") else _label(entries[0])
    label = _LABELS[Status.TEST] if entries[0].status is Status.TEST else label
    return safe(" ".join(filter(None, [label, *words.split()])), MAX_TITLE) if words.strip() else _title(entries)


def _text_by(template: Template, entries: Sequence[Entry], at: datetime, sender: Sender, flood: int) -> str:
    """Return the text by a template: filled for each of the worst alarms. Empty without a template."""
    if not template.text:
        return ""
    end = f"\nFlood: {flood} alarms in the last 10 min" if flood and entries[0].status in BEGINNINGS else ""
    text = ""
    for count in range(min(MAX_NAMED, len(entries)), 0, -1):
        parts = [_filled(template.text, entry, at, sender) for entry in entries[:count]]
        rest = [f"and {len(entries) - count} more"] if len(entries) > count else []
        text = "\n".join([*parts, *rest])
        if len(text) + len(end) <= MAX_TEXT:
            return text + end
    return _cut(text, MAX_TEXT - len(end) - 1) + end


def _filled(text: str, entry: Entry, at: datetime, sender: Sender) -> str:
    """Return a template with the words of an alarm, masked afterwards: two fields may make a secret together."""
    is_over = entry.is_cleared or entry.status is Status.RESOLVED
    values = {
        "event": entry.event,
        "part": entry.part,
        "kind": entry.kind,
        "severity": _WORDS[entry.severity],
        "status": _label(entry) or "FIRING",
        "actual": _said(entry.actual, 300, at, sender),
        "expected": _said(entry.expected, 300, at, sender),
        "since": _span(entry, at, sender) if is_over and not entry.is_undated else _time(entry.since, at, sender),
        "length": _length(entry.seconds),
        "cause": _said(entry.cause, 300, at, sender),
        "viewers": _said(entry.viewers, 300, at, sender),
        "advice": _said(entry.advice, 300, at, sender),
        "airing": entry.airing,
        "link": _LINK,
        "acknowledge": _place(entry, sender),
        "collector": sender.collector,
        "profile": sender.profile,
    }
    lines = filled(text, {name: safe(value, 300) for name, value in values.items()}).splitlines()
    return "\n".join(masked_line(line, MAX_TEXT) for line in lines).replace(_LINK, _link([entry], sender))


_LINK = f"link-{token_hex(8)}"
"""Text that stands for the link while a text is masked, because masking would hide the end of an address as a key."""


def _label(entry: Entry) -> str:
    """Return the label of an entry's status, such as `RESOLVED`; empty for a `firing` entry whose alarm is present."""
    is_over = entry.is_cleared and entry.status is not Status.TEST
    return "CLEARED" if is_over else _LABELS.get(entry.status, "")


def _counted(entries: Sequence[Entry]) -> str:
    """Return the number of alarms of each kind: `40 x PACKET_LOSS`. Names a severity that is not the first alarm's."""
    first, counts = entries[0], Counter[tuple[str, str]]()
    for entry in entries:
        is_lower = first.status in BEGINNINGS and entry.severity is not first.severity
        counts[f"{_WORDS[entry.severity]} " if is_lower else "", entry.kind] += 1
    named = [f"{severity}{count} x {kind}" for (severity, kind), count in [*counts.items()][:MAX_NAMED]]
    if rest := sum([*counts.values()][MAX_NAMED:]):
        named.append(f"{rest} more")
    return named[0] if len(counts) == 1 else f"{len(entries)} alarms: {', '.join(named)}"


def _subject(entry: Entry) -> str:
    """Return the subject of the alarm in a few words; empty if the name of its kind says the same."""
    if entry.affected:
        return f"{len(entry.affected)} of {max(entry.on_air, len(entry.affected))} events"
    if entry.event.upper() == entry.kind:
        return ""
    return _named(entry, 60)


def _named(entry: Entry, letters: int) -> str:
    """Return the name of the event and of its affected part."""
    part = f" / {masked_line(entry.part, 40)}" if entry.part else ""
    return f"{masked_line(entry.event, letters)}{part}"


def _text(entries: Sequence[Entry], at: datetime, sender: Sender, flood: int) -> str:
    where = " ".join(filter(None, [sender.collector, f"profile {sender.profile}" if sender.profile else ""]))
    end = f"\n{where}: {_link(entries, sender)}" if where else f"\n{_link(entries, sender)}"
    if len(entries) == 1 and (place := _place(entries[0], sender)):
        end = f"\nAcknowledge: {place}{end}"
    if flood and entries[0].status in BEGINNINGS:
        end = f"\nFlood: {flood} alarms in the last 10 min{end}"
    if entries[0].status is Status.TEST:
        subject = "End of the test" if entries[0].is_cleared else "Test message"
        lines = [f"{subject} from livedeck, {_time(at, at, sender)}. No alarm."]
    elif len(entries) == 1:
        lines = [*_details(entries[0], at, sender)]
    else:
        lines = list[str]()
        for count in range(MAX_NAMED, 0, -1):
            lines = [*_list(entries, at, sender, count)]
            if len("\n".join(lines)) + len(end) <= MAX_TEXT:
                break
    text = "\n".join(lines)
    if len(text) + len(end) > MAX_TEXT:
        text = _cut(text, MAX_TEXT - len(end) - 1)
    return text + end


def _cut(text: str, most: int) -> str:
    """Cut a text to `most` characters and an ellipsis. Removes the text of a `link_place` that would be cut."""
    return re.sub(rf"{MASK[0]}+[0-9a-f]{{0,7}}$", "", text[:most]) + "…"


def _details(entry: Entry, at: datetime, sender: Sender) -> Iterator[str]:
    """Yield the lines about a single alarm. The first line is for a lock screen."""
    head = _head(entry, at, sender)
    yield head
    is_cut = entry.status is not Status.RESOLVED and _said(entry.actual, 300, at, sender) not in head
    labelled = {
        "Seen": entry.actual if is_cut else "",
        "Viewers": entry.viewers,
        "Cause": entry.cause,
        "Do": entry.advice,
        "Event": entry.airing,
        "Other alarms": ", ".join(entry.others),
        "Acknowledged": entry.acknowledged,
        "Events": _names(entry.affected),
    }
    for label, words in labelled.items():
        if words:
            yield f"{label}: {_said(words, 300, at, sender)}"


def _head(entry: Entry, at: datetime, sender: Sender, lead: str = "") -> str:
    """Return the first line: event, fault, onset and expected value.

    `Friday show: no samples since 20:13:23, since 20:14:05 CET, 42 s (expected samples)`.
    """
    if entry.status is Status.RESOLVED:
        kind = "" if lead else f"{entry.kind} "
        if entry.is_undated:
            spans = f"began {_time(entry.since, at, sender)}, cleared {_time(_end(entry), at, sender)} or earlier"
            return f"{lead}{_named(entry, 40)}: {kind}{spans}"
        return f"{lead}{_named(entry, 40)}: {kind}cleared after {_length(entry.seconds)}, {_span(entry, at, sender)}"
    if entry.is_cleared:
        when = f"{_span(entry, at, sender)}, cleared after {_length(entry.seconds)}"
    else:
        when = f"since {_time(entry.since, at, sender)}, {_length(entry.seconds)}"
    subject = f"{lead}{masked_line(entry.event, 32)}"
    actual = _said(entry.actual, max(MIN_ACTUAL, MAX_SEEN - len(f"{subject}: , {when}")), at, sender)
    expected = f" (expected {_said(entry.expected, 60, at, sender)})" if entry.expected else ""
    return f"{subject}: {actual}, {when}{expected}"


def _list(entries: Sequence[Entry], at: datetime, sender: Sender, count: int) -> Iterator[str]:
    """Yield the lines about several alarms: the `count` worst with their links and pages, and the number of others."""
    pages = [_page(entry, sender) if _is_mixed(entries) else "" for entry in entries[:count]]
    for place, entry in enumerate(entries[:count]):
        severity = "" if entry.status is Status.RESOLVED else f"{_WORDS[entry.severity]} "
        yield _head(entry, at, sender, f"{severity}{entry.kind} ")
        if pages[place] and pages[place] not in pages[place + 1 :]:
            yield f"  {pages[place]}"
        if link := _place(entry, sender):
            yield f"  Acknowledge: {link}"
    if rest := entries[count:]:
        events = {entry.event_id for entry in rest if entry.event_id}
        yield f"and {len(rest)} more{f' of {len(events)} event' if events else ''}{'s' if len(events) > 1 else ''}"
    if advice := entries[0].advice:
        yield f"First: {_said(advice, 200, at, sender)}"


def _place(entry: Entry, sender: Sender) -> str:
    """Return the place of the link that acknowledges the alarm; empty if no link is possible."""
    is_present = entry.status in BEGINNINGS and not entry.is_cleared
    return link_place(entry.life) if sender.has_links and is_present else ""


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(masked_line(name, 60) for name in names[:MAX_NAMED])
    return f"{shown} and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else shown


def _page(entry: Entry, sender: Sender) -> str:
    """Return the address of your page about the event; empty if there is none."""
    return (
        sender.link.replace("{event_id}", quote(entry.event_id[:200], safe="", errors="replace"))
        if entry.event_id
        else ""
    )


def _is_mixed(entries: Sequence[Entry]) -> bool:
    """Return whether the alarms are of several events."""
    return len({entry.event_id for entry in entries}) > 1


def _link(entries: Sequence[Entry], sender: Sender) -> str:
    """Return your page about the event of the alarms, or the command that lists alarms if they have several events."""
    if (page := _page(entries[0], sender)) and not _is_mixed(entries):
        return page
    profile = f" --profile {sender.profile}" if sender.profile else ""
    return f"livedeck alarm list{profile}"


_UTC_TIME = re.compile(r"(?:\b(\d{4}-\d\d-\d\d) )?\b(\d\d:\d\d(?::\d\d)?)Z\b")
"""Pattern of a time in the words of the monitor, which are in UTC."""


def _said(text: str, limit: int, at: datetime, sender: Sender) -> str:
    """Return a text of the monitor as one line, with its UTC times converted to the zone of the readers."""

    def local(found: re.Match[str]) -> str:
        date, clock = found.groups()
        try:
            moment = datetime.fromisoformat(f"{date or at.astimezone(UTC).date()}T{clock}+00:00")
        except ValueError:
            return found[0]
        day = timedelta(days=1)
        shifts = (timedelta(), -day, day) if not date else (timedelta(),)
        return _time(min((moment + shift for shift in shifts), key=lambda other: abs(other - at)), at, sender)

    return str(masked_line(_UTC_TIME.sub(local, text), limit))


def _time(moment: datetime, at: datetime, sender: Sender) -> str:
    """Return a time in the zone of the readers: `20:14:05 CET`, with its date if it is not today."""
    local, today = moment.astimezone(sender.zone), at.astimezone(sender.zone).date()
    return f"{local:%H:%M:%S %Z}" if local.date() == today else f"{local:%Y-%m-%d %H:%M:%S %Z}"


def _span(entry: Entry, at: datetime, sender: Sender) -> str:
    """Return onset and end of an alarm. The onset has a time zone only if its zone differs from that of the end."""
    begin, end = entry.since, _end(entry)
    zones = [f" {moment.astimezone(sender.zone):%Z}" for moment in (begin, end)]
    first = _time(begin, at, sender)
    return f"{first.removesuffix(zones[0]) if zones[0] == zones[1] else first} to {_time(end, at, sender)}"


def _end(entry: Entry) -> datetime:
    """Return the time when the alarm cleared."""
    return entry.since + timedelta(seconds=entry.seconds)


def _length(seconds: float) -> str:
    """Return a length of time in words: `42 s`, `4 min`, `2 h 10 min`."""
    whole = max(0, int(seconds))
    if whole < 120:
        return f"{whole} s"
    minutes = whole // 60
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"
