"""One change at a time holds an object; nobody waits without end, and a released object is free."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from livedeck.atomic_file import FileLock
from livedeck.cli.wiring import SystemClock
from livedeck.cli.write_locks import RETRY_SECONDS, WAIT_SECONDS, WriteLocks
from livedeck.operations.operation import Target

EVENT = Target("event", "e1", "Main stage")
PLATFORM = "https://platform.example"


class Counting(SystemClock):
    """Clock whose pauses end at once, and advance its time."""

    def __init__(self) -> None:
        self.slept = 0.0

    def monotonic(self) -> float:
        return self.slept

    async def sleep(self, seconds: float) -> None:
        self.slept += seconds
        await asyncio.sleep(0)


def files(folder: Path) -> list[Path]:
    return [*folder.iterdir()]


def fail(text: str) -> None:
    raise AssertionError(text)


def locks(folder: Path, base_url: str = PLATFORM) -> WriteLocks:
    return WriteLocks(folder, base_url, Counting(), fail)


async def test_an_object_that_is_held_is_waited_for_so_long_and_no_longer(tmp_path: Path) -> None:
    waiting = locks(tmp_path)
    async with locks(tmp_path).hold(EVENT) as is_held, waiting.hold(EVENT) as is_held_too:
        assert (is_held, is_held_too) == (True, False)
        assert WAIT_SECONDS <= waiting.clock.monotonic() < WAIT_SECONDS + 2 * RETRY_SECONDS
    async with waiting.hold(EVENT) as is_held:
        assert is_held
    assert not files(tmp_path)


@pytest.mark.parametrize(
    ("base_url", "target"),
    [
        (PLATFORM, Target("event", "e2", "Main stage")),
        (PLATFORM, Target("room", "e1", "Main stage")),
        ("https://staging.example", EVENT),
        (PLATFORM, Target("event", "", "Not made yet")),
    ],
)
async def test_another_object_is_another_lock(tmp_path: Path, base_url: str, target: Target) -> None:
    async with locks(tmp_path).hold(EVENT), locks(tmp_path, base_url).hold(target) as is_held:
        assert is_held


async def test_the_same_object_is_the_same_lock_however_the_platform_is_written(tmp_path: Path) -> None:
    async with locks(tmp_path, f"{PLATFORM}/").hold(EVENT), locks(tmp_path).hold(EVENT) as is_held:
        assert not is_held


async def test_who_gives_up_while_the_disk_is_slow_leaves_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread that opens the file hears of nothing: the lock that it brings is let go."""
    acquire, begun, goes_on = FileLock.acquire, asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def slow(path: Path) -> FileLock | None:
        loop.call_soon_threadsafe(begun.set)
        asyncio.run_coroutine_threadsafe(goes_on.wait(), loop).result(30)
        return acquire(path)

    monkeypatch.setattr(FileLock, "acquire", slow)

    async def hold() -> None:
        async with locks(tmp_path).hold(EVENT):
            raise AssertionError("it was given up")

    giving_up = asyncio.ensure_future(hold())
    await begun.wait()
    giving_up.cancel()
    await asyncio.wait([giving_up])
    assert giving_up.cancelled()
    goes_on.set()
    monkeypatch.setattr(FileLock, "acquire", acquire)
    async with WriteLocks(tmp_path, PLATFORM, SystemClock(), fail).hold(EVENT) as is_held:
        assert is_held
