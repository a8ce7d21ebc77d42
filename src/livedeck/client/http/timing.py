"""How fast, how long and how often the client asks: rate limit, cool-down, and retry of reads with back-off."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

MAX_CONNECTIONS = 10
"""And as many reads at a time, so that those that wait for a connection hear of a cool-down before they are sent."""

_FIRST_DELAY = 0.2
_MAX_DELAY = 5.0
_SHORTEST_PAUSE = 0.001


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


class CoolingDown(Exception):  # noqa: N818  read after `except`, as the tree in errors.py
    """A read would have to wait too long. `seconds`: until the platform may be asked again."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"{seconds:.1f} s")
        self.seconds = seconds


class Cooldown:
    """The pause that all reads make once the platform has said that there are too many of them.

    It is as long as the platform says, else it grows from one to the next. After it one read goes ahead, and the others
    follow as soon as that one is not refused.
    """

    def __init__(self, timing: ClientTiming) -> None:
        self._timing = timing
        self._slots = asyncio.Semaphore(MAX_CONNECTIONS)
        self._first_read = asyncio.Lock()
        self._is_active = False
        self._pauses = 0
        self._ends_at = 0.0

    @asynccontextmanager
    async def turn(self, max_wait: float) -> AsyncIterator[None]:
        """Where a read may be sent and is answered. Raises CoolingDown for a pause that passes `max_wait` seconds."""
        entered_at = self._timing.timer()
        async with self._slots, AsyncExitStack() as first_read:
            if self._is_active:
                await first_read.enter_async_context(self._first_read)
            if self._is_active:
                pause = self._ends_at - self._timing.timer()
                if pause > _SHORTEST_PAUSE:
                    if self._timing.timer() - entered_at + pause > max_wait:
                        raise CoolingDown(pause)
                    await self._timing.sleep(pause)
            else:
                await first_read.aclose()
            yield

    def begin(self, retry_after: float | None) -> float:
        """The platform refuses for now: seconds until it may be asked again."""
        now = self._timing.timer()
        if not self._is_active or now >= self._ends_at:  # the others were under way when the first was refused
            self._pauses += 1
        pause = max(retry_after or 0.0, _backoff(self._timing, self._pauses))
        self._is_active, self._ends_at = True, max(self._ends_at, now + pause)
        return self._ends_at - now

    def end(self) -> None:
        """The platform has answered; what was under way when the pause began does not end it."""
        if self._timing.timer() >= self._ends_at:
            self._is_active, self._pauses = False, 0


def _backoff(timing: ClientTiming, tries: int) -> float:
    """Seconds to wait after so many tries that failed: of twice as many each time, the upper half."""
    return min(_MAX_DELAY, _FIRST_DELAY * 2.0 ** (tries - 1)) * (0.5 + timing.jitter() / 2)


class RetryPolicy:
    """The retries of one read: how long its next try may take, and how long to wait before it.

    `seconds`: for all its tries and the waits between them; 0: it is tried once. They are added up rather than read off
    a clock, so that a clock that stands still cannot make it endless.
    """

    def __init__(self, timing: ClientTiming, seconds: float) -> None:
        self.seconds_left = seconds
        self._timing = timing
        self._tries = 0
        self.timeout = 2 * timing.timeout
        """Seconds that the next try may take as a whole."""

    def next_delay(self, took: float, cooldown: float) -> float | None:
        """Seconds to wait after a try that failed; None where there is no time for another."""
        self._tries += 1
        delay = cooldown or _backoff(self._timing, self._tries)
        self.seconds_left -= took + delay
        self.timeout = min(self.timeout, self.seconds_left)
        return delay if self.seconds_left > 0 else None
