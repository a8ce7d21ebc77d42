"""An event whose row loses its id does not leave the deck in silence: it may be the row that cannot be read."""

from __future__ import annotations

from typing import Any

from livedeck.presentation import events
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.streams import STREAMS
from livedeck.presentation.table import layout, row_line
from livedeck.text.segments import plain
from monitor.stage import Deck, Stage, event
from virtual_clock import VirtualClock


async def test_what_is_missing_from_a_list_with_unreadable_rows_stays_with_a_sign_and_its_samples_are_judged() -> None:
    stage = Stage(VirtualClock(), event("e0"), event("e1"), event("e2"))
    deck = Deck(stage)
    try:
        await deck.until(10)
        lost: dict[str, Any] = {**event("e1"), "id": None}
        stage.events = [event("e0"), lost, event("e2", auto_start=["odd"])]
        snapshot = await deck.until(40)
        asked_meanwhile = [when for when in stage.times("e1") if when > 25]
        stage.events = [event("e0"), event("e2")]
        after = await deck.until(60)
    finally:
        await deck.close()
    assert {state.id: state.is_listed for state in snapshot.events} == {"e0": True, "e1": False, "e2": True}
    assert asked_meanwhile
    render_time = RenderTime.from_snapshot(snapshot, snapshot.at)
    for schema, columns in ((events.EVENTS, 80), (events.EVENTS, 120), (STREAMS, 80), (STREAMS, 120)):
        shown = [plain(row_line(state, render_time, layout(schema.columns, columns))) for state in snapshot.events]
        assert sum("≠" in line for line in shown) == 2, shown
        assert any("≠ unlisted e1" in line for line in shown)
    assert {state.id for state in after.events} == {"e0", "e2"}
