"""Each import contract of pyproject.toml is refused as soon as a file of its room breaks it."""

import re
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
    "presentation/screen.py": ("import textual", "presentation words values without a terminal"),
    "report/trespass.py": ("import livedeck.client", "report tells the past: monitor, presentation and text alone"),
    "report/level.py": ("import livedeck.operations.nouns", "Rooms: imports point down"),
    "drill/trespass.py": ("import livedeck.presentation", "drill grades what is known: monitor and text alone"),
    "drill/level.py": ("import livedeck.simulator", "Rooms: imports point down"),
    "operations/screen.py": ("import textual", "operations change the platform without a screen or a terminal"),
    "operations/printed.py": ("import rich", "operations change the platform without a screen or a terminal"),
    "operations/typed.py": ("import click", "operations change the platform without a screen or a terminal"),
    "ui/chat/trespass.py": (
        "import livedeck.ui.rooms.view",
        "ui: kit and shell know no feature, and no feature another",
    ),
    "ui/shell/trespass.py": (
        "import livedeck.ui.rooms.view",
        "ui: kit and shell know no feature, and no feature another",
    ),
    "ui/kit/trespass.py": (
        "import livedeck.ui.rooms.view",
        "ui: kit and shell know no feature, and no feature another",
    ),
    "ui/kit/second.py": ("import livedeck.ui.shell.frame", "ui: kit knows text and values, and no shell"),
    "settings/trespass.py": ("import livedeck.client", "settings knows thresholds and targets, and no other room"),
    "client/second.py": ("import httpx", "httpx enters through transport.py and outgoing.py alone"),
    "simulator/second.py": ("import sqlite3", "sqlite3 enters through the simulator's store, the history's"),
    "notify/trespass.py": ("import livedeck.client", "notify tells persons, and knows neither screen nor"),
    "probe/trespass.py": ("import livedeck.settings", "probe asks what viewers get: no terminal, no settings"),
    "probe/level.py": ("import livedeck.presentation", "Rooms: imports point down"),
    "probe/second.py": ("import m3u8", "m3u8 enters through probe/playlist.py alone"),
    "collector/second.py": ("import redis", "redis enters through collector/engine/shared.py alone"),
    "report/second.py": ("import plotext", "plotext enters through presentation/plot.py alone"),
    "collector/trespass.py": ("import livedeck.settings", "collector shares what a monitor knows: no terminal, no"),
    "collector/screen.py": ("import textual", "collector shares what a monitor knows: no terminal, no settings"),
    "collector/serving/trespass.py": (
        "import livedeck.collector.attached.link",
        "collector: serving and attached are independent",
    ),
    "monitor/told.py": ("import livedeck.notify", "monitor judges: no HTTP, no terminal, no settings"),
}

CIRCLE = {"text/there.py": "import livedeck.text.back", "text/back.py": "import livedeck.text.there"}


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Output of import-linter for the package with every violation in it at once."""
    folder = tmp_path_factory.mktemp("tree")
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    lines = CIRCLE | {place: line for place, (line, _) in VIOLATIONS.items()}
    for place, line in lines.items():
        spoilt = folder / "src" / "livedeck" / place
        assert not spoilt.exists()
        spoilt.write_text(f"{line}\n", encoding="utf-8")
    environment = {"PYTHONPATH": str(folder / "src"), "PATH": "", "COLUMNS": "200"}
    done = subprocess.run(
        [sys.executable, "-c", LINT_IMPORTS, "--no-cache"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 1, done.stderr
    return re.sub(r"\x1b\[\d*m", "", done.stdout)  # import-linter 2.6 colours a pipe, too


@pytest.mark.parametrize("place", VIOLATIONS)
def test_a_forbidden_import_breaks_its_contract(broken: str, place: str) -> None:
    _, contract = VIOLATIONS[place]
    module = "livedeck." + place.removesuffix(".py").replace("/", ".")
    (chapter,) = re.findall(
        rf"^{re.escape(contract)}[^\n]*\n-+\n(.+?)(?=^[^\n]+\n-+\n|\Z)", broken, re.MULTILINE | re.DOTALL
    )
    assert re.search(rf"^-? +{re.escape(module)} -> |^- {re.escape(module)} -> ", chapter, re.MULTILINE), broken


def test_a_circle_of_imports_breaks_its_contract(broken: str) -> None:
    assert "No cycles are allowed in livedeck.text." in broken
