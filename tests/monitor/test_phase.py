"""The phase rule, row by row. Times are seconds from NOW."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from livedeck.monitor import BroadcastState, IngestState
from livedeck.monitor.detection.phase import IngestEvidence, derive
from monitor.stage import NOW, at, model

Proof = tuple[float, float | None]
"""Times of the last good reply and the newest sample."""


def proof(answer: float, newest: float | None = None, first: float | None = -500.0) -> IngestEvidence:
    run = None if first is None or newest is None else NOW + timedelta(seconds=first)
    newest_at = None if newest is None else NOW + timedelta(seconds=newest)
    is_silent = newest is not None and answer - newest > 15
    return IngestEvidence(NOW + timedelta(seconds=answer), newest_at, run, is_silent)


def stream(status: str | None, start: float | None = -600.0, end: float | None = None) -> dict[str, Any]:
    return {
        "id": "s",
        "status": status,
        "started_at": None if start is None else at(start),
        "finished_at": None if end is None else at(end),
    }


def scheduled(seconds: float | None) -> dict[str, Any]:
    return {"time": None if seconds is None else at(seconds)}


@pytest.mark.parametrize(
    ("status", "evidence", "tally", "ingest"),
    [
        ("live", proof(0, -1), BroadcastState.ON_AIR, IngestState.RECEIVING),
        ("live", proof(0, -15), BroadcastState.ON_AIR, IngestState.RECEIVING),
        ("live", proof(0, -16), BroadcastState.RECONNECTING, IngestState.INTERRUPTED),
        ("live", proof(0, -600), BroadcastState.RECONNECTING, IngestState.INTERRUPTED),
        ("live", proof(0, -601), BroadcastState.LOST, IngestState.INTERRUPTED),
        ("live", proof(0), BroadcastState.ON_AIR, IngestState.NONE),
        ("live", None, BroadcastState.ON_AIR, IngestState.UNKNOWN),
        ("live", proof(0, -1, first=-20), BroadcastState.ON_AIR, IngestState.WARMING_UP),
        ("live", proof(0, -1, first=None), BroadcastState.ON_AIR, IngestState.RECEIVING),
        ("paused", proof(0, -1), BroadcastState.ON_AIR, IngestState.RECEIVING),
        ("paused", proof(0, -60), BroadcastState.RECONNECTING, IngestState.INTERRUPTED),
        ("paused", proof(0, -9000), BroadcastState.LOST, IngestState.INTERRUPTED),
        ("paused", proof(0), BroadcastState.UNKNOWN, IngestState.NONE),
        ("paused", None, BroadcastState.UNKNOWN, IngestState.UNKNOWN),
        (None, None, BroadcastState.UNKNOWN, IngestState.UNKNOWN),
        ("pending", proof(0, -1), BroadcastState.ON_AIR, IngestState.RECEIVING),
        ("pending", proof(0, -60), BroadcastState.LATE, IngestState.INTERRUPTED),
        ("pending", proof(0), BroadcastState.LATE, IngestState.NONE),
        ("pending", None, BroadcastState.LATE, IngestState.UNKNOWN),
        ("finished", proof(0, -1), BroadcastState.COMPLETED, IngestState.ENDED),
    ],
)
def test_a_stream_is_what_its_status_and_the_samples_say(
    status: str | None, evidence: IngestEvidence | None, tally: BroadcastState, ingest: IngestState
) -> None:
    phase = derive(model(stream=stream(status)), evidence, NOW)
    assert (phase.tally, phase.ingest.state) == (tally, ingest)


@pytest.mark.parametrize(
    ("fields", "tally", "mark"),
    [
        ({"stream": None}, BroadcastState.DRAFT, None),
        ({"stream": None, "scheduled": scheduled(None)}, BroadcastState.DRAFT, None),
        ({"stream": None, "scheduled": scheduled(60)}, BroadcastState.SCHEDULED, 60),
        ({"stream": None, "scheduled": scheduled(-60)}, BroadcastState.LATE, -60),
        ({"stream": stream("pending", 90), "scheduled": scheduled(60)}, BroadcastState.SCHEDULED, 90),
        ({"stream": stream("pending", 90)}, BroadcastState.SCHEDULED, 90),
        ({"stream": stream("pending", 90), "scheduled": scheduled(-60)}, BroadcastState.SCHEDULED, 90),
        ({"stream": stream("pending", -90), "scheduled": scheduled(-60)}, BroadcastState.LATE, -60),
        ({"stream": stream("pending", -90), "scheduled": scheduled(60)}, BroadcastState.SCHEDULED, 60),
        ({"stream": stream("pending", None)}, BroadcastState.SCHEDULED, None),
        ({"stream": stream("live")}, BroadcastState.ON_AIR, -600),
        ({"stream": stream("live", -600, -10)}, BroadcastState.COMPLETED, -10),
        ({"stream": stream("finished", -600, None), "scheduled": scheduled(60)}, BroadcastState.COMPLETED, None),
        ({"stream": stream("finished", -600, -10), "scheduled": scheduled(-700)}, BroadcastState.COMPLETED, -10),
        ({"stream": stream("finished", -600, -10), "scheduled": scheduled(60)}, BroadcastState.COMPLETED, -10),
        (
            {"type": "recurring", "stream": stream("finished", -600, -10), "scheduled": scheduled(60)},
            BroadcastState.SCHEDULED,
            60,
        ),
        (
            {"type": "recurring", "stream": stream("finished", -600, -60), "scheduled": scheduled(-5)},
            BroadcastState.LATE,
            -5,
        ),
    ],
)
def test_the_mark_is_what_the_clock_of_the_event_refers_to(
    fields: dict[str, Any], tally: BroadcastState, mark: float | None
) -> None:
    phase = derive(model(**fields), None, NOW)
    assert (phase.tally, phase.reference_time) == (tally, None if mark is None else NOW + timedelta(seconds=mark))


def test_a_stream_that_sends_before_the_list_says_so_began_with_its_first_sample() -> None:
    """Its `started_at` is still what was planned: by that it would have been on air, and silent, since then."""
    phase = derive(model(stream=stream("pending", -120)), proof(0, -1, first=-5), NOW)
    assert (phase.tally, phase.reference_time) == (BroadcastState.ON_AIR, NOW - timedelta(seconds=5))


def test_an_answer_that_never_comes_ages_it_does_not_become_a_lost_encoder() -> None:
    event, evidence = model(), proof(0, -1)
    for later in (60, 3600, 86_400):
        assert derive(event, evidence, NOW + timedelta(seconds=later)).tally is BroadcastState.ON_AIR


def test_the_window_is_judged_at_the_last_answer_and_ends_where_the_samples_say() -> None:
    evidence = proof(0, -100)
    for later in (20, 550):
        phase = derive(model(), evidence, NOW + timedelta(seconds=later))
        assert (phase.tally, phase.ingest.window_ends) == (BroadcastState.RECONNECTING, NOW + timedelta(seconds=500))


def test_an_event_without_a_window_has_the_documented_ten_minutes() -> None:
    assert derive(model(reconnect_window=None), proof(0, -599), NOW).tally is BroadcastState.RECONNECTING
    assert derive(model(reconnect_window=30), proof(0, -31), NOW).tally is BroadcastState.LOST


@pytest.mark.parametrize("window", [10**11, 2**63 - 1, 10**400], ids=["ages", "int64", "no float"])
def test_a_window_that_never_ends_is_as_long_as_can_be_told(window: int) -> None:
    phase = derive(model(reconnect_window=window), proof(0, -86_400), NOW)
    assert (phase.tally, phase.ingest.state) == (BroadcastState.RECONNECTING, IngestState.INTERRUPTED)
    assert phase.ingest.window_ends is not None
    assert phase.ingest.window_ends > NOW + timedelta(days=360)


@pytest.mark.parametrize("window", [-1, -(10**11), -(10**400)], ids=["a second", "ages", "no float"])
def test_a_window_that_ends_before_it_begins_is_none(window: int) -> None:
    phase = derive(model(reconnect_window=window), proof(0, -60), NOW)
    assert (phase.tally, phase.ingest.window_ends) == (BroadcastState.LOST, phase.ingest.since)


def test_a_slow_cadence_is_no_gap() -> None:
    evidence = IngestEvidence(NOW, NOW - timedelta(seconds=80), NOW - timedelta(seconds=900))
    assert derive(model(), evidence, NOW).tally is BroadcastState.ON_AIR


def test_a_completed_event_tells_how_long_it_was_on_air() -> None:
    assert derive(model(stream=stream("finished", -600, -100)), None, NOW).elapsed == 500.0
    assert derive(model(stream=stream("finished", None, -100)), None, NOW).elapsed is None
