"""Stream of changes for any number of readers (collector.md, "Wire").

Each change is encoded once for all readers. A reader has a position in a ring of changes and no queue of its own, so a
slow reader takes no memory. A reader whose position has left the ring must list again.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from struct import pack
from typing import NamedTuple
from zlib import MAX_WBITS, Z_FULL_FLUSH, compressobj, crc32

from msgspec import json

from livedeck.collector.protocol import wire
from livedeck.monitor import Clock, Snapshot
from livedeck.monitor.published.codec import Encoded, encode

RING_DELTAS, RING_SECONDS, RING_BYTES = 4096, 600.0, 64 * 2**20
"""Limits of the ring of changes for readers that resume: number, age in seconds, bytes."""

BEAT_SECONDS = 5.0
"""Seconds between two comments, which carry the collector's time and prove that the stream is alive."""

GONE = b"event: gone\ndata: {}\n\n"
"""Last event for a reader whose position has left the ring."""


class Gone(Exception):  # noqa: N818  a state, sent as 410
    """The id to resume from has expired, so the reader must list again."""


class Listed(NamedTuple):
    """Listing as JSON. `id`: id of its snapshot, after which the reader requests changes."""

    id: str
    body: bytes


class _Change(NamedTuple):
    """Frame of the stream, plain and compressed. `at`: time of its publication (monotonic s)."""

    at: float
    frame: bytes
    packed: bytes

    @property
    def size(self) -> int:
        """Bytes of both forms of the frame together."""
        return len(self.frame) + len(self.packed)


class Hub:
    """Publisher of the monitor's snapshots to readers.

    `clock`: clock of the monitor. `boot`: name of this run, as part of ids, because each run counts from 1. `readers`:
    number of readers of the change stream. `published_at`: time of the last publication (monotonic s). `speed`: returns
    the speed of a rehearsal's clock, 0 while it is paused, None while it is unknown. `speed` is None
    without a rehearsal.
    """

    def __init__(self, clock: Clock, boot: str, speed: Callable[[], float | None] | None = None) -> None:
        self.readers, self.published_at = 0, clock.monotonic()
        self._clock, self._boot, self._speed = clock, boot, speed
        self._beats = 0  # number of times that the time was sent early
        self._published: tuple[int, Encoded] | None = None
        self._ring, self._ring_bytes = deque[_Change](), 0  # the last change leads to the published snapshot
        self._changed, self._is_closed = asyncio.Event(), False

    @property
    def snapshot(self) -> Snapshot | None:
        """Last published snapshot; None before the first."""
        return self._published[1].snapshot if self._published else None

    @property
    def id(self) -> str:
        """Id of the last published snapshot."""
        return self._id(self._seq)

    async def publish(self, snapshot: Snapshot) -> None:
        """Publish a snapshot. Only one call at a time.

        A thread encodes the snapshot, because thousands of events take a tenth of a second.
        """
        before, seq = self._published[1] if self._published else None, self._seq + 1
        after, frame, packed = await asyncio.to_thread(_encoded, self._id(seq), snapshot, before)
        self._published, self.published_at = (seq, after), self._clock.monotonic()
        if frame:
            self._keep(_Change(self.published_at, frame, packed))
        self._wake()

    def beat(self) -> None:
        """Send the current time to the readers at once, because the clock was changed."""
        self._beats += 1
        self._wake()

    def close(self) -> None:
        """End the streams of all readers."""
        self._is_closed = True
        self._wake()

    async def listing(self, samples: int = wire.LISTED_SAMPLES, *, by: str = "", may: str = "") -> Listed | None:
        """Return a listing with the last `samples` samples of each event; None before the first snapshot.

        `by`, `may`: name and right of the reader's token. A thread encodes the listing, because hundreds of events take
        tens of milliseconds.
        """
        if self._published is None:
            return None
        seq, encoded = self._published
        speeds = [self._speed()] if self._speed else []
        return await asyncio.to_thread(_listed, self._id(seq), (self._now(), speeds), encoded, samples, (by, may))

    def changes(self, after: str, *, is_packed: bool = False) -> AsyncGenerator[bytes, None]:
        """Yield the changes after the id `after` as server-sent events, until the hub is closed.

        A comment follows the present changes, and then every `BEAT_SECONDS`. `is_packed`: compress the events; together
        they form one gzip stream, and each can be decompressed on arrival. Raises Gone if a change after the id is no
        longer in the ring, or if the id is from another run.
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
        """Yield the frames as a gzip stream. Each frame is compressed by itself, once for all readers."""
        checksum, size, head = 0, 0, _GZIP_HEAD
        async with aclosing(self._follow(seq)) as frames:
            async for frame, packed in frames:
                checksum, size = crc32(frame, checksum), size + len(frame)
                yield head + packed
                head = b""
        yield head + _GZIP_END + pack("<II", checksum, size % 2**32)

    async def _follow(self, seq: int) -> AsyncGenerator[tuple[bytes, bytes], None]:
        """Yield each frame after the change `seq`, plain and compressed."""
        self.readers += 1
        loop = asyncio.get_running_loop()
        beat_at, beats = loop.time(), self._beats
        try:
            while True:
                changed = self._changed
                while seq < self._seq:
                    if seq < self._oldest:
                        yield GONE, _pack(GONE)
                        return
                    seq += 1
                    yield self._ring[seq - self._seq - 1][1:]
                if loop.time() >= beat_at or beats != self._beats:
                    beat_at, beats = loop.time() + BEAT_SECONDS, self._beats
                    speed = self._speed() if self._speed else None
                    pace = "" if speed is None else f" {speed:g}"
                    comment = f": {self._id(seq)} {self._now()}{pace}\n".encode()
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
        """Lowest number of a change after which a reader can resume."""
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
"""Header of a gzip stream (RFC 1952), and the empty last deflate block at its end (RFC 1951)."""


def _pack(frame: bytes) -> bytes:
    """Return a frame as deflate blocks without references to other frames, so that frames can be joined."""
    packer = compressobj(wbits=-MAX_WBITS)
    return packer.compress(frame) + packer.flush(Z_FULL_FLUSH)


def _encoded(change_id: str, snapshot: Snapshot, before: Encoded | None) -> tuple[Encoded, bytes, bytes]:
    """Return the encoded snapshot, and the frame of the change from `before`, plain and compressed.

    Without `before`, both forms of the frame are empty.
    """
    after = encode(snapshot, before)
    if before is None:
        return after, b"", b""
    frame = b"id: %b\ndata: %b\n\n" % (change_id.encode(), json.encode(wire.delta(before, after)))
    return after, frame, _pack(frame)


def _listed(
    change_id: str, time: tuple[int, list[float | None]], encoded: Encoded, samples: int, caller: tuple[str, str]
) -> Listed:
    rows, (by, may), (now, speeds) = wire.newest(encoded.snapshot.events, samples), caller, time
    listing = wire.Listing(
        schema=wire.SCHEMA, id=change_id, now=now, values=encoded.values, samples=rows, by=by, may=may
    )
    if speeds:
        listing["speed"] = speeds[0]
    return Listed(change_id, json.encode(listing))
