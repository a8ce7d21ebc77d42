"""Makes text safe for a spreadsheet, so that it computes no cell. Pure."""

from __future__ import annotations

FORMULA_STARTS = (*"=+-@\t\r\n", *"＝＋－＠")
"""Beginnings of cells that some spreadsheet computes (OWASP, "CSV injection")."""


def safe_cell(text: str) -> str:
    """Return the text, with a leading `'` if a spreadsheet would compute it."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
