"""Every action on events and streams, by its keys, and its effect by the API (interface.md, "Confirmation")."""

from __future__ import annotations

from datetime import timedelta, timezone
from typing import Any

import pytest

from livedeck.cli.screenshots import EVENING
from livedeck.client import EventDraft, NotFound, Stream
from livedeck.monitor import BroadcastState
from livedeck.ui.kit.dialogs.confirm import Confirm
from livedeck.ui.kit.dialogs.form import Form
from livedeck.ui.kit.dialogs.inputs import RowsInput
from ui.deck_stage import Stage, deck_stage
from ui.stage import known, text_of

AIR = "Choir, hall B"
QUIET = "Evening news"
DRAFT = "Untitled event"


async def agree(stage: Stage) -> None:
    """Press the confirming button of the dialog."""
    await stage.press("tab", "enter")
    await stage.idle()


async def test_an_event_is_made_of_what_was_typed_and_the_rest_is_the_platforms() -> None:
    async with deck_stage() as stage:
        await stage.act("event.create")
        await stage.enter("Harvest festival")
        await stage.press("tab", "space", "tab", "tab")
        await stage.enter("in 20 min")
        await stage.press("ctrl+s")
        await stage.idle()
        made = (await stage.api.events.list()).items[0]
        assert (made.name, made.type) == ("Harvest festival", "recurring")
        assert made.scheduled is not None
        assert made.scheduled.time == EVENING + timedelta(minutes=20)
        assert made.reconnect_window == 600
        assert stage.writes == [("POST", "/v2/live/events")]
        assert "event created: Harvest festival" in stage.text()


async def test_an_edit_shows_what_it_changes_and_sends_only_that() -> None:
    async with deck_stage() as stage:
        before = stage.choose(AIR)
        await stage.act("event.edit")
        await stage.press("end", *["backspace"] * 6)
        await stage.enter("hall C")
        await stage.press("ctrl+s")
        assert stage.shows(Confirm)
        assert "Name: Choir, hall B → Choir, hall C" in stage.text()
        assert not stage.writes
        await agree(stage)
        after = await stage.event(before)
        assert after.name == "Choir, hall C"
        assert after.model_dump(exclude={"name", "updated_at"}) == before.model_dump(exclude={"name", "updated_at"})


async def test_the_longest_form_leaves_the_link_and_the_alarms_in_sight() -> None:
    """At 80x24 it would fill the screen, and whoever types for minutes must see that something broke.

    Not in sixteen colours: there nothing shines through.
    """
    async with deck_stage((80, 24)) as stage:
        stage.choose(AIR)
        stage.deck.theme = "dark"
        await stage.act("event.edit")
        assert stage.shows(Form)
        assert "link ok" in text_of(stage.deck)
        assert "✖ 4" in text_of(stage.deck)


async def test_restreams_are_added_changed_and_removed_and_no_key_is_shown() -> None:
    async with deck_stage() as stage:
        before = stage.choose(AIR)
        assert before.restreams is not None
        await stage.act("event.edit")
        stage.deck.screen.query_one(RowsInput).focus()
        await stage.press("enter")
        assert "Edit restream" in stage.text()
        await stage.press("tab", "tab")
        await stage.enter("new-key-of-the-first")
        await stage.press("ctrl+s", "down", "delete", "down", "down", "enter")
        assert "New restream" in stage.text()
        await stage.enter("Own")
        await stage.press("tab")
        await stage.enter("rtmp://own.example/live")
        await stage.press("tab")
        await stage.enter("key-of-own-123")
        assert "key-of-own" not in stage.text()
        await stage.press("ctrl+s", "ctrl+s")
        shown = stage.text()
        assert "Video share: Stream key" in shown
        assert "restream removed: Game stream" in shown
        assert "new restream: Own rtmp://own.example/live ••••-123" in shown
        assert "new-key-of-the" not in shown
        await agree(stage)
        after = (await stage.event(before)).restreams
        assert after is not None
        kept = {restream.name: restream.key.reveal() for restream in before.restreams if restream.key}
        assert {restream.name: restream.key.reveal() for restream in after if restream.key} == {
            "Video share": "new-key-of-the-first",
            "Social network": kept["Social network"],
            "National video host": kept["National video host"],
            "Own": "key-of-own-123",
        }


