"""Columns of the current streams."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from livedeck.client import Scheduled, Stream
from livedeck.monitor import BroadcastState, Episode, EventState, Ingest, IngestState, Severity
from livedeck.presentation.streams import STREAMS, destinations, summary_line
from livedeck.text.segments import StyleRole, plain
from livedeck.ui.streams.view import destination_lines
from presentation.test_events import FRESH, NOW, STALE, state


@pytest.mark.parametrize(("of_stream", "of_event", "shown"), [(90, 60, 90), (-90, 60, 60), (90, None, 90)])
def test_a_stream_to_come_has_the_planned_start_that_every_screen_has(
    of_stream: int, of_event: int | None, shown: int
) -> None:
    """Until it begins, `started_at` of the stream is only a plan, and the event may have another."""
    pending = Stream(id="s", status="pending", started_at=NOW + timedelta(minutes=of_stream))
    time = None if of_event is None else NOW + timedelta(minutes=of_event)
    known = state()
    event = known.event.model_copy(update={"stream": pending, "scheduled": Scheduled(time=time)})
    column = next(column for column in STREAMS.columns if column.name == "started")
    cell = plain(column.render(replace(known, event=event), FRESH))
    assert cell == f"{NOW + timedelta(minutes=shown):%d %b %H:%M:%S}"


def restreams(*statuses: str, enabled: bool = True) -> list[dict[str, object]]:
    return [{"name": f"Out {n}", "status": word, "enabled": enabled} for n, word in enumerate(statuses)]


def test_destinations_that_are_not_connected_come_first_and_those_that_do_not_fit_are_counted() -> None:
    known = state(restreams=restreams("connected", "connected", "disconnected"))
    assert plain(destinations(known, FRESH, 80)) == "▲ Out 2 disconnected  ✓ Out 0  ✓ Out 1"
    assert plain(destinations(known, FRESH, 33)) == "▲ Out 2 disconnected  ✓ Out 0  +1"
    assert plain(destinations(state(), FRESH, 80)) == "-"
    planned = state(BroadcastState.SCHEDULED, IngestState.NONE, restreams=restreams("disconnected"))
    assert plain(destinations(planned, FRESH, 80)) == "○ Out 0", "before the start it is no fault"
    for cells in range(4, 60):
        assert len(plain(destinations(known, FRESH, cells))) <= cells


def test_one_line_says_what_arrives_where_it_goes_and_what_is_lost() -> None:
    lost = state(BroadcastState.RECONNECTING, IngestState.INTERRUPTED, restreams=restreams("disconnected"))
    states = [state(restreams=restreams("connected")), state(restreams=restreams("connected", enabled=False)), lost]
    text = plain(summary_line(states, FRESH, 160))
    assert text.startswith(" ↓ 2 of 3 arrive")
    assert "✖ 1 lost" in text
    assert "→ 1 of 2 destinations connected" in text
    assert "lost" not in plain(summary_line(states, STALE, 160)), "nothing is known of it now"
    assert summary_line([], FRESH, 160) == []


def words(states: list[EventState]) -> str:
    return plain(summary_line(states, FRESH, 160))


def test_events_whose_polls_fail_neither_arrive_nor_count_as_connected() -> None:
    unseen = replace(state(restreams=restreams("connected")), is_stale=True)
    text = words([state(restreams=restreams("connected")), unseen])
    assert text.startswith(" ↓ 1 of 2 arrive, ? 1 unknown")
    assert "→ 1 of 2 destinations connected, ? 1 unknown" in text


def test_destinations_without_a_status_are_unknown_and_no_fault() -> None:
    unknown = state(restreams=[{"name": "Out 0", "enabled": True}, *restreams("connected")])
    assert plain(destinations(unknown, FRESH, 80)) == "? Out 0  ✓ Out 0"
    line = summary_line([unknown], FRESH, 160)
    assert "→ 1 of 2 destinations connected, ? 1 unknown" in plain(line)
    assert StyleRole.WARNING not in {role for _, role in line}
    (out,) = [column for column in STREAMS.columns if column.name == "out"]
    assert out.render(unknown, FRESH) == [("?/2", StyleRole.TEXT)]
    hidden = state(restreams=None)
    assert plain(destinations(hidden, FRESH, 80)) == plain(out.render(hidden, FRESH)) == "?"


def test_a_destination_with_an_unknown_switch_counts_as_on() -> None:
    known = state(restreams=[{"name": "Out", "status": "connected"}])
    assert plain(destinations(known, FRESH, 80)) == "✓ Out"
    assert "→ 1 of 1 destinations connected" in words([known])
    assert "off" not in "".join(plain(line) for line in destination_lines(known, FRESH, 80))


@pytest.mark.parametrize("width", [60, 120])
def test_the_time_since_a_fault_stands_after_the_status(width: int) -> None:
    fault = Episode("RESTREAM_DOWN", Severity.WARNING, "r", NOW - timedelta(seconds=190), None, "", "")
    down = {"id": "r", "name": "Out", "status": "disconnected", "enabled": True, "url": "rtmp://a.example/live"}
    text = "\n".join(
        plain(line) for line in destination_lines(replace(state(restreams=[down]), episodes=(fault,)), FRESH, width)
    )
    assert "disconnected for 03:10" in text
    assert "live for" not in text


def test_how_long_a_signal_arrives_is_at_least_as_long_as_the_samples_in_memory_show() -> None:
    (column,) = [column for column in STREAMS.columns if column.name == "since"]
    known = state()
    old = replace(known, phase=replace(known.phase, ingest=Ingest(IngestState.RECEIVING)))
    later = replace(FRESH, server=NOW + timedelta(minutes=15))
    assert plain(column.render(old, later)) == "15:00+"
    begun = replace(old, phase=replace(old.phase, ingest=Ingest(IngestState.RECEIVING, NOW - timedelta(minutes=5))))
    assert plain(column.render(begun, FRESH)) == "05:00"
    assert plain(column.render(state(BroadcastState.DRAFT, IngestState.NONE), FRESH)) == "-"
