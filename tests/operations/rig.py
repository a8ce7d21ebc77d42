"""Executor on the simulated platform in process, with scripted ports: no person is needed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar, cast

import httpx
from starlette.applications import Starlette

from livedeck.client import Api, Event, NotFound, Progress
from livedeck.monitor import ActionRecord, IntentRecord, Snapshot
from livedeck.operations.events import EventTarget
from livedeck.operations.executor import Cancelled, Executor
from livedeck.operations.operation import Confirmation, Operation, OperationResult, Platform, Target
from livedeck.simulator import Simulator, SimulatorClock, serve

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
    """Clock that only sleeps move. Each sleep is recorded, ends at once, and moves the platform's clock, too.

    `on_sleep`: functions for the next sleeps, called once each, in this order.
    """

    def __init__(self, platform: SimulatorClock) -> None:
        self.sleeps: list[float] = []
        self.on_sleep: list[Hook] = []
        self._platform = platform

    def now(self) -> datetime:
        return EVENING + timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        return sum(self.sleeps)

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self._platform.step(seconds)
        if self.on_sleep:
            await self.on_sleep.pop(0)()
        await asyncio.sleep(0)


@dataclass
class ScriptedPorts:
    """Ports that confirm everything unless `agrees` is False.

    `before_answer`: functions called while they are asked, once each, in this order. `before_send`: functions called
    between the last read and the request. `stops_after`: function after which the first work is stopped.
    """

    agrees: bool = True
    before_answer: list[Hook] = field(default_factory=list)
    before_send: list[Hook] = field(default_factory=list)
    stops_after: Hook | None = None
    asked: list[Confirmation] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)
    told: list[OperationResult] = field(default_factory=list)
    intents: list[IntentRecord] = field(default_factory=list)
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
        if happened := self.stops_after:
            self.stops_after = None
            await happened()
            task.cancel()
            await asyncio.wait({task})
            raise Cancelled
        return await task

    async def record_intent(self, record: IntentRecord) -> None:
        self.intents.append(record)
        for hook in self.before_send:
            await hook()

    async def record_action(self, record: ActionRecord) -> bool:
        self.records.append(record)
        return True

    def notify(self, _operation: Operation[Any], result: OperationResult) -> None:
        self.told.append(result)

    def refresh(self) -> None:
        self.refreshes += 1


@dataclass
class Rig:
    """Simulated platform with an executor.

    `platform`: the simulator's app. `api`: client of the executor, whose requests are recorded. `other`: client of
    another person on the same platform. `blocked`: reasons why nothing may be sent. `snapshot`: what the monitor has
    polled. `after_write`: functions called after a change has arrived. `delivers_twice`: the network delivers each
    change twice, and its second response arrives.
    """

    simulator: Simulator
    platform: Any
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
    delivers_twice: bool = False

    @property
    def writes(self) -> list[tuple[str, str]]:
        """Requests that change something."""
        return [request for request in self.requests if request[0] not in READS]

    async def event(self, name: str) -> Event:
        """Return the event of that name, as the platform has it."""
        return next(event for event in (await self.other.events.list(per_page=100)).items if event.name == name)

    async def target(self, name: str) -> EventTarget:
        """Return the event of that name as a target."""
        return EventTarget.of_event(await self.event(name))

    def other_executor(self) -> Executor:
        """Return the executor of another person, whose ports confirm everything."""
        ports = ScriptedPorts()
        return Executor(Platform(self.other), self.clock, confirmations=ports, progress=ports)

    async def run(self, operation: Operation[Any]) -> OperationResult:
        """Run the operation; only its own requests are recorded."""
        self.requests.clear()
        return await self.executor.run(operation)

    async def fault(self, **what: Any) -> None:
        """Apply a fault of the platform to requests from now on."""
        match = {name: what.pop(name) for name in ("method", "path") if name in what}
        await self._control("POST", what | {"match": match})

    async def calm(self) -> None:
        """End every fault."""
        await self._control("DELETE", None)

    async def _control(self, method: str, body: Any) -> None:
        headers = {"Authorization": f"Bearer {self.simulator.control_token}"}
        transport = httpx.ASGITransport(self.platform)
        async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
            answer = await client.request(method, "/_control/faults", json=body, headers=headers)
            assert answer.is_success, answer.text


async def _delivered_once(app: Any, scope: Any, receive: Any) -> Any:
    """Deliver a request whose response is lost. Return a `receive` that delivers it again."""
    message = await receive()
    while message.get("more_body"):
        more = await receive()
        message = {**more, "body": message["body"] + more.get("body", b"")}

    async def again() -> Any:
        return message

    async def lose(_: Any) -> None: ...

    await app(dict(scope), again, lose)
    return again


@asynccontextmanager
async def rig(
    *,
    read_only: bool = False,
    data: Path | None = None,
    patience_seconds: float | None = None,
    proxied: Callable[[str], AbstractAsyncContextManager[str]] = nullcontext,
) -> AsyncIterator[Rig]:
    """Yield the demo workspace at `EVENING`, with an executor that may change it.

    `data`: data file of the simulator. `patience_seconds`: timeout of the executor's client, over a socket; None: in
    process. `proxied`: serves the address of the API at the address that it yields.
    """
    simulator = Simulator(seed=1, clock=SimulatorClock(start=EVENING, paused=True), data=data)
    requests: list[tuple[str, str]] = []
    after_write: list[Hook] = []
    blocked: list[str] = []
    app = simulator.app

    async def noting(scope: Any, receive: Any, send: Any) -> None:
        requests.append((scope["method"], scope["path"].removeprefix("/upload")))
        if scope["method"] not in READS:
            made.write_arrived.set()
        try:
            if made.delivers_twice and scope["method"] not in READS:
                receive = await _delivered_once(app, scope, receive)
            await app(scope, receive, send)
        finally:
            if scope["method"] not in READS:
                for hook in after_write:
                    await hook()

    clock, ports = ScriptedClock(simulator.clock), ScriptedPorts()
    token: dict[str, Any] = {"token": simulator.token, "read_only": read_only, "retry": 0.0, "rate": 1000.0}
    async with AsyncExitStack() as stack:
        if patience_seconds is None:
            client = Api(base_url=BASE, upload_url=f"{BASE}/upload", mount=noting, **token)
        else:
            simulator.app = cast("Starlette", noting)  # any ASGI app is served
            addresses = await stack.enter_async_context(serve(simulator))
            base_url = await stack.enter_async_context(proxied(addresses.base_url))
            client = Api(
                base_url=base_url,
                upload_url=addresses.upload_url.replace(addresses.base_url, base_url),
                timeout=patience_seconds,
                upload_timeout=patience_seconds,
                **token,
            )
        api = await stack.enter_async_context(client)
        other = await stack.enter_async_context(
            Api(base_url=BASE, upload_url=f"{BASE}/upload", token=simulator.token, mount=app)
        )

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
        stack.push_async_callback(executor.stop_watches)
        made = Rig(simulator, app, api, other, ports, clock, executor, requests, after_write, blocked)
        yield made
    simulator.close()


async def is_gone(read: Awaitable[object]) -> bool:
    """Return whether a read of the object finds it gone."""
    try:
        await read
    except NotFound:
        return True
    return False
