"""Text that a spreadsheet may open: a cell is never computed. Pure."""

from __future__ import annotations

FORMULA_STARTS = (*"=+-@\t\r\n", *"＝＋－＠")
"""Cells that begin so are computed by one spreadsheet or another (OWASP, "CSV injection")."""


def safe_cell(text: str) -> str:
    """The text, with a `'` before it where a spreadsheet would compute it."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
