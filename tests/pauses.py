"""Pauses in tests of the deck end when no work is in progress, however busy the machine is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

_run_in_executor = asyncio.BaseEventLoop.run_in_executor

_under_way: set[asyncio.Future[Any]] = set()

MAX_PAUSES = 200
"""Pauses after which a thread counts as one that works as long as the deck."""


@pytest.fixture
def whole_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make pauses wait for threads.

    Textual counts low processor time as the end of all work, but a thread may only wait.
    """
    import textual.app
    import textual.pilot
    from textual._wait import wait_for_idle

    async def wait_until_idle(*limits: float) -> None:
        await wait_for_idle(*limits)
        for _ in range(MAX_PAUSES):
            if not _under_way:
                return
            await wait_for_idle(*limits)

    _under_way.clear()
    monkeypatch.setattr(asyncio.BaseEventLoop, "run_in_executor", run_in_executor)
    monkeypatch.setattr(textual.app, "wait_for_idle", wait_until_idle)
    monkeypatch.setattr(textual.pilot, "wait_for_idle", wait_until_idle)


def run_in_executor(
    loop: asyncio.BaseEventLoop, executor: Any, func: Callable[..., Any], *args: Any
) -> asyncio.Future[Any]:
    """Replace `BaseEventLoop.run_in_executor`; the work is in progress until the loop has its result."""
    future = _run_in_executor(loop, executor, func, *args)
    _under_way.add(future)
    future.add_done_callback(_under_way.discard)
    return future
