"""Announced rows that were not received are counted on every screen, and no list is then called clear or empty."""

from __future__ import annotations

from dataclasses import replace

import pytest

from livedeck.cli.screenshots import EVENING
from livedeck.cli.status_report import status_table
from livedeck.client import Room, Shortfall
from livedeck.monitor import CachedList, Snapshot
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import plain
from livedeck.ui.rooms import view as rooms_view
from livedeck.ui.videos import view as videos_view
from ui.stage import known, running, show, text_of
from ui.wall_stage import SIZES, evening, lines, text

SOME, ALL, UNKNOWN = Shortfall(20, 300), Shortfall(5, 5), Shortfall()
TEXTS = {
    SOME: "20 of 300 events not received",
    ALL: "5 of 5 events not received",
    UNKNOWN: "an unknown number of events not received",
}
UNREADABLE = "1 event could not be read and cannot be shown"
FRESH = RenderTime(EVENING, EVENING, stale=False)


def without_rows(snapshot: Snapshot, shortfall: Shortfall | None) -> Snapshot:
    """Return the snapshot as if no event was received."""
    return replace(snapshot, events=(), alarms=(), quiet=(), shortfall=shortfall)


@pytest.mark.parametrize("shortfall", TEXTS)
async def test_the_deck_counts_what_is_missing_and_calls_nothing_clear(shortfall: Shortfall) -> None:
    async with running() as (deck, pilot):
        well = tuple(state for state in known(deck).events if not state.assessment.findings)
        await show(deck, pilot, events=well, alarms=(), quiet=())
        assert "clear" in text_of(deck)
        assert TEXTS[shortfall] not in text_of(deck)
        await show(deck, pilot, events=well, alarms=(), quiet=(), shortfall=shortfall)
        assert TEXTS[shortfall] in text_of(deck)
        assert "clear" not in text_of(deck)
        await show(deck, pilot, events=(), alarms=(), quiet=(), shortfall=shortfall)
        assert TEXTS[shortfall] in text_of(deck)
        assert "No events yet" not in text_of(deck)
        await show(deck, pilot, events=(), alarms=(), quiet=(), shortfall=None)
        assert "No events yet" in text_of(deck)


async def test_a_row_that_cannot_be_read_is_missing_too() -> None:
    """It may be an event on air: neither the deck nor the wall calls anything clear, and a command says it failed."""
    async with running() as (deck, pilot):
        well = tuple(state for state in known(deck).events if not state.assessment.findings)
        await show(deck, pilot, events=well, alarms=(), quiet=(), unreadable=1)
        assert UNREADABLE in text_of(deck)
        assert "clear" not in text_of(deck)
    empty = replace(await evening(), events=(), alarms=(), quiet=(), unreadable=1)
    for size in SIZES[:3]:
        shown = text(lines(empty, size))
        assert UNREADABLE in shown
        assert "clear" not in shown
        assert "NOTHING ON AIR" not in shown
    assert "0 events known, 0 alarms" in status_table(empty, FRESH)


@pytest.mark.parametrize("size", SIZES[:3])
@pytest.mark.parametrize("shortfall", TEXTS)
async def test_the_wall_counts_what_is_missing(size: tuple[int, int], shortfall: Shortfall) -> None:
    snapshot = await evening()
    assert TEXTS[shortfall] in text(lines(replace(snapshot, shortfall=shortfall), size))
    empty = text(lines(without_rows(snapshot, shortfall), size))
    assert TEXTS[shortfall] in empty
    assert "NOTHING ON AIR" not in empty


async def test_the_printed_status_counts_what_is_missing() -> None:
    snapshot = await evening()
    assert " events known, " not in status_table(snapshot, FRESH)
    for shortfall, words in TEXTS.items():
        printed = status_table(without_rows(snapshot, shortfall), FRESH)
        assert words in printed
        assert "0 events known, 0 alarms" in printed


def test_a_list_of_rooms_or_extras_counts_what_is_missing() -> None:
    rooms = CachedList((Room(id="r", name="Board"),), EVENING, shortfall=Shortfall(2, 3))
    assert "≠ 2 of 3 rooms not received" in plain(rooms_view.freshness_line(rooms, FRESH, 120))
    assert [plain(line).strip() for line in videos_view.error_lines(rooms, 80)] == ["≠ 2 of 3 rows not received"]
    both = replace(rooms, unreadable=1)
    assert "≠ 2 of 3 rooms not received, 1 room could not be read" in plain(rooms_view.freshness_line(both, FRESH, 120))
    none = CachedList[Room]((), EVENING, shortfall=Shortfall(3, 3))
    assert "has no rooms" not in rooms_view.no_rooms_text(none)
    assert "has no rooms" in rooms_view.no_rooms_text(replace(none, shortfall=None))
