"""The wallboard's app in a terminal in memory: it shows every snapshot, turns pages, and never writes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import replace
from random import Random
from typing import Any

import pytest
import pytest_asyncio
from pydantic import SecretStr
from rich.cells import cell_len
from textual.geometry import Region
from textual.pilot import Pilot
from textual.strip import Strip

from livedeck.cli.screenshots import EVENING, FixedClock
from livedeck.cli.wiring import make_api, make_monitor
from livedeck.client import ReadOnly
from livedeck.monitor import Snapshot
from livedeck.settings import Settings
from livedeck.simulator import Simulator, SimulatorClock
from livedeck.text.segments import plain
from livedeck.ui.wallboard.app import Picture, Wallboard
from livedeck.ui.wallboard.layout import Wall
from ui.mistreating import mistreat
from ui.wall_stage import STILL, evening, many, text

Message = MutableMapping[str, Any]


@pytest_asyncio.fixture(scope="module", loop_scope="module", name="known")
async def _known() -> Snapshot:
    return await evening()


class Feed:
    """Feed of snapshots from the test."""

    def __init__(self, *snapshots: Snapshot | None) -> None:
        self._queue: asyncio.Queue[Snapshot | None] = asyncio.Queue()
        for snapshot in snapshots:
            self.give(snapshot)

    def give(self, snapshot: Snapshot | None) -> None:
        """Give the next snapshot; None ends the feed."""
        self._queue.put_nowait(snapshot)

    async def all(self) -> AsyncGenerator[Snapshot, None]:
        """Yield snapshots until None."""
        while (snapshot := await self._queue.get()) is not None:
            yield snapshot


class Shown:
    """Wall in a terminal of that size, and the pictures that it published."""

    def __init__(self, feed: Feed, size: tuple[int, int] = (160, 45), wall: Wall = STILL) -> None:
        self.pictures: list[Picture] = []
        self.app = Wallboard(feed.all(), FixedClock(), wall, theme="dark", published=self.pictures.append)
        self._size = size

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Pilot[int]]:
        """Yield its pilot, with the first picture shown."""
        async with self.app.run_test(size=self._size) as pilot:
            await pilot.pause()
            yield pilot

    @property
    def words(self) -> str:
        """Words of the last picture."""
        return text(self.pictures[-1].lines)


async def test_a_snapshot_is_on_the_wall_at_once(known: Snapshot) -> None:
    feed = Feed()
    shown = Shown(feed, wall=replace(STILL, scale=1))
    async with shown.running() as pilot:
        assert not shown.pictures or "Cup final" not in shown.words
        feed.give(known)
        await pilot.pause()
        assert "Cup final" in shown.words
        feed.give(replace(known, events=(), alarms=()))
        await pilot.pause()
        assert "Cup final" not in shown.words


async def test_a_wall_whose_monitor_stopped_says_so(known: Snapshot) -> None:
    feed = Feed(known, None)
    shown = Shown(feed)
    async with shown.running():
        assert "MONITOR STOPPED" in shown.words
        assert "GOOD" not in shown.words


async def test_the_last_picture_of_a_wall_says_that_it_is_the_last(known: Snapshot) -> None:
    """A file shows it for as long as nobody looks after it."""
    shown = Shown(Feed(known))
    async with shown.running() as pilot:
        assert "MONITOR STOPPED" not in shown.words
        await pilot.press("q")
    assert "MONITOR STOPPED" in shown.words
    assert "the wallboard was closed" in shown.words
    assert "GOOD" not in shown.words


async def test_a_terminal_that_was_resized_shows_what_one_of_that_size_shows(known: Snapshot) -> None:
    shown = Shown(Feed(many(known, 9)))
    async with shown.running() as pilot:
        for size in ((1, 1), (80, 24), (240, 67), (20, 90), (160, 45)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
        assert shown.pictures[-1].size == (160, 45)
        again = Shown(Feed(many(known, 9)))
        async with again.running():
            assert shown.words == again.words


class Replayed(Wallboard):
    """Wall that stores what a terminal would show of the sent bytes."""

    sent: dict[tuple[int, int], str]

    def send(self, parts: Iterable[tuple[Region, Strip]]) -> bool:
        for region, strip in parts:
            assert strip.cell_length == region.width
            self.sent |= {(region.x + at, region.y): cell for at, cell in enumerate(_cells(strip.text))}
        return True


def _cells(text: str) -> Iterator[str]:
    for char in text:
        yield from (char, "")[: cell_len(char)]


async def test_the_changes_that_are_sent_add_up_to_the_wall(known: Snapshot) -> None:
    """No cell is left behind, whatever changed: clocks, names as wide as two cells, pages, nothing at all."""
    named = [
        replace(one, event=one.event.model_copy(update={"name": "x会議室 大ホール"})) for one in many(known, 9).events
    ]
    renamed, other = (
        [replace(one, event=one.event.model_copy(update={"name": name})) for one in named]
        for name in ("会議室 大ホールx", "会議館 大ホールx")
    )
    crowds = [
        many(known, 25),
        many(known, 9),
        *(replace(known, events=tuple(one)) for one in (named, renamed, other, named, ())),
    ]
    feed, pictures = Feed(), list[Picture]()
    app = Replayed(feed.all(), FixedClock(), replace(STILL, scale=1), theme="dark", published=pictures.append)
    app.sent = {}
    async with app.run_test(size=(160, 45)) as pilot:
        for crowd in crowds:
            feed.give(crowd)
            await pilot.pause()
            shown = [list(_cells(plain(line))) for line in pictures[-1].lines]
            assert [[app.sent.get((x, y), " ") for x in range(160)] for y in range(45)] == shown


async def test_pages_are_turned_by_arrows_page_keys_and_space(known: Snapshot) -> None:
    shown = Shown(Feed(many(known, 200)), size=(80, 24))
    async with shown.running() as pilot:
        for key, page in (("right", 2), ("space", 3), ("pagedown", 4), ("left", 3), ("pageup", 2)):
            await pilot.press(key)
            assert f"page {page}/5" in shown.words


@pytest.mark.parametrize(("key", "code"), [("q", 0), ("ctrl+c", 130)])
async def test_q_and_an_interrupt_leave(known: Snapshot, key: str, code: int) -> None:
    shown = Shown(Feed(known))
    async with shown.running() as pilot:
        await pilot.press(key)
        await pilot.pause()
    assert shown.app.return_code == 0
    assert shown.app.return_value == code


async def test_a_thousand_keys_and_clicks_send_nothing_but_reads() -> None:
    """Any key but q and paging does nothing, and nothing that is done here reaches the platform. The bench does ten
    thousand."""
    simulator, methods = Simulator(clock=SimulatorClock(start=EVENING, paused=True)), list[str]()

    async def counted(
        scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
    ) -> None:
        methods.append(scope["method"])
        await simulator.app(scope, receive, send)

    settings = Settings(base_url="http://127.0.0.1:8787", token=SecretStr(simulator.token), read_only=True)
    clock, random = FixedClock(), Random(1)
    async with make_api(settings, clock=clock, mount=counted) as api:
        monitor = make_monitor(api, clock)
        app = Wallboard(monitor.snapshots(), clock, STILL, theme="dark")
        async with app.run_test(size=(80, 24)) as pilot:
            await mistreat(app, pilot, random, 1000)
            assert app.is_running
            assert len(app.screen_stack) == 1
        with pytest.raises(ReadOnly):
            await api.events.delete("never")
    assert methods
    assert set(methods) <= {"GET", "HEAD"}
