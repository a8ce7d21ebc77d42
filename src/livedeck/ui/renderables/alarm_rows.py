"""The board: every alarm that is, was a moment ago, or was put away; most urgent first."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from livedeck import wording
from livedeck.monitor import Alarm, AlarmState, Severity, Snapshot
from livedeck.ui.renderables.cells import NAME_MOST, SEVERITIES
from livedeck.ui.renderables.columns import Column, Sheet, Value
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line, fit
from livedeck.ui.renderables.moment import Moment

STATES: Mapping[AlarmState, tuple[str, str, Ink]] = MappingProxyType(
    {
        AlarmState.UNACKNOWLEDGED: ("!", "UNACKNOWLEDGED", Ink.CRITICAL),
        AlarmState.RETURNED: ("r", "over, not acknowledged", Ink.WARNING),
        AlarmState.ACKNOWLEDGED: ("a", "acknowledged", Ink.TEXT),
        AlarmState.SHELVED: ("s", "shelved", Ink.DIM),
        AlarmState.SUPPRESSED: ("p", "suppressed", Ink.DIM),
        AlarmState.OUT_OF_SERVICE: ("o", "out of service", Ink.DIM),
        AlarmState.CLEARED: ("-", "cleared", Ink.DIM),
    }
)
"""Sign, word and ink of each state (ISA-18.2)."""


def key(alarm: Alarm) -> str:
    """What the cursor follows."""
    return "\x1f".join(alarm.key)


def grave(alarm: Alarm) -> bool:
    """Critical, and not put away."""
    return alarm.active and alarm.severity is Severity.CRITICAL


def _severity(alarm: Alarm, moment: Moment) -> Line:
    glyph, word, ink = SEVERITIES[alarm.severity]
    if not alarm.active:
        return [(f" {glyph} {word}", Ink.DIM)]
    return [(" ", ink), (sign(alarm, glyph, moment), ink), (f" {word}", ink)]


def sign(alarm: Alarm, glyph: str, moment: Moment) -> str:
    """The glyph; that of an unacknowledged alarm blinks at 1 Hz (interface.md), and nothing else does."""
    return glyph if moment.lit or alarm.state is not AlarmState.UNACKNOWLEDGED else " "


def _state(alarm: Alarm, _: Moment) -> Line:
    glyph, word, ink = STATES[alarm.state]
    return [(f"{glyph} {word}", ink)]


def _age(alarm: Alarm, moment: Moment) -> Line:
    return [(wording.brief(moment.since(alarm.since)), Ink.TEXT if alarm.active else Ink.DIM)]


def _subject(alarm: Alarm, _: Moment) -> Line:
    part = f" / {wording.safe(alarm.target_name, 40)}" if alarm.target_name else ""
    return [(f"{wording.safe(alarm.subject, 80)}{part}", Ink.STRONG if alarm.active else Ink.DIM)]


def _kind(alarm: Alarm, _: Moment) -> Line:
    return [(alarm.kind, SEVERITIES[alarm.severity][2] if alarm.active else Ink.DIM)]


def _actual(alarm: Alarm, _: Moment) -> Line:
    return [(wording.safe(alarm.actual), Ink.TEXT if alarm.active else Ink.DIM)]


def _marks(alarm: Alarm, _: Moment) -> Line:
    """How often it came, where that is more than once; and what else it is."""
    words = [
        f"x{alarm.episodes}" if alarm.episodes > 1 else "",
        "~flapping" if alarm.flapping else "",
        "+escalated" if alarm.escalated else "",
        f"{len(alarm.affects)} events" if alarm.affects else "",
        '"' if alarm.note else "",
    ]
    return [(" ".join(word for word in words if word), Ink.ODD if alarm.flapping else Ink.TEXT)]


def _rank(alarm: Alarm, _: Moment) -> Value:
    return float(list(Severity).index(alarm.severity))


def board(snapshot: Snapshot) -> tuple[Alarm, ...]:
    """What must be read first, then what is quiet."""
    return (*snapshot.alarms, *snapshot.quiet)


BOARD: Sheet[Alarm] = Sheet(
    columns=(
        Column("severity", " SEVERITY", 9, 0, _severity, _rank),
        Column("since", "SINCE", 6, 1, _age, lambda alarm, moment: moment.since(alarm.since), right=True),
        Column("event", "EVENT", 16, 0, _subject, lambda alarm, _: alarm.subject, wide=True, most=NAME_MOST),
        Column("kind", "ALARM", 17, 0, _kind, lambda alarm, _: alarm.kind),
        Column("actual", "ACTUAL", 22, 5, _actual, wide=True, most=60),
        Column("state", "STATE", 24, 2, _state, lambda alarm, _: alarm.state.value),
        Column("marks", "", 12, 6, _marks),
    ),
    key=key,
    text=lambda alarm: f"{alarm.subject} {alarm.target_name} {alarm.kind} {alarm.actual} {alarm.note}".casefold(),
    grave=grave,
    rows=board,
    fields={
        "alarm": lambda alarm, _: (alarm.kind, f"{alarm.severity} {alarm.kind}"),
        "level": lambda alarm, _: alarm.severity.value,
        "note": lambda alarm, _: alarm.note or None,
        "id": lambda alarm, _: alarm.event_id,
    },
)


LABEL_CELLS = 11


def detail(alarm: Alarm, moment: Moment) -> list[Line]:
    """Everything an alarm says, most needed first, so that a short panel keeps what people wrote and what to do."""
    glyph, word, ink = SEVERITIES[alarm.severity]
    _, state, state_ink = STATES[alarm.state]
    said = alarm.diagnosis
    told = (("reason", alarm.reason), ("note", alarm.note), ("hidden by", alarm.parent))
    return [
        [
            (f" {glyph} {word}  {alarm.kind}  ", ink if alarm.active else Ink.DIM),
            *_subject(alarm, moment),
            (f"   {state} for {wording.age(moment.since(alarm.changed))}", state_ink),
            (_until(alarm, moment), Ink.DIM),
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


def _until(alarm: Alarm, moment: Moment) -> str:
    until = alarm.shelved_until if alarm.state is AlarmState.SHELVED else alarm.acknowledged_until
    if alarm.state is AlarmState.SHELVED and until is None:
        return "  until it is over"
    if until is None or alarm.state not in {AlarmState.SHELVED, AlarmState.ACKNOWLEDGED}:
        return ""
    return f"  {wording.short_duration(-moment.since(until))} left"


def _labelled(label: str, text: str, more: str = "") -> Line:
    line: Line = [*fit([(f" {label}", Ink.HEAD)], LABEL_CELLS), (wording.safe(text), Ink.TEXT)]
    return [*line, (f"   {wording.safe(more)}", Ink.DIM)] if more else line
