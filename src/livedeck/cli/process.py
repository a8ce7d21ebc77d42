"""Process of a command: its standard streams, the signals that end it, and garbage collection."""

from __future__ import annotations

import gc
import os
import select
import signal
import stat
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from threading import Event, Lock, Thread
from time import sleep
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    import asyncio

    from livedeck.monitor import Clock


def run_command(command: Callable[[], object]) -> None:
    """Run a command; report a closed or full standard stream in one line. Raises SystemExit."""
    closed = [name for name in ("stdin", "stdout", "stderr") if getattr(sys, name) is None]
    for _ in closed:
        os.open(os.devnull, os.O_RDWR)  # a file or socket must not take the free number
    if "stdout" in closed:
        _say("standard output is closed; redirect it to a file, or to /dev/null")
        raise SystemExit(1)
    try:
        command()
    except OSError as error:
        fault = _fault_of_output() or error
        _say(f"{fault.filename or 'standard output'}: {fault.strerror or fault}")
        raise SystemExit(1) from None
    except SystemExit as end:
        if not end.code and (fault_of_output := _fault_of_output()):
            _say(f"standard output: {fault_of_output.strerror}")
            raise SystemExit(1) from None
        raise
    finally:
        flush_errors()


def _fault_of_output() -> OSError | None:
    """Flush standard output and return the error, or None. Drops the buffer on failure, or the exit would fail too."""
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return error
    return None


def _say(text: str) -> None:
    """Print a message on standard error; ignore a failure."""
    with suppress(OSError):
        click.echo(f"livedeck: {text}", err=True)


def flush_errors() -> None:
    """Flush standard error. Drops its buffer on failure, or the exit would fail too."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
        with suppress(OSError):
            sys.stderr.flush()


GRACE_SECONDS = 3.0
"""Seconds that a screen may take to end after a signal. Then the process ends anyway.

Without this limit, the screen could wait forever for a terminal that nobody reads.
"""

ENDING = tuple(
    number
    for name in ("HUP", "INT", "QUIT", "TERM", "USR1", "USR2", "ALRM", "VTALRM", "PROF", "XCPU", "IO", "PWR")
    if (number := getattr(signal, f"SIG{name}", None))
)
"""Signals that end a process unless it catches them."""


@contextmanager
def end_on_signals(leave: Callable[[int], None], give_back: Callable[[], None]) -> Iterator[None]:
    """Leave the screen and restore the terminal if a signal arrives in the block.

    `leave` is called on the event loop with the exit code. If the block has not ended `GRACE_SECONDS` later,
    `give_back` is called to restore the terminal, and the process ends.
    """
    import asyncio

    loop = asyncio.get_running_loop()
    received, send = os.pipe()

    def hear(number: int, _: object) -> None:
        os.write(send, bytes([number]))

    before = {number: signal.signal(number, hear) for number in ENDING}
    is_over, deciding = Event(), Lock()

    def end_anyway(code: int) -> None:
        if not is_over.wait(GRACE_SECONDS):
            with deciding:  # the block must not end meanwhile
                if not is_over.is_set():
                    give_back()
                    os._exit(code)
        sleep(GRACE_SECONDS)
        os._exit(code)

    Thread(target=_listen, args=(received, loop, leave, end_anyway), name="endings", daemon=True).start()
    try:
        yield
    finally:
        with deciding:
            is_over.set()
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(send)


def _listen(
    received: int, loop: asyncio.AbstractEventLoop, leave: Callable[[int], None], end_anyway: Callable[[int], None]
) -> None:
    """Wait for a signal or a hang-up of the terminal; then call `leave` on the loop, and `end_anyway`.

    Runs in a thread: if nobody reads the terminal, Textual's queue fills up, and its write blocks the event loop.
    """
    endings = select.poll()
    endings.register(received, select.POLLIN)
    if _is_device(sys.stdin.fileno()):
        endings.register(sys.stdin.fileno(), 0)  # a hang-up is always reported
    woken = [descriptor for descriptor, _ in endings.poll()]
    heard = os.read(received, 1) if received in woken else bytes([signal.SIGHUP])
    if not heard:  # the block is over
        os.close(received)
        return
    code = 128 + heard[0]
    if not loop.is_closed():
        loop.call_soon_threadsafe(leave, code)
    end_anyway(code)


def _is_device(descriptor: int) -> bool:
    """Return whether the descriptor is a device, such as a terminal. `isatty` fails for a terminal that hung up."""
    return stat.S_ISCHR(os.fstat(descriptor).st_mode)


async def cancel_on_signals(work: Callable[[], Awaitable[int]]) -> int:
    """Run `work`. SIGTERM and SIGHUP cancel it as ctrl-c does, so that it can clean up. Returns the exit code."""
    import asyncio

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


def end_on_interrupt() -> None:
    """Let ctrl-c end the process at once, not at the next await. Only for commands that change nothing."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def lasting_imports() -> Iterator[None]:
    """Exclude everything imported in the block from garbage collection.

    Collections during imports would take an eighth of the start time. Later, with 200 events, a full collection blocks
    the event loop for 0.1 s with these objects, and for less than 0.05 s without them.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


async def keep_collections_short(clock: Clock, *, partial: float, full: float) -> None:
    """Exclude older objects from garbage collections, until cancelled.

    A collection over all objects would run many times a minute. It blocks the event loop for 50 to 80 ms with 200
    events, and for a third of a second with 1000 events.

    Args:
        clock: Clock to wait by.
        partial: Seconds between two collections of the objects made since the last.
        full: Seconds between two collections of all objects.
    """
    for turn in count(1):
        await clock.sleep(partial)
        if turn % round(full / partial) == 0:
            gc.unfreeze()
        gc.collect()
        gc.freeze()
