"""Keys in one burst, as from a paste or a slow line: a screen replies once, and no burst ends the app."""

from __future__ import annotations

import asyncio
from itertools import chain
from random import Random
from typing import Any

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.geometry import Size
from textual.widget import Widget

from breadth import slow
from livedeck.ui.general.welcome import Choice
from livedeck.ui.kit.dialogs import modal
from livedeck.ui.kit.dialogs.confirm import Confirm
from livedeck.ui.kit.dialogs.form import Form
from livedeck.ui.kit.dialogs.inputs import TextInput
from livedeck.ui.kit.dialogs.modal import Drawn, HoldExpired, Modal, ModalApp
from livedeck.ui.kit.text_field import TextField
from livedeck.ui.kit.themes import textual_themes
from ui.deck_stage import Stage, deck_stage
from ui.mistreating import KEYS, random_click
from ui.stage import REGISTRY
from ui.test_welcome import asking

OPENERS = ("app.command", "app.palette", "app.help", "view.columns", "view.filter", "event.create", "event.delete")
"""Actions that open each kind of screen over the deck; each has a key."""

CLOSERS = ("enter", "enter", "enter", "escape", "escape", "tab", "down", "space", "ctrl+s", "question_mark", "a", "1")


def post(app: App[Any], *keys: str) -> None:
    """Send keys like one write of a terminal: all are queued before the first is handled."""
    for key in keys:
        app.post_message(events.Key(key, key if len(key) == 1 else "\r" if key == "enter" else None))


def keys_of(*parts: str) -> tuple[str, ...]:
    """Return the keys of these parts: an action stands for its first key."""
    return tuple(chain(*((REGISTRY.by_name[part].keys[0],) if part in REGISTRY.by_name else (part,) for part in parts)))


async def out(stage: Stage) -> None:
    """Close everything that is open, and confirm nothing except to lose typed text."""
    for _ in range(12):
        await stage.settle()
        if len(stage.deck.screen_stack) == 1:
            return
        await stage.press("escape")
        if "Your input will be lost." in stage.text():
            await stage.press("tab", "enter")
    raise AssertionError(f"no way out: {stage.text()}")


TWICE = (
    ("app.command", *"app.help", "enter", "enter"),
    ("app.palette", "enter", "enter", "enter"),
    ("app.palette", *"help", "enter", "enter", "enter"),
    ("app.help", "escape", "enter", "escape"),
    ("app.command", "escape", "escape", "enter"),
    ("view.filter", "a", "enter", "enter"),
)
"""Keys, one of which is for a screen that the key before has already closed."""


@pytest.mark.parametrize("pauses", [False, True], ids=["one write", "an opener first"])
async def test_a_screen_that_is_answered_twice_at_once_goes_once(pauses: bool) -> None:
    async with deck_stage() as stage:
        for burst in TWICE:
            keys = keys_of(*burst)
            if pauses:
                await stage.pilot.press(*keys[:1])
                await stage.pilot.press(*(key for key in keys[1:] if len(key) == 1))
                post(stage.deck, *(key for key in keys[1:] if len(key) > 1))
            else:
                post(stage.deck, *keys)
            await stage.settle()
            await out(stage)
            assert stage.deck.is_running, burst


@pytest.mark.parametrize("bursts", [25, *slow(400)])
async def test_no_burst_of_keys_ends_the_deck(bursts: int) -> None:
    random = Random(20)
    async with deck_stage() as stage:
        for _ in range(bursts):
            stage.clock.tick += random.choice((0.03, 0.08, 1.0))
            post(stage.deck, *keys_of(random.choice(OPENERS)))
            if random.random() < 0.7:
                await stage.settle()
            post(stage.deck, *(random.choice(CLOSERS) for _ in range(random.randrange(2, 7))))
            await stage.settle()
            assert stage.deck.is_running
            await out(stage)
        await stage.idle()
        assert not stage.writes, "nobody had the time to read a question"


