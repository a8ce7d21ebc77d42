"""One event as a tile or as a row of the wall. Pure, but for a cache of what was drawn."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import ceil
from operator import is_
from typing import Any, NamedTuple, TypeVar

from livedeck.monitor import EventState, Finding, Grade, IngestState, Severity
from livedeck.presentation import events, table
from livedeck.presentation.badges import SEVERITY_BADGES, SEVERITY_RANKS
from livedeck.presentation.events import EVENTS, MAX_NAME_CELLS, RECENT_SECONDS, Standing, standing
from livedeck.presentation.qos import BARS, Bucket, bar_top, bucket_columns, bucket_statuses, recent_axis, status_strip
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import Column
from livedeck.text.segments import Line, StyleRole, cell_len, clip, fit, join, plain, width
from livedeck.text.values import safe, short_duration
from livedeck.ui.wallboard.glyphs import HEIGHTS, LARGE, PLAIN, cut_middle, text_cells, text_lines, wrap_text
from livedeck.ui.wallboard.styles import BAR_ROLES

T = TypeVar("T")

MAX_STEPS = 60
"""Steps of the five minutes at most: with a sample every 2 s narrower ones would have gaps without a cause."""


class DrawCache:
    """Keeps what was drawn of each event while it does not change."""

    def __init__(self) -> None:
        self._drawn: dict[tuple[str, str], tuple[object, object, Any]] = {}
        self._joined: dict[int, tuple[int, tuple[Line, ...], Line]] = {}

    def get(self, name: str, event_id: str, subject: object, args: object, draw: Callable[[], T]) -> T:
        """What `draw` returned for that very subject and equal arguments.

        Subjects are compared by identity: comparing their samples would cost what the cache saves.
        """
        cached = self._drawn.get((name, event_id))
        if cached is None or cached[0] is not subject or cached[1] != args:
            cached = self._drawn[name, event_id] = subject, args, draw()
        drawn: T = cached[2]
        return drawn

    def recent_bars(self, state: EventState, render_time: RenderTime, cells: int, height: int) -> list[Line]:
        """The last five minutes in `height` lines: bars of the video bit rate over the status strip. Narrower than
        `cells` where the steps do not fill them.
        """
        doubtful = events.is_doubtful(state, render_time)
        args = (state.qos.as_of, cells, height, doubtful)
        draw = partial(_draw_recent, state, render_time, cells, height, doubtful=doubtful)
        return self.get("bars", state.id, state.qos.readings, args, draw)

    def join(self, row: int, parts: tuple[Line, ...], cells: int) -> Line:
        """The parts beside each other, filled to so many cells; the same object as last time where they are."""
        cached = self._joined.get(row)
        if cached is None or cached[0] != cells or len(cached[1]) != len(parts) or not all(map(is_, cached[1], parts)):
            line = fit([segment for part in parts for segment in part], cells)
            cached = self._joined[row] = cells, parts, line
        return cached[2]

    def keep_only(self, event_ids: Collection[str]) -> None:
        """Drop what was drawn of other events."""
        self._drawn = {key: cached for key, cached in self._drawn.items() if key[1] in event_ids}


def _draw_recent(state: EventState, render_time: RenderTime, cells: int, height: int, *, doubtful: bool) -> list[Line]:
    step_cells = max(1, ceil(cells / MAX_STEPS))
    axis = recent_axis(state, render_time, RECENT_SECONDS, cells // step_cells)
    if axis is None or cells <= 0:
        return [[] for _ in range(height)]
    readings = state.qos.readings
    buckets = [bucket for bucket in bucket_columns(axis, readings, readings.video) for _ in range(step_cells)]
    statuses = [style for style in bucket_statuses(axis, readings) for _ in range(step_cells)]
    role = StyleRole.STALE if doubtful else StyleRole.VIDEO_QUIET
    strip = status_strip(statuses)
    return [*_bars(buckets, height - 1, role), [(text, StyleRole.STALE) for text, _ in strip] if doubtful else strip]


def _bars(buckets: list[Bucket | None], height: int, role: StyleRole) -> list[Line]:
    """Bars from zero, by the lowest value of each step so that a dip shows."""
    top = bar_top(buckets)
    eighths = len(BARS) * height
    levels = [None if bucket is None else max(1, round(bucket.low / top * eighths)) if top else 1 for bucket in buckets]
    return [[("".join(_bar_cell(level, row) for level in levels), role)] for row in range(height - 1, -1, -1)]


def _bar_cell(level: int | None, row: int) -> str:
    """The part of a bar of `level` eighths in the row that is `row` lines above the lowest."""
    filled = 0 if level is None else level - row * len(BARS)
    return " " if filled <= 0 else BARS[min(filled, len(BARS)) - 1]


RATE_CELLS = 11
"""Cells beside the bars: a bit rate, a frame rate."""

WIDEST = {"name": "TEN LETTERS", "health": "100  5 Mbit/s"}
"""What must fit at a scale, or a smaller one is taken for every tile; the most needed first."""

MAX_NAME_ROWS = 2

MARGIN = 3
"""Cells of a tile beside its content: the edge in the colour of the state, and a free one at each side."""

_EDGES = {
    Standing.BAD: ("▌", StyleRole.CRITICAL_MARK, StyleRole.CRITICAL),
    Standing.WATCH: ("▌", StyleRole.WARNING, StyleRole.WARNING_CHIP),
    Standing.GOOD: ("▌", StyleRole.OK, StyleRole.RAISED),
    Standing.QUIET: ("▌", StyleRole.RULE, StyleRole.RAISED),
    Standing.STALE: ("▒", StyleRole.STALE, StyleRole.OFF),
}
"""How an event stands by the edge of its tile and by the fill of its bar: a shape where nothing can be believed."""

_BAR_WORDS = {Standing.BAD: "✖ CRIT  ", Standing.WATCH: "▲ WARN  ", Standing.GOOD: "✓ good"}

_SHORT = {"RECONN": "RECON", "UNKNOWN": "UNKN"}
"""Tallies in large letters, where each letter takes three cells and more."""


class TileLayout(NamedTuple):
    """The scale of each part of a tile, and how many rows its name may take."""

    name: int = PLAIN
    health: int = PLAIN
    name_rows: int = 1

    @property
    def lines(self) -> int:
        """The least lines of a tile: bar, name, and the health beside two lines of the chart."""
        return 1 + HEIGHTS[self.name] * self.name_rows + max(2, HEIGHTS[self.health])


def tile_layout(names: Sequence[str], size: tuple[int, int], max_scale: int) -> TileLayout:
    """The layout of all tiles of a page: the largest letters, up to `max_scale`, that leave the chart two lines.

    The name comes first, in as many rows as the longest one needs; the health is at most as large.
    """
    inner, height = size[0] - MARGIN, size[1]
    best = TileLayout()
    for scale in range(LARGE, max_scale + 1):
        rows = max((len(wrap_text(name, scale, inner, MAX_NAME_ROWS)) for name in names), default=0)
        candidates = [best._replace(name=scale, name_rows=count) for count in range(max(1, rows), 0, -1)]
        named = next((layout for layout in candidates if layout.lines <= height), None)
        if named is None or (text_cells(WIDEST["name"], scale) or 0) > inner:
            return best
        best = named
        candidate = best._replace(health=scale)
        if (text_cells(WIDEST["health"], scale) or 0) <= inner and candidate.lines <= height:
            best = candidate
    return best


def tile_lines(
    state: EventState, render_time: RenderTime, size: tuple[int, int], cache: DrawCache, layout: TileLayout
) -> list[Line]:
    """The event in so many cells and lines. From one second to the next only its bar is drawn again."""
    cells, height = size
    draw = partial(_draw_steady, state, render_time, (cells, height - 1), cache, layout)
    steady = cache.get("tile", state.id, state, (size, layout, render_time.stale), draw)
    return [_bar(state, render_time, cells), *steady]


def _bar(state: EventState, render_time: RenderTime, cells: int) -> Line:
    """Tally, how the event stands and why, and its time, over the whole width of the tile but a cell."""
    stands = standing(state, render_time)
    role = _EDGES[stands][2]
    tally = f" {plain(events.tally(state, render_time)).strip()}"
    clock = f"{events.clock(state, render_time)} "
    why = plain(_interruption(state, render_time)) if stands is not Standing.STALE else ""
    words = _BAR_WORDS.get(stands, "") + (why or (_worst_words(state) if stands in _WRONG else ""))
    free = max(0, cells - 5 - len(tally) - len(clock))
    middle = (
        words if cell_len(words) <= free else cut_middle(words.replace(" CRIT ", "").replace(" WARN ", ""), PLAIN, free)
    )
    text = f"{tally}  {middle}" if middle else tally
    return [
        *fit([(text, role), (" " * max(0, cells - 1 - cell_len(text) - len(clock)), role), (clock, role)], cells - 1),
        _BLANK,
    ]


_WRONG = frozenset({Standing.BAD, Standing.WATCH})

_BLANK = (" ", StyleRole.TEXT)


def _worst_words(state: EventState) -> str:
    """The kind of the worst finding in words; of none where only the health is low."""
    findings = sorted(state.assessment.findings, key=lambda finding: SEVERITY_RANKS[finding.severity])
    return safe(findings[0].kind.replace("_", " ").lower()) if findings else ""


def _draw_steady(
    state: EventState, render_time: RenderTime, size: tuple[int, int], cache: DrawCache, layout: TileLayout
) -> list[Line]:
    """What does not change with the time: all below the bar."""
    cells, height = size
    edge, role, _ = _EDGES[standing(state, render_time)]
    inner = max(0, cells - MARGIN)
    lines = _name_lines(state, render_time, inner, layout)
    draw = _large_foot if layout.health > PLAIN else _plain_foot
    lines += draw(state, render_time, (inner, height - len(lines)), cache, layout)
    return [
        [(f"{edge} ", role), *fit(line, inner, ellipsis=True), _BLANK] for line in [*lines, *([[]] * height)][:height]
    ]


def _plain_foot(
    state: EventState, render_time: RenderTime, size: tuple[int, int], cache: DrawCache, _: TileLayout
) -> list[Line]:
    """Health, what is wrong, and the chart, each in lines of their own."""
    inner, height = size
    lines = [_health_line(state, render_time, inner)]
    graph_lines = 2 if len(state.qos.readings) else 1
    lines += list(_finding_lines(state, render_time, inner))[: max(0, height - len(lines) - graph_lines)]
    return [*lines, *_graph(state, render_time, inner, height - len(lines), cache)]


def _large_foot(
    state: EventState, render_time: RenderTime, size: tuple[int, int], cache: DrawCache, layout: TileLayout
) -> list[Line]:
    """The chart at the left, the numbers beside it, the health in large letters at the bottom right; above them what is
    wrong, where there is room.
    """
    inner, height = size
    health = _large_health_number(state, render_time, layout.health)
    left = max(1, inner - (text_cells("100", layout.health) or 0) - 2)
    findings = list(_finding_lines(state, render_time, inner))[: max(0, height - HEIGHTS[layout.health] - 2)]
    free = height - len(findings)
    graph = _graph(state, render_time, left, free, cache)
    rows = zip(_at_bottom(graph, free), _at_bottom(health, free), strict=True)
    return [*findings, *([*fit(line, left), *fit(digits, inner - left, right=True)] for line, digits in rows)]


def _large_health_number(state: EventState, render_time: RenderTime, scale: int) -> list[Line]:
    """The score alone, `--` where one is due; nothing where there is none to have."""
    if state.assessment.health.grade is Grade.NONE:
        return []
    text, role = events.health(state, render_time)[0]
    number = "".join(text.split()[:2][-1:])
    return text_lines(number, StyleRole.CRITICAL_MARK if role is StyleRole.CRITICAL else role, scale, 100)


def _at_bottom(lines: list[Line], height: int) -> list[Line]:
    return [*([[]] * (height - len(lines))), *lines]


def indicator(state: EventState, render_time: RenderTime) -> tuple[str, StyleRole]:
    """The tally in few letters, and its role: `◌ RECON`."""
    glyph, _, word = plain(events.tally(state, render_time)).strip().partition(" ")
    doubtful = events.is_doubtful(state, render_time)
    return f"{glyph} {_SHORT.get(word, word)}", StyleRole.OFF if doubtful else BAR_ROLES[state.phase.tally]


def score(state: EventState, render_time: RenderTime) -> tuple[str, StyleRole]:
    """The health in few letters, and its role: `✖ 45 POOR`, `▒ --`."""
    text, role = events.health(state, render_time)[0]
    words = text.split()
    return (" ".join(words[:3]) if words and words[-1] != "DATA" else "✖ NO DATA"), role


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


def _interruption(state: EventState, render_time: RenderTime) -> Line:
    """For how long the encoder is away and how much of the reconnect window is left; empty while it is connected."""
    ingest = state.phase.ingest
    if ingest.state is not IngestState.INTERRUPTED:
        return []
    left = -render_time.server_seconds_since(ingest.window_ends) if ingest.window_ends else 0.0
    window = f"  {short_duration(left)} left" if left > 0 else "  window over"
    return [*events.ingest(state, render_time), (window, StyleRole.TEXT)]


def _finding_segment(finding: Finding, *, gap: str, doubtful: bool) -> tuple[str, StyleRole]:
    glyph, _, role = SEVERITY_BADGES[finding.severity]
    return f"{glyph} {finding.kind}{gap}{safe(finding.actual)}", StyleRole.STALE if doubtful else role


def _finding_lines(state: EventState, render_time: RenderTime, inner: int) -> Iterator[Line]:
    """What is wrong, the worst first; not filled, as the bar is."""
    doubtful = events.is_doubtful(state, render_time)
    for finding in sorted(state.assessment.findings, key=lambda finding: SEVERITY_RANKS[finding.severity]):
        text, role = _finding_segment(finding, gap="  ", doubtful=doubtful)
        yield clip([(text, StyleRole.STRONG if role is StyleRole.CRITICAL else role)], inner)


def _graph(state: EventState, render_time: RenderTime, inner: int, height: int, cache: DrawCache) -> list[Line]:
    """The bars and their strip; beside their lowest lines the numbers, as many as there are lines for."""
    if height <= 0:
        return []
    if not len(state.qos.readings):
        return [[("no samples", StyleRole.DIM)] if state.phase.tally.expects_signal else []]
    bars = cache.recent_bars(state, render_time, max(1, inner - RATE_CELLS), height)
    numbers = [] if height == 1 else [events.video(state, render_time)]
    numbers.append([*events.fps(state, render_time), (" fps", StyleRole.DIM)])
    if height >= HEIGHTS[LARGE]:
        outputs = events.outputs(state, render_time)
        numbers += [events.audio(state, render_time), [("out ", StyleRole.DIM), *outputs]]
    rows = zip(bars, _at_bottom(numbers, len(bars)), strict=True)
    return [join(bar, fit(number, RATE_CELLS, right=True), inner) for bar, number in rows]


TALLY, TIME = "● ON AIR", "T-00:00:00"
"""The longest usual tally and time: rows are aligned by them."""

HEALTHS = ("✖ 100 GOOD", "✖ 100")
"""Forms of the health, the longer first; where neither fits it is among the details."""

MIN_NAME_LETTERS = 10
"""Letters of a name that must fit, or smaller ones are taken."""

GAP = 3
"""Cells between two parts of a large row."""

SPARK_CELLS = 10
"""Cells of the bars of a row, and of the status strip beside them."""


class RowLayout(NamedTuple):
    """What all rows of a page share. `tally`: the longest lamp; its glyph alone where names need the space."""

    scale: int = PLAIN
    tally: str = TALLY


def row_layout(states: Sequence[EventState], cells: int, height: int, max_scale: int) -> RowLayout:
    """The largest letters that fit, where they can draw any name at all; lamps in words if no name is cut for them."""
    names = [events.name(state) for state in states]
    limit = max_scale if any(text_cells(name, max_scale) for name in names) else PLAIN
    scale = next((scale for scale in range(limit, PLAIN, -1) if _row_fits(scale, cells, height)), PLAIN)
    free = cells - _part_cells(TALLY, scale) - _part_cells(TIME, scale) - _health_cells(scale, cells) - GAP
    uncut = all((text_cells(name, scale) or text_cells(name, PLAIN) or 0) <= free for name in names)
    return RowLayout(scale, TALLY if uncut else TALLY[0])


def _row_fits(scale: int, cells: int, height: int) -> bool:
    return HEIGHTS[scale] <= height and _needed_cells(scale) <= cells


def _needed_cells(scale: int) -> int:
    """Cells of tally, time and the least of a name."""
    return _part_cells(TALLY, scale) + _part_cells(TIME, scale) + MIN_NAME_LETTERS * 4 * (scale - 1)


def _part_cells(text: str, scale: int) -> int:
    """Cells of a part with the gap behind it, and the margin of a lamp."""
    return (text_cells(text, scale) or 0) + GAP + 2


def _health_cells(scale: int, cells: int) -> int:
    """The widest form of the health that leaves the name its letters; 0 where none does."""
    free = cells - _needed_cells(scale)
    return next((_part_cells(form, scale) for form in HEALTHS if _part_cells(form, scale) <= free), 0)


def row_head(cells: int) -> Line:
    """The names of the columns of rows in plain letters."""
    return fit(table.head_line(table.layout(_columns(DrawCache()), cells)), cells)


def row_lines(
    state: EventState, render_time: RenderTime, size: tuple[int, int], cache: DrawCache, row: RowLayout
) -> list[Line]:
    """The event in so many cells and lines."""
    cells, height = size
    if row.scale == PLAIN:
        lines = [fit(table.row_line(state, render_time, table.layout(_columns(cache), cells)), cells)]
    else:
        lines = _large_row(state, render_time, cells, row)
    draw = partial(_row_details, state, render_time, cells, cache, row)
    details = cache.get("details", state.id, state, (cells, row, render_time.stale), draw)
    lines += details[: max(0, height - len(lines))]
    return [*lines, *([[]] * (height - len(lines)))]


def _columns(cache: DrawCache) -> list[Column[EventState]]:
    """The columns of the deck's table; the bars are drawn once for each answer."""
    changed: dict[str, dict[str, Any]] = {
        "event": {"max_width": MAX_NAME_CELLS},
        "recent": {"width": 2 * SPARK_CELLS + 1, "grows": False, "draw": None, "render": partial(_recent, cache)},
    }
    return [replace(column, **changed.get(column.name, {})) for column in EVENTS.columns]


