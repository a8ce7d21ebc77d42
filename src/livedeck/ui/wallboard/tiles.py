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
from livedeck.presentation.events import EVENTS, MAX_NAME_CELLS, RECENT_SECONDS
from livedeck.presentation.qos import BARS, Bucket, bar_top, bucket_columns, bucket_statuses, recent_axis, status_strip
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import Column
from livedeck.text.segments import Line, StyleRole, clip, fit, join, plain, width
from livedeck.text.values import NOT_APPLICABLE, safe, short_duration
from livedeck.ui.wallboard.glyphs import HEIGHTS, LARGE, PLAIN, text_cells, text_lines, wrap_text
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
    role = StyleRole.STALE if doubtful else StyleRole.VIDEO
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


RATE_CELLS = 10
"""Cells beside the bars: a bit rate, a frame rate."""

WIDEST = {"name": "TEN LETTERS", "health": "✖ 100 GOOD", "lamp": "○ SCHED  T-00:00:00"}
"""What of each part must fit at a scale, or a smaller one is taken for every tile; the most needed first."""

MAX_NAME_ROWS = 2

_BORDERS = {"light": "┌─┐│└┘", "heavy": "╔═╗║╚╝", "hatched": "▒▒▒▒▒▒"}
"""Top left, horizontal, top right, vertical, bottom left, bottom right."""

_SHORT = {"RECONN": "RECON", "UNKNOWN": "UNKN"}
"""Tallies in large letters, where each letter takes four cells and more."""


class TileLayout(NamedTuple):
    """The scale of each part of a tile, and how many rows its name may take."""

    name: int = PLAIN
    health: int = PLAIN
    lamp: int = PLAIN
    name_rows: int = 1

    @property
    def lamp_lines(self) -> int:
        """Lines of tally and time; in plain letters they are in the border."""
        return HEIGHTS[self.lamp] if self.lamp > PLAIN else 0

    @property
    def lines(self) -> int:
        """Lines of all parts together."""
        return self.lamp_lines + HEIGHTS[self.name] * self.name_rows + HEIGHTS[self.health]


def tile_layout(names: Sequence[str], size: tuple[int, int], max_scale: int) -> TileLayout:
    """The layout of all tiles of a page: the largest letters, up to `max_scale`, that leave two lines for the bars.

    The name comes first, and nothing is larger; then the health; tally and time are told by the colour of the bar too.
    """
    inner, height = size[0] - 4, size[1] - 2
    best = TileLayout()
    for scale in range(LARGE, max_scale + 1):
        rows = max((len(wrap_text(name, scale, inner, MAX_NAME_ROWS)) for name in names), default=0)
        candidates = [best._replace(name=scale, name_rows=count) for count in range(max(1, rows), 0, -1)]
        named = next((layout for layout in candidates if layout.lines + 2 <= height), None)
        if named is None or (text_cells(WIDEST["name"], scale) or 0) > inner:
            return best
        best = named
        for part in ("health", "lamp"):
            candidate = best._replace(**{part: scale})
            if (text_cells(WIDEST[part], scale) or 0) <= inner and candidate.lines + 2 <= height:
                best = candidate
    return best


def tile_lines(
    state: EventState, render_time: RenderTime, size: tuple[int, int], cache: DrawCache, layout: TileLayout
) -> list[Line]:
    """The event in so many cells and lines. From one second to the next only its times are drawn again."""
    cells, height = size[0], size[1] - 2
    draw = partial(_draw_steady, state, render_time, (cells, height), cache, layout)
    top, *steady = cache.get("tile", state.id, state, (size, layout, render_time.stale), draw)
    role, border = _border(state, render_time)
    interruption, row = _interruption(state, render_time), layout.lines - layout.lamp_lines - 1
    if interruption and row < len(steady) - 1:
        health = _health_lines(state, render_time, cells - 4, layout.health, interruption)[-1]
        steady[row] = _in_border(health, cells, role, border)
    lamp = list(_lamp(state, render_time, cells - 2, layout.lamp))
    if layout.lamp == PLAIN:
        return [[(border[0], role), *lamp[0], (border[2], role)], *steady]
    return [top, *([(border[3], role), *line, (border[3], role)] for line in lamp[:height]), *steady]


def _draw_steady(
    state: EventState, render_time: RenderTime, size: tuple[int, int], cache: DrawCache, layout: TileLayout
) -> list[Line]:
    """What does not change with the time: the top border, and all lines below tally and time."""
    cells, height = size
    free = max(0, height - layout.lamp_lines)
    role, border = _border(state, render_time)
    body = _body(state, render_time, (max(0, cells - 4), free), cache, layout)[:free]
    return [
        [(border[0] + border[1] * (cells - 2) + border[2], role)],
        *(_in_border(line, cells, role, border) for line in [*body, *([[]] * (free - len(body)))]),
        [(border[4] + border[1] * (cells - 2) + border[5], role)],
    ]


def _in_border(line: Line, cells: int, role: StyleRole, border: str) -> Line:
    return [(f"{border[3]} ", role), *fit(line, max(0, cells - 4), ellipsis=True), (f" {border[3]}", role)]


