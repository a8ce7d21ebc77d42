"""The body of an answer taken straight off its connection, where nothing has to be taken apart."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Protocol

_PIECE = 256 * 2**10


class Wire(Protocol):
    """A connection: `read` gives what came, at most so many bytes, and nothing when the other side hung up."""

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109  httpcore's own
        """Raises where nothing comes for so many seconds."""
        ...


def stated_size(headers: Mapping[str, str]) -> int | None:
    """How many bytes the body will have; None where nobody says, and where it comes packed."""
    said = headers.get("content-length", "")
    return int(said) if said.isdecimal() and not {"content-encoding", "transfer-encoding"} & {*headers} else None


async def plain_body(parsed: AsyncIterator[bytes], wire: Wire, size: int, patience: float) -> AsyncIterator[bytes]:
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
    while left > 0:
        piece = await wire.read(min(left, _PIECE), patience)
        if not piece:
            raise ConnectionResetError
        left -= len(piece)
        yield piece