def _recent(cache: DrawCache, state: EventState, render_time: RenderTime) -> Line:
    bars, strip = cache.recent_bars(state, render_time, SPARK_CELLS, 2)
    return [*fit(bars, SPARK_CELLS), (" ", StyleRole.TEXT), *strip]


def _large_row(state: EventState, render_time: RenderTime, cells: int, row: RowLayout) -> list[Line]:
    """Tally, name, time and health in large letters."""
    scale = row.scale
    tally_cells, time_cells = _part_cells(row.tally, scale), _part_cells(TIME, scale)
    health_cells = _health_cells(scale, cells)
    name_cells = cells - tally_cells - time_cells - health_cells
    tally, role = indicator(state, render_time)
    if row.tally != TALLY:
        tally = tally[: len(row.tally)]
    parts = [
        [
            fit([(" ", role), *line, (" ", role)], tally_cells)
            for line in text_lines(tally, role, scale, tally_cells - GAP - 2)
        ],
        [fit(line, name_cells) for line in _large_name(state, render_time, name_cells - GAP, scale)],
        [fit(line, time_cells - GAP, right=True) for line in _large_clock(state, render_time, time_cells - GAP, scale)],
        [
            fit([(" " * GAP, StyleRole.TEXT), *line], health_cells + GAP)
            for line in _large_health(state, render_time, health_cells, scale)
        ],
    ]
    return [[segment for part in lines for segment in part] for lines in zip(*parts, strict=True)]


