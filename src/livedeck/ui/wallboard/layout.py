"""Layout of the whole wall: pages, visible page, and the grid of a page. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from math import ceil
from typing import NamedTuple, Protocol

from livedeck.monitor import BroadcastState, EventState
from livedeck.presentation import events
from livedeck.presentation.alarms import count_line
from livedeck.presentation.badges import SILENCE_GLYPH
from livedeck.presentation.connection import calm_word
from livedeck.presentation.events import STANDING_WORDS
from livedeck.text.segments import Group, Line, ShadedLine, StyleRole, fit, fit_height, justify, width, wrap_groups
from livedeck.ui.wallboard import header
from livedeck.ui.wallboard.cache import DrawCache, shares
from livedeck.ui.wallboard.cells import cell_lines
from livedeck.ui.wallboard.glyphs import MAX_SCALE, PLAIN, max_scale, text_lines
from livedeck.ui.wallboard.model import WallModel, unacknowledged_events
from livedeck.ui.wallboard.seats import Seats, plan_seats
from livedeck.ui.wallboard.tiles import tile_layout, tile_lines
from livedeck.ui.wallboard.wrong import SHARE, FaultArea

MAX_TILES = 9
"""Maximum number of events with a tile each. More events have cells of a grid instead."""

MIN_TILE_SIZES = {1: (38, 6), 2: (48, 13), 3: (96, 21)}
"""Scale -> minimum cells and lines of a tile, for a name in two rows of letters of that scale."""

_ASPECT = 4.0
"""Width divided by height of the ideal tile, in cells: a cell is half as wide as high, and names are long."""


class Grid(NamedTuple):
    """Numbers of columns and rows of tiles on a page."""

    columns: int
    rows: int


@dataclass(frozen=True, slots=True)
class PagePlan:
    """Events of each page, and the grid of their tiles."""

    pages: tuple[tuple[EventState, ...], ...]
    grid: Grid

    def pages_of(self, event_ids: frozenset[str]) -> list[int]:
        """Return the indexes of the pages that contain any of these events."""
        return [number for number, page in enumerate(self.pages) if any(state.id in event_ids for state in page)]


def plan_pages(states: Sequence[EventState], cells: int, lines: int, *, scale: int = 0) -> PagePlan:
    """Plan the pages of tiles for an area of `cells` and `lines`.

    `scale`: scale of the letters that tiles must have room for; 0: plain letters.
    """
    grid = _grid(max(1, len(states)), cells, lines, scale or PLAIN)
    return PagePlan(_split(states, grid.columns * grid.rows), grid)


def _split(states: Sequence[EventState], page_size: int) -> tuple[tuple[EventState, ...], ...]:
    """Split events into pages of about equal length, so that no page has only one row."""
    pages = max(1, ceil(len(states) / page_size))
    length = ceil(len(states) / pages)
    return tuple(tuple(states[page * length : (page + 1) * length]) for page in range(pages))


def _grid(count: int, cells: int, lines: int, scale: int) -> Grid:
    """Return the grid with the largest tiles for all `count` events; if they do not fit, the grid with most tiles."""
    min_cells, min_lines = MIN_TILE_SIZES[scale]
    limit = Grid(max(1, cells // min_cells), max(1, lines // min_lines))
    grids = [Grid(columns, ceil(count / columns)) for columns in range(1, min(count, limit.columns) + 1)]
    fitting = [grid for grid in grids if grid.rows <= limit.rows]
    return max(fitting, key=lambda grid: min(cells // grid.columns, lines // grid.rows * _ASPECT), default=limit)


@dataclass(frozen=True, slots=True)
class PageState:
    """Visible page, from 0.

    `since`: time at which it was first shown (monotonic s). `is_held`: a person turned to it.
    """

    page: int = 0
    since: float = 0.0
    is_held: bool = False


def next_page_state(
    state: PageState, now: float, pages: int, pinned: Collection[int], page_seconds: float
) -> PageState:
    """Return the page to show at `now` (monotonic s), after the page `state`. A page stays for `page_seconds`.

    While pages are pinned, only pinned pages are shown, beginning at once with the first. But a page that a person has
    turned to stays for `page_seconds`.
    """
    allowed = sorted(page for page in pinned if page < pages) or list(range(pages))
    is_due = now - state.since >= page_seconds
    if state.page < pages and not is_due and (state.is_held or state.page in allowed):
        return state
    page = next((page for page in allowed if page > state.page), allowed[0]) if is_due else allowed[0]
    return PageState(page, now)


def turn_page(state: PageState, now: float, pages: int, step: int) -> PageState:
    """Return the page after a person has turned `step` pages further. The new page stays for the usual time."""
    return PageState((state.page + step) % pages, now, is_held=True)


MIN_LINES_FOR_ALARMS, MIN_LINES_FOR_LARGE_FRAME = 30, 38
"""Minimum lines of a wall that shows three alarms instead of one, and of a wall with a large header and banner."""

MIN_SIZE = (40, 10)
"""Minimum cells and lines of a wall. A smaller wall shows only a single line."""

SHIFT_SECONDS = 120.0
"""Seconds between two shifts of the picture by a cell, against burn-in."""

_ORBIT = ((0, 0), (1, 0), (1, 1), (0, 1))


@dataclass(frozen=True, slots=True)
class Wall:
    """Settings of the wall.

    Attributes:
        tiles: maximum number of events that get a tile each.
        scale: maximum scale of the letters; 0 means as large as fits.
        zone: time zone of the place; None means this machine's.
        page_seconds: time that a page stays, in seconds.
        has_pictures: show browsers the pictures that viewers get.
    """

    tiles: int = MAX_TILES
    scale: int = 0
    zone: tzinfo | None = None
    page_seconds: float = 20.0
    has_pictures: bool = False

    @property
    def max_scale(self) -> int:
        """Largest scale that may be used."""
        return self.scale or MAX_SCALE


class WallLayout:
    """Layout of a model for one size of the wall. It can draw each of its pages."""

    def __init__(self, wall: Wall, model: WallModel, size: tuple[int, int], cache: DrawCache, seats: Seats) -> None:
        self._wall, self._model, self._cache = wall, model, cache
        self.cells, self.lines = size
        self._is_small = self.cells < MIN_SIZE[0] or self.lines < MIN_SIZE[1]
        self._frame_scale = wall.max_scale if self.lines >= MIN_LINES_FOR_LARGE_FRAME else PLAIN
        self._header_scale = header.header_scale(self.cells, self._frame_scale)
        self._body = self._make_body(seats)
        self.pages, self.pinned_pages = self._body.pages, self._body.pinned_pages

    def _make_body(self, seats: Seats) -> _Body:
        above = header.HEADER_LINES[self._header_scale]
        size = self.cells, max(1, self.lines - above - len(self._below()))
        if len(self._model.states) > self._wall.tiles:
            seated = seats.seat(self._model.states)
            return _GridBody(self._model, size, self._cache, seated, self._frame_scale)
        seats.clear()
        alarms = 0 if self._is_small else 3 if self.lines >= MIN_LINES_FOR_ALARMS else 1
        banner = [*header.banner(self._model, self.cells, alarms, self._frame_scale)] if alarms else []
        return _TileBody(self._wall, self._model, size, self._cache, banner)

    def draw(self, page: int) -> list[ShadedLine]:
        """Draw a page of the wall, header included, in the size of the wall."""
        is_pinned = page in self.pinned_pages and self.pages > 1
        page_text = f"page {page + 1}/{self.pages}{' PINNED' if is_pinned else ''}"
        if self._is_small:
            return fit_height([fit(self._one_line(page_text), self.cells)], self.lines, fit([], self.cells))
        above = header.header(self._model, self.cells, self._header_scale, page=page_text, zone=self._wall.zone)
        body = self._body.draw(page)
        below = self._below()
        return [*[*above, *body][: self.lines - len(below)], *below]

    def _below(self) -> list[ShadedLine]:
        """Return the line with the running silences, if there are any. It is on every page."""
        text = "" if self._is_small else header.maintenance_text(self._model)
        return [fit([(f" {SILENCE_GLYPH} {text} ", StyleRole.WARNING_CHIP)], self.cells, ellipsis=True)] if text else []

    def _one_line(self, page_text: str) -> Line:
        model = self._model
        time: Line = [(f"{model.render_time.now:%H:%M:%S}Z", StyleRole.STRONG)]
        groups = [
            (0, header.age(model)),
            (1, count_line(model.alarms, calm_word(model.snapshot, model.render_time))),
            (2, header.tally_counts(model, BroadcastState.ON_AIR)),
            (3, time),
            (4, [(page_text, StyleRole.DIM)]),
        ]
        return wrap_groups(groups, self.cells, 1)


class _Body(Protocol):
    """Area below the header. `pages`: number of its pages. `pinned_pages`: indexes of pages to show first."""

    pages: int
    pinned_pages: Collection[int]

    def draw(self, page: int) -> list[ShadedLine]:
        """Draw a page."""


class _TileBody:
    """Body with a tile for each event, worst first, below the alarms without an event."""

    def __init__(
        self, wall: Wall, model: WallModel, size: tuple[int, int], cache: DrawCache, banner: Sequence[ShadedLine]
    ) -> None:
        self._wall, self._model, self._cache, self._banner, self._cells = wall, model, cache, banner, size[0]
        self._lines, self._height = size[1], max(0, size[1] - len(self._banner))
        self._plan = plan_pages(model.states, size[0], max(1, self._height), scale=wall.scale)
        self.pages = len(self._plan.pages)
        self.pinned_pages: Collection[int] = self._plan.pages_of(unacknowledged_events(model))

    def draw(self, page: int) -> list[ShadedLine]:
        """Draw a page with tiles over the whole body. Tiles differ by at most a cell in width and a line in height."""
        states = self._plan.pages[page]
        lines = self._tiles(states) if states else self._empty()
        return [*self._banner, *fit_height(lines, self._height, fit([], self._cells))][: self._lines]

    def _tiles(self, states: Sequence[EventState]) -> list[ShadedLine]:
        grid = self._plan.grid
        rows = ceil(len(states) / grid.columns)
        names = tuple(events.name(state) for state in states)
        layout = tile_layout(names, (self._cells // grid.columns, self._height // rows), self._wall.max_scale)
        lines: list[ShadedLine] = []
        for row, height in enumerate(shares(self._height, rows)):
            in_row = states[row * grid.columns : (row + 1) * grid.columns]
            tiles = [
                tile_lines(state, self._model.render_time, (cells, height), self._cache, layout)
                for state, cells in zip(in_row, shares(self._cells, grid.columns), strict=False)
            ]
            lines += self._cache.beside(len(lines), tiles, self._cells)
        return lines

    def _empty(self) -> list[ShadedLine]:
        """Draw a text for a wall without events, because a dark wall would look broken."""
        title, note = header.empty_texts(self._model)
        scale = max_scale(title, self._cells - 4, min(self._wall.max_scale, 3 if self._height > 12 else 2))
        block = [*text_lines(title, StyleRole.DIM, scale, self._cells), [], [(note, StyleRole.DIM)]]
        above: list[ShadedLine] = [[]] * max(0, (self._height - len(block)) // 2)
        return [fit(line, self._cells) for line in (*above, *(_centred(line, self._cells) for line in block))]


class _GridBody:
    """Body with a cell in a fixed place for each event. The problems are above the cells on every page."""

    pinned_pages: Collection[int] = ()

    def __init__(
        self, model: WallModel, size: tuple[int, int], cache: DrawCache, seats: Sequence[EventState | None], scale: int
    ) -> None:
        self._model, self._cache, self._seats, self._cells = model, cache, seats, size[0]
        above = round(size[1] * SHARE)
        self._above = FaultArea(model, (size[0], above), scale, cache).lines()
        self._height = size[1] - above - 1
        self._plan = plan_seats(len(seats), size[0], max(1, self._height))
        self.pages = self._plan.pages

    def draw(self, page: int) -> list[ShadedLine]:
        """Draw the problems, the legend and the cells."""
        plan = self._plan
        seats = self._seats[page * plan.page_seats : (page + 1) * plan.page_seats]
        lines: list[ShadedLine] = []
        for row in range(plan.rows):
            in_row = seats[row * plan.columns : (row + 1) * plan.columns]
            cells = [
                cell_lines(state, self._model.render_time, (width, plan.row_lines), self._cache)
                for state, width in zip(in_row, shares(self._cells + 1, plan.columns), strict=False)
            ]
            lines += self._cache.beside(len(lines), cells, self._cells) if cells else []
        return [*self._above, self._legend(seats), *fit_height(lines, self._height, fit([], self._cells))]

    def _legend(self, seats: Sequence[EventState | None]) -> ShadedLine:
        """Return the number of events, and the meaning of the signs."""
        count, here = len(self._model.states), sum(seat is not None for seat in seats)
        words = f" {f'{here} of ' if self.pages > 1 else 'all '}{count} events, each in a fixed place"
        signs = [segment for glyph, word, role in STANDING_WORDS.values() for segment in _sign(glyph, word, role)]
        right: list[Group] = [
            (1, [] if self._model.render_time.stale else signs),
            (2, [("number: health of 100   line: last 5 min ", StyleRole.DIM)]),
        ]
        return justify([(0, [(words, StyleRole.DIM)])], right, self._cells, gap=3)


def _sign(glyph: str, word: str, role: StyleRole) -> Line:
    mark = StyleRole.CRITICAL_MARK if role is StyleRole.CRITICAL else role
    return [(f"{glyph} ", mark), (f"{word}  ", StyleRole.DIM)]


def _centred(line: Line, cells: int) -> Line:
    free = max(0, cells - width(line))
    return [(" " * (free // 2), StyleRole.TEXT), *line]


def shift_lines(lines: Sequence[ShadedLine], elapsed: float) -> list[ShadedLine]:
    """Return the lines of the wall in an area one cell and one line larger, shifted every `SHIFT_SECONDS`."""
    right, down = _ORBIT[int(elapsed // SHIFT_SECONDS) % len(_ORBIT)]
    blank = (" ", StyleRole.TEXT)
    shifted: list[ShadedLine] = [[blank, *line] if right else [*line, blank] for line in lines]
    empty: ShadedLine = fit([], width(shifted[0]) if shifted else 0)
    return [empty, *shifted] if down else [*shifted, empty]
