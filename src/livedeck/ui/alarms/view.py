"""The board of alarms, most urgent first, and the logs, newest first, as lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from livedeck.monitor import (
    ActionRecord,
    Alarm,
    AlarmRecord,
    AlarmState,
    AlarmTransition,
    AuditOutcome,
    ConnectionState,
    LinkRecord,
    NotificationRecord,
    Severity,
    Snapshot,
)
from livedeck.presentation.events import NAME_MOST, SEVERITIES
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import Column, TableSchema, Value
from livedeck.text import values
from livedeck.text.segments import Line, StyleRole, fit, plain
from livedeck.ui.shell.preferences import Notice

STATES: Mapping[AlarmState, tuple[str, str, StyleRole]] = MappingProxyType(
    {
        AlarmState.UNACKNOWLEDGED: ("!", "UNACKNOWLEDGED", StyleRole.CRITICAL),
        AlarmState.RETURNED: ("r", "over, not acknowledged", StyleRole.WARNING),
        AlarmState.ACKNOWLEDGED: ("a", "acknowledged", StyleRole.TEXT),
        AlarmState.SHELVED: ("s", "shelved", StyleRole.DIM),
        AlarmState.SUPPRESSED: ("p", "suppressed", StyleRole.DIM),
        AlarmState.OUT_OF_SERVICE: ("o", "out of service", StyleRole.DIM),
        AlarmState.CLEARED: ("-", "cleared", StyleRole.DIM),
    }
)

"""Sign, word and ink of each state (ISA-18.2)."""


def key(alarm: Alarm) -> str:
    """What the cursor follows."""
    return "\x1f".join(alarm.key)


def is_critical(alarm: Alarm) -> bool:
    """Critical, and not put away."""
    return alarm.active and alarm.severity is Severity.CRITICAL


def _severity(alarm: Alarm, moment: RenderTime) -> Line:
    glyph, word, ink = SEVERITIES[alarm.severity]
    if not alarm.active:
        return [(f" {glyph} {word}", StyleRole.DIM)]
    return [(" ", ink), (sign(alarm, glyph, moment), ink), (f" {word}", ink)]


def sign(alarm: Alarm, glyph: str, moment: RenderTime) -> str:
    """The glyph; that of an unacknowledged alarm blinks at 1 Hz (interface.md), and nothing else does."""
    return glyph if moment.blink_on or alarm.state is not AlarmState.UNACKNOWLEDGED else " "


def _state(alarm: Alarm, _: RenderTime) -> Line:
    glyph, word, ink = STATES[alarm.state]
    return [(f"{glyph} {word}", ink)]


def _age(alarm: Alarm, moment: RenderTime) -> Line:
    return [
        (values.compact_duration(moment.seconds_since(alarm.since)), StyleRole.TEXT if alarm.active else StyleRole.DIM)
    ]


def _subject(alarm: Alarm, _: RenderTime) -> Line:
    part = f" / {values.safe(alarm.target_name, 40)}" if alarm.target_name else ""
    return [(f"{values.safe(alarm.subject, 80)}{part}", StyleRole.STRONG if alarm.active else StyleRole.DIM)]


def _kind(alarm: Alarm, _: RenderTime) -> Line:
    return [(alarm.kind, SEVERITIES[alarm.severity][2] if alarm.active else StyleRole.DIM)]


def _actual(alarm: Alarm, _: RenderTime) -> Line:
    return [(values.safe(alarm.actual), StyleRole.TEXT if alarm.active else StyleRole.DIM)]


def _marks(alarm: Alarm, _: RenderTime) -> Line:
    """How often it came, where that is more than once; and what else it is."""
    words = [
        f"x{alarm.episodes}" if alarm.episodes > 1 else "",
        "~flapping" if alarm.flapping else "",
        "+escalated" if alarm.escalated else "",
        f"{len(alarm.affects)} events" if alarm.affects else "",
        '"' if alarm.note else "",
    ]
    return [(" ".join(word for word in words if word), StyleRole.ODD if alarm.flapping else StyleRole.TEXT)]


def _rank(alarm: Alarm, _: RenderTime) -> Value:
    return float(list(Severity).index(alarm.severity))


def board(snapshot: Snapshot) -> tuple[Alarm, ...]:
    """What must be read first, then what is quiet."""
    return (*snapshot.alarms, *snapshot.quiet)


BOARD: TableSchema[Alarm] = TableSchema(
    columns=(
        Column("severity", " SEVERITY", 9, 0, _severity, _rank),
        Column("since", "SINCE", 6, 1, _age, lambda alarm, moment: moment.seconds_since(alarm.since), right=True),
        Column("event", "EVENT", 16, 0, _subject, lambda alarm, _: alarm.subject, grows=True, max_width=NAME_MOST),
        Column("kind", "ALARM", 17, 0, _kind, lambda alarm, _: alarm.kind),
        Column("actual", "ACTUAL", 22, 5, _actual, grows=True, max_width=60),
        Column("state", "STATE", 24, 2, _state, lambda alarm, _: alarm.state.value),
        Column("marks", "", 12, 6, _marks),
    ),
    key=key,
    text=lambda alarm: f"{alarm.subject} {alarm.target_name} {alarm.kind} {alarm.actual} {alarm.note}".casefold(),
    is_critical=is_critical,
    rows=board,
    fields={
        "alarm": lambda alarm, _: (alarm.kind, f"{alarm.severity} {alarm.kind}"),
        "level": lambda alarm, _: alarm.severity.value,
        "note": lambda alarm, _: alarm.note or None,
        "id": lambda alarm, _: alarm.event_id,
    },
)


LABEL_CELLS = 11


def detail(alarm: Alarm, moment: RenderTime) -> list[Line]:
    """Everything an alarm says, most needed first, so that a short panel keeps what people wrote and what to do."""
    glyph, word, ink = SEVERITIES[alarm.severity]
    _, state, state_ink = STATES[alarm.state]
    said = alarm.diagnosis
    told = (("reason", alarm.reason), ("note", alarm.note), ("hidden by", alarm.parent))
    return [
        [
            (f" {glyph} {word}  {alarm.kind}  ", ink if alarm.active else StyleRole.DIM),
            *_subject(alarm, moment),
            (f"   {state} for {values.age(moment.seconds_since(alarm.changed))}", state_ink),
            (_until(alarm, moment), StyleRole.DIM),
        ],
        *(_labelled(label, text) for label, text in told if text),
        _labelled("actual", alarm.actual, f"expected {alarm.expected}" if alarm.expected else ""),
        _labelled("cause", said.cause),
        _labelled("viewers", said.viewers),
        _labelled("do", said.advice),
        _labelled(
            "since",
            f"{alarm.since:%H:%M:%S}Z",
            f"{alarm.episodes} times in the last 10 min" if alarm.episodes > 1 else "",
        ),
    ]


def _until(alarm: Alarm, moment: RenderTime) -> str:
    until = alarm.shelved_until if alarm.state is AlarmState.SHELVED else alarm.acknowledged_until
    if alarm.state is AlarmState.SHELVED and until is None:
        return "  until it is over"
    if until is None or alarm.state not in {AlarmState.SHELVED, AlarmState.ACKNOWLEDGED}:
        return ""
    return f"  {values.short_duration(-moment.seconds_since(until))} left"


def _labelled(label: str, text: str, more: str = "") -> Line:
    line: Line = [*fit([(f" {label}", StyleRole.HEAD)], LABEL_CELLS), (values.safe(text), StyleRole.TEXT)]
    return [*line, (f"   {values.safe(more)}", StyleRole.DIM)] if more else line


Logged = AlarmRecord | ActionRecord | LinkRecord | NotificationRecord | Notice


OUTCOMES = {
    AuditOutcome.APPLIED: ("✓", StyleRole.OK),
    AuditOutcome.NOT_APPLIED: ("✖", StyleRole.CRITICAL),
    AuditOutcome.REFUSED: ("▲", StyleRole.WARNING),
    AuditOutcome.UNKNOWN: ("?", StyleRole.CRITICAL),
}


LINKS = {
    ConnectionState.OK: ("✓", StyleRole.OK),
    ConnectionState.CONNECTING: ("○", StyleRole.INFO),
    ConnectionState.FAILING: ("▲", StyleRole.WARNING),
    ConnectionState.BLIND: ("✖", StyleRole.CRITICAL),
}


def newest(records: Sequence[Logged]) -> list[Logged]:
    """The newest first."""
    return sorted(records, key=lambda one: one.at, reverse=True)


def line(one: Logged) -> Line:
    """When, how loud, what, to what."""
    if isinstance(one, AlarmRecord):
        return _alarm(one)
    if isinstance(one, ActionRecord):
        return _action(one)
    if isinstance(one, LinkRecord):
        return _link(one)
    return _notice(one)


def _when(at: datetime) -> Line:
    return [(f" {at:%d %b} ", StyleRole.DIM), (f"{at:%H:%M:%S}Z  ", StyleRole.TEXT)]


def _alarm(one: AlarmRecord) -> Line:
    glyph, word, ink = SEVERITIES[one.severity]
    loud = one.turn in {AlarmTransition.RAISED, AlarmTransition.SEVERITY, AlarmTransition.LAPSED}
    part = f" / {values.safe(one.target_name, 40)}" if one.target_name else ""
    why = " ".join(values.safe(text, 200) for text in (one.reason, one.note) if text)
    return [
        *_when(one.at),
        *fit([(f"{glyph} {word} ", ink if loud else StyleRole.DIM)], 8),
        *fit([(one.turn.value, StyleRole.STRONG if loud else StyleRole.TEXT)], 22),
        *fit([(f"{values.safe(one.subject, 60)}{part}", StyleRole.STRONG)], 26, ellipsis=True),
        *fit([(f" {one.kind}", ink if loud else StyleRole.DIM)], 18),
        (f" {values.safe(one.actual)}", StyleRole.TEXT),
        (f"   {why}" if why else "", StyleRole.DIM),
    ]


def _action(one: ActionRecord) -> Line:
    glyph, ink = OUTCOMES[one.outcome]
    edits = "  ".join(f"{edit.name}: {edit.before} -> {edit.after}" for edit in one.edits)
    return [
        *_when(one.at),
        *fit([(f"{glyph} {one.outcome.value}", ink)], 14),
        *fit([(one.action, StyleRole.STRONG)], 20),
        *fit([(values.safe(one.target_name or one.target_id, 60), StyleRole.TEXT)], 26, ellipsis=True),
        (f" {values.safe(one.detail)}", StyleRole.TEXT),
        (f"   {values.safe(edits)}" if edits else "", StyleRole.DIM),
    ]


def _link(one: LinkRecord) -> Line:
    glyph, ink = LINKS[one.state]
    return [
        *_when(one.at),
        *fit([(f"{glyph} {one.state.value}", ink)], 14),
        *fit([(one.trouble.value, ink)], 20),
        (values.safe(one.why), StyleRole.TEXT),
    ]


def _notice(one: NotificationRecord | Notice) -> Line:
    glyph, word, ink = SEVERITIES[one.severity]
    title = f"{values.safe(one.title)}  " if isinstance(one, NotificationRecord) else ""
    return [
        *_when(one.at),
        *fit([(f"{glyph} {word}", ink)], 8),
        (title, StyleRole.STRONG),
        (values.safe(one.text), StyleRole.TEXT),
    ]


LOG: TableSchema[Logged] = TableSchema(
    columns=(
        Column("entry", "WHEN (UTC)", 40, 0, lambda one, _: line(one), lambda one, _: one.at.timestamp(), grows=True),
    ),
    key=lambda one: f"{one.at.timestamp()} {hash(one)}",
    text=lambda one: plain(line(one)).casefold(),
)
