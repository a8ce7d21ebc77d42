"""Area of problems above the grid, the same on every page: worst problems first, or a line that nothing is wrong.

Pure, except for the drawing cache.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import islice

from livedeck.monitor import Alarm, AlarmState, EventState, Grade, diagnose
from livedeck.presentation import events
from livedeck.presentation.alarms import answered_by
from livedeck.presentation.connection import MEASURING
from livedeck.presentation.events import STANDING_WORDS, Standing, standing
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import (
    Line,
    ShadedLine,
    StyleRole,
    clip,
    fit,
    fit_height,
    join,
    plain,
    shorten,
    width,
    wrap,
    wrap_groups,
)
from livedeck.text.values import NO_DATA, compact_duration, evidence_text, safe
from livedeck.ui.wallboard import header
from livedeck.ui.wallboard.cache import DrawCache, shares
from livedeck.ui.wallboard.glyphs import HEIGHTS, LARGE, MAX_SCALE, PLAIN, text_cells, text_lines, wrap_text
from livedeck.ui.wallboard.model import WallModel
from livedeck.ui.wallboard.recent import on_board, recent_chart
from livedeck.ui.wallboard.tiles import (
    BOARDS,
    EDGES,
    HEALTH_ROLES,
    WRONG,
    interruption,
    is_fault_elsewhere,
    worst_finding,
    wrong_words,
)

SHARE = 0.41
"""Share of the lines below the header for the area of problems. The share is constant, so that cells never move."""

MIN_LARGE_CELLS, MIN_WIDE_CELLS = 110, 150
"""Minimum cells of an area with large letters and charts, and of an area with charts as wide as the words."""

MIN_LINES_FOR_ALL = 6
"""Minimum lines of a fault with its full text. With fewer lines, all its numbers share one line."""

MAX_ROW_LINES = 13
"""Maximum number of lines of a fault. A fault has no text for more lines."""

_MAX_ALARMS = 3
"""Maximum number of alarms without an event; also the maximum number of cleared alarms."""

_HEALTH_CELLS, _MARGIN_CELLS = 12, 6
"""Width in cells of the large health; width of the edge with the gaps beside it."""


class FaultArea:
    """Area of the wall that shows problems. `size`: width in cells, height in lines. `scale`: maximum letter scale."""

    def __init__(self, model: WallModel, size: tuple[int, int], scale: int, cache: DrawCache) -> None:
        self._model, self._scale, self._cache, self._at = model, scale, cache, model.render_time
        self._cells, self._height = size
        self._alarms = {(alarm.event_id, alarm.kind): alarm for alarm in reversed(model.alarms)}

    def lines(self) -> list[ShadedLine]:
        """Draw reasons for doubt about the wall, alarms without an event, faulty events and recently cleared alarms."""
        model, cells, height = self._model, self._cells, self._height
        lines: list[ShadedLine] = [*islice(header.doubts(model, cells, self._scale), max(1, height - 1))]
        own = [alarm for alarm in model.alarms if not alarm.event_id]
        lines += header.alarm_lines(own, _MAX_ALARMS, self._at, cells)
        wrong = [state for state in model.states if standing(state, self._at) in WRONG]
        of_events = [alarm for alarm in model.alarms if alarm.event_id]
        cleared, most = [alarm for alarm in of_events if alarm.state is AlarmState.RETURNED], _MAX_ALARMS
        free = max(0, height - len(lines))
        if wrong:
            lines += self._wrong(wrong, free)
        elif header.is_doubtful(model) or any(events.is_doubtful(state, self._at) for state in model.states):
            cleared, most = of_events, height  # stale data: show the alarms of the last fresh data
        elif not own:
            lines += self._calm(free - min(len(cleared), most))
        lines += header.alarm_lines(cleared, min(most, max(0, height - len(lines))), self._at, cells)
        return [fit(line, cells, ellipsis=True) for line in fit_height(lines, height)]

    def _wrong(self, states: Sequence[EventState], height: int) -> list[ShadedLine]:
        """Draw faulty events: first as many in large letters as fit, then a line each, then the number of the rest."""
        if height <= 0:
            return []
        shown = states if len(states) <= height else states[: height - 1]
        is_large = self._scale > PLAIN and self._cells >= MIN_LARGE_CELLS
        large = min(len(shown), (height - len(shown)) // (HEIGHTS[LARGE] - 1)) if is_large else 0
        heights = shares(min(height - len(shown) + large, large * MAX_ROW_LINES), large)
        rows = zip(shown[:large], heights, strict=True)
        lines: list[ShadedLine] = [line for state, row_lines in rows for line in self._large_row(state, row_lines)]
        lines += [self._row(state) for state in shown[large:]]
        left = states[len(shown) :]
        return [*lines, *([_rest_line(left, self._at, self._cells)] if left else [])]

    def _large_row(self, state: EventState, height: int) -> list[ShadedLine]:
        """Draw a faulty event: name and health in large letters, the problem in words, and the last five minutes."""
        cells, stands = self._cells, standing(state, self._at)
        words_cells, chart_cells = cells // 4, cells // (4 if cells >= MIN_WIDE_CELLS else 6)
        name_cells = cells - words_cells - chart_cells - _HEALTH_CELLS - _MARGIN_CELLS
        edge, role, _ = EDGES[stands]
        draw = partial(_name_and_health, state, self._at, (name_cells, height), self._scale)
        args = (name_cells, height, self._scale, self._at.stale)
        name = self._cache.get("wrong", state.id, state, args, draw)
        words = fit_height(_words(state, self._alarm_of(state), self._at, (words_cells, height)), height)
        has_chart = len(state.qos.readings) > 0
        chart = recent_chart(state, self._at, (chart_cells, height), self._cache) if has_chart else []
        rows = zip(name, words, fit_height(chart, height), strict=True)
        return [
            on_board(
                fit([(f"{edge} ", role), *named, _GAP, *fit(text, words_cells), _GAP, *curve], cells), BOARDS[stands]
            )
            for named, text, curve in rows
        ]

    def _row(self, state: EventState) -> ShadedLine:
        """Draw a faulty event as one line: severity, duration, name, problem and health."""
        alarm, stands, finding = self._alarm_of(state), standing(state, self._at), worst_finding(state)
        chip, (kind, _) = _kind(state, self._at)
        _, since = _since(state, alarm, self._at)
        name: Line = [*events.odd_sign(state), (events.name(state), StyleRole.STRONG)]
        actual = plain(interruption(state, self._at)) or (evidence_text(finding) if finding else "")
        by = f"  handled by {person}" if alarm and (person := answered_by(alarm)) else ""
        right: Line = [(by, StyleRole.INFO), (f" {_health(state, self._at)} ", StyleRole.STRONG)]
        line: Line = [
            chip,
            (f" {since:>6}  ", StyleRole.TEXT),
            *fit(name, max(16, min(40, self._cells // 4)), ellipsis=True),
            (f" {kind}  ", StyleRole.STRONG if stands is Standing.BAD else StyleRole.WARNING),
        ]
        free = self._cells - width(line) - width(right)
        line.append((shorten(actual, free) if free > 0 else "", StyleRole.TEXT))
        return on_board(join(line, right, self._cells), BOARDS[stands])

    def _alarm_of(self, state: EventState) -> Alarm | None:
        """Return the alarm of the event's worst finding, or None."""
        finding = worst_finding(state)
        return self._alarms.get((state.id, finding.kind)) if finding else None

    def _calm(self, height: int) -> list[ShadedLine]:
        """Draw the line for a wall without problems, and the next events, centred."""
        scale = min(self._scale, LARGE) if self._cells >= MIN_LARGE_CELLS // 2 else PLAIN
        cells = self._cells - 2 * len(_INDENT)
        glyph, _, role = STANDING_WORDS[Standing.GOOD]
        is_judged = all(state.is_measured for state in self._model.states)
        words, role = (f"{glyph} nothing is wrong", role) if is_judged else (MEASURING, StyleRole.DIM)
        lines: list[ShadedLine] = [*text_lines(words, role, scale, cells)]
        for state in self._model.upcoming[: max(0, (height - len(lines)) // (HEIGHTS[scale] + 1))]:
            text = f"next {events.clock(state, self._at)}  {events.name(state)}"
            lines += [[], *text_lines(text, StyleRole.DIM, scale, cells)]
        above: list[ShadedLine] = [[]] * max(0, (height - len(lines)) // 2)
        return [*above, *([(_INDENT, StyleRole.TEXT), *line] for line in lines)]


_GAP = ("  ", StyleRole.TEXT)

_INDENT = "   "


def _name_and_health(state: EventState, render_time: RenderTime, size: tuple[int, int], scale: int) -> list[ShadedLine]:
    """Draw the name and, at the right, the health in large letters; in plain letters if the face lacks a letter."""
    cells, height = size
    name, sign = events.name(state), events.odd_sign(state)
    free = cells - width(sign)
    own = MAX_SCALE if _fits(name, MAX_SCALE, free, scale) and height >= HEIGHTS[MAX_SCALE] else LARGE
    rows = wrap_text(name, own, free, max(1, height // HEIGHTS[own]))
    lines = [line for row in rows for line in text_lines(row, StyleRole.STRONG, own, free)]
    lines = lines or [[], *([(row, StyleRole.STRONG)] for row in wrap_text(name, PLAIN, free, 2))]
    lines[0] = [*fit(lines[0], free), *sign]
    role = HEALTH_ROLES[standing(state, render_time)]
    number = _health(state, render_time)
    health = text_lines(number, role, LARGE, _HEALTH_CELLS) if number else []
    rows_of_both = zip(fit_height(lines, height), fit_height(health, height), strict=True)
    return [[*fit(line, cells), *fit(number, _HEALTH_CELLS, right=True)] for line, number in rows_of_both]


def _fits(name: str, scale: int, cells: int, limit: int) -> bool:
    return scale <= limit and 0 < (text_cells(name, scale) or 0) <= cells


def _health(state: EventState, render_time: RenderTime) -> str:
    """Return the health score; `--` if it is expected but unknown, empty if the event has none to show."""
    health = state.assessment.health
    if health.grade is Grade.NONE or is_fault_elsewhere(state, render_time):
        return ""
    return str(health.score) if health.score is not None else NO_DATA


def _words(state: EventState, alarm: Alarm | None, render_time: RenderTime, size: tuple[int, int]) -> list[ShadedLine]:
    """Draw a problem in words: severity, kind, start, numbers, handler, other findings, note, and advice."""
    cells, height = size
    finding = worst_finding(state)
    actual = plain(interruption(state, render_time)) or (evidence_text(finding) if finding else "")
    at, seconds = _since(state, alarm, render_time)
    lines: list[ShadedLine] = [clip(_kind(state, render_time), cells)]
    if at:
        lines.append([("since ", StyleRole.DIM), (f"{at}  ", StyleRole.TEXT), (seconds, StyleRole.STRONG)])
    lines += wrap(actual if height >= MIN_LINES_FOR_ALL else shorten(actual, cells), StyleRole.TEXT, cells)
    if alarm and (person := answered_by(alarm)):
        lines.append(clip([(f"handled by {person}", StyleRole.INFO)], cells))
    others = [other.kind for other in state.assessment.findings if finding and other.kind != finding.kind]
    if others:
        lines.append(clip([("also ", StyleRole.DIM), (", ".join(others), StyleRole.TEXT)], cells))
    if alarm and alarm.note:
        lines += wrap(f'"{safe(alarm.note)}"', StyleRole.TEXT, cells)
    advice = diagnose(finding.kind, state).advice if finding else ""
    to_do = [*wrap(f"do: {advice}" if advice else "", StyleRole.DIM, cells)]
    return [*lines, *to_do] if len(lines) + len(to_do) <= height else lines


def _kind(state: EventState, render_time: RenderTime) -> Line:
    stands = standing(state, render_time)
    chip = (" ✖ CRIT ", StyleRole.CRITICAL) if stands is Standing.BAD else (" ▲ WARN ", StyleRole.WARNING_CHIP)
    return [chip, (f" {wrong_words(state).upper()}", StyleRole.STRONG)]


def _since(state: EventState, alarm: Alarm | None, render_time: RenderTime) -> tuple[str, str]:
    """Return the start of the problem and its duration, both empty if unknown."""
    finding = worst_finding(state)
    if alarm:
        return f"{alarm.since:%H:%M:%S}Z", compact_duration(render_time.seconds_since(alarm.since))
    if finding and finding.since:
        return f"{finding.since:%H:%M:%S}Z", compact_duration(render_time.server_seconds_since(finding.since))
    return "", ""


def _rest_line(states: Sequence[EventState], render_time: RenderTime, cells: int) -> Line:
    """Return the number of further faulty events, and as many of their names as fit."""
    stands = Counter(standing(state, render_time) for state in states)
    line: Line = [(" and ", StyleRole.DIM)]
    for kind in (Standing.BAD, Standing.WATCH):
        if stands[kind]:
            glyph, word, role = STANDING_WORDS[kind]
            line += [(f" {glyph} {stands[kind]} {word} ", role), (" ", StyleRole.TEXT)]
    names = [(rank, [(events.name(state), StyleRole.TEXT)]) for rank, state in enumerate(states[:20], 1)]
    return wrap_groups([(0, line), *names], cells)
