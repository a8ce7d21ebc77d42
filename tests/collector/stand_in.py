"""Collector of literal bytes on raw sockets. It shares no code with livedeck, and does what no collector should."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

PATIENCE = 600
"""Seconds, virtual in most tests, after which an expected event counts as missing."""


@dataclass(frozen=True)
class Asked:
    """Received request."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


Answer = Callable[[Asked, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class StandIn:
    """Requests so far. `address`: address of the server."""

    answer: Answer
    address: str = ""
    asked: list[Asked] = field(default_factory=list)
    writers: set[asyncio.StreamWriter] = field(default_factory=set)
    came: asyncio.Condition = field(default_factory=asyncio.Condition)

    def bodies(self, method: str, end: str) -> list[Any]:
        """Return the bodies of requests whose path has this end."""
        asked = (asked for asked in self.asked if (asked.method, asked.target[-len(end) :]) == (method, end))
        return [json.loads(request.body or b"null") for request in asked]

    async def wait_for(self, method: str, end: str, count: int = 1) -> list[Any]:
        """Wait for `count` such requests, and return their bodies."""
        async with asyncio.timeout(PATIENCE), self.came:
            await self.came.wait_for(lambda: len(self.bodies(method, end)) >= count)
        return self.bodies(method, end)

    def cut(self) -> None:
        """End every connection, like a broken cable."""
        for writer in self.writers:
            writer.transport.abort()


def plain(status: str, body: bytes, *headers: str) -> bytes:
    """Return a reply with its length."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def saying(*parts: bytes) -> Answer:
    """Reply to any request with these pieces of bytes, each sent by itself, and close the connection."""

    async def answer(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        for part in parts:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(0)

    return answer


@asynccontextmanager
async def stand_in(answer: Answer, port: int = 0) -> AsyncIterator[StandIn]:
    """Yield a stand-in on a port of loopback; 0: a free port."""
    server = StandIn(answer)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.writers.add(writer)
        with suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            asked = await _read(reader)
            server.asked.append(asked)
            async with server.came:
                server.came.notify_all()
            await server.answer(asked, writer)
            if writer.can_write_eof():
                writer.write_eof()
            await reader.read()
        server.writers.discard(writer)
        writer.close()

    listener = await asyncio.start_server(serve, "127.0.0.1", port)
    try:
        server.address = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
        yield server
    finally:
        listener.close()
        server.cut()
        for _ in range(5):
            await asyncio.sleep(0)  # what is closed on either side is closed in the turns that follow


async def _read(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.rstrip().split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Asked(method, target, headers, body)
