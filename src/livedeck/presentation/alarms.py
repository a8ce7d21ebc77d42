"""Cells, columns and lines of alarms. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import groupby

from livedeck.monitor import Alarm, AlarmState, RuleChange, Severity, Snapshot, person
from livedeck.presentation.badges import SEVERITY_BADGES, SEVERITY_RANKS, severity_chip, words_role
from livedeck.presentation.connection import is_seen, missing_text, not_known_text
from livedeck.presentation.events import MAX_NAME_CELLS, NAME_CELLS
from livedeck.presentation.events import name as event_name
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.silences import silenced_text
from livedeck.presentation.table import SELECT, Column, TableSchema
from livedeck.text.segments import (
    Line,
    ShadedLine,
    StyleRole,
    cell_len,
    clip,
    fit_height,
    linked,
    on_ground,
    shorten,
    width,
    wrap,
    wrap_groups,
)
from livedeck.text.values import compact_duration, evidence_text, safe


def alarm_key(alarm: Alarm) -> str:
    """Return the key by which the cursor follows the alarm."""
    return "\x1f".join(alarm.key)


def all_alarms(snapshot: Snapshot) -> tuple[Alarm, ...]:
    """Return the active alarms, most urgent first, then the quiet ones."""
    return (*snapshot.alarms, *snapshot.quiet)


class Section(StrEnum):
    """Sections of the alarm board, in the order from top to bottom."""

    NEW = "NEW"
    ACKNOWLEDGED = "ACKNOWLEDGED"
    SILENCED = "SILENCED"
    CLEARED = "CLEARED, NOT ACKNOWLEDGED"
    QUIET = "QUIET"


_SECTIONS = {
    AlarmState.UNACKNOWLEDGED: Section.NEW,
    AlarmState.ACKNOWLEDGED: Section.ACKNOWLEDGED,
    AlarmState.RETURNED: Section.CLEARED,
}


def section(alarm: Alarm) -> Section:
    """Return the section of an alarm. An alarm that needs no attention now is quiet."""
    if alarm.silenced and alarm.active:
        return Section.SILENCED
    return _SECTIONS.get(alarm.state, Section.QUIET)


def board_alarms(snapshot: Snapshot) -> tuple[Alarm, ...]:
    """Return all alarms by section. In a section, the most urgent alarm is first."""
    order = [*Section]
    return tuple(sorted(all_alarms(snapshot), key=lambda alarm: order.index(section(alarm))))


def section_heads(alarms: Sequence[Alarm]) -> list[tuple[int, Line]]:
    """Return the head of each section with alarms, and the row of the section's first alarm."""
    heads: list[tuple[int, Line]] = []
    first = 0
    for name, members in groupby(alarms, section):
        group = [*members]
        heads.append((first, [(f" {name}", StyleRole.RAISED), (f"  {_section_words(name, group)}", StyleRole.OFF)]))
        first += len(group)
    return heads


def _section_words(name: Section, alarms: Sequence[Alarm]) -> str:
    """Return the number of alarms of a section. Quiet alarms are counted by reason."""
    if name is not Section.QUIET:
        return str(len(alarms))
    counts = Counter(alarm.state.words for alarm in alarms)
    return ", ".join(f"{count} {word}" for word, count in counts.items())


def is_critical(alarm: Alarm) -> bool:
    """Return whether the alarm is critical and active: not shelved, suppressed, silenced or cleared."""
    return alarm.active and alarm.severity is Severity.CRITICAL and not alarm.silenced


def severity_glyph(alarm: Alarm, render_time: RenderTime) -> str:
    """Return the glyph of the severity. An unacknowledged alarm blinks at 1 Hz unless it is silenced."""
    blinks = alarm.state is AlarmState.UNACKNOWLEDGED and not alarm.silenced
    return " " if blinks and not render_time.blink_on else SEVERITY_BADGES[alarm.severity].glyph


