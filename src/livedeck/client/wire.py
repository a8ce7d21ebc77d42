"""The body of an answer taken straight off its connection, where nothing has to be taken apart."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, Protocol

from livedeck.client.call import Chunk

_PIECE = 512 * 2**10


class Wire(Protocol):
    """A connection: `read` gives what came, at most so many bytes, and nothing when the other side hung up."""

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109  httpcore's own
        """Raises where nothing comes for so many seconds."""
        ...

    def get_extra_info(self, info: str) -> Any:
        """What it is made of: its `socket`, its `ssl_object` where it is encrypted."""
        ...


def stated_size(headers: Mapping[str, str]) -> int | None:
    """How many bytes the body will have; None where nobody says, and where it comes packed."""
    said = headers.get("content-length", "")
    return int(said) if said.isdecimal() and not {"content-encoding", "transfer-encoding"} & {*headers} else None


async def plain_body(parsed: AsyncIterator[Chunk], wire: Wire, size: int, patience: float) -> AsyncIterator[Chunk]:
    """A body of `size` bytes that came neither packed nor in chunks. `patience`: seconds of silence.

    The parser of HTTP copies every piece four times, which is half the time of an export, and such a body needs none:
    its first piece is all that the parser holds, the rest is read off the wire. The connection is then not used again.
    Raises ConnectionResetError where it breaks, and what the wire raises.
    """
    left = size - len(first := await anext(parsed, b""))
    yield first
    if left <= 0:
        async for piece in parsed:  # to its end, so that the connection can be used again
            yield piece
        return
    pieces: Callable[[Wire, int, float], AsyncIterator[Chunk]] = (
        _encrypted if wire.get_extra_info("ssl_object") else _bare
    )
    async for chunk in pieces(wire, left, patience):
        yield chunk


async def _encrypted(wire: Wire, left: int, patience: float) -> AsyncIterator[bytes]:
    while left > 0:
        piece = await wire.read(min(left, _PIECE), patience)
        if not piece:
            raise ConnectionResetError
        left -= len(piece)
        yield piece


async def _bare(wire: Wire, left: int, patience: float) -> AsyncIterator[memoryview]:
    """Each is good until the next one is asked for: one buffer holds them all, as fresh memory is slow."""
    loop, buffer = asyncio.get_running_loop(), memoryview(bytearray(_PIECE))
    with wire.get_extra_info("socket").dup() as own:  # the loop lets nobody else read from what a connection reads from
        while left > 0:
            async with asyncio.timeout(patience):
                came = await loop.sock_recv_into(own, buffer[:left])
            if not came:
                raise ConnectionResetError
            left -= came
            yield buffer[:came]
            await asyncio.sleep(0)  # where more is here already, nothing else would get its turn
