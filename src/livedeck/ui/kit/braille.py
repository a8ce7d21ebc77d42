"""Curves and straight lines in braille characters. A cell is two dots wide and four high. Pure.

The module uses no library, because an adapter to one would be as long: decisions.md, "Own curves in braille".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from livedeck.presentation.scale import DOTS, Scale

BLANK = " "

HORIZONTAL = "⣀⠤⠒⠉"
"""Cells with a horizontal line on one of their four rows of dots, the lowest row first."""

VERTICAL = "⡇"

_NO_DOTS = 0x2800

_BITS = ((0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08))
"""Bit of each dot in a braille character, by column and height from below (Unicode, "Braille Patterns")."""


def draw_curve(values: Sequence[float | None], scale: Scale) -> list[str]:
    """Return a curve as `scale.rows` texts of `len(values) // 2` cells.

    Each value is a dot. A stroke joins it to the dot of the previous value. The stroke is in the column of the later
    value, so a new value changes no earlier column.
    """
    cells = len(values) // 2
    bits = [[0] * cells for _ in range(scale.rows)]
    for column, dot in _dots(values[: 2 * cells], scale):
        bits[scale.rows - 1 - dot // DOTS][column // 2] |= _BITS[column % 2][dot % DOTS]
    return ["".join(chr(_NO_DOTS + cell) if cell else BLANK for cell in row) for row in bits]


def _dots(values: Sequence[float | None], scale: Scale) -> Iterator[tuple[int, int]]:
    """Yield column and height, counted in dots, of every dot of the curve."""
    before: int | None = None
    for column, value in enumerate(values):
        dot = None if value is None else scale.dot(value)
        if dot is not None:
            start = dot if before is None or before == dot else before + (1 if before < dot else -1)
            yield from ((column, height) for height in range(min(start, dot), max(start, dot) + 1))
        before = dot
