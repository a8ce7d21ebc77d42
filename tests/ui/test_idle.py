"""Nothing is sent to the terminal when nothing changed (interface.md, "Tables"; performance.md, "Budgets")."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

import pytest
from rich.cells import cell_len
from textual.drivers.headless_driver import HeadlessDriver
from textual.pilot import Pilot

from breadth import slow
from livedeck.cli.screenshots import EVENING, FixedClock, still_deck
from livedeck.monitor import AlarmState
from livedeck.ui.app import Deck
from ui.stage import REGISTRY, known, letters_of

MODES = sorted(REGISTRY.screens)
ALIKE = {"annotations", "cues", "materials", "posters"}
"""Parts of a video that are drawn like its subtitles."""

SIZE = (120, 40)

MOST = 3000
"""Maximum bytes that a tick may send (performance.md, "Budgets")."""

BRIEF = {"recordings", "log", "past", "list", "streams", "picture"}
"""Groups of workers that request the data of a screen, and end."""


class Wire(HeadlessDriver):
    """Terminal that stores what is sent to it."""

    sent = ""
    came: asyncio.Event

    @property
    def is_headless(self) -> bool:
        """False, so that the app takes this for a terminal."""
        return False

    def write(self, data: str) -> None:
        Wire.sent += data
        Wire.came.set()


class Hand(FixedClock):
    """Clock that the test moves."""

    def __init__(self) -> None:
        super().__init__()
        self.at, self.passed = EVENING, 0.0

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return self.passed


@asynccontextmanager
async def idle(mode: str) -> AsyncIterator[tuple[Deck, Pilot[int], Hand]]:
    """Yield a deck on a screen, with everything painted."""
    clock, ticked = Hand(), asyncio.Event()
    Wire.came = asyncio.Event()
    async with still_deck() as deck:
        deck.driver_class = Wire
        deck.clock = clock
        async with deck.run_test(headless=False, size=SIZE) as pilot:
            await pilot.pause()
            deck.switch_mode(mode)
            await pilot.pause()
            for worker in [one for one in deck.workers if one.group in BRIEF]:
                await worker.wait()
            deck.snapshot_signal.subscribe(deck, lambda _: ticked.set(), immediate=True)
            await ticked.wait()  # the deck's own: from here on it counts half seconds by the clock
            await pilot.pause()
            forget()
            yield deck, pilot, clock


async def test_the_cursor_takes_its_ground_along() -> None:
    """The row under it has a ground of its own: both rows are sent whole, the others are not."""
    async with idle("events") as (deck, pilot, _):
        names = [state.event.name or "" for state in known(deck).events]
        await pilot.press("down")
        await pilot.pause()
        sent = [name for name in names if any(text[0] in " ▌" and f"  {name[:8]}" in text for text in pieces())]
        assert sent == names[:2]


def forget() -> None:
    Wire.sent = ""
    Wire.came.clear()


def pieces() -> list[str]:
    """Return the sent bytes, as a text for each place, without styles."""
    texts = re.split(r"\x1b\[[0-9;]*H", Wire.sent)
    return [text for text in (re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text) for text in texts) if text]


@pytest.mark.parametrize("mode", [*sorted({*MODES} - ALIKE), *slow(*sorted(ALIKE))])
async def test_an_idle_deck_sends_what_time_changes_and_nothing_else(mode: str) -> None:
    """The same picture: no byte. A second: the cells that count, 3 kB of them at most. A half: signs that blink."""
    async with idle(mode) as (deck, pilot, clock):
        for _ in range(3):
            deck.snapshot_signal.publish(None)
            await pilot.pause()
        assert Wire.sent == ""

        clock.at += timedelta(seconds=1)
        deck.snapshot_signal.publish(None)
        await pilot.pause()
        assert "8Z" in " ".join(pieces())
        assert all(re.search(r"\d", text) for text in pieces()), pieces()
        assert len(Wire.sent) <= MOST

        forget()
        owed = sum(one.state is AlarmState.UNACKNOWLEDGED for one in known(deck).alarms)
        clock.passed = 0.5
        await Wire.came.wait()
        await pilot.pause()
        assert 0 < len(pieces()) <= owed
        assert {" "} == set("".join(pieces()))
        forget()
        clock.passed = 1.0
        await Wire.came.wait()
        await pilot.pause()
        assert {"✖"} <= set("".join(pieces())) <= {"✖", "▲"}


def drawn(sent: str) -> dict[tuple[int, int], str]:
    """Return row and column -> cell for the cells that these bytes draw."""
    cells: dict[tuple[int, int], str] = {}
    for row, column, text in re.findall(r"\x1b\[(\d+);(\d+)H([^\x1b]*(?:\x1b\[[0-9;]*m[^\x1b]*)*)", sent):
        start = int(column)
        for letter in re.sub(r"\x1b\[[0-9;]*m", "", text):
            cells[int(row), start] = letter
            start += cell_len(letter)
    return cells


async def test_under_an_open_dialog_what_changed_is_sent_and_nothing_else() -> None:
    """Each change once, whatever changed before; and the screen shows what a new drawing of all of it would."""
    async with idle("events") as (deck, pilot, clock):

        async def pass_second() -> str:
            forget()
            clock.at += timedelta(seconds=1)
            deck.snapshot_signal.publish(None)
            await Wire.came.wait()
            await settle()
            return Wire.sent

        async def settle() -> None:
            for _ in range(3):  # a screen behind another one is drawn by way of that
                await pilot.pause()

        uncovered = len(await pass_second())
        await pilot.press("question_mark")
        await settle()
        seconds = [await pass_second() for _ in range(3)]
        assert max(map(len, seconds)) <= uncovered

        forget()
        await pilot.press("f12")  # a key that does nothing there
        deck.snapshot_signal.publish(None)
        await settle()
        assert Wire.sent == ""

        deck.refresh()
        await Wire.came.wait()
        await settle()
        whole = drawn(Wire.sent)
        assert len(whole) > 0.9 * SIZE[0] * SIZE[1]
        changed = drawn("".join(seconds))
        assert changed
        assert {place: whole[place] for place in changed} == changed


async def test_the_clock_goes_on_under_a_dialog_over_a_form() -> None:
    """A frozen header would look current."""
    async with idle("events") as (deck, pilot, clock):

        async def pass_second() -> str:
            clock.at += timedelta(seconds=1)
            clock.passed += 1.0
            deck.snapshot_signal.publish(None)
            for _ in range(4):
                await pilot.pause()
            return letters_of(deck)

        for keys in (("n",), ("x",), ("escape",)):
            await pilot.press(*keys)
            await pass_second()
        assert "Leave the form?" in await pass_second()
        assert f"{clock.at + timedelta(seconds=1):%H:%M:%S}Z" in await pass_second()
