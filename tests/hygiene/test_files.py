"""The repository has only intended files: each tracked file is of a kind that its folder expects."""

from __future__ import annotations

import shutil
import subprocess
from fnmatch import fnmatch
from pathlib import Path

import pytest

from breadth import ROTATED

ROOT = Path(__file__).parents[2]

EXPECTED = {
    "": (
        ".editorconfig",
        ".gitignore",
        ".pre-commit-config.yaml",
        "CHANGELOG.md",
        "LICENSE",
        "README.md",
        "hatch_build.py",
        "pyproject.toml",
        "requirements.lock",
    ),
    ".ci": ("run",),
    "contrib": ("*.sh",),
    "src/livedeck/docs/files": ("Containerfile", "*.service"),
    "screenshots": ("*.svg",),
    "src/livedeck": ("*.py", "py.typed"),
    "src/livedeck/cli": ("*.py", "commands.json"),
    "src/livedeck/client": ("*.py", "*.toml"),
    "src/livedeck/collector/engine/scripts": ("*.lua",),
    "src/livedeck/docs": ("*.py", "*.md"),
    "src/livedeck/presentation/prometheus": ("*.py", "*.json", "*.yml"),
    "src/livedeck/probe": ("*.py", "warm_up.ts"),
    "src/livedeck/simulator/data": ("*.toml", "*.txt", "examples.json"),
    "src/livedeck/simulator/data/media": ("*.mp4",),
    "src/livedeck/ui": ("*.py", "*.tcss"),
    "src/livedeck/ui/wallboard/assets": ("*.html", "*.css", "*.js", "*.svg"),
    "tests": ("*.py", "quick.txt", "rotated.txt"),
    "tests/cli": ("*.py", "*.c"),
    "tests/golden/recordings": ("*.livedeck",),
    "tests/monitor": ("*.py", "limit_effects.toml"),
    "tests/simulator": ("*.py", "schemathesis.toml"),
    "tests/simulator/recordings": ("*.rtmp",),
    "tests/ui/__snapshots__": ("*.svg", "*.txt"),
}
"""Folder -> names of the files in it, and below it where no deeper folder is listed."""

ADVICE = "a test or a command left it: `git rm` it, or add its kind to EXPECTED in tests/hygiene/test_files.py"


def unexpected(files: list[str]) -> list[str]:
    """The files that no list expects."""

    def is_expected(file: str) -> bool:
        folder, _, name = file.rpartition("/")
        while folder and folder not in EXPECTED:
            folder = folder.rpartition("/")[0]
        at_root_by_mistake = not folder and "/" in file
        return not at_root_by_mistake and any(fnmatch(name, kind) for kind in EXPECTED[folder])

    return [file for file in files if not is_expected(file)]


def test_every_tracked_file_is_expected() -> None:
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("the sources are no checkout of git, or git is missing: nothing says which files are tracked")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    files = listed.stdout.rstrip("\0").split("\0")
    assert not unexpected(files), ADVICE
    unused = [
        (folder, kind) for folder, kinds in EXPECTED.items() for kind in kinds if not _is_used(folder, kind, files)
    ]
    assert not unused, "no file is of this kind any more: take it out of EXPECTED"


@pytest.mark.parametrize("test", sorted(ROTATED))
def test_a_rotated_test_exists(test: str) -> None:
    file, *_, name = test.split("::")
    path = ROOT / file
    assert path.is_file(), f"tests/rotated.txt: {file} is gone: take out its lines"
    assert f"def {name}(" in path.read_text(encoding="utf-8"), f"tests/rotated.txt: {file} has no {name}"


def _is_used(folder: str, kind: str, files: list[str]) -> bool:
    return any(fnmatch(file, f"{folder}/{kind}" if folder else kind) for file in files)


@pytest.mark.parametrize(
    "file", ["out", "out.sqlite", "tests/cli/out", "src/livedeck/a.pyc", "notes/a.md", "a.py", "tests/x.svg"]
)
def test_a_file_that_nobody_expects_is_found(file: str) -> None:
    assert unexpected(["README.md", file, "tests/a/b/test_c.py", "src/livedeck/ui/x/view.py"]) == [file]
