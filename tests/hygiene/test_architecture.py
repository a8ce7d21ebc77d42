"""Laws of the architecture that imports alone do not show."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from grimp import build_graph

SOURCE = Path(__file__).parents[2] / "src" / "livedeck"
FILES = sorted(SOURCE.rglob("*.py"))
VAGUE = {"utils", "helpers", "common", "manager", "processor"}


def _nodes(words: str) -> Iterator[tuple[str, ast.AST]]:
    """Yield the nodes of each file that has one of these words."""
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        if re.search(words, text):
            yield from ((str(path.relative_to(SOURCE)), node) for node in ast.walk(ast.parse(text)))


def test_no_room_has_a_drawer_for_everything() -> None:
    assert not [path for path in FILES if path.stem in VAGUE]


def test_one_file_reads_the_environment() -> None:
    readers = {
        path
        for path, node in _nodes("environ|getenv")
        if isinstance(node, ast.Attribute) and node.attr in {"environ", "getenv"}
    }
    assert readers == {"environment.py"}


def test_only_connect_constructs_the_api_and_only_cli_the_monitor() -> None:
    makers = {
        (node.func.id, path)
        for path, node in _nodes(r"\b(Api|Monitor)\(")
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"Api", "Monitor"}
    }
    assert makers == {("Api", "connect.py"), ("Monitor", "cli/wiring.py")}


def test_nothing_in_cli_calls_back_up() -> None:
    """Imports inside functions count; `main` finds a command by its name."""
    graph = build_graph("livedeck", cache_dir=None)
    rooms = {module for module in graph.modules if module.startswith("livedeck.cli")}
    imports = {module: graph.find_modules_directly_imported_by(module) & rooms for module in rooms}
    assert {*TopologicalSorter(imports).static_order()} == rooms  # raises CycleError


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["docs"],
        ["docs", "settings"],
        ["status", "--help"],
        ["event", "--help"],
        ["help", "event"],
    ],
)
def test_a_question_about_the_command_imports_no_room(arguments: list[str]) -> None:
    """performance.md, "Budgets": help and version cost a bare interpreter and little more."""
    code = (
        "import sys\nfrom livedeck.cli import main\n"
        f"main({arguments!r}, standalone_mode=False)\n"
        "heavy = {'textual', 'httpx', 'pydantic', 'starlette', 'uvicorn', 'rich', 'asyncio'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(SOURCE.parent)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_status_command_imports_no_terminal_ui() -> None:
    code = "import sys\nimport livedeck.cli.status_report\nassert 'textual' not in sys.modules\n"
    environment = {**os.environ, "PYTHONPATH": str(SOURCE.parent)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
