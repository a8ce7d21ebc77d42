"""Docstrings begin with a verb or a noun, and words are spelt as dictionaries spell them (contributing.md, "Words")."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "livedeck"

HEADLESS = re.compile(r"(?:What|Who|That|Those|Of|As|One|Where|Its|There|Nothing)\b")
"""Beginnings that leave out the thing or the verb."""

MOST = 0.05
"""Share of docstrings that may begin so: now and then such a sentence is the clearest."""


Definition = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def definitions(node: ast.AST) -> Iterator[Definition]:
    """Yield a module, or another statement, and all that is defined in it. No expression has a docstring."""
    if isinstance(node, Definition):
        yield node
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield from definitions(inner)


def docstrings() -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each docstring of a module, class or function."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in definitions(ast.parse(path.read_text(encoding="utf-8"))):
            if text := ast.get_docstring(node):
                yield f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}", text


def test_docstrings_begin_with_a_verb_or_a_noun() -> None:
    texts = dict(docstrings())
    headless = [f"{place}: {text.splitlines()[0]}" for place, text in texts.items() if HEADLESS.match(text)]
    assert len(headless) <= MOST * len(texts), "\n".join(headless)


def test_words_are_spelt_as_dictionaries_spell_them() -> None:
    """Names that are not words of English stand in `tool.codespell` of pyproject.toml."""
    line = [sys.executable, "-m", "codespell_lib", "src", "tests", "README.md", "CHANGELOG.md"]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "")
