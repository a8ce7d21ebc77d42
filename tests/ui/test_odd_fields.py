"""Unreadable data is never silently missing: the deck, the wall and the printed status say so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from livedeck.cli.screenshots import EVENING
from livedeck.cli.status_report import status_table
from livedeck.client import ChatExport, Event, ExportResult
from livedeck.client.resources.validation import read_model
from livedeck.monitor import CachedList, Snapshot
from livedeck.presentation.chat_export import result_parts
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import plain
from livedeck.ui.rooms import view as rooms_view
from livedeck.ui.videos import view as videos_view
from ui.stage import known, running, show, text_of
from ui.wall_stage import SIZES, evening, lines, text

MISSING = "1 event could not be read and cannot be shown"
FIELD = "reconnect_window should be a valid integer, not a list of 2"


def odd(snapshot: Snapshot, name: str = "Choir") -> Snapshot:
    """Return the snapshot with an unreadable field in the event of that name, and with an event without an id."""
    first = next(state for state in snapshot.events if (state.event.name or "").startswith(name))
    fields = first.event.model_dump() | {"reconnect_window": ["600", "s"]}
    event, faults = read_model(Event, fields)
    assert event
    assert len(faults) == 1
    event = event.with_faults(faults)
    events = tuple(replace(state, event=event) if state is first else state for state in snapshot.events)
    return replace(snapshot, events=events, unreadable=1)


async def test_the_deck_marks_the_row_names_the_field_and_counts_what_is_missing() -> None:
    async with running() as (deck, pilot):
        assert "≠ odd" not in text_of(deck)
        snapshot = odd(known(deck))
        deck.select_event(next(state.id for state in snapshot.events if state.event.faults))
        await show(deck, pilot, events=snapshot.events, unreadable=1)
        shown = text_of(deck)
        assert "≠ odd" in shown
        assert FIELD in shown
        assert MISSING in shown
        await pilot.press("2")
        await pilot.pause()
        assert MISSING in text_of(deck)
        assert "≠ odd" in text_of(deck)


@pytest.mark.parametrize("size", SIZES[:3])
async def test_the_wall_counts_what_it_cannot_show(size: tuple[int, int]) -> None:
    shown = text(lines(odd(await evening(), "Town hall"), size))
    assert "could not be read" in shown
    assert "≠ odd" in shown


def test_rooms_and_what_hangs_on_a_video_say_how_many_rows_are_left_out() -> None:
    listed: CachedList[Any] = CachedList(as_of=EVENING, unreadable=2)
    render_time = RenderTime(EVENING, EVENING, stale=False)
    for cells in (80, 120):
        assert "≠ 2 rooms could not be read" in plain(rooms_view.freshness_line(listed, render_time, cells))
        (line,) = videos_view.error_lines(listed, cells)
        assert plain(line) == " ≠ 2 rows could not be read"
    assert not videos_view.error_lines(replace(listed, unreadable=0), 80)


def test_an_export_says_how_many_items_were_no_messages() -> None:
    export, result = ChatExport("e", "s", "ndjson"), ExportResult(10, messages=3, read=3, unreadable=2)
    assert "left out, not a message: 2" in [*result_parts(export, result)]


async def test_the_printed_status_names_the_field_at_its_event_and_counts_what_is_missing() -> None:
    snapshot = odd(await evening())
    table = status_table(snapshot, RenderTime.from_snapshot(snapshot, EVENING)).splitlines()
    (row,) = [line for line in table if FIELD in line]
    assert "Choir" in row
    assert MISSING in table