def mixed(app: App[Any], random: Random) -> int:
    """Send a random event of a terminal: a paste, a mouse event, a new size, or mostly keys.

    Returns its number of keys.
    """
    kind = random.random()
    if kind < 0.03:
        app.post_message(events.Paste(random.choice(("pasted", "a\nb", "\x1b[31m\u202e", "y\ry"))))
    elif kind < 0.08:
        app.post_message(random_click(app, random))
    elif kind < 0.085:
        size = Size(random.choice((40, 80, 120)), random.choice((10, 24, 40)))
        app.post_message(events.Resize(size, size))
    else:
        post(app, random.choice((*CLOSERS, *keys_of(*OPENERS), *KEYS)))
        return 1
    return 0


@pytest.mark.parametrize("keys", [500, *slow(100_000)])
async def test_keys_pastes_mouse_and_sizes_in_bursts_leave_the_deck_alive(keys: int) -> None:
    """On a clock on which nobody has the time to read a question: nothing is sent."""
    random = Random(22)
    async with deck_stage() as stage:
        pressed = 0
        while pressed < keys:
            pressed += sum(mixed(stage.deck, random) for _ in range(random.randrange(1, 60)))
            await stage.settle()
            assert stage.deck.is_running
        assert not stage.writes
        await out(stage)


async def test_a_dialog_is_not_left_behind_on_another_screen() -> None:
    """What was typed ahead would lead elsewhere, and the question would wait where nobody sees it."""
    async with deck_stage() as stage:
        post(stage.deck, "n", "down", "enter")
        await stage.idle()
        assert stage.shows(Form)


async def test_a_screen_over_a_dialog_is_laid_there_once() -> None:
    async with deck_stage() as stage:
        await stage.act("event.create")
        await stage.enter("Something typed")
        stage.clock.tick += 1.0
        post(stage.deck, "escape", "escape")
        await stage.settle()
        assert [type(screen) for screen in stage.deck.screen_stack[1:]] == [Form, Confirm]
        await out(stage)


async def test_keys_still_reach_a_consent_after_a_burst() -> None:
    async with deck_stage() as stage:
        event = stage.choose("Untitled event")
        post(stage.deck, *keys_of("app.palette", "enter", "enter", "enter"))
        await stage.settle()
        await out(stage)
        stage.deck.select_event(event.id)
        await stage.act("event.delete")
        assert stage.shows(Confirm)
        post(stage.deck, "tab", "enter", "enter")
        await stage.settle()
        assert not stage.writes, "too early"
        await stage.press("tab", "enter")
        await stage.idle()
        assert [path for _, path in stage.writes if event.id in path]


def entries(stage: Stage) -> dict[str, str]:
    """Return name -> text for the text fields of the form in front."""
    return {field.field.name: field.text for field in stage.deck.screen.query(TextInput)}


async def test_text_behind_a_tab_lands_in_the_field_that_the_tab_went_to() -> None:
    async with deck_stage() as stage:
        await stage.act("event.create")
        post(stage.deck, *"Sunday", "tab", "tab", *"4d2c", "enter", *"x", "shift+tab", *"B")
        await stage.until(lambda: "4d2cB" in entries(stage).values())
        fields = entries(stage)
        assert (fields["name"], fields["parent_id"]) == ("Sunday", "4d2cB")
        assert "x" in fields.values()


async def test_what_is_typed_behind_the_key_of_a_form_stands_in_the_form() -> None:
    """And none of it does anything to the list, whose keys the same letters are."""
    async with deck_stage() as stage:
        post(stage.deck, *keys_of("event.create"), *"DECx qa", "tab", "tab", *"hall", "ctrl+s", "escape")
        await stage.until(lambda: "hall" in entries(stage).values())
        await stage.idle()
        assert stage.shows(Form), "what would decide came too early"
        assert (entries(stage)["name"], entries(stage)["parent_id"]) == ("DECx qa", "hall")
        assert not stage.writes


async def test_a_form_that_was_left_before_it_stood_takes_nothing_of_what_is_typed_then() -> None:
    async with deck_stage() as stage:
        post(stage.deck, *keys_of("event.create"), "escape", "z", "q")
        await stage.done()
        assert not stage.shows(Form)
        assert stage.deck.is_running
        await stage.act("event.create")
        assert (entries(stage)["name"], entries(stage)["parent_id"]) == ("", "")


