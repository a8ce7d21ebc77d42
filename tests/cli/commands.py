"""The command `livedeck` as a process of its own, with an empty home."""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import structlog
from click.testing import CliRunner

from cli.starts import LIVEDECK, SOURCE, Start, run
from livedeck.cli import main
from livedeck.cli.description import load_description

TIMEOUT = 60
"""Seconds after which a command that should have ended is a failure."""


def environment(home: Path, **extra: str) -> dict[str, str]:
    """Return variables without any setting of the user: a bare path, an empty home, and `extra`."""
    kept = {"PATH": os.environ["PATH"], "PYTHONPATH": SOURCE, "HOME": str(home), "TERM": "xterm-256color"}
    return {**kept, **extra}


def livedeck(home: Path, *arguments: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, without a terminal."""
    return run(
        [*LIVEDECK, *arguments],
        env=environment(home, **(env or {})),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )


@contextmanager
def logging_restored() -> Iterator[None]:
    """Restore the logging of the process at the end, because a command changes it for its whole process."""
    loggers = [logging.getLogger(name) for name in (None, "livedeck.client")]
    found = [(logger, list(logger.handlers), logger.level) for logger in loggers]
    loggers[0].handlers = []
    try:
        yield
    finally:
        for logger, handlers, level in found:
            for handler in logger.handlers:
                if handler not in handlers:
                    handler.close()
            logger.handlers = handlers
            logger.setLevel(level)
        structlog.reset_defaults()


def called(home: Path, *arguments: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command to its end in this process: cheaper, for tests that need no process of its own."""
    foreign = {name: None for name in os.environ if name.startswith(("LIVEDECK_", "XDG_", "NO_COLOR", "COLORTERM"))}
    with logging_restored():
        done = CliRunner().invoke(main, arguments, env={**foreign, **environment(home, **(env or {}))})
        for (
            thread
        ) in threading.enumerate():  # the end of a process ends this thread; here it would log into other tests
            if thread.name == "livedeck-salvage":
                thread.join(TIMEOUT)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)


@contextmanager
def served(
    home: Path, *arguments: str, stderr: IO[str] | None = None
) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """Yield a running `livedeck serve --json` and the JSON that it printed."""
    command = [*LIVEDECK, "serve", "--json", "--port", "0", *arguments]
    with Start(command, env=environment(home), stdout=subprocess.PIPE, stderr=stderr, text=True) as process:
        try:
            assert process.stdout is not None
            yield process, json.loads(process.stdout.readline())
        finally:
            process.kill()


def settings_of(home: Path, text: str = "") -> dict[str, str]:
    """Return the variables for a settings file with `text` and a history beside it."""
    config = home / "config.toml"
    config.write_text(text)
    return {"LIVEDECK_CONFIG": str(config), "LIVEDECK_HISTORY": str(home / "history.sqlite")}


@contextmanager
def collecting(home: Path, env: Mapping[str, str]) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Yield a running `livedeck collector run` that has a token, and its address from its first line."""
    pipes: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    with Start([*LIVEDECK, "collector", "run"], env=environment(home, **env), **pipes) as process:
        try:
            assert process.stderr
            line = process.stderr.readline()
            listening = re.fullmatch(r"livedeck collector run: (http://127\.0\.0\.1:\d+)/\n", line)
            assert listening, line
            yield process, listening[1]
        finally:
            process.kill()


def command_of(line: Sequence[str]) -> tuple[str, ...]:
    """Return the words of the command at the beginning of a line."""
    known = load_description()
    counts = [count for count in range(1, len(line) + 1) if " ".join(line[:count]) in known]
    return tuple(line[: counts[-1]])
