"""Open hostile files through commands, with little memory and time: `hostile_doors.py HOME DOORS NAME...`.

Prints as JSON, by name and door, the exit code and the output. The doors are separated by commas.
"""

from __future__ import annotations

import json
import resource
import shutil
import sys
from pathlib import Path
from tempfile import mkdtemp

from cli.commands import called
from monitor import hostile_files

ROOM = 100 * 2**20
"""Bytes that a command may take beyond what it takes for an honest file."""

SECONDS = 90
"""Processor seconds for all doors of all files together. An endless read takes more."""


def arguments(door: str, path: Path, home: Path) -> list[str]:
    """Return the command line of a door."""
    file = str(path)
    return {
        "judge": ["past", "replay", file, "--judge"],
        "report": ["past", "report", "Main stage", "--history", file],
        "day": ["past", "report", "--day", "2026-11-21", "--history", file],
        "show": ["past", "show", "Main stage", "--history", file],
        "verify": ["past", "check", "--history", file],
        "salvage": ["past", "salvage", file, "--history", str(home / "into.sqlite")],
        "export": ["past", "export", "-o", str(home / "out.livedeck"), "--force", "--history", file],
    }[door]


def said(door: str, path: Path, home: Path) -> tuple[int, str]:
    """Return the exit code and the whole output of the command."""
    for suffix in ("", "-wal", "-shm"):
        (home / f"into.sqlite{suffix}").unlink(missing_ok=True)
    done = called(home, *arguments(door, path, home))
    return done.returncode, done.stdout + done.stderr


def main() -> None:
    home, doors, names = Path(sys.argv[1]), sys.argv[2].split(","), sys.argv[3:]
    honest = shutil.copy(hostile_files.RECORDING, home / "honest.livedeck")
    for door in doors:
        said(door, Path(honest), home)  # imports what it needs
    paths = {name: hostile_files.make(name, Path(mkdtemp(dir=home))) for name in names}
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + ROOM, taken + ROOM))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    found = {name: {door: said(door, path, home) for door in doors} for name, path in paths.items()}
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
