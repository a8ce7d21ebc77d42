"""Columns of the current streams."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from livedeck.client import Scheduled, Stream
from livedeck.monitor import BroadcastState, Ingest, IngestState
from livedeck.presentation.streams import STREAMS, destinations, summary_line
from livedeck.text.segments import plain
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


def test_how_long_a_signal_arrives_is_at_least_as_long_as_the_samples_in_memory_show() -> None:
    (column,) = [column for column in STREAMS.columns if column.name == "since"]
    known = state()
    old = replace(known, phase=replace(known.phase, ingest=Ingest(IngestState.RECEIVING)))
    later = replace(FRESH, server=NOW + timedelta(minutes=15))
    assert plain(column.render(old, later)) == "15:00+"
    begun = replace(old, phase=replace(old.phase, ingest=Ingest(IngestState.RECEIVING, NOW - timedelta(minutes=5))))
    assert plain(column.render(begun, FRESH)) == "05:00"
    assert plain(column.render(state(BroadcastState.DRAFT, IngestState.NONE), FRESH)) == "-"
