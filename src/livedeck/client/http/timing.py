"""Rate limit, cool-down, and retries of reads with back-off."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime

from livedeck.record import Record

MAX_CONNECTIONS = 10
"""Maximum number of connections, and of reads at a time. Further reads wait, so that they obey a new cool-down."""

_FIRST_DELAY = 0.2
_MAX_DELAY = 5.0
_SHORTEST_PAUSE = 0.001
_SHORTEST_DELAY = 0.01


class ClientTiming(Record):
    """Time limits and clocks of a client.

    Attributes:
        timeout: Seconds for connecting, and for each silence.
        retry: Seconds that a read may take with all its tries.
        rate: Requests per second.
        upload_timeout: Seconds of silence after the last byte of an upload.
        now: Wall clock; its datetimes have a time zone.
        timer: Clock in seconds that never runs backwards.
        sleep: Waits for some seconds.
        jitter: Returns a random number from 0 up to 1.
        machine_seconds: Converts seconds of these clocks to seconds of this machine, for the time limits of a request.
    """

    timeout: float
    retry: float
    rate: float
    upload_timeout: float
    now: Callable[[], datetime]
    timer: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]]
    jitter: Callable[[], float]
    machine_seconds: Callable[[float], float] = float


class RateLimiter:
    """Token bucket that allows the requests of one second at once, then one request every `1 / rate` seconds."""

    def __init__(self, timing: ClientTiming) -> None:
        self._timing = timing
        self._tokens = self._capacity = max(1.0, timing.rate)
        self._filled_at = timing.timer()
        self._queue = asyncio.Lock()

    async def acquire(self) -> None:
        """Take one request from the bucket; wait if it is empty."""
        async with self._queue:
            now = self._timing.timer()
            self._tokens = min(self._capacity, self._tokens + (now - self._filled_at) * self._timing.rate)
            self._filled_at = now
            if self._tokens < 1:
                await self._timing.sleep((1 - self._tokens) / self._timing.rate)
                # the wait counts even on a clock that stands still
                self._tokens, self._filled_at = 1, self._timing.timer()
            self._tokens -= 1


class CoolingDown(Exception):  # noqa: N818  named like the errors in errors.py
    """A read would have to wait too long for the end of a cool-down. `seconds`: time until the end."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"{seconds:.1f} s")
        self.seconds = seconds


class Cooldown:
    """Pause of all reads after the platform has refused a read because of too many requests.

    The platform may state the length of the pause; otherwise each pause is longer than the one before. After the pause,
    a single read is sent. The other reads follow if the platform does not refuse this read.
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
        """Wait until the read in the block may be sent. Raises CoolingDown if that takes over `max_wait` seconds."""
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
        """Begin or extend the pause after a refusal. Returns the seconds until its end.

        `retry_after`: seconds that the platform demands, or None.
        """
        now = self._timing.timer()
        if not self._is_active or now >= self._ends_at:  # not for reads that were sent before the pause began
            self._pauses += 1
        # at least half of the maximum, so that each pause is longer than the one before
        pause = max(retry_after or 0.0, _longest_delay(self._pauses) * (0.5 + self._timing.jitter() / 2))
        self._is_active, self._ends_at = True, max(self._ends_at, now + pause)
        return self._ends_at - now

    def end(self) -> None:
        """End the pause after a successful read, unless the read was sent before the pause began."""
        if self._timing.timer() >= self._ends_at:
            self._is_active, self._pauses = False, 0


def _longest_delay(tries: int) -> float:
    """Return the maximum seconds to wait after `tries` failed tries. It doubles with each try, up to `_MAX_DELAY`."""
    return min(_MAX_DELAY, _FIRST_DELAY * 2.0 ** min(tries - 1, 30))


class RetryPolicy:
    """Policy for the retries of one read: the time limit of the next try, and the wait before it.

    The wait is a random share of a delay that doubles with each try, so clients that failed together retry at different
    times. `seconds`: limit for all tries and waits together; 0 for a single try. The policy adds up durations instead
    of comparing times, so a clock that stands still causes no endless retries.
    """

    def __init__(self, timing: ClientTiming, seconds: float) -> None:
        self.seconds_left = seconds
        self._timing = timing
        self._tries = 0
        self.timeout = 2 * timing.timeout
        """Time limit of the next try, in seconds."""

    def next_delay(self, took: float, cooldown: float) -> float | None:
        """Return the seconds to wait after a failed try; None if no time is left for another try.

        `took`: seconds of the failed try. `cooldown`: seconds until the end of a pause, or 0.
        """
        self._tries += 1
        delay = cooldown or max(_SHORTEST_DELAY, _longest_delay(self._tries) * self._timing.jitter())
        self.seconds_left -= took + delay
        self.timeout = min(self.timeout, self.seconds_left)
        return delay if self.seconds_left > 0 else None