def subject(alarm: Alarm) -> str:
    """Return the event and its affected part: `Choir / Backup restream`."""
    return safe(alarm.subject, 80) + (f" / {safe(alarm.target_name, 40)}" if alarm.target_name else "")


def subject_cell(alarm: Alarm, _: RenderTime) -> Line:
    """Return the subject, dim if the alarm is not active."""
    return [(subject(alarm), StyleRole.STRONG if alarm.active else StyleRole.DIM)]


def _severity(alarm: Alarm, render_time: RenderTime) -> Line:
    glyph, word, _ = SEVERITY_BADGES[alarm.severity]
    if not alarm.active:
        return [(f" {glyph} {word}", StyleRole.DIM)]
    return [severity_chip(alarm.severity, severity_glyph(alarm, render_time))]


def _age(alarm: Alarm, render_time: RenderTime) -> Line:
    age = compact_duration(render_time.seconds_since(alarm.since))
    return [(age, StyleRole.TEXT if alarm.active else StyleRole.DIM)]


def _kind(alarm: Alarm, _: RenderTime) -> Line:
    return [(alarm.kind, words_role(alarm.severity) if alarm.active else StyleRole.DIM)]


def _actual(alarm: Alarm, _: RenderTime, cells: int | None = None) -> Line:
    text = quiet_text(alarm) if alarm.state is AlarmState.SUPPRESSED else evidence_text(alarm)
    return [(text if cells is None else shorten(text, cells), StyleRole.TEXT if alarm.active else StyleRole.DIM)]


def _state(alarm: Alarm, render_time: RenderTime, cells: int | None = None) -> Line:
    """Return who handled the alarm and until when, with marks: number of episodes, flapping, number of events."""
    marks = [
        f"x{alarm.episodes}" if alarm.episodes > 1 else "",
        "~flapping" if alarm.flapping else "",
        "+escalated" if alarm.escalated else "",
        f"{len(alarm.affects)} events" if alarm.affects else "",
        '"' if alarm.note else "",
    ]
    text = "  ".join(word for word in (" ".join(filter(None, marks)), state_text(alarm, render_time)) if word)
    role = StyleRole.ODD if alarm.flapping else StyleRole.DIM
    return [(text if cells is None else shorten(text, cells), role)]


def state_text(alarm: Alarm, render_time: RenderTime) -> str:
    """Return who handles the alarm and for how long: `ola, 04:10 left`; empty if nobody does."""
    words = _handling_text(alarm, render_time)
    return f"{NOT_SHARED}, {words}" if words and alarm.key in render_time.unshared else words


NOT_SHARED = "not yet shared"
"""Mark of an alarm action that the collector has not received yet."""


def _handling_text(alarm: Alarm, render_time: RenderTime) -> str:
    if alarm.silenced and alarm.active:
        return silenced_text(alarm, render_time.now)
    by = safe(person(alarm.answered_by), 30) if alarm.answered_by else ""
    if alarm.state is AlarmState.ACKNOWLEDGED:
        until = alarm.acknowledged_until
        left = f"{compact_duration(-render_time.seconds_since(until))} left" if until else ""
        return ", ".join(word for word in (by or "acknowledged", left) if word)
    if alarm.state is AlarmState.RETURNED:
        return f"cleared {alarm.changed:%H:%M:%S}Z"
    if alarm.state is AlarmState.CLEARED:
        return f"cleared, acknowledged{f' by {by}' if by else ''}"
    if alarm.state is AlarmState.SHELVED and alarm.shelved_until:
        left = compact_duration(-render_time.seconds_since(alarm.shelved_until))
        return f"shelved {left}{f', {safe(alarm.reason, 40)}' if alarm.reason else ''}"
    return quiet_text(alarm) if alarm.state in {AlarmState.SHELVED, AlarmState.OUT_OF_SERVICE} else ""


