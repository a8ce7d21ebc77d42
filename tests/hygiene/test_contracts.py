"""Each import contract of pyproject.toml is refused as soon as a file of its room breaks it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

LINT_IMPORTS = "from importlinter.cli import lint_imports_command as run; run()"

VIOLATIONS = {
    "client/trespass.py": ("import livedeck.monitor", "Rooms: imports point down"),
    "client/terminal.py": ("import textual", "client speaks HTTP and nothing else"),
    "monitor/trespass.py": ("import httpx", "monitor judges: no HTTP, no terminal, no settings"),
    "simulator/trespass.py": ("import livedeck.client", "simulator imports none of our rooms"),
    "ui/trespass.py": ("import livedeck.settings", "ui shows what it is given"),
    "ui/outdoors.py": ("import livedeck.environment", "ui shows what it is given"),
    "ui/indoors.py": ("import livedeck.client.http.transport", "ui shows what it is given"),
    "ui/typed.py": (
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import starlette\n",
        "ui shows what it is given",
    ),
    "settings/trespass.py": ("import livedeck.client", "settings knows the thresholds and no other room"),
    "client/second.py": ("import httpx", "httpx enters through transport.py alone"),
    "ui/second.py": ("import plotext", "plotext enters through the chart adapter alone"),
    "simulator/second.py": ("import sqlite3", "sqlite3 enters through the simulator's store and"),
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package by itself, where it may be spoilt."""
    folder = tmp_path_factory.mktemp("tree")
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


@pytest.mark.parametrize("place", VIOLATIONS)
def test_a_forbidden_import_breaks_its_contract(copy: Path, place: str) -> None:
    line, contract = VIOLATIONS[place]
    spoilt = copy / "src" / "livedeck" / place
    before = spoilt.read_text(encoding="utf-8") if spoilt.exists() else None
    spoilt.write_text(f"{before or ''}\n{line}\n", encoding="utf-8")
    try:
        done = _lint(copy)
    finally:
        spoilt.unlink() if before is None else spoilt.write_text(before, encoding="utf-8")
    broken = [each for each in done.stdout.splitlines() if " BROKEN" in each]
    assert done.returncode == 1
    assert any(each.startswith(contract) for each in broken), done.stdout


def _lint(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", LINT_IMPORTS, "--no-cache"]
    environment = {"PYTHONPATH": str(folder / "src"), "PATH": "", "COLUMNS": "200"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