def _border(state: EventState, render_time: RenderTime) -> tuple[StyleRole, str]:
    """Heavy where something is critical, hatched where nothing can be believed: a shape, not only a colour."""
    if events.is_doubtful(state, render_time):
        return StyleRole.STALE, _BORDERS["hatched"]
    severities = {finding.severity for finding in state.assessment.findings}
    if Severity.CRITICAL in severities:
        return StyleRole.CRITICAL_MARK, _BORDERS["heavy"]
    return StyleRole.WARNING if Severity.WARNING in severities else StyleRole.RULE, _BORDERS["light"]


def _lamp(state: EventState, render_time: RenderTime, cells: int, scale: int) -> Iterator[Line]:
    """The tally lamp, as wide as the tile, with the time in it."""
    (tally, role), clock = indicator(state, render_time), events.clock(state, render_time)
    if scale == PLAIN:
        tally = plain(events.tally(state, render_time)).strip()
    ends = zip(text_lines(tally, role, scale, cells), text_lines(clock, role, scale, cells), strict=True)
    for left, right in ends:
        left_text, right_text = f" {plain(left)}", f"{plain(right)} "
        free = max(0, cells - len(left_text) - len(right_text))
        yield fit([(left_text, role), (" " * free, role), (right_text, role)], cells)


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


def _body(
    state: EventState, render_time: RenderTime, size: tuple[int, int], cache: DrawCache, layout: TileLayout
) -> list[Line]:
    inner, height = size
    lines = [
        *_name_lines(state, render_time, inner, layout),
        *_health_lines(state, render_time, inner, layout.health, []),
    ]
    graph_lines = 3 if len(state.qos.readings) else 1
    lines += list(_detail_lines(state, render_time, inner))[: max(0, height - len(lines) - graph_lines)]
    return [*lines, *_graph(state, render_time, inner, height - len(lines), cache)]


def _name_role(state: EventState, render_time: RenderTime) -> StyleRole:
    return StyleRole.DIM if events.is_doubtful(state, render_time) else events.name_role(state)


def _name_lines(state: EventState, render_time: RenderTime, inner: int, layout: TileLayout) -> list[Line]:
    """The name at the scale of the layout, cut in its middle where its rows do not hold it; bold in the middle of the
    same place where the face lacks one of its letters.
    """
    role, name, sign = _name_role(state, render_time), events.name(state), events.odd_sign(state)
    height, cells = HEIGHTS[layout.name] * layout.name_rows, inner - width(sign)
    rows = wrap_text(name, layout.name, cells, layout.name_rows) if layout.name > PLAIN else ()
    lines = [line for row in rows for line in text_lines(row, role, layout.name, cells)]
    if not rows:
        role = StyleRole.STRONG if role is StyleRole.TEXT else role
        lines = [[(row, role)] for row in wrap_text(name, PLAIN, cells, min(height, MAX_NAME_ROWS))]
        lines = [*([[]] * ((height - len(lines)) // 2)), *lines]
    lines = _with_sign(lines, sign, cells)
    return [*lines, *([[]] * (height - len(lines)))]


def _with_sign(lines: list[Line], sign: Line, cells: int) -> list[Line]:
    """The large letters, and the sign to the right of their first line."""
    return [[*fit(lines[0], cells), *sign], *lines[1:]] if sign else lines


def _health_lines(state: EventState, render_time: RenderTime, inner: int, scale: int, interruption: Line) -> list[Line]:
    """Health, or the ingest where there is none; beside it the interruption."""
    has_grade = state.assessment.health.grade is not Grade.NONE
    above: list[Line] = [[]] * (HEIGHTS[scale] - 1)
    if scale > PLAIN and has_grade:
        text, role = score(state, render_time)
        *above, last = text_lines(text, role, scale, inner)
    elif has_grade:
        last = events.health(state, render_time)
    else:
        last = [("ingest ", StyleRole.DIM), *events.ingest(state, render_time)]
    right = interruption if width(last) + width(interruption) < inner else interruption[:1]
    return [*above, join(last, right, inner) if width(last) + width(right) < inner else clip(last, inner)]


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


def _detail_lines(state: EventState, render_time: RenderTime, inner: int) -> Iterator[Line]:
    """What is wrong, the worst first; then audio and restreams."""
    doubtful = events.is_doubtful(state, render_time)
    for finding in sorted(state.assessment.findings, key=lambda finding: SEVERITY_RANKS[finding.severity]):
        yield clip([_finding_segment(finding, gap="  ", doubtful=doubtful)], inner)
    if state.phase.tally.expects_signal:
        outputs = plain(events.outputs(state, render_time))
        restreams = "" if outputs == NOT_APPLICABLE else f"   restreams {outputs}"
        yield clip([(f"audio {plain(events.audio(state, render_time))}{restreams}", StyleRole.DIM)], inner)


def _graph(state: EventState, render_time: RenderTime, inner: int, height: int, cache: DrawCache) -> list[Line]:
    """The bars with the bit rate, the strip with the frame rate."""
    if height <= 0:
        return []
    if not len(state.qos.readings):
        return [[("no samples", StyleRole.DIM)] if state.phase.tally.expects_signal else []]
    bars = cache.recent_bars(state, render_time, max(1, inner - RATE_CELLS), height)
    rates: list[Line] = [[] for _ in bars]
    ((fps, fps_role),) = events.fps(state, render_time)
    rates[-1] = [(f"{fps} fps", fps_role)]
    if len(bars) > 1:
        rates[-2] = events.video(state, render_time)
    return [join(bar, fit(rate, RATE_CELLS, right=True), inner) for bar, rate in zip(bars, rates, strict=True)]


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
