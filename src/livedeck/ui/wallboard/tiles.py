"""One event as a tile or as a row of the wall. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import ceil
from operator import is_
from typing import Any, NamedTuple, TypeVar

from livedeck.monitor import EventState, Finding, Grade, IngestState, Severity
from livedeck.presentation import events, table
from livedeck.presentation.badges import SEVERITY_BADGES
from livedeck.presentation.events import EVENTS, RECENT_SECONDS, SPARK_CELLS
from livedeck.presentation.qos import BARS, HEADROOM, Bucket, bucket_columns, bucket_statuses, recent_axis, status_strip
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import Column
from livedeck.text import values
from livedeck.text.segments import Line, StyleRole, clip, fit, join, plain, width
from livedeck.ui.wallboard import glyphs
from livedeck.ui.wallboard.glyphs import BLOCKS, HEIGHTS, PLAIN

T = TypeVar("T")


COLUMNS = 60

"""Steps of the five minutes at most: with a sample every 2 s narrower ones would have gaps that nobody made."""


class Recent:
    """Keeps what was drawn of each event while nothing new came; draws its video as bars over its status strip."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], tuple[object, object, Any]] = {}
        self._rows: dict[int, tuple[int, tuple[Line, ...], Line]] = {}

    def once(self, name: tuple[str, str], subject: object, given: object, make: Callable[[], T]) -> T:
        """What `make` made of that very subject (the same object: to compare its numbers would cost what is to be
        saved) and the rest that was given. `name`: of what, and the event's id.
        """
        kept = self._kept.get(name)
        if kept is None or kept[0] is not subject or kept[1] != given:
            kept = self._kept[name] = subject, given, make()
        made: T = kept[2]
        return made

    def lines(self, state: EventState, moment: RenderTime, width: int, height: int) -> list[Line]:
        """`height` lines, the last one the strip; narrower than `width` where the steps do not fill it."""
        doubtful, qos = events.is_doubtful(state, moment), state.qos
        given = (qos.as_of, width, height, doubtful)
        make = partial(_drawn, state, moment, (width, height), doubtful=doubtful)
        return self.once(("bars", state.id), qos.readings, given, make)

    def beside(self, row: int, parts: tuple[Line, ...], cells: int) -> Line:
        """These lines beside each other, filled to so many cells; the very line of last time, if they are the very same
        as in that row then.
        """
        kept = self._rows.get(row)
        if kept is None or kept[0] != cells or len(kept[1]) != len(parts) or not all(map(is_, kept[1], parts)):
            line = fit([span for part in parts for span in part], cells)
            kept = self._rows[row] = cells, parts, line
        return kept[2]

    def forget(self, but: Collection[str]) -> None:
        """Keep the drawings of these events alone."""
        self._kept = {name: kept for name, kept in self._kept.items() if name[1] in but}


