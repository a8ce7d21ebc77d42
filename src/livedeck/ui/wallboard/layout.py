"""The whole wall as lines: its pages, which page is up, and the grid of a page. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from math import ceil
from typing import NamedTuple

from livedeck.monitor import BroadcastState, EventState
from livedeck.presentation import events
from livedeck.presentation.alarms import count_line
from livedeck.text.segments import Line, StyleRole, fit, width, wrap_groups
from livedeck.ui.wallboard import header
from livedeck.ui.wallboard.glyphs import HEIGHTS, LARGE, MAX_SCALE, PLAIN, max_scale, text_lines
from livedeck.ui.wallboard.model import WallModel
from livedeck.ui.wallboard.tiles import DrawCache, row_head, row_layout, row_lines, tile_layout, tile_lines

MAX_ROWS = 16
"""Rows on a page: more cannot be read from across a room; rows grow with the wall instead."""

MIN_LARGE_ROW_CELLS = 128
"""Cells from which rows are in large letters, fewer on a page where the wall is not high enough for all of them."""

MAX_TILES = 9
"""Events that get a tile each; where there are more, each gets a row."""

MIN_TILE_SIZES = {1: (38, 6), 2: (48, 13), 3: (96, 21)}
"""The least cells and lines of a tile by its scale: its name in two rows of such letters."""

_ASPECT = 4.0
"""Cells a line of the ideal tile: a cell is half as wide as it is high, and names are long."""


class Grid(NamedTuple):
    """Tiles beside and above each other."""

    columns: int
    rows: int


@dataclass(frozen=True, slots=True)
class PagePlan:
    """`pages`: the events of each. `grid`: of the tiles; None for rows of `row_height` lines each."""

    pages: tuple[tuple[EventState, ...], ...]
    grid: Grid | None = None
    row_height: int = 1

    def pages_of(self, event_ids: frozenset[str]) -> list[int]:
        """The pages that hold one of those events."""
        return [number for number, page in enumerate(self.pages) if any(state.id in event_ids for state in page)]


def plan_pages(
    states: Sequence[EventState], cells: int, lines: int, *, tiles: int = MAX_TILES, scale: int = 0
) -> PagePlan:
    """The pages for these events in so many cells and lines. `scale` 0: as large as the wall allows."""
    if 0 < len(states) <= tiles:
        grid = _grid(len(states), cells, lines, scale or PLAIN)
        return PagePlan(_split(states, grid.columns * grid.rows), grid)
    min_height = HEIGHTS[scale or (LARGE if cells >= MIN_LARGE_ROW_CELLS else PLAIN)]
    pages = _split(states, min(MAX_ROWS, max(1, lines // min_height)))
    return PagePlan(pages, row_height=max(1, min_height if scale else lines // max(1, len(pages[0]))))


def _split(states: Sequence[EventState], page_size: int) -> tuple[tuple[EventState, ...], ...]:
    """Pages of about equal length: a last page with one row is a page wasted."""
    pages = max(1, ceil(len(states) / page_size))
    length = ceil(len(states) / pages)
    return tuple(tuple(states[page * length : (page + 1) * length]) for page in range(pages))


def _grid(count: int, cells: int, lines: int, scale: int) -> Grid:
    """The grid with the largest tiles, of those that hold all events; the largest that fits where none does."""
    min_cells, min_lines = MIN_TILE_SIZES[scale]
    limit = Grid(max(1, cells // min_cells), max(1, lines // min_lines))
    grids = [Grid(columns, ceil(count / columns)) for columns in range(1, min(count, limit.columns) + 1)]
    fitting = [grid for grid in grids if grid.rows <= limit.rows]
    return max(fitting, key=lambda grid: min(cells // grid.columns, lines // grid.rows * _ASPECT), default=limit)


@dataclass(frozen=True, slots=True)
class PageState:
    """`page` from 0, up since `since` (monotonic seconds); `held`: a person turned to it."""

    page: int = 0
    since: float = 0.0
    held: bool = False


def next_page_state(
    state: PageState, now: float, pages: int, pinned: Collection[int], page_seconds: float
) -> PageState:
    """The page at `now`: each is up for `page_seconds`. While pages are pinned only those are shown, the first of them
    at once, unless a person has just turned to another.
    """
    allowed = sorted(page for page in pinned if page < pages) or list(range(pages))
    is_due = now - state.since >= page_seconds
    if state.page < pages and not is_due and (state.held or state.page in allowed):
        return state
    page = next((page for page in allowed if page > state.page), allowed[0]) if is_due else allowed[0]
    return PageState(page, now)


def turn_page(state: PageState, now: float, pages: int, step: int) -> PageState:
    """A person turns the page: it stays for as long as any other."""
    return PageState((state.page + step) % pages, now, held=True)


MIN_LINES_FOR_ALARMS, MIN_LINES_FOR_LARGE_FRAME = 30, 40
"""Lines from which there are three alarms instead of one; from which header and banner are in large letters."""

MIN_SIZE = (40, 10)
"""Cells and lines below which the wall is one line."""

SHIFT_SECONDS = 120.0
"""Seconds after which the picture moves by a cell, so that nothing burns in."""

_ORBIT = ((0, 0), (1, 0), (1, 1), (0, 1))


@dataclass(frozen=True, slots=True)
class Wall:
    """How the wall is set up. `tiles`: events that get tiles at most. `scale`: of the letters, 0: as large as fits.

    `zone`: of the place where it hangs, None: this machine's. `page_seconds`: how long a page is up.
    """

    tiles: int = MAX_TILES
    scale: int = 0
    zone: tzinfo | None = None
    page_seconds: float = 20.0

    @property
    def max_scale(self) -> int:
        """The largest scale that may be used."""
        return self.scale or MAX_SCALE


class WallLayout:
    """Lays a model out for a size, then draws one of its pages."""

    def __init__(self, wall: Wall, model: WallModel, size: tuple[int, int], cache: DrawCache) -> None:
        self._wall, self._model, self._cache = wall, model, cache
        self.cells, self.lines = size
        self._banner: list[Line] = []
        self._is_small = self.cells < MIN_SIZE[0] or self.lines < MIN_SIZE[1]
        self._frame_scale = wall.max_scale if self.lines >= MIN_LINES_FOR_LARGE_FRAME else PLAIN
        self._header_scale = header.header_scale(self.cells, self._frame_scale)
        if not self._is_small:
            alarms = 3 if self.lines >= MIN_LINES_FOR_ALARMS else 1
            has_tiles = 0 < len(model.states) <= wall.tiles
            self._banner = list(header.banner(model, self.cells, alarms, self._frame_scale, has_tiles=has_tiles))
        frame = header.HEADER_LINES[self._header_scale] + len(self._banner)
        free = max(1, self.lines - frame)
        self.plan = plan_pages(model.states, self.cells, free, tiles=wall.tiles, scale=wall.scale)

    def draw(self, page: int, *, pinned: bool) -> list[Line]:
        """That page, `lines` lines of `cells` cells."""
        pages = len(self.plan.pages)
        page_text = f"page {page + 1}/{pages}{' PINNED' if pinned and pages > 1 else ''}"
        if self._is_small:
            return self._fill([self._one_line(page_text)], self.lines)
        zone = self._wall.zone
        above = header.header(self._model, self.cells, self._header_scale, page=page_text, zone=zone) + self._banner
        height = max(0, self.lines - len(above))
        body = self._body(self.plan.pages[page], height)[:height]
        return [*self._fill(above, len(above)), *body][: self.lines]

    def _fill(self, lines: Sequence[Line], height: int) -> list[Line]:
        """The lines cut or padded to the cells of the wall and to that height."""
        kept = [fit(line, self.cells) for line in lines[:height]]
        return kept + [fit([], self.cells)] * (height - len(kept))

    def _one_line(self, page_text: str) -> Line:
        model = self._model
        time: Line = [(f"{model.render_time.now:%H:%M:%S}Z", StyleRole.STRONG)]
        groups = [
            (0, header.age(model)),
            (1, count_line(model.alarms)),
            (2, header.tally_counts(model, BroadcastState.ON_AIR)),
            (3, time),
            (4, [(page_text, StyleRole.DIM)]),
        ]
        return wrap_groups(groups, self.cells, 1)

    def _body(self, states: Sequence[EventState], height: int) -> list[Line]:
        if not states:
            return self._fill(self._empty(height), height)
        if not self.plan.grid:
            return self._fill(self._rows(states, height), height)
        lines = self._tiles(states, self.plan.grid, height)
        return [*lines, *self._fill([], height - len(lines))]

    def _tiles(self, states: Sequence[EventState], grid: Grid, height: int) -> list[Line]:
        """The grid stretched over the whole body: no two tiles differ by more than a cell and a line."""
        rows = ceil(len(states) / grid.columns)
        names = [events.name(state) for state in states]
        layout = tile_layout(names, (self.cells // grid.columns, height // rows), self._wall.max_scale)
        lines: list[Line] = []
        for row, row_height in enumerate(_shares(height, rows)):
            tiles = [
                tile_lines(state, self._model.render_time, (cells, row_height), self._cache, layout)
                for state, cells in zip(
                    states[row * grid.columns : (row + 1) * grid.columns],
                    _shares(self.cells, grid.columns),
                    strict=False,
                )
            ]
            parts = enumerate(zip(*tiles, strict=True), len(lines))
            lines += [self._cache.join(number, line_parts, self.cells) for number, line_parts in parts]
        return lines

    def _rows(self, states: Sequence[EventState], height: int) -> list[Line]:
        row_height = max(1, min(self.plan.row_height, height // len(states)))
        layout = row_layout(states, self.cells, row_height, self._wall.max_scale)
        lines = [row_head(self.cells)] if layout.scale == PLAIN and height > row_height * len(states) else []
        for state in states:
            lines += row_lines(state, self._model.render_time, (self.cells, row_height), self._cache, layout)
        return lines

    def _empty(self, height: int) -> list[Line]:
        """That no event is on the wall, in words: a dark wall would be taken for a dead one."""
        title, note = header.empty_texts(self._model)
        scale = max_scale(title, self.cells - 4, min(self._wall.max_scale, 3 if height > 12 else 2))
        block = [*text_lines(title, StyleRole.DIM, scale, self.cells), [], [(note, StyleRole.DIM)]]
        above: list[Line] = [[]] * max(0, (height - len(block)) // 2)
        return [*above, *(_centred(line, self.cells) for line in block)][:height]


def _centred(line: Line, cells: int) -> Line:
    free = max(0, cells - width(line))
    return [(" " * (free // 2), StyleRole.TEXT), *line]


def _shares(total: int, parts: int) -> list[int]:
    """`total` in so many parts that differ by one at most."""
    return [total * (part + 1) // parts - total * part // parts for part in range(parts)]


def shift_lines(lines: Sequence[Line], elapsed: float) -> list[Line]:
    """The lines one cell wider and one line higher, moved around by a cell every `SHIFT_SECONDS`."""
    right, down = _ORBIT[int(elapsed // SHIFT_SECONDS) % len(_ORBIT)]
    blank = (" ", StyleRole.TEXT)
    shifted = [[blank, *line] if right else [*line, blank] for line in lines]
    empty = fit([], width(shifted[0]) if shifted else 0)
    return [empty, *shifted] if down else [*shifted, empty]
