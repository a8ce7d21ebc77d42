"""Output of a plugin for monitoring systems: state, text and performance data (scripting.md, "Checks"). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

from livedeck.monitor import UNIT_UNKNOWN, Alarm, EventState, Grade, Severity
from livedeck.presentation.event_detail import doubt_text
from livedeck.presentation.events import doubt_of_encoder, is_doubtful
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.silences import silenced_text
from livedeck.text.values import evidence_text, safe


class ServiceState(IntEnum):
    """Exit code of a monitoring plugin."""

    OK = 0
    WARNING = 1
    CRITICAL = 2
    UNKNOWN = 3


_URGENCY = (ServiceState.OK, ServiceState.UNKNOWN, ServiceState.WARNING, ServiceState.CRITICAL)
_STATES = {Severity.CRITICAL: ServiceState.CRITICAL, Severity.WARNING: ServiceState.WARNING}


@dataclass(frozen=True, slots=True)
class EventCheck:
    """Result for an event. `text`: name, tally and faults. `measures`: label -> value."""

    state: ServiceState
    text: str
    measures: dict[str, float]


def check_event(state: EventState, alarms: Sequence[Alarm], render_time: RenderTime) -> EventCheck:
    """Return the result of a check of an event. `alarms`: all alarms of all events, also the handled ones."""
    name, tally = safe(state.event.name or state.id, 60), state.phase.tally
    present = [alarm for alarm in alarms if alarm.event_id == state.id and alarm.present]
    active = [alarm for alarm in present if alarm.active and not alarm.silenced]
    silenced = [alarm for alarm in present if alarm.active and alarm.silenced]
    found = worst(_STATES.get(alarm.severity, ServiceState.OK) for alarm in active)
    health = state.assessment.health
    if health.grade is Grade.POOR and not present:  # the health is poor before the alarm is raised
        found = ServiceState.WARNING
    parts = [f"{name}: {tally}"]
    if doubt := doubt_of_encoder(state, render_time):
        found = worst((found, ServiceState.UNKNOWN))
        parts.append(doubt)
    if is_doubtful(state, render_time) and not active:
        parts.append(doubt_text(state, render_time))
    if tally.expects_signal:
        parts.append(f"health {'unknown' if health.score is None else health.score} {health.grade}".rstrip())
    is_unknown = tally.expects_signal and health.score is None and not silenced
    if (state.is_stale or is_unknown) and found is ServiceState.OK:
        found = ServiceState.UNKNOWN
    questions = [alarm for alarm in alarms if alarm.kind == UNIT_UNKNOWN and alarm.present and tally.expects_signal]
    parts += [f"{alarm.kind} {evidence_text(alarm, 160)}" for alarm in (*active, *questions)]
    parts += [f"{alarm.kind} {silenced_text(alarm, render_time.now)}" for alarm in silenced]
    return EventCheck(found, ", ".join(parts), _measures(state, render_time))


def _measures(state: EventState, render_time: RenderTime) -> dict[str, float]:
    last, score = state.qos.readings.last, state.assessment.health.score
    measures = {} if score is None else {"health": float(score)}
    if state.viewer and state.viewer.is_known and state.viewer.latency is not None:
        measures["latency"] = round(state.viewer.latency, 1)
    if last is None or not state.phase.tally.expects_signal:
        return measures
    rates = {"video": last.video, "audio": last.audio, "fps": last.fps}
    seconds = max(0.0, render_time.server.timestamp() - last.time)
    return {**measures, **{name: rate for name, rate in rates.items() if rate is not None}, "age": round(seconds, 1)}


def worst(states: Iterable[ServiceState]) -> ServiceState:
    """Return the most urgent state. UNKNOWN is worse than OK, but better than WARNING."""
    return max(states, key=_URGENCY.index, default=ServiceState.OK)


def check_lines(checks: Sequence[EventCheck], names: Sequence[str]) -> tuple[ServiceState, list[str]]:
    """Return the state of all events and the lines to print.

    The first line has the performance data. Several events follow with a line each.
    """
    state = worst(check.state for check in checks)
    if len(checks) == 1:
        return state, [
            f"LIVEDECK {state.name} - {plain(checks[0].text)} | {_performance(checks[0].measures)}".rstrip(" |")
        ]
    counts = {kind: sum(check.state is kind for check in checks) for kind in ServiceState}
    summary = ", ".join(f"{count} {kind.name}" for kind, count in counts.items() if count) or "no event"
    measures = {kind.name.lower(): float(count) for kind, count in counts.items()}
    own = [
        _performance({f"{name} {label}": value for label, value in check.measures.items() if label == "health"})
        for check, name in zip(checks, names, strict=True)
    ]
    lines = [
        f"{check.state.name} {plain(check.text)}"
        for check in sorted(checks, key=lambda check: -_URGENCY.index(check.state))
    ]
    head = f"LIVEDECK {state.name} - {summary} | {' '.join([_performance(measures), *filter(None, own)])}"
    return state, [head, *lines]


def plain(text: str) -> str:
    """Return the text without the character that begins performance data."""
    return text.replace("|", "/")


_LIMITS = {"health": ";;;0;100", "age": "s;;;0", "fps": ";;;0", "video": ";;;0", "audio": ";;;0"}
"""Unit, limit of a warning, limit of a critical state, minimum and maximum of a measure, separated by semicolons.

The limits are empty, because livedeck judges by more than one number.
"""


def _performance(measures: dict[str, float]) -> str:
    return " ".join(
        f"{_label(label)}={value:{'g' if abs(value) < 1e6 else '.0f'}}{_LIMITS.get(label.rpartition(' ')[2], ';;;0')}"
        for label, value in measures.items()
    )


def _label(label: str) -> str:
    plain = label.replace("=", " ").replace("'", "''").replace("|", "/")
    return f"'{plain}'" if " " in plain or plain != label else plain
