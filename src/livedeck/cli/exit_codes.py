"""End of a command: its exit code, and one line on standard error for an expected error."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from livedeck.monitor import AlarmRefused, ConnectionStatus

DONE, FAULT, USAGE, REFUSED, UNREACHABLE, UNKNOWN, NOT_SO = range(7)
"""Exit codes of every command. REFUSED: a reply refused the request, or livedeck refused to send it. UNREACHABLE: the
platform or the collector did not reply, its reply is unreadable, or it failed (5xx).

UNKNOWN: a change was sent, and its outcome is unknown. NOT_SO: the condition that the command checks or waits for is
not met.
"""

INTERRUPTED, PIPE_CLOSED = 128 + 2, 128 + 13
"""Exit codes after SIGINT and SIGPIPE, as a shell reports them."""


class MachineError(Exception):
    """A fault of this machine, such as a locked file. A command prints its text and ends with FAULT."""


def run(work: Callable[[], Coroutine[Any, Any, int]], *, is_screen: bool = False) -> int:
    """Run a command with logging to the log file, and return its exit code. Print the masked traceback of a bug.

    ctrl-c cancels the command, but ends the process of a screen (`is_screen`) that is not drawn yet, because Textual
    ignores a cancellation while it starts. A drawn screen handles ctrl-c itself (`end_on_signals`).
    """
    try:
        import asyncio  # a third of what `--help` of a command costs

        from livedeck.cli.log_file import start_logging
        from livedeck.environment import log_path

        if not is_screen:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        start_logging(log_path())
        return asyncio.run(work())
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return end_broken_pipe()
    except Exception as error:
        import click

        if isinstance(error, click.ClickException | click.exceptions.Exit | click.Abort | OSError):
            raise  # click prints its own errors; `run_command` reports errors of streams and files
        from livedeck.cli.output import echo
        from livedeck.client import ApiError
        from livedeck.collector.attached.link import CollectorError
        from livedeck.monitor import NotReadError
        from livedeck.settings import SettingsError
        from livedeck.text.secrets import masked

        is_named = isinstance(error, ApiError | SettingsError | CollectorError | NotReadError | MachineError)
        echo(f"livedeck: {masked(error_text(error))}" if is_named else masked_traceback(error), err=True)
        return code_of_error(error)


def error_text(error: Exception) -> str:
    """Return the text of an error. Adds advice about --force if the command would have written the file with it."""
    from livedeck.client import Unproved

    if isinstance(error, Unproved):
        return f"{error}; give --force twice to write the content anyway"
    return f"{error}; add --force to replace it" if isinstance(error.__cause__, FileExistsError) else str(error)


def masked_traceback(error: BaseException) -> str:
    """Return the traceback as Python prints it, without secrets and control characters."""
    from livedeck.text.outside import shown
    from livedeck.text.secrets import masked

    lines = masked("".join(traceback.format_exception(error))).splitlines()
    return "\n".join(shown(line) for line in lines)


def end_broken_pipe() -> int:
    """Drop the buffered output, because nobody reads standard output any more. Returns the exit code."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return PIPE_CLOSED


def code_of_error(error: Exception) -> int:
    """Return the exit code for an error, FAULT by default."""
    from livedeck.client import Invalid, Misconfigured, ReadOnly, Rejected, ServerFault, Unreachable, Unreadable
    from livedeck.client import Unknown as Lost
    from livedeck.collector.attached.link import CollectorError, CollectorRefusedError
    from livedeck.settings import SettingsError

    if isinstance(error, SettingsError | Misconfigured | Invalid | ReadOnly):
        return USAGE
    if isinstance(error, ServerFault | Unreachable | Unreadable):
        return UNREACHABLE
    if isinstance(error, CollectorError):
        return REFUSED if isinstance(error, CollectorRefusedError) and error.status < 500 else UNREACHABLE
    if isinstance(error, Rejected):
        return REFUSED
    return UNKNOWN if isinstance(error, Lost) else FAULT


def code_of_refusal(refusal: AlarmRefused) -> int:
    """Return the exit code of a command that ends with this refusal: UNKNOWN if the command may have been done."""
    from livedeck.monitor import AlarmNotSent, AlarmOutcomeUnknown

    if isinstance(refusal, AlarmOutcomeUnknown):
        return UNKNOWN
    return UNREACHABLE if isinstance(refusal, AlarmNotSent) else NOT_SO


def code_of_link(link: ConnectionStatus) -> int:
    """Return the exit code of a command that ends with the link to the platform in this state."""
    from livedeck.monitor import ConnectionProblem

    if link.state.is_answering:
        return DONE
    refusals = {
        ConnectionProblem.UNAUTHORIZED,
        ConnectionProblem.OTHER_WORKSPACE,
        ConnectionProblem.RATE_LIMITED,
        ConnectionProblem.REDIRECTED,
        ConnectionProblem.REQUEST_REFUSED,
        ConnectionProblem.COLLECTOR_REFUSES,
    }
    return REFUSED if link.problem in refusals else UNREACHABLE