ALARMS: TableSchema[Alarm] = TableSchema(
    columns=(
        Column("severity", " SEVERITY", 9, 0, _severity, lambda alarm, _: float(SEVERITY_RANKS[alarm.severity])),
        Column("since", "SINCE", 6, 1, _age, lambda alarm, at: at.seconds_since(alarm.since), right=True),
        Column(
            "event",
            "EVENT",
            NAME_CELLS,
            0,
            subject_cell,
            lambda alarm, _: alarm.subject,
            grows=True,
            max_width=MAX_NAME_CELLS,
        ),
        Column("kind", "ALARM", 17, 3, _kind, lambda alarm, _: alarm.kind),
        Column("actual", "ACTUAL", 34, 0, _actual, grows=True, draw=_actual, spills=True),
        Column("state", "STATE", 24, 5, _state, lambda alarm, _: alarm.state.value, right=True, draw=_state),
    ),
    key=alarm_key,
    is_worst_first=True,
    named_by=("event", "kind"),
    text=lambda alarm: (
        f"{alarm.subject} {alarm.target_name} {alarm.kind} {evidence_text(alarm)} {alarm.note}".casefold()
    ),
    is_critical=is_critical,
    rows=board_alarms,
    sections=section_heads,
    count=lambda alarms, _: count_words(alarms),
    has_ground=True,
    fields={
        "alarm": lambda alarm, _: (alarm.kind, f"{alarm.severity} {alarm.kind}"),
        "level": lambda alarm, _: alarm.severity.value,
        "note": lambda alarm, _: alarm.note or None,
        "id": lambda alarm, _: alarm.event_id,
    },
)

FLOOD_LINE: Line = [
    (" ▲ ALARM FLOOD  more than ten in ten minutes: start at the top, shelve known faults ", StyleRole.BANNER)
]

MAX_SUBJECT_CELLS = 24
"""Maximum width of the subject in `alarm_line`, so that the kind is always visible."""


def alarm_line(alarm: Alarm, render_time: RenderTime, cells: int) -> Line:
    """Return severity, age, subject, kind, actual and expected value on one line. A wide line also has the state.

    A cleared alarm has its state before the values, so that they do not look like values of now.
    """
    is_cleared = alarm.state is AlarmState.RETURNED
    age = compact_duration(render_time.seconds_since(alarm.since))
    head: Line = [
        severity_chip(alarm.severity, severity_glyph(alarm, render_time)),
        (f" {age:>6}  ", StyleRole.TEXT),
        *clip([(safe(alarm.subject), StyleRole.STRONG)], MAX_SUBJECT_CELLS),
        (f"  {alarm.kind}  ", words_role(alarm.severity)),
        *([(f"{alarm.state.words}  ", StyleRole.TEXT)] if is_cleared else []),
    ]
    head.append((shorten(evidence_text(alarm), max(0, cells - width(head))), StyleRole.TEXT))
    state = "" if is_cleared or alarm.state is AlarmState.UNACKNOWLEDGED else alarm.state.words
    state = silenced_text(alarm, render_time.now) or state
    return wrap_groups([(0, head), (1, [(state, StyleRole.DIM)] if state else [])], cells)


def alarm_lines(alarm: Alarm, render_time: RenderTime, cells: int, *, is_whole: bool = False) -> list[Line]:
    """Return two lines of an alarm for a narrow pane: severity, age and subject; then state, kind and values.

    The state of a new alarm is omitted. A long state goes behind the kind if it fits there. `is_whole`: values that do
    not fit go below in more lines; otherwise they are cut.
    """
    age = compact_duration(render_time.seconds_since(alarm.since))
    state = "silenced" if alarm.silenced else "" if alarm.state is AlarmState.UNACKNOWLEDGED else alarm.state.words
    is_behind = _INDENT - 2 < cell_len(state) <= cells - _INDENT - cell_len(alarm.kind) - _MIN_VALUE_CELLS
    before, behind = ("", f"{state}  ") if is_behind else (state, "")
    kind = f"{alarm.kind}  ", words_role(alarm.severity)
    words: Line = [(f"{before:>{_INDENT - 2}}  ", StyleRole.TEXT), kind, (behind, StyleRole.TEXT)]
    head: Line = [
        severity_chip(alarm.severity, severity_glyph(alarm, render_time)),
        (f" {age:>6}  ", StyleRole.TEXT),
        *clip([(subject(alarm), StyleRole.STRONG)], max(8, cells - _INDENT)),
    ]
    values, room = evidence_text(alarm), cells - width(words)
    if is_whole and cell_len(values) > room:
        below = wrap(values, StyleRole.TEXT, cells - _INDENT)
        return [head, clip(words, cells), *([(" " * _INDENT, StyleRole.TEXT), *line] for line in below)]
    return [head, clip([*words, (shorten(values, room), StyleRole.TEXT)], cells)]


