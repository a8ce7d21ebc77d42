"""A key costs the same at any number of rows, and a deck at rest next to nothing (performance.md, "Budgets")."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

import pytest
from textual import events

from costs import check
from counting import counted
from livedeck.cli.screenshots import still_deck
from livedeck.text.segments import ShadedLine
from livedeck.ui.app import Deck
from livedeck.ui.events.screen import EventsScreen
from livedeck.ui.kit.lines import FramedPanel
from ui.stage import known
from ui.test_idle import SIZE, Hand, Wire
from ui.wall_stage import many

CIRCUITS = 6
"""Ways from the app to the focus and the screen within which all effects of a key are painted."""

DOWNS = ("down",) * 8


@dataclass
class Crowd:
    """A deck whose half seconds pass when the test says so."""

    deck: Deck
    clock: Hand
    tick: Callable[[], None]

    async def settle(self) -> None:
        """Until all is painted that has been asked for."""
        for _ in range(CIRCUITS):
            for target in (self.deck, self.deck.screen.focused or self.deck.screen, self.deck.screen):
                arrived = asyncio.Event()
                target.call_later(arrived.set)
                await arrived.wait()
            painted = asyncio.Event()
            self.deck.screen.call_after_refresh(painted.set)
            await painted.wait()

    async def press(self, *keys: str) -> None:
        """Post the keys at once, as one read of a terminal brings them, and wait for the picture."""
        for key in keys:
            self.deck.post_message(events.Key(key, None))
        for _ in keys:
            await self.settle()

    async def pass_half_seconds(self, count: int) -> None:
        """Let the time pass."""
        for _ in range(count):
            self.clock.passed += 0.5
            self.clock.at += timedelta(seconds=0.5)
            self.tick()
            await self.settle()

    async def idle_calls(self) -> int:
        """Calls of waiting itself, which are nobody's cost."""
        with counted() as count:
            await self.settle()
        return count.total()

    async def calls_of_a_key(self) -> float:
        """Mean calls of a key that moves the cursor, with all that it paints."""
        await self.press("down")
        waiting = await self.idle_calls()
        with counted() as count:
            for key in DOWNS:
                await self.press(key)
        return count.total() / len(DOWNS) - waiting


@asynccontextmanager
async def crowd(monkeypatch: pytest.MonkeyPatch, rows: int) -> AsyncIterator[Crowd]:
    """A deck with so many events on its first screen; nothing happens by itself."""
    clock, ticks = Hand(), list[Callable[[], None]]()
    monkeypatch.setattr(Deck, "set_interval", lambda _deck, _seconds, callback: ticks.append(callback))
    Wire.came = asyncio.Event()
    async with still_deck() as deck:
        deck.driver_class, deck.clock = Wire, clock
        async with deck.run_test(headless=False, size=SIZE) as pilot:
            await pilot.pause()
            deck.workers.cancel_all()
            deck.snapshot = many(known(deck), rows)
            deck.snapshot_signal.publish(None)
            await pilot.pause()
            (tick,) = ticks
            stage = Crowd(deck, clock, tick)
            await stage.pass_half_seconds(2)
            yield stage


async def test_a_key_costs_the_same_at_any_number_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = {}
    for rows in (100, 10_000):
        async with crowd(monkeypatch, rows) as stage:
            calls[rows] = await stage.calls_of_a_key()
    check("calls a key, 100 rows", calls[100])
    check("calls a key, 10,000 rows", calls[10_000])
    check("calls a key, 10,000 rows to 100", calls[10_000] / calls[100])


async def test_a_still_deck_costs_next_to_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async with crowd(monkeypatch, 100) as stage:
        waiting = await stage.idle_calls()
        with counted() as count:
            await stage.pass_half_seconds(10)
        check("calls a second of a still deck", (count.total() - 10 * waiting) / 5)


async def test_a_key_refreshes_the_screen_once(monkeypatch: pytest.MonkeyPatch) -> None:
    refreshed = list[EventsScreen]()
    refresh_all = EventsScreen.refresh_all

    def note(screen: EventsScreen) -> None:
        refreshed.append(screen)
        refresh_all(screen)

    monkeypatch.setattr(EventsScreen, "refresh_all", note)
    async with crowd(monkeypatch, 100) as stage:
        refreshed.clear()
        for key in DOWNS:
            await stage.press(key)
        check("refreshes a key", len(refreshed) / len(DOWNS))


async def test_of_a_burst_of_keys_only_the_last_one_draws_the_panes(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = list[FramedPanel]()
    draw = FramedPanel.draw

    def note(panel: FramedPanel, width: int, height: int) -> list[ShadedLine]:
        drawn.append(panel)
        return draw(panel, width, height)

    async with crowd(monkeypatch, 100) as stage:
        monkeypatch.setattr(FramedPanel, "draw", note)
        await stage.press(*DOWNS)
        ids, selected = [state.id for state in known(stage.deck).events], stage.deck.selected_event()
        assert selected is not None
        assert ids.index(selected.id) == len(DOWNS)
        check("pictures of the selected event in a burst of keys", sum(panel.id == "selected" for panel in drawn))