async def test_enable_complete_and_delete_act_on_a_quiet_event_after_one_question() -> None:
    async with deck_stage() as stage:
        draft = stage.choose(DRAFT)
        await stage.act("event.enable")
        await agree(stage)
        assert (await stage.event(draft)).updated_at is not None
        await stage.act("event.complete")
        await agree(stage)
        await stage.act("event.delete")
        await agree(stage)
        with pytest.raises(NotFound):
            await stage.event(draft)
        path = f"/v2/live/events/{draft.id}"
        assert stage.writes == [("PUT", f"{path}/enable"), ("PUT", f"{path}/complete"), ("DELETE", path)]


async def test_an_event_moves_to_the_folder_that_was_typed() -> None:
    async with deck_stage() as stage:
        news, concert = stage.choose("Concert, open air"), stage.choose(QUIET)
        assert news.parent_id
        await stage.act("event.move")
        await stage.press("ctrl+u")
        await stage.enter(news.parent_id)
        await stage.press("ctrl+s")
        await agree(stage)
        assert (await stage.event(concert)).parent_id == news.parent_id


async def test_a_stream_is_scheduled_and_moved() -> None:
    async with deck_stage() as stage:
        draft = stage.choose(DRAFT)
        await stage.act("event.schedule")
        await stage.enter("21:30Z")
        await stage.press("ctrl+s")
        await stage.idle()
        assert (await _stream(stage, draft)).started_at == EVENING.replace(minute=30, second=0)
        await stage.settle()
        await stage.act("event.reschedule")
        await stage.press("ctrl+u")
        await stage.enter("+1h")
        await stage.press("ctrl+s")
        await stage.idle()
        assert (await _stream(stage, draft)).started_at == EVENING + timedelta(hours=1)


@pytest.mark.parametrize(
    ("hours", "typed", "text"),
    [
        (-5, "0001-01-01 00:00Z", "01 Jan 1 00:00Z 00:00 UTC T+"),
        (9, "9999-12-31 23:59Z", "31 Dec 9999 23:59Z 23:59 UTC T-"),
        (9, "0001-01-01 00:00", "✖ is too far away"),
        (-5, "9999-12-31 23:59", "✖ is too far away"),
    ],
)
async def test_a_moment_at_an_end_of_the_calendar_is_said_in_utc_or_refused_at_its_field(
    hours: int, typed: str, text: str
) -> None:
    async with deck_stage() as stage:
        stage.choose(DRAFT)
        stage.deck.identity["zone"] = timezone(timedelta(hours=hours))
        await stage.act("event.schedule")
        await stage.enter(typed)
        assert text in stage.text()


async def _stream(stage: Stage, event: Any) -> Stream:
    stream = (await stage.event(event)).stream
    assert stream is not None
    return stream


async def test_an_event_gets_the_picture_at_an_address() -> None:
    async with deck_stage() as stage:
        before = stage.choose(DRAFT)
        await stage.act("event.poster")
        await stage.enter("ftp")
        assert "✖ should begin with https://" in stage.text()
        await stage.press("ctrl+u")
        await stage.enter("https://pictures.example/choir.png")
        await stage.press("ctrl+s")
        await stage.idle()
        after = await stage.event(before)
        assert after.poster is not None
        assert before.poster is not None
        assert after.poster.id != before.poster.id


async def test_what_the_platform_refuses_is_shown_at_its_field_with_all_that_was_typed() -> None:
    async with deck_stage() as stage:
        before = stage.choose(DRAFT)
        await stage.act("event.edit")
        await stage.enter(" two")
        await stage.press("tab")
        await stage.enter("no-folder")
        await stage.press("ctrl+s")
        await agree(stage)
        assert stage.shows(Form)
        shown = stage.text()
        assert "Untitled event two" in shown
        assert "✖ must be a UUID, or null" in shown
        assert (await stage.event(before)).name == DRAFT
        await stage.press("ctrl+u", "ctrl+s")
        await agree(stage)
        assert (await stage.event(before)).name == "Untitled event two"


