"""Run a command that never ends for a while, on a virtual clock."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from virtual_clock import VirtualClock


async def listen(clock: VirtualClock, work: Coroutine[Any, Any, int], seconds: float) -> None:
    """Run a command for `seconds` and cancel it. Raises what the command raises."""

    async def until_bored() -> None:
        command, bored = asyncio.ensure_future(work), asyncio.ensure_future(clock.sleep(seconds))
        try:
            await asyncio.wait([command, bored], return_when=asyncio.FIRST_COMPLETED)
            if command.done():
                command.result()
        finally:
            command.cancel()
            bored.cancel()
            await asyncio.gather(command, bored, return_exceptions=True)

    await clock.run(until_bored())
