"""A calendar has the known parts of the plan, as read by another library."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import vobject
from hypothesis import given
from hypothesis import strategies as st

from livedeck.client import Event
from livedeck.monitor import BroadcastState, EventRecord
from livedeck.monitor.detection.phase import derive
from livedeck.presentation.calendar import CALENDAR_DAYS, Entry, calendar_text, entries_of_gone, entry_of
from livedeck.text.secrets import masked_line
from monitor.stage import NOW, at, event

CHANGED = "2026-02-27T08:30:00+02:00"


def read(text: str) -> list[Any]:
    """Return the entries of a calendar, read by another library."""
    return list(vobject.readOne(text).contents.get("vevent", []))


def found(**fields: Any) -> list[Any]:
    made = Event.model_validate(event(**fields))
    entry = entry_of(made, derive(made, None, NOW))
    return read(calendar_text([entry] if entry else [], NOW))


def stream(status: str, start: float | None, end: float | None = None) -> dict[str, Any]:
    times = {"started_at": None if start is None else at(start), "finished_at": None if end is None else at(end)}
    return {"id": "s", "status": status, **times}


@pytest.mark.parametrize(
    ("fields", "start", "end", "status"),
    [
        ({"stream": None, "scheduled": {"time": at(3600)}}, 3600, None, "CONFIRMED"),
        ({"stream": stream("pending", 7200), "scheduled": {"time": at(3600)}}, 7200, None, "CONFIRMED"),
        ({"stream": stream("live", -600)}, -600, None, "CONFIRMED"),
        ({"stream": stream("finished", -600, -60)}, -600, -60, "CONFIRMED"),
        ({"stream": stream("finished", 600, -60)}, 600, None, "CANCELLED"),
        ({"stream": stream("finished", None, -60), "scheduled": {"time": at(-50)}}, -50, None, "CANCELLED"),
        ({"stream": stream("finished", -600)}, -600, None, "CONFIRMED"),
    ],
)
def test_only_known_times_are_in_the_calendar(
    fields: dict[str, Any], start: float, end: float | None, status: str
) -> None:
    (entry,) = found(**fields, updated_at=CHANGED)
    assert entry.dtstart.value == NOW + timedelta(seconds=start)
    assert hasattr(entry, "dtend") == (end is not None)
    if end is not None:
        assert entry.dtend.value == NOW + timedelta(seconds=end)
    assert (entry.uid.value, entry.status.value) == ("one@livedeck", status)
    assert entry.last_modified.value == entry.dtstamp.value == datetime(2026, 2, 27, 6, 30, tzinfo=UTC)


def test_an_event_without_a_planned_start_is_not_in_the_calendar() -> None:
    assert found(stream=None) == []


def test_an_unknown_change_is_not_invented() -> None:
    (entry,) = found(stream=None, scheduled={"time": at(3600)}, created_at=at(-60))
    assert not hasattr(entry, "last_modified")
    assert entry.dtstamp.value == NOW - timedelta(seconds=60)


def test_old_entries_leave_and_future_ones_stay() -> None:
    starts = [NOW - CALENDAR_DAYS - timedelta(seconds=1), NOW - CALENDAR_DAYS, NOW + 400 * timedelta(days=1)]
    entries = [Entry(str(number), "", start, None, "CONFIRMED", None) for number, start in enumerate(starts)]
    assert [entry.uid.value for entry in read(calendar_text(entries, NOW))] == ["1@livedeck", "2@livedeck"]


def record(event_id: str, tally: BroadcastState, **fields: Any) -> EventRecord:
    return EventRecord(NOW, event_id, event_id, tally, **fields)


def test_a_planned_event_that_the_platform_no_longer_has_is_cancelled() -> None:
    start, end = NOW - timedelta(hours=2), NOW - timedelta(hours=1)
    records = [
        record("deleted", BroadcastState.SCHEDULED, scheduled=start),
        record("deleted", BroadcastState.SCHEDULED, scheduled=NOW, is_gone=True),
        record("listed", BroadcastState.SCHEDULED, scheduled=NOW, is_gone=True),
        record("back", BroadcastState.SCHEDULED, scheduled=NOW, is_gone=True),
        record("back", BroadcastState.SCHEDULED, scheduled=NOW),
        record("draft", BroadcastState.DRAFT, is_gone=True),
        record("shown", BroadcastState.COMPLETED, started_at=start, finished_at=end, is_gone=True),
        record("lost", BroadcastState.LOST, started_at=start, is_gone=True),
    ]
    found = {entry.event_id: (entry.start, entry.end, entry.status) for entry in entries_of_gone(records, {"listed"})}
    assert found == {
        "deleted": (NOW, None, "CANCELLED"),
        "shown": (start, end, "CONFIRMED"),
        "lost": (start, None, "CONFIRMED"),
    }


@given(st.text(max_size=120))
def test_a_name_of_a_stranger_stays_a_name(name: str) -> None:
    entry = Entry("one", f"BEGIN:VEVENT\r\n{name}", NOW, None, "CONFIRMED", None)
    text = calendar_text([entry], NOW)
    assert [found.summary.value for found in read(text)] == [masked_line(entry.name, 200)]
    assert text.count("\n") == text.count("\r\n")
    assert text.encode().count(b"\r\nBEGIN:VEVENT\r\n") == 1
    assert all(len(line) <= 75 for line in text.encode().split(b"\r\n"))