async def test_escape_asks_only_where_something_was_typed() -> None:
    async with deck_stage() as stage:
        stage.choose(DRAFT)
        await stage.act("event.edit")
        await stage.press("escape")
        assert not stage.shows(Form)
        await stage.act("event.edit")
        await stage.enter("x")
        await stage.press("escape")
        assert "Your input will be lost." in stage.text()
        await stage.press("enter")
        assert stage.shows(Form)
        await stage.press("escape", "tab", "enter")
        assert not stage.shows(Form)
        assert not stage.writes


@pytest.mark.parametrize("typed", ["nonsense", "25:99", "in 5 parsecs"])
async def test_a_moment_behind_a_command_that_is_none_is_said_in_its_form(typed: str) -> None:
    async with deck_stage() as stage:
        stage.choose(QUIET)
        stage.deck.dispatch("event.schedule", typed)
        await stage.idle()
        assert stage.shows(Form)
        assert "✖" in stage.text()
        await stage.press("ctrl+s")
        assert stage.shows(Form)
        assert not stage.writes


async def test_what_was_made_is_selected_once_it_is_in_the_list() -> None:
    """interface.md, "Selection": what is done next is done to it."""
    async with deck_stage() as stage:
        await _make(stage, "Harvest festival")
        made = (await stage.api.events.list()).items[0]
        await stage.until(stage.deck.has_chosen_event)
        selected = stage.deck.selected_event()
        assert selected is not None
        assert selected.id == made.id
        await stage.act("event.schedule")
        assert "Schedule a stream of Harvest festival" in stage.text()


async def test_who_selects_another_event_meanwhile_keeps_that_one() -> None:
    async with deck_stage() as stage:
        stage.deck.select_new_event("not listed yet")
        chosen = stage.choose(AIR)
        await _make_elsewhere(stage)
        selected = stage.deck.selected_event()
        assert selected is not None
        assert selected.id == chosen.id


async def _make(stage: Stage, name: str) -> None:
    await stage.act("event.create")
    await stage.enter(name)
    await stage.press("ctrl+s")
    await stage.idle()


async def _make_elsewhere(stage: Stage) -> None:
    seq = known(stage.deck).seq
    await stage.act("app.ask")
    await stage.until(lambda: known(stage.deck).seq > seq)


async def test_enter_in_the_last_field_leads_to_the_button_that_does_it() -> None:
    async with deck_stage() as stage:
        stage.choose(DRAFT)
        await stage.act("event.schedule")
        await stage.enter("in 20 min")
        await stage.press("enter")
        assert "[ Schedule" in stage.text()
        await stage.press("enter")
        await stage.idle()
        assert len(stage.writes) == 1


COMPLETED = "needs an event that is not completed"


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ("event.enable", f"E enable {COMPLETED}; create a new one: n"),
        ("event.schedule", f"s schedule {COMPLETED}; create a new one: n"),
        ("event.reschedule", f"S reschedule {COMPLETED}; create a new one: n"),
        ("event.complete", f"C complete {COMPLETED}"),
    ],
)
async def test_an_event_that_is_over_is_said_to_be_before_anything_is_asked(action: str, words: str) -> None:
    async with deck_stage() as stage:
        over = next(state for state in known(stage.deck).events if state.phase.tally is BroadcastState.COMPLETED)
        stage.deck.select_event(over.id)
        await stage.act(action)
        assert not stage.shows(Confirm)
        assert not stage.shows(Form)
        assert stage.last_notice() == words


async def test_a_recurring_event_that_is_over_takes_its_next_stream() -> None:
    async with deck_stage() as stage:
        event = await stage.api.events.create(EventDraft(name="Weekly", type="recurring"))
        assert event.id
        await stage.api.streams.schedule(event.id, EVENING)
        await stage.api.events.complete(event.id)
        await _make_elsewhere(stage)
        stage.deck.select_event(event.id)
        await stage.act("event.enable")
        assert stage.last_notice() == f"E enable {COMPLETED}; schedule its next stream: s"
        await stage.act("event.schedule")
        assert stage.shows(Form)
