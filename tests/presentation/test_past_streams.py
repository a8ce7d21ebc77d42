"""The stream at a past moment, and the stream to compare it with (interface.md, "Earlier streams")."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from livedeck.monitor import BroadcastState, EpisodeRecord, EventRecord, Severity, StreamSpan
from livedeck.presentation.past_streams import PastStream, day_words, past_streams, stream_at, suggestion

TODAY = datetime(2026, 11, 20, 20, 30, tzinfo=UTC)
DAY = timedelta(days=1)


def show(days_ago: float, event_id: str = "one", name: str = "Show") -> PastStream:
    """Return a show of two hours that began at 20:30 some days ago."""
    first = TODAY - days_ago * DAY
    return PastStream(event_id, f"{event_id}-{days_ago}", name, first, first + timedelta(hours=2))


STREAMS = (show(0), show(1), show(7))


@pytest.mark.parametrize(
    ("at", "any_day", "stream", "moment"),
    [
        (TODAY, False, 0, TODAY),
        (TODAY - timedelta(seconds=40), False, 0, TODAY - timedelta(seconds=40)),
        (TODAY - timedelta(hours=23), False, 1, TODAY - timedelta(hours=23)),
        (TODAY - 6 * DAY + timedelta(hours=1), True, 2, TODAY - 7 * DAY + timedelta(hours=1)),
        (TODAY - 6 * DAY, False, 2, TODAY - 7 * DAY + timedelta(hours=2)),
        (TODAY - 9 * DAY, True, 2, TODAY - 7 * DAY),
        (TODAY - timedelta(hours=6), True, 0, TODAY),
    ],
)
def test_the_stream_of_a_moment_is_the_one_that_ran_then_else_the_nearest(
    at: datetime, any_day: bool, stream: int, moment: datetime
) -> None:
    assert stream_at(STREAMS, at, any_day=any_day) == (STREAMS[stream], moment)
    assert stream_at((), at, any_day=any_day) is None


def test_the_same_show_a_week_ago_is_proposed_also_where_its_event_was_another_one() -> None:
    other, namesake = show(7, "two", "Other"), show(7.01, "three", "show")
    assert suggestion([*STREAMS, other], STREAMS[0]) == STREAMS[2]
    assert suggestion([show(1), other, namesake], STREAMS[0]) == namesake
    assert suggestion([other, show(0)], STREAMS[0]) is None


def test_a_stream_has_the_last_name_of_its_event_and_its_worst_fault() -> None:
    first, last = TODAY, TODAY + timedelta(hours=2)
    spans = [StreamSpan("one", "a", first, last), StreamSpan("two", "b", first - DAY, last - DAY)]
    records = [
        EventRecord(first, "one", "Working title", BroadcastState.SCHEDULED),
        EventRecord(last, "one", "Show", BroadcastState.COMPLETED, is_gone=True),
    ]
    faults = [
        EpisodeRecord("one", "PACKET_LOSS", "", "", severity, first + late, first + late + timedelta(minutes=1), "", "")
        for severity, late in ((Severity.WARNING, timedelta(minutes=5)), (Severity.CRITICAL, -DAY))
    ]
    newest, before = past_streams(spans, records, faults)
    assert (newest.name, newest.worst, newest.is_gone) == ("Show", Severity.WARNING, True)
    assert (before.name, before.worst, before.stream_id) == ("two", None, "b")


@pytest.mark.parametrize(
    ("days", "words"), [(0, "today"), (1, "yesterday"), (2, "Wednesday"), (7, "13 Nov"), (400, "16 Oct 2025")]
)
def test_a_day_is_called_as_people_do(days: int, words: str) -> None:
    assert day_words(TODAY - days * DAY, TODAY.date()) == words
