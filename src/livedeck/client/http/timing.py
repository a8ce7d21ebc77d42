"""How fast, how long and how often the client asks: rate limit, and retry of reads with back-off."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

_FIRST_DELAY = 0.2
_MAX_DELAY = 5.0


@dataclass(frozen=True, slots=True)
class ClientTiming:
    """The times of a client, and the clocks they are counted on.

    `timeout`: seconds for connecting and for every silence. `retry`: seconds that a read may take with all its tries.
    `rate`: requests per second. `upload_timeout`: seconds of silence
    after the last byte of an upload. `now`: the wall clock, aware. `timer`: seconds that never run backwards. `jitter`:
    from 0 up to 1.
    """

    timeout: float
    retry: float
    rate: float
    upload_timeout: float
    now: Callable[[], datetime]
    timer: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]]
    jitter: Callable[[], float]


class RateLimiter:
    """A token bucket: a second's worth of requests at once, then one each `1 / rate` seconds, in their order."""

    def __init__(self, timing: ClientTiming) -> None:
        self._timing = timing
        self._tokens = self._capacity = max(1.0, timing.rate)
        self._filled_at = timing.timer()
        self._queue = asyncio.Lock()

    async def acquire(self) -> None:
        """Take one request from the bucket, waiting until there is one."""
        async with self._queue:
            now = self._timing.timer()
            self._tokens = min(self._capacity, self._tokens + (now - self._filled_at) * self._timing.rate)
            self._filled_at = now
            if self._tokens < 1:
                await self._timing.sleep((1 - self._tokens) / self._timing.rate)
                # Paid for, even on a clock that stands still.
                self._tokens, self._filled_at = 1, self._timing.timer()
            self._tokens -= 1


class RetryPolicy:
    """The retries of one read: how long its next try may take, and how long to wait before it.

    `seconds`: for all its tries and the waits between them; 0: it is tried once. They are added up rather than read off
    a clock, so that a clock that stands still cannot make it endless.
    """

    def __init__(self, timing: ClientTiming, seconds: float) -> None:
        self._timing = timing
        self._seconds_left = seconds
        self._tries = 0
        self.timeout = 2 * timing.timeout
        """Seconds that the next try may take as a whole."""

    def next_delay(self, took: float, retry_after: float | None) -> float | None:
        """Seconds to wait after a try that failed; None where there is no time for another."""
        longest = min(_MAX_DELAY, _FIRST_DELAY * 2**self._tries)
        delay = max(retry_after or 0.0, longest * (0.5 + self._timing.jitter() / 2))
        self._tries += 1
        self._seconds_left -= took + delay
        self.timeout = min(self.timeout, self._seconds_left)
        return delay if self._seconds_left > 0 else None
