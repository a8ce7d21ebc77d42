"""Tile of the wall for one event. Pure, except for the drawing cache."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from livedeck.monitor import EventState, Finding, Grade, IngestState
from livedeck.presentation import events, viewer
from livedeck.presentation.badges import SEVERITY_BADGES, SEVERITY_RANKS, SILENCE_GLYPH, words_role
from livedeck.presentation.event_detail import doubt_text
from livedeck.presentation.events import Standing, standing
from livedeck.presentation.preflight import Item, Mark
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.silences import moment_text
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
from livedeck.text.values import NOT_APPLICABLE, evidence_text, safe, short_duration
from livedeck.ui.wallboard.cache import DrawCache
from livedeck.ui.wallboard.glyphs import HEIGHTS, LARGE, PLAIN, text_cells, text_lines, wrap_text
from livedeck.ui.wallboard.recent import on_board, recent_chart

RATE_CELLS, LARGE_RATE_CELLS = 11, 36
"""Width in cells of the rates beside the chart in plain letters, and in large letters."""

MIN_LARGE_RATES = (100, 4 * HEIGHTS[LARGE])
"""Minimum cells and lines of a chart with large numbers beside it."""

WIDEST = {"name": "TEN LETTERS", "health": "100  5 Mbit/s"}
"""Part of a tile -> text that must fit into the part. If it does not fit, all tiles use a smaller scale."""

MAX_NAME_ROWS = 2

MARGIN = 3
"""Number of cells of a tile beside its content: the coloured edge, and a free cell on each side."""

EDGES = {
    Standing.BAD: ("▌", StyleRole.CRITICAL_MARK, StyleRole.CRITICAL),
    Standing.WATCH: ("▌", StyleRole.WARNING, StyleRole.WARNING_CHIP),
    Standing.GOOD: ("▌", StyleRole.BAR_OK, StyleRole.RAISED),
    Standing.QUIET: ("▌", StyleRole.RULE, StyleRole.RAISED),
    Standing.STALE: ("▒", StyleRole.STALE, StyleRole.OFF),
}
"""Standing -> edge of a tile (glyph and role), and fill of its bar. Stale data have a separate glyph."""

BOARDS = {
    Standing.BAD: StyleRole.CRITICAL,
    Standing.WATCH: StyleRole.WARNING,
    Standing.GOOD: StyleRole.OK,
    Standing.QUIET: StyleRole.OK,
    Standing.STALE: StyleRole.STALE,
}
"""Standing of an event -> background of its tile."""

_BAR_WORDS = {Standing.BAD: "✖ CRIT  ", Standing.WATCH: "▲ WARN  ", Standing.GOOD: "✓ good"}


class TileLayout(NamedTuple):
    """Scales of the letters of name and health in a tile, and the number of rows of the name."""

    name: int = PLAIN
    health: int = PLAIN
    name_rows: int = 1

    @property
    def lines(self) -> int:
        """Minimum lines of a tile: bar, name, and the health beside at least two lines of chart."""
        return 1 + HEIGHTS[self.name] * self.name_rows + max(2, HEIGHTS[self.health])


@lru_cache(16)
def tile_layout(names: tuple[str, ...], size: tuple[int, int], max_scale: int) -> TileLayout:
    """Return the layout of all tiles of a page: the largest letters that leave two lines for the chart.

    The name is enlarged before the health, in as many rows as the longest name needs. The health is never larger than
    the name. A scale above `LARGE` is used only if no name is cut. `max_scale`: maximum scale of the letters.
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
    """Return the number of rows that a name needs, at most `MAX_NAME_ROWS + 1`.

    Returns 1 if the face lacks a letter.
    """
    return max(1, len(wrap_text(name, scale, cells, MAX_NAME_ROWS + 1)))


def tile_lines(
    state: EventState, render_time: RenderTime, size: tuple[int, int], cache: DrawCache, layout: TileLayout
) -> list[ShadedLine]:
    """Draw the tile of an event in a size of cells and lines. As time passes, only the bar is drawn again."""
    cells, height = size
    draw = partial(_draw_steady, state, render_time, (cells, height - 1), cache, layout)
    viewers = plain(viewer_words(state, render_time))
    seen = (size, layout, render_time.stale, render_time.blame, _no_go_items(state, render_time), viewers)
    steady = cache.get("tile", state.id, state, seen, draw)
    return [_bar(state, render_time, cells, cache), *steady]


