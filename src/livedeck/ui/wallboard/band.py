"""One event as a row, of as many lines as the wall has for it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from livedeck import wording
from livedeck.monitor import EventState, Severity
from livedeck.ui.renderables import cells, columns
from livedeck.ui.renderables.columns import Column
from livedeck.ui.renderables.event_rows import EVENTS, SPARK_CELLS
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line, between, clip, fit
from livedeck.ui.renderables.moment import Moment
from livedeck.ui.wallboard import glyphs
from livedeck.ui.wallboard.glyphs import BLOCKS, HEIGHTS, PLAIN
from livedeck.ui.wallboard.recent import Recent
from livedeck.ui.wallboard.tile import lamp_of, score

TALLY, TIME = "● ON AIR", "T-00:00:00"
"""The longest tally and time that is usual: rows stand in line."""

HEALTHS = ("✖ 100 GOOD", "✖ 100")
"""Forms of the health, the longer first; without room for either it stands with the details."""

NAME_LETTERS = 10
"""Letters of a name that must fit, or smaller ones are taken."""

GAP = 3
"""Cells between two parts of a large row."""

LEFT_OUT = {"recent", "latency", "updated"}


def head(wide: int) -> Line:
    """The names of the columns of rows in plain letters."""
    return fit(columns.head(columns.layout(_columns(Recent()), wide)), wide)


class Form(NamedTuple):
    """What all rows of a page share. `tally`: the longest lamp; its glyph alone where names need the room."""

    scale: int = PLAIN
    tally: str = TALLY


def form(states: Sequence[EventState], wide: int, high: int, most: int) -> Form:
    """The largest letters that fit, where they draw any name at all; lamps in words if they leave every name whole."""
    names = [cells.name(state) for state in states]
    largest = most if any(glyphs.size(name, most) for name in names) else PLAIN
    scale = next((one for one in range(largest, PLAIN, -1) if _fits(one, wide, high)), PLAIN)
    room = wide - _part(TALLY, scale) - _part(TIME, scale) - _health_cells(scale, wide) - GAP
    whole = all((glyphs.size(name, scale) or glyphs.size(name, PLAIN) or 0) <= room for name in names)
    return Form(scale, TALLY if whole else TALLY[0])


def _fits(scale: int, wide: int, high: int) -> bool:
    return BLOCKS[scale] <= high and _part(TALLY, scale) + _part(TIME, scale) + NAME_LETTERS * 4 * (scale - 1) <= wide


def _part(text: str, scale: int) -> int:
    """Cells of a part with the gap behind it, and the margin of a lamp."""
    return (glyphs.size(text, scale) or 0) + GAP + 2


def _health_cells(scale: int, wide: int) -> int:
    """The widest form of the health that leaves the name its letters."""
    taken = _part(TALLY, scale) + _part(TIME, scale) + NAME_LETTERS * 4 * (scale - 1)
    return next((_part(form, scale) for form in HEALTHS if taken + _part(form, scale) <= wide), 0)


def band(state: EventState, moment: Moment, room: tuple[int, int], recent: Recent, given: Form) -> list[Line]:
    """The event in so many cells and lines."""
    (wide, high), scale = room, given.scale
    lines = [_plain(state, moment, wide, recent)] if scale == PLAIN else _large(state, moment, wide, given)
    make = partial(_details, state, moment, wide, recent, given)
    lines += recent.once(("details", state.id), state, (wide, given, moment.stale), make)[: max(0, high - len(lines))]
    return [*lines, *([[]] * (high - len(lines)))]


def _columns(recent: Recent) -> list[Column[EventState]]:
    """The columns of the deck's table, its bars drawn once for each answer."""
    kept = [column for column in EVENTS.columns if column.name not in LEFT_OUT]
    return [*kept, replace(EVENTS.columns[8], cells=2 * SPARK_CELLS + 1, say=partial(_recent, recent))]


