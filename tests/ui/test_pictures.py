"""Golden pictures of both screens: sizes, and the states in which a screen must not look fine.

Renewed with `--snapshot-update`; look at each picture that changed before you keep it.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from livedeck.cli.screenshots import EVENING, PICTURES, framed
from livedeck.monitor import Link, LinkState, Trouble
from ui.stage import linked, running, show, text_of

SIZES = ((80, 24), (120, 40), (200, 60))
SCREENS: dict[str, tuple[str, ...]] = {"events": (), "qos": ("down", "3"), "qos-away": ("3",)}
SMALL = (80, 24)


def _size(size: tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]}"


@pytest.mark.parametrize("size", SIZES, ids=_size)
@pytest.mark.parametrize("screen", SCREENS)
async def test_a_screen(picture: SnapshotAssertion, screen: str, size: tuple[int, int]) -> None:
    async with running(size, *SCREENS[screen]) as (deck, _):
        assert framed(deck) == picture


@pytest.mark.parametrize("size", [(60, 20), (80, 24)], ids=_size)
async def test_the_help(picture: SnapshotAssertion, size: tuple[int, int]) -> None:
    async with running(size, "question_mark") as (deck, _):
        assert framed(deck) == picture


@pytest.mark.parametrize("screen", ["events", "qos"])
async def test_blind(picture: SnapshotAssertion, screen: str) -> None:
    async with running((120, 40), *SCREENS[screen]) as (deck, pilot):
        since, last = EVENING - timedelta(seconds=41), EVENING - timedelta(seconds=71)
        why = "list events: 127.0.0.1:8787 cannot be reached; check the address and that the platform is up"
        await show(deck, pilot, link=linked(deck, state=LinkState.BLIND, since=since, as_of=last, why=why))
        assert framed(deck) == picture


async def test_failing(picture: SnapshotAssertion) -> None:
    async with running(SMALL) as (deck, pilot):
        since = EVENING - timedelta(seconds=4)
        why = "list events: 127.0.0.1:8787 did not answer in time (4 s)"
        await show(
            deck,
            pilot,
            link=linked(deck, state=LinkState.FAILING, trouble=Trouble.NO_ANSWER, since=since, why=why, failures=2),
        )
        assert framed(deck) == picture


async def test_stale_though_the_monitor_says_nothing(picture: SnapshotAssertion) -> None:
    async with running(SMALL) as (deck, pilot):
        await show(deck, pilot, link=linked(deck, as_of=EVENING - timedelta(seconds=31)))
        assert framed(deck) == picture


async def test_connecting(picture: SnapshotAssertion) -> None:
    async with running(SMALL) as (deck, pilot):
        await show(deck, pilot, link=Link(LinkState.CONNECTING, EVENING), events=(), alarms=())
        assert framed(deck) == picture


async def test_no_event_at_all(picture: SnapshotAssertion) -> None:
    async with running(SMALL) as (deck, pilot):
        await show(deck, pilot, events=(), alarms=())
        assert framed(deck) == picture


async def test_read_only(picture: SnapshotAssertion) -> None:
    async with running(SMALL, read_only=True) as (deck, _):
        assert framed(deck) == picture


async def test_the_monitor_stopped(picture: SnapshotAssertion) -> None:
    async with running(SMALL) as (deck, pilot):
        deck.fault = "KeyError; see livedeck.log"
        await show(deck, pilot)
        assert framed(deck) == picture


async def test_a_small_terminal(picture: SnapshotAssertion) -> None:
    async with running((60, 20)) as (deck, _):
        assert framed(deck) == picture


GREEN = {"#009e73", "#2fbf95"}

UNBELIEVABLE: dict[str, dict[str, Any]] = {
    "BLIND": {"state": LinkState.BLIND},
    "STALE": {"as_of": EVENING - timedelta(minutes=2)},
    "STOPPED": {},
}


@pytest.mark.parametrize("word", UNBELIEVABLE)
@pytest.mark.parametrize("screen", ["events", "qos"])
async def test_nothing_looks_good_on_a_screen_that_cannot_be_believed(screen: str, word: str) -> None:
    """monitoring.md, Freshness first: no score, no GOOD, no link ok, and the reason in words."""
    async with running((120, 40), *SCREENS[screen]) as (deck, pilot):
        deck.fault = "KeyError" if word == "STOPPED" else ""
        await show(deck, pilot, link=linked(deck, **UNBELIEVABLE[word]))
        text = text_of(deck)
        assert word in text
        assert "GOOD" not in text
        assert "link ok" not in text
        assert not GREEN & set(re.findall(r"#[0-9a-f]{6}", framed(deck)))


def test_every_picture_of_the_readme_has_a_size_that_is_tested() -> None:
    assert {size for size, _ in PICTURES.values()} <= set(SIZES)
