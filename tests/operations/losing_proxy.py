"""Raw proxy between client and simulator: it passes reads on, and loses, delays, doubles or swaps changes."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

READS = {b"GET", b"HEAD"}
ANOTHER, ANOTHER_NEW, BEFORE = "another", "another new", "before"
"""Subjects of the replies that the proxy swaps in (`Exchange.others`)."""


@dataclass
class Exchange:
    """Request on a connection of the client. `request`: head and body, as received.

    `others`: subject -> data of the replies to other requests.
    """

    proxy: LosingProxy
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    request: bytes
    others: Mapping[str, object]

    async def deliver(self) -> bytes:
        """Send the request to the platform. Returns the whole answer."""
        return await self.proxy.ask(self.request)

    async def deliver_half(self) -> None:
        """Send the first half of the request to the platform, and hang up."""
        _, writer = await self.proxy.connect()
        writer.write(self.request[: len(self.request) // 2])
        await writer.drain()
        await _close(writer)

    async def answer(self, raw: bytes) -> None:
        """Send bytes to the client."""
        self.writer.write(raw)
        await self.writer.drain()

    async def hang_up(self) -> None:
        """Close the connection of the client."""
        await _close(self.writer)

    def reset(self) -> None:
        """Abort the connection of the client, so that it reads a reset."""
        sock: socket.socket = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def outwait(self) -> None:
        """Wait until the client hangs up."""
        with suppress(ConnectionError):
            await self.reader.read()


Fault = Callable[[Exchange], Awaitable[object]]
"""Treatment of a change by the proxy."""


@dataclass
class LosingProxy:
    """Proxy in front of `upstream`. It treats changes with `fault`, and passes everything on while that is None.

    `delivered`: number of the changes that reached the platform whole. `sent`: number of those that the client sent.
    `late`: requests to deliver later (`deliver_late`).
    """

    upstream: str
    fault: Fault | None = None
    others: Mapping[str, object] = field(default_factory=dict)
    delivered: int = 0
    sent: int = 0
    late: list[bytes] = field(default_factory=list)
    address: str = ""

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Open a connection to the platform."""
        url = urlsplit(self.upstream)
        return await asyncio.open_connection(url.hostname, url.port)

    async def ask(self, request: bytes) -> bytes:
        """Send a request on a connection of its own. Returns the whole answer, which leaves connections open."""
        self.delivered += request.partition(b" ")[0] not in READS
        reader, writer = await self.connect()
        with closing(writer.transport):
            writer.write(request.replace(b"\r\n", b"\r\nConnection: close\r\n", 1))
            await writer.drain()
            raw = await reader.read(-1)
        return re.sub(rb"(?i)\r\nconnection: close", b"", raw, count=1)

    async def deliver_late(self) -> None:
        """Deliver the held requests."""
        while self.late:
            await self.ask(self.late.pop())

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a connection of the client to its end."""
        with suppress(ConnectionError, asyncio.IncompleteReadError), closing(writer.transport):
            while not writer.is_closing():
                request = await _read_request(reader)
                if request.partition(b" ")[0] in READS or self.fault is None:
                    writer.write(await self.ask(request))
                    await writer.drain()
                else:
                    self.sent += 1
                    await self.fault(Exchange(self, reader, writer, request, self.others))


async def _read_request(reader: asyncio.StreamReader) -> bytes:
    head = (await reader.readuntil(b"\r\n\r\n")).replace(b"Connection: keep-alive\r\n", b"")
    assert b"chunked" not in head.lower(), "the client announces the size of a body"
    size = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
    return head + (await reader.readexactly(int(size[1])) if size else b"")


async def _close(writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        writer.close()
        await writer.wait_closed()


@asynccontextmanager
async def losing_proxy(upstream: str) -> AsyncIterator[LosingProxy]:
    """Serve a proxy on a free port; its connections end with the block."""
    proxy, talks = LosingProxy(upstream), set[asyncio.Task[None]]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        talks.add(task)
        with suppress(asyncio.CancelledError):
            await proxy.talk(reader, writer)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        proxy.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield proxy
        for task in talks:
            task.cancel()
        await asyncio.gather(*talks, return_exceptions=True)
        await asyncio.sleep(0)  # the loop closes the sockets in its next pass


def said(status: int, body: object) -> bytes:
    """Build an answer with a body of JSON, or of HTML if it is a text."""
    is_page = isinstance(body, str)
    raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    kind = "text/html" if is_page else "application/json"
    return f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(raw)}\r\n\r\n".encode() + raw


NOT_FOUND = said(404, {"error": {"code": 404404, "message": "not found"}})
CONFLICT = said(409, {"error": {"code": 409409, "message": "not allowed now"}})
PAGE = said(200, "<!doctype html><title>Sign in</title><p>Sign in to go on")
BAD_GATEWAY = said(502, "<html><title>502 Bad Gateway</title>")
PROXY_404 = said(404, "<html><title>404 Not Found</title>")
SUCCESS = said(200, {"data": {"success": True}})


async def _lose(exchange: Exchange) -> None:
    await exchange.hang_up()


async def _lose_silently(exchange: Exchange) -> None:
    await exchange.outwait()


async def _hold_back(exchange: Exchange) -> None:
    exchange.proxy.late.append(exchange.request)
    await exchange.outwait()


async def _lose_answer(exchange: Exchange) -> None:
    await exchange.deliver()
    await exchange.hang_up()


async def _reset_after(exchange: Exchange) -> None:
    await exchange.deliver()
    exchange.reset()


async def _delay_answer(exchange: Exchange) -> None:
    raw = await exchange.deliver()
    await exchange.outwait()
    with suppress(ConnectionError):
        await exchange.answer(raw)


async def _double_first(exchange: Exchange) -> None:
    first = await exchange.deliver()
    await exchange.deliver()
    await exchange.answer(first)


async def _double_second(exchange: Exchange) -> None:
    await exchange.deliver()
    await exchange.answer(await exchange.deliver())


async def _double_both(exchange: Exchange) -> None:
    await exchange.answer(await exchange.deliver() + await exchange.deliver())


async def _half_answer(exchange: Exchange) -> None:
    raw = await exchange.deliver()
    await exchange.answer(raw[: len(raw) - 8])
    await exchange.hang_up()


async def _half_head(exchange: Exchange) -> None:
    raw = await exchange.deliver()
    await exchange.answer(raw[: raw.index(b"\r\n\r\n") - 3])
    await exchange.hang_up()


async def _half_request(exchange: Exchange) -> None:
    await exchange.deliver_half()
    await exchange.hang_up()


def _instead(raw: bytes) -> Fault:
    async def fault(exchange: Exchange) -> None:
        await exchange.answer(raw)

    return fault


def _after(raw: bytes) -> Fault:
    async def fault(exchange: Exchange) -> None:
        await exchange.deliver()
        await exchange.answer(raw)

    return fault


def _swap(about: str, *, is_lost: bool) -> Fault:
    """Answer with what another request gets; the request itself is lost or arrives."""

    async def fault(exchange: Exchange) -> None:
        if not is_lost:
            await exchange.deliver()
        await exchange.answer(said(200, {"data": exchange.others[about]}))

    return fault


FAULTS: Mapping[str, Fault] = {
    "request lost": _lose,
    "request lost, silence": _lose_silently,
    "request late": _hold_back,
    "answer lost": _lose_answer,
    "answer lost, reset": _reset_after,
    "answer late": _delay_answer,
    "twice, first answer": _double_first,
    "twice, second answer": _double_second,
    "twice, both answers": _double_both,
    "another object": _swap(ANOTHER, is_lost=False),
    "another object, request lost": _swap(ANOTHER, is_lost=True),
    "another new object": _swap(ANOTHER_NEW, is_lost=False),
    "another new object, request lost": _swap(ANOTHER_NEW, is_lost=True),
    "the object from before": _swap(BEFORE, is_lost=False),
    "the object from before, request lost": _swap(BEFORE, is_lost=True),
    "404": _after(NOT_FOUND),
    "404, request lost": _instead(NOT_FOUND),
    "404 of a proxy": _after(PROXY_404),
    "409": _after(CONFLICT),
    "409, request lost": _instead(CONFLICT),
    "page": _after(PAGE),
    "page, request lost": _instead(PAGE),
    "502": _after(BAD_GATEWAY),
    "502, request lost": _instead(BAD_GATEWAY),
    "half of the answer": _half_answer,
    "half of the head": _half_head,
    "half of the request": _half_request,
}

SILENT = {"request lost, silence", "request late", "answer late"}
"""Faults in which the client waits until its timeout."""
