"""The lines around the events: what is on air, how fresh, what time it is, what is wrong, what is next. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import tzinfo

from livedeck.monitor import AlarmState, BroadcastState, ConnectionState, EventState, Severity
from livedeck.presentation import events
from livedeck.presentation.alarms import FLOOD_LINE, alarm_line, count_line, severity_glyph
from livedeck.presentation.badges import TALLY_BADGES
from livedeck.presentation.connection import banner_line, unreadable_line
from livedeck.text import values
from livedeck.text.segments import Group, Line, StyleRole, clip, fit, join, justify, plain, width
from livedeck.ui.wallboard.glyphs import PLAIN, max_scale, text_cells, text_lines
from livedeck.ui.wallboard.model import WallModel
from livedeck.ui.wallboard.styles import BAR_ROLES

OTHER_TALLIES = (BroadcastState.RECONNECTING, BroadcastState.LOST, BroadcastState.LATE, BroadcastState.UNKNOWN)
"""The tallies besides ON AIR that are counted, where there are any."""

LARGE = 2
"""The scale of the large header."""

WIDEST = (" ▒ ON AIR 88 ", "00:00:00Z ")
"""What must fit at the scale of the large header."""

SIDE_CELLS = 30
"""Cells for each of the two columns of small text beside the large one."""

UPCOMING_CELLS = 40
"""Cells of an entry in the list of what is next."""

_GAP = (" ", StyleRole.TEXT)


def header_scale(cells: int, limit: int) -> int:
    """The scale of what is on air and of the time, up to `limit`."""
    taken = sum(text_cells(text, LARGE) or 0 for text in WIDEST)
    return LARGE if limit > PLAIN and taken + 2 * SIDE_CELLS <= cells else PLAIN


def header(model: WallModel, cells: int, scale: int, *, page: str, zone: tzinfo | None) -> list[Line]:
    """Counts, page, age and time, each once: in one line, or with the most needed in large letters."""
    return [_small(model, cells, page, zone)] if scale == PLAIN else _large(model, cells, page, zone)


def _small(model: WallModel, cells: int, page: str, zone: tzinfo | None) -> Line:
    """The least needed is dropped first; page, age and clock never are."""
    left: list[Group] = [
        (1, tally_counts(model, BroadcastState.ON_AIR)),
        (2, tally_counts(model, *OTHER_TALLIES)),
        (5, _next(model)),
        (4, filtered(model)),
    ]
    right: list[Group] = [
        (0, [(page, StyleRole.TEXT)]),
        (0, age(model)),
        (0, [(f"{model.render_time.now:%H:%M:%S}Z", StyleRole.STRONG)]),
        (6, local_time(model, zone)),
        (3, [*count_line(model.alarms), _GAP]),
    ]
    return justify(left, right, cells)


def _large(model: WallModel, cells: int, page: str, zone: tzinfo | None) -> list[Line]:
    """What is on air at the left, the time at the right, the age between them; small text beside the large one."""
    utc = f"{model.render_time.now:%H:%M:%S}Z"
    local, _, zone_name = plain(local_time(model, zone)).partition(" ")
    lamp = _on_air_lamp(model)
    time = [[*line, _GAP] for line in text_lines(local or utc, StyleRole.STRONG, LARGE, cells)]
    between = cells - width(lamp[0]) - width(time[0])

    number, (age_text, role) = page.split()[1], age(model)[0]
    middle_text = age_text if number == "1/1" else f"{number}  {age_text}"
    middle = text_lines(middle_text.upper(), role, LARGE, cells)
    if width(middle[0]) > between - 2 * SIDE_CELLS:
        middle_text, middle = "", [[], [], []]

    utc_part: Line = [_GAP, _GAP, (utc, StyleRole.STRONG)] if local else []
    zone_part: Line = [_GAP, _GAP, (zone_name, StyleRole.STRONG)] if local else []
    left_side = _other_counts(model)
    right_side: list[Line] = [
        [(page if number not in middle_text else page.partition("PINNED")[1], StyleRole.TEXT), *utc_part],
        [*([] if middle_text else age(model)), *zone_part],
        count_line(model.alarms),
    ]
    return [
        [
            *lamp[row],
            *_spread(
                [_GAP, *fit(left_side[row], SIDE_CELLS - 1, ellipsis=True)],
                middle[row],
                fit([*right_side[row], _GAP, _GAP], SIDE_CELLS, right=True),
                between,
            ),
            *time[row],
        ]
        for row in range(len(lamp))
    ]


def _spread(left: Line, middle: Line, right: Line, cells: int) -> Line:
    """The two ends and, half-way between them, the middle."""
    free = max(0, cells - width(left) - width(middle) - width(right))
    return join([*left, (" " * (free // 2), StyleRole.TEXT), *middle], right, cells)


def _on_air_lamp(model: WallModel) -> list[Line]:
    """ON AIR and how many, lit where there are any; hatched where that is not sure."""
    count, stale = sum(state.phase.tally is BroadcastState.ON_AIR for state in model.states), model.render_time.stale
    role = StyleRole.RAISED if count and not stale else StyleRole.OFF
    lines = text_lines(f"{'▒ ' if stale else ''}ON AIR {count}", role, LARGE, 100)
    return [[(" ", role), *line, (" ", role)] for line in lines]


def _other_counts(model: WallModel) -> list[Line]:
    """The counts of the other tallies, and what the filter hides, in three lines."""
    counts = [line for tally in OTHER_TALLIES if (line := tally_counts(model, tally))]
    hidden = filtered(model)
    return [*counts[: 2 if hidden else 3], *([hidden] if hidden else []), [], [], []][:3]


def tally_counts(model: WallModel, *tallies: BroadcastState) -> Line:
    """A lamp for each of these tallies and how many events have it, ON AIR even for none; hatched where not sure."""
    counts, stale = Counter(state.phase.tally for state in model.states), model.render_time.stale
    line: Line = []
    for tally in tallies:
        if counts[tally] or tally is BroadcastState.ON_AIR:
            glyph, word, _ = TALLY_BADGES[tally]
            lamp = f" {'▒' if stale else glyph} {word} {counts[tally]} "
            line += [
                *([_GAP] if line else []),
                (lamp, BAR_ROLES[tally] if counts[tally] and not stale else StyleRole.OFF),
            ]
    return line


def _next(model: WallModel) -> Line:
    """The soonest start with its countdown."""
    if not model.upcoming:
        return []
    state = model.upcoming[0]
    name = clip([(events.name(state), StyleRole.TEXT)], 24)
    return [("NEXT ", StyleRole.DIM), *name, (f" {events.clock(state, model.render_time)}", StyleRole.STRONG)]


def filtered(model: WallModel) -> Line:
    """What the filter hides; empty where it hides nothing."""
    if model.matching == model.total:
        return []
    line: Line = [(f"{model.matching} of {model.total} events", StyleRole.DIM)]
    if model.hidden_critical:
        line.append((f"  ✖ {model.hidden_critical} critical hidden", StyleRole.CRITICAL))
    return line


def age(model: WallModel) -> Line:
    """How old the data is; with a word where that is too old."""
    connection, render_time = model.snapshot.link, model.render_time
    if connection.as_of is None:
        return [("no data yet", StyleRole.WARNING)]
    text = f"{values.age(render_time.seconds_since(connection.as_of))} ago"
    if connection.state is ConnectionState.BLIND:
        return [(f"✖ BLIND {text}", StyleRole.CRITICAL)]
    return [(f"▒ STALE {text}", StyleRole.WARNING)] if render_time.stale else [(text, StyleRole.TEXT)]


def local_time(model: WallModel, zone: tzinfo | None) -> Line:
    """The time of the place, where that is not UTC anyway."""
    local = model.render_time.now.astimezone(zone)
    return [(f"{local:%H:%M:%S %Z}", StyleRole.DIM)] if local.utcoffset() else []


def banner(model: WallModel, cells: int, max_alarms: int, scale: int) -> Iterator[Line]:
    """Why the wall cannot be believed, then the most urgent alarms; the first of these large where there is room."""
    warning = banner_line(model.snapshot, model.render_time, model.fault)
    is_doubtful = bool(warning) and (model.render_time.stale or not model.snapshot.link.state.is_answering)
    if warning:
        text, role = warning[0]
        yield from _large_banner(headline(model), role, cells, scale) if is_doubtful else ()
        yield fit([(text, role)], cells, ellipsis=True)
    if model.snapshot.unreadable:
        yield fit(unreadable_line(model.snapshot), cells, ellipsis=True)
    if model.snapshot.flood:
        yield fit(FLOOD_LINE, cells)
    large, complete = ([], 0) if is_doubtful else _large_alarm(model, cells, scale)
    yield from large
    shown = model.alarms[complete : max(1, max_alarms)]
    for alarm in shown:
        left = len(model.alarms) - len(shown) - complete
        more: Line = [(f"  and {left} more ", StyleRole.DIM)] if left and alarm is shown[-1] else []
        yield join(alarm_line(alarm, model.render_time, cells - width(more)), more, cells)


def headline(model: WallModel) -> str:
    """Why the wall cannot be believed, in few letters, and how old it is: `✖ MONITORING BLIND  01:19 OLD`."""
    connection, render_time = model.snapshot.link, model.render_time
    as_of = connection.as_of
    old = "" if as_of is None else f"  {values.age(render_time.seconds_since(as_of))} OLD"
    if model.fault:
        return f"✖ MONITOR STOPPED{old}"
    if connection.state is ConnectionState.BLIND:
        return f"✖ MONITORING BLIND{old}"
    if connection.state is ConnectionState.FAILING:
        return f"▲ {connection.problem or 'LINK FAILING'}{old}"
    return f"▒ STALE{old}"


def _large_banner(text: str, role: StyleRole, cells: int, limit: int) -> list[Line]:
    """Large text over the whole width; nothing where it does not fit, for the line below says it all."""
    scale = min(LARGE, max_scale(text, cells - 2, limit))
    if scale == PLAIN:
        return []
    return [fit([(" ", role), *line, (" " * cells, role)], cells) for line in text_lines(text, role, scale, cells - 2)]


def _large_alarm(model: WallModel, cells: int, limit: int) -> tuple[list[Line], int]:
    """The most urgent alarm, if it is critical and not over; 1 if its subject, kind and age all fit, else 0."""
    alarm = next(iter(model.alarms), None)
    if alarm is None or alarm.severity is not Severity.CRITICAL or alarm.state is AlarmState.RETURNED:
        return [], 0
    glyph, kind = severity_glyph(alarm, model.render_time), alarm.kind.replace("_", " ")
    subject = values.safe(alarm.subject)
    complete = f"{glyph} {subject}  {kind} {values.compact_duration(model.render_time.seconds_since(alarm.since))}"
    for text in (complete, f"{glyph} {subject[:16]}  {kind}", f"{glyph} {kind}"):
        scale = min(LARGE, max_scale(text, cells - 2, limit))
        if scale > PLAIN:
            lines = text_lines(text, StyleRole.CRITICAL, scale, cells - 2)
            return [[_GAP, *line] for line in lines], int(text == complete)
    return [], 0


def empty_texts(model: WallModel) -> tuple[str, str]:
    """What stands where no event does, and a note below: nothing is on air only where all is seen, and fresh."""
    connection = model.snapshot.link
    if connection.as_of is None:
        return ("CONNECTING" if connection.state is ConnectionState.CONNECTING else "NO DATA YET"), ""
    if model.render_time.stale:
        return "NO FRESH DATA", ""
    if model.matching < model.total:
        title, count = "NOTHING TO SHOW", f"{model.matching} of {model.total} events pass the filter"
    else:
        title, count = "NOTHING ON AIR", f"{model.total} events on the platform"
    return title, f"{count}, none on air, due within 12 h, or wrong"


def upcoming(model: WallModel, cells: int, rows: int) -> list[Line]:
    """The list of what is next, each with its countdown, in columns."""
    if not model.upcoming or not rows:
        return []
    columns = max(1, (cells - 7) // UPCOMING_CELLS)
    states = model.upcoming[: columns * rows]
    starts = range(0, len(states), columns)
    return [
        [
            ("       " if start else " NEXT  ", StyleRole.HEAD),
            *(segment for state in states[start : start + columns] for segment in _upcoming(state, model)),
        ]
        for start in starts
    ]


def _upcoming(state: EventState, model: WallModel) -> Line:
    role = StyleRole.STALE if model.render_time.stale else StyleRole.STRONG
    countdown = fit([(events.clock(state, model.render_time), role)], 11, right=True)
    name = fit([(events.name(state), StyleRole.TEXT)], UPCOMING_CELLS - 13, ellipsis=True)
    return [*countdown, ("  ", StyleRole.TEXT), *name]
