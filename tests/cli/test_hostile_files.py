"""Recordings and histories made to harm whoever opens them, through every command that opens a file."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from breadth import slow_rows
from cli.commands import LIVEDECK, TIMEOUT, environment
from monitor.hostile_files import FILES, make

MEMORY = 150 * 2**20
"""Bytes that a command may have resident."""

DOORS = {
    "judge": ("replay", "{file}", "--judge"),
    "report": ("report", "Main stage", "--file", "{file}"),
    "verify": ("history", "verify", "--file", "{file}"),
    "salvage": ("history", "salvage", "{file}", "--file", "{folder}/into.sqlite"),
    "export": ("history", "export", "-o", "{folder}/out.livedeck", "--file", "{file}"),
}


MEASURED = f"""
import resource, subprocess, sys
code = subprocess.call(sys.argv[2:], timeout={TIMEOUT})
with open(sys.argv[1], "w") as file:
    file.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(code & 255)
"""
"""Runs a command in a process of its own: a child begins with the size of its parent, and that of a test is large."""


def run(home: Path, arguments: Sequence[str]) -> tuple[int, str, int]:
    """Run a command to its end. Returns its exit code, all that it printed, and its largest resident size in bytes."""
    size = home / "size"
    command = [sys.executable, "-IS", "-c", MEASURED, str(size), *LIVEDECK, *arguments]
    env = environment(home, LIVEDECK_HISTORY=str(home / "own.sqlite"))
    done = subprocess.run(
        command,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, int(size.read_text()) * 1024


def rows() -> list[tuple[str, str]]:
    return [(door, name) for door in DOORS for name in FILES]


QUICK = [row for at, row in enumerate(rows()) if at % 29 == 0]


@pytest.mark.parametrize(("door", "name"), [*QUICK, *slow_rows(*(row for row in rows() if row not in QUICK))])
def test_a_hostile_file_ends_in_words_and_bounded_memory(door: str, name: str, tmp_path: Path) -> None:
    file = make(name, tmp_path)
    arguments = [word.format(file=file, folder=tmp_path) for word in DOORS[door]]
    code, printed, memory = run(tmp_path, arguments)
    assert 0 <= code < 7, printed
    assert "Traceback" not in printed
    assert printed.strip()
    assert "\x1b" not in printed
    assert memory < MEMORY