def _recent(recent: Recent, state: EventState, moment: Moment) -> Line:
    bars, strip = recent.lines(state, moment, SPARK_CELLS, 2)
    return [*fit(bars, SPARK_CELLS), (" ", Ink.TEXT), *strip]


def _plain(state: EventState, moment: Moment, wide: int, recent: Recent) -> Line:
    return fit(columns.row(state, moment, columns.layout(_columns(recent), wide)), wide)


def _large(state: EventState, moment: Moment, wide: int, given: Form) -> list[Line]:
    """Tally, name, time and health in letters of pixels."""
    scale = given.scale
    lamp, clock, health = _part(given.tally, scale), _part(TIME, scale), _health_cells(scale, wide)
    name = wide - lamp - clock - health
    text, ink = lamp_of(state, moment)
    text = text[: len(given.tally)] if given.tally != TALLY else text
    parts = [
        [fit([(" ", ink), *one, (" ", ink)], lamp) for one in glyphs.word(text, ink, scale, lamp - GAP - 2)],
        [fit(one, name) for one in _name(state, moment, name - GAP, scale)],
        [fit(one, clock - GAP, right=True) for one in _clock(state, moment, scale, clock - GAP)],
        [fit([(" " * GAP, Ink.TEXT), *one], health + GAP) for one in _health(state, moment, scale, health)],
    ]
    return [[span for part in row for span in part] for row in zip(*parts, strict=True)]


def _health(state: EventState, moment: Moment, scale: int, wide: int) -> list[Line]:
    text, ink = score(state, moment)
    if (glyphs.size(text, scale) or 0) > wide:
        text = " ".join(cells.health(state, moment)[0][0].split()[:2])
    fits = wide and (glyphs.size(text, scale) or 0) <= wide
    return glyphs.word(text, ink, scale, wide) if fits else [[] for _ in range(HEIGHTS[scale])]


def _name(state: EventState, moment: Moment, wide: int, scale: int) -> list[Line]:
    """A name that the letters of pixels cannot draw has a plain line in the middle of its room."""
    ink = Ink.DIM if cells.doubtful(state, moment) else cells.title_ink(state)
    drawn = glyphs.word(cells.name(state), ink, scale, wide)
    free = HEIGHTS[scale] - len(drawn)
    return [*([[]] * (free // 2)), *drawn, *([[]] * (free - free // 2))]


def _clock(state: EventState, moment: Moment, scale: int, wide: int) -> list[Line]:
    ink = Ink.STALE if cells.doubtful(state, moment) else Ink.STRONG
    return glyphs.word(cells.clock(state, moment), ink, scale, wide)


def _details(state: EventState, moment: Moment, wide: int, recent: Recent, given: Form) -> list[Line]:
    """What is wrong at the left; what a large row has no room for at the right."""
    doubtful = cells.doubtful(state, moment)
    found = [one for one in state.verdict.findings if one.severity is not Severity.INFO]
    said: Line = [(" ", Ink.TEXT)]
    if given.tally != TALLY:
        said.append((f"{state.phase.tally.value}  ", Ink.DIM))
    if given.scale > PLAIN:
        said += [*cells.health(state, moment), ("  ", Ink.TEXT)]
    for finding in found:
        glyph, _, ink = cells.SEVERITIES[finding.severity]
        said.append((f"{glyph} {finding.kind} {wording.safe(finding.actual)}  ", Ink.STALE if doubtful else ink))
    owed = state.phase.tally.owes_bits
    beside = _measures(state, moment, recent) if given.scale > PLAIN and owed else []
    left = clip(said, max(0, wide - 60) if beside else wide)
    return [between(left, beside, wide)] if found or beside else []


def _measures(state: EventState, moment: Moment, recent: Recent) -> Line:
    rates = (
        fit(cells.video(state, moment), 7, right=True),
        fit([*cells.fps(state, moment), (" fps", Ink.DIM)], 9, right=True),
        fit([("  out ", Ink.DIM), *cells.outputs(state, moment)], 10),
    )
    return [*_recent(recent, state, moment), *(span for rate in rates for span in rate)]
