"""Golden pictures of both screens: sizes, and the states in which a screen must not look fine.

Renewed as performance.md, "Test run", says; look at each picture that changed before you keep it.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from livedeck.cli.screenshots import EVENING, PICTURES, export_svg
from livedeck.monitor import ConnectionProblem, ConnectionState
from livedeck.text.segments import StyleRole
from livedeck.ui.kit import themes
from ui.stage import known, linked, running, show, steady, text_of

SIZES = ((80, 24), (120, 40), (200, 60))
SCREENS: dict[str, tuple[str, ...]] = {
    "events": (),
    "streams": ("2",),
    "qos": ("down", "3"),
    "qos-away": ("3",),
    "chat": ("4",),
    "rooms": ("5", "down"),
    "alarms": ("7",),
}
LOOKS = (((80, 24), "mono"), ((120, 40), "dark"), ((200, 60), "light"))
"""Every size once and every theme once, because the drawing of a theme does not depend on the size."""

SMALL = (80, 24)


def _size(size: tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]}"


@pytest.mark.parametrize("screen", SCREENS)
async def test_a_screen(picture: SnapshotAssertion, screen: str) -> None:
    """In every size and every theme, from one deck: that it can be resized and repainted is part of it."""
    async with running(LOOKS[0][0], *SCREENS[screen]) as (deck, pilot):
        for size, theme in LOOKS:
            await pilot.resize_terminal(*size)
            for widget in deck.screen.walk_children():
                widget.refresh()  # what looks the same is not drawn again, yet a picture tells how it is cut
            deck.theme = theme
            await pilot.pause()
            assert await steady(deck, pilot) == picture(name=f"{_size(size)}-{theme}")


@pytest.mark.parametrize("size", [(60, 20), (80, 24)], ids=_size)
async def test_the_help(picture: SnapshotAssertion, size: tuple[int, int]) -> None:
    async with running(size, "question_mark") as (deck, pilot):
        assert await steady(deck, pilot) == picture


@pytest.mark.parametrize("screen", ["events", "streams", "qos", "alarms"])
async def test_blind(picture: SnapshotAssertion, screen: str) -> None:
    async with running((120, 40), *SCREENS[screen]) as (deck, pilot):
        since, last = EVENING - timedelta(seconds=41), EVENING - timedelta(seconds=71)
        reason = "list events: 127.0.0.1:8787 refuses connections; check the address and port"
        await show(deck, pilot, link=linked(deck, state=ConnectionState.BLIND, since=since, as_of=last, reason=reason))
        assert await steady(deck, pilot) == picture


WHY = "list events: 127.0.0.1:8787 did not respond in time (4 s)"
FAILING = {"state": ConnectionState.FAILING, "problem": ConnectionProblem.NO_ANSWER, "reason": WHY, "failures": 2}
STATES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "loading": ({"state": ConnectionState.CONNECTING, "as_of": None}, {"events": (), "alarms": (), "quiet": ()}),
    "empty": ({}, {"events": (), "alarms": (), "quiet": ()}),
    "error": ({**FAILING, "since": EVENING - timedelta(seconds=4)}, {}),
    "stale": ({"as_of": EVENING - timedelta(seconds=31)}, {}),
}
"""Name of a state -> changes of the link, and changes of the snapshot."""


@pytest.mark.parametrize("screen", ["events", "streams", "qos", "alarms"])
async def test_a_state(picture: SnapshotAssertion, screen: str) -> None:
    """Each state from the same deck, stale though the monitor says nothing; at last frozen, while alarms go on."""
    async with running(SMALL, *SCREENS[screen]) as (deck, pilot):
        whole = known(deck)
        for name, (link, changes) in STATES.items():
            deck.snapshot = whole
            await show(deck, pilot, link=linked(deck, **link), **changes)
            assert await steady(deck, pilot) == picture(name=name)
        await show(deck, pilot, **{field: getattr(whole, field) for field in ("link", "events", "alarms", "quiet")})
        await pilot.press("p")
        await show(deck, pilot, alarms=())
        assert await steady(deck, pilot) == picture(name="frozen")


@pytest.mark.parametrize("screen", ["streams", "qos", "alarms"])
async def test_read_only_elsewhere(picture: SnapshotAssertion, screen: str) -> None:
    async with running(SMALL, *SCREENS[screen], read_only=True) as (deck, pilot):
        assert await steady(deck, pilot) == picture


async def test_read_only(picture: SnapshotAssertion) -> None:
    async with running(SMALL, read_only=True) as (deck, pilot):
        assert await steady(deck, pilot) == picture
        for keys in SCREENS.values():
            await pilot.press(*keys)
            await pilot.pause()
            assert ">RO<" in export_svg(deck)


async def test_frozen_and_filtered(picture: SnapshotAssertion) -> None:
    async with running(SMALL, "p", "slash", *"air", "enter") as (deck, pilot):
        assert await steady(deck, pilot) == picture


@pytest.mark.parametrize("size", [(59, 20), (60, 19), (20, 5)], ids=_size)
async def test_too_small_a_terminal_says_so_in_one_line(picture: SnapshotAssertion, size: tuple[int, int]) -> None:
    async with running(size) as (deck, pilot):
        assert await steady(deck, pilot) == picture


async def test_the_monitor_stopped(picture: SnapshotAssertion) -> None:
    async with running(SMALL) as (deck, pilot):
        deck.fault = "KeyError; see livedeck.log"
        await show(deck, pilot)
        assert await steady(deck, pilot) == picture


async def test_a_small_terminal(picture: SnapshotAssertion) -> None:
    async with running((60, 20)) as (deck, pilot):
        assert await steady(deck, pilot) == picture


GREEN = {themes.PALETTES[name].styles[StyleRole.OK].colour for name in themes.PALETTES}

UNBELIEVABLE: dict[str, dict[str, Any]] = {
    "BLIND": {"state": ConnectionState.BLIND},
    "STALE": {"as_of": EVENING - timedelta(minutes=2)},
    "STOPPED": {},
}


@pytest.mark.parametrize("screen", ["events", "streams", "qos"])
async def test_nothing_looks_good_on_a_screen_that_cannot_be_believed(screen: str) -> None:
    """monitoring.md, "Freshness": no score, no GOOD, no link ok, and the reason in words."""
    async with running((120, 40), *SCREENS[screen]) as (deck, pilot):
        whole = known(deck)
        for word, link in UNBELIEVABLE.items():
            deck.fault, deck.snapshot = "", whole
            await show(deck, pilot)
            assert word not in text_of(deck)
            deck.fault = "KeyError" if word == "STOPPED" else ""
            await show(deck, pilot, link=linked(deck, **link))
            text = text_of(deck)
            assert word in text
            assert "GOOD" not in text
            assert "link ok" not in text
            assert not GREEN & set(re.findall(r"#[0-9a-f]{6}", export_svg(deck)))


def test_every_picture_of_the_readme_has_a_size_that_is_tested() -> None:
    assert {size for size, _ in PICTURES.values()} <= set(SIZES)
