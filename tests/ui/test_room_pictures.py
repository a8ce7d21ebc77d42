"""Golden pictures of the Rooms screen in states that must not look fine, and of its dialogs; one deck each."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from syrupy.assertion import SnapshotAssertion

from livedeck.cli.screenshots import EVENING
from livedeck.client import Room
from livedeck.monitor import ROOM_LIST, CachedList
from livedeck.text.segments import plain
from livedeck.ui.kit.lines import FramedPanel
from livedeck.ui.kit.table import HEAD_LINES
from ui.looks import Look, in_each_look, looks
from ui.meeting import agree, broadcast, meeting, new_profile, rename, words
from ui.stage import known, running, show, steady, text_of

SMALL = (80, 24)


async def test_the_states_of_the_rooms(picture: SnapshotAssertion) -> None:
    async with running(SMALL, "5", read_only=True) as (deck, pilot):
        listed = known(deck).rooms
        old = replace(listed, as_of=EVENING - timedelta(seconds=75))
        states: dict[str, CachedList[Room]] = {
            "waiting": CachedList(),
            "failed": CachedList(error="list rooms: the platform does not allow this (not allowed; code 403403)"),
            "empty": CachedList(as_of=EVENING),
            "stale": replace(old, error="list rooms: 127.0.0.1:8787 did not respond in time (4 s)"),
            "read-only": listed,
        }
        for name, state in states.items():
            await show(deck, pilot, lists={ROOM_LIST: state})
            assert await steady(deck, pilot) == picture(name=name)


async def test_zero_rooms_and_unknown_rooms_do_not_look_alike() -> None:
    async with running(SMALL, "5") as (deck, pilot):
        said = []
        states: tuple[CachedList[Room], ...] = (CachedList(), CachedList(error="away"), CachedList(as_of=EVENING))
        for state in states:
            await show(deck, pilot, lists={ROOM_LIST: state})
            said.append(text_of(deck))
        assert "waiting for the platform" in said[0]
        assert "the rooms could not be read" in said[1]
        assert "this workspace has no rooms" in said[2]


async def test_each_pane_says_why_it_has_no_rooms() -> None:
    async with running((160, 50), "5") as (deck, pilot):
        await show(deck, pilot, lists={ROOM_LIST: CachedList()})
        panes = {name: deck.screen.query_one(name, FramedPanel) for name in ("#all-rooms", "#addresses")}
        for pane in panes.values():
            assert "waiting for the platform" in " ".join(map(plain, pane.draw(70, 8)))
        assert [name for name, pane in panes.items() if pane.display] == ["#addresses"], "it lists every profile, too"


async def test_the_table_of_profiles_is_as_high_for_each_room() -> None:
    """A new height costs two layouts of the screen (performance.md, "Budgets")."""
    async with running((120, 40), "5") as (deck, pilot):
        numbers = {len(room.restreams or ()) for room in known(deck).rooms.items}
        assert max(numbers) > 2
        assert min(numbers) < 2
        heights = set[int]()
        for _ in known(deck).rooms.items:
            heights.add(deck.screen.query_one("#relays").size.height)
            await pilot.press("down")
            await pilot.pause()
        assert heights == {max(numbers) + HEAD_LINES}


@in_each_look
async def test_the_dialogs_of_the_rooms(picture: SnapshotAssertion, look: Look) -> None:
    async with meeting(size=SMALL) as stage:
        await stage.act("room.create")
        await stage.enter("Board")
        await stage.press("tab")
        await stage.enter(stage.simulator.user_id)
        for name in ("One", "Two"):
            await new_profile(stage, name, "rtmp://live.twitch.tv/app", "key-of-it-12345")
        reasons = [{"name": "restreams[1].url", "reason": "must be reachable"}, {"name": "name", "reason": "is taken"}]
        stage.refusals.append((400, {"code": 400400, "message": "invalid", "invalid_params": reasons}))
        await stage.press("ctrl+s")
        await stage.until(lambda: "is taken" in words(stage))
        await looks(stage, picture, look, "new")
        await stage.press("escape", "tab", "enter")
        await stage.act("room.delete")
        await looks(stage, picture, look, "delete")
        await stage.press("escape")
        await stage.act("relay.edit")
        await looks(stage, picture, look, "edit")
        await stage.press("escape")
        await broadcast(stage, running=True)
        await rename(stage, "Renamed")
        assert "is broadcasting" in words(stage)
        await looks(stage, picture, look, "locked")
        await agree(stage)
        await stage.act("relay.apply")
        await looks(stage, picture, look, "apply")
