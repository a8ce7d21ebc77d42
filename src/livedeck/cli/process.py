"""A command as a process of this machine: its standard streams, its end from outside, its garbage collector."""

from __future__ import annotations

import gc
import os
import select
import signal
import stat
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Lock, Thread
from time import sleep
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    import asyncio

    from livedeck.monitor import Clock


def run_command(command: Callable[[], object]) -> None:
    """Run a command; standard streams that are closed or full end it with words. Raises SystemExit."""
    closed = [name for name in ("stdin", "stdout", "stderr") if getattr(sys, name) is None]
    for _ in closed:
        os.open(os.devnull, os.O_RDWR)  # takes the free number, which a file or a socket would take otherwise
    if "stdout" in closed:
        _say("standard output is closed; give it a file, or /dev/null")
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
    """Why what was printed cannot be written. What is buffered is dropped then: it would fail once more at the end."""
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return error
    return None


def _say(text: str) -> None:
    """Print words of ours, if standard error takes them."""
    with suppress(OSError):
        click.echo(f"livedeck: {text}", err=True)


def flush_errors() -> None:
    """Write what is left for standard error; what it cannot take would fail once more at the end, and is dropped."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
        with suppress(OSError):
            sys.stderr.flush()


GRACE_SECONDS = 3.0
"""How long a screen has to end by itself; where nobody reads the terminal it waits for that for ever."""

ENDING = tuple(
    number
    for name in ("HUP", "INT", "QUIT", "TERM", "USR1", "USR2", "ALRM", "VTALRM", "PROF", "XCPU", "IO", "PWR")
    if (number := getattr(signal, f"SIG{name}", None))
)
"""The signals that end a process and can be heard."""


@contextmanager
def end_on_signals(leave: Callable[[int], None], give_back: Callable[[], None]) -> Iterator[None]:
    """Within the block, an end from outside leaves the terminal as a quit does.

    `leave` is called on the event loop with the exit code. `give_back` restores the terminal where that came to
    nothing within `GRACE_SECONDS`; the process ends then, come what may.
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
            with deciding:  # the block is not left meanwhile
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
    """Sleep until a signal comes or the terminal hangs up; then leave, and where that is not possible any more, go.

    A thread, because Textual writes to a terminal that nobody reads until its queue is full, and holds the loop there.
    """
    endings = select.poll()
    endings.register(received, select.POLLIN)
    if _is_device(sys.stdin.fileno()):
        endings.register(sys.stdin.fileno(), 0)  # a hang-up is reported without being asked for
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
    """A terminal that hung up just now is none to `isatty`, and would never be waited for."""
    return stat.S_ISCHR(os.fstat(descriptor).st_mode)


async def cancel_on_signals(work: Callable[[], Awaitable[int]]) -> int:
    """Do it; SIGTERM and SIGHUP cancel it as ctrl-c does, so that nothing half is left. Returns the exit code."""
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
    """Have ctrl-c end a command at once wherever it computes, and not at its next wait. For commands that only read."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


_LASTING, _ALL_EACH = 10.0, 3600.0
"""Seconds."""


@contextmanager
def lasting_imports() -> Iterator[None]:
    """Whatever is imported by the end of the block lasts: the garbage collector does not look through it again.

    Collecting while modules are imported takes an eighth of a start. Afterwards a full collection over 200 events holds
    the event loop for 0.1 s where it looks through the modules, too, and less than half as long where it does not.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


async def keep_collections_short(clock: Clock) -> None:
    """What has lasted for ten seconds will last: a full collection looks through the rest alone. Until cancelled.

    With a thousand events one that looks through everything holds the event loop for a third of a second, many times a
    minute. What lasted and is garbage all the same is found once an hour.
    """
    while True:
        gc.unfreeze()
        for _ in range(round(_ALL_EACH / _LASTING)):
            gc.collect()
            gc.freeze()
            await clock.sleep(_LASTING)
