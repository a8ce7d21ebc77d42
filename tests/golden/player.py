"""Play a scenario to a monitor, with one clock for both, which passes without waiting."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import aclosing, asynccontextmanager, closing
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Literal

from golden.log import Log
from golden.warp import Warp
from livedeck.client import Api
from livedeck.monitor import History, Monitor, Snapshot
from livedeck.simulator import Simulator, SimulatorClock, load_scenario, serve

START = datetime(2026, 11, 21, 9, tzinfo=UTC)
TIMEOUT = 4.0
"""Maximum seconds of a reply (monitoring.md, "Cadence")."""

Wire = Literal["in process", "http"]
_Message = MutableMapping[str, Any]
_App = Callable[[_Message, Callable[[], Awaitable[_Message]], Callable[[_Message], Awaitable[None]]], Awaitable[None]]


class Clock:
    """Clock of the monitor: the time of its event loop."""

    def now(self) -> datetime:
        """Return the aware time, in UTC."""
        return START + timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        """Return the seconds since the play began."""
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        """Return after that many seconds of this clock."""
        await asyncio.sleep(seconds)


class Following(SimulatorClock):
    """Clock of the platform, which follows that of the monitor."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock.now(), paused=True)
        self._clock = clock

    def now(self) -> datetime:
        """The time of the clock that it follows."""
        return self._clock.now()


def play(scenario: str | Path, seed: int, wire: Wire = "in process") -> Log:
    """Return the log of a monitor while a scenario (name or file) is played to its end; cached in the process."""
    return _played(scenario, seed, wire)


@cache
def _played(scenario: str | Path, seed: int, wire: Wire) -> Log:
    log = Log(load_scenario(scenario))
    with asyncio.Runner(loop_factory=Warp) as runner:
        runner.run(_play(log, scenario, seed, wire))
    return log


def record(scenario: str | Path, seed: int, path: Path) -> Log:
    """Play like `play`, with a history at `path`."""
    log = Log(load_scenario(scenario))
    with asyncio.Runner(loop_factory=Warp) as runner:
        runner.run(_record(log, scenario, seed, path))
    return log


def record_show(snapshot: Path, path: Path) -> None:
    """Record the show of a snapshot that begins at START, to its end."""
    with closing(Simulator(snapshot=snapshot)) as simulator:
        assert simulator.scenario
        log = Log(simulator.scenario)
    with asyncio.Runner(loop_factory=Warp) as runner:
        runner.run(_record(log, snapshot, 1, path))


async def _record(log: Log, scenario: str | Path, seed: int, path: Path) -> None:
    history = await History.open(path, START)
    await _play(log, scenario, seed, "in process", history)
    await history.close()


def watched(scenario: Path, seed: int) -> list[tuple[float, Snapshot]]:
    """Return every snapshot of a play unchanged, with its second."""
    given: list[tuple[float, Snapshot]] = []
    with asyncio.Runner(loop_factory=Warp) as runner:
        runner.run(_play(Log(load_scenario(scenario)), scenario, seed, "in process", given=given))
    return given


async def _play(
    log: Log,
    scenario: str | Path,
    seed: int,
    wire: Wire,
    history: History | None = None,
    *,
    given: list[tuple[float, Snapshot]] | None = None,
) -> None:
    clock, chance = Clock(), Random(seed)
    is_snapshot = Path(scenario).suffix == ".tar"
    played: dict[str, Any] = {"snapshot": scenario} if is_snapshot else {"scenario": scenario}
    with closing(Simulator(seed=seed, clock=Following(clock), **played)) as simulator:
        async with _api(simulator, wire, clock, chance) as api:
            monitor = Monitor(api, clock, random=chance, history=history)
            async with aclosing(monitor.snapshots()) as snapshots:
                async for snapshot in snapshots:
                    log.note(snapshot, clock.monotonic())
                    if given is not None:
                        given.append((clock.monotonic(), snapshot))
                    if clock.monotonic() >= log.scenario.lasts:
                        break


@asynccontextmanager
async def _api(simulator: Simulator, wire: Wire, clock: Clock, chance: Random) -> AsyncIterator[Api]:
    clocks: dict[str, Any] = {"now": clock.now, "timer": clock.monotonic, "jitter": chance.random, "retry": 0.0}
    if wire == "in process":
        async with Api(
            base_url="http://127.0.0.1", token=simulator.token, mount=_hasty(simulator.app), **clocks
        ) as api:
            yield api
        return
    async with (
        serve(simulator) as addresses,
        Api(base_url=addresses.base_url, token=simulator.token, timeout=TIMEOUT, **clocks) as api,
    ):
        yield api


def _hasty(app: _App) -> _App:
    """Return the app for a play without a wire. A reply that takes too long fails the test; a wire would give it up."""

    async def hasty(scope: _Message, receive: Any, send: Any) -> None:
        async with asyncio.timeout(TIMEOUT):
            await app(scope, receive, send)

    return hasty
