"""Breadth: number of cases of a law that each change tries. `pytest -m "slow or not slow"` tries all of them."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

_FOLDER = Path(__file__).parent

TURNS = 8
"""Number of commits in which each rotated test runs once on average."""

DEAR = 0.5
"""Processor seconds of all cases of a test, children included, above which it is rotated."""

ALWAYS = ("tests/hygiene/", "tests/ui/test_cost.py")
"""Tests that are never rotated, because a half-finished or slower change must not land: completeness and counts."""

LIST = _FOLDER / "rotated.txt"
"""File with the rotated tests, which `pytest -m "slow or not slow" --write-rotated` writes."""

ROTATED = frozenset(LIST.read_text(encoding="utf-8").split())


def slow(*cases: Any) -> list[Any]:
    """Mark cases of one parameter as too slow for every change, and return them. Other cases are tried there."""
    return [pytest.param(case, marks=pytest.mark.slow) for case in cases]


def slow_rows(*rows: tuple[Any, ...]) -> list[Any]:
    """Mark cases of several parameters as `slow` does."""
    return [pytest.param(*row, marks=pytest.mark.slow) for row in rows]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark all but one in `TURNS` cases of the rotated tests as slow, unless the command line names their file.

    The commit chooses the cases that stay, so that a row of commits tries all of them.
    """
    folder, commit = config.invocation_params.dir, _commit()
    named = {(folder / argument.partition("::")[0]).resolve() for argument in config.args if ".py" in argument}
    for item in items:
        is_rotated = item.nodeid.partition("[")[0] in ROTATED and item.path not in named
        if is_rotated and crc32(item.nodeid.encode() + commit) % TURNS:
            item.add_marker(pytest.mark.slow)


def _commit() -> bytes:
    """Return the id of the commit that is checked out; empty outside a repository."""
    try:
        found = subprocess.run(["git", "-C", _FOLDER, "rev-parse", "HEAD"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return b""
    return found.stdout
