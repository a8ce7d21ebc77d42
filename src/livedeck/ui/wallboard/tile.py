"""One event as a tile: its tally and its time, its name, its health, five minutes of video. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from livedeck import wording
from livedeck.monitor import EventState, Finding, Grade, IngestState, Severity, Tally
from livedeck.ui.renderables import cells
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line, between, clip, fit, plain, width
from livedeck.ui.renderables.moment import Moment
from livedeck.ui.wallboard import glyphs
from livedeck.ui.wallboard.glyphs import HEIGHTS, PLAIN
from livedeck.ui.wallboard.recent import Recent

RATE_CELLS = 10
"""What stands beside the bars: a bit rate, a frame rate."""

_BORDERS = {"light": "┌─┐│└┘", "heavy": "╔═╗║╚╝", "hatched": "▒▒▒▒▒▒"}


_SHORT = {"RECONNECT": "RECON", "SCHEDULED": "SCHED", "COMPLETED": "DONE", "UNKNOWN": "UNKN"}
"""Tallies in large letters, where each costs four cells and more."""


class Sizes(NamedTuple):
    """The scale of each part of a tile. `stacked`: the time stands below the tally, not beside it."""

    tally: int
    name: int
    health: int
    stacked: bool = False

    @property
    def lines(self) -> int:
        """What they take together; letters of pixels keep a free line below."""
        return height(self.tally) * (2 if self.stacked else 1) + height(self.name) + height(self.health)


def height(scale: int) -> int:
    """Lines of a word with the free line below it."""
    return HEIGHTS[scale] + (scale > PLAIN)


def tile(state: EventState, moment: Moment, room: tuple[int, int], recent: Recent, *, most: int) -> list[Line]:
    """The event in so many cells and lines, its letters of scale `most` at most. From one second to the next only tally
    and time are drawn again.
    """
    wide, high = room[0], room[1] - 2
    inner = max(0, wide - 4)
    clock = cells.clock(state, moment)
    make = partial(_steady, state, moment, (inner, high), recent, most)
    away = _away(state, moment)
    given = (room, most, cells.doubtful(state, moment), len(clock), away)
    sizes, steady = recent.once(("tile", state.id), state, given, make)
    ink, signs = _border(state, moment)
    lights = [] if sizes.tally == PLAIN else _walled(_lights(state, moment, inner, sizes), inner, ink, signs)
    empty: Line = [(signs[0] + signs[1] * (wide - 2) + signs[2], ink)]
    top = _top(state, moment, wide, signs, ink) if sizes.tally == PLAIN else empty
    return [top, *[*lights, *steady][:high], [(signs[4] + signs[1] * (wide - 2) + signs[5], ink)]]


def _steady(
    state: EventState, moment: Moment, room: tuple[int, int], recent: Recent, most: int
) -> tuple[Sizes, list[Line]]:
    """What does not change with the time: the sizes, and all lines below the lights."""
    sizes = _sizes(state, moment, room, most)
    above = 0 if sizes.tally == PLAIN else height(sizes.tally) * (2 if sizes.stacked else 1)
    left = max(0, room[1] - above)
    body = _body(state, moment, (room[0], left), recent, sizes)[:left]
    return sizes, _walled([*body, *([[]] * (left - len(body)))], room[0], *_border(state, moment))


def _walled(lines: list[Line], inner: int, ink: Ink, signs: str) -> list[Line]:
    return [[(f"{signs[3]} ", ink), *fit(line, inner, ellipsis=True), (f" {signs[3]}", ink)] for line in lines]


def _border(state: EventState, moment: Moment) -> tuple[Ink, str]:
    """Heavy where something is critical, hatched where nothing can be believed: a shape, not only a colour."""
    if cells.doubtful(state, moment):
        return Ink.STALE, _BORDERS["hatched"]
    if _worst(state, Severity.CRITICAL):
        return Ink.CRITICAL, _BORDERS["heavy"]
    return Ink.WARNING if _worst(state, Severity.WARNING) else Ink.RULE, _BORDERS["light"]


def _worst(state: EventState, severity: Severity) -> Finding | None:
    return next((one for one in state.verdict.findings if one.severity is severity), None)


def _top(state: EventState, moment: Moment, wide: int, signs: str, ink: Ink) -> Line:
    """The border with lamp and clock in it: where letters are small there is no line to spare."""
    (lamp, lit), clock = cells.tally(state, moment)[0], cells.clock(state, moment)
    said: Line = [(signs[0] + signs[1], ink), (f" {lamp.strip()} ", lit), (signs[1], ink)]
    rest = max(0, wide - width(said) - len(clock) - 4)
    shown: Line = [(signs[1] * rest, ink), (f" {clock} ", _time_ink(state, moment)), (signs[1] + signs[2], ink)]
    return fit([*said, *shown], wide)


def _time_ink(state: EventState, moment: Moment) -> Ink:
    if cells.doubtful(state, moment):
        return Ink.STALE
    return Ink.STRONG if state.phase.tally.owes_bits or state.phase.tally is Tally.LATE else Ink.DIM


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


def _sizes(state: EventState, moment: Moment, room: tuple[int, int], most: int) -> Sizes:
    """The largest letters that leave room for the bars; tally and time are the last to shrink."""
    inner, high = room
    lamp, clock = lamp_of(state, moment)[0], cells.clock(state, moment)
    beside = glyphs.fitting(f"{lamp}  {clock}", inner - 2, most)
    above = min(glyphs.fitting(lamp, inner - 2, most), glyphs.fitting(clock, inner, most))
    name, health = cells.name(state), score(state, moment)[0]
    judged = most if state.verdict.health.grade is not Grade.NONE else PLAIN
    return max(
        (
            _shrunk(
                Sizes(
                    tally,
                    glyphs.fitting(name, inner, tally),
                    glyphs.fitting(health, inner, min(tally, judged)),
                    stacked,
                ),
                high,
            )
            for tally, stacked in ((beside, False), (above, above > beside))
        ),
        key=lambda sizes: (sizes.tally, sizes.name, sizes.health),
    )


def _shrunk(sizes: Sizes, high: int) -> Sizes:
    """Smaller letters, one step after the other, until two lines are left for the bars."""
    while sizes.lines + 2 > high and sizes[:3] != (PLAIN, PLAIN, PLAIN):
        tally, name, health, stacked = sizes
        if health > PLAIN and health >= name:
            sizes = Sizes(tally, name, health - 1, stacked)
        elif name > PLAIN and name >= tally:
            sizes = Sizes(tally, name - 1, health, stacked)
        else:
            sizes = Sizes(tally - 1, min(name, tally - 1), min(health, tally - 1), stacked and tally - 1 > PLAIN)
    return sizes


def _body(state: EventState, moment: Moment, room: tuple[int, int], recent: Recent, sizes: Sizes) -> list[Line]:
    inner, high = room
    lines = _spaced(cells.name(state), _name_ink(state, moment), sizes.name, inner)
    lines += _said(state, moment, inner, sizes.health)
    lines += list(_details(state, moment, inner))[: max(0, high - len(lines) - 3)]
    return [*lines, *_graph(state, moment, inner, high - len(lines), recent)]


def _name_ink(state: EventState, moment: Moment) -> Ink:
    return Ink.DIM if cells.doubtful(state, moment) else cells.title_ink(state)


def _spaced(text: str, ink: Ink, scale: int, inner: int) -> list[Line]:
    return [*glyphs.word(text, ink, scale, inner), *([[]] if scale > PLAIN else [])]


def _lights(state: EventState, moment: Moment, inner: int, sizes: Sizes) -> list[Line]:
    """The lamp, and the time beside or below it."""
    text, ink = lamp_of(state, moment)
    clock = glyphs.word(cells.clock(state, moment), _time_ink(state, moment), sizes.tally, inner)
    lamp: list[Line] = [[(" ", ink), *one, (" ", ink)] for one in glyphs.word(text, ink, sizes.tally, inner - 2)]
    if sizes.stacked:
        return [*lamp, [], *clock, []]
    return [*(between(left, right, inner) for left, right in zip(lamp, clock, strict=True)), []]


def _said(state: EventState, moment: Moment, inner: int, scale: int) -> list[Line]:
    """Health and what lost; for how long the encoder is away and how much of its window is left."""
    beside = _away(state, moment)
    if scale > PLAIN:
        text, ink = score(state, moment)
        return _spaced(text, ink, scale, inner) + ([beside] if beside else [])
    health = cells.health(state, moment)
    if state.verdict.health.grade is Grade.NONE:
        health = [("ingest ", Ink.DIM), *cells.ingest(state, moment)]
    beside = beside if width(health) + width(beside) < inner else beside[:1]
    return [between(health, beside, inner) if beside else clip(health, inner)]


def _away(state: EventState, moment: Moment) -> Line:
    known = state.phase.ingest
    if known.state is not IngestState.INTERRUPTED:
        return []
    left = -moment.server_since(known.window_ends) if known.window_ends else 0.0
    window = f"  {wording.short_duration(left)} left" if left > 0 else "  window over"
    return [(plain(cells.ingest(state, moment)), cells.ingest(state, moment)[0][1]), (window, Ink.TEXT)]


def _details(state: EventState, moment: Moment, inner: int) -> Iterator[Line]:
    """What is wrong, the loudest first; then what goes out and how old the word on all this is."""
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
