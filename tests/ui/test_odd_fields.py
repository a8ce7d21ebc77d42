"""What could not be read is never silently missing: the deck, the wall and the printed status say so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from livedeck.cli.screenshots import EVENING
from livedeck.cli.status import status_table
from livedeck.client import Event
from livedeck.client.resources.validation import read_model
from livedeck.monitor import Snapshot
from livedeck.presentation.render_time import RenderTime
from ui.stage import known, running, show, text_of
from ui.wall_stage import SIZES, evening, lines, text

MISSING = "1 event could not be read and cannot be shown"
FIELD = "reconnect_window should be a valid integer, not a list of 2"


def odd(snapshot: Snapshot) -> Snapshot:
    """The same, but that the event named Choir has a field that could not be read, and one has not even an id."""
    first = next(state for state in snapshot.events if (state.event.name or "").startswith("Choir"))
    fields = first.event.model_dump() | {"reconnect_window": ["600", "s"]}
    event, faults = read_model(Event, fields)
    assert event
    assert len(faults) == 1
    event._faults = faults
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


@pytest.mark.parametrize("size", SIZES[:3])
async def test_the_wall_counts_what_it_cannot_show(size: tuple[int, int]) -> None:
    assert "could not be read" in text(lines(odd(await evening()), size))


async def test_the_printed_status_names_the_field_at_its_event_and_counts_what_is_missing() -> None:
    snapshot = odd(await evening())
    table = status_table(snapshot, RenderTime.from_snapshot(snapshot, EVENING)).splitlines()
    (row,) = [line for line in table if FIELD in line]
    assert "Choir" in row
    assert MISSING in table
