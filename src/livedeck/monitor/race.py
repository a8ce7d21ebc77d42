"""Waiting for whichever comes first, and leaving nothing behind."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any


async def first(*runners: Coroutine[Any, Any, object]) -> None:
    """Run all until one is done, then stop the others. What the one raised is raised; what it returned is dropped."""
    tasks = [asyncio.ensure_future(runner) for runner in runners]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
