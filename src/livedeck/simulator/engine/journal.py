"""Journal: the last requests and their replies, in memory only."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf

from livedeck.simulator.engine.pattern import RequestPattern, SeenAnswer, SeenRequest

ENTRIES = 1000
"""Number of entries that a journal keeps by default."""

ROOM = 64 * 1024 * 1024
"""Maximum total bytes of the bodies and heads in a journal."""

NEAR = 0.6
"""Limit of near misses: an entry at this distance from a pattern (0 to 1), or farther, is none."""

NEAR_MISSES = 3


@dataclass(frozen=True, slots=True)
class Entry:
    """Request and its end. `n`: number of the request since the start, counted when it ends.

    `headers`, `text`: header fields and body of the reply. Only a text body is kept, at most `BODY_MATCHED` bytes.
    """

    n: int
    request: SeenRequest
    answer: SeenAnswer
    took_ms: float
    headers: Sequence[tuple[str, str]] = ()
    text: bytes = b""
    bytes_sent: int = 0
    faults: Sequence[str] = ()

    @property
    def size(self) -> int:
        """Bytes that the entry takes, roughly."""
        heads = sum(len(name) + len(value) for name, value in (*self.request.headers, *self.headers))
        return 1024 + heads + len(self.request.path) + len(self.request.body) + len(self.text)


@dataclass(frozen=True, slots=True)
class NearMiss:
    """Entry that almost matches a pattern."""

    entry: Entry
    distance: float
    pattern: RequestPattern


class Journal:
    """Ring of the newest `limit` entries; 0 turns it off.

    `dropped`: requests since the last `clear` that have no entry any more, or never had one.
    """

    def __init__(self, limit: int = ENTRIES, room: int = ROOM) -> None:
        self.limit = limit
        self._room = room
        self._entries: deque[Entry] = deque()
        self._size = 0
        self._last = 0
        self.dropped = 0
        self._dropped_at = -inf
        self.clears = 0
        self._waiters: set[asyncio.Future[None]] = set()

    @property
    def last(self) -> int:
        """Number of the newest entry so far; 0 before the first."""
        return self._last

    def next_number(self) -> int:
        """Return the number of the next entry."""
        self._last += 1
        return self._last

    def add(self, entry: Entry) -> None:
        """Add an entry, and forget the oldest ones if there is no room."""
        self._entries.append(entry)
        self._size += entry.size
        while self._entries and (len(self._entries) > self.limit or self._size > self._room):
            oldest = self._entries.popleft()
            self._size -= oldest.size
            self.drop(oldest.answer.at)
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    def drop(self, at: float) -> None:
        """Count a request without an entry. `at`: its arrival in epoch seconds."""
        self.dropped += 1
        self._dropped_at = max(self._dropped_at, at)

    def is_whole(self, pattern: RequestPattern) -> bool:
        """Return whether no dropped request can match the pattern."""
        return not self.dropped or self._dropped_at < pattern.since

    def clear(self) -> None:
        """Drop every entry, and record no request in progress. Later entries do not reuse the numbers."""
        self._entries.clear()
        self._size = self.dropped = 0
        self._dropped_at = -inf
        self.clears += 1

    def after(self, n: int) -> list[Entry]:
        """Return the entries after number `n`, oldest first."""
        return [entry for entry in self._entries if entry.n > n]

    async def wait_after(self, n: int, seconds: float) -> None:
        """Return once an entry after number `n` is there, or after `seconds`."""
        if self.after(n):
            return
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.add(waiter)
        try:
            await asyncio.wait([waiter], timeout=seconds)
        finally:
            self._waiters.discard(waiter)

    def find(self, pattern: RequestPattern) -> Iterator[Entry]:
        """Yield the entries that match, oldest first."""
        return (entry for entry in self._entries if pattern.matches(entry.request, entry.answer))

    def first_missing(self, patterns: Sequence[RequestPattern]) -> int:
        """Return the index of the first pattern that no entry matches after the entries of the earlier patterns.

        Returns the number of patterns if none is missing.
        """
        entries = iter([*self._entries])
        for index, pattern in enumerate(patterns):
            if not any(pattern.matches(entry.request, entry.answer) for entry in entries):
                return index
        return len(patterns)

    def near_misses(self, pattern: RequestPattern, *, with_matches: bool = False) -> list[NearMiss]:
        """Return the entries that almost match, nearest first; equally near ones newest first.

        `with_matches`: include entries that match, because they may have come in the wrong order.
        """
        misses = (
            NearMiss(entry, pattern.distance(entry.request, entry.answer), pattern)
            for entry in reversed([*self._entries])
        )
        near = sorted(
            (miss for miss in misses if miss.distance < NEAR and (with_matches or miss.distance > 0)),
            key=lambda miss: miss.distance,
        )
        return near[:NEAR_MISSES]
