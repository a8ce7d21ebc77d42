"""The rules that tools can check hold for the whole tree."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINT_IMPORTS = "from importlinter.cli import lint_imports_command as run; run()"

CHECKS: dict[str, list[str]] = {
    "ruff check": [sys.executable, "-m", "ruff", "check", "--no-cache", "."],
    "ruff format": [sys.executable, "-m", "ruff", "format", "--no-cache", "--check", "."],
    "mypy --strict": [sys.executable, "-m", "mypy"],
    "import-linter": [sys.executable, "-c", LINT_IMPORTS, "--no-cache"],
}


@pytest.mark.parametrize("name", CHECKS)
def test_the_tree_passes(name: str) -> None:
    done = subprocess.run(CHECKS[name], cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