def _drawn(state: EventState, moment: RenderTime, room: tuple[int, int], *, doubtful: bool) -> list[Line]:
    wide = max(1, ceil(room[0] / COLUMNS))
    axis = recent_axis(state, moment, RECENT_SECONDS, room[0] // wide)
    if axis is None or room[0] <= 0:
        return [[] for _ in range(room[1])]
    readings = state.qos.readings
    values = [one for one in bucket_columns(axis, readings, readings.video) for _ in range(wide)]
    looks = [one for one in bucket_statuses(axis, readings) for _ in range(wide)]
    ink = StyleRole.STALE if doubtful else StyleRole.VIDEO
    status = status_strip(looks)
    if doubtful:
        status = [(text, StyleRole.STALE) for text, _ in status]
    return [*_bars(values, room[1] - 1, ink), status]


def _bars(values: list[Bucket | None], lines: int, ink: StyleRole) -> list[Line]:
    """Bars from zero to over the highest value, by the lowest value of each step so that a dip shows."""
    top = HEADROOM * max((value.high for value in values if value), default=0.0)
    steps = len(BARS) * lines
    levels = [None if one is None else max(1, round(one.low / top * steps)) if top else 1 for one in values]
    return [[("".join(_cell(level, row) for level in levels), ink)] for row in range(lines - 1, -1, -1)]


def _cell(level: int | None, row: int) -> str:
    """The part of a bar of `level` eighths in the row that is `row` lines above the lowest."""
    filled = 0 if level is None else level - row * len(BARS)
    return " " if filled <= 0 else BARS[min(filled, len(BARS)) - 1]


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


def tile(state: EventState, moment: RenderTime, room: tuple[int, int], recent: Recent, given: Sizes) -> list[Line]:
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


def _steady(state: EventState, moment: RenderTime, room: tuple[int, int], recent: Recent, given: Sizes) -> list[Line]:
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


def _walled(line: Line, wide: int, ink: StyleRole, signs: str) -> Line:
    return [(f"{signs[3]} ", ink), *fit(line, max(0, wide - 4), ellipsis=True), (f" {signs[3]}", ink)]


def _border(state: EventState, moment: RenderTime) -> tuple[StyleRole, str]:
    """Heavy where something is critical, hatched where nothing can be believed: a shape, not only a colour."""
    if events.is_doubtful(state, moment):
        return StyleRole.STALE, _BORDERS["hatched"]
    if _worst(state, Severity.CRITICAL):
        return StyleRole.CRITICAL, _BORDERS["heavy"]
    return StyleRole.WARNING if _worst(state, Severity.WARNING) else StyleRole.RULE, _BORDERS["light"]


def _worst(state: EventState, severity: Severity) -> Finding | None:
    return next((one for one in state.assessment.findings if one.severity is severity), None)


def _bar(state: EventState, moment: RenderTime, wide: int, scale: int) -> Iterator[Line]:
    """The tally lamp, as wide as the tile, with the time in it."""
    (lamp, ink), clock = indicator(state, moment), events.clock(state, moment)
    if scale == PLAIN:
        lamp = plain(events.tally(state, moment)).strip()
    ends = zip(glyphs.block(lamp, ink, scale, wide), glyphs.block(clock, ink, scale, wide), strict=True)
    for left, right in ends:
        begins, ends_with = f" {plain(left)}", f"{plain(right)} "
        rest = wide - len(begins) - len(ends_with)
        yield fit([(begins, ink), (" " * max(0, rest), ink), (ends_with, ink)], wide)


def indicator(state: EventState, moment: RenderTime) -> tuple[str, StyleRole]:
    """The tally in few letters, and its ink: `◌ RECON`."""
    text, ink = events.tally(state, moment)[0]
    glyph, _, said = text.strip().partition(" ")
    return f"{glyph} {_SHORT.get(said, said)}", ink


def score(state: EventState, moment: RenderTime) -> tuple[str, StyleRole]:
    """The health in few letters: `✖ 45 POOR`, `▒ --`."""
    text, ink = events.health(state, moment)[0]
    words = text.split()
    return (" ".join(words[:3]) if words and words[-1] != "DATA" else "✖ NO DATA"), ink


def _body(state: EventState, moment: RenderTime, room: tuple[int, int], recent: Recent, given: Sizes) -> list[Line]:
    inner, high = room
    lines = [*_tile_name(state, moment, inner, given), *_said(state, moment, inner, given.health, [])]
    kept = 3 if len(state.qos.readings) else 1
    lines += list(_tile_details(state, moment, inner))[: max(0, high - len(lines) - kept)]
    return [*lines, *_graph(state, moment, inner, high - len(lines), recent)]


def _tile_name(state: EventState, moment: RenderTime, inner: int, given: Sizes) -> list[Line]:
    """The name in the letters that all names have, or in the largest ones in which it fits in the same lines."""
    ink = StyleRole.DIM if events.is_doubtful(state, moment) else events.name_role(state)
    name, room = events.name(state), BLOCKS[given.name] * given.rows
    for scale in range(given.name, PLAIN, -1):
        rows = glyphs.wrapped(name, scale, inner, room // BLOCKS[scale])
        if rows:
            drawn = [line for row in rows for line in glyphs.block(row, ink, scale, inner)]
            return [*drawn, *([[]] * (room - len(drawn)))]
    return [clip([(name, ink)], inner), *([[]] * (room - 1))]


def _said(state: EventState, moment: RenderTime, inner: int, scale: int, away: Line) -> list[Line]:
    """Health and what lost; beside it `away`."""
    if scale > PLAIN and state.assessment.health.grade is not Grade.NONE:
        text, ink = score(state, moment)
        *above, last = glyphs.block(text, ink, scale, inner)
    else:
        none = state.assessment.health.grade is Grade.NONE
        last = [("ingest ", StyleRole.DIM), *events.ingest(state, moment)] if none else events.health(state, moment)
        above = [[]] * (BLOCKS[scale] - 1)
    away = away if width(last) + width(away) < inner else away[:1]
    return [*above, join(last, away, inner) if width(last) + width(away) < inner else clip(last, inner)]


def _away(state: EventState, moment: RenderTime) -> Line:
    """For how long the encoder is away and how much of its window is left."""
    known = state.phase.ingest
    if known.state is not IngestState.INTERRUPTED:
        return []
    left = -moment.server_seconds_since(known.window_ends) if known.window_ends else 0.0
    window = f"  {values.short_duration(left)} left" if left > 0 else "  window over"
    return [(plain(events.ingest(state, moment)), events.ingest(state, moment)[0][1]), (window, StyleRole.TEXT)]


def _tile_details(state: EventState, moment: RenderTime, inner: int) -> Iterator[Line]:
    """What is wrong, the loudest first; then what goes out."""
    doubtful = events.is_doubtful(state, moment)
    for finding in sorted(state.assessment.findings, key=lambda one: list(Severity).index(one.severity)):
        glyph, _, ink = SEVERITY_BADGES[finding.severity]
        said = f"{glyph} {finding.kind}  {values.safe(finding.actual)}"
        yield clip([(said, StyleRole.STALE if doubtful else ink)], inner)
    if state.phase.tally.expects_signal:
        outputs = plain(events.outputs(state, moment))
        out = "" if outputs == values.NOT_APPLICABLE else f"   restreams {outputs}"
        yield clip([(f"audio {plain(events.audio(state, moment))}{out}", StyleRole.DIM)], inner)


def _graph(state: EventState, moment: RenderTime, inner: int, high: int, recent: Recent) -> list[Line]:
    """The bars with the bit rate, the strip with the frame rate."""
    if high <= 0:
        return []
    if not len(state.qos.readings):
        return [[("no samples", StyleRole.DIM)] if state.phase.tally.expects_signal else []]
    bars = recent.lines(state, moment, max(1, inner - RATE_CELLS), high)
    rates = [events.video(state, moment), events.fps(state, moment)]
    units = [plain(rates[0]), f"{plain(rates[1])} fps"]
    beside: list[Line] = [[] for _ in bars]
    beside[-1] = [(units[1], rates[1][0][1])]
    if len(bars) > 1:
        beside[-2] = [(units[0], rates[0][0][1])]
    return [join(bar, fit(word, RATE_CELLS, right=True), inner) for bar, word in zip(bars, beside, strict=True)]


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
    return fit(table.head_line(table.layout(_columns(Recent()), wide)), wide)


class BandLayout(NamedTuple):
    """What all rows of a page share. `tally`: the longest lamp; its glyph alone where names need the room."""

    scale: int = PLAIN
    tally: str = TALLY


def band_layout(states: Sequence[EventState], wide: int, high: int, most: int) -> BandLayout:
    """The largest letters that fit, where they draw any name at all; lamps in words if they leave every name whole."""
    names = [events.name(state) for state in states]
    largest = most if any(glyphs.size(name, most) for name in names) else PLAIN
    scale = next((one for one in range(largest, PLAIN, -1) if _fits(one, wide, high)), PLAIN)
    room = wide - _part(TALLY, scale) - _part(TIME, scale) - _health_cells(scale, wide) - GAP
    whole = all((glyphs.size(name, scale) or glyphs.size(name, PLAIN) or 0) <= room for name in names)
    return BandLayout(scale, TALLY if whole else TALLY[0])


def _fits(scale: int, wide: int, high: int) -> bool:
    return BLOCKS[scale] <= high and _part(TALLY, scale) + _part(TIME, scale) + NAME_LETTERS * 4 * (scale - 1) <= wide


def _part(text: str, scale: int) -> int:
    """Cells of a part with the gap behind it, and the margin of a lamp."""
    return (glyphs.size(text, scale) or 0) + GAP + 2


def _health_cells(scale: int, wide: int) -> int:
    """The widest form of the health that leaves the name its letters."""
    taken = _part(TALLY, scale) + _part(TIME, scale) + NAME_LETTERS * 4 * (scale - 1)
    return next((_part(form, scale) for form in HEALTHS if taken + _part(form, scale) <= wide), 0)


def band(state: EventState, moment: RenderTime, room: tuple[int, int], recent: Recent, given: BandLayout) -> list[Line]:
    """The event in so many cells and lines."""
    (wide, high), scale = room, given.scale
    lines = [_plain(state, moment, wide, recent)] if scale == PLAIN else _large(state, moment, wide, given)
    make = partial(_details, state, moment, wide, recent, given)
    lines += recent.once(("details", state.id), state, (wide, given, moment.stale), make)[: max(0, high - len(lines))]
    return [*lines, *([[]] * (high - len(lines)))]


def _columns(recent: Recent) -> list[Column[EventState]]:
    """The columns of the deck's table, its bars drawn once for each answer."""
    kept = [column for column in EVENTS.columns if column.name not in LEFT_OUT]
    return [*kept, replace(EVENTS.columns[8], width=2 * SPARK_CELLS + 1, render=partial(_recent, recent))]


def _recent(recent: Recent, state: EventState, moment: RenderTime) -> Line:
    bars, strip = recent.lines(state, moment, SPARK_CELLS, 2)
    return [*fit(bars, SPARK_CELLS), (" ", StyleRole.TEXT), *strip]


def _plain(state: EventState, moment: RenderTime, wide: int, recent: Recent) -> Line:
    return fit(table.row_line(state, moment, table.layout(_columns(recent), wide)), wide)


def _large(state: EventState, moment: RenderTime, wide: int, given: BandLayout) -> list[Line]:
    """Tally, name, time and health in letters of pixels."""
    scale = given.scale
    lamp, clock, health = _part(given.tally, scale), _part(TIME, scale), _health_cells(scale, wide)
    name = wide - lamp - clock - health
    text, ink = indicator(state, moment)
    text = text[: len(given.tally)] if given.tally != TALLY else text
    parts = [
        [fit([(" ", ink), *one, (" ", ink)], lamp) for one in glyphs.word(text, ink, scale, lamp - GAP - 2)],
        [fit(one, name) for one in _name(state, moment, name - GAP, scale)],
        [fit(one, clock - GAP, right=True) for one in _clock(state, moment, scale, clock - GAP)],
        [fit([(" " * GAP, StyleRole.TEXT), *one], health + GAP) for one in _health(state, moment, scale, health)],
    ]
    return [[span for part in row for span in part] for row in zip(*parts, strict=True)]


def _health(state: EventState, moment: RenderTime, scale: int, wide: int) -> list[Line]:
    text, ink = score(state, moment)
    if (glyphs.size(text, scale) or 0) > wide:
        text = " ".join(events.health(state, moment)[0][0].split()[:2])
    fits = wide and (glyphs.size(text, scale) or 0) <= wide
    return glyphs.word(text, ink, scale, wide) if fits else [[] for _ in range(HEIGHTS[scale])]


def _name(state: EventState, moment: RenderTime, wide: int, scale: int) -> list[Line]:
    """A name that the letters of pixels cannot draw has a plain line in the middle of its room."""
    ink = StyleRole.DIM if events.is_doubtful(state, moment) else events.name_role(state)
    drawn = glyphs.word(events.name(state), ink, scale, wide)
    free = HEIGHTS[scale] - len(drawn)
    return [*([[]] * (free // 2)), *drawn, *([[]] * (free - free // 2))]


def _clock(state: EventState, moment: RenderTime, scale: int, wide: int) -> list[Line]:
    ink = StyleRole.STALE if events.is_doubtful(state, moment) else StyleRole.STRONG
    return glyphs.word(events.clock(state, moment), ink, scale, wide)


def _details(state: EventState, moment: RenderTime, wide: int, recent: Recent, given: BandLayout) -> list[Line]:
    """What is wrong at the left; what a large row has no room for at the right."""
    doubtful = events.is_doubtful(state, moment)
    found = [one for one in state.assessment.findings if one.severity is not Severity.INFO]
    said: Line = [(" ", StyleRole.TEXT)]
    if given.tally != TALLY:
        said.append((f"{state.phase.tally.value}  ", StyleRole.DIM))
    if given.scale > PLAIN:
        said += [*events.health(state, moment), ("  ", StyleRole.TEXT)]
    for finding in found:
        glyph, _, ink = SEVERITY_BADGES[finding.severity]
        said.append((f"{glyph} {finding.kind} {values.safe(finding.actual)}  ", StyleRole.STALE if doubtful else ink))
    owed = state.phase.tally.expects_signal
    beside = _measures(state, moment, recent) if given.scale > PLAIN and owed else []
    left = clip(said, max(0, wide - 60) if beside else wide)
    return [join(left, beside, wide)] if found or beside else []


def _measures(state: EventState, moment: RenderTime, recent: Recent) -> Line:
    rates = (
        fit(events.video(state, moment), 7, right=True),
        fit([*events.fps(state, moment), (" fps", StyleRole.DIM)], 9, right=True),
        fit([("  out ", StyleRole.DIM), *events.outputs(state, moment)], 10),
    )
    return [*_recent(recent, state, moment), *(span for rate in rates for span in rate)]
