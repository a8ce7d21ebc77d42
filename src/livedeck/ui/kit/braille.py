"""Curves and straight lines in braille characters. A cell is two dots wide and four high. Pure.

The module uses no library, because an adapter to one would be as long: decisions.md, "Own curves in braille".
"""

from __future__ import annotations

from collections.abc import Sequence

from livedeck.presentation.scale import DOTS, Scale

BLANK = " "

HORIZONTAL = "⣀⠤⠒⠉"
"""Cells with a horizontal line on one of their four rows of dots, the lowest row first."""

VERTICAL = "⡇"

_CELLS = BLANK + "".join(map(chr, range(0x2801, 0x2900)))
"""Text of a cell, by the bits of its dots."""

_BITS = ((0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08))
"""Bit of each dot in a braille character, by column and height from below (Unicode, "Braille Patterns")."""


def draw_curve(values: Sequence[float | None], scale: Scale) -> list[str]:
    """Return a curve as `scale.rows` texts of `len(values) // 2` cells.

    Each value is a dot. A stroke joins it to the dot of the previous value. The stroke is in the column of the later
    value, so a new value changes no earlier column.
    """
    cells = len(values) // 2
    bits = [[0] * cells for _ in range(scale.rows)]
    before: int | None = None
    for column, value in enumerate(values[: 2 * cells]):
        dot = None if value is None else scale.dot(value)
        if dot is not None:
            lowest = highest = dot
            if before is not None and before < dot:
                lowest = before + 1
            elif before is not None and before > dot:
                highest = before - 1
            for height in range(lowest, highest + 1):  # no call in here: a chart has 10,000 dots
                bits[scale.rows - 1 - height // DOTS][column // 2] |= _BITS[column % 2][height % DOTS]
        before = dot
    return ["".join([_CELLS[cell] for cell in row]) for row in bits]
