"""One registry: an action that lacks key, help, command or test does not get in."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from textual.containers import VerticalScroll
from textual.widgets import Input

from livedeck.text.segments import Link, plain, width
from livedeck.ui.features import FEATURES
from livedeck.ui.general.help import HelpScreen, found_lines, page_lines
from livedeck.ui.general.palette import CommandScreen
from livedeck.ui.shell import commands
from livedeck.ui.shell.context import Action, ActionRegistry
from livedeck.ui.shell.frame import key_line
from livedeck.ui.shell.keymap import key_text, parse_key, read_keymap
from ui.stage import REGISTRY, act, letters_of, running, text_of

ACTIONS = REGISTRY.actions
NAMES = [action.name for action in ACTIONS]
SCREENS = sorted({screen for action in ACTIONS for screen in action.screens})


@pytest.mark.parametrize("action", ACTIONS, ids=NAMES)
def test_an_action_is_whole(action: Action) -> None:
    assert re.fullmatch(r"[a-z]+\.[a-z_]+", action.name)
    assert action.label
    assert action.help[0].isupper()
    assert not action.help.endswith(".")
    assert commands.parse(REGISTRY, f":{action.name}", "events") == (action, "")


@pytest.mark.parametrize("action", ACTIONS, ids=NAMES)
def test_the_palette_finds_an_action_by_its_name_and_by_its_help(action: Action) -> None:
    assert action in commands.search(REGISTRY, action.name, "events")
    assert action in commands.search(REGISTRY, action.help, "events")


def test_every_name_is_there_once_and_every_action_has_a_key_or_says_so() -> None:
    assert not [name for name, count in Counter(NAMES).items() if count > 1]
    assert [action.name for action in ACTIONS if not action.keys and not action.takes] == ["alarm.silent"]


def test_no_key_does_two_things_on_one_screen() -> None:
    shared = [
        (action.name, other.name)
        for action, other in combinations(ACTIONS, 2)
        if action.meets(other) and set(action.keys) & set(other.keys)
    ]
    assert not shared


def test_what_writes_has_no_key_that_a_slip_of_the_shift_key_reaches() -> None:
    """interface.md, "Footer": nothing destructive on ctrl-h/j/k/l/d or next to a harmless key."""
    for action in (action for action in ACTIONS if action.writes):
        slips = {key.swapcase() for key in action.keys if len(key) == 1}
        harmless = [
            other.name for other in ACTIONS if other.meets(action) and not other.writes and slips & set(other.keys)
        ]
        assert not harmless, action.name
        assert not set(action.keys) & {f"ctrl+{key}" for key in "hjkld"}


async def test_a_key_does_the_action_of_the_screen_in_front() -> None:
    """`enter` and `escape` belong to another action on each screen."""
    async with running() as (deck, pilot):
        for mode in REGISTRY.screens:
            deck.go_to(mode)
            await pilot.pause()
            for action in ACTIONS:
                assert deck.check_action("do", (action.name,)) is action.works_on(mode)


@pytest.mark.parametrize("cells", [37, 55, 69])
def test_every_action_is_found_in_the_help_with_its_whole_sentence(cells: int) -> None:
    lines = found_lines(REGISTRY, "events", ACTIONS, cells)
    words = " ".join(" ".join(plain(line) for line in lines).split())
    assert not [action.name for action in ACTIONS if action.help not in words]
    assert max(width(line) for line in lines) <= cells
    heads = ["On this screen", "On every screen", "On other screens"]
    assert [text for line in lines if (text := plain(line).strip()) in heads] == heads


@pytest.mark.parametrize("cells", [37, 75, 115, 195])
@pytest.mark.parametrize("screen", SCREENS)
def test_the_help_has_the_keys_of_the_screen_first_and_no_key_of_another(screen: str, cells: int) -> None:
    """In as many columns as fit; each key that works there is a link with its label."""
    lines = page_lines(REGISTRY, screen, cells, 37, is_probing=True)
    texts = [plain(line).strip() for line in lines]
    heads = ["On this screen", "On every screen", "Signs"]
    assert [text for text in texts if text in heads] == heads
    links = {role.command for line in lines for _, role in line if isinstance(role, Link)}
    keyed = [action for action in ACTIONS if action.keys and action.works_on(screen)]
    assert links == {action.name for action in keyed}
    assert not [action.name for action in keyed if not any(action.label in text for text in texts)]
    assert max(width(line) for line in lines) <= cells
    first = lines[: texts.index("On every screen")]
    named = {role.command for line in first for _, role in line if isinstance(role, Link)}
    assert named == {action.name for action in keyed if action.screens}


@pytest.mark.parametrize("screen", SCREENS)
def test_the_help_of_a_screen_is_one_page_of_two_or_three_words_a_key(screen: str) -> None:
    """At 120x40, within the frame and below the search."""
    assert len(page_lines(REGISTRY, screen, 115, 40 - 3)) <= 40 - 3
    assert not [action.name for action in ACTIONS if len(action.label.split()) > 3]


@pytest.mark.parametrize("screen", SCREENS)
def test_a_large_help_has_each_group_of_keys_under_one_head(screen: str) -> None:
    """At 200x60. On a smaller page a group may continue in the next column."""
    lines = page_lines(REGISTRY, screen, 195, 60 - 3)
    assert len(lines) <= 60 - 3
    page = "\n".join(plain(line) for line in lines)
    for section in page.partition("Signs")[0].split("On every screen"):
        assert all(section.count(f"{title.upper()}  ") <= 1 for title, _ in REGISTRY.groups())


async def test_what_is_typed_into_the_help_finds_keys() -> None:
    async with running((80, 24)) as (deck, pilot):
        await act(pilot, "app.help")
        await pilot.press(*"delete")
        await pilot.pause()
        text = text_of(deck)
        assert "Delete the event for good" in text
        assert "Make an event" not in text
        await pilot.press(*"xyz")
        await pilot.pause()
        assert "No key found" in text_of(deck)
        await pilot.press("escape")
        await pilot.pause()
        assert not deck.screen.is_modal


async def test_the_help_scrolls_to_its_end_in_a_small_terminal() -> None:
    async with running((80, 24)) as (deck, pilot):
        await act(pilot, "app.help")
        assert "On this screen" in text_of(deck)
        for _ in range(30):
            await pilot.press("pagedown")
        await pilot.press("up", "down")
        await pilot.pause()
        assert "On this screen" not in text_of(deck)
        scroll = deck.screen.query_one(VerticalScroll)
        assert scroll.scroll_offset.y == scroll.max_scroll_y > 0


def test_every_action_is_driven_by_a_test() -> None:
    """The tests of the screens press an action by its name (`stage.act`)."""
    tests = [*Path(__file__).parent.glob("test_*.py"), Path(__file__).parents[1] / "cli" / "test_terminal.py"]
    driven = "".join(path.read_text(encoding="utf-8") for path in tests)
    assert not [name for name in NAMES if f'"{name}"' not in driven]


@pytest.mark.parametrize("key", sorted({key for action in ACTIONS for key in action.keys}))
def test_a_key_is_read_as_it_is_written(key: str) -> None:
    assert parse_key(key_text(key)) == key


def test_an_action_can_have_other_keys() -> None:
    keymap, errors = read_keymap(
        REGISTRY, {"app.ask": ["f5"], "row.down": ["ctrl-n", "page down"], "row.page_down": ["space"]}
    )
    assert not errors
    assert keymap == {"app.ask": ("f5",), "row.down": ("ctrl+n", "pagedown"), "row.page_down": ("space",)}


@pytest.mark.parametrize(
    ("name", "keys", "reason"),
    [
        ("app.akc", ["x"], "did you mean 'app.ask'"),
        ("app.ask", ["q"], "q is also the key of app.quit"),
        ("qos.longer", ["q"], "q is also the key of app.quit"),
        ("app.ask", ["hyper-x"], "is not a key"),
        ("app.ask", [], "needs a key"),
        ("app.interrupt", ["x"], "the key ctrl-c of app.interrupt cannot be changed"),
    ],
)
def test_what_cannot_be_mapped_is_said_and_nothing_is_mapped(name: str, keys: list[str], reason: str) -> None:
    keymap, errors = read_keymap(REGISTRY, {name: keys, "app.help": ["f1"]})
    assert [error.name for error in errors] == [name]
    assert reason in errors[0].reason
    assert not keymap


def test_keys_that_change_places_are_no_conflict() -> None:
    keymap, errors = read_keymap(REGISTRY, {"app.ask": ["q"], "app.quit": ["r"]})
    assert not errors
    assert ActionRegistry(FEATURES, keymap).keys_of(REGISTRY.by_name["app.quit"]) == ("r",)


@pytest.mark.parametrize(
    ("text", "screen", "name"),
    [(":quit", "events", "app.quit"), ("row.up", "qos", "row.up"), ("longer", "events", "qos.longer")],
)
def test_a_command_is_its_name_or_its_verb(text: str, screen: str, name: str) -> None:
    assert commands.parse(REGISTRY, text, screen)[0].name == name


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (":qiut", "did you mean :quit?"),
        (":", "type a command"),
        (":events.nonsense", "there is no"),
        (":quit now", "no argument"),
    ],
)
def test_what_is_no_command_says_why(text: str, reason: str) -> None:
    with pytest.raises(commands.CommandError, match=re.escape(reason)):
        commands.parse(REGISTRY, text, "events")


@pytest.mark.parametrize("cells", [60, 80, 120, 200])
def test_the_footer_of_every_screen_leads_out_and_to_the_help(cells: int) -> None:
    """However long the name of the alarm is that stands in it."""
    for screen in SCREENS:
        for labels in ({}, {"alarm.ack": "ack Annual ge…ing NO_INGEST +9", "alarm.undo": "take back until 21:19:07Z"}):
            line = plain(key_line(REGISTRY.footer(screen), REGISTRY, cells, read_only=False, labels=labels))
            assert line.endswith("? help  q quit")
            assert len(line) < cells


def test_the_footer_of_the_alarms_offers_first_what_is_done_about_them() -> None:
    names = [action.name for action in REGISTRY.footer("alarms")][:4]
    assert names == ["alarm.ack", "alarm.shelve", "alarm.note", "alarm.undo"]


@pytest.mark.parametrize("cells", [60, 80, 120])
def test_a_footer_is_as_many_whole_keys_as_fit(cells: int) -> None:
    """interface.md, "Footer": whole pairs, the most needed ones; what writes stands together."""
    for screen in SCREENS:
        actions = REGISTRY.footer(screen)
        line = plain(key_line(actions, REGISTRY, cells, read_only=False)).removesuffix("? help  q quit").strip()
        groups = [group.strip().split("  ") for group in line.split("│")]
        pairs = [pair.strip() for group in groups for pair in group]
        wholes = [f"{key_text(action.keys[0])} {action.label}" for action in actions]
        assert sorted(pairs) == sorted(wholes[: len(pairs)])
        assert len(pairs) >= 2
        writing = [{actions[wholes.index(pair.strip())].writes for pair in group} for group in groups]
        assert all(len(kinds) == 1 for kinds in writing)


async def test_commands_are_completed_refused_and_carried_out() -> None:
    async with running() as (deck, pilot):
        await act(pilot, "app.command")
        assert isinstance(deck.screen, CommandScreen)
        await pilot.press(*"com", "tab")
        assert deck.screen.query_one(Input).value == "event.complete"
        await pilot.press(*["backspace"] * 14, *"scren", "enter")
        assert "there is no :scren" in text_of(deck)
        await pilot.press("backspace", "backspace", *"een.q", "tab")
        assert deck.screen.query_one(Input).value == "screen.qos"
        await pilot.press("enter")
        await pilot.pause()
        assert deck.current_mode == "qos"
        deck.dispatch("row.up")
        await pilot.pause()
        assert "↑ up works on events" in text_of(deck)


async def test_a_sentence_without_room_in_the_list_of_commands_loses_its_end() -> None:
    async with running((80, 24)) as (deck, pilot):
        await act(pilot, "app.command")
        await pilot.press(*"alarm.ac")
        row = next(row for row in letters_of(deck).splitlines() if ":alarm.ack " in row)
        assert row.rstrip().endswith("Acknowledge this alarm")


async def test_the_palette_searches_and_escape_does_nothing() -> None:
    async with running() as (deck, pilot):
        await act(pilot, "app.palette")
        await pilot.press(*"quality time", "escape")
        assert deck.current_mode == "events"
        await act(pilot, "app.palette")
        await pilot.press(*"quality time", "enter")
        await pilot.pause()
        assert deck.current_mode == "qos"


async def test_ctrl_c_leaves_whatever_is_open() -> None:
    async with running() as (deck, pilot):
        await act(pilot, "app.help")
        assert isinstance(deck.screen, HelpScreen)
        await act(pilot, "app.interrupt")
        assert deck.return_value == 130
