"""How a command ends: its exit code, and one line on stderr for what it can name."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from livedeck.cli import start_screen
from livedeck.cli.log_file import log_to
from livedeck.client import ApiError, Invalid, Misconfigured, ReadOnly, Rejected, Unknown, Unreachable, Unreadable
from livedeck.monitor import ConnectionProblem, ConnectionState, ConnectionStatus
from livedeck.settings import SettingsError, log_path

DONE, FAULT, USAGE, REFUSED, UNREACHABLE = range(5)

"""The same in every command. REFUSED: the platform answered, and said no. UNREACHABLE: no answer that could be used."""


INTERRUPTED, PIPE_CLOSED = 128 + 2, 128 + 13

"""As the shell counts an end by SIGINT or SIGPIPE."""


_ERRORS: Mapping[type[Exception], int] = {
    SettingsError: USAGE,
    Misconfigured: USAGE,
    Invalid: USAGE,
    ReadOnly: USAGE,
    Rejected: REFUSED,
    Unreachable: UNREACHABLE,
    Unreadable: UNREACHABLE,
    Unknown: UNREACHABLE,
}

_UNHEARD = frozenset({ConnectionProblem.NO_ANSWER, ConnectionProblem.UNREADABLE})


def run(work: Callable[[], Coroutine[Any, Any, int]]) -> int:
    """Run a command to its exit code, its log in the file. An error that is not named here is a fault of ours."""
    log_to(log_path())
    try:
        return asyncio.run(work())
    except (SettingsError, ApiError) as error:
        start_screen.lower()  # words go where they stay
        click.echo(f"livedeck: {error}", err=True)
        return code_of(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Who read us has left. What is still in the buffer must not fail a second time as the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED


async def ended_by_signals(work: Callable[[], Awaitable[int]]) -> int:
    """Do it; SIGTERM and SIGHUP end it as ctrl-c does, so that nothing half is left. Returns the exit code."""
    task, ended = asyncio.current_task(), list[int]()

    def leave(number: int) -> None:
        ended.append(number)
        if task:
            task.cancel()

    with _heeded(leave):
        try:
            return await work()
        except asyncio.CancelledError:
            if not ended:
                raise
            return 128 + ended[0]


@contextmanager
def _heeded(leave: Callable[[int], None]) -> Iterator[None]:
    loop, numbers = asyncio.get_running_loop(), (signal.SIGTERM, signal.SIGHUP)
    for number in numbers:
        loop.add_signal_handler(number, leave, number)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


def code_of(error: Exception) -> int:
    """The exit code for that error; FAULT for one that is nobody's refusal."""
    return next((code for kind, code in _ERRORS.items() if isinstance(error, kind)), FAULT)


def code_of_link(link: ConnectionStatus) -> int:
    """The exit code of a command that saw the platform through that link."""
    if link.state is ConnectionState.OK:
        return DONE
    return UNREACHABLE if link.problem in _UNHEARD or not link.problem else REFUSED