def _large_health(state: EventState, render_time: RenderTime, cells: int, scale: int) -> list[Line]:
    text, role = score(state, render_time)
    if (text_cells(text, scale) or 0) > cells:
        text = " ".join(events.health(state, render_time)[0][0].split()[:2])
    fits = cells and (text_cells(text, scale) or 0) <= cells
    return text_lines(text, role, scale, cells) if fits else [[] for _ in range(HEIGHTS[scale])]


def _large_name(state: EventState, render_time: RenderTime, cells: int, scale: int) -> list[Line]:
    """A name that the large letters cannot draw is a plain line in the middle."""
    sign = events.odd_sign(state)
    cells -= width(sign)
    lines = text_lines(events.name(state), _name_role(state, render_time), scale, cells)
    lines = _with_sign(lines, sign, cells)
    free = HEIGHTS[scale] - len(lines)
    return [*([[]] * (free // 2)), *lines, *([[]] * (free - free // 2))]


def _large_clock(state: EventState, render_time: RenderTime, cells: int, scale: int) -> list[Line]:
    role = StyleRole.STALE if events.is_doubtful(state, render_time) else StyleRole.STRONG
    return text_lines(events.clock(state, render_time), role, scale, cells)


def _row_details(
    state: EventState, render_time: RenderTime, cells: int, cache: DrawCache, row: RowLayout
) -> list[Line]:
    """What is wrong at the left; rates and bars, which a large row does not have, at the right."""
    doubtful = events.is_doubtful(state, render_time)
    findings = [finding for finding in state.assessment.findings if finding.severity is not Severity.INFO]
    line: Line = [(" ", StyleRole.TEXT)]
    if row.tally != TALLY:
        line.append((f"{state.phase.tally.value}  ", StyleRole.DIM))
    if row.scale > PLAIN:
        line += [*events.health(state, render_time), ("  ", StyleRole.TEXT)]
    for finding in findings:
        text, role = _finding_segment(finding, gap=" ", doubtful=doubtful)
        line.append((f"{text}  ", role))
    right = _rates(state, render_time, cache) if row.scale > PLAIN and state.phase.tally.expects_signal else []
    left = clip(line, max(0, cells - 60) if right else cells)
    return [join(left, right, cells)] if findings or right else []


def _rates(state: EventState, render_time: RenderTime, cache: DrawCache) -> Line:
    return [
        *_recent(cache, state, render_time),
        *fit(events.video(state, render_time), 7, right=True),
        *fit([*events.fps(state, render_time), (" fps", StyleRole.DIM)], 9, right=True),
        *fit([("  out ", StyleRole.DIM), *events.outputs(state, render_time)], 10),
    ]
