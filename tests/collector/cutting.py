"""Broken cable: a proxy that ends each connection after a few bytes, a given number of times."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from random import Random
from urllib.parse import urlsplit


@dataclass
class Cable:
    """`left`: number of breaks still to come; `cuts`: number of breaks so far."""

    address: str
    left: int
    cuts: int = 0


@asynccontextmanager
async def cable(to: str, cuts: int, random: Random) -> AsyncIterator[Cable]:
    """Yield a cable to an address."""
    upstream = urlsplit(to).port
    tasks = set[asyncio.Task[None]]()

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        near, far = await asyncio.open_connection("127.0.0.1", upstream)
        size = random.choice([0, 1, random.randint(2, 400), random.randint(400, 6000)]) if made.left else None
        back = asyncio.create_task(_pump(reader, far))
        try:
            await _pump(near, writer, size)
        finally:
            back.cancel()
            far.transport.abort()
            writer.transport.abort()
        if size is not None:
            made.left, made.cuts = max(0, made.left - 1), made.cuts + 1

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(task := asyncio.create_task(carry(reader, writer)))
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(begin, "127.0.0.1", 0)
    made = Cable(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", cuts)
    try:
        yield made
    finally:
        server.close()
        for task in tuple(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, size: int | None = None) -> None:
    """Forward all bytes, or the first `size` bytes."""
    with suppress(OSError):
        while (size is None or size > 0) and (data := await reader.read(4096 if size is None else size)):
            writer.write(data)
            await writer.drain()
            size = None if size is None else size - len(data)
        if size is None and writer.can_write_eof():
            writer.write_eof()
