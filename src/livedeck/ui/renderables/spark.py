"""A row of bars, and the status strip that belongs under it."""

from __future__ import annotations

from collections.abc import Sequence

from livedeck.ui.renderables.buckets import Bucket
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line
from livedeck.ui.renderables.status import Look

BARS = "▁▂▃▄▅▆▇█"


def spark(values: Sequence[Bucket | None], top: float, ink: Ink = Ink.VIDEO) -> Line:
    """A bar a column, by its lowest value so that a dip shows, from zero to `top`; a gap is blank."""
    return [("".join(_bar(value, top) for value in values), ink)]


def _bar(value: Bucket | None, top: float) -> str:
    if value is None:
        return " "
    level = round(value.low / top * (len(BARS) - 1)) if top > 0 else 0
    return BARS[min(max(level, 0), len(BARS) - 1)]


def strip(looks: Sequence[Look | None]) -> Line:
    """The status of each column, a glyph each, neighbours of one look joined; a gap is blank."""
    line: Line = []
    for one in looks:
        glyph, ink = (one.glyph, one.ink) if one else (" ", Ink.TEXT)
        if line and line[-1][1] is ink:
            line[-1] = (line[-1][0] + glyph, ink)
        else:
            line.append((glyph, ink))
    return line
