"""Modules that a command imports, counted in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from cli.commands import TIMEOUT, environment
from cli.terminals import terminal
from costs import HEAVY, LIMITS, NOT_AT_FIRST_FRAME, check
from livedeck.cli import TREE
from livedeck.cli.description import load_description

IMPORTED = """
import sys
before = {*sys.modules}
import json
from contextlib import redirect_stdout
from livedeck.__main__ import start
lines = json.loads(sys.argv.pop())
for sys.argv[1:] in lines:
    try:
        with redirect_stdout(sys.stderr):
            start()
    except SystemExit as end:
        assert not end.code, (sys.argv, end.code)
print(json.dumps(sorted({*sys.modules} - before)))
"""
"""Program that runs the command lines in its last argument, and prints the names of the modules that they imported."""


def imported(home: Path, lines: Sequence[Sequence[str]]) -> list[str]:
    """Run these lines in a process, one after another, and return the modules that they import."""
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED, json.dumps(lines)],
        env=environment(home),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    names: list[str] = json.loads(done.stdout)
    return names


def heavy(names: Sequence[str]) -> list[str]:
    """Return those of the names that are heavy packages."""
    return [name for name in names if name in HEAVY]


def test_no_help_imports_what_only_a_running_command_needs(tmp_path: Path) -> None:
    lines = [[*path.split(), flag] for path in load_description() for flag in ("--help", "-h")]
    names = imported(tmp_path, lines)
    assert not heavy(names)
    modules = {place.partition(":")[0] for place in TREE.places.values()} | {"objects.groups"}
    assert not {f"livedeck.cli.{module}" for module in modules} & {*names}


SHORT = [name.removeprefix("modules of ") for name in LIMITS if name.startswith("modules of ")]


@pytest.mark.parametrize("words", SHORT)
def test_a_short_command_imports_few_modules(tmp_path: Path, words: str) -> None:
    names = imported(tmp_path, [words.split()])
    assert not heavy(names)
    check(f"modules of {words}", len(names))


def test_the_first_frame_of_a_deck_waits_for_few_modules_and_dataclasses(tmp_path: Path) -> None:
    counts_file = tmp_path / "counts"
    program = [sys.executable, str(Path(__file__).with_name("counting.py")), str(counts_file)]
    with terminal(tmp_path, program=program, LIVEDECK_BASE_URL="http://127.0.0.1:9", LIVEDECK_TOKEN="none") as deck:
        deck.until("2 Streams")
        deck.press("q")
        assert deck.ended() == 0
    counts = json.loads(counts_file.read_text(encoding="utf-8"))
    assert not {*NOT_AT_FIRST_FRAME} & {*counts["modules"]}
    check("modules at the first frame", len(counts["modules"]))
    check("dataclasses at the first frame", counts["dataclasses"])
