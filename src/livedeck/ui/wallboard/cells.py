"""Cell of the wall's grid for one event. Pure, except for the drawing cache."""

from __future__ import annotations

from functools import partial

from livedeck.monitor import BroadcastState, EventState, Grade, IngestState
from livedeck.presentation import events
from livedeck.presentation.badges import SILENCE_GLYPH, TALLY_BADGES
from livedeck.presentation.events import STANDING_WORDS, Standing, standing
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import Line, ShadedLine, StyleRole, clip, fit, fit_height, join, plain, width
from livedeck.text.values import NO_DATA
from livedeck.ui.wallboard.cache import DrawCache
from livedeck.ui.wallboard.glyphs import PLAIN, wrap_text
from livedeck.ui.wallboard.recent import on_board, recent_bars, recent_chart
from livedeck.ui.wallboard.tiles import BOARDS, WRONG, is_fault_elsewhere, silenced_badge, wrong_words

_FILLS = {Standing.BAD: StyleRole.CRITICAL, Standing.WATCH: StyleRole.WARNING_CHIP}
"""Standing of an event -> fill behind its name and problem. A healthy event has no fill."""

MIN_LINES_FOR_TWO_ROWS = 6
"""Minimum lines of a cell that breaks a long name into two rows."""

_BLANK = (" ", StyleRole.TEXT)


def cell_lines(
    state: EventState | None, render_time: RenderTime, size: tuple[int, int], cache: DrawCache
) -> list[ShadedLine]:
    """Draw an event into a cell of this size; None draws a free place.

    The last column stays blank. In a cell of more than two lines, the last line stays blank, too. The cell shows no
    running time, so it is drawn again only after a change of the event.
    """
    cells, height = size
    if state is None:
        return [fit([], cells)] * height
    draw = partial(_draw, state, render_time, (cells - 1, height - (height > 2)), cache)
    seen = (size, render_time.stale, render_time.no_go(state.id), silenced_badge(state, render_time))
    lines = cache.get("cell", state.id, state, seen, draw)
    return fit_height(lines, height, fit([], cells))


def _draw(state: EventState, render_time: RenderTime, size: tuple[int, int], cache: DrawCache) -> list[ShadedLine]:
    cells, height = size
    stands = standing(state, render_time)
    fill, board = _FILLS.get(stands), BOARDS[stands]
    head: list[Line] = [fit(line, cells) for line in _head(state, render_time, size)]
    if fill:
        head = [[(plain(line), fill)] for line in head]
    inner, left = max(1, cells - 2), height - len(head)
    chart = _chart(state, render_time, (inner, left), cache)
    below: list[ShadedLine] = [fit([_BLANK, *line], cells) for line in chart]
    blank: list[ShadedLine] = [fit([], cells)] * (left - len(below))
    lines: list[ShadedLine] = [*head, *blank, *below]
    return [[*on_board(line, board), _BLANK] for line in lines[:height]]


def _head(state: EventState, render_time: RenderTime, size: tuple[int, int]) -> list[Line]:
    """Return lines with name and standing of an event. In a cell of one line, both are in this line."""
    cells, height = size
    role = StyleRole.DIM if events.is_doubtful(state, render_time) else _name_role(state)
    sign: Line = [("≠ ", StyleRole.WARNING)] if events.odd_sign(state) else []
    sign += [(f"{SILENCE_GLYPH} ", StyleRole.WARNING)] if render_time.silenced_until(state) else []
    stand = _stand(state, render_time, min_cells=3 if height < 2 else 0)
    if height < 2:
        free = max(1, cells - 1 - width(stand) - width(sign))
        return [[*stand, *sign, *clip([(events.name(state), role)], free)]]
    free = max(1, cells - 2 - width(sign))
    rows = wrap_text(events.name(state), PLAIN, free, 2 if height >= MIN_LINES_FOR_TWO_ROWS else 1)
    beside = _beside(state, render_time, cells - width(stand) - 1)
    return [
        *([_BLANK, *(sign if not number else []), (row, role)] for number, row in enumerate(rows)),
        join(stand, [*beside, _BLANK], cells),
    ]


def _name_role(state: EventState) -> StyleRole:
    role = events.name_role(state)
    return StyleRole.TEXT if role is StyleRole.STRONG else role


def _stand(state: EventState, render_time: RenderTime, *, min_cells: int) -> Line:
    """Return sign and health: ` ✓ 100 `. A scheduled event has its start, an event without health its tally.

    The health is omitted if it is good although the event has a fault.
    """
    stands, grade = standing(state, render_time), state.assessment.health.grade
    score = state.assessment.health.score
    if stands is Standing.STALE:
        return [(f" ▒ {NO_DATA:>{min_cells}} ", StyleRole.STALE)]
    glyph, _, role = STANDING_WORDS.get(stands, TALLY_BADGES[state.phase.tally])
    if stands is Standing.QUIET:
        at = state.phase.reference_time
        is_due = state.phase.tally is BroadcastState.SCHEDULED and at is not None
        word = f"{at:%H:%M}" if is_due and at else TALLY_BADGES[state.phase.tally].word.lower()
        return [(f" {glyph} {word} ", StyleRole.DIM)]
    number = (
        "" if is_fault_elsewhere(state, render_time) else NO_DATA if score is None or grade is Grade.STALE else score
    )
    return [(f" {glyph} {number:>{min_cells}} ", role)]


def _beside(state: EventState, render_time: RenderTime, cells: int) -> Line:
    """Return the problem or NO-GO; for a healthy event its bit rate and, in a wide cell, its frame rate."""
    if standing(state, render_time) in WRONG:
        is_lost = events.known_ingest(state, render_time).state is IngestState.INTERRUPTED
        return clip([("lost" if is_lost else wrong_words(state), StyleRole.TEXT)], cells) if cells > 0 else []
    if events.is_no_go(state, render_time) and not render_time.stale:
        return clip([("✖ NO-GO", StyleRole.STRONG)], cells) if cells > 0 else []
    if not state.phase.tally.expects_signal:
        return []
    rate: Line = [(plain(events.video(state, render_time)), StyleRole.DIM)]
    frames: Line = [(f"{plain(events.fps(state, render_time))} fps  ", StyleRole.DIM)]
    return [*frames, *rate] if width(frames) + width(rate) < cells else rate if width(rate) <= cells else []


def _chart(state: EventState, render_time: RenderTime, size: tuple[int, int], cache: DrawCache) -> list[ShadedLine]:
    cells, lines = size
    if lines <= 0 or not len(state.qos.readings):
        return []
    if lines == 1:
        return [recent_bars(state, render_time, cells, cache)]
    return [*recent_chart(state, render_time, size, cache)]
