"""Columns of the current streams."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from livedeck.client import Scheduled, Stream
from livedeck.presentation.streams import STREAMS
from livedeck.text.segments import plain
from presentation.test_events import FRESH, NOW, state


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
