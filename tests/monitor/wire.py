"""Platform behind a socket that may lose, delay or replace its replies; an hour passes in seconds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import aclosing, asynccontextmanager
from datetime import datetime, timedelta
from random import Random
from typing import Any, TypeVar

from golden.warp import Warp
from livedeck.client import Api
from livedeck.monitor import Monitor, Snapshot
from livedeck.monitor.polling.machine import Machine
from monitor.stage import NOW, Stage

T = TypeVar("T")

PORTAL = b"<!doctype html><html><title>Welcome to our Wi-Fi</title><p>Please accept our terms.</html>"


def run(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of `work`, on a loop whose time jumps. Both ends of a socket run on it."""
    with asyncio.Runner(loop_factory=Warp) as runner:
        return runner.run(work)


class WallClock:
    """Clocks of this machine. The wall clock may be set, and both may stand still while the machine sleeps.

    `lag`: seconds by which this process gets the processor too late.
    """

    def __init__(self) -> None:
        self.ahead, self.slept, self.lag = 0.0, 0.0, 0.0

    def now(self) -> datetime:
        """Return the time that the machine's clock shows."""
        return NOW + timedelta(seconds=self.monotonic() + self.ahead)

    def monotonic(self) -> float:
        """Return the seconds since the test began."""
        return asyncio.get_running_loop().time() + self.slept

    async def sleep(self, seconds: float) -> None:
        """Return after that many seconds."""
        await asyncio.sleep(seconds + self.lag)


class TrueClock(WallClock):
    """Clock of the platform: it is never set, and goes on while the machine sleeps."""


class Platform(Stage):
    """Stage behind a socket. `lost`: share of replies that never arrive whole; `delay`: seconds before each.

    `portal`: every request gets 200 with a hotel's login page; `redirect`: every request is redirected to that page.
    """

    def __init__(self, *events: dict[str, Any], seed: int = 1) -> None:
        self.true_clock = TrueClock()
        super().__init__(self.true_clock, *events)
        self.lost, self.delay, self.portal, self.redirect = 0.0, 0.0, False, False
        self._random = Random(seed)
        self._tasks = set[asyncio.Task[Any]]()

    @asynccontextmanager
    async def serve(self) -> AsyncIterator[str]:
        """Yield the platform's address."""
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        try:
            port = server.sockets[0].getsockname()[1]
            yield f"http://127.0.0.1:{port}"
        finally:
            server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            while request := await reader.readuntil(b"\r\n\r\n"):
                if not await self._respond(request.split(b" ", 2)[1], writer):
                    break
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _respond(self, target: bytes, writer: asyncio.StreamWriter) -> bool:
        """Answer one request. Returns False if the connection is of no further use."""
        await asyncio.sleep(self.delay)
        if self.redirect:
            writer.write(b"HTTP/1.1 302 Found\r\nLocation: http://login.example.com/\r\nContent-Length: 0\r\n\r\n")
            return True
        if self.portal:
            await _send(writer, 200, b"text/html", PORTAL)
            return True
        if self._random.random() < self.lost:
            return await self._lose(writer)
        path, _, query = target.partition(b"?")
        messages: list[dict[str, Any]] = []

        async def send(message: Any) -> None:
            messages.append(message)

        async def receive() -> Any:
            return {"type": "http.request"}

        await self({"type": "http", "path": path.decode(), "query_string": query}, receive, send)
        headers = dict(messages[0]["headers"])
        await _send(writer, messages[0]["status"], b"application/json", messages[1]["body"], headers[b"date"])
        return True

    async def _lose(self, writer: asyncio.StreamWriter) -> bool:
        how = self._random.randrange(3)
        if how == 0:
            await _send(writer, 503, b"application/json", b"{}")
            return True
        if how == 1:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n{")
            writer.transport.abort()
            return False
        await asyncio.sleep(30)
        return False


async def _send(writer: asyncio.StreamWriter, status: int, media_type: bytes, body: bytes, date: bytes = b"") -> None:
    head = [b"HTTP/1.1 %d X" % status, b"Content-Type: " + media_type, b"Content-Length: %d" % len(body)]
    writer.write(b"\r\n".join([*head, *([b"Date: " + date] if date else []), b"", body]))
    await writer.drain()


async def watch(
    platform: Platform,
    seconds: float,
    *steps: tuple[float, Callable[[WallClock], None]],
    see: Callable[[Snapshot], None] = lambda _: None,
    focus: str | None = None,
    machine: Machine | None = None,
) -> list[Snapshot]:
    """Return every snapshot of `seconds` by the platform's clock.

    `steps`: times and changes of this machine's clock, or of anything else. `see`: called with each new snapshot.
    `focus`: event that a viewer looks at. `machine`: measurements of this process.
    """
    clock, snapshots = WallClock(), list[Snapshot]()
    for when, step in steps:
        asyncio.get_running_loop().call_later(when, step, clock)
    async with platform.serve() as address, _api(address, clock) as api:
        monitor = Monitor(api, clock, random=Random(1), machine=machine)
        monitor.set_focus(focus)
        async with aclosing(monitor.snapshots()) as coming:
            async for snapshot in coming:
                snapshots.append(snapshot)
                see(snapshot)
                if platform.true_clock.monotonic() >= seconds:
                    break
    return snapshots


def _api(address: str, clock: WallClock) -> Api:
    return Api(base_url=address, token="token-of-tests", timeout=4.0, now=clock.now, timer=clock.monotonic)
