"""Requests that two servers may read differently, and endless ones, are refused; nothing after them is read."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from livedeck.http_server import MAX_FIELDS, MAX_HEAD, serve_app
from livedeck.simulator import Simulator, serve

HOST = "Host: 127.0.0.1\r\n"
POST = f"POST /asked HTTP/1.1\r\n{HOST}"
GET = f"GET /asked HTTP/1.1\r\n{HOST}"
BEHIND = f"GET /behind HTTP/1.1\r\n{HOST}\r\n"
CHUNKS = "0\r\n\r\n"

AMBIGUOUS = {
    "a length before chunks": f"{POST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n{CHUNKS}",
    "a length behind chunks": f"{POST}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n{CHUNKS}",
    "a length beside chunks in other letters": f"{POST}CONTENT-LENGTH: 5\r\ntransfer-encoding: CHUNKED\r\n\r\n{CHUNKS}",
    "chunks that end in something else": f"{POST}Transfer-Encoding: chunked, identity\r\n\r\n{CHUNKS}",
    "chunks in something else": f"{POST}Transfer-Encoding: identity, chunked\r\n\r\n{CHUNKS}",
    "chunks twice": f"{POST}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n{CHUNKS}",
    "chunks by another name": f"{POST}Transfer-Encoding: xchunked\r\n\r\n{CHUNKS}",
    "chunks behind a control": f"{POST}Transfer-Encoding: \x0bchunked\r\n\r\n{CHUNKS}",
    "a blank before the colon": f"{POST}Transfer-Encoding : chunked\r\n\r\n{CHUNKS}",
    "chunks of HTTP/1.0": f"POST /asked HTTP/1.0\r\n{HOST}Transfer-Encoding: chunked\r\n\r\n{CHUNKS}",
    "two lengths": f"{POST}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{{}}x",
    "two lengths in a field": f"{POST}Content-Length: 2, 3\r\n\r\n{{}}x",
    "a length with a sign": f"{POST}Content-Length: +2\r\n\r\n{{}}",
    "a length below zero": f"{POST}Content-Length: -2\r\n\r\n{{}}",
    "a length in hexadecimal digits": f"{POST}Content-Length: 0x2\r\n\r\n{{}}",
    "no length": f"{POST}Content-Length: \r\n\r\n{{}}",
    "a return in a value": f"{GET}X-A: b\rX-B: c\r\n\r\n",
    "a zero in a value": f"{GET}X-A: b\0c\r\n\r\n",
    "a field without a colon": f"{GET}anything\r\n\r\n",
    "two hosts": f"{GET}Host: elsewhere\r\n\r\n",
}
TOO_LONG = {
    "a field of 100 kB": f"{GET}X-A: {'a' * 100_000}\r\n\r\n",
    "a head over the limit": f"{GET}X-A: {'a' * MAX_HEAD}\r\n\r\n",
    "fields over the limit": GET + "".join(f"X-{number}: a\r\n" for number in range(MAX_FIELDS)) + "\r\n",
    "64k fields": GET + "".join(f"X-{number}: a\r\n" for number in range(65_536)) + "\r\n",
    "a path of 100 kB": f"GET /asked?{'a' * 100_000} HTTP/1.1\r\n{HOST}\r\n",
}
FINE = {
    "a plain one": f"{GET}\r\n",
    "a length": f"{POST}Content-Length: 2\r\n\r\n{{}}",
    "chunks": f"{POST}Transfer-Encoding: chunked\r\n\r\n2\r\n{{}}\r\n{CHUNKS}",
    "a head just within the limit": f"{GET}X-A: {'a' * (MAX_HEAD - 200)}\r\n\r\n",
    "fields up to the limit": GET + "".join(f"X-{number}: a\r\n" for number in range(MAX_FIELDS - 1)) + "\r\n",
}


Served = Callable[[], AbstractAsyncContextManager[tuple[int, list[str]]]]


@asynccontextmanager
async def ours() -> AsyncIterator[tuple[int, list[str]]]:
    """Yield the port of the server of collector and wall, and the requested paths."""
    asked: list[str] = []

    async def answer(request: Request) -> PlainTextResponse:
        asked.append(request.url.path)
        await request.body()
        return PlainTextResponse("answered")

    app = Starlette(routes=[Route("/{path}", answer, methods=["GET", "POST"])])
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        async with serve_app(listener, app, max_connections=8):
            yield port, asked


@asynccontextmanager
async def simulated() -> AsyncIterator[tuple[int, list[str]]]:
    """Yield the port of the simulator, which has a server of its own, and the requested paths."""
    simulator = Simulator(seed=1)
    try:
        async with serve(simulator) as addresses:
            yield int(addresses.base_url.rpartition(":")[2]), []
    finally:
        simulator.close()


async def statuses(port: int, data: str) -> list[int]:
    """Return the status of each reply until the server closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    received = bytearray()

    async def receive() -> None:
        while some := await reader.read(65_536):
            received.extend(some)

    async with asyncio.timeout(30):
        receiving = asyncio.ensure_future(receive())
        try:
            writer.write(data.encode("latin-1"))
            await writer.drain()
            await receiving
        except ConnectionError:  # it did not read all of it
            await asyncio.wait([receiving])
            receiving.exception()
        finally:
            writer.close()
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", received)]


@pytest.mark.parametrize("server", [ours, simulated])
@pytest.mark.parametrize("name", [*AMBIGUOUS, *TOO_LONG])
async def test_what_is_ambiguous_or_too_long_is_refused_and_ends_the_connection(name: str, server: Served) -> None:
    """A request in its wake is that of somebody else, as the server before it reads the same bytes."""
    async with server() as (port, asked):
        answered = await statuses(port, {**AMBIGUOUS, **TOO_LONG}[name] + BEHIND)
        assert answered in ([400], [431] if name in TOO_LONG else [400]), answered
        assert not asked


@pytest.mark.parametrize("name", FINE)
async def test_what_any_client_sends_is_answered_and_what_follows_too(name: str) -> None:
    async with ours() as (port, asked):
        last = BEHIND.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")
        assert await statuses(port, FINE[name] + last) == [200, 200]
        assert asked == ["/asked", "/behind"]


async def test_a_head_that_comes_in_pieces_is_bounded_too() -> None:
    """What is kept of it, while it has no end, is no more than a head may have."""
    async with ours() as (port, asked):
        endless = GET + f"X-A: {'a' * 1000}\r\n" * (4 * MAX_HEAD // 1000)
        assert await statuses(port, endless) == [400]
        assert not asked
