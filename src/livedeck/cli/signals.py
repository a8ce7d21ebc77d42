"""How a command ends from outside: by a signal, or because its terminal is gone (interface.md, "Leaving")."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sys
from collections.abc import Awaitable, Callable
from threading import Thread
from time import sleep

GRACE_SECONDS = 3.0
"""How long a screen without a terminal has to end by itself."""

GONE = 128 + signal.SIGHUP


def end_on_signals(leave: Callable[[int], None]) -> None:
    """An end from outside leaves the terminal as a quit does; without this the alternate screen would stay on.

    `leave` is called on the event loop with the exit code.
    """
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        loop.add_signal_handler(number, leave, 128 + number)
    if sys.stdin.isatty():
        Thread(target=_end_with_terminal, args=(loop, leave), name="terminal", daemon=True).start()


def _end_with_terminal(loop: asyncio.AbstractEventLoop, leave: Callable[[int], None]) -> None:
    """Sleep until the terminal hangs up; then leave, and where that is not possible any more, go.

    A thread, because Textual writes to a terminal that nobody reads until its queue is full, and holds the loop there.
    """
    hang_up = select.poll()
    hang_up.register(sys.stdin.fileno(), 0)  # a hang-up is reported without being asked for
    hang_up.poll()
    if not loop.is_closed():
        loop.call_soon_threadsafe(leave, GONE)
    sleep(GRACE_SECONDS)
    os._exit(GONE)


async def cancel_on_signals(work: Callable[[], Awaitable[int]]) -> int:
    """Do it; SIGTERM and SIGHUP cancel it as ctrl-c does, so that nothing half is left. Returns the exit code."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    received = list[int]()

    def cancel(number: int) -> None:
        received.append(number)
        if task:
            task.cancel()

    numbers = signal.SIGTERM, signal.SIGHUP
    for number in numbers:
        loop.add_signal_handler(number, cancel, number)
    try:
        return await work()
    except asyncio.CancelledError:
        if not received:
            raise
        return 128 + received[0]
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
