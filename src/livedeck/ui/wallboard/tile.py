"""One event as a tile: its tally and its time, its name, its health, five minutes of video. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from livedeck import wording
from livedeck.monitor import EventState, Finding, Grade, IngestState, Severity
from livedeck.ui.renderables import cells
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line, between, clip, fit, plain, width
from livedeck.ui.renderables.moment import Moment
from livedeck.ui.wallboard import glyphs
from livedeck.ui.wallboard.glyphs import BLOCKS, PLAIN
from livedeck.ui.wallboard.recent import Recent

RATE_CELLS = 10
"""What stands beside the bars: a bit rate, a frame rate."""

WIDEST = {"name": "TEN LETTERS", "health": "✖ 100 GOOD", "lights": "○ SCHED  T-00:00:00"}
"""What of each part must fit at a scale, or a smaller one is taken for every tile; the most needed first."""

NAME_ROWS = 2

_BORDERS = {"light": "┌─┐│└┘", "heavy": "╔═╗║╚╝", "hatched": "▒▒▒▒▒▒"}

_SHORT = {"RECONNECT": "RECON", "SCHEDULED": "SCHED", "COMPLETED": "DONE", "UNKNOWN": "UNKN"}
"""Tallies in large letters, where each costs four cells and more."""


class Sizes(NamedTuple):
    """The scale of each part of a tile, and how many `rows` its name may take."""

    name: int = PLAIN
    health: int = PLAIN
    lights: int = PLAIN
    rows: int = 1

    @property
    def above(self) -> int:
        """Lines of tally and time; in plain letters they are in the border."""
        return BLOCKS[self.lights] if self.lights > PLAIN else 0

    @property
    def lines(self) -> int:
        """What they take together."""
        return self.above + BLOCKS[self.name] * self.rows + BLOCKS[self.health]


def sizes(names: Sequence[str], room: tuple[int, int], most: int) -> Sizes:
    """What all tiles of a page share: the largest letters, `most` at most, that leave two lines for the bars. The name
    comes first, and nothing is larger; then the health; tally and time are told by the colour of the bar already.
    """
    inner, high = room[0] - 4, room[1] - 2
    best = Sizes()
    for scale in range(PLAIN + 1, most + 1):
        rows = max((len(glyphs.wrapped(name, scale, inner, NAME_ROWS)) for name in names), default=0)
        for part, widest in WIDEST.items():
            tried = best._replace(**{part: scale})
            if part == "name":
                tried = tried._replace(rows=max(1, rows))
            if (glyphs.size(widest, scale) or 0) <= inner and tried.lines + 2 <= high:
                best = tried
            elif part == "name":
                return best
    return best


def tile(state: EventState, moment: Moment, room: tuple[int, int], recent: Recent, given: Sizes) -> list[Line]:
    """The event in so many cells and lines. From one second to the next only its times are drawn again."""
    wide, high = room[0], room[1] - 2
    make = partial(_steady, state, moment, (wide, high), recent, given)
    top, *steady = recent.once(("tile", state.id), state, (room, given, moment.stale), make)
    ink, signs = _border(state, moment)
    away, at = _away(state, moment), given.lines - given.above - 1
    if away and at < len(steady) - 1:
        steady[at] = _walled(_said(state, moment, wide - 4, given.health, away)[-1], wide, ink, signs)
    bar = list(_bar(state, moment, wide - 2, given.lights))
    if given.lights == PLAIN:
        return [[(signs[0], ink), *bar[0], (signs[2], ink)], *steady]
    return [top, *([(signs[3], ink), *line, (signs[3], ink)] for line in bar[:high]), *steady]


def _steady(state: EventState, moment: Moment, room: tuple[int, int], recent: Recent, given: Sizes) -> list[Line]:
    """What does not change with the time: the border above, and all lines below tally and time."""
    wide, high = room
    left = max(0, high - given.above)
    ink, signs = _border(state, moment)
    body = _body(state, moment, (max(0, wide - 4), left), recent, given)[:left]
    return [
        [(signs[0] + signs[1] * (wide - 2) + signs[2], ink)],
        *(_walled(line, wide, ink, signs) for line in [*body, *([[]] * (left - len(body)))]),
        [(signs[4] + signs[1] * (wide - 2) + signs[5], ink)],
    ]


def _walled(line: Line, wide: int, ink: Ink, signs: str) -> Line:
    return [(f"{signs[3]} ", ink), *fit(line, max(0, wide - 4), ellipsis=True), (f" {signs[3]}", ink)]


def _border(state: EventState, moment: Moment) -> tuple[Ink, str]:
    """Heavy where something is critical, hatched where nothing can be believed: a shape, not only a colour."""
    if cells.doubtful(state, moment):
        return Ink.STALE, _BORDERS["hatched"]
    if _worst(state, Severity.CRITICAL):
        return Ink.CRITICAL, _BORDERS["heavy"]
    return Ink.WARNING if _worst(state, Severity.WARNING) else Ink.RULE, _BORDERS["light"]


def _worst(state: EventState, severity: Severity) -> Finding | None:
    return next((one for one in state.verdict.findings if one.severity is severity), None)


def _bar(state: EventState, moment: Moment, wide: int, scale: int) -> Iterator[Line]:
    """The tally lamp, as wide as the tile, with the time in it."""
    (lamp, ink), clock = lamp_of(state, moment), cells.clock(state, moment)
    if scale == PLAIN:
        lamp = plain(cells.tally(state, moment)).strip()
    ends = zip(glyphs.block(lamp, ink, scale, wide), glyphs.block(clock, ink, scale, wide), strict=True)
    for left, right in ends:
        begins, ends_with = f" {plain(left)}", f"{plain(right)} "
        rest = wide - len(begins) - len(ends_with)
        yield fit([(begins, ink), (" " * max(0, rest), ink), (ends_with, ink)], wide)


def lamp_of(state: EventState, moment: Moment) -> tuple[str, Ink]:
    """The tally in few letters, and its ink: `◌ RECON`."""
    text, ink = cells.tally(state, moment)[0]
    glyph, _, said = text.strip().partition(" ")
    return f"{glyph} {_SHORT.get(said, said)}", ink


def score(state: EventState, moment: Moment) -> tuple[str, Ink]:
    """The health in few letters: `✖ 45 POOR`, `▒ --`."""
    text, ink = cells.health(state, moment)[0]
    words = text.split()
    return (" ".join(words[:3]) if words and words[-1] != "DATA" else "✖ NO DATA"), ink


def _body(state: EventState, moment: Moment, room: tuple[int, int], recent: Recent, given: Sizes) -> list[Line]:
    inner, high = room
    lines = [*_name(state, moment, inner, given), *_said(state, moment, inner, given.health, [])]
    kept = 3 if len(state.qos.readings) else 1
    lines += list(_details(state, moment, inner))[: max(0, high - len(lines) - kept)]
    return [*lines, *_graph(state, moment, inner, high - len(lines), recent)]


def _name(state: EventState, moment: Moment, inner: int, given: Sizes) -> list[Line]:
    """The name in the letters that all names have, or in the largest ones in which it fits in the same lines."""
    ink = Ink.DIM if cells.doubtful(state, moment) else cells.title_ink(state)
    name, room = cells.name(state), BLOCKS[given.name] * given.rows
    for scale in range(given.name, PLAIN, -1):
        rows = glyphs.wrapped(name, scale, inner, room // BLOCKS[scale])
        if rows:
            drawn = [line for row in rows for line in glyphs.block(row, ink, scale, inner)]
            return [*drawn, *([[]] * (room - len(drawn)))]
    return [clip([(name, ink)], inner), *([[]] * (room - 1))]


def _said(state: EventState, moment: Moment, inner: int, scale: int, away: Line) -> list[Line]:
    """Health and what lost; beside it `away`."""
    if scale > PLAIN and state.verdict.health.grade is not Grade.NONE:
        text, ink = score(state, moment)
        *above, last = glyphs.block(text, ink, scale, inner)
    else:
        none = state.verdict.health.grade is Grade.NONE
        last = [("ingest ", Ink.DIM), *cells.ingest(state, moment)] if none else cells.health(state, moment)
        above = [[]] * (BLOCKS[scale] - 1)
    away = away if width(last) + width(away) < inner else away[:1]
    return [*above, between(last, away, inner) if width(last) + width(away) < inner else clip(last, inner)]


def _away(state: EventState, moment: Moment) -> Line:
    """For how long the encoder is away and how much of its window is left."""
    known = state.phase.ingest
    if known.state is not IngestState.INTERRUPTED:
        return []
    left = -moment.server_since(known.window_ends) if known.window_ends else 0.0
    window = f"  {wording.short_duration(left)} left" if left > 0 else "  window over"
    return [(plain(cells.ingest(state, moment)), cells.ingest(state, moment)[0][1]), (window, Ink.TEXT)]


def _details(state: EventState, moment: Moment, inner: int) -> Iterator[Line]:
    """What is wrong, the loudest first; then what goes out."""
    doubtful = cells.doubtful(state, moment)
    for finding in sorted(state.verdict.findings, key=lambda one: list(Severity).index(one.severity)):
        glyph, _, ink = cells.SEVERITIES[finding.severity]
        said = f"{glyph} {finding.kind}  {wording.safe(finding.actual)}"
        yield clip([(said, Ink.STALE if doubtful else ink)], inner)
    if state.phase.tally.owes_bits:
        outputs = plain(cells.outputs(state, moment))
        out = "" if outputs == wording.NOT_APPLICABLE else f"   restreams {outputs}"
        yield clip([(f"audio {plain(cells.audio(state, moment))}{out}", Ink.DIM)], inner)


def _graph(state: EventState, moment: Moment, inner: int, high: int, recent: Recent) -> list[Line]:
    """The bars with the bit rate, the strip with the frame rate."""
    if high <= 0:
        return []
    if not len(state.qos.readings):
        return [[("no samples", Ink.DIM)] if state.phase.tally.owes_bits else []]
    bars = recent.lines(state, moment, max(1, inner - RATE_CELLS), high)
    rates = [cells.video(state, moment), cells.fps(state, moment)]
    units = [plain(rates[0]), f"{plain(rates[1])} fps"]
    beside: list[Line] = [[] for _ in bars]
    beside[-1] = [(units[1], rates[1][0][1])]
    if len(bars) > 1:
        beside[-2] = [(units[0], rates[0][0][1])]
    return [between(bar, fit(word, RATE_CELLS, right=True), inner) for bar, word in zip(bars, beside, strict=True)]
