"""Nothing that cuts an audience off happens by a slip (interface.md, "Behaviour")."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from livedeck.cli.screenshots import EVENING
from livedeck.client import EventDraft
from livedeck.ui.kit.dialogs.confirm import Confirm
from livedeck.ui.kit.dialogs.dialog import EARLY
from ui.stage import known, linked
from ui.writing import Stage, writing

AIR = "Choir, hall B"
QUIET = "Untitled event"
RISKY = ("event.complete", "event.delete")


async def letters(stage: Stage, text: str) -> None:
    """One key after the other, wherever the focus is."""
    await stage.press(*text)


async def to_the_button(stage: Stage) -> None:
    """The name is typed, and the focus stands on the word that does it."""
    await letters(stage, "choir")
    await stage.press("enter")


@pytest.mark.parametrize("action", RISKY)
async def test_on_air_no_key_does_it_before_the_short_name_is_typed(action: str) -> None:
    async with writing() as stage:
        event = stage.choose(AIR)
        await stage.act(action)
        assert "Type choir to" in stage.text()
        await stage.press("tab", "tab", "tab", "enter", "enter", "enter")
        await stage.act(action)
        await letters(stage, "choi")
        await stage.press("enter", "tab", "tab", "enter")
        assert "✖ type choir first" in stage.text()
        assert not stage.writes
        await stage.press("shift+tab", "shift+tab")
        await letters(stage, "r")
        await stage.press("enter")
        assert not stage.writes, "enter in the name never fires"
        await stage.press("enter")
        await stage.idle()
        assert [path for _, path in stage.writes if event.id in path]


async def test_moving_an_event_on_air_needs_its_name_too() -> None:
    async with writing() as stage:
        parent, event = stage.choose(QUIET).parent_id or stage.choose("Evening news").parent_id, stage.choose(AIR)
        assert parent
        await stage.act("event.move")
        await stage.press("ctrl+u")
        await stage.enter(parent)
        await stage.press("ctrl+s")
        assert "Type choir to move" in stage.text()
        await to_the_button(stage)
        await stage.press("enter")
        await stage.idle()
        assert (await stage.event(event)).parent_id == parent


async def test_keys_that_come_too_early_do_nothing() -> None:
    async with writing() as stage:
        stage.choose(QUIET)
        await stage.act("event.delete")
        await stage.pilot.press("tab", "enter")
        assert stage.shows(Confirm)
        stage.clock.tick += EARLY * 0.9
        await stage.pilot.press("tab", "enter", "escape")
        assert stage.shows(Confirm)
        assert not stage.writes
        await stage.press("escape")
        assert not stage.shows(Confirm)


async def test_an_enter_that_follows_another_at_once_is_its_echo() -> None:
    async with writing() as stage:
        stage.choose(AIR)
        await stage.act("event.complete")
        await to_the_button(stage)
        stage.clock.tick += EARLY * 0.9
        await stage.pilot.press("enter")
        assert stage.shows(Confirm)
        assert not stage.writes


async def test_cancel_has_the_focus() -> None:
    async with writing() as stage:
        stage.choose(QUIET)
        for action in ("event.enable", "event.complete", "event.delete"):
            await stage.act(action)
            assert "[ Cancel ]" in stage.text()
            await stage.press("enter")
            assert not stage.shows(Confirm)
        assert not stage.requests


async def test_stale_data_blocks_a_change_before_it_is_asked_and_while_it_is() -> None:
    async with writing() as stage:
        stage.choose(QUIET)
        await stage.act("event.delete")
        stale = linked(stage.deck, as_of=EVENING - timedelta(minutes=2))
        stage.deck.snapshot = replace(known(stage.deck), link=stale)
        await stage.press("tab", "enter")
        assert "✖ what you see is STALE, 02:00 old" in stage.text()
        await stage.press("escape")
        await stage.act("event.enable")
        await stage.idle()
        assert not stage.shows(Confirm)
        assert "nothing was sent: what you see is STALE" in stage.text()
        assert not stage.requests


async def test_what_changed_since_it_was_seen_is_said_and_asked_anew() -> None:
    async with writing() as stage:
        event = stage.choose(QUIET)
        await stage.act("event.enable")
        await stage.api.events.update(event.id, EventDraft(name="Another name"))
        await stage.press("tab", "enter")
        assert "▲ Since you looked: its name was" in stage.text()
        assert not stage.writes
        await stage.press("tab", "enter")
        await stage.idle()
        assert len(stage.writes) == 1


async def test_an_event_that_went_on_air_meanwhile_asks_for_its_name() -> None:
    async with writing() as stage:
        stage.choose(QUIET)
        await stage.act("event.complete")
        assert "Type" not in stage.text()
        air = next(state for state in known(stage.deck).events if state.event.name == AIR)
        events = tuple(
            replace(state, phase=air.phase) if state.event.name == QUIET else state
            for state in known(stage.deck).events
        )
        stage.deck.snapshot = replace(known(stage.deck), events=events)
        await stage.press("tab", "enter")
        assert "it was DRAFT and is ON AIR now" in stage.text()
        assert "Type untitled to complete" in stage.text()
        assert not stage.writes


async def test_an_event_that_is_gone_is_not_acted_on() -> None:
    async with writing() as stage:
        event = stage.choose(QUIET)
        await stage.act("event.enable")
        await stage.api.events.delete(event.id)
        await stage.press("tab", "enter")
        await stage.idle()
        assert "it is not there any more" in stage.text()
        assert not stage.writes
