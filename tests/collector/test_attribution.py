"""The collector knows by name who ends an event at an attached deck, over real HTTP and on every path."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from socket import gethostname

from cli.commands import livedeck
from collector.service import MAY, known, secret
from livedeck.cli.wiring import SystemClock
from livedeck.client import Api, Outgoing, Secret
from livedeck.collector.attached.history import AttachedHistory
from livedeck.collector.attached.link import Link
from livedeck.collector.serving.access import Access
from livedeck.collector.serving.app import collector_app
from livedeck.collector.serving.hub import Hub
from livedeck.http_server import serve_app
from livedeck.monitor import History, IngestState, Monitor, Snapshot
from livedeck.operations.events import CompleteEvent, EventTarget
from livedeck.operations.executor import Executor
from livedeck.operations.operation import Platform
from livedeck.presentation.metrics import Counted
from livedeck.simulator import Simulator, serve
from operations.rig import ScriptedPorts


@dataclass
class Room:
    """Platform, a collector that watches it, and a person with a token for each. `env`: variables that name them."""

    api: Api
    env: dict[str, str]
    monitor: Monitor
    hub: Hub
    link: Link

    async def complete(self, event_id: str, audit: History) -> None:
        """End the event as a person at a deck that records it, and make the collector poll."""
        ports = ScriptedPorts()
        executor = Executor(Platform(self.api), SystemClock(), confirmations=ports, progress=ports, audit=audit)
        result = await executor.run(CompleteEvent(EventTarget.of_event(await self.api.events.get(event_id))))
        assert result.has_happened, result.text
        await self.link.post("/v1/poke", {})

    async def watch(self, event_id: str) -> Snapshot:
        """Return the first snapshot in which that event is off air."""
        async with asyncio.timeout(60), aclosing(self.monitor.snapshots()) as snapshots:
            async for snapshot in snapshots:
                await self.hub.publish(snapshot)
                if any(ended.id == event_id for ended in snapshot.ended):
                    return snapshot
        raise AssertionError("a monitor never ends by itself")


@asynccontextmanager
async def room() -> AsyncIterator[Room]:
    """Yield a room with a real socket for each server."""
    clock = SystemClock()
    async with AsyncExitStack() as stack:
        simulator = stack.enter_context(closing(Simulator(seed=1)))
        platform = await stack.enter_async_context(serve(simulator))
        api = await stack.enter_async_context(Api(base_url=platform.base_url, token=simulator.token))
        history = await History.open(None, clock.now())
        stack.push_async_callback(history.close)
        monitor = Monitor(api, clock, random=Random(1), history=history)
        hub, tokens = Hub(monitor.clock, "b00t"), known(MAY)
        access = Access(lambda: tokens, clock)
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        app = collector_app(hub, monitor, history, access, Counted)
        address = await stack.enter_async_context(serve_app(listener, app, max_connections=8))
        outgoing = await stack.enter_async_context(Outgoing())
        env = {
            "LIVEDECK_BASE_URL": platform.base_url,
            "LIVEDECK_TOKEN": simulator.token,
            "LIVEDECK_COLLECTOR_URL": address,
        }
        yield Room(api, env, monitor, hub, Link(outgoing, [address], Secret(secret("anna"))))


async def test_who_completes_an_event_is_named_by_the_token_at_a_deck_and_at_a_prompt(tmp_path: Path) -> None:
    """And nobody is who told the collector nothing."""
    (tmp_path / "token").write_text(secret("anna"), encoding="utf-8")
    (tmp_path / "token").chmod(0o600)
    anna = f"anna@{gethostname()}"
    async with room() as made:
        await made.monitor.wait_ready()
        phases = {state.id: state.phase for state in made.monitor.snapshot.events}
        on_air = [key for key, phase in phases.items() if phase.ingest.state is IngestState.RECEIVING]
        attached = await AttachedHistory.open(None, SystemClock().now())
        attached.link = made.link
        alone = await History.open(None, SystemClock().now())
        env = {**made.env, "LIVEDECK_COLLECTOR_TOKEN_FILE": str(tmp_path / "token")}

        async def at_prompt(event_id: str) -> None:
            name = (await made.api.events.get(event_id)).name or event_id
            sent = "event", "complete", event_id, "--yes", "--confirm", name
            done = await asyncio.to_thread(livedeck, tmp_path, *sent, env=env)
            assert done.returncode == 0, done.stdout + done.stderr
            await made.link.post("/v1/poke", {})

        ways: tuple[tuple[Callable[[str], Awaitable[None]], str], ...] = (
            (partial(made.complete, audit=attached), anna),
            (partial(made.complete, audit=alone), ""),
            (at_prompt, anna),
        )
        for event_id, (complete, by) in zip(on_air, ways, strict=False):
            watching = asyncio.create_task(made.watch(event_id))
            await complete(event_id)
            ended = {event.id: event.by for event in (await watching).ended}
            assert ended[event_id] == by
        assert len(on_air) >= len(ways)
        for audit in (attached, alone):
            await audit.close()
