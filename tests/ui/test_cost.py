"""A key costs the same at any number of rows, and a deck at rest next to nothing (performance.md, "Budgets")."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

import pytest
from textual import events
from textual.pilot import Pilot

from costs import check
from counting import counted
from livedeck.cli.screenshots import EVENING, LASTING_GROUPS, FixedClock, is_answered, still_deck
from livedeck.monitor import History
from livedeck.text.segments import ShadedLine
from livedeck.ui.app import Deck
from livedeck.ui.events.screen import EventsScreen
from livedeck.ui.kit.lines import FramedPanel
from livedeck.ui.wallboard.app import Wallboard
from ui.stage import REGISTRY, known, letters_of
from ui.test_alarms_screen import open_incidents
from ui.test_idle import SIZE, Hand, Wire
from ui.test_wallboard_app import Feed
from ui.viewer_stage import probing
from ui.wall_stage import STILL, evening, many

CIRCUITS = 6
"""Number of round trips between app, screen and focus in which all effects of a key are painted."""

DOWNS = ("down",) * 8


@dataclass
class Crowd:
    """Deck whose half seconds pass when the test says so."""

    deck: Deck
    clock: Hand
    tick: Callable[[], None]

    async def settle(self) -> None:
        """Wait until every request to paint is done."""
        for _ in range(CIRCUITS):
            for target in (self.deck, self.deck.screen.focused or self.deck.screen, self.deck.screen):
                arrived = asyncio.Event()
                target.call_later(arrived.set)
                await arrived.wait()
            painted = asyncio.Event()
            self.deck.screen.call_after_refresh(painted.set)
            await painted.wait()

    async def press(self, *keys: str) -> None:
        """Send keys at once, like one read of a terminal, and wait for the picture."""
        for key in keys:
            self.deck.post_message(events.Key(key, None))
        for _ in keys:
            await self.settle()

    async def pass_half_seconds(self, count: int) -> None:
        """Let half seconds pass."""
        for _ in range(count):
            self.clock.passed += 0.5
            self.clock.at += timedelta(seconds=0.5)
            self.tick()
            await self.settle()

    async def idle_calls(self) -> int:
        """Return the calls of waiting itself, which are no cost of the deck."""
        with counted() as count:
            await self.settle()
        return count.total()

    async def calls_of(self, *keys: str) -> float:
        """Return the mean calls of these keys, each of which changes the screen.

        Presses them once before, to fill caches.
        """
        for key in keys:
            before = letters_of(self.deck)
            await self.press(key)
            assert letters_of(self.deck) != before, f"{key} changes nothing"
        waiting = await self.idle_calls()
        with counted() as count:
            for key in keys:
                await self.press(key)
        return count.total() / len(keys) - waiting

    async def calls_of_a_key(self) -> float:
        """Return the mean calls of a key that moves the cursor, with everything that it paints."""
        await self.press("down")
        waiting = await self.idle_calls()
        with counted() as count:
            for key in DOWNS:
                await self.press(key)
        return count.total() / len(DOWNS) - waiting


@asynccontextmanager
async def crowd(monkeypatch: pytest.MonkeyPatch, rows: int) -> AsyncIterator[Crowd]:
    """Yield a deck with many events on its first screen; nothing happens by itself."""
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


WIDE = (200, 60)
"""Size of the terminal in which a key paints the most."""

UP_AND_DOWN = ("down", "up") * 4
TRACK = ("6", "end", "right_square_bracket", "right_square_bracket")
PLACES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "events": ((), UP_AND_DOWN),
    "streams": (("2",), UP_AND_DOWN),
    "qos": (("down", "3"), ("left", "right") * 4),
    "chat": ((*["down"] * 5, "4", "enter"), ("up", "down") * 4),
    "rooms": (("5",), UP_AND_DOWN),
    "videos": (("6", "down", "up"), UP_AND_DOWN),
    "posters": (("6", "right_square_bracket", "down", "up"), UP_AND_DOWN),
    "subtitles": (TRACK, UP_AND_DOWN),
    "cues": ((*TRACK, "enter"), UP_AND_DOWN),
    "annotations": ((*TRACK, "right_square_bracket"), UP_AND_DOWN),
    "materials": ((*TRACK, *["right_square_bracket"] * 2), ("left_square_bracket", "right_square_bracket") * 4),
    "alarms": (("7",), UP_AND_DOWN),
    "viewers": ((), UP_AND_DOWN),
    "help": (("question_mark",), ("a", "backspace") * 4),
    "incidents": (("7",), UP_AND_DOWN),
}
"""Screen -> keys that open it with data, and keys that change it, there and back."""


async def arrive(deck: Deck, pilot: Pilot[int], keys: Iterable[str]) -> None:
    """Press these keys, and wait after each for all that the screen requests."""
    for key in keys:
        await pilot.press(key)
        await pilot.pause()
        while not is_answered(deck) or any(worker.group not in LASTING_GROUPS for worker in deck.workers):
            await pilot.pause()


@pytest.mark.parametrize("screen", [*REGISTRY.screens, "help", "incidents"])
async def test_a_key_of_each_screen(monkeypatch: pytest.MonkeyPatch, screen: str) -> None:
    keys, moves = PLACES[screen]
    clock, ticks = Hand(), list[Callable[[], None]]()
    monkeypatch.setattr(Deck, "set_interval", lambda _deck, _seconds, callback: ticks.append(callback))
    Wire.came = asyncio.Event()
    history = await History.open(None, EVENING)
    async with still_deck(history=history) as deck:
        deck.driver_class, deck.clock = Wire, clock
        async with deck.run_test(headless=False, size=WIDE) as pilot:
            await pilot.pause()
            await arrive(deck, pilot, keys)
            if screen == "incidents":
                await open_incidents(deck, pilot, history, known(deck).alarms)
            if screen == "viewers":
                deck.go_to(screen)
                await probing(deck, pilot)
            deck.workers.cancel_all()
            stage = Crowd(deck, clock, ticks[0])
            await stage.pass_half_seconds(2)
            check(f"calls a key, {screen}", await stage.calls_of(*moves))
    await history.close()


async def test_a_page_of_the_wall() -> None:
    Wire.came = asyncio.Event()
    wall = Wallboard(Feed(many(await evening(), 200)).all(), FixedClock(), STILL, theme="dark")
    wall.driver_class = Wire
    async with wall.run_test(headless=False, size=(160, 45)) as pilot:
        await pilot.pause()
        with counted() as waiting:
            await pilot.pause()
        with counted() as count:
            for key in ("right", "left") * 2:
                await pilot.press(key)
                await pilot.pause()
        check("calls a page of the wall", count.total() / 4 - waiting.total())
