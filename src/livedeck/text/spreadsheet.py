"""Text made safe for spreadsheets: they do not compute it as a formula. Pure."""

from __future__ import annotations

FORMULA_STARTS = (*"=+-@\t\r\n", *"＝＋－＠")
"""First characters of a cell that make a spreadsheet compute the cell (OWASP, "CSV injection")."""


def safe_cell(text: str) -> str:
    """Return the text of a cell, with a `'` before a text that a spreadsheet would compute."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
