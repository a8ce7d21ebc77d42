"""An executor on the simulated platform in process, whose ports are scripted: nobody has to look at anything."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

import httpx

from livedeck.client import Api, Event, NotFound, Progress
from livedeck.monitor import ActionRecord, Snapshot
from livedeck.operations.events import EventTarget
from livedeck.operations.executor import Cancelled, Executor
from livedeck.operations.operation import Confirmation, Operation, OperationResult, Platform, Target
from livedeck.simulator import Simulator, SimulatorClock

EVENING = datetime(2026, 11, 20, 21, 14, 7, tzinfo=UTC)
BASE = "http://127.0.0.1"
READS = {"GET", "HEAD"}
ON_AIR = "Choir, hall B"
DRAFT = "Untitled event"
REHEARSAL = "Rehearsal Tuesday"
"""Events of the simulator's workspace; the last one is over, and has a recording."""

R = TypeVar("R")
Hook = Callable[[], Awaitable[object]]


class ScriptedClock:
    """Stands still; every sleep is over at once, and noted."""

    def __init__(self) -> None:
        self.sleeps: list[float] = []

    def now(self) -> datetime:
        return EVENING

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        await asyncio.sleep(0)


@dataclass
class ScriptedPorts:
    """Says yes unless `agrees` is False. `before_answer`: what happens while it is asked, once each, in this order.

    `stops`: how many works are stopped once they hang.
    """

    agrees: bool = True
    before_answer: list[Hook] = field(default_factory=list)
    stops: int = 0
    asked: list[Confirmation] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)
    told: list[OperationResult] = field(default_factory=list)
    records: list[ActionRecord] = field(default_factory=list)
    refreshes: int = 0

    async def confirm(self, _operation: Operation[Any], confirmation: Confirmation) -> bool:
        self.asked.append(confirmation)
        if self.before_answer:
            await self.before_answer.pop(0)()
        return self.agrees

    async def watch(self, title: str, work: Callable[[Progress], Awaitable[R]]) -> R:
        self.titles.append(title)
        task = asyncio.ensure_future(work(lambda *_: None))
        if self.stops:
            self.stops -= 1
            await asyncio.wait({task}, timeout=0.2)  # long enough to be sent; its answer never comes
            task.cancel()
            await asyncio.wait({task})
            raise Cancelled
        return await task

    async def record_action(self, record: ActionRecord) -> None:
        self.records.append(record)

    def notify(self, _operation: Operation[Any], result: OperationResult) -> None:
        self.told.append(result)

    def refresh(self) -> None:
        self.refreshes += 1


@dataclass
class Rig:
    """`api`: what the executor goes by, whose requests are noted. `other`: somebody else on the same platform.

    `blocked`: why nothing may be sent. `snapshot`: what the monitor knows. `after_write`: what happens once a change
    has arrived.
    """

    simulator: Simulator
    api: Api
    other: Api
    ports: ScriptedPorts
    clock: ScriptedClock
    executor: Executor
    requests: list[tuple[str, str]]
    after_write: list[Hook]
    blocked: list[str] = field(default_factory=list)
    snapshot: Snapshot | None = None
    write_arrived: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def writes(self) -> list[tuple[str, str]]:
        """The requests that change something."""
        return [request for request in self.requests if request[0] not in READS]

    async def event(self, name: str) -> Event:
        """The event of that name, as the platform has it."""
        return next(event for event in (await self.other.events.list(per_page=100)).items if event.name == name)

    async def target(self, name: str) -> EventTarget:
        """The same as a target."""
        return EventTarget.of_event(await self.event(name))

    async def run(self, operation: Operation[Any]) -> OperationResult:
        """Run it; the requests that were noted are its own."""
        self.requests.clear()
        return await self.executor.run(operation)

    async def fault(self, **what: Any) -> None:
        """Let a fault of the platform strike requests from now on."""
        await self._control("POST", what)

    async def calm(self) -> None:
        """End every fault."""
        await self._control("DELETE", None)

    async def _control(self, method: str, body: Any) -> None:
        headers = {"Authorization": f"Bearer {self.simulator.control_token}"}
        transport = httpx.ASGITransport(self.simulator.app)
        async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
            answer = await client.request(method, "/_control/faults", json=body, headers=headers)
            assert answer.is_success, answer.text


@asynccontextmanager
async def rig(*, read_only: bool = False) -> AsyncIterator[Rig]:
    """The demo workspace at `EVENING`, and an executor that may change it."""
    simulator = Simulator(seed=1, clock=SimulatorClock(start=EVENING, paused=True))
    requests: list[tuple[str, str]] = []
    after_write: list[Hook] = []
    blocked: list[str] = []

    async def noting(scope: Any, receive: Any, send: Any) -> None:
        requests.append((scope["method"], scope["path"].removeprefix("/upload")))
        if scope["method"] not in READS:
            made.write_arrived.set()
        try:
            await simulator.app(scope, receive, send)
        finally:
            if scope["method"] not in READS:
                for hook in after_write:
                    await hook()

    options: dict[str, Any] = {"base_url": BASE, "upload_url": f"{BASE}/upload", "token": simulator.token}
    clock, ports = ScriptedClock(), ScriptedPorts()
    async with (
        Api(**options, mount=noting, read_only=read_only, retry=0.0) as api,
        Api(**options, mount=simulator.app) as other,
    ):

        def blocked_reason(_: Target) -> str:
            return blocked[-1] if blocked else ""

        executor = Executor(
            Platform(api, lambda: made.snapshot),
            clock,
            confirmations=ports,
            progress=ports,
            audit=ports,
            blocked_reason=blocked_reason,
            notify=ports.notify,
            refresh=ports.refresh,
        )
        made = Rig(simulator, api, other, ports, clock, executor, requests, after_write, blocked)
        yield made
    simulator.close()


async def is_gone(read: Awaitable[object]) -> bool:
    """Whether what is read there is not there any more."""
    try:
        await read
    except NotFound:
        return True
    return False
