"""Nobody acts on an unchosen row: rows move, vanish and are renamed, and a change goes to its chosen object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pytest

from livedeck.monitor import ROOM_LIST, EventState, ResourceKey
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import TableSchema, text_column
from livedeck.ui.kit.dialogs.dialog import Dialog
from livedeck.ui.kit.selection import RowSelection
from livedeck.ui.kit.table import Table
from livedeck.ui.videos.screen import VideoTab
from ui.cinema import opened
from ui.deck_stage import Stage, deck_stage
from ui.stage import known

QUIET = "Untitled event"
WRITES = ("event.delete", "event.enable", "event.complete", "event.edit", "event.move", "event.schedule")


@dataclass(frozen=True)
class Row:
    """Row of a table, with its key and name."""

    key: str
    name: str


SCHEMA: TableSchema[Row] = TableSchema(
    (text_column("name", "NAME", 10, 0, lambda row: row.name, grows=True),), lambda row: row.key, lambda row: row.name
)


def rows_in_turmoil(random: Random, rows: Sequence[Row]) -> list[Row]:
    """Return the rows with some removed, added and renamed, and in another order."""
    kept = [row for row in rows if random.random() > 0.15]
    renamed = [replace(row, name=f"{row.name}'") if random.random() < 0.2 else row for row in kept]
    came = [Row(f"{random.randrange(40)}", "back or new") for _ in range(random.randrange(3))]
    unique = {row.key: row for row in (*came, *renamed)}
    shuffled = [*unique.values()]
    random.shuffle(shuffled)
    return shuffled


def turmoil(seed: int, count: int, at: RenderTime) -> int:
    """Choose rows while they change. Returns how often a row was selected that nobody had chosen since it last left."""
    random, wrong = Random(seed), 0
    selection, rows = RowSelection(), [Row(str(number), f"Show {number}") for number in range(12)]
    chosen: str | None = rows[0].key  # where a table begins
    selection.follow_rows(SCHEMA, rows, rows, at)
    for _ in range(count):
        rows = rows_in_turmoil(random, rows)
        selected = selection.follow_rows(SCHEMA, rows, rows, at)
        if chosen not in {row.key for row in rows}:
            chosen = None
        wrong += selection.key != chosen or (selected.key if selected else None) != chosen
        wrong += bool(chosen is None and "left the list; choose a row" not in selection.missing_text("row"))
        if rows and random.random() < 0.3:
            chosen = random.choice(rows).key
            selection.choose(chosen)
    return wrong


async def test_no_row_is_selected_that_nobody_chose_since_it_last_left() -> None:
    async with deck_stage() as stage:
        at = stage.deck.render_time()
    assert at is not None
    assert turmoil(7, 10_000, at) == 0


def shown_events(random: Random, states: Sequence[EventState]) -> tuple[EventState, ...]:
    """Return the events as changed by others: moved, gone, renamed, two of one name."""
    kept = [state for state in states if random.random() > 0.15]
    random.shuffle(kept)
    names = [state.event.name for state in states]

    def renamed(state: EventState) -> EventState:
        name = random.choice(names) if random.random() < 0.2 else state.event.name
        return replace(state, event=state.event.model_copy(update={"name": name}))

    return tuple(map(renamed, kept))


async def show(stage: Stage, states: Sequence[EventState]) -> None:
    """Give the deck these events now."""
    stage.deck.snapshot = replace(known(stage.deck), seq=known(stage.deck).seq + 1, events=tuple(states))
    stage.deck.snapshot_signal.publish(None)
    await stage.settle()


async def show_list(stage: Stage, key: ResourceKey, items: Sequence[Any]) -> None:
    """Give the deck these items of a list now."""
    state = known(stage.deck)
    lists = {**state.lists, key: replace(state.cached(key), items=tuple(items))}
    stage.deck.snapshot = replace(state, seq=state.seq + 1, lists=lists)
    stage.deck.snapshot_signal.publish(None)
    await stage.settle()


async def play(seed: int, rounds: int) -> tuple[int, int]:
    """Press keys that write, while rows change under open dialogs.

    Returns the number of wrong changes, and of all sent.
    """
    random, wrong, changes, sent = Random(seed), 0, 0, 0
    async with deck_stage() as stage:
        whole = known(stage.deck).events
        while changes < rounds:
            stage.deck.go_to("events")  # a key that was meant for a dialog may have led elsewhere
            await show(stage, shown_events(random, whole))
            changes += len(whole)
            rows = known(stage.deck).events
            if rows and random.random() < 0.7:
                stage.deck.select_event(random.choice(rows).id)
                await stage.settle()
            meant = stage.deck.selected_event()
            cursor = stage.deck.screen.query_one(Table).cursor
            wrong += cursor != (meant.id if meant else None)
            stage.requests.clear()
            await stage.act(random.choice(WRITES))
            asked = isinstance(stage.deck.screen, Dialog)
            wrong += asked and meant is None
            for keys in (("tab", "enter"), ("ctrl+u", "4", "ctrl+s"), ("tab", "enter")):
                await show(stage, shown_events(random, whole))
                changes += len(whole)
                await stage.press(*keys)
            await stage.idle()
            for _ in range(8):
                if isinstance(stage.deck.screen, Dialog):
                    await stage.press(*(("tab", "enter") if "will be lost" in stage.text() else ("escape",)))
            wrong += sum(meant is None or meant.id not in path for _, path in stage.writes)
            sent += len(stage.writes)
            deleted = {path.rpartition("/")[2] for method, path in stage.writes if method == "DELETE"}
            whole = tuple(state for state in whole if state.id not in deleted)
    return wrong, sent


async def test_under_open_dialogs_no_change_goes_to_another_event() -> None:
    wrong, sent = await play(11, 150)
    assert (wrong, sent > 0) == (0, True)


@pytest.mark.slow
async def test_of_ten_thousand_rows_that_change_under_open_dialogs_none_becomes_the_target() -> None:
    games = [await play(seed, 2_000) for seed in range(5)]
    wrong, sent = (sum(counts) for counts in zip(*games, strict=True))
    assert (wrong, sent > 20) == (0, True)


async def test_until_an_event_was_chosen_the_cursor_follows_the_worst_one_and_nothing_can_be_done_to_it() -> None:
    async with deck_stage() as stage:
        whole = known(stage.deck).events
        for states in (whole, whole[::-1]):
            await show(stage, states)
            assert stage.deck.screen.query_one(Table).cursor == states[0].id
            for action in WRITES:
                await stage.act(action)
                await stage.idle()
                assert not isinstance(stage.deck.screen, Dialog), action
                assert "needs an event that you have chosen" in stage.last_notice()
        await stage.press("down")
        await show(stage, whole)
        assert getattr(stage.deck.selected_event(), "id", "") == whole[-2].id
        await stage.act("event.edit")
        assert isinstance(stage.deck.screen, Dialog)


async def test_a_key_after_the_event_vanished_opens_no_dialog_and_says_so() -> None:
    async with deck_stage() as stage:
        meant = stage.choose(QUIET)
        await stage.settle()
        await show(stage, [state for state in known(stage.deck).events if state.id != meant.id])
        for action in WRITES:
            await stage.act(action)
            await stage.idle()
            assert not isinstance(stage.deck.screen, Dialog), action
            assert 'nothing is selected: "Untitled event" left the list; choose an event' in stage.last_notice()
        assert not stage.requests


async def test_a_room_that_vanished_gives_no_other_room_to_delete_and_no_profile_to_edit() -> None:
    async with deck_stage() as stage:
        await stage.act("screen.rooms")
        await stage.until(lambda: bool(known(stage.deck).rooms.items))
        await stage.press("down", "up")
        whole = known(stage.deck).rooms
        cursor = stage.deck.screen.query_one("#rooms", Table).cursor
        left = tuple(room for room in whole.items if room.id != cursor)
        gone = next(room for room in whole.items if room.id == cursor)
        for rooms in (left, whole.items):  # it does not become the target by coming back
            await show_list(stage, ROOM_LIST, rooms)
            for action, noun in (("room.delete", "room"), ("relay.edit", "room"), ("relay.reveal", "room")):
                await stage.act(action)
                await stage.idle()
                assert not isinstance(stage.deck.screen, Dialog), action
                assert f'nothing is selected: "{gone.name}" left the list; choose a {noun}' in stage.last_notice()
        assert not stage.writes


@pytest.mark.parametrize(
    ("part", "noun"), [("posters", "poster"), ("subtitles", "subtitle track"), ("annotations", "annotation")]
)
async def test_an_extra_that_vanished_gives_no_other_one_to_delete(part: str, noun: str) -> None:
    async with deck_stage() as stage:
        await opened(stage, part)
        screen = stage.deck.screen_of(VideoTab)
        gone, key = screen.selected_item(), screen.selection.key(part)
        whole = screen.cached().items
        assert gone is not None
        assert key is not None
        stage.requests.clear()
        for items in ([item for item in whole if item.id != gone.id], whole):
            await show_list(stage, key, items)
            await stage.act(f"{part.removesuffix('s')}.delete")
            await stage.idle()
            assert not isinstance(stage.deck.screen, Dialog)
            assert "nothing is selected: " in stage.last_notice()
            assert f"left the list; choose {'an' if noun[0] == 'a' else 'a'} {noun}" in stage.last_notice()
        assert not stage.writes


async def test_a_filter_that_hides_the_event_says_so_and_one_that_leaves_one_row_selects_it() -> None:
    async with deck_stage() as stage:
        meant = stage.choose("Morning service")
        await stage.settle()
        stage.deck.dispatch("view.filter", "tally:off")
        await stage.settle()
        assert stage.deck.selected_event() is None
        await stage.act("event.edit")
        assert '"Morning service" is hidden by the filter; choose an event' in stage.last_notice()
        await stage.act("screen.qos")
        assert "A filter has hidden this event" in stage.text()
        await stage.act("screen.events")
        stage.deck.dispatch("view.filter", "morning")
        await stage.until(lambda: stage.deck.selected_event() is not None)
        assert getattr(stage.deck.selected_event(), "id", "") == meant.id
        assert not stage.writes


async def test_an_event_without_a_stream_is_not_called_filtered_on_the_screens_after_streams() -> None:
    async with deck_stage() as stage:
        stage.choose("Untitled event")
        await stage.settle()
        await stage.act("screen.streams")
        await stage.act("event.edit")
        assert '"Untitled event" is not in this list; choose an event' in stage.last_notice()
        await stage.act("screen.qos")
        assert "Streams lists no event without a stream" in stage.text()
        assert not stage.writes
