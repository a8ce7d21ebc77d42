"""Typed times mean what a person expects, and times outside the calendar are refused."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest

from livedeck.text.times import TimeReference, describe, format_time, isoformat_utc, parse, timestamp

NOW = datetime(2026, 11, 20, 21, 14, 7, tzinfo=UTC)
TODAY = NOW.replace(minute=0, second=0)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("now", NOW),
        ("21:30", TODAY.replace(minute=30)),
        ("21:00", TODAY + timedelta(days=1)),
        ("tomorrow 9:00", datetime(2026, 11, 21, 9, tzinfo=UTC)),
        ("in 20 min", NOW + timedelta(minutes=20)),
        ("+1h", NOW + timedelta(hours=1)),
        ("in 1 day and 2 h", NOW + timedelta(days=1, hours=2)),
        ("2026-11-21 18:00Z", datetime(2026, 11, 21, 18, tzinfo=UTC)),
        ("2026-11-21t18:00+02:00", datetime(2026, 11, 21, 16, tzinfo=UTC)),
    ],
)
def test_a_time_without_a_day_is_the_next_one(text: str, at: datetime) -> None:
    assert parse(text, TimeReference(NOW, UTC)) == at


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("21:00", TODAY),
        ("22:00", TODAY - timedelta(hours=23)),
        ("20 min ago", NOW - timedelta(minutes=20)),
        ("yesterday 21:00", TODAY - timedelta(days=1)),
        ("2104", TODAY.replace(minute=4)),
        ("2204", TODAY.replace(minute=4) - timedelta(hours=23)),
        ("yesterday 2204", TODAY.replace(minute=4) - timedelta(hours=23)),
        ("2026-11-19T22:04", TODAY.replace(minute=4) - timedelta(hours=23)),
        ("-15m", NOW - timedelta(minutes=15)),
        ("- 1 h 5 min", NOW - timedelta(minutes=65)),
    ],
)
def test_a_time_without_a_day_is_the_last_one_where_the_past_is_meant(text: str, at: datetime) -> None:
    assert parse(text, TimeReference(NOW, UTC, past=True)) == at


@pytest.mark.parametrize(("minutes", "days"), [(-1, 0), (0, 1), (1, 1)])
def test_the_end_of_a_stretch_is_the_first_such_time_after_its_beginning(minutes: int, days: int) -> None:
    """Though it is still to come; with a day it is that day's."""
    reference = TimeReference(NOW, UTC, past=True, after=TODAY + timedelta(minutes=minutes))
    assert parse("21:00", reference) == TODAY + timedelta(days=days)
    assert parse("yesterday 21:00", reference) == TODAY - timedelta(days=1)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("soon", "is not a time"),
        ("25:00", "no valid time of day"),
        ("2026-02-30 9:00", "no valid day"),
        ("2560", "no valid"),
    ],
)
def test_what_is_no_time_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse(text, TimeReference(NOW, UTC))


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York"])
@pytest.mark.parametrize("text", ["0001-01-01 00:00", "9999-12-31 23:59"])
def test_the_zone_of_the_machine_does_not_lead_out_of_the_calendar(
    zone: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        with pytest.raises(ValueError, match="is too far away"):
            parse(text, TimeReference(NOW))
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    ("hours", "at", "text"),
    [
        (9, datetime(9999, 12, 31, 23, 59, tzinfo=UTC), "9999-12-31 23:59Z"),
        (-5, datetime(1, 1, 1, tzinfo=UTC), "0001-01-01 00:00Z"),
        (9, datetime(1, 1, 1, 0, 0, 7, tzinfo=UTC), "0001-01-01 09:00:07"),
    ],
)
def test_a_formatted_time_is_read_as_the_same_time(hours: int, at: datetime, text: str) -> None:
    zone = timezone(timedelta(hours=hours))
    assert format_time(at, zone) == text
    assert parse(text, TimeReference(NOW, zone)) == at


def test_a_time_is_described_in_utc_in_the_local_zone_and_by_its_distance() -> None:
    reference = TimeReference(NOW, timezone(timedelta(hours=1), "CET"))
    assert describe(NOW + timedelta(minutes=20), reference) == "21:34Z  22:34 CET  T-00:20:00"
    assert describe(NOW - timedelta(days=1), reference) == "19 Nov 21:14Z  22:14 CET  T+1d 00:00"


def test_times_for_programs_are_iso_8601_in_utc() -> None:
    assert timestamp(NOW.timestamp()) == "2026-11-20T21:14:07.000Z"
    assert isoformat_utc(NOW) == "2026-11-20T21:14:07Z"
    assert isoformat_utc(None) is None
