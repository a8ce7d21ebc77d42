"""Lines above the events: counts, age of the data, time, next events, and reasons for doubt about the wall. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import tzinfo

from livedeck.monitor import (
    Alarm,
    AlarmState,
    BroadcastState,
    ConnectionState,
    EventState,
    RuleChange,
    Severity,
    Silence,
    Snapshot,
    end_of_silence,
)
from livedeck.presentation import events
from livedeck.presentation.alarms import FLOOD_LINE, alarm_line, count_line, rule_words, severity_glyph
from livedeck.presentation.badges import TALLY_BADGES
from livedeck.presentation.connection import (
    banner_line,
    blind_words,
    calm_word,
    failing_words,
    missing_line,
    missing_text,
    via_text,
)
from livedeck.presentation.events import STANDING_WORDS, Standing
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.silences import moment_text
from livedeck.text import values
from livedeck.text.segments import Group, Line, ShadedLine, StyleRole, clip, fit, join, justify, width
from livedeck.ui.wallboard.glyphs import HEIGHTS, LARGE, PLAIN, cut, max_scale, text_cells, text_lines
from livedeck.ui.wallboard.model import MAX_UPCOMING, WallModel, count_standings
from livedeck.ui.wallboard.styles import BAR_ROLES

OTHER_TALLIES = (BroadcastState.RECONNECTING, BroadcastState.LOST, BroadcastState.LATE, BroadcastState.UNKNOWN)
"""Tallies besides ON AIR that the header counts if events have them."""

HEADER_LINES = {PLAIN: 1, LARGE: HEIGHTS[LARGE] + 1}
"""Scale -> number of lines of the header."""

WIDEST = ("▒ 888 on air", "00:00:00")
"""Longest texts, which must fit into a header with large letters."""

UPCOMING_CELLS = 24
"""Maximum width, in cells, of a name among the next events."""

MAX_NAMED = 2
"""Maximum number of events that the footer names for a silence."""

_WIDE_GAP = ("    ", StyleRole.TEXT)

_GAP = (" ", StyleRole.TEXT)


def header_scale(cells: int, limit: int) -> int:
    """Return the largest scale, up to `limit`, at which counts and time fit in the header."""
    taken = sum(text_cells(text, LARGE) or 0 for text in WIDEST)
    return LARGE if limit > PLAIN and taken + 12 <= cells else PLAIN


def header(model: WallModel, cells: int, scale: int, *, page: str, zone: tzinfo | None) -> list[Line]:
    """Return the header in one line, or with counts and time in large letters above page, age and the rest."""
    if scale == PLAIN:
        return [_small(model, cells, page, zone)]
    time = text_lines(f"{model.render_time.now:%H:%M:%S}", StyleRole.STRONG, LARGE, cells)
    counts = [_large_count(model, *count) for count in count_standings(model)]
    while len(counts) > 1 and sum(width(count[0]) for count in counts) + width(time[0]) > cells:
        counts.pop()
    rows = zip(zip(*counts, strict=True), time, strict=True)
    large = [join([segment for part in parts for segment in part], [*clock, _GAP], cells) for parts, clock in rows]
    return [*large, _below(model, cells, page, zone)]


def _large_count(model: WallModel, standing: Standing | None, count: int) -> list[Line]:
    """Draw a count of events with its standing, in large letters.

    `standing`: None to count the events on air, with a lamp. The lamp is hatched if the data are stale.
    """
    if standing:
        _, word, role = STANDING_WORDS[standing]
        role = StyleRole.CRITICAL_MARK if role is StyleRole.CRITICAL else role
        return [[*line, _WIDE_GAP] for line in text_lines(f"{count} {word}", role, LARGE, 200)]
    stale = model.render_time.stale
    lamp = text_lines("▒" if stale else "●", StyleRole.ON_AIR if count and not stale else StyleRole.DIM, LARGE, 100)
    words = text_lines(f"{count} on air", StyleRole.DIM if stale else StyleRole.STRONG, LARGE, 200)
    return [[_GAP, *left, _GAP, _GAP, *right, _WIDE_GAP] for left, right in zip(lamp, words, strict=True)]


def _below(model: WallModel, cells: int, page: str, zone: tzinfo | None) -> Line:
    """Return the line below the large counts. A narrow line omits next events first, but never age and page."""
    via = via_text(model.snapshot)
    left: list[Group] = [
        (0, [_GAP, ("data ", StyleRole.DIM), *age(model)] if model.snapshot.link.as_of else [_GAP, *age(model)]),
        (2, tally_counts(model, *OTHER_TALLIES)),
        (1, filtered(model)),
        (9, [(via, StyleRole.DIM)] if via else []),
        *((rank, _next(state, model)) for rank, state in enumerate(model.upcoming[:MAX_UPCOMING], 6)),
    ]
    right: list[Group] = [
        (3, count_line(model.alarms, calm_word(model.snapshot, model.render_time))),
        (0, [(page, StyleRole.TEXT)]),
        (5, local_time(model, zone)),
        (0, [("UTC", StyleRole.STRONG), _GAP]),
    ]
    return justify(left, right, cells, gap=3)


def _small(model: WallModel, cells: int, page: str, zone: tzinfo | None) -> Line:
    """Return the header in one line. A narrow line omits the least needed parts, but never page, age and clock."""
    left: list[Group] = [
        (1, tally_counts(model, BroadcastState.ON_AIR)),
        (2, tally_counts(model, *OTHER_TALLIES)),
        (5, _next(model.upcoming[0], model) if model.upcoming else []),
        (4, filtered(model)),
    ]
    right: list[Group] = [
        (0, [(page, StyleRole.TEXT)]),
        (0, age(model)),
        (0, [(f"{model.render_time.now:%H:%M:%S}Z", StyleRole.STRONG)]),
        (6, local_time(model, zone)),
        (3, [*count_line(model.alarms, calm_word(model.snapshot, model.render_time)), _GAP]),
    ]
    return justify(left, right, cells)


def tally_counts(model: WallModel, *tallies: BroadcastState) -> Line:
    """Return lamp and count for ON AIR and for each other tally of the events. With stale data lamps are hatched."""
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


def _next(state: EventState, model: WallModel) -> Line:
    """Return a next event with the time until its start."""
    role = StyleRole.STALE if model.render_time.stale else StyleRole.STRONG
    name = clip([(events.name(state), role)], UPCOMING_CELLS)
    return [("next ", StyleRole.DIM), *name, _GAP, (events.clock(state, model.render_time), StyleRole.DIM)]


def filtered(model: WallModel) -> Line:
    """Return the number of events that pass the filter, and of hidden critical events; empty if all events pass."""
    if model.matching == model.total:
        return []
    line: Line = [(f"{model.matching} of {model.total} events", StyleRole.DIM)]
    if model.hidden_critical:
        line.append((f"  ✖ {model.hidden_critical} critical hidden", StyleRole.CRITICAL))
    return line


def age(model: WallModel) -> Line:
    """Return the age of the data, with STALE or BLIND if the data are too old."""
    connection, render_time = model.snapshot.link, model.render_time
    if connection.as_of is None:
        return [("no data yet", StyleRole.WARNING)]
    text = f"{values.age(render_time.seconds_since(connection.as_of))} ago"
    if connection.state is ConnectionState.BLIND:
        return [(f"✖ BLIND {text}", StyleRole.CRITICAL)]
    return [(f"▒ STALE {text}", StyleRole.WARNING)] if render_time.stale else [(text, StyleRole.TEXT)]


def local_time(model: WallModel, zone: tzinfo | None) -> Line:
    """Return the local time; empty if it equals UTC."""
    local = model.render_time.now.astimezone(zone)
    return [(f"{local:%H:%M:%S %Z}", StyleRole.DIM)] if local.utcoffset() else []


def banner(model: WallModel, cells: int, max_alarms: int, scale: int) -> Iterator[ShadedLine]:
    """Yield the lines above the tiles: reasons for doubt about the wall, then alarms that no tile shows.

    Without tiles, the first alarm is large. Alarms of an event with a tile are in the tile.
    """
    yield from doubts(model, cells, scale)
    has_tiles = {state.id for state in model.states}
    alarms = [alarm for alarm in model.alarms if alarm.event_id not in has_tiles]
    is_quiet = has_tiles or is_doubtful(model)
    large, complete = ([], 0) if is_quiet else _large_alarm(alarms, model.render_time, cells, scale)
    yield from large
    yield from alarm_lines(alarms[complete:], max(1, max_alarms) - complete, model.render_time, cells)


def alarm_lines(alarms: Sequence[Alarm], most: int, render_time: RenderTime, cells: int) -> Iterator[Line]:
    """Yield a line for each of the first `most` alarms. The last line counts the others."""
    shown = alarms[:most]
    left = len(alarms) - len(shown)
    for alarm in shown:
        more: Line = [(f"  and {left} more ", StyleRole.DIM)] if left and alarm is shown[-1] else []
        yield join(alarm_line(alarm, render_time, cells - width(more)), more, cells)


def is_doubtful(model: WallModel) -> bool:
    """Return whether the events on the wall may be out of date: stale data, or a platform that does not reply."""
    return model.render_time.stale or not model.snapshot.link.state.is_answering


def doubts(model: WallModel, cells: int, scale: int) -> Iterator[ShadedLine]:
    """Yield lines with the reason for doubt about the wall, missing data, and changed rules for judging events.

    On a large wall the reason is in large letters.
    """
    warning = banner_line(model.snapshot, model.render_time, model.fault)
    if warning:
        text, role = warning[0]
        yield from _large_banner(headline(model), role, cells, scale) if is_doubtful(model) else ()
        yield fit([(text, role)], cells, ellipsis=True)
    if missing := missing_line(model.snapshot):
        yield fit(missing, cells, ellipsis=True)
    if model.snapshot.flood:
        yield fit(FLOOD_LINE, cells)
    for change in model.rule_changes:
        yield fit(rule_line(change, model.snapshot), cells, ellipsis=True)


def rule_line(change: RuleChange, snapshot: Snapshot) -> Line:
    """Return a line about a recent change of the rules for judging events, or about settings that cannot be used."""
    name = next((events.name(state) for state in snapshot.events if state.id == change.event_id), "")
    role = StyleRole.WARNING if change.is_fault else StyleRole.INFO
    return [(f" {'▲' if change.is_fault else '●'} {change.at:%H:%M:%S}Z  {rule_words(change, name)} ", role)]


def maintenance_text(model: WallModel) -> str:
    """Return the running silences: `MAINTENANCE Studio A until 04:00Z (2 alarms silenced)`; empty without one."""
    texts = [
        f"{_silenced_names(model, silence)} until {moment_text(silence.ends_at, model.render_time.now)} "
        f"({_silenced_count(model.snapshot.alarms, silence)})"
        for silence in model.render_time.silences
    ]
    return f"MAINTENANCE {'; '.join(texts)}" if texts else ""


def _silenced_names(model: WallModel, silence: Silence) -> str:
    """Return the names of events on the wall that a silence may cover; without any, the conditions of the silence."""
    names = [events.name(state) for state in model.states if end_of_silence([silence], state, model.render_time.now)]
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return f"{', '.join(names[:MAX_NAMED])}{more}" or values.safe(silence.what, 60)


def _silenced_count(alarms: Sequence[Alarm], silence: Silence) -> str:
    count = sum(alarm.silenced is not None and alarm.silenced.id == silence.id for alarm in alarms)
    return f"{count} alarm{'' if count == 1 else 's'} silenced"


def headline(model: WallModel) -> str:
    """Return the reason for doubt about the wall and the age of its data, in short: `✖ MONITORING BLIND  01:19 OLD`."""
    connection, render_time = model.snapshot.link, model.render_time
    as_of = connection.as_of
    old = "" if as_of is None else f"  {values.age(render_time.seconds_since(as_of))} OLD"
    if model.fault:
        return f"✖ MONITOR STOPPED{old}"
    if connection.state is ConnectionState.BLIND:
        return f"✖ {blind_words(connection)}{old}"
    if connection.state is ConnectionState.FAILING:
        return f"▲ {failing_words(connection)}{old}"
    return f"▒ STALE{old}"


def _large_banner(text: str, role: StyleRole, cells: int, limit: int) -> list[Line]:
    """Draw a text in large letters over the whole width. Returns no lines if it does not fit.

    The caller adds the text in plain letters below.
    """
    scale = min(LARGE, max_scale(text, cells - 2, limit))
    if scale == PLAIN:
        return []
    return [fit([(" ", role), *line, (" " * cells, role)], cells) for line in text_lines(text, role, scale, cells - 2)]


def _large_alarm(alarms: Sequence[Alarm], render_time: RenderTime, cells: int, limit: int) -> tuple[list[Line], int]:
    """Draw the most urgent alarm in large letters if it is critical and not cleared; otherwise return no lines.

    Also returns the number of alarms that need no plain line: 1 if subject, kind and age fit, else 0.
    """
    alarm = next(iter(alarms), None)
    if alarm is None or alarm.severity is not Severity.CRITICAL or alarm.state is AlarmState.RETURNED:
        return [], 0
    glyph, kind = severity_glyph(alarm, render_time), alarm.kind.replace("_", " ")
    subject = values.safe(alarm.subject)
    complete = f"{glyph} {subject}  {kind} {values.compact_duration(render_time.seconds_since(alarm.since))}"
    shorter = cut(subject, LARGE, cells - 2 - (text_cells(f"{glyph}   {kind}", LARGE) or 0))
    for text in (complete, f"{glyph} {shorter}  {kind}", f"{glyph} {kind}"):
        scale = min(LARGE, max_scale(text, cells - 2, limit))
        if scale > PLAIN:
            lines = text_lines(text, StyleRole.CRITICAL, scale, cells - 2)
            return [[_GAP, *line] for line in lines], int(text == complete)
    return [], 0


def empty_texts(model: WallModel) -> tuple[str, str]:
    """Return title and note for a wall without events.

    The title is NOTHING ON AIR only if the data are fresh and whole, and the filter hides no event.
    """
    connection = model.snapshot.link
    if connection.as_of is None:
        return ("CONNECTING" if connection.state is ConnectionState.CONNECTING else "NO DATA YET"), ""
    if model.render_time.stale:
        return "NO FRESH DATA", ""
    if model.matching < model.total:
        title, count = "NOTHING TO SHOW", f"{model.matching} of {model.total} pass the filter"
    elif not model.snapshot.is_whole:
        return "NOTHING TO SHOW", missing_text(model.snapshot)
    else:
        title, count = "NOTHING ON AIR", f"{model.total} events on the platform"
    return title, f"{count}: none on air, none due within 12 h, none with a fault"
