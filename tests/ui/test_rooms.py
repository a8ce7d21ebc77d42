"""Screen 5: every action on rooms and relay profiles by its keys, and its effect by the API."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from livedeck.cli.screenshots import EVENING, attached
from livedeck.client import NotFound, RelayDraft, Secret
from livedeck.monitor import ROOM_LIST, AttachmentState, CachedList, History
from livedeck.operations.executor import WATCH_DELAYS
from livedeck.ui.kit.dialogs.confirm import Confirm
from livedeck.ui.kit.dialogs.form import Form
from livedeck.ui.kit.dialogs.inputs import RowsInput
from livedeck.ui.shell.keymap import action_text
from ui.deck_stage import Stage, deck_stage
from ui.meeting import (
    COUNCIL,
    EMPTY,
    ROOMS,
    agree,
    broadcast,
    meeting,
    new_profile,
    relay,
    rename,
    room,
    rooms,
    screen,
    stored,
    words,
)
from ui.stage import REGISTRY, known, show
from ui.test_bursts import post


async def test_rooms_are_asked_for_only_while_somebody_looks() -> None:
    async with deck_stage() as stage:
        assert rooms(stage).as_of is None
        await stage.act("screen.rooms")
        await stage.until(lambda: rooms(stage).as_of is not None)
        assert ("GET", ROOMS) in stage.requests
        await stage.act("screen.events")
        stage.requests.clear()
        await stage.act("app.ask")
        await stage.until(lambda: ("GET", "/v2/live/events") in stage.requests)
        assert ("GET", ROOMS) not in stage.requests


async def test_a_room_shows_its_profiles_in_the_order_of_their_making_and_no_key() -> None:
    async with meeting() as stage:
        shown, held = words(stage), (await stored(stage)).restreams
        assert held is not None
        places = [shown.index(f"{profile.url} {profile.stream_key} 09 Nov 14:44 never ?") for profile in held]
        assert places == sorted(places)
        assert not [profile for profile in held if profile.stream_key and profile.stream_key.reveal() in shown]
        assert "participants start and stop relays inside the room" in shown


async def test_a_double_profile_has_its_mark_in_the_table_of_profiles_too() -> None:
    async with meeting() as stage:
        listed = rooms(stage)
        first, *others = room(stage).restreams or ()
        copy = first.model_copy(update={"id": "copy", "name": "Copy", "created_at": EVENING})
        twice = room(stage).model_copy(update={"restreams": (first, *others, copy)})
        items = tuple(twice if item.id == twice.id else item for item in listed.items)
        await show(stage.deck, stage.pilot, lists={ROOM_LIST: replace(listed, items=items)})
        region = stage.deck.screen.query_one("#relays").region
        rows = [row[region.x : region.right] for row in stage.rows()[region.y : region.bottom] if " Copy " in row]
        assert rows
        assert all("▲" in row for row in rows), rows


async def test_enter_goes_to_the_profiles_and_on_to_the_form_and_escape_back() -> None:
    async with meeting() as stage:
        first = relay(stage)
        await stage.act("room.open")
        await stage.act("row.down")
        assert relay(stage) != first
        assert room(stage).name == COUNCIL
        await stage.act("room.open")
        await stage.idle()
        assert f"Edit {relay(stage).name}" in words(stage)
        await stage.press("escape", "escape")
        await stage.act("row.down")
        assert room(stage).name != COUNCIL
        await stage.act("room.pane")
        assert screen(stage).pane == "relays"


async def test_a_double_enter_leads_to_the_profiles_and_into_no_form() -> None:
    async with meeting() as stage:
        post(stage.deck, "enter", "enter", "enter")
        await stage.idle()
        assert screen(stage).pane == "relays"
        assert not stage.shows(Form)
        await stage.press("enter")
        await stage.idle()
        assert stage.shows(Form), "a person who has seen the profiles may"


async def test_a_room_is_made_with_its_profiles_in_one_request() -> None:
    async with meeting() as stage:
        await stage.act("room.create")
        await stage.enter("Board")
        await stage.press("tab")
        await stage.enter(stage.simulator.user_id)
        await new_profile(stage, "One", "rtmp://a.rtmp.youtube.com/live2", "key-of-the-first-1")
        await new_profile(stage, "Two", "rtmps://own.example/app/", "key-of-the-second-2")
        assert "key-of-the" not in words(stage)
        await stage.press("ctrl+s")
        await stage.idle()
        made = (await stage.api.rooms.list(q="Board")).items[0]
        assert [(profile.name, profile.url, profile.service) for profile in made.restreams or ()] == [
            ("One", "rtmp://a.rtmp.youtube.com/live2", "video_share"),
            ("Two", "rtmps://own.example/app", "custom"),
        ]
        assert made.type == "permanent_meeting"
        assert stage.writes == [("POST", ROOMS)]
        await stage.until(lambda: rooms(stage).find(made.id) is not None)
        await stage.act("room.create")
        assert f"Demo operator …{stage.simulator.user_id[-4:]}" in words(stage), "the owner need not be chosen twice"


async def test_the_platform_of_an_address_is_said_as_one_types() -> None:
    async with meeting() as stage:
        await stage.act("relay.edit")
        await stage.press("tab", "ctrl+u")
        for typed, text in (("rtmp://live.", "platform custom"), ("twitch.tv/app", "platform game_stream")):
            await stage.enter(typed)
            assert text in words(stage)
        await stage.press("ctrl+u")
        await stage.enter("rtmp://live.videoshare.example/app")
        assert "platform video_share" in words(stage), "the platform's own table, not the package's, says so"
        await stage.press("ctrl+u")
        await stage.enter("http://live.twitch.tv")
        assert "✖ should be an rtmp:// or rtmps:// address" in words(stage)


async def test_a_room_takes_fifteen_profiles_and_the_form_no_more() -> None:
    async with meeting() as stage:
        await stage.act("room.create")
        rows = stage.deck.screen.query_one(RowsInput)
        for at in range(15):
            rows.put(at, {"name": f"p{at}", "url": "rtmp://a.example", "stream_key": "k"})
        rows.focus()
        await stage.press(*["down"] * 15)
        assert "▌ 15 of 15: full" in words(stage)
        await stage.press("enter")
        assert stage.deck.screen.query_one(RowsInput) is rows


REFUSED = [
    (
        (400, {"code": 400289, "message": "a room has at most 3 relay profiles"}),
        "✖ a room has at most 3 relay profiles",
    ),
    ((403, {"code": 403403, "message": "not allowed"}), "the platform does not allow this (not allowed; code 403403)"),
    (
        (
            400,
            {
                "code": 400400,
                "message": "invalid",
                "invalid_params": [
                    {"name": "restreams[1].url", "reason": "must be reachable"},
                    {"name": "restreams[1].name", "reason": "is taken"},
                ],
            },
        ),
        "✖ Two url must be reachable, name is taken",
    ),
]


async def test_what_the_platform_does_not_take_of_a_room_is_said_at_its_place_and_all_stays() -> None:
    async with meeting() as stage:
        await stage.act("room.create")
        await stage.enter("Board")
        await stage.press("tab")
        await stage.enter(stage.simulator.user_id)
        for name in ("One", "Two"):
            await new_profile(stage, name, "rtmp://a.example/live", f"key-of-{name}-123")
        for refusal, text in REFUSED:
            stage.refusals.append(refusal)
            assert text not in words(stage)
            await stage.press("ctrl+s")
            await stage.idle()
            assert text in words(stage)
            assert stage.shows(Form)
            assert len((await stage.api.rooms.list()).items) == 4
            stage.deck.screen.query_one(RowsInput).focus()
            await stage.press("down", "enter")
            assert ("✖ must be reachable" in words(stage)) == (refusal[1]["code"] == 400400)
            assert "Two" in words(stage)
            if text is not REFUSED[-1][1]:
                await stage.press("escape")
        await stage.enter("/b")
        await stage.press("ctrl+s")
        assert REFUSED[-1][1] not in words(stage), "a row that was gone over is not accused any more"
        await stage.press("ctrl+s")
        await stage.idle()
        made = (await stage.api.rooms.list(q="Board")).items[0]
        assert [profile.name for profile in made.restreams or ()][:1] == ["One"]
        assert len(made.restreams or ()) == 2


async def test_the_services_own_faults_of_a_room_are_said_at_their_fields() -> None:
    async with meeting() as stage:
        await stage.act("room.create")
        await stage.enter("x" * 256)
        await stage.press("tab")
        await stage.enter("nobody")
        await stage.press("ctrl+s")
        await stage.idle()
        assert "✖ must be text of 1 to 255 characters" in words(stage)
        assert "✖ must be a UUID" in words(stage)
        assert "xxxx" in words(stage)


async def test_an_edit_shows_what_it_changes_and_sends_only_that() -> None:
    async with meeting() as stage:
        before = relay(stage)
        await stage.act("relay.edit")
        await stage.press("tab", "ctrl+u")
        await stage.enter("rtmp://live.twitch.tv/app")
        await stage.press("ctrl+s")
        shown = words(stage)
        assert f"Address: {before.url} → rtmp://live.twitch.tv/app" in shown
        assert "Platform (from the address): video_share → game_stream" in shown
        assert "applies at the next start of the relay" in shown
        assert not stage.writes
        await agree(stage)
        after = (await stored(stage)).restreams
        assert after is not None
        assert after[0].model_dump(exclude={"url", "service", "updated_at"}) == before.model_dump(
            exclude={"url", "service", "updated_at"}
        )
        assert (after[0].url, after[0].service) == ("rtmp://live.twitch.tv/app", "game_stream")
        assert stage.writes == [("PATCH", f"{ROOMS}/{room(stage).id}/restreams/{before.id}")]


async def test_a_new_key_is_sent_and_never_shown() -> None:
    async with meeting() as stage:
        await stage.act("relay.edit")
        await stage.press("tab", "tab")
        await stage.enter("the-new-key-77f1")
        await stage.press("ctrl+s")
        assert "Stream key: ••••" in words(stage)
        assert "the-new-key" not in words(stage)
        await agree(stage)
        (changed, *_) = (await stored(stage)).restreams or ()
        assert changed.stream_key is not None
        assert changed.stream_key.reveal() == "the-new-key-77f1"


async def test_what_somebody_else_changed_meanwhile_is_said_before_it_is_overwritten() -> None:
    async with meeting() as stage:
        await stage.act("relay.edit")
        await stage.enter(" two")
        await stage.press("ctrl+s")
        await stage.api.relays.update(
            room(stage).id, relay(stage).id, RelayDraft(name="Theirs", stream_key=Secret("other"))
        )
        await agree(stage)
        shown = words(stage)
        assert '▲ Since you looked: its name was "Council channel" and is "Theirs" now' in shown
        assert "its stream key has changed" in shown
        assert not stage.writes


LOST = [
    (
        (400, {"code": 400400, "message": "no", "invalid_params": [{"name": "name", "reason": "is taken"}]}),
        "✖ is taken",
    ),
    ((429, {"code": 429429, "message": "slow down"}), "too many requests (slow down; code 429429)"),
]


@pytest.mark.parametrize(("refusal", "text"), LOST, ids=["400400", "429429"])
async def test_a_refused_edit_is_said_and_what_was_typed_stays(
    refusal: tuple[int, dict[str, object]], text: str
) -> None:
    async with meeting() as stage:
        stage.refusals.append(refusal)
        await rename(stage, "Renamed")
        assert stage.shows(Form)
        assert text in words(stage)
        assert "Renamed" in words(stage)


async def test_an_edit_that_is_answered_not_found_is_unknown_while_the_profile_is_there() -> None:
    async with meeting() as stage:
        stage.clock.held_from = min(WATCH_DELAYS)
        stage.refusals.append((404, {"code": 404404, "message": "not found"}))
        await rename(stage, "Renamed")
        await stage.until(lambda: "unknown whether the relay profile was changed" in stage.last_notice())
        assert "responded that it does not exist (code 404404)" in stage.last_notice()
        assert "the change is not visible yet" in stage.last_notice()


async def test_a_profile_whose_room_is_gone_is_not_sent_to() -> None:
    async with meeting() as stage:
        await stage.act("relay.edit")
        await stage.enter(" two")
        await stage.api.rooms.delete(room(stage).id)
        await stage.press("ctrl+s")
        await agree(stage)
        assert "the platform says that the object does not exist. Your input is kept." in words(stage)
        assert "Council channel two" in words(stage)
        assert not stage.writes


async def locked(stage: Stage) -> None:
    """Edit a profile that broadcasts, which the platform refuses."""
    await broadcast(stage, running=True)
    await rename(stage, "Renamed")
    assert "is broadcasting" in words(stage)


async def test_a_profile_that_broadcasts_is_locked_and_the_edit_goes_back_to_its_form() -> None:
    async with meeting() as stage:
        await locked(stage)
        assert "409298" in words(stage)
        await stage.press("enter")
        await stage.idle()
        assert stage.shows(Form)
        assert "Renamed" in words(stage)
        assert "Renamed" not in [profile.name for profile in (await stored(stage)).restreams or ()]


async def test_a_kept_edit_is_offered_when_the_relay_has_ended_and_sent_only_then() -> None:
    async with meeting() as stage:
        await locked(stage)
        await agree(stage)
        await stage.until(lambda: room(stage).status == "active")
        assert "▲ at 21:14:07" in words(stage)
        assert "the edit of Council channel has waited since 21:14:07Z; g applies it" in words(stage)
        sent = list(stage.writes)
        await broadcast(stage, running=False)
        await stage.act("app.ask")
        await stage.until(lambda: stage.shows(Confirm))
        shown = words(stage)
        assert "This edit has been waiting since 21:14:07Z. Its room is no longer active." in shown
        assert "Name: Council channel → Renamed" in shown
        assert stage.writes == sent
        await agree(stage)
        assert next(profile.name for profile in (await stored(stage)).restreams or ()) == "Renamed"
        assert len(stage.writes) == len(sent) + 1
        assert not screen(stage).edits.waiting


async def test_away_from_the_rooms_the_end_of_a_relay_is_told_and_asked_about_on_return() -> None:
    async with meeting() as stage:
        await locked(stage)
        await agree(stage)
        await stage.until(lambda: room(stage).status == "active")
        where, which = room(stage).id, relay(stage).id
        await stage.act("screen.events")
        await broadcast(stage, running=False, where=(where, which))
        await stage.act("app.ask")
        await stage.until(lambda: "can be applied" in words(stage))
        assert not stage.shows(Confirm)
        await stage.act("screen.rooms")
        await stage.until(lambda: stage.shows(Confirm))
        await stage.press("enter")
        await stage.idle()
        assert screen(stage).edits.waiting, "declined is not dropped"


async def test_the_end_of_a_relay_is_asked_about_when_the_form_that_is_open_is_left() -> None:
    async with meeting() as stage:
        await locked(stage)
        await agree(stage)
        await stage.until(lambda: room(stage).status == "active")
        where = room(stage).id, relay(stage).id
        await stage.act("room.create")
        assert stage.shows(Form)
        await broadcast(stage, running=False, where=where)
        stage.deck.dispatch("app.ask")
        await stage.until(lambda: "can be applied" in stage.last_notice())
        await stage.settle()
        assert stage.shows(Form)
        await stage.press("escape")
        await stage.until(lambda: stage.shows(Confirm))
        assert "This edit has been waiting since" in words(stage)


async def test_a_kept_edit_that_is_tried_too_early_waits_on() -> None:
    async with meeting() as stage:
        await locked(stage)
        await agree(stage)
        await stage.act("relay.apply")
        await agree(stage)
        assert "is broadcasting" in words(stage)
        await agree(stage)
        assert list(screen(stage).edits.waiting) == [relay(stage).id]
        await stage.act("relay.edit")
        assert "Renamed" in words(stage), "the form opens with the edit that waits"


async def test_an_edit_waits_while_a_list_lacks_its_room_until_the_platform_says_that_it_is_gone() -> None:
    async with meeting() as stage:
        await locked(stage)
        await agree(stage)
        await stage.api.rooms.delete(room(stage).id)
        await stage.act("app.ask")
        await stage.until(lambda: "the newest list lacks the room of" in stage.last_notice())
        assert screen(stage).edits.waiting, "an absence proves nothing"
        await stage.act("relay.apply")
        await agree(stage)
        await stage.until(lambda: not screen(stage).edits.waiting)
        assert "not sent: the platform says that the object does not exist" in words(stage)


async def test_without_an_edit_that_waits_there_is_nothing_to_apply() -> None:
    async with meeting() as stage:
        await stage.act("relay.apply")
        assert "no edit waits" in words(stage)


async def test_a_room_is_deleted_after_its_consequences_were_named() -> None:
    async with meeting() as stage:
        gone = room(stage)
        await stage.act("room.delete")
        shown = words(stage)
        for part in ("Everybody inside is removed", "every running relay stops", "Council channel, "):
            assert part in shown
        await stage.press("enter")
        assert not stage.writes
        await stage.act("room.delete")
        await agree(stage)
        with pytest.raises(NotFound):
            await stage.api.rooms.get(gone.id)
        assert stage.writes == [("DELETE", f"{ROOMS}/{gone.id}")]
        await stage.until(lambda: rooms(stage).find(gone.id) is None)


async def test_a_room_with_people_in_it_is_deleted_only_by_its_name() -> None:
    async with meeting() as stage:
        await broadcast(stage, running=True)
        await stage.act("app.ask")
        await stage.until(lambda: room(stage).status == "active")
        await stage.act("room.delete")
        assert f"Type the whole name to delete: {room(stage).name}" in words(stage)
        await stage.press("tab", "tab", "enter")
        assert not stage.writes
        await stage.press("escape")


async def test_a_room_that_became_active_meanwhile_asks_for_its_name() -> None:
    async with meeting() as stage:
        await stage.act("room.delete")
        await broadcast(stage, running=True)
        await agree(stage)
        assert "it was pending and is active now" in words(stage)
        assert f"Type the whole name to delete: {room(stage).name}" in words(stage)
        assert not stage.writes


async def test_a_key_is_shown_for_ten_seconds_and_that_is_recorded() -> None:
    history = await History.open(None, EVENING)
    async with meeting(history=history) as stage:
        key = relay(stage).stream_key
        assert key is not None
        await stage.act("relay.reveal")
        await stage.until(lambda: key.reveal() in words(stage))
        await history.flush()
        records = await history.audit(EVENING - timedelta(hours=1))
        (record,) = [record for record in records if record.action == "relay.reveal"]
        assert (record.target_id, record.target_name) == (relay(stage).id, relay(stage).name)
        assert key.reveal() not in repr(record)
        stage.clock.tick += 9.5
        stage.deck.snapshot_signal.publish(None)
        await stage.settle()
        assert key.reveal() in words(stage)
        stage.clock.tick += 0.6
        stage.deck.snapshot_signal.publish(None)
        await stage.settle()
        assert key.reveal() not in words(stage)
    await history.close()


async def test_where_nothing_is_recorded_no_key_is_shown() -> None:
    """trust.md, "Secrets": revealing one is audited."""
    async with meeting() as stage:
        key = relay(stage).stream_key
        assert key is not None
        await stage.act("relay.reveal")
        await stage.idle()
        assert key.reveal() not in words(stage)
        assert "key not shown, because that cannot be recorded: this deck has no history" in words(stage)


async def test_no_key_is_shown_if_the_history_cannot_be_written(tmp_path: Path) -> None:
    """trust.md, "Secrets"."""
    (tmp_path / "file").touch()
    history = await History.open(tmp_path / "file" / "deck.sqlite", EVENING)
    async with meeting(history=history) as stage:
        key = relay(stage).stream_key
        assert key is not None
        await stage.act("relay.reveal")
        await stage.until(lambda: "key not shown, because that cannot be recorded: " in words(stage))
        assert history.fault
        assert key.reveal() not in words(stage)
    await history.close()


async def test_a_key_that_a_collector_withholds_is_not_said_to_be_missing_at_the_platform() -> None:
    async with meeting() as stage:
        stage.deck.workers.cancel_all()
        bare = [
            room.model_copy(
                update={"restreams": [p.model_copy(update={"stream_key": None}) for p in room.restreams or ()]}
            )
            for room in rooms(stage).items
        ]
        shown = replace(known(stage.deck), lists={ROOM_LIST: replace(rooms(stage), items=tuple(bare))})
        for state, reason in {
            AttachmentState.WATCHING: "a collector sends no stream keys",
            AttachmentState.ALONE: "the platform did not send it",
        }.items():
            stage.deck.snapshot = replace(shown, attachment=attached(state, 60))
            await show(stage.deck, stage.pilot)
            await stage.act("relay.reveal")
            assert f"stream key of {relay(stage).name} not shown: {reason}" in words(stage)


@pytest.mark.parametrize("leaves", ["row.down", "screen.events"])
async def test_a_shown_key_goes_with_what_it_belongs_to(leaves: str) -> None:
    history = await History.open(None, EVENING)
    async with meeting(history=history) as stage:
        key = relay(stage).stream_key
        assert key is not None
        await stage.act("relay.reveal")
        await stage.until(lambda: key.reveal() in words(stage))
        await stage.act(leaves)
        assert key.reveal() not in words(stage)
        await stage.act("screen.rooms")
        await stage.press("up")
        assert key.reveal() not in words(stage)
    await history.close()


async def test_read_only_nothing_is_sent_and_every_change_says_why() -> None:
    history = await History.open(None, EVENING)
    async with meeting(read_only=True, history=history) as stage:
        for action in ("room.create", "room.delete", "relay.edit", "relay.apply"):
            await stage.act(action)
            name = action_text(REGISTRY.by_name[action], REGISTRY)
            assert f"RO: this deck is read-only, and {name} would change the platform" in words(stage)
        await stage.act("relay.reveal")
        await stage.until(lambda: "hidden again in" in words(stage))
        assert not stage.writes
    await history.close()


async def test_stale_rooms_block_a_change() -> None:
    async with meeting() as stage:
        state = replace(rooms(stage), as_of=EVENING - timedelta(seconds=61))
        stage.deck.snapshot = replace(known(stage.deck), lists={ROOM_LIST: state})
        await stage.act("room.delete")
        await stage.idle()
        assert "the list of rooms is STALE, 01:01 old" in words(stage)
        assert not stage.shows(Confirm)


async def test_where_nothing_is_selected_that_is_said() -> None:
    async with meeting(EMPTY) as stage:
        for action in ("relay.edit", "relay.reveal"):
            await stage.act(action)
            assert "no relay profile is selected" in words(stage)
        stage.deck.snapshot = replace(known(stage.deck), lists={ROOM_LIST: CachedList(as_of=EVENING)})
        stage.deck.snapshot_signal.publish(None)
        await stage.act("room.delete")
        assert "left the list; choose a room" in words(stage)


async def test_a_filter_on_either_table_says_what_it_hides() -> None:
    async with meeting() as stage:
        stage.deck.dispatch("view.filter", "council")
        stage.deck.dispatch("room.pane")
        stage.deck.dispatch("view.filter", "nothing-like-it")
        await stage.settle()
        assert "/ council 1 of 4 match" in words(stage)
        assert "/ nothing-like-it 0 of 3 match" in words(stage)
        await stage.act("view.clear")
        assert "nothing-like-it" not in words(stage)
        assert screen(stage).pane == "relays"
        await stage.act("view.clear")
        assert screen(stage).pane == "rooms"


async def test_what_is_done_to_a_held_picture_says_as_of_when_that_was_seen() -> None:
    async with meeting() as stage:
        await stage.act("view.freeze")
        later = replace(rooms(stage), as_of=EVENING + timedelta(seconds=10))
        stage.deck.snapshot = replace(known(stage.deck), lists={ROOM_LIST: later})
        await stage.act("room.delete")
        await stage.idle()
        assert f"as of {EVENING:%H:%M:%S}Z" in words(stage)


async def test_the_form_of_a_profile_opens_though_the_next_key_led_elsewhere() -> None:
    async with meeting() as stage:
        profile = relay(stage)
        stage.deck.dispatch("relay.edit")
        stage.deck.dispatch("screen.events")
        await stage.idle()
        assert f"Edit {profile.name}" in words(stage)


async def test_enter_on_a_room_without_profiles_says_so_and_stays_with_the_rooms() -> None:
    async with meeting(EMPTY) as stage:
        await stage.press("enter")
        assert screen(stage).pane == "rooms"
        assert "without relay profiles" in stage.last_notice()
