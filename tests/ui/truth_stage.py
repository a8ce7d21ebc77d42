"""A deck and the simulated platform on one virtual clock, and the platform's own records of each second."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from textual.pilot import Pilot

from livedeck.cli.demo import demo_settings
from livedeck.cli.wiring import make_api
from livedeck.monitor import Monitor
from livedeck.simulator import Simulator, SimulatorClock
from livedeck.simulator.engine.faults import effects
from livedeck.ui.app import Deck
from ui.truth import Records
from virtual_clock import VirtualClock

START = datetime(2026, 11, 20, 21, 14, 7, tzinfo=UTC)


class Inline(ThreadPoolExecutor):
    """Do the work at once: a thread would take time of another kind."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001  whatever it is, the caller who awaits it gets it
            future.set_exception(error)
        return future


class Following(SimulatorClock):
    """The platform's clock: the time of another one."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__(clock.now(), paused=True)
        self._clock = clock

    def now(self) -> datetime:
        return self._clock.now()


@dataclass
class Watch:
    """A deck that watches a scenario, second by second."""

    deck: Deck
    pilot: Pilot[int]
    clock: VirtualClock
    records: Records

    async def advance_to(self, time: float) -> None:
        """Let the time pass, and keep the platform's records of each second."""
        while self.clock.monotonic() < time:
            await self.clock.run(self.clock.sleep(min(1.0, time - self.clock.monotonic())))
            self.records.note()

    async def resize(self, size: tuple[int, int]) -> None:
        """Give the terminal that size."""
        if tuple(self.deck.size) != size:
            await self.pilot.resize_terminal(*size)

    async def settle(self) -> None:
        """Repaint for this moment, until the picture stands still."""
        self.deck._ticking_since = None
        self.deck._tick()
        before, now = "", self.text()
        while before != now:
            for _ in range(3):
                await self.pilot.pause()
            before, now = now, self.text()

    def text(self) -> str:
        """Return the letters on the screen."""
        return "\n".join(strip.text.rstrip() for strip in self.deck.screen._compositor.render_strips(self.deck.size))


@asynccontextmanager
async def watching(scenario: str | None, seed: int) -> AsyncIterator[Watch]:
    """Open a deck that watches a scenario from its start; the demo's workspace without one."""
    asyncio.get_running_loop().set_default_executor(Inline())
    clock = VirtualClock(START)
    simulator = Simulator(seed=seed, clock=Following(clock), scenario=scenario)
    settings = demo_settings(simulator, timeout=60)
    slow_replies = patch.object(effects, "asyncio", SimpleNamespace(**vars(asyncio) | {"sleep": clock.sleep}))
    with closing(simulator), slow_replies:
        async with make_api(settings, clock=clock, mount=simulator.app) as api:
            monitor = Monitor(api, clock, random=Random(seed))
            names = {"user": settings.users, "folder": settings.folders}
            deck = Deck(monitor, clock, profile="DEMO", host=api.host, read_only=False, zone=UTC, api=api, names=names)
            async with deck.run_test(size=(120, 40)) as pilot:
                watch = Watch(deck, pilot, clock, Records(simulator))
                watch.records.note()
                yield watch
