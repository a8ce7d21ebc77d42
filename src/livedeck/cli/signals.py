"""How a screen ends from outside: by a signal, or because its terminal is gone (interface.md, Leaving)."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sys
from collections.abc import Callable
from threading import Thread
from time import sleep

GRACE = 3.0

"""Seconds that a screen without a terminal has to end by itself."""


GONE = 128 + signal.SIGHUP


def end_on_signals(leave: Callable[[int], None]) -> None:
    """An end from outside leaves the terminal as a quit does; without this the alternate screen would stay on."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        loop.add_signal_handler(number, leave, 128 + number)
    if sys.stdin.isatty():
        Thread(target=_end_with_terminal, args=(loop, leave), name="terminal", daemon=True).start()


def _end_with_terminal(loop: asyncio.AbstractEventLoop, leave: Callable[[int], None]) -> None:
    """Sleep until the terminal hangs up; then leave, and where that is not possible any more, go.

    A thread, because Textual writes to a terminal that nobody reads until its queue is full, and holds the loop there.
    """
    watched = select.poll()
    watched.register(sys.stdin.fileno(), 0)  # a hang-up is told without being asked for
    watched.poll()
    if not loop.is_closed():
        loop.call_soon_threadsafe(leave, GONE)
    sleep(GRACE)
    os._exit(GONE)
