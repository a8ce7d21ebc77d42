"""The command `livedeck` as a process of its own, with an empty home."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PATIENCE = 60
"""Seconds after which a command that should have ended is a failure."""

LIVEDECK = [sys.executable, "-m", "livedeck"]


def environment(home: Path, **extra: str) -> dict[str, str]:
    """Nothing of the user's own settings: a bare path, an empty home, and what is given."""
    source = str(Path(__file__).parents[2] / "src")
    kept = {"PATH": os.environ["PATH"], "PYTHONPATH": source, "HOME": str(home), "TERM": "xterm-256color"}
    return {**kept, **extra}


def livedeck(home: Path, *arguments: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run it to its end, without a terminal."""
    return subprocess.run(
        [*LIVEDECK, *arguments],
        env=environment(home, **(env or {})),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@contextmanager
def served(home: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """A `livedeck serve --json` that answers, and what it printed."""
    command = [*LIVEDECK, "serve", "--json", "--port", "0", *arguments]
    with subprocess.Popen(command, env=environment(home), stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process, json.loads(process.stdout.readline())
        finally:
            process.kill()