def _bar(state: EventState, render_time: RenderTime, cells: int, cache: DrawCache) -> ShadedLine:
    """Draw the bar of a tile: tally, standing, reason, delay of the samples, and clock. The last cell stays blank."""
    clock = events.clock(state, render_time)
    clock = f"{'' if clock == NOT_APPLICABLE else clock} "
    lost, free = plain(interruption(state, render_time)), max(0, cells - 2 - len(clock))
    silenced = silenced_badge(state, render_time)
    draw = partial(_bar_head, state, render_time, lost, silenced, free)
    running = lost or events.doubt_of_encoder(state, render_time)
    seen = (free, running, silenced, render_time.stale, render_time.no_go(state.id))
    head = cache.get("bar", state.id, state, seen, draw)
    role = EDGES[standing(state, render_time)][2]
    return [(f"{head} {clock}"[-(cells - 1) :], role), _BLANK]


def _bar_head(state: EventState, render_time: RenderTime, lost: str, silenced: str, cells: int) -> str:
    """Return the part of the bar before the clock, in exactly `cells` cells."""
    stands = standing(state, render_time)
    tally = f" {plain(events.tally(state, render_time)).strip()}{f'  {silenced}' if silenced else ''}"
    why = (lost or wrong_words(state)) if stands in WRONG else ""
    words = _BAR_WORDS.get(stands, "") + why
    if len(tally) + 2 + cell_len(words) > cells:
        words = f"{words[:2]}{why}"
    doubt = events.doubt_of_encoder(state, render_time)
    lag = (doubt or events.lag_text(state).removeprefix("metrics ")) if stands is not Standing.STALE else ""
    texts = [(0, tally), (0, words), (1, lag)]
    groups: list[Group] = [(rank, [(text, StyleRole.TEXT)]) for rank, text in texts if text]
    return plain(fit(wrap_groups(groups, cells), cells, ellipsis=True))


def silenced_badge(state: EventState, render_time: RenderTime) -> str:
    """Return `M 04:00Z`, the end of the silence of an event; empty without one."""
    until = render_time.silenced_until(state)
    return f"{SILENCE_GLYPH} {moment_text(until, render_time.now)}" if until else ""


WRONG = frozenset({Standing.BAD, Standing.WATCH})
"""Standings of an event with a problem."""

_BLANK = (" ", StyleRole.TEXT)


def is_fault_elsewhere(state: EventState, render_time: RenderTime) -> bool:
    """Return whether an event has a fault although its health is good, such as a fault that only viewers notice.

    The wall then omits the health, because a good number in the colour of a fault would look like a bad one.
    """
    return state.assessment.health.grade is Grade.GOOD and standing(state, render_time) in WRONG


def worst_finding(state: EventState) -> Finding | None:
    """Return the most severe finding; None without findings."""
    return min(state.assessment.findings, key=lambda finding: SEVERITY_RANKS[finding.severity], default=None)


def wrong_words(state: EventState) -> str:
    """Return the kind of the worst finding in words, or else the component that lowers the health."""
    finding, health = worst_finding(state), state.assessment.health
    return kind_words(finding) if finding else health.component.value or health.grade.lower()


def kind_words(finding: Finding) -> str:
    """Return the kind of a finding in words: `packet loss`."""
    return safe(finding.kind.replace("_", " ").lower())


def _draw_steady(
    state: EventState, render_time: RenderTime, size: tuple[int, int], cache: DrawCache, layout: TileLayout
) -> list[ShadedLine]:
    """Draw the part of a tile below the bar, on the standing's background. This part does not change with time."""
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
    """Draw health, problems and chart, each in lines of their own."""
    inner, height = size
    lines: list[ShadedLine] = [_health_line(state, render_time, inner)]
    graph_lines = 2 if len(state.qos.readings) else 1
    lines += list(_finding_lines(state, render_time, inner))[: max(0, height - len(lines) - graph_lines)]
    return [*lines, *_graph(state, render_time, inner, height - len(lines), cache)]


def _large_foot(
    state: EventState, render_time: RenderTime, size: tuple[int, int], cache: DrawCache, layout: TileLayout
) -> list[ShadedLine]:
    """Draw the chart with its numbers, the large health at the bottom right, and the problems above if they fit."""
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
    """Draw the health score; `--` if it is expected but unknown. Returns no lines if the event has none to show."""
    if state.assessment.health.grade is Grade.NONE or is_fault_elsewhere(state, render_time):
        return []
    text, role = events.health(state, render_time)[0]
    number = "".join(text.split()[:2][-1:])
    return text_lines(number, HEALTH_ROLES.get(standing(state, render_time), role), scale, 100)


HEALTH_ROLES = {Standing.BAD: StyleRole.CRITICAL_MARK, Standing.WATCH: StyleRole.WARNING}
"""Standing of an event -> colour of its large health, which is the colour of the tile."""


