"""A command as a process of this machine: its standard streams."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress

import click


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
