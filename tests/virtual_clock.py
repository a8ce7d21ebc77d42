"""Clock of a test: nothing waits, and no time passes by itself."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

T = TypeVar("T")

_IDLE = 3
"""Turns of the event loop without work after which only a timer can make something happen."""

_IDLE_WITH_THREADS = 60
"""Turns without work while threads run, in which their results surely arrive."""


class VirtualClock:
    """Clock whose time jumps to the next sleeper as soon as no task can run without that."""

    def __init__(self, start: datetime = datetime(2026, 3, 1, 12, tzinfo=UTC)) -> None:
        self._start, self._tick = start, 0.0
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []

    def now(self) -> datetime:
        """Return the time of the wall clock: aware, UTC."""
        return self._start + timedelta(seconds=self._tick)

    def monotonic(self) -> float:
        """Return the seconds since this clock was made."""
        return self._tick

    async def sleep(self, seconds: float) -> None:
        """Return once the test has moved the time that far."""
        waked: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sleepers.append((self._tick + seconds, waked))
        await waked

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of `work`, however long it takes on this clock."""
        task = asyncio.ensure_future(work)
        try:
            while not await self._idle(task):
                self._jump()
            return task.result()
        finally:
            task.cancel()

    async def _idle(self, task: asyncio.Future[T]) -> bool:
        loop: Any = asyncio.get_running_loop()
        turns = 0
        while turns < (_IDLE if threading.active_count() == 1 else _IDLE_WITH_THREADS):
            await asyncio.sleep(0)
            if task.done():
                return True
            turns = 0 if loop._ready else turns + 1  # long work pauses and goes on: nothing else tells of it
        return False

    def _jump(self) -> None:
        waiting = [sleeper for sleeper in self._sleepers if not sleeper[1].done()]
        if not waiting:
            raise AssertionError("nothing sleeps, and nothing happens")
        self._tick = max(self._tick, min(until for until, _ in waiting))
        self._sleepers = [sleeper for sleeper in waiting if sleeper[0] > self._tick]
        for until, waked in waiting:
            if until <= self._tick:
                waked.set_result(None)
