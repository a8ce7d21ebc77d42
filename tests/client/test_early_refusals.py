"""A refusal that arrives during an upload is reported as such; a failed expectation costs no upload."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from client.calls import VTT
from client.test_faults import answer, error
from client.test_transport import api_at
from livedeck.client import Api, Material, Rejected


@asynccontextmanager
async def refusing(answer: bytes, *, closes: bool, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """Yield a platform that replies as soon as it has the head of a request, and reads no body."""
    gone = asyncio.Event()
    talks: set[asyncio.Task[None] | None] = set()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talks.add(asyncio.current_task())
        with suppress(ConnectionError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            await writer.drain()
            if not closes:
                await gone.wait()
                writer.transport.abort()  # it read nothing, and so would not hear that the client has gone
        writer.close()
        with suppress(ConnectionError, ssl.SSLError):
            await writer.wait_closed()

    server = await asyncio.start_server(talk, "127.0.0.1", 0, ssl=tls)
    async with server:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        gone.set()
    await asyncio.gather(*(talk for talk in talks if talk))


def sparse(folder: Path, size: int) -> Path:
    """Return a file of that size that takes no room on the disk."""
    file = folder / "slides.pdf"
    with file.open("wb") as sparse_file:
        sparse_file.truncate(size)
    return file


async def refused(api: Api, file: Path) -> Rejected:
    with pytest.raises(Rejected) as caught:
        await api.materials.upload("v", file, file.name, "Slides")
    return caught.value


@pytest.mark.parametrize("size", [1000, 300 * 2**20], ids=["small", "300 MiB"])
@pytest.mark.parametrize("closes", [True, False], ids=["closes", "stays open"])
@pytest.mark.parametrize(("status", "code"), [(413, 413413), (401, 401401), (400, 400400)])
async def test_an_upload_ends_at_its_refusal(status: int, code: int, closes: bool, size: int, tmp_path: Path) -> None:
    async with refusing(error(status, code), closes=closes) as address, api_at(address) as api:
        assert (await refused(api, sparse(tmp_path, size))).status == status


LARGE = 2**20 + 1
"""Bytes from which on a body is held back for `100 Continue`."""

MADE = answer(200, b'{"data": {"id": "m1"}}')

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def talking(*talks: Talk) -> AsyncIterator[str]:
    """Yield a platform that has one of these conversations on each of its connections, in this order."""
    left = list(talks)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await left.pop(0)(reader, writer)
            await writer.drain()
        finally:
            writer.close()

    async with await asyncio.start_server(talk, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    assert not left


async def head_of(reader: asyncio.StreamReader) -> bytes:
    return await reader.readuntil(b"\r\n\r\n")


async def refuse_expectation(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    assert b"\r\nExpect: 100-continue\r\n" in await head_of(reader)
    writer.write(answer(417, b""))


async def take_plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    assert b"Expect" not in await head_of(reader)
    assert not (await reader.readexactly(LARGE)).strip(b"\0")
    writer.write(MADE)


async def never_ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send no `100 Continue`, like some proxies."""
    assert b"\r\nExpect: 100-continue\r\n" in await head_of(reader)
    await reader.readexactly(LARGE)
    writer.write(MADE)


async def ask_late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await head_of(reader)
    await reader.readexactly(1000)
    writer.write(b"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\nX-Hop: 1\r\n\r\n")
    await reader.readexactly(LARGE - 1000)
    writer.write(MADE)


@pytest.mark.parametrize("talks", [[refuse_expectation, take_plain], [never_ask], [ask_late]])
async def test_a_platform_that_knows_no_expectation_gets_the_whole_body(talks: list[Talk], tmp_path: Path) -> None:
    """RFC 9110, 10.1.1: after 417 once more without; after a second of silence the body goes out."""
    async with talking(*talks) as address, api_at(address) as api:
        made = await api.materials.upload("v", sparse(tmp_path, LARGE), "slides.pdf", "Slides")
    assert made == Material(id="m1")


async def test_an_expectation_that_is_refused_twice_is_a_refusal(tmp_path: Path) -> None:
    async def refuse_again(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert b"Expect" not in await head_of(reader)
        writer.write(answer(417, b""))

    async with talking(refuse_expectation, refuse_again) as address, api_at(address) as api:
        assert (await refused(api, sparse(tmp_path, LARGE))).status == 417


async def test_a_small_body_is_not_held_back(tmp_path: Path) -> None:
    """It has come before the loop, which the platform shares with the client here, has turned a hundred times."""
    turns = 0

    async def count(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal turns
        head = await head_of(reader)
        body = asyncio.ensure_future(reader.readuntil(b"--\r\n"))
        while not body.done() and turns < 100:
            turns += 1
            await asyncio.sleep(0)
        assert b"Expect" not in head
        assert VTT in await body
        writer.write(answer(200, b'{"data": {"id": "s1"}}'))

    track = tmp_path / "track.vtt"
    track.write_bytes(VTT)
    async with talking(count) as address, api_at(address) as api:
        await api.subtitles.upload("v", "en", "", track)
    assert turns < 100