async def test_an_enter_that_is_pressed_again_or_held_goes_nowhere_behind_the_dialog_that_it_answered() -> None:
    async with deck_stage() as stage:
        stage.choose("Untitled event")
        await stage.act("event.enable")
        await stage.press("right", "enter")
        for _ in range(4):
            stage.clock.tick += 0.3
            await stage.pilot.press("enter")
        await stage.idle()
        assert stage.deck.current_mode == "events"
        stage.clock.tick += 1.0
        await stage.pilot.press("enter")
        await stage.until(lambda: stage.deck.current_mode == "qos")


async def test_what_is_typed_behind_the_key_of_a_question_goes_nowhere() -> None:
    async with deck_stage() as stage:
        stage.choose("Choir, hall B")
        post(stage.deck, *keys_of("event.delete"), *"Choir", "tab", "enter", "enter")
        await stage.idle()
        assert stage.shows(Confirm)
        assert "Type the whole name to delete: Choir, hall B" in stage.text()
        assert not stage.deck.screen.query_one(TextField).text
        assert not stage.writes


async def test_a_command_of_one_write_is_taken_and_what_is_behind_it_goes_nowhere() -> None:
    async with deck_stage() as stage:
        post(stage.deck, *keys_of("app.command"), *"app.help", "enter", "enter", "escape", "q")
        await stage.until(lambda: "SCREENS" in stage.text())
        await stage.idle()
        assert stage.deck.is_running


@pytest.mark.parametrize("passes", [0, 1, 3])
async def test_keys_that_wait_for_an_answer_wait_for_nothing_else(passes: int) -> None:
    """A picture that comes between the answer and the screen that it opens is no reason to hand them on."""
    async with deck_stage() as stage:
        post(stage.deck, *keys_of("app.command"), *"app.help", "enter", "enter", "escape", "q")
        for _ in range(200):
            stage.deck.post_message(Drawn())
            for _ in range(passes):
                await asyncio.sleep(0)
        await stage.until(lambda: "SCREENS" in stage.text())


class Busy(Widget, can_focus=True):
    """Widget that records its keys, and is busy with the first one until `done`."""

    def __init__(self) -> None:
        super().__init__()
        self.keys: list[str] = []
        self.done = asyncio.Event()

    async def on_key(self, event: events.Key) -> None:
        self.keys.append(event.key)
        await self.done.wait()


class BusyApp(ModalApp[None]):
    """App with one busy widget."""

    def __init__(self) -> None:
        super().__init__()
        self.has_expired = asyncio.Event()

    def compose(self) -> ComposeResult:
        yield Busy()

    def on_hold_expired(self, message: HoldExpired) -> None:
        super().on_hold_expired(message)
        self.has_expired.set()


async def test_what_has_waited_too_long_goes_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modal, "MAX_HOLD", 0.01)
    app = BusyApp()
    async with app.run_test() as pilot:
        busy = app.query_one(Busy)
        busy.focus()
        await pilot.pause()
        post(app, "a", "b")
        await app.has_expired.wait()
        post(app, "c")
        busy.done.set()
        await pilot.pause()
        assert busy.keys == ["a", "c"]


async def test_a_screen_that_has_answered_takes_no_second_answer() -> None:
    answers: list[int | None] = []
    app = App[None]()
    for theme in textual_themes():  # their colours are those of a dialog
        app.register_theme(theme)
        app.theme = theme.name
    async with app.run_test() as pilot:
        first = Modal[int]()
        app.push_screen(first, answers.append)
        await pilot.pause()
        app.push_screen(Modal[int]())
        first.dismiss(0)
        assert first in app.screen_stack, "it is behind another"
        await pilot.pause()
        top = app.screen
        assert isinstance(top, Modal)
        top.dismiss(None)
        first.dismiss(1)
        first.dismiss(2)
        await pilot.pause()
        assert (answers, len(app.screen_stack)) == ([1], 1)


@pytest.mark.parametrize("bursts", [10, *slow(100)])
async def test_no_burst_of_keys_ends_the_first_start(bursts: int) -> None:
    random = Random(21)
    for _ in range(bursts):
        async with asking("refused", "refused", "refused") as (welcome, pilot, _tried, kept):
            await pilot.press("right")
            post(welcome, *(random.choice(("enter", "escape", "tab", "ctrl+s", "a")) for _ in range(8)))
            await pilot.pause()
            assert welcome.return_value in {None, Choice.DEMO}
            assert sum(isinstance(screen, Form) for screen in welcome.screen_stack) <= 1
            assert not kept
