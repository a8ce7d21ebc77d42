"""Objects that the garbage collector of a long-running process inspects."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Iterator

import pytest

from livedeck.cli.process import keep_collections_short
from livedeck.cli.wiring import SystemClock


class Hands(SystemClock):
    """Clock that advances when the test says so."""

    def __init__(self) -> None:
        self.turns = asyncio.Semaphore(0)
        self.waited = 0.0

    async def sleep(self, seconds: float) -> None:
        """Wait until the test turns the hands."""
        self.waited += seconds
        await self.turns.acquire()

    async def turn(self, count: int = 1) -> None:
        """End `count` sleeps."""
        for _ in range(count):
            self.turns.release()
            await asyncio.sleep(0)
            await asyncio.sleep(0)


class Node:
    """Object that refers to itself, so that only the garbage collector frees it."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def thawed() -> Iterator[None]:
    """Unfreeze at the end everything that the test has frozen."""
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("thawed")
async def test_what_lasts_is_looked_through_once_an_hour_and_garbage_is_found() -> None:
    clock = Hands()
    lasting = Node()
    task = asyncio.create_task(keep_collections_short(clock, partial=10.0, full=3600.0))
    await clock.turn()
    assert not any(found is lasting for found in gc.get_objects())  # frozen
    passing = Node()
    assert any(found is passing for found in gc.get_objects())
    seen = weakref.ref(passing), weakref.ref(lasting)
    del passing
    await clock.turn()
    assert seen[0]() is None
    del lasting
    await clock.turn(10)
    assert seen[1]() is not None
    await clock.turn(400)
    assert clock.waited > 3600
    assert seen[1]() is None
    task.cancel()
