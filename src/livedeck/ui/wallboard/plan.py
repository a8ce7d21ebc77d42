"""How much a wall of that size holds: tiles or rows, and on which page each event is. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

from livedeck.monitor import EventState
from livedeck.ui.wallboard.glyphs import BLOCKS, PLAIN

ROWS = 16
"""Rows on a page at most: what is more cannot be read from across a room; rows grow with the wall instead."""

WIDE = 128
"""Cells from which rows are of pixel letters, fewer on a page where the wall is not high enough for all of them."""

TILES = 9
"""Events that get a tile each; where there are more, each gets a row."""

LEAST = {1: (38, 6), 2: (48, 11), 3: (88, 17), 4: (128, 21)}
"""The least cells and lines of a tile by its scale: its name in two rows of such letters."""

_ASPECT = 4.0
"""Cells a line of the tile that holds most: a cell is half as wide as it is high, and names are long."""


class Grid(NamedTuple):
    """Tiles beside and above each other."""

    across: int
    down: int


@dataclass(frozen=True, slots=True)
class Plan:
    """`pages`: the events of each. `grid`: of the tiles, None for rows of `row` lines each."""

    pages: tuple[tuple[EventState, ...], ...]
    grid: Grid | None = None
    row: int = 1

    def pages_of(self, ids: frozenset[str]) -> list[int]:
        """The pages that hold one of those events."""
        return [number for number, page in enumerate(self.pages) if any(state.id in ids for state in page)]


def plan(states: Sequence[EventState], cells: int, lines: int, *, tiles: int = TILES, scale: int = 0) -> Plan:
    """Room for these events in so many cells and lines. `scale` 0: as large as the wall allows."""
    if 0 < len(states) <= tiles:
        grid = _grid(len(states), cells, lines, scale or PLAIN)
        return Plan(_cut(states, grid.across * grid.down), grid)
    least = BLOCKS[scale or (2 if cells >= WIDE else PLAIN)]
    pages = _cut(states, min(ROWS, max(1, lines // least)))
    return Plan(pages, row=max(1, least if scale else lines // max(1, len(pages[0]))))


def _cut(states: Sequence[EventState], most: int) -> tuple[tuple[EventState, ...], ...]:
    """Pages of about equal length: a last page with one row is a page wasted."""
    pages = max(1, ceil(len(states) / most))
    each = ceil(len(states) / pages)
    return tuple(tuple(states[page * each : (page + 1) * each]) for page in range(pages))


def _grid(events: int, cells: int, lines: int, scale: int) -> Grid:
    """The grid with the largest tiles, of those that hold all events; of what fits where none does."""
    wide, high = LEAST[scale]
    most = Grid(max(1, cells // wide), max(1, lines // high))
    grids = [Grid(across, ceil(events / across)) for across in range(1, min(events, most.across) + 1)]
    whole = [grid for grid in grids if grid.down <= most.down]
    return max(whole, key=lambda grid: min(cells // grid.across, lines // grid.down * _ASPECT), default=most)
