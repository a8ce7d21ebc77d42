"""The Events screen uses its whole room, and says which rows it shows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from livedeck.monitor import Alarm
from livedeck.presentation.filtering import TableView
from livedeck.ui.events.screen import FIXED_LINES, MIN_TODAY_ROWS, pane_grid
from livedeck.ui.kit.table import HEAD_LINES, Table
from livedeck.ui.shell.preferences import Preferences, ViewState
from ui.stage import act, known, running, show, text_of

PANES = {
    (80, 24): {"short"},
    (120, 30): {"selected", "event-alarms"},
    (120, 40): {"selected", "event-alarms", "today"},
    (160, 50): {"selected", "event-alarms", "today"},
    (200, 60): {"selected", "event-alarms", "changes", "today"},
}


async def test_there_are_as_many_panes_as_there_is_room_for_and_every_row_of_the_table_stays() -> None:
    """interface.md, "Events"."""
    async with running((80, 24)) as (deck, pilot):
        for size, panes in PANES.items():
            await pilot.resize_terminal(*size)
            await pilot.pause()
            shown = {pane.id for pane in deck.screen.query("FramedPanel, #short") if pane.display}
            assert shown == panes, size
            assert ("kbit/s" in text_of(deck)) == (size[0] >= 160)
            if size != (120, 30):
                assert deck.screen.query_one(Table).size.height >= HEAD_LINES + len(known(deck).events)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_the_worst_alarms_stand_on_the_screen_once(size: tuple[int, int]) -> None:
    async with running(size) as (deck, pilot):
        worst: Alarm = known(deck).alarms[1]
        words = text_of(deck)
        assert worst.kind in words
        await show(deck, pilot, alarms=(), quiet=())
        assert worst.kind not in text_of(deck)
        assert "measuring" in text_of(deck)


async def test_the_panes_go_and_come_by_a_key() -> None:
    async with running((120, 40)) as (deck, pilot):
        table = deck.screen.query_one(Table)
        for is_shown in (False, True):
            await act(pilot, "event.panes")
            assert bool([pane for pane in deck.screen.query("FramedPanel") if pane.display]) == is_shown
            assert deck.screen.query_one("#short").display != is_shown
            assert (table.size.height > len(known(deck).events) + 10) != is_shown


def lines_of(table: Table[Any]) -> list[str]:
    """Return the lines of the table, its head first."""
    return [table.render_line(line).text.rstrip() for line in range(table.size.height)]


async def test_a_list_with_more_rows_than_lines_says_what_is_below_and_hides_no_cursor_behind_that() -> None:
    """interface.md, "Tables"."""
    async with running((80, 24)) as (deck, pilot):
        events = known(deck).events
        many = tuple(
            replace(state, event=state.event.model_copy(update={"id": f"{state.id}{n}"}))
            for n in range(3)
            for state in events
        )
        await show(deck, pilot, events=many)
        table = deck.screen.query_one(Table)
        rows = table.size.height - HEAD_LINES - 1
        assert lines_of(table)[-1].startswith(f"  ▼ {len(many) - rows} more: 8 ✖")
        for step in range(1, len(many)):
            await pilot.press("down")
            lines = lines_of(table)
            assert any(line.startswith("▌") for line in lines)
            below = len(many) - table.scroll_offset.y - rows
            assert (f"▼ {below} more" in lines[-1]) == (step < len(many) - 1 and below > 1)


async def test_rows_that_are_not_worst_first_say_so() -> None:
    async with running() as (deck, pilot):
        assert "not worst first" not in text_of(deck)
        await act(pilot, "view.sort")
        assert "not worst first" in text_of(deck)


class Store:
    """Store of preferences that records them."""

    def __init__(self) -> None:
        self.saved = Preferences(views={"events": TableView(filter="choir", sort="event", down=True)})

    def load(self) -> Preferences:
        return self.saved

    def save(self, preferences: Preferences) -> None:
        self.saved = preferences

    def write_overflow(self, name: str, text: str) -> Path:
        raise NotImplementedError(name, text)


def test_an_order_ends_with_its_session_and_a_filter_does_not() -> None:
    store = Store()
    view_state = ViewState(store)
    assert view_state.view("events") == TableView(filter="choir")
    view_state.change_view("events", sort="health")
    assert view_state.view("events").sort == "health"
    assert store.saved.views["events"] == TableView(filter="choir")


async def test_an_empty_workspace_says_which_key_makes_an_event() -> None:
    async with running((80, 24)) as (deck, pilot):
        await show(deck, pilot, events=(), alarms=(), quiet=())
        assert "No events yet. Press n to create one." in text_of(deck)


@pytest.mark.parametrize(("size", "rows"), [((200, 60), 25), ((160, 60), 25), ((120, 60), 25), ((120, 40), 18)])
def test_a_table_has_a_line_for_each_event_before_today_has_one(size: tuple[int, int], rows: int) -> None:
    """25 events on air, and little beside them."""
    grid = pane_grid(*size, rows=25, today_rows=25, content_lines=4)
    table, *others = (int(height) if height.isdecimal() else 0 for height in grid.row_heights.split())
    rest = table or size[1] - FIXED_LINES - sum(others)
    assert rest - HEAD_LINES >= rows
    assert grid.today_lines >= 3 + MIN_TODAY_ROWS


def test_panes_beside_a_short_table_are_as_high_as_their_content() -> None:
    """The table takes the rest, and a new alarm does not move the panes each time."""
    heights = [pane_grid(200, 60, 6, 6, lines).row_heights for lines in (7, 8, 12, 13, 60)]
    assert heights == ["1fr 14 9", "1fr 14 9", "1fr 14 9", "1fr 20 9", "7 1fr 9"]
