"""The whole wall as lines: how much it holds, which page is up. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from math import ceil
from typing import NamedTuple

from livedeck.monitor import ConnectionState, EventState
from livedeck.presentation import events
from livedeck.text.segments import Line, StyleRole, fit, width, wrap_groups
from livedeck.ui.shell import frame
from livedeck.ui.wallboard import glyphs, header
from livedeck.ui.wallboard.glyphs import BLOCKS, PLAIN
from livedeck.ui.wallboard.model import WallModel
from livedeck.ui.wallboard.tiles import Recent, band, band_layout, head, sizes, tile

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
class PagePlan:
    """`pages`: the events of each. `grid`: of the tiles, None for rows of `row` lines each."""

    pages: tuple[tuple[EventState, ...], ...]
    grid: Grid | None = None
    row: int = 1

    def pages_of(self, ids: frozenset[str]) -> list[int]:
        """The pages that hold one of those events."""
        return [number for number, page in enumerate(self.pages) if any(state.id in ids for state in page)]


def plan_pages(states: Sequence[EventState], cells: int, lines: int, *, tiles: int = TILES, scale: int = 0) -> PagePlan:
    """Room for these events in so many cells and lines. `scale` 0: as large as the wall allows."""
    if 0 < len(states) <= tiles:
        grid = _grid(len(states), cells, lines, scale or PLAIN)
        return PagePlan(_cut(states, grid.across * grid.down), grid)
    least = BLOCKS[scale or (2 if cells >= WIDE else PLAIN)]
    pages = _cut(states, min(ROWS, max(1, lines // least)))
    return PagePlan(pages, row=max(1, least if scale else lines // max(1, len(pages[0]))))


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


@dataclass(frozen=True, slots=True)
class PageState:
    """`page` from 0, up since `since` (monotonic seconds); `held`: a person turned to it."""

    page: int = 0
    since: float = 0.0
    held: bool = False


def turned(turn: PageState, now: float, pages: int, pinned: Collection[int], seconds: float) -> PageState:
    """The turn at `now`. A page is up for `seconds`, then the next one; while pages are pinned none but those, and the
    first of them at once, unless a person has just turned to another.
    """
    wanted = sorted(page for page in pinned if page < pages) or list(range(pages))
    due = now - turn.since >= seconds
    if turn.page < pages and not due and (turn.held or turn.page in wanted):
        return turn
    page = next((each for each in wanted if each > turn.page), wanted[0]) if due else wanted[0]
    return PageState(page, now)


def turn_page(turn: PageState, now: float, pages: int, step: int) -> PageState:
    """A person turns: that page stays for as long as any other."""
    return PageState((turn.page + step) % pages, now, held=True)


TALL, LARGE = 30, 40

"""Lines from which there is room for three alarms; from which the frame has large letters too."""


SMALLEST = (40, 10)

"""Cells and lines below which one line says what can be said."""


SHIFT = 120.0

"""Seconds after which the picture moves by a cell, so that nothing burns into the screen."""


_ORBIT = ((0, 0), (1, 0), (1, 1), (0, 1))


@dataclass(frozen=True, slots=True)
class Wall:
    """How the wall is set up. `tiles`: events that get tiles at most. `scale`: of the letters, 0: as large as fits.
    `zone`: of the room, None: this machine's. `page_seconds`: how long a page is up.
    """

    tiles: int = TILES
    scale: int = 0
    zone: tzinfo | None = None
    page_seconds: float = 20.0

    @property
    def most(self) -> int:
        """The largest scale that may be used."""
        return self.scale or glyphs.LARGEST


class WallLayout:
    """Lays a sight out for a size, then draws one of its pages."""

    def __init__(self, wall: Wall, sight: WallModel, size: tuple[int, int], recent: Recent) -> None:
        self._wall, self._sight, self._recent = wall, sight, recent
        self.cells, self.lines = size
        self._above: list[Line] = []
        self._below: list[Line] = []
        self._small = self.cells < SMALLEST[0] or self.lines < SMALLEST[1]
        if not self._small:
            self._above = self._banner()
            self._below = header.coming(sight, self.cells, 1 if self.lines < TALL else 2 if self.lines < 60 else 3)
        self.plan = self._planned()

    def _planned(self) -> PagePlan:
        frame = glyphs.HEIGHTS[header.scale(self.cells, self._most)] + len(self._above) + len(self._below)
        free = max(1, self.lines - frame)
        wall = self._wall
        return plan_pages(self._sight.states, self.cells, free, tiles=wall.tiles, scale=wall.scale)

    @property
    def _most(self) -> int:
        """The largest scale of the lines above and below the events."""
        return self._wall.most if self.lines >= LARGE else glyphs.PLAIN

    def _banner(self) -> list[Line]:
        return list(header.banner(self._sight, self.cells, 3 if self.lines >= TALL else 1, self._most))

    def draw(self, page: int, pinned: bool) -> list[Line]:
        """That page, `lines` lines of `cells` cells."""
        said = f"page {page + 1}/{len(self.plan.pages)}{' PINNED' if pinned and len(self.plan.pages) > 1 else ''}"
        if self._small:
            return self._filled([self._one_line(said)], self.lines)
        above = [*header.header(self._sight, self.cells, self._most, page=said, zone=self._wall.zone), *self._above]
        high = max(0, self.lines - len(above) - len(self._below))
        body = self._body(self.plan.pages[page], high)[:high]
        return [*self._filled(above, len(above)), *body, *self._filled(self._below, len(self._below))][: self.lines]

    def _filled(self, lines: Sequence[Line], high: int) -> list[Line]:
        kept = [fit(line, self.cells) for line in lines[:high]]
        return kept + [fit([], self.cells)] * (high - len(kept))

    def _one_line(self, page: str) -> Line:
        sight = self._sight
        time: Line = [(f"{sight.moment.now:%H:%M:%S}Z", StyleRole.STRONG)]
        loud, on_air = frame.alarm_counts(sight.alarms), header.counts(sight, header.ON_AIR)
        return wrap_groups(
            [(0, header.age(sight)), (1, loud), (2, on_air), (3, time), (4, [(page, StyleRole.DIM)])], self.cells, 1
        )

    def _body(self, states: Sequence[EventState], high: int) -> list[Line]:
        if not states:
            return self._filled(self._nothing(high), high)
        if not self.plan.grid:
            return self._filled(self._rows(states, high), high)
        lines = self._tiles(states, self.plan.grid, high)
        return [*lines, *self._filled([], high - len(lines))]

    def _tiles(self, states: Sequence[EventState], grid: Grid, high: int) -> list[Line]:
        """The grid stretched over all the room: no two tiles differ by more than a cell and a line."""
        down = min(grid.down, -(-len(states) // grid.across))
        names = [events.name(state) for state in states]
        shared = sizes(names, (self.cells // grid.across, high // down), self._wall.most)
        lines: list[Line] = []
        for row, tall in enumerate(_shares(high, down)):
            beside = states[row * grid.across : (row + 1) * grid.across]
            drawn = [
                tile(state, self._sight.moment, (wide, tall), self._recent, shared)
                for state, wide in zip(beside, _shares(self.cells, grid.across), strict=False)
            ]
            parts = zip(*drawn, strict=True)
            lines += [self._recent.beside(at, each, self.cells) for at, each in enumerate(parts, len(lines))]
        return lines

    def _rows(self, states: Sequence[EventState], high: int) -> list[Line]:
        height = max(1, min(self.plan.row, high // len(states)))
        given = band_layout(states, self.cells, height, self._wall.most)
        lines = [head(self.cells)] if given.scale == glyphs.PLAIN and high > height * len(states) else []
        for state in states:
            lines += band(state, self._sight.moment, (self.cells, height), self._recent, given)
        return lines

    def _nothing(self, high: int) -> list[Line]:
        """No event has a place: in words, so that a dark wall is not taken for a dead one."""
        words, below = self._why_empty()
        scale = glyphs.fitting(words, self.cells - 4, min(self._wall.most, 3 if high > 12 else 2))
        block = [*glyphs.word(words, StyleRole.DIM, scale, self.cells), [], [(below, StyleRole.DIM)]]
        return [*([[]] * max(0, (high - len(block)) // 2)), *(_centred(one, self.cells) for one in block)][:high]

    def _why_empty(self) -> tuple[str, str]:
        """In large letters, and below them: that nothing is on air only where all is seen, and fresh."""
        sight, link = self._sight, self._sight.snapshot.link
        if link.as_of is None:
            return ("CONNECTING" if link.state is ConnectionState.CONNECTING else "NO DATA YET"), ""
        if sight.moment.stale:
            return "NO FRESH DATA", ""
        if sight.matching < sight.total:
            words, counted = "NOTHING TO SHOW", f"{sight.matching} of {sight.total} events pass the filter"
        else:
            words, counted = "NOTHING ON AIR", f"{sight.total} events on the platform"
        return words, f"{counted}, none on air, due within 12 h, or wrong"


def _centred(line: Line, wide: int) -> Line:
    free = max(0, wide - width(line))
    return [(" " * (free // 2), StyleRole.TEXT), *line]


def _shares(whole: int, parts: int) -> list[int]:
    """`whole` in so many parts that differ by one at most."""
    return [whole * (part + 1) // parts - whole * part // parts for part in range(parts)]


def shifted(lines: Sequence[Line], elapsed: float) -> list[Line]:
    """A drawing in a room that is one cell wider and one line higher, moved by a cell every two minutes."""
    right, down = _ORBIT[int(elapsed // SHIFT) % len(_ORBIT)]
    beside = (" ", StyleRole.TEXT)
    moved = [[beside, *line] if right else [*line, beside] for line in lines]
    empty = fit([], width(moved[0]) if moved else 0)
    return [empty, *moved] if down else [*moved, empty]
