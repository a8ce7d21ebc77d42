"""Command lines in processes of their own, forked by the program `forking.py`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cli.commands import environment
from cli.groups_stage import Stage

FORKING = Path(__file__).with_name("forking.py")

Run = Callable[..., tuple[int, str, str]]
"""Function that runs a line with streams as in `forking.py`, and returns its exit code, output and errors."""


@contextmanager
def forked(on_stage: Stage, **extra: str) -> Iterator[Run]:
    """Yield a function that runs lines with the settings of a stage and with `extra` variables."""
    env = environment(on_stage.home, **{**on_stage.env, **extra})
    env["PYTHONPATH"] += f":{FORKING.parents[1]}"
    with subprocess.Popen(
        [sys.executable, str(FORKING)], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:

        def run(*arguments: str, **streams: str) -> tuple[int, str, str]:
            assert process.stdin
            assert process.stdout
            paths = [on_stage.home / "stdout", on_stage.home / "stderr"]
            for path in paths:
                path.write_text("")
            line = {"stdin": "null", "stdout": str(paths[0]), "stderr": str(paths[1]), **streams}
            process.stdin.write(f"{json.dumps({**line, 'arguments': arguments})}\n")
            process.stdin.flush()
            code = int(process.stdout.readline())
            output, errors = (path.read_text(encoding="utf-8") for path in paths)
            return code, output, errors

        yield run
        process.kill()
