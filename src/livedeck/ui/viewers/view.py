"""Tiles of the screen of viewers: bar, picture, meter and a line of facts for each event. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

from livedeck.monitor import EventState, Severity, Snapshot
from livedeck.presentation import events, viewer
from livedeck.presentation.badges import SEVERITY_BADGES, SEVERITY_RANKS, TALLY_BADGES
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import Group, Line, ShadedLine, StyleRole, clip, fit, fit_height, justify, width, wrap
from livedeck.text.values import NOT_APPLICABLE, safe
from livedeck.ui.kit.graphics import Frame
from livedeck.ui.kit.meter import METER_CELLS, meter_rows
from livedeck.ui.kit.viewer_picture import Look, picture_rows

MIN_CELLS, GOOD_LINES, MIN_LINES = 40, 11, 9
"""Minimum width of a tile, its minimum height, and its minimum height if only two rows of tiles fit."""

MARGIN = 1 + 1 + METER_CELLS
"""Cells of a tile beside its picture: the cursor, a blank, and the meter."""

BESIDE_LINES = 2
"""Lines of a tile above and below its picture: bar and facts."""

MAX_TILES = 32
"""Maximum number of tiles on a page."""


class Grid(NamedTuple):
    """Arrangement of the tiles of a page, and the cells of a tile and of its picture."""

    columns: int
    rows: int
    cells: int
    lines: int
    frame: Frame

    @property
    def tiles(self) -> int:
        """Number of tiles on a page."""
        return self.columns * self.rows


def plan_grid(cells: int, lines: int, count: int) -> Grid:
    """Return the grid with the largest pictures that has room for `count` tiles.

    If no grid has room, return the grid with the most tiles.
    """
    most_columns = max(1, cells // MIN_CELLS)
    most_rows = max(1, lines // GOOD_LINES, min(2, lines // MIN_LINES))
    grids = [
        _grid(columns, rows, cells, lines)
        for columns in range(1, most_columns + 1)
        for rows in range(1, most_rows + 1)
        if columns * rows <= MAX_TILES
    ]
    enough = [grid for grid in grids if grid.tiles >= count]
    most = max(grid.tiles for grid in grids)
    return max(
        enough or [grid for grid in grids if grid.tiles == most],
        key=lambda grid: (grid.frame.columns * grid.frame.rows, -grid.tiles),
    )


def _grid(columns: int, rows: int, cells: int, lines: int) -> Grid:
    width, height = cells // columns, lines // rows
    picture_rows = max(1, min(height - BESIDE_LINES, (width - MARGIN) * 9 // 32))
    return Grid(
        columns, rows, width, height, Frame(max(1, min(round(picture_rows * 32 / 9), width - MARGIN)), picture_rows)
    )


_EDGES = {
    Severity.CRITICAL: StyleRole.CRITICAL,
    Severity.WARNING: StyleRole.WARNING_CHIP,
    Severity.INFO: StyleRole.RAISED,
    None: StyleRole.RAISED,
}
"""Severity of an event for viewers -> fill of the bar of its tile, as on the wall."""


def tile_lines(
    state: EventState, render_time: RenderTime, grid: Grid, look: Look, *, is_selected: bool
) -> list[ShadedLine]:
    """Return the lines of a tile in the size of the grid."""
    frame = grid.frame
    picture = picture_rows(state, render_time, frame, look)
    peaks, is_old = viewer.shown_peaks(state, render_time), viewer.is_past(state, render_time)
    meter = meter_rows(peaks, frame.rows, has_blocks=look.has_blocks, is_old=is_old)
    edge = ("▌", StyleRole.INFO) if is_selected else (" ", StyleRole.TEXT)
    facts = viewer.facts_line(state, render_time, grid.cells - 2)
    free = " " * (grid.cells - 1 - frame.columns - 1 - METER_CELLS)
    rows: list[ShadedLine] = [
        _bar(state, render_time, grid.cells - 1),
        *(
            [*row, (" ", StyleRole.TEXT), *gauge, (free, StyleRole.TEXT)]
            for row, gauge in zip(picture, meter, strict=True)
        ),
        fit(clip(facts, grid.cells - 2), grid.cells - 1),
    ]
    blank: ShadedLine = fit([], grid.cells)
    return fit_height([[edge, *line] for line in rows], grid.lines, blank)


def _bar(state: EventState, render_time: RenderTime, cells: int) -> Line:
    """Return the bar of a tile: sign, name, tally and clock, in the colour of the worst fault."""
    found = viewer.badge(state, render_time)
    fill = StyleRole.OFF if found.glyph == "▒" else _EDGES[found.severity]
    glyph, word, _ = TALLY_BADGES[state.phase.tally]
    clock = events.clock(state, render_time)
    clock = "" if clock == NOT_APPLICABLE else f" {clock}"
    end: Line = [(f" {glyph} {word}{clock} ", fill)]
    begin: Line = [(f" {found.glyph} {events.name(state)}", fill)]
    free = cells - width(end)
    begin = clip(begin, free)
    return [*begin, (" " * (free - width(begin)), fill), *end]


def summary_line(
    states: Sequence[EventState],
    snapshot: Snapshot,
    render_time: RenderTime,
    cells: int,
    order: str,
    *,
    page: Sequence[Line] = (),
) -> ShadedLine:
    """Return the line with the counts of events by state, page, traffic, order, and place of the probe.

    `page`: the groups of `page_groups`. A narrow line omits counts before these groups.
    """
    attachment = snapshot.attachment
    is_shared = attachment is not None and not attachment.is_alone
    place = "from the collector" if is_shared else "from this machine"
    right: list[Group] = [
        *((1, group) for group in page),
        (8, [(f"{order} ", StyleRole.DIM)]),
        (10, [(f"{safe(snapshot.probe)} ", StyleRole.DIM)] if snapshot.probe else []),
        (9, [(f"{place} ", StyleRole.DIM)]),
    ]
    return justify(viewer.counts_line(states, render_time), right, cells, 3)


def page_groups(page: int, grid: Grid, states: Sequence[EventState], render_time: RenderTime) -> list[Line]:
    """Return the page, and the faults on other pages by severity: `page 1 of 3   ✖ 1   ▲ 2 elsewhere`.

    Empty if all tiles are on one page.
    """
    if len(states) <= grid.tiles:
        return []
    elsewhere = [*states[: page * grid.tiles], *states[(page + 1) * grid.tiles :]]
    faults = [viewer.badge(state, render_time).severity for state in elsewhere]
    counts: Line = []
    for severity in (Severity.CRITICAL, Severity.WARNING):
        if count := faults.count(severity):
            glyph, _, role = SEVERITY_BADGES[severity]
            counts.append((f" {glyph} {count} ", role))
    number: Line = [(f"page {page + 1} of {ceil(len(states) / grid.tiles)}", StyleRole.TEXT)]
    return [number, [*counts, (" elsewhere ", StyleRole.STRONG)]] if counts else [number]


def with_worst_in_sight(
    states: Sequence[EventState], grid: Grid, kept: str, render_time: RenderTime
) -> list[EventState]:
    """Return the events so that the first page has the event `kept` and, as far as they fit, all critical events.

    An event that moves to the first page changes places with the least bad event there. Others keep their places.
    """
    placed, worst = [*states], SEVERITY_RANKS[Severity.CRITICAL]
    ranks = {state.id: viewer.badge(state, render_time).rank for state in states}
    for place, state in enumerate(states[grid.tiles :], grid.tiles):
        free = [place for place in range(grid.tiles) if placed[place].id != kept]
        least = max(free, key=lambda place: (ranks[placed[place].id], place), default=None)
        if least is None:
            break
        if state.id == kept or ranks[state.id][0] == worst != ranks[placed[least].id][0]:
            placed[least], placed[place] = state, placed[least]
    return placed


def page_of(place: int, grid: Grid) -> int:
    """Return the page of the tile at a place in the order of tiles."""
    return place // grid.tiles


def empty_lines(texts: Sequence[str], cells: int, lines: int) -> list[ShadedLine]:
    """Return sentences in the middle of the screen."""
    rows: list[Line] = [row for text in texts for row in ([*wrap(text, StyleRole.TEXT, min(cells - 4, 76))] or [[]])]
    above: list[ShadedLine] = [[] for _ in range(max(0, (lines - len(rows)) // 2))]
    return fit_height([*above, *([(" " * ((cells - width(row)) // 2), StyleRole.TEXT), *row] for row in rows)], lines)
