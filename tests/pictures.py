"""Equality of two pictures of a screen."""

from __future__ import annotations

import re
from itertools import groupby

_BACKGROUND = re.compile(r'<rect (fill="[^"]+") x="([\d.]+)" (y="[\d.]+") width="([\d.]+)" ([^>]*)/>')


def as_seen(svg: str) -> str:
    """Return the picture without traces of how its cells were cut into pieces.

    Repaints decide the pieces: the names of styles hold a checksum of them, and backgrounds of one colour stand beside
    each other.
    """
    named = re.sub(r"terminal-\d+-", "terminal-", svg)
    return re.sub(rf"(?:{_BACKGROUND.pattern})+", lambda run: _joined(run[0]), named)


def _joined(run: str) -> str:
    """Join backgrounds of one colour that follow each other."""
    pieces = _BACKGROUND.findall(run)
    kinds = groupby(pieces, key=lambda piece: (piece[0], piece[2], piece[4]))
    found = [(kind, [(float(x), float(width)) for _, x, _, width, _ in same]) for kind, same in kinds]
    return "".join(f"{kind} {spans[0][0]:.1f} {sum(spans[-1]):.1f}\n" for kind, spans in found)
