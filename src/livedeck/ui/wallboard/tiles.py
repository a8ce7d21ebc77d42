"""One event as a tile of the wall. Pure, but for a cache of what was drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from livedeck.monitor import EventState, Finding, Grade, IngestState
from livedeck.presentation import events
from livedeck.presentation.badges import SEVERITY_BADGES, SEVERITY_RANKS, words_role
from livedeck.presentation.event_detail import doubt_text, worst_lasting
from livedeck.presentation.events import Standing, standing
from livedeck.presentation.preflight import Item, Mark
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import (
    Group,
    Line,
    ShadedLine,
    StyleRole,
    cell_len,
    clip,
    fit,
    fit_height,
    join,
    plain,
    shorten,
    width,
    wrap_groups,
)
from livedeck.text.values import NOT_APPLICABLE, safe, short_duration
from livedeck.ui.wallboard.cache import DrawCache
from livedeck.ui.wallboard.glyphs import HEIGHTS, LARGE, PLAIN, text_cells, text_lines, wrap_text
from livedeck.ui.wallboard.recent import on_board, recent_chart

RATE_CELLS, LARGE_RATE_CELLS = 11, 36
"""Cells beside the chart: a bit rate, a frame rate; in large letters."""

MIN_LARGE_RATES = (100, 4 * HEIGHTS[LARGE])
"""Cells and lines of a chart from which the numbers beside it are in large letters."""

WIDEST = {"name": "TEN LETTERS", "health": "100  5 Mbit/s"}
"""What must fit at a scale, or a smaller one is taken for every tile; the most needed first."""

MAX_NAME_ROWS = 2

MARGIN = 3
"""Cells of a tile beside its content: the edge in the colour of the state, and a free one at each side."""

EDGES = {
    Standing.BAD: ("▌", StyleRole.CRITICAL_MARK, StyleRole.CRITICAL),
    Standing.WATCH: ("▌", StyleRole.WARNING, StyleRole.WARNING_CHIP),
    Standing.GOOD: ("▌", StyleRole.BAR_OK, StyleRole.RAISED),
    Standing.QUIET: ("▌", StyleRole.RULE, StyleRole.RAISED),
    Standing.STALE: ("▒", StyleRole.STALE, StyleRole.OFF),
}
"""How an event stands by the edge of its tile and by the fill of its bar: a shape where nothing can be believed."""

BOARDS = {
    Standing.BAD: StyleRole.CRITICAL,
    Standing.WATCH: StyleRole.WARNING,
    Standing.GOOD: StyleRole.OK,
    Standing.QUIET: StyleRole.OK,
    Standing.STALE: StyleRole.STALE,
}
"""The ground of a tile by how its event stands."""

_BAR_WORDS = {Standing.BAD: "✖ CRIT  ", Standing.WATCH: "▲ WARN  ", Standing.GOOD: "✓ good"}


class TileLayout(NamedTuple):
    """The scale of each part of a tile, and how many rows its name may take."""

    name: int = PLAIN
    health: int = PLAIN
    name_rows: int = 1

    @property
    def lines(self) -> int:
        """The least lines of a tile: bar, name, and the health beside two lines of the chart."""
        return 1 + HEIGHTS[self.name] * self.name_rows + max(2, HEIGHTS[self.health])


@lru_cache(16)
def tile_layout(names: tuple[str, ...], size: tuple[int, int], max_scale: int) -> TileLayout:
    """The layout of all tiles of a page: the largest letters, up to `max_scale`, that leave the chart two lines; larger
    ones than the face has only where no name is cut for them.

    The name comes first, in as many rows as the longest one needs; the health is at most as large.
    """
    inner, height = size[0] - MARGIN, size[1]
    best = TileLayout()
    for scale in range(LARGE, max_scale + 1):
        rows = max((_rows_needed(name, scale, inner) for name in names), default=1)
        candidates = [best._replace(name=scale, name_rows=count) for count in range(min(rows, MAX_NAME_ROWS), 0, -1)]
        named = next((layout for layout in candidates if layout.lines <= height), None)
        is_cut = named is None or named.name_rows < rows
        if named is None or (scale > LARGE and is_cut) or (text_cells(WIDEST["name"], scale) or 0) > inner:
            return best
        best = named
        candidate = best._replace(health=scale)
        if (text_cells(WIDEST["health"], scale) or 0) <= inner and candidate.lines <= height:
            best = candidate
    return best


def _rows_needed(name: str, scale: int, cells: int) -> int:
    """Rows that the whole name takes, one where the face lacks its letters; more than a tile has are all the same."""
    return max(1, len(wrap_text(name, scale, cells, MAX_NAME_ROWS + 1)))


def tile_lines(
    state: EventState, render_time: RenderTime, size: tuple[int, int], cache: DrawCache, layout: TileLayout
) -> list[ShadedLine]:
    """The event in so many cells and lines. From one second to the next only its bar is drawn again."""
    cells, height = size
    draw = partial(_draw_steady, state, render_time, (cells, height - 1), cache, layout)
    seen = (size, layout, render_time.stale, _no_go_items(state, render_time))
    steady = cache.get("tile", state.id, state, seen, draw)
    return [_bar(state, render_time, cells, cache), *steady]


def _bar(state: EventState, render_time: RenderTime, cells: int, cache: DrawCache) -> ShadedLine:
    """Tally, how the event stands and why, how late its samples come, and its time, over the whole tile but a cell."""
    clock = events.clock(state, render_time)
    clock = f"{'' if clock == NOT_APPLICABLE else clock} "
    lost, free = plain(interruption(state, render_time)), max(0, cells - 2 - len(clock))
    draw = partial(_bar_head, state, render_time, lost, free)
    head = cache.get("bar", state.id, state, (free, lost, render_time.stale, render_time.no_go(state.id)), draw)
    role = EDGES[standing(state, render_time)][2]
    return [(f"{head} {clock}"[-(cells - 1) :], role), _BLANK]


def _bar_head(state: EventState, render_time: RenderTime, lost: str, cells: int) -> str:
    """The part of the bar before its time, in exactly so many cells."""
    stands = standing(state, render_time)
    tally = f" {plain(events.tally(state, render_time)).strip()}"
    why = (lost or wrong_words(state)) if stands in WRONG else ""
    words = _BAR_WORDS.get(stands, "") + why
    if len(tally) + 2 + cell_len(words) > cells:
        words = f"{words[:2]}{why}"
    lag = events.lag_text(state).removeprefix("metrics ") if stands is not Standing.STALE else ""
    texts = [(0, tally), (0, words), (1, lag)]
    groups: list[Group] = [(rank, [(text, StyleRole.TEXT)]) for rank, text in texts if text]
    return plain(fit(wrap_groups(groups, cells), cells, ellipsis=True))


WRONG = frozenset({Standing.BAD, Standing.WATCH})
"""How an event stands that something is wrong with."""

_BLANK = (" ", StyleRole.TEXT)


def worst_finding(state: EventState) -> Finding | None:
    """The loudest of what was found; None where nothing was."""
    return min(state.assessment.findings, key=lambda finding: SEVERITY_RANKS[finding.severity], default=None)


def wrong_words(state: EventState) -> str:
    """The kind of the worst finding in words; else what lowers the health."""
    finding, health = worst_finding(state), state.assessment.health
    return kind_words(finding) if finding else health.component.value or health.grade.lower()


def kind_words(finding: Finding) -> str:
    """`packet loss`."""
    return safe(finding.kind.replace("_", " ").lower())


def _draw_steady(
    state: EventState, render_time: RenderTime, size: tuple[int, int], cache: DrawCache, layout: TileLayout
) -> list[ShadedLine]:
    """What does not change with the time: all below the bar, on the ground of how the event stands."""
    cells, height = size
    stands = standing(state, render_time)
    edge, role, _ = EDGES[stands]
    inner = max(0, cells - MARGIN)
    lines: list[ShadedLine] = [*_name_lines(state, render_time, inner, layout)]
    draw = _large_foot if layout.health > PLAIN else _plain_foot
    lines += draw(state, render_time, (inner, height - len(lines)), cache, layout)
    return [
        [*on_board([(f"{edge} ", role), *fit(line, inner, ellipsis=True)], BOARDS[stands]), _BLANK]
        for line in fit_height(lines, height)
    ]


def _plain_foot(
    state: EventState, render_time: RenderTime, size: tuple[int, int], cache: DrawCache, _: TileLayout
) -> list[ShadedLine]:
    """Health, what is wrong, and the chart, each in lines of their own."""
    inner, height = size
    lines: list[ShadedLine] = [_health_line(state, render_time, inner)]
    graph_lines = 2 if len(state.qos.readings) else 1
    lines += list(_finding_lines(state, render_time, inner))[: max(0, height - len(lines) - graph_lines)]
    return [*lines, *_graph(state, render_time, inner, height - len(lines), cache)]


def _large_foot(
    state: EventState, render_time: RenderTime, size: tuple[int, int], cache: DrawCache, layout: TileLayout
) -> list[ShadedLine]:
    """The chart at the left, the numbers beside it, the health in large letters at the bottom right; above them what is
    wrong, where there is room.
    """
    inner, height = size
    health = _large_health_number(state, render_time, layout.health)
    left = max(1, inner - (text_cells("100", layout.health) or 0) - 2)
    has_chart = len(state.qos.readings) > 0
    free = height - HEIGHTS[layout.health] - 2 if has_chart else height - max(1, len(health))
    findings = list(_finding_lines(state, render_time, inner if has_chart else left))[: max(0, free)]
    free = height - len(findings)
    graph = _graph(state, render_time, left, free, cache)
    rows = zip(_at_bottom(graph, free), _at_bottom(health, free), strict=True)
    beside: list[ShadedLine] = [[*fit(line, left), *fit(digits, inner - left, right=True)] for line, digits in rows]
    return [*findings, *beside]


def _large_health_number(state: EventState, render_time: RenderTime, scale: int) -> list[Line]:
    """The score alone, `--` where one is due; nothing where there is none to have."""
    if state.assessment.health.grade is Grade.NONE:
        return []
    text, role = events.health(state, render_time)[0]
    number = "".join(text.split()[:2][-1:])
    return text_lines(number, HEALTH_ROLES.get(standing(state, render_time), role), scale, 100)


HEALTH_ROLES = {Standing.BAD: StyleRole.CRITICAL_MARK, Standing.WATCH: StyleRole.WARNING}
"""A health in large letters has the colour of its tile: it is low because of what is wrong."""


def _at_bottom(lines: Sequence[ShadedLine], height: int) -> list[ShadedLine]:
    blank: list[ShadedLine] = [[]] * (height - len(lines))
    return [*blank, *lines]


def _name_role(state: EventState, render_time: RenderTime) -> StyleRole:
    return StyleRole.DIM if events.is_doubtful(state, render_time) else events.name_role(state)


def _name_lines(state: EventState, render_time: RenderTime, inner: int, layout: TileLayout) -> list[Line]:
    """The name in large letters, in its rows cut in the middle where they do not hold it. In cell letters, bold in the
    middle of the same place, where the face lacks one of its letters, or where one row is all there is room for and
    would be cut.
    """
    role, name, sign = _name_role(state, render_time), events.name(state), events.odd_sign(state)
    cells = inner - width(sign)
    rows = wrap_text(name, layout.name, cells, layout.name_rows) if layout.name > PLAIN else ()
    if rows and (layout.name_rows == MAX_NAME_ROWS or (text_cells(name, layout.name) or 0) <= cells):
        lines = [line for row in rows for line in text_lines(row, role, layout.name, cells)]
        return _with_sign(lines, sign, cells)
    height = HEIGHTS[layout.name]
    role = StyleRole.STRONG if role is StyleRole.TEXT else role
    lines = [[(row, role)] for row in wrap_text(name, PLAIN, cells, min(height, MAX_NAME_ROWS))]
    lines = _with_sign(lines, sign, cells)
    return [
        *([[]] * ((height - len(lines)) // 2)),
        *lines,
        *([[]] * (height - len(lines) - (height - len(lines)) // 2)),
    ]


def _with_sign(lines: list[Line], sign: Line, cells: int) -> list[Line]:
    """The large letters, and the sign to the right of their first line."""
    return [[*fit(lines[0], cells), *sign], *lines[1:]] if sign else lines


def _health_line(state: EventState, render_time: RenderTime, inner: int) -> Line:
    """Health, or the ingest where there is none."""
    has_grade = state.assessment.health.grade is not Grade.NONE
    words = events.health if has_grade else events.ingest
    return clip([*([] if has_grade else [("ingest ", StyleRole.DIM)]), *words(state, render_time)], inner)


def interruption(state: EventState, render_time: RenderTime) -> Line:
    """For how long the encoder is away and how much of the reconnect window is left; empty while it is connected."""
    ingest = state.phase.ingest
    if ingest.state is not IngestState.INTERRUPTED:
        return []
    left = -render_time.server_seconds_since(ingest.window_ends) if ingest.window_ends else 0.0
    window = f", {short_duration(left)} left" if left > 0 else ", window over"
    return [*events.ingest(state, render_time), (window, StyleRole.TEXT)]


def _finding_lines(state: EventState, render_time: RenderTime, inner: int) -> Iterator[Line]:
    """What is wrong, the worst first; not filled, as the bar is. What was, where nobody can see what is. Before all
    what keeps an event from starting that is about to.
    """
    doubtful = events.is_doubtful(state, render_time)
    if no_go := _no_go_items(state, render_time):
        role = StyleRole.STALE if doubtful else StyleRole.STRONG
        yield clip([(f"✖ NO-GO: {render_time.no_go(state.id)}", role)], inner)
        yield from (clip([(f"{item.name}: {safe(item.finding)}", role)], inner) for item in no_go)
    if doubtful and not state.assessment.findings and worst_lasting(state):
        yield clip([(doubt_text(state), StyleRole.STALE)], inner)
    for finding in sorted(state.assessment.findings, key=lambda finding: SEVERITY_RANKS[finding.severity]):
        role = StyleRole.STALE if doubtful else words_role(finding.severity)
        head = f"{SEVERITY_BADGES[finding.severity].glyph} {finding.kind}  "
        yield clip([(f"{head}{shorten(safe(finding.actual), max(0, inner - len(head)))}", role)], inner)


def _no_go_items(state: EventState, render_time: RenderTime) -> tuple[Item, ...]:
    """What keeps an event from starting that is about to."""
    return render_time.preflights[state.id].marked(Mark.NO_GO) if events.is_no_go(state, render_time) else ()


def _graph(
    state: EventState, render_time: RenderTime, inner: int, height: int, cache: DrawCache
) -> Sequence[ShadedLine]:
    """The chart; beside its lowest lines the numbers, as many as there are lines for."""
    if height <= 0:
        return []
    if not len(state.qos.readings):
        return [[("no samples", StyleRole.DIM)] if state.phase.tally.expects_signal else []]
    numbers, cells = _numbers(state, render_time), RATE_CELLS
    if inner >= MIN_LARGE_RATES[0] and height >= MIN_LARGE_RATES[1]:
        texts, cells = [(plain(number), number[0][1]) for number in numbers if number], LARGE_RATE_CELLS
        numbers = [line for text, role in texts for line in text_lines(text, role, LARGE, cells - 2)]
    elif height < HEIGHTS[LARGE]:
        numbers = numbers[:2]
    chart = recent_chart(state, render_time, (max(1, inner - cells), height), cache)
    rows = zip(chart, _at_bottom(numbers[:height], len(chart)), strict=True)
    return [join(line, fit(number, cells, right=True), inner) for line, number in rows]


def _numbers(state: EventState, render_time: RenderTime) -> list[Line]:
    """Video, frames, audio, restreams: the most needed first."""
    outputs = events.outputs(state, render_time)
    return [
        _with_unit(events.video(state, render_time), "M"),
        [*events.fps(state, render_time), (" fps", StyleRole.DIM)],
        _with_unit(events.audio(state, render_time), "k"),
        [("out ", StyleRole.DIM), *outputs] if plain(outputs) != NOT_APPLICABLE else [],
    ]


def _with_unit(rate: Line, usual: str) -> Line:
    """`4.48 Mbit`; `usual`: the unit where nothing was measured."""
    ((text, role),) = rate
    unit = text[-1:] if text[-1:] in {"M", "k"} else ""
    return [(text.removesuffix(unit), role), (f" {unit or usual}bit", StyleRole.DIM)]