def _at_bottom(lines: Sequence[ShadedLine], height: int) -> list[ShadedLine]:
    blank: list[ShadedLine] = [[]] * (height - len(lines))
    return [*blank, *lines]


def _name_role(state: EventState, render_time: RenderTime) -> StyleRole:
    return StyleRole.DIM if events.is_doubtful(state, render_time) else events.name_role(state)


def _name_lines(state: EventState, render_time: RenderTime, inner: int, layout: TileLayout) -> list[Line]:
    """Draw the name in large letters, cut in the middle if it does not fit.

    The name is drawn in plain bold letters if the face lacks a letter, or if the only row of the name is too narrow.
    The plain name is centred in the same number of lines.
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
    """Return the lines with a sign to the right of the first line."""
    return [[*fit(lines[0], cells), *sign], *lines[1:]] if sign else lines


def _health_line(state: EventState, render_time: RenderTime, inner: int) -> Line:
    """Return the line with the health, or with the state of the ingest if the event has no health to show."""
    if state.assessment.health.grade is Grade.NONE or is_fault_elsewhere(state, render_time):
        return clip([("ingest ", StyleRole.DIM), *events.ingest(state, render_time)], inner)
    return clip(events.health(state, render_time), inner)


def interruption(state: EventState, render_time: RenderTime) -> Line:
    """Return the time since the encoder left and the rest of the reconnect window; empty while the encoder sends."""
    ingest = events.known_ingest(state, render_time)
    if ingest.state is not IngestState.INTERRUPTED:
        return []
    left = -render_time.server_seconds_since(ingest.window_ends) if ingest.window_ends else 0.0
    window = f", {short_duration(left)} left" if left > 0 else ", window expired"
    return [*events.ingest(state, render_time), (window, StyleRole.TEXT)]


def _finding_lines(state: EventState, render_time: RenderTime, inner: int) -> Iterator[Line]:
    """Yield the lines of problems: first the NO-GO checks of an event about to start, then findings, worst first.

    The lines have no background, because the bar has one. With stale data, the lines show the last known findings.
    """
    doubtful = events.is_doubtful(state, render_time)
    if no_go := _no_go_items(state, render_time):
        role = StyleRole.STALE if doubtful else StyleRole.STRONG
        yield clip([(f"✖ NO-GO: {render_time.no_go(state.id)}", role)], inner)
        yield from (clip([(f"{item.name}: {safe(item.finding)}", role)], inner) for item in no_go)
    if doubtful and not state.assessment.findings:
        yield clip([(doubt_text(state, render_time), StyleRole.STALE)], inner)
    if words := viewer_words(state, render_time):
        yield clip(words, inner)
    for finding in sorted(state.assessment.findings, key=lambda finding: SEVERITY_RANKS[finding.severity]):
        role = StyleRole.STALE if doubtful else words_role(finding.severity)
        head = f"{SEVERITY_BADGES[finding.severity].glyph} {finding.kind}  "
        yield clip([(f"{head}{shorten(evidence_text(finding), max(0, inner - len(head)))}", role)], inner)


def viewer_words(state: EventState, render_time: RenderTime) -> Line:
    """Return `viewers ✓ plays 8 s late`, without a running time; empty without a probe."""
    return viewer.short_text(state, render_time, has_time=False)


def _no_go_items(state: EventState, render_time: RenderTime) -> tuple[Item, ...]:
    """Return the failed checks of an event about to start."""
    return render_time.preflights[state.id].marked(Mark.NO_GO) if events.is_no_go(state, render_time) else ()


def _graph(
    state: EventState, render_time: RenderTime, inner: int, height: int, cache: DrawCache
) -> Sequence[ShadedLine]:
    """Draw the chart, with as many numbers as fit beside its lowest lines."""
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
    """Return the lines of numbers, most needed first: video, frame rate, audio, restreams."""
    outputs = events.outputs(state, render_time)
    return [
        _with_unit(events.video(state, render_time), "M"),
        [*events.fps(state, render_time), (" fps", StyleRole.DIM)],
        _with_unit(events.audio(state, render_time), "k"),
        [("out ", StyleRole.DIM), *outputs] if plain(outputs) != NOT_APPLICABLE else [],
    ]


def _with_unit(rate: Line, usual: str) -> Line:
    """Return a rate with its unit, `4.48 Mbit`. `usual`: unit of a missing rate."""
    ((text, role),) = rate
    unit = text[-1:] if text[-1:] in {"M", "k"} else ""
    return [(text.removesuffix(unit), role), (f" {unit or usual}bit", StyleRole.DIM)]
