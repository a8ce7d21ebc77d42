"""Rows, JSON and checks say what viewers get: also of what the platform's list lacks or calls completed."""

from __future__ import annotations

from dataclasses import replace

from livedeck.monitor import BroadcastState, Delivery, EventState, Phase, Snapshot
from livedeck.presentation import documents
from livedeck.presentation.check import check_event
from livedeck.presentation.events import odd_sign
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.serialization import event_object
from livedeck.text.segments import plain
from monitor.alarm_stage import WELL, state
from monitor.probing import moment, seen
from monitor.stage import NOW


def sign(found: EventState, *, is_short: bool = False) -> str:
    return plain(odd_sign(found, None if is_short else NOW)).strip()


def test_a_missing_event_that_plays_is_told_as_that() -> None:
    missing = replace(state(), is_listed=False)
    assert sign(missing) == "≠ unlisted"
    assert sign(replace(missing, viewer=seen(0))) == "≠ unlisted, plays"
    assert sign(replace(missing, viewer=seen(0, delivery=Delivery.GONE))) == "≠ unlisted"
    assert sign(replace(missing, viewer=seen(0, is_stale=True))) == "≠ unlisted"
    assert sign(replace(state(), viewer=seen(0))) == ""


def test_a_completed_event_that_plays_on_is_told_after_a_minute() -> None:
    ended = replace(state(), phase=Phase(BroadcastState.COMPLETED, moment(-60)), viewer=seen(0))
    assert sign(ended) == "≠ completed, and still plays"
    assert sign(ended, is_short=True) == ""
    assert sign(replace(ended, phase=Phase(BroadcastState.COMPLETED, moment(-59)))) == ""


def test_json_and_check_have_what_viewers_get() -> None:
    time = RenderTime.from_snapshot(Snapshot(1, NOW, WELL, (state(),)), NOW)
    assert event_object(state(), time)["viewer"] is None
    viewed = replace(state(), viewer=seen(0, missed=2))
    found = event_object(viewed, time)["viewer"]
    assert found
    assert (found["delivery"], found["picture"], found["latency"], found["missing_segments"]) == (
        "plays",
        "moves",
        8,
        2,
    )
    assert found.keys() == documents.Viewer.__annotations__.keys()
    assert check_event(viewed, (), time).measures["latency"] == 8.0
    assert "latency" not in check_event(replace(viewed, viewer=seen(0, is_stale=True)), (), time).measures
