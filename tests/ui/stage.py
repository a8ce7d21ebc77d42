"""Deck on the simulated platform at a fixed moment, in a terminal in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from html import unescape
from typing import Any

from textual.pilot import Pilot

from livedeck.cli.screenshots import FixedClock, export_svg, still_deck
from livedeck.monitor import ConnectionStatus, History, Snapshot
from livedeck.ui.app import Deck
from livedeck.ui.features import FEATURES
from livedeck.ui.shell.context import ActionRegistry

REGISTRY = ActionRegistry(FEATURES)


@asynccontextmanager
async def running(
    size: tuple[int, int] = (120, 40), *keys: str, read_only: bool = False, history: History | None = None
) -> AsyncIterator[tuple[Deck, Pilot[int]]]:
    """Yield a deck of that size after these keys, and its pilot."""
    async with still_deck(read_only=read_only, history=history) as deck, deck.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.press(*keys)
        await pilot.pause()
        yield deck, pilot


async def act(pilot: Pilot[int], *names: str) -> None:
    """Press the first key of each of these actions."""
    for name in names:
        await pilot.press(REGISTRY.by_name[name].keys[0])
        await pilot.pause()


async def steady(deck: Deck, pilot: Pilot[int]) -> str:
    """Return a picture that equals the one before: widgets take a new size or theme in several steps.

    A pause ends early if the machine gives the deck no time; three in a row hardly do.
    """
    before, now = "", export_svg(deck)
    while now != before:
        for _ in range(3):
            await pilot.pause()
        before, now = now, export_svg(deck)
    return now


def text_of(deck: Deck) -> str:
    """Return the words on the screen."""
    return unescape(export_svg(deck)).replace("\xa0", " ")


def letters_of(deck: Deck) -> str:
    """Return the letters on the screen, line by line."""
    return "\n".join(strip.text.rstrip() for strip in deck.screen._compositor.render_strips(deck.size))


def known(deck: Deck) -> Snapshot:
    """Return the snapshot that the deck shows."""
    assert deck.snapshot is not None
    return deck.snapshot


class LaterClock(FixedClock):
    """Clock of a still deck, a second later."""

    def monotonic(self) -> float:
        return 1.0


def look(deck: Deck) -> None:
    """Let a second pass, in which a person sees the picture: keys ignore what nobody can have seen."""
    deck.clock = LaterClock()


def linked(deck: Deck, **changes: Any) -> ConnectionStatus:
    """Return the link of the deck's snapshot with changes."""
    return replace(known(deck).link, **changes)


async def show(deck: Deck, pilot: Pilot[int], **changes: Any) -> None:
    """Give the deck its last snapshot again, with changes. Afterwards the monitor is silent."""
    deck.workers.cancel_all()
    deck.snapshot = replace(known(deck), **changes)
    deck.snapshot_signal.publish(None)
    await pilot.pause()
