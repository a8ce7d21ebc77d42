"""One stream of changes for any number of readers (collector.md, "Wire").

Each change is made into bytes once. A reader is a place in the ring of them, never a queue of its own: who takes them
slowly costs nothing, and whom the ring has left behind is told so.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing
from struct import pack
from typing import NamedTuple
from zlib import MAX_WBITS, Z_FULL_FLUSH, compressobj, crc32

from msgspec import json

from livedeck.collector.protocol import wire
from livedeck.monitor import Clock, Snapshot
from livedeck.monitor.published.codec import Encoded, encode

RING_DELTAS, RING_SECONDS, RING_BYTES = 4096, 600.0, 64 * 2**20
"""What is kept for readers that come back: so many changes, no older, and no more bytes of them."""

BEAT_SECONDS = 5.0
"""Between two comments: who listens knows by them that there was nothing to hear, and what time it is here."""

GONE = b"event: gone\ndata: {}\n\n"
"""The last that a reader hears which the ring has left behind."""


class Gone(Exception):  # noqa: N818  a state of the world, answered with 410
    """There is no going on from there: list again."""


class Listed(NamedTuple):
    """A listing as JSON. `id`: changes are asked for after it."""

    id: str
    body: bytes


class _Change(NamedTuple):
    """A frame of the stream, the same packed, and when it was made (monotonic s)."""

    at: float
    frame: bytes
    packed: bytes

    @property
    def size(self) -> int:
        """Bytes of it."""
        return len(self.frame) + len(self.packed)


class Hub:
    """What the monitor publishes, for readers. `boot`: a name of this run, as numbers begin anew with each; `clock`:
    that of the monitor. `readers`: how many follow the changes; `published_at`: when there was news last (monotonic s).
    """

    def __init__(self, clock: Clock, boot: str) -> None:
        self.readers, self.published_at = 0, clock.monotonic()
        self._clock, self._boot = clock, boot
        self._published: tuple[int, Encoded] | None = None
        self._ring, self._ring_bytes = deque[_Change](), 0  # the newest is the change to what is published
        self._changed, self._is_closed = asyncio.Event(), False

    @property
    def snapshot(self) -> Snapshot | None:
        """What was published last; None before the first."""
        return self._published[1].snapshot if self._published else None

    @property
    def id(self) -> str:
        """That of what was published last."""
        return self._id(self._seq)

    async def publish(self, snapshot: Snapshot) -> None:
        """This is so now; one at a time. Made in a thread: of thousands of events it takes a tenth of a second."""
        before, seq = self._published[1] if self._published else None, self._seq + 1
        after, frame, packed = await asyncio.to_thread(_made, self._id(seq), snapshot, before)
        self._published, self.published_at = (seq, after), self._clock.monotonic()
        if frame:
            self._keep(_Change(self.published_at, frame, packed))
        self._wake()

    def close(self) -> None:
        """Nothing more will be published: readers may go."""
        self._is_closed = True
        self._wake()

    async def listing(self, samples: int = wire.LISTED_SAMPLES, *, by: str = "", may: str = "") -> Listed | None:
        """All that is known, with the last `samples` of each event, for the token of that name; None before the first
        snapshot. Made in a thread: of hundreds of events it takes some tens of milliseconds."""
        if self._published is None:
            return None
        seq, encoded = self._published
        return await asyncio.to_thread(_listed, self._id(seq), self._now(), encoded, samples, (by, may))

    def changes(self, after: str, *, is_packed: bool = False) -> AsyncGenerator[bytes, None]:
        """Each change after that id as server-sent events, with a comment at once and now and then, until the hub is
        closed. `is_packed`: all of it together is gzip, of which each part can be read as it comes.

        Raises Gone where they are not all known any more, or where the id is no one of this run.
        """
        boot, _, digits = after.rpartition("-")
        if boot != self._boot or not (digits.isascii() and digits.isdecimal()) or len(digits) > len(str(self._seq)):
            raise Gone
        seq = int(digits)
        if self._published is None or not self._oldest <= seq <= self._seq:
            raise Gone
        return self._packed(seq) if is_packed else self._plain(seq)

    async def _plain(self, seq: int) -> AsyncGenerator[bytes, None]:
        async with aclosing(self._follow(seq)) as frames:
            async for frame, _ in frames:
                yield frame

    async def _packed(self, seq: int) -> AsyncGenerator[bytes, None]:
        """Each packed by itself, so that a change is packed once for all; their sum is told at the end."""
        sum_of_all, size, head = 0, 0, _GZIP_HEAD
        async with aclosing(self._follow(seq)) as frames:
            async for frame, packed in frames:
                sum_of_all, size = crc32(frame, sum_of_all), size + len(frame)
                yield head + packed
                head = b""
        yield head + _GZIP_END + pack("<II", sum_of_all, size % 2**32)

    async def _follow(self, seq: int) -> AsyncGenerator[tuple[bytes, bytes], None]:
        """Each frame, and the same packed."""
        self.readers += 1
        loop = asyncio.get_running_loop()
        beat_at = loop.time()
        try:
            while True:
                changed = self._changed
                while seq < self._seq:
                    if seq < self._oldest:
                        yield GONE, _pack(GONE)
                        return
                    seq += 1
                    yield self._ring[seq - self._seq - 1][1:]
                if loop.time() >= beat_at:
                    beat_at = loop.time() + BEAT_SECONDS
                    comment = f": {self._id(seq)} {self._now()}\n".encode()
                    yield comment, _pack(comment)
                    continue
                if self._is_closed:
                    return
                try:
                    async with asyncio.timeout_at(beat_at):
                        await changed.wait()
                except TimeoutError:
                    continue
        finally:
            self.readers -= 1

    @property
    def _seq(self) -> int:
        return self._published[0] if self._published else 0

    @property
    def _oldest(self) -> int:
        """The earliest number after which every change is known."""
        return self._seq - len(self._ring)

    def _keep(self, change: _Change) -> None:
        self._ring.append(change)
        self._ring_bytes += change.size
        while (
            len(self._ring) > RING_DELTAS
            or self._ring[0].at < change.at - RING_SECONDS
            or (self._ring_bytes > RING_BYTES and len(self._ring) > 1)
        ):
            self._ring_bytes -= self._ring.popleft().size

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def _id(self, seq: int) -> str:
        return f"{self._boot}-{seq}"

    def _now(self) -> int:
        return round(self._clock.now().timestamp() * 1000)


_GZIP_HEAD, _GZIP_END = b"\x1f\x8b\x08" + bytes(6) + b"\xff", b"\x03\x00"
"""What gzip begins with (RFC 1952), and the empty last block of what is packed (RFC 1951)."""


def _pack(frame: bytes) -> bytes:
    """Whole blocks that refer to nothing before them: put behind each other they are one stream."""
    packer = compressobj(wbits=-MAX_WBITS)
    return packer.compress(frame) + packer.flush(Z_FULL_FLUSH)


def _made(change_id: str, snapshot: Snapshot, before: Encoded | None) -> tuple[Encoded, bytes, bytes]:
    """The values, and the change to them with its packed form; both empty where there was nothing before."""
    after = encode(snapshot, before)
    if before is None:
        return after, b"", b""
    frame = b"id: %b\ndata: %b\n\n" % (change_id.encode(), json.encode(wire.delta(before, after)))
    return after, frame, _pack(frame)


def _listed(change_id: str, now: int, encoded: Encoded, samples: int, caller: tuple[str, str]) -> Listed:
    rows, (by, may) = wire.newest(encoded.snapshot.events, samples), caller
    listing = wire.Listing(
        schema=wire.SCHEMA, id=change_id, now=now, values=encoded.values, samples=rows, by=by, may=may
    )
    return Listed(change_id, json.encode(listing))
