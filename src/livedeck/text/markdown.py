"""Markdown from text that people or the platform wrote. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from livedeck.text.values import safe

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&@!$]|:(?=//))")


def literal(text: str) -> str:
    """Return text from outside with escapes, so that no part becomes a link, table, picture or HTML in Markdown."""
    return re.sub(r"(?i)\bwww\.", "www\\.", _SPECIAL.sub(r"\\\1", safe(text))).strip()


def table_lines(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a table and a blank line. Cells are Markdown."""
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    return [*lines, *(f"| {' | '.join(row)} |" for row in rows), ""]
