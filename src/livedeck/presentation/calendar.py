"""Planned events as an iCalendar (RFC 5545) for calendar programs (collector.md, "Calendar"). Pure.

Needs the package icalendar; `calendar_text` raises ImportError without it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime, timedelta

from livedeck.client import Event
from livedeck.monitor import BroadcastState, EventRecord, Phase
from livedeck.record import Record
from livedeck.text.secrets import masked_line

CONTENT_TYPE = "text/calendar; charset=utf-8"
"""Media type of a calendar over HTTP."""

CALENDAR_DAYS = timedelta(days=30)
"""Maximum age of an entry. Future entries have no limit."""

REFRESH = timedelta(minutes=15)
"""Interval at which the calendar asks subscribers to fetch it again."""

PACKAGE_NEEDED = "a calendar needs a package: pip install '.[calendar]' in the checkout"

_MAX_NAME = 200


class Entry(Record):
    """Entry of the calendar. Times are by the server's clock; `end` and `changed_at` are None if unknown.

    `status`: `CONFIRMED`; `TENTATIVE` if nothing shows whether the event is on air; `CANCELLED`. `changed_at`,
    `created_at`: last change and creation of the event.
    """

    event_id: str
    name: str
    start: datetime
    end: datetime | None
    status: str
    changed_at: datetime | None
    created_at: datetime | None = None


def entry_of(event: Event, phase: Phase) -> Entry | None:
    """Return the entry of an event; None without a known start.

    An event that ended before its start was never on air, so its entry is cancelled.
    """
    stream, end, status = event.stream, None, "CONFIRMED"
    start = phase.reference_time
    if phase.tally is BroadcastState.COMPLETED:
        planned = event.scheduled.time if event.scheduled else None
        start, end = (stream.started_at if stream else None) or planned, phase.reference_time
        if not (stream and stream.started_at) or (start and end and end <= start):
            end, status = None, "CANCELLED"
    elif phase.tally is BroadcastState.UNKNOWN:
        status = "TENTATIVE"
    if start is None:
        return None
    return Entry(event.id, event.name or "", start, end, status, event.updated_at, event.created_at)


def entries_of_gone(records: Iterable[EventRecord], listed: Collection[str]) -> Iterator[Entry]:
    """Yield an entry for each event that the platform no longer has: cancelled if it was still planned.

    Args:
        records: Records of the history, oldest first.
        listed: Ids of the events that the platform has.
    """
    for record in {record.event_id: record for record in records}.values():
        start = record.planned if record.is_waiting else record.started_at
        if record.is_gone and record.event_id not in listed and start:
            end = record.finished_at if record.finished_at and record.finished_at > start else None
            status = "CANCELLED" if record.is_waiting or (record.is_completed and end is None) else "CONFIRMED"
            yield Entry(record.event_id, record.name, start, end, status, record.at)


def calendar_text(entries: Iterable[Entry], now: datetime) -> str:
    """Return a calendar of the entries that end in the last `CALENDAR_DAYS` or later, sorted by start.

    An entry without a known end has no DTEND. `now`: the server's time. Raises ImportError without icalendar.
    """
    from icalendar import Calendar
    from icalendar import Event as CalendarEvent
    from icalendar.enums import STATUS

    calendar = Calendar.new(
        prodid="-//livedeck//planned events//EN",
        name="livedeck",
        uid="planned-events@livedeck",
        refresh_interval=REFRESH,
    )
    calendar.add("x-published-ttl", "PT15M")  # Outlook's name of the interval
    for entry in sorted(entries, key=lambda entry: (entry.start, entry.event_id)):
        if (entry.end or entry.start) < now - CALENDAR_DAYS:
            continue
        changed_at = entry.changed_at.astimezone(UTC) if entry.changed_at else None
        calendar.add_component(
            CalendarEvent.new(
                uid=f"{masked_line(entry.event_id, _MAX_NAME)}@livedeck",
                summary=masked_line(entry.name or entry.event_id, _MAX_NAME),
                start=entry.start.astimezone(UTC),
                end=entry.end.astimezone(UTC) if entry.end else None,
                status=STATUS(entry.status),
                stamp=(entry.changed_at or entry.created_at or now).astimezone(UTC),
                last_modified=changed_at,
            )
        )
    return str(calendar.to_ical().decode())
