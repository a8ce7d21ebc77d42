"""The selected alarm in full, and the logs: alarms, actions, notices, the connection; newest first. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from livedeck.monitor import (
    ActionRecord,
    Alarm,
    AlarmRecord,
    AlarmState,
    AlarmTransition,
    LinkRecord,
    NotificationRecord,
    person,
)
from livedeck.presentation.alarms import answered_by, subject_cell
from livedeck.presentation.badges import (
    ALARM_STATE_BADGES,
    CONNECTION_BADGES,
    OUTCOME_BADGES,
    SEVERITY_BADGES,
    severity_chip,
    words_role,
)
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import Column, TableSchema
from livedeck.text.segments import Line, StyleRole, fit, labelled, plain, wrap
from livedeck.text.values import age, safe, short_duration
from livedeck.ui.shell.preferences import Notice

TABS = ("board", "incidents", "actions", "notices", "connection")
"""The board, and the logs by the words of their tabs."""

LABEL_CELLS = 11


def detail(alarm: Alarm, render_time: RenderTime, cells: int) -> list[Line]:
    """Everything about an alarm in so many cells, most needed first, so that a short panel keeps what people wrote and
    what to do."""
    glyph, word, _ = SEVERITY_BADGES[alarm.severity]
    chip = severity_chip(alarm.severity) if alarm.active else (f" {glyph} {word} ", StyleRole.DIM)
    _, state, state_role = ALARM_STATE_BADGES[alarm.state]
    diagnosis = alarm.diagnosis
    facts = {"reason": alarm.reason, "note": alarm.note, "hidden by": alarm.parent}
    return [
        [
            chip,
            (f" {alarm.kind}  ", words_role(alarm.severity) if alarm.active else StyleRole.DIM),
            *subject_cell(alarm, render_time),
            (f"   {state} for {age(render_time.seconds_since(alarm.changed))}", state_role),
            (_until(alarm, render_time), StyleRole.DIM),
            (_by(alarm), StyleRole.DIM),
        ],
        *(_fact(label, text) for label, text in facts.items() if text),
        _fact("actual", alarm.actual, f"expected {alarm.expected}" if alarm.expected else ""),
        _fact("cause", diagnosis.cause),
        _fact("viewers", diagnosis.viewers),
        _fact("do", diagnosis.advice),
        _fact(
            "since",
            f"{alarm.since:%H:%M:%S}Z",
            f"{alarm.episodes} times in the last 10 min" if alarm.episodes > 1 else "",
        ),
        *_timeline(alarm, cells),
    ]


def _timeline(alarm: Alarm, cells: int) -> list[Line]:
    """What became of it, the newest first; nothing where it has only been raised."""
    if len(alarm.timeline) < 2:
        return []
    entries = (
        f"{entry.at:%H:%M:%S}Z {safe(entry.text, 200)}{f' by {safe(person(entry.actor), 60)}' if entry.actor else ''}"
        for entry in reversed(alarm.timeline)
    )
    lines = wrap(" · ".join(entries), StyleRole.DIM, cells - LABEL_CELLS)
    return [labelled("" if row else "timeline", line, LABEL_CELLS) for row, line in enumerate(lines)]


def _by(alarm: Alarm) -> str:
    """Who answered for it, and when."""
    by = answered_by(alarm)
    return f"  by {by}" if by else ""


def _until(alarm: Alarm, render_time: RenderTime) -> str:
    until = alarm.shelved_until if alarm.state is AlarmState.SHELVED else alarm.acknowledged_until
    if alarm.state is AlarmState.SHELVED and until is None:
        return "  until it is over"
    if until is None or alarm.state not in {AlarmState.SHELVED, AlarmState.ACKNOWLEDGED}:
        return ""
    return f"  {short_duration(-render_time.seconds_since(until))} left"


def _fact(label: str, text: str, more: str = "") -> Line:
    line = labelled(label, [(safe(text), StyleRole.TEXT)], LABEL_CELLS)
    return [*line, (f"   {safe(more)}", StyleRole.DIM)] if more else line


LogRecord = AlarmRecord | ActionRecord | LinkRecord | NotificationRecord | Notice


def newest_first(records: Iterable[LogRecord]) -> list[LogRecord]:
    """The records by their time, the newest first."""
    return sorted(records, key=lambda record: record.at, reverse=True)


def log_line(record: LogRecord) -> Line:
    """When, how loud, what, to what."""
    if isinstance(record, AlarmRecord):
        return _alarm(record)
    if isinstance(record, ActionRecord):
        return _action(record)
    if isinstance(record, LinkRecord):
        return _connection(record)
    return _notice(record)


def _time(at: datetime) -> Line:
    return [(f" {at:%d %b} ", StyleRole.DIM), (f"{at:%H:%M:%S}Z  ", StyleRole.TEXT)]


def _alarm(record: AlarmRecord) -> Line:
    glyph, word, _ = SEVERITY_BADGES[record.severity]
    loud = record.turn in {AlarmTransition.RAISED, AlarmTransition.SEVERITY, AlarmTransition.LAPSED}
    target = f" / {safe(record.target_name, 40)}" if record.target_name else ""
    by = f"by {safe(person(record.actor), 60)}" if record.actor else ""
    words = " ".join(text for text in (by, safe(record.reason, 200), safe(record.note, 200)) if text)
    return [
        *_time(record.at),
        *fit([severity_chip(record.severity) if loud else (f" {glyph} {word} ", StyleRole.DIM)], 9),
        *fit([(record.turn.value, StyleRole.STRONG if loud else StyleRole.TEXT)], 22),
        *fit([(f"{safe(record.subject, 60)}{target}", StyleRole.STRONG)], 26, ellipsis=True),
        *fit([(f" {record.kind}", words_role(record.severity) if loud else StyleRole.DIM)], 18),
        (f" {safe(record.actual)}", StyleRole.TEXT),
        (f"   {words}" if words else "", StyleRole.DIM),
    ]


def _action(record: ActionRecord) -> Line:
    glyph, word, role = OUTCOME_BADGES[record.outcome]
    edits = "  ".join(f"{edit.name}: {edit.before} -> {edit.after}" for edit in record.edits)
    return [
        *_time(record.at),
        *fit([(f"{glyph} {word}", role)], 14),
        *fit([(record.action, StyleRole.STRONG)], 20),
        *fit([(safe(record.target_name or record.target_id, 60), StyleRole.TEXT)], 26, ellipsis=True),
        (f" {safe(record.detail)}", StyleRole.TEXT),
        (f"   {safe(edits)}" if edits else "", StyleRole.DIM),
    ]


def _connection(record: LinkRecord) -> Line:
    glyph, _, role = CONNECTION_BADGES[record.state]
    return [
        *_time(record.at),
        *fit([(f"{glyph} {record.state.value}", role)], 14),
        *fit([(record.trouble.value, role)], 20),
        (safe(record.why), StyleRole.TEXT),
    ]


def _notice(record: NotificationRecord | Notice) -> Line:
    title = f"{safe(record.title)}  " if isinstance(record, NotificationRecord) else ""
    return [
        *_time(record.at),
        *fit([severity_chip(record.severity)], 9),
        (title, StyleRole.STRONG),
        (safe(record.text), StyleRole.TEXT),
    ]


LOG: TableSchema[LogRecord] = TableSchema(
    columns=(
        Column(
            "entry",
            "WHEN (UTC)",
            40,
            0,
            lambda record, _: log_line(record),
            lambda record, _: record.at.timestamp(),
            grows=True,
        ),
    ),
    key=lambda record: f"{record.at.timestamp()} {hash(record)}",
    text=lambda record: plain(log_line(record)).casefold(),
)
