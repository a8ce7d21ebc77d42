"""The client never holds a whole transfer in memory, and limits what it keeps of a reply (bytes allocated).

`tests/bench/bounds.py` measures the same for whole processes, with larger transfers, and how long the event loop is
held.
"""

from __future__ import annotations

import asyncio
import gzip
import tracemalloc
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from itertools import chain, repeat
from pathlib import Path

import pytest

from client.test_early_refusals import sparse
from client.test_transport import api_at
from livedeck.client import ChatExport, Unreadable

MIB = 2**20
LIMIT = 64 * MIB
BESIDES = 16 * MIB
"""Buffers of both sides, and the spare room of a growing buffer."""

FLAT = 6 * MIB


@contextmanager
def allocating_at_most(size: int) -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] <= size
    finally:
        tracemalloc.stop()


@asynccontextmanager
async def sending(*parts: tuple[bytes, int], coding: str = "identity") -> AsyncIterator[str]:
    """Yield a platform that reads any body, and sends these parts, each that many times."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            head = await reader.readuntil(b"\r\n\r\n")
            if b"Expect:" in head:
                writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            left = int((head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]) or 0)
            while left:
                left -= len(await reader.read(min(left, 65_536)))
            size = sum(len(part) * times for part, times in parts)
            described = f"Content-Encoding: {coding}\r\nContent-Length: {size}"
            writer.write(f"HTTP/1.1 200 OK\r\n{described}\r\n\r\n".encode())
            for part in chain.from_iterable(repeat(*part) for part in parts):
                writer.write(part)
                await writer.drain()
        writer.close()

    async with await asyncio.start_server(talk, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


def zipped() -> bytes:
    return gzip.compress(bytes(128 * MIB), 1)


@pytest.mark.parametrize(
    ("body", "times", "coding", "limit"),
    [
        (zipped, 1, "gzip", LIMIT + BESIDES),
        (lambda: gzip.compress(zipped()), 1, "gzip, gzip", BESIDES),
        (lambda: bytes(MIB), 128, "identity", LIMIT + BESIDES),
    ],
    ids=["gzip", "nested gzip", "without end"],
)
async def test_no_answer_takes_more_than_its_limit(
    body: Callable[[], bytes], times: int, coding: str, limit: int
) -> None:
    async with sending((body(), times), coding=coding) as address, api_at(address) as api:
        with allocating_at_most(limit), pytest.raises(Unreadable):
            await api.events.list()


async def test_a_file_is_never_whole_in_memory_while_it_is_sent(tmp_path: Path) -> None:
    async with sending((b'{"data": {}}', 1)) as address, api_at(address) as api:
        with allocating_at_most(FLAT):
            await api.materials.upload("v", sparse(tmp_path, 48 * MIB), "slides.pdf", "Slides")


async def test_a_chat_log_is_never_whole_in_memory_while_it_is_exported(tmp_path: Path) -> None:
    row = b'{"id": "m", "message": "%s"}' % (b"x" * 200)
    parts = (b'{"data": [', 1), ((row + b",") * 4000, 48), (row + b"]}", 1)
    async with sending(*parts) as address, api_at(address) as api:
        with allocating_at_most(FLAT):
            exported = await api.chat.export(ChatExport("e", "s"), tmp_path / "chat.json")
    assert exported.size > 40 * MIB
