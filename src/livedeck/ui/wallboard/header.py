"""What stands above the events: how much is on air, how fresh, what time it is, and what is wrong. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import tzinfo

from livedeck.monitor import AlarmState, BroadcastState, ConnectionState, EventState, Severity
from livedeck.presentation import events
from livedeck.presentation.alarms import severity_glyph
from livedeck.presentation.badges import TALLY_BADGES
from livedeck.text import values
from livedeck.text.segments import Group, Line, StyleRole, clip, fit, join, justify, plain, width
from livedeck.ui.shell import frame
from livedeck.ui.wallboard import glyphs
from livedeck.ui.wallboard.glyphs import PLAIN
from livedeck.ui.wallboard.model import WallModel

ON_AIR, BESIDES = (
    (BroadcastState.ON_AIR,),
    (BroadcastState.RECONNECTING, BroadcastState.LOST, BroadcastState.LATE, BroadcastState.UNKNOWN),
)

"""The tallies that are counted in the first line; ON AIR always, for a zero is an answer."""


NEXT_CELLS = 40


WIDEST = (" ▒ ON AIR 88 ", "00:00:00Z ")

BESIDE = 30

"""Cells for each of the two columns of small words that stand beside the large ones."""


_GAP = (" ", StyleRole.TEXT)


def _first(sight: WallModel, cells_: int, *, page: str, zone: tzinfo | None) -> Line:
    """Counts, what is next, page, age and clock: the least needed goes first; page, age and clock never."""
    left: list[Group] = [
        (1, counts(sight, ON_AIR)),
        (2, counts(sight, BESIDES)),
        (5, _next(sight)),
        (4, _hidden(sight)),
    ]
    right: list[Group] = [
        (0, [(page, StyleRole.TEXT)]),
        (0, age(sight)),
        (0, [(f"{sight.moment.now:%H:%M:%S}Z", StyleRole.STRONG)]),
        (6, _local(sight, zone)),
        (3, [*frame.alarm_counts(sight.alarms), (" ", StyleRole.TEXT)]),
    ]
    return justify(left, right, cells_)


def _local(sight: WallModel, zone: tzinfo | None) -> Line:
    """The time of the room, where that is not UTC anyway."""
    local = sight.moment.now.astimezone(zone)
    return [(f"{local:%H:%M:%S %Z}", StyleRole.DIM)] if local.utcoffset() else []


def counts(sight: WallModel, tallies: tuple[BroadcastState, ...]) -> Line:
    """A lamp for each of these tallies with how many events have it; hatched where that is not sure."""
    found = Counter(state.phase.tally for state in sight.states)
    line: Line = []
    for tally in tallies:
        if found[tally] or tally is BroadcastState.ON_AIR:
            glyph, word, ink = TALLY_BADGES[tally]
            lamp = f" {'▒' if sight.moment.stale else glyph} {word} {found[tally]} "
            lit = found[tally] and not sight.moment.stale
            line += [*([(" ", StyleRole.TEXT)] if line else []), (lamp, ink if lit else StyleRole.OFF)]
    return line


def _next(sight: WallModel) -> Line:
    """The soonest start with its countdown."""
    if not sight.coming:
        return []
    state = sight.coming[0]
    name = clip([(events.name(state), StyleRole.TEXT)], 24)
    return [("NEXT ", StyleRole.DIM), *name, (f" {events.clock(state, sight.moment)}", StyleRole.STRONG)]


def _hidden(sight: WallModel) -> Line:
    """What the filter keeps from the wall: never silently."""
    if sight.matching == sight.total:
        return []
    said: Line = [(f"{sight.matching} of {sight.total} events", StyleRole.DIM)]
    return [*said, (f"  ✖ {sight.grave} critical hidden", StyleRole.CRITICAL)] if sight.grave else said


def age(sight: WallModel) -> Line:
    """How old what is shown is; a word where that is too old."""
    link, moment = sight.snapshot.link, sight.moment
    if link.as_of is None:
        return [("no data yet", StyleRole.WARNING)]
    said = f"{values.age(moment.seconds_since(link.as_of))} ago"
    if link.state is ConnectionState.BLIND:
        return [(f"✖ BLIND {said}", StyleRole.CRITICAL)]
    return [(f"▒ STALE {said}", StyleRole.WARNING)] if moment.stale else [(said, StyleRole.TEXT)]


def scale(wide: int, most: int) -> int:
    """Of the letters in which the header says how much is on air and what time it is."""
    taken = sum(glyphs.size(text, 2) or 0 for text in WIDEST)
    return 2 if most > PLAIN and taken + 2 * BESIDE <= wide else PLAIN


def header(sight: WallModel, wide: int, most: int, *, page: str, zone: tzinfo | None) -> list[Line]:
    """Counts, page, age and time, each once: in one line, or with the most needed in letters of pixels."""
    if scale(wide, most) == PLAIN:
        return [_first(sight, wide, page=page, zone=zone)]
    utc = f"{sight.moment.now:%H:%M:%S}Z"
    local, _, place = plain(_local(sight, zone)).partition(" ")
    left, right = _lamp(sight), [[*one, _GAP] for one in glyphs.word(local or utc, StyleRole.STRONG, 2, wide)]
    free = wide - width(left[0]) - width(right[0]) - 2 * BESIDE
    number, (said, ink) = page.split()[1], age(sight)[0]
    large = said if number == "1/1" else f"{number}  {said}"
    middle = glyphs.word(large.upper(), ink, 2, wide)
    if width(middle[0]) > free:
        large, middle = "", [[], [], []]
    beside: list[Line] = [
        [
            (page if number not in large else page.partition("PINNED")[1], StyleRole.TEXT),
            *([_GAP, _GAP, (utc, StyleRole.STRONG)] if local else []),
        ],
        [*([] if large else age(sight)), *([_GAP, _GAP, (place, StyleRole.STRONG)] if local else [])],
        frame.alarm_counts(sight.alarms),
    ]
    room = wide - width(left[0]) - width(right[0])
    lines = zip(left, _besides(sight), middle, beside, right, strict=True)
    return [
        [
            *one,
            *_three(
                [_GAP, *fit(two, BESIDE - 1, ellipsis=True)], three, fit([*four, _GAP, _GAP], BESIDE, right=True), room
            ),
            *five,
        ]
        for one, two, three, four, five in lines
    ]


def _three(left: Line, middle: Line, right: Line, wide: int) -> Line:
    """The ends and, half-way between them, the middle."""
    free = max(0, wide - width(left) - width(middle) - width(right))
    return join([*left, (" " * (free // 2), StyleRole.TEXT), *middle], right, wide)


def _lamp(sight: WallModel) -> list[Line]:
    """ON AIR and how many, lit while it is one at least; hatched where that is not sure."""
    on_air, stale = sum(state.phase.tally is BroadcastState.ON_AIR for state in sight.states), sight.moment.stale
    ink = StyleRole.ON_AIR if on_air and not stale else StyleRole.OFF
    drawn = glyphs.word(f"{'▒ ' if stale else ''}ON AIR {on_air}", ink, 2, 100)
    return [[(" ", ink), *line, (" ", ink)] for line in drawn]


def _besides(sight: WallModel) -> list[Line]:
    """What else has a lamp, and what the filter hides, in three lines."""
    lamps = [lamp for tally in BESIDES if (lamp := counts(sight, (tally,)))]
    hidden = _hidden(sight)
    return [*lamps[: 2 if hidden else 3], *([hidden] if hidden else []), [], [], []][:3]


def banner(sight: WallModel, wide: int, lines: int, most: int) -> Iterator[Line]:
    """Why the wall may not be believed, then the most urgent alarms, the first of both large where there is room."""
    warning = frame.banner(sight.snapshot, sight.moment, sight.fault)
    if warning:
        text, ink = warning[0]
        yield from _filled(_headline(sight), ink, wide, most)
        yield fit([(text, ink)], wide, ellipsis=True)
    if sight.snapshot.flood:
        yield fit(frame.FLOOD, wide)
    large, told = ([], False) if warning else _alarm_headline(sight, wide, most)
    yield from large
    shown = sight.alarms[told : max(1, lines)]
    for one in shown:
        left = len(sight.alarms) - len(shown) - told
        more: Line = [(f"  and {left} more ", StyleRole.DIM)] if left and one is shown[-1] else []
        yield join(frame.alarm(one, sight.moment), more, wide)


def _headline(sight: WallModel) -> str:
    link, moment = sight.snapshot.link, sight.moment
    old = "" if link.as_of is None else f"  {values.age(moment.seconds_since(link.as_of))} OLD"
    if sight.fault:
        return f"✖ MONITOR STOPPED{old}"
    if link.state is ConnectionState.BLIND:
        return f"✖ MONITORING BLIND{old}"
    return f"▲ {link.problem or 'LINK FAILING'}{old}" if link.state is ConnectionState.FAILING else f"▒ STALE{old}"


def _filled(text: str, ink: StyleRole, wide: int, most: int) -> list[Line]:
    """Large words over the whole width; none where only plain letters fit, for the line below says it all."""
    scale = min(2, glyphs.fitting(text, wide - 2, most))
    if scale == PLAIN:
        return []
    return [fit([(" ", ink), *one, (" " * wide, ink)], wide) for one in glyphs.word(text, ink, scale, wide - 2)]


def _alarm_headline(sight: WallModel, wide: int, most: int) -> tuple[list[Line], bool]:
    """The most urgent alarm, if it is critical and not over; and whether that tells whose it is, what and how old."""
    alarm = next(iter(sight.alarms), None)
    if alarm is None or alarm.severity is not Severity.CRITICAL or alarm.state is AlarmState.RETURNED:
        return [], False
    kind = alarm.kind.replace("_", " ")
    glyph = severity_glyph(alarm, sight.moment)
    since = values.compact_duration(sight.moment.seconds_since(alarm.since))
    subject = values.safe(alarm.subject)
    whole = f"{glyph} {subject}  {kind} {since}"
    for said in (whole, f"{glyph} {subject[:16]}  {kind}", f"{glyph} {kind}"):
        scale = min(2, glyphs.fitting(said, wide - 2, most))
        if scale > PLAIN:
            drawn = glyphs.word(said, StyleRole.CRITICAL, scale, wide - 2)
            return [[(" ", StyleRole.TEXT), *one] for one in drawn], said is whole
    return [], False


def coming(sight: WallModel, wide: int, lines: int) -> list[Line]:
    """The list of what is next, each with its countdown, in columns."""
    if not sight.coming or not lines:
        return []
    across = max(1, (wide - 7) // NEXT_CELLS)
    shown = sight.coming[: across * lines]
    rows = [shown[start : start + across] for start in range(0, len(shown), across)]
    return [
        [
            (" NEXT  " if not number else "       ", StyleRole.HEAD),
            *(span for one in row for span in _entry(one, sight)),
        ]
        for number, row in enumerate(rows)
    ]


def _entry(state: EventState, sight: WallModel) -> Line:
    said = fit(
        [(events.clock(state, sight.moment), StyleRole.STALE if sight.moment.stale else StyleRole.STRONG)],
        11,
        right=True,
    )
    return [*said, ("  ", StyleRole.TEXT), *fit([(events.name(state), StyleRole.TEXT)], NEXT_CELLS - 13, ellipsis=True)]
