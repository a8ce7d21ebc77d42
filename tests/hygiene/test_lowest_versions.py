"""Checks of the lowest versions that need no download; `lowest_versions.py` runs everything on them."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hygiene.lowest_versions import ROOT, declared, lowest

SOURCE = ROOT / "src" / "livedeck"
FOREIGN = ("click", "httpx", "platformdirs", "starlette", "structlog", "textual", "tomlkit", "uvicorn")
"""Packages whose classes became generic in some version; those of pydantic and msgspec were generic long before."""

IMPORTS = re.compile(rf"^\s*(?:from|import) (?:{'|'.join(FOREIGN)})\b", re.MULTILINE)

GENERIC = frozenset({"App", "Screen", "ModalScreen", "Strip", "Message"})
"""Classes that are generic at the lowest version, too, as `lowest_versions.py` shows."""


def evaluated(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run: under `from __future__ import annotations` an annotation does not."""
    for name, value in ast.iter_fields(tree):
        if name in {"annotation", "returns"}:
            continue
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.AST):
                yield node
                yield from evaluated(node)


def subscripted_classes(path: Path) -> list[str]:
    """The classes of dependencies that a file subscripts while it runs: `click.ParamType[float]`."""
    text = path.read_text(encoding="utf-8")
    if not IMPORTS.search(text):
        return []
    tree = ast.parse(text)
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in FOREIGN
        for alias in node.names
    }
    found = []
    for node in evaluated(tree):
        if isinstance(node, ast.Subscript):
            owner = node.value
            if isinstance(owner, ast.Attribute) and isinstance(owner.value, ast.Name) and owner.value.id in FOREIGN:
                found.append(f"{owner.value.id}.{owner.attr}")
            elif isinstance(owner, ast.Name) and owner.id in imported and re.match("[A-Z][a-z]", owner.id):
                found.append(owner.id)
    return [name for name in found if name.rpartition(".")[2] not in GENERIC]


def test_no_class_is_subscripted_that_was_not_always_generic() -> None:
    """`click.ParamType[float]` is a TypeError under click 8.2 to 8.4, and ended every command."""
    found = {str(path.relative_to(SOURCE)): subscripted_classes(path) for path in sorted(SOURCE.rglob("*.py"))}
    assert {path: names for path, names in found.items() if names} == {}


def test_what_is_subscripted_is_found(tmp_path: Path) -> None:
    path = tmp_path / "wrong.py"
    path.write_text(
        "from __future__ import annotations\nimport click\nfrom click import Choice\n"
        "class Span(click.ParamType[float]): ...\nx: click.Choice[str]\nChoice[str]([])\n"
    )
    assert subscripted_classes(path) == ["click.ParamType", "Choice"]


def test_every_dependency_declares_its_lowest_version() -> None:
    assert len(declared()) >= 11
    with pytest.raises(ValueError, match="no lowest version"):
        lowest("click<9")


def test_what_runs_here_is_no_lower_than_declared() -> None:
    from importlib.metadata import version

    def numbers(text: str) -> tuple[int, ...]:
        return tuple(int(part) for part in re.findall(r"\d+", text)[:3])

    assert sys.version_info >= (3, 11)
    assert not [name for name, least in declared().items() if numbers(version(name)) < numbers(least)]
