"""How fast, how long and how often the client asks: the request budget, and the patience with a failing read."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

_FIRST_PAUSE = 0.2

_LONGEST_PAUSE = 5.0


@dataclass(frozen=True, slots=True)
class ClientTiming:
    """The times of a client, and the clocks they are counted on.

    `timeout`: seconds for connecting and for every silence. `retry`: seconds that a read may take with all its tries.
    `rate`: requests per second. `now`: the wall clock, aware. `timer`: seconds that never run backwards. `jitter`:
    from 0 up to 1.
    """

    timeout: float
    retry: float
    rate: float
    now: Callable[[], datetime]
    timer: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]]
    jitter: Callable[[], float]


class RateLimiter:
    """A second's worth of requests at once, then one each `1 / rate` seconds, first come first served."""

    def __init__(self, pace: ClientTiming) -> None:
        self._pace = pace
        self._left = self._most = max(1.0, pace.rate)
        self._at = pace.timer()
        self._turn = asyncio.Lock()

    async def spend(self) -> None:
        """Take one request from the budget, waiting until there is one."""
        async with self._turn:
            now = self._pace.timer()
            self._left = min(self._most, self._left + (now - self._at) * self._pace.rate)
            self._at = now
            if self._left < 1:
                await self._pace.sleep((1 - self._left) / self._pace.rate)
                self._left, self._at = 1, self._pace.timer()  # paid for, even on a clock that stands still
            self._left -= 1


class RetryPolicy:
    """With one read: how long its next try may take, and how long to wait before it.

    Tries and waits are added up rather than read off a clock, so that a clock that stands still cannot make it endless.
    """

    def __init__(self, pace: ClientTiming) -> None:
        self._pace = pace
        self._left = pace.retry
        self._tries = 0
        self.limit = 2 * pace.timeout
        """Seconds that the next try may take as a whole."""

    def pause(self, took: float, retry_after: float | None) -> float | None:
        """Seconds to wait after a try that failed; None where there is no time for another."""
        longest = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**self._tries)
        wait = max(retry_after or 0.0, longest * (0.5 + self._pace.jitter() / 2))
        self._tries += 1
        self._left -= took + wait
        self.limit = min(self.limit, self._left)
        return wait if self._left > 0 else None
