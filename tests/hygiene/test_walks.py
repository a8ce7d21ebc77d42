"""Every file and every function that the walks of architecture.md name is there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "livedeck"
PAGE = (SOURCE / "docs" / "architecture.md").read_text(encoding="utf-8")
WALKS = ("Walk of a QoS sample", "Walk of enable")


def steps(heading: str) -> list[str]:
    """Return the numbered steps below a heading."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\d+\. (.+?)(?=^\d+\. |\n\n|\Z)", section, re.MULTILINE | re.DOTALL)


def definitions(body: list[ast.stmt], prefix: str = "") -> Iterator[str]:
    """The functions, classes and methods that are defined there: `Poller`, `Poller.round`."""
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{prefix}{node.name}"
        if isinstance(node, ast.ClassDef):
            yield from definitions(node.body, f"{node.name}.")


def missing(step: str) -> list[str]:
    """Return the path and names in a step that do not exist."""
    found, path, defined = [], "", set[str]()
    for named in re.findall(r"`([^`]+)`", step):
        if named.endswith(".py"):
            path, file = named, SOURCE / named
            exists = file.is_file()
            found += [] if exists else [path]
            defined = {*definitions(ast.parse(file.read_text(encoding="utf-8")).body)} if exists else set()
        elif named not in defined:
            found.append(f"{path}: {named}")
    return found


@pytest.mark.parametrize("heading", WALKS)
def test_a_walk_has_ten_steps_at_most_and_each_names_a_function(heading: str) -> None:
    walk = steps(heading)
    assert 5 <= len(walk) <= 10
    assert [step for step in walk if not re.search(r"\.py`\s+`", step)] == []


@pytest.mark.parametrize(
    ("heading", "step"), [(heading, step) for heading in WALKS for step in steps(heading)], ids=lambda text: text[:40]
)
def test_what_a_step_names_is_there(heading: str, step: str) -> None:
    assert missing(step) == [], heading


@pytest.mark.parametrize(
    ("step", "found"),
    [
        ("`monitor/monitor.py` `Monitor.refresh` and `Monitor`", []),
        ("`monitor/nobody.py` `Monitor`", ["monitor/nobody.py", "monitor/nobody.py: Monitor"]),
        (
            "`monitor/monitor.py` `Monitor.fly`, `refresh`",
            ["monitor/monitor.py: Monitor.fly", "monitor/monitor.py: refresh"],
        ),
    ],
)
def test_what_is_not_there_is_found(step: str, found: list[str]) -> None:
    assert missing(step) == found
