"""Cells, columns and lines of alarms. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import groupby

from livedeck.monitor import Alarm, AlarmState, RuleChange, Severity, Snapshot, person
from livedeck.presentation.badges import ALARM_STATE_BADGES, SEVERITY_BADGES, SEVERITY_RANKS, severity_chip, words_role
from livedeck.presentation.connection import is_seen, not_known_text
from livedeck.presentation.events import MAX_NAME_CELLS, NAME_CELLS
from livedeck.presentation.events import name as event_name
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import SELECT, Column, TableSchema
from livedeck.text.segments import (
    Line,
    ShadedLine,
    StyleRole,
    clip,
    fit_height,
    linked,
    on_ground,
    shorten,
    width,
    wrap_groups,
)
from livedeck.text.values import compact_duration, safe


def alarm_key(alarm: Alarm) -> str:
    """The identity that the cursor follows, as text."""
    return "\x1f".join(alarm.key)


def all_alarms(snapshot: Snapshot) -> tuple[Alarm, ...]:
    """The active alarms, most urgent first, then the quiet ones."""
    return (*snapshot.alarms, *snapshot.quiet)


class Section(StrEnum):
    """Where an alarm stands on the board, the first section first."""

    UNREAD = "UNREAD"
    READ = "READ, STILL WRONG"
    OVER = "OVER, NOT READ"
    QUIET = "QUIET"


_SECTIONS = {
    AlarmState.UNACKNOWLEDGED: Section.UNREAD,
    AlarmState.ACKNOWLEDGED: Section.READ,
    AlarmState.RETURNED: Section.OVER,
}


def section(alarm: Alarm) -> Section:
    """By its state: what needs nobody now is quiet."""
    return _SECTIONS.get(alarm.state, Section.QUIET)


def board_alarms(snapshot: Snapshot) -> tuple[Alarm, ...]:
    """All alarms, section by section; within one the most urgent first."""
    order = [*Section]
    return tuple(sorted(all_alarms(snapshot), key=lambda alarm: order.index(section(alarm))))


def section_heads(alarms: Sequence[Alarm]) -> list[tuple[int, Line]]:
    """The head of each section that has alarms, and the number of its first one."""
    heads: list[tuple[int, Line]] = []
    first = 0
    for name, members in groupby(alarms, section):
        group = [*members]
        heads.append((first, [(f" {name}", StyleRole.RAISED), (f"  {_section_words(name, group)}", StyleRole.OFF)]))
        first += len(group)
    return heads


def _section_words(name: Section, alarms: Sequence[Alarm]) -> str:
    """How many there are; of the quiet ones, why they are."""
    if name is not Section.QUIET:
        return str(len(alarms))
    counts = Counter(_QUIET_WORDS.get(alarm.state, alarm.state.value) for alarm in alarms)
    return ", ".join(f"{count} {word}" for word, count in counts.items())


_QUIET_WORDS = {AlarmState.SUPPRESSED: "hidden by another", AlarmState.CLEARED: "over and read"}


def is_critical(alarm: Alarm) -> bool:
    """Whether the alarm is critical and active: not shelved, suppressed or cleared."""
    return alarm.active and alarm.severity is Severity.CRITICAL


def severity_glyph(alarm: Alarm, render_time: RenderTime) -> str:
    """The glyph of its severity. That of an unacknowledged alarm blinks at 1 Hz (interface.md, "Colours"); nothing
    else does."""
    blinks = alarm.state is AlarmState.UNACKNOWLEDGED
    return " " if blinks and not render_time.blink_on else SEVERITY_BADGES[alarm.severity].glyph


def subject(alarm: Alarm) -> str:
    """The event, and the part of it that is wrong: `Choir / Backup restream`."""
    return safe(alarm.subject, 80) + (f" / {safe(alarm.target_name, 40)}" if alarm.target_name else "")


def subject_cell(alarm: Alarm, _: RenderTime) -> Line:
    """The subject; dim where the alarm is not active."""
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
    text = quiet_text(alarm) if alarm.state is AlarmState.SUPPRESSED else safe(alarm.actual)
    return [(text if cells is None else shorten(text, cells), StyleRole.TEXT if alarm.active else StyleRole.DIM)]


def _state(alarm: Alarm, render_time: RenderTime, cells: int | None = None) -> Line:
    """Who answered and for how long, and what else is to be known: how often it came, of how many events."""
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
    """What a person made of it, in words: `ola, 04:10 left`; empty where nobody did."""
    words = _answer_text(alarm, render_time)
    return f"{NOT_SHARED}, {words}" if words and alarm.key in render_time.unshared else words


NOT_SHARED = "not yet shared"
"""Beside an answer of which the collector does not know yet."""


def _answer_text(alarm: Alarm, render_time: RenderTime) -> str:
    by = safe(person(alarm.answered_by), 30) if alarm.answered_by else ""
    if alarm.state is AlarmState.ACKNOWLEDGED:
        until = alarm.acknowledged_until
        left = f"{compact_duration(-render_time.seconds_since(until))} left" if until else ""
        return ", ".join(word for word in (by or "read", left) if word)
    if alarm.state is AlarmState.RETURNED:
        return f"over {alarm.changed:%H:%M:%S}Z"
    if alarm.state is AlarmState.CLEARED:
        return f"over, read{f' by {by}' if by else ''}"
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
        Column("actual", "ACTUAL", 34, 0, _actual, grows=True, draw=_actual),
        Column("state", "STATE", 24, 5, _state, lambda alarm, _: alarm.state.value, right=True, draw=_state),
    ),
    key=alarm_key,
    is_worst_first=True,
    named_by=("event", "kind"),
    text=lambda alarm: f"{alarm.subject} {alarm.target_name} {alarm.kind} {alarm.actual} {alarm.note}".casefold(),
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
    (" ▲ ALARM FLOOD  more than ten in ten minutes: work from the top, shelve what is known ", StyleRole.BANNER)
]

MAX_SUBJECT_CELLS = 24
"""A longer subject is cut in `alarm_line`, so that the kind of the alarm is always visible."""


def alarm_line(alarm: Alarm, render_time: RenderTime, cells: int) -> Line:
    """Severity, age, subject, kind and actual on one line; what was expected, and its state, where there is room."""
    age = compact_duration(render_time.seconds_since(alarm.since))
    head: Line = [
        severity_chip(alarm.severity, severity_glyph(alarm, render_time)),
        (f" {age:>6}  ", StyleRole.TEXT),
        *clip([(safe(alarm.subject), StyleRole.STRONG)], MAX_SUBJECT_CELLS),
        (f"  {alarm.kind}  ", words_role(alarm.severity)),
    ]
    head.append((shorten(safe(alarm.actual), cells - width(head)), StyleRole.TEXT))
    expected = f"expected {safe(alarm.expected)}" if alarm.expected else ""
    state = "" if alarm.state is AlarmState.UNACKNOWLEDGED else f"{alarm.state}"
    rest = [(rank, [(text, StyleRole.DIM)]) for rank, text in ((2, expected), (1, state)) if text]
    return wrap_groups([(0, head), *rest], cells)


def alarm_lines(alarm: Alarm, render_time: RenderTime, cells: int) -> list[Line]:
    """The alarm in two lines, for a narrow pane: severity, age and subject; below it its state where it is no longer
    unread, kind and actual."""
    age = compact_duration(render_time.seconds_since(alarm.since))
    state = "" if alarm.state is AlarmState.UNACKNOWLEDGED else ALARM_STATE_BADGES[alarm.state].word
    words: Line = [(f"{state:>15}  ", StyleRole.TEXT), (f"{alarm.kind}  ", words_role(alarm.severity))]
    return [
        [
            severity_chip(alarm.severity, severity_glyph(alarm, render_time)),
            (f" {age:>6}  ", StyleRole.TEXT),
            *clip([(subject(alarm), StyleRole.STRONG)], max(8, cells - 17)),
        ],
        clip([*words, (shorten(safe(alarm.actual), cells - width(words)), StyleRole.TEXT)], cells),
    ]


def pane_lines(snapshot: Snapshot, render_time: RenderTime, cells: int, rows: int) -> list[ShadedLine]:
    """The alarms in two lines each, critical ones on a ground of that; below them the quiet ones in one, dim. What has
    no room is counted in the last line."""
    alarms, quiet = snapshot.alarms, snapshot.quiet
    if not alarms and not quiet:
        if not is_seen(snapshot, render_time):
            return [[(not_known_text(snapshot.link.as_of), StyleRole.STALE)]]
        return [[("nothing to read", StyleRole.DIM)]]
    room = rows if 2 * len(alarms) <= rows else rows - 1
    shown = alarms[: room // 2]
    lines = [
        linked(line, SELECT, alarm.event_id) if alarm.event_id else line
        for alarm in shown
        for line in _pane_lines(alarm, render_time, cells)
    ]
    if left := alarms[len(shown) :]:
        return [*fit_height(lines, rows - 1), _more_line(left)]
    return [*lines, *(_quiet_line(alarm, render_time, cells) for alarm in quiet)][:rows]


def _pane_lines(alarm: Alarm, render_time: RenderTime, cells: int) -> list[ShadedLine]:
    lines = alarm_lines(alarm, render_time, cells)
    return [on_ground(line, StyleRole.CRITICAL, cells) for line in lines] if is_critical(alarm) else [*lines]


def _more_line(alarms: Sequence[Alarm]) -> Line:
    return [(f"▼ {len(alarms)} more", StyleRole.STRONG), (f": {count_words(alarms)}", StyleRole.DIM)]


def _quiet_line(alarm: Alarm, render_time: RenderTime, cells: int) -> Line:
    glyph, word, _ = SEVERITY_BADGES[alarm.severity]
    age = compact_duration(render_time.seconds_since(alarm.since))
    head, tail = f" {glyph} {word}  {age:>6}  ", f"  {alarm.kind}  {quiet_text(alarm)}"
    name = clip([(subject(alarm), StyleRole.DIM)], max(NAME_CELLS // 2, cells - len(head) - len(tail)))
    return clip([(head, StyleRole.DIM), *name, (tail, StyleRole.DIM)], cells)


def quiet_text(alarm: Alarm) -> str:
    """Why the alarm needs nobody now."""
    if alarm.state is AlarmState.SUPPRESSED:
        return f"hidden by {alarm.parent}" if alarm.parent else "hidden"
    return f"{alarm.state}{f': {safe(alarm.reason, 60)}' if alarm.reason else ''}"


def count_words(alarms: Iterable[Alarm]) -> str:
    """How many of what severity: `1 ✖, 2 ▲`."""
    counts = Counter(alarm.severity for alarm in alarms)
    return ", ".join(
        f"{counts[severity]} {SEVERITY_BADGES[severity].glyph}" for severity in Severity if counts[severity]
    )


def count_line(alarms: Iterable[Alarm], *, is_known: bool) -> Line:
    """A chip for critical alarms and one for warnings, each with their number; `clear` where there are none, and that
    `is_known`.
    """
    counts = Counter(alarm.severity for alarm in alarms)
    line: Line = []
    for severity, role in ((Severity.CRITICAL, StyleRole.CRITICAL), (Severity.WARNING, StyleRole.WARNING_FILL)):
        if counts[severity]:
            chip = f" {SEVERITY_BADGES[severity].glyph} {counts[severity]} "
            line += [*([(" ", StyleRole.TEXT)] if line else []), (chip, role)]
    return line or ([("clear", StyleRole.DIM)] if is_known else [])


def affected_names(alarm: Alarm, snapshot: Snapshot) -> str:
    """The events of an incident by their names; the id of one that is not listed any more."""
    states = {event_id: snapshot.find(event_id) for event_id in alarm.affects}
    return ", ".join(event_name(state) if state else safe(event_id) for event_id, state in states.items())


def rule_words(change: RuleChange, subject: str) -> str:
    """How an event is judged otherwise than before: `Main stage: taken as usual by anna@regie`. `subject`: which one,
    empty for all.
    """
    text = safe(change.text, 400)
    return text if change.is_fault else f"{safe(subject, 80) or 'every event'}: {text}"


def answered_by(alarm: Alarm) -> str:
    """Who answered for it, and when: `anna@regie 21:04:11Z`; empty where nobody did, or it asks again."""
    is_answered = alarm.state in _ANSWERED or (alarm.state is AlarmState.SUPPRESSED and alarm.acknowledged_at)
    if not is_answered or not alarm.answered_by or alarm.answered_at is None:
        return ""
    return f"{safe(person(alarm.answered_by), 60)} {alarm.answered_at:%H:%M:%S}Z"


_ANSWERED = {AlarmState.ACKNOWLEDGED, AlarmState.SHELVED, AlarmState.OUT_OF_SERVICE, AlarmState.CLEARED}