_INDENT, _MIN_VALUE_CELLS = 17, 12
"""Width in cells of severity and age before the subject of an alarm; minimum width of the values and three blanks."""


def pane_length(snapshot: Snapshot) -> int:
    """Return the number of lines that `pane_lines` needs for all alarms."""
    return 2 * len(snapshot.alarms) + len(snapshot.quiet)


def pane_lines(snapshot: Snapshot, render_time: RenderTime, cells: int, rows: int) -> list[ShadedLine]:
    """Return the alarms with all values, then the quiet alarms in two dim lines each.

    In a lower pane, an alarm whose values do not fit has two lines, and so has each later alarm. In a still
    lower pane, quiet alarms have one line each. If some alarms do not fit at all, the last line has their number.
    """
    alarms, quiet = snapshot.alarms, snapshot.quiet
    if not alarms and not quiet:
        if not is_seen(snapshot, render_time):
            lost = snapshot.link.state.is_answering and missing_text(snapshot)
            cause = render_time.blame if render_time.stale else snapshot.link.blame
            return [[(lost or not_known_text(snapshot.link.as_of, cause), StyleRole.STALE)]]
        return [[("No open alarms" if snapshot.is_judged else NOT_MEASURED, StyleRole.DIM)]]
    room = rows if 2 * len(alarms) <= rows else rows - 1
    shown = alarms[: room // 2]
    free = rows - 2 * len(alarms) - 2 * len(quiet)
    lines: list[ShadedLine] = []
    for alarm in shown:
        more = _pane_lines(alarm, render_time, cells, is_whole=free > 0)
        free -= len(more) - 2
        lines += more if free >= 0 else _pane_lines(alarm, render_time, cells)
    if left := alarms[len(shown) :]:
        return [*fit_height(lines, rows - 1), _more_line(left)]
    if len(lines) + 2 * len(quiet) <= rows:
        return [*lines, *(line for alarm in quiet for line in _quiet_lines(alarm, render_time, cells))]
    return [*lines, *(_quiet_line(alarm, render_time, cells) for alarm in quiet)][:rows]


NOT_MEASURED = "No alarms so far: measuring"
"""Text for no alarms while an event on air has not been judged yet."""


def _pane_lines(alarm: Alarm, render_time: RenderTime, cells: int, *, is_whole: bool = False) -> list[ShadedLine]:
    words = alarm_lines(alarm, render_time, cells, is_whole=is_whole)
    lines: list[ShadedLine] = [*words]
    if is_critical(alarm):
        lines = [on_ground(line, StyleRole.CRITICAL, cells) for line in words]
    return [linked(line, SELECT, alarm.event_id) for line in lines] if alarm.event_id else lines


def _more_line(alarms: Sequence[Alarm]) -> Line:
    return [(f"▼ {len(alarms)} more", StyleRole.STRONG), (f": {count_words(alarms)}", StyleRole.DIM)]


def _quiet_line(alarm: Alarm, render_time: RenderTime, cells: int) -> Line:
    head, tail = _quiet_head(alarm, render_time), f"  {alarm.kind}  {quiet_text(alarm)}"
    name = clip([(subject(alarm), StyleRole.DIM)], max(NAME_CELLS // 2, cells - len(head) - len(tail)))
    return clip([(head, StyleRole.DIM), *name, (tail, StyleRole.DIM)], cells)


def _quiet_lines(alarm: Alarm, render_time: RenderTime, cells: int) -> tuple[Line, Line]:
    head = _quiet_head(alarm, render_time)
    below = f"{'':{len(head)}}{alarm.kind}  {quiet_text(alarm)}"
    return clip([(f"{head}{subject(alarm)}", StyleRole.DIM)], cells), clip([(below, StyleRole.DIM)], cells)


def _quiet_head(alarm: Alarm, render_time: RenderTime) -> str:
    glyph, word, _ = SEVERITY_BADGES[alarm.severity]
    return f" {glyph} {word}  {compact_duration(render_time.seconds_since(alarm.since)):>6}  "


def quiet_text(alarm: Alarm) -> str:
    """Return why the alarm needs no attention now."""
    if alarm.state is AlarmState.SUPPRESSED:
        return alarm.reason or (f"hidden by {alarm.parent}" if alarm.parent else "hidden")
    return f"{alarm.state.words}{f': {safe(alarm.reason, 60)}' if alarm.reason else ''}"


def count_words(alarms: Iterable[Alarm]) -> str:
    """Return the number of alarms by severity: `1 ✖, 2 ▲`."""
    counts = Counter(alarm.severity for alarm in alarms)
    return ", ".join(
        f"{counts[severity]} {SEVERITY_BADGES[severity].glyph}" for severity in Severity if counts[severity]
    )


def count_line(alarms: Iterable[Alarm], calm: str) -> Line:
    """Return a chip with the number of critical alarms and a chip with the number of warnings.

    Silenced alarms have a word of their own. `calm`: word for no alarms (`connection.calm_word`).
    """
    alarms = tuple(alarms)
    counts = Counter(alarm.severity for alarm in alarms if not alarm.silenced)
    line: Line = []
    for severity, role in ((Severity.CRITICAL, StyleRole.CRITICAL), (Severity.WARNING, StyleRole.WARNING_FILL)):
        if counts[severity]:
            chip = f" {SEVERITY_BADGES[severity].glyph} {counts[severity]} "
            line += [*([(" ", StyleRole.TEXT)] if line else []), (chip, role)]
    if silenced := sum(alarm.silenced is not None for alarm in alarms):
        return [*line, (f"{' ' if line else ''}{silenced} silenced", StyleRole.DIM)]
    return line or ([(calm, StyleRole.DIM)] if calm else [])


def affected_names(alarm: Alarm, snapshot: Snapshot) -> str:
    """Return the names of an incident's events. An event that is no longer listed is named by its id."""
    states = {event_id: snapshot.find(event_id) for event_id in alarm.affects}
    return ", ".join(event_name(state) if state else safe(event_id) for event_id, state in states.items())


def rule_words(change: RuleChange, subject: str) -> str:
    """Return a change of the rules that judge an event: `Main stage: baseline set by anna@regie`.

    `subject`: name of the event; empty for all events.
    """
    text = safe(change.text, 400)
    return text if change.is_fault else f"{safe(subject, 80) or 'every event'}: {text}"


def answered_by(alarm: Alarm) -> str:
    """Return who handled the alarm and when: `anna@regie 21:04:11Z`. Empty if nobody did or the alarm is new again."""
    is_handled = alarm.state in _HANDLED or (alarm.state is AlarmState.SUPPRESSED and alarm.acknowledged_at)
    if not is_handled or not alarm.answered_by or alarm.answered_at is None:
        return ""
    return f"{safe(person(alarm.answered_by), 60)} {alarm.answered_at:%H:%M:%S}Z"


_HANDLED = {AlarmState.ACKNOWLEDGED, AlarmState.SHELVED, AlarmState.OUT_OF_SERVICE, AlarmState.CLEARED}
