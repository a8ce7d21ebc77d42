"""Text made safe for spreadsheets, so that they do not compute it as a formula. Pure."""

from __future__ import annotations

FORMULA_STARTS = (*"=+-@\t\r\n", *"＝＋－＠")
"""First characters that make some spreadsheet compute a cell (OWASP, "CSV injection")."""


def safe_cell(text: str) -> str:
    """Return the text, with a `'` put before it if a spreadsheet would compute it."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
