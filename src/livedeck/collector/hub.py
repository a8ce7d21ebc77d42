"""One stream of changes for any number of readers (collector.md, "Wire").

Each change is made into bytes once. A reader is a place in the ring of them, never a queue of its own: who takes them
slowly costs nothing, and whom the ring has left behind is told so.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from typing import NamedTuple

from msgspec import json

from livedeck.collector import wire
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
    """A frame of the stream, and when it was made (monotonic s)."""

    at: float
    frame: bytes


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

    def publish(self, snapshot: Snapshot) -> None:
        """This is so now."""
        before = self._published[1] if self._published else None
        after = encode(snapshot, before)
        self._published, self.published_at = (self._seq + 1, after), self._clock.monotonic()
        if before:
            frame = b"id: %b\ndata: %b\n\n" % (self.id.encode(), json.encode(wire.delta(before, after)))
            self._keep(_Change(self.published_at, frame))
        self._wake()

    def close(self) -> None:
        """Nothing more will be published: readers may go."""
        self._is_closed = True
        self._wake()

    async def listing(self, samples: int = wire.LISTED_SAMPLES) -> Listed | None:
        """All that is known, with the last `samples` of each event; None before the first snapshot. Made in a thread:
        of hundreds of events it takes some tens of milliseconds."""
        if self._published is None:
            return None
        seq, encoded = self._published
        return await asyncio.to_thread(_listed, self._id(seq), self._now(), encoded, samples)

    def changes(self, after: str) -> AsyncGenerator[bytes, None]:
        """Each change after that id as server-sent events, with a comment at once and now and then, until the hub is
        closed. Raises Gone where they are not all known any more, or where the id is no one of this run."""
        boot, _, digits = after.rpartition("-")
        if boot != self._boot or not (digits.isascii() and digits.isdecimal()) or len(digits) > len(str(self._seq)):
            raise Gone
        seq = int(digits)
        if self._published is None or not self._oldest <= seq <= self._seq:
            raise Gone
        return self._follow(seq)

    async def _follow(self, seq: int) -> AsyncGenerator[bytes, None]:
        self.readers += 1
        loop = asyncio.get_running_loop()
        beat_at = loop.time()
        try:
            while True:
                changed = self._changed
                while seq < self._seq:
                    if seq < self._oldest:
                        yield GONE
                        return
                    seq += 1
                    yield self._ring[seq - self._seq - 1].frame
                if loop.time() >= beat_at:
                    beat_at = loop.time() + BEAT_SECONDS
                    yield f": {self._id(seq)} {self._now()}\n\n".encode()
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
        self._ring_bytes += len(change.frame)
        while (
            len(self._ring) > RING_DELTAS
            or self._ring[0].at < change.at - RING_SECONDS
            or (self._ring_bytes > RING_BYTES and len(self._ring) > 1)
        ):
            self._ring_bytes -= len(self._ring.popleft().frame)

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def _id(self, seq: int) -> str:
        return f"{self._boot}-{seq}"

    def _now(self) -> int:
        return round(self._clock.now().timestamp() * 1000)


def _listed(change_id: str, now: int, encoded: Encoded, samples: int) -> Listed:
    rows = wire.newest(encoded.snapshot.events, samples)
    listing = wire.Listing(schema=wire.SCHEMA, id=change_id, now=now, values=encoded.values, samples=rows)
    return Listed(change_id, json.encode(listing))
