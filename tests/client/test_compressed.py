"""Compressed responses: every member of gzip counts, and bytes that are no member are an error (RFC 1952, 2.2)."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from client.test_chat import names
from client.test_good_files import content
from client.test_transport import api_at
from livedeck.client import ChatExport, Unreadable
from livedeck.client.http.response import unpack

HEADER = b"id,username,message\r\n"
LOG = b'{"data":[{"id":"e1","name":"First"},{"id":"e2","name":"Second"}]}'


@asynccontextmanager
async def sending(pieces: Iterable[bytes], coding: bytes = b"gzip") -> AsyncIterator[str]:
    """A loopback socket that sends each piece of the body in a chunk of its own, once the one before has left."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Encoding: " + coding + b"\r\nTransfer-Encoding: chunked\r\n\r\n")
            for piece in pieces:
                writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                await writer.drain()
            writer.write(b"0\r\n\r\n")
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


def bytewise(body: bytes) -> list[bytes]:
    """Return the body byte for byte."""
    return [body[at : at + 1] for at in range(len(body))]


def in_members(*parts: bytes) -> bytes:
    """Return each part as a member of gzip, with the file name that gzip(1) writes only in the first."""
    return b"".join(gzip.compress(part) for part in parts)


MEMBERS = in_members(HEADER, b"", b"m1,Ada,Hello\r\n", b"m2,Bob,Hi\r\n")
WHOLE = HEADER + b"m1,Ada,Hello\r\nm2,Bob,Hi\r\n"


async def saved(pieces: Iterable[bytes], file: Path, coding: bytes = b"gzip") -> bytes:
    """Return the CSV that an export of the pieces writes."""
    async with sending(pieces, coding) as address, api_at(address) as api:
        await api.chat.export(ChatExport("e", "s", "csv"), file)
    return content(file)


@pytest.mark.parametrize("padding", [b"", b"\0" * 9], ids=["no padding", "zeros"])
@pytest.mark.parametrize("cut", [bytewise, lambda body: [body]], ids=["byte for byte", "at once"])
async def test_a_download_has_every_member(cut: Callable[[bytes], list[bytes]], padding: bytes, tmp_path: Path) -> None:
    assert await saved(cut(MEMBERS + padding), tmp_path / "chat.csv") == WHOLE


async def test_zeros_between_members_are_padding(tmp_path: Path) -> None:
    body = in_members(HEADER) + b"\0" * 512 + in_members(b"m1,Ada,Hello\r\n")
    assert await saved([body], tmp_path / "chat.csv") == HEADER + b"m1,Ada,Hello\r\n"


async def test_a_json_reply_has_every_member() -> None:
    for body in (in_members(LOG[:20], LOG[20:]), in_members(LOG) + b"\0"):
        async with sending([body]) as address, api_at(address) as api:
            assert [event.id for event in await api.events.list()] == ["e1", "e2"]


@pytest.mark.parametrize(
    "rest",
    [b"garbage", b"\x1f", gzip.compress(b"m3,Cleo,Bye\r\n")[:-1], b"\0\0x"],
    ids=["garbage", "a start", "a member cut short", "garbage behind zeros"],
)
async def test_bytes_behind_the_last_member_are_an_error(rest: bytes, tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="cannot be decompressed"):
        await saved([MEMBERS, rest], tmp_path / "chat.csv")
    assert not names(tmp_path)


async def test_a_body_of_deflate_has_one_end(tmp_path: Path) -> None:
    packed = zlib.compress(WHOLE)
    assert await saved([packed], tmp_path / "chat.csv", b"deflate") == WHOLE
    with pytest.raises(Unreadable, match="cannot be decompressed"):
        await saved([packed, packed], tmp_path / "second.csv", b"deflate")


async def test_many_small_members_do_not_hold_the_loop() -> None:
    """Other tasks get a turn for each member, although no member has any content."""

    async def body() -> AsyncIterator[bytes]:
        yield in_members(b"") * 2000

    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.ensure_future(count())
    assert not [chunk async for chunk in unpack(body(), "gzip")]
    counting.cancel()
    assert turns >= 2000
