"""A dashboard for Grafana and alert rules for Prometheus, made of the metrics: neither names one that is not there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from livedeck.presentation.metrics import (
    ALARMS,
    ANSWER_AGE,
    APART,
    AUDIO,
    BUILD,
    CLOCK_SKEW,
    DURATIONS,
    EVENTS_OWNED,
    FRAMES,
    HEALTH,
    HEARTBEAT,
    INFO,
    LINK_UP,
    NOT_EXPORTED,
    NOTIFICATIONS,
    ON_AIR,
    READERS,
    REQUESTS,
    SAMPLE_AGE,
    SPOOL_AGE,
    SPOOL_MESSAGES,
    VIDEO,
    WRITES_REFUSED,
    Metric,
)


def _once(query: str, pick: str = "max") -> str:
    """What several collectors tell of the same, as one: they share what they know."""
    return f"{pick} without (instance, pod) ({query})"


NAMED = f"* on (job, event_id) group_left (name) topk by (job, event_id) (1, {INFO.name})"
"""Gives the series of an event its name: one, though two collectors may know another for a moment."""

SELECTED = '{event_id=~"$event"}'

IS_ON_AIR = f"{_once(ON_AIR.name)} == 1"


@dataclass(frozen=True, slots=True)
class Rule:
    """An alert. `lasts`: how long it has to be so, as Prometheus writes it. `summary`: for whoever is called."""

    name: str
    query: str
    lasts: str
    severity: str
    summary: str


_UNREAD = f'{ALARMS.name}{{severity="critical",state="unacknowledged"}}'
_LATELY = f"count by (job, instance) (count_over_time({BUILD.name}[1h]))"

RULES = (
    Rule("LivedeckSilent", f"absent({BUILD.name})", "5m", "critical", "Nothing watches: livedeck says nothing."),
    Rule(
        "LivedeckGone",
        f"{_LATELY} unless on (job, instance) {BUILD.name}",
        "2m",
        "warning",
        "{{ $labels.instance }} says nothing any more; within the last hour it did.",
    ),
    Rule(
        "LivedeckBlind",
        f"{LINK_UP.name} == 0",
        "1m",
        "critical",
        "The platform does not answer {{ $labels.instance }}.",
    ),
    Rule(
        "LivedeckAnswersOld",
        f"{ANSWER_AGE.name} > 90",
        "1m",
        "warning",
        "The platform's last answer to {{ $labels.instance }} is {{ $value | humanizeDuration }} old.",
    ),
    Rule(
        "LivedeckUnread",
        f"sum by (kind) ({_once(_UNREAD)}) > 0",
        "3m",
        "critical",
        "{{ $labels.kind }} is critical, and nobody has acknowledged it.",
    ),
    Rule(
        "LivedeckEventPoor",
        f"({_once(HEALTH.name)} < 0.5 and {IS_ON_AIR}) {NAMED}",
        "2m",
        "warning",
        "{{ $labels.name }} has a health of {{ $value | humanizePercentage }}.",
    ),
    Rule(
        "LivedeckEventSilent",
        f"({_once(SAMPLE_AGE.name, 'min')} > 60 and {IS_ON_AIR}) {NAMED}",
        "1m",
        "critical",
        "No samples of {{ $labels.name }} for {{ $value | humanizeDuration }}.",
    ),
    Rule(
        "LivedeckClockOff",
        f"abs({CLOCK_SKEW.name}) > 2",
        "10m",
        "warning",
        "The clocks of {{ $labels.instance }} and of the platform are {{ $value | humanizeDuration }} apart.",
    ),
    Rule(
        "LivedeckUnsent",
        f"{SPOOL_AGE.name} > 300",
        "1m",
        "critical",
        "A notification waits for {{ $value | humanizeDuration }}: its receiver takes nothing.",
    ),
    Rule(
        "LivedeckHeartless",
        f"time() - {HEARTBEAT.name} > 180",
        "2m",
        "warning",
        "No heartbeat of {{ $labels.instance }} was taken for 3 min.",
    ),
    Rule("LivedeckApart", f"{APART.name} == 1", "2m", "warning", "{{ $labels.instance }} does not reach the engine."),
    Rule("LivedeckEventsLeftOut", f"{NOT_EXPORTED.name} > 0", "10m", "warning", "{{ $value }} events have no series."),
)
"""Every alert."""


def rules_text() -> str:
    """The rules as YAML; each text in quotes as JSON has them, which YAML has, too."""
    return "".join(f"{line}\n" for line in _rule_lines())


def _rule_lines() -> Iterator[str]:
    yield "# Made by `livedeck collector dashboard`: change the tables, not this file."
    yield "groups:"
    yield "  - name: livedeck"
    yield "    rules:"
    for rule in RULES:
        yield f"      - alert: {rule.name}"
        yield f"        expr: {json.dumps(rule.query)}"
        yield f"        for: {rule.lasts}"
        yield "        labels:"
        yield f"          severity: {rule.severity}"
        yield "        annotations:"
        yield f"          summary: {json.dumps(rule.summary)}"


def _a_second(metric: Metric, labels: str) -> str:
    """How fast a counter grows, by these labels."""
    return f"sum by ({labels}) (rate({metric.name}[5m]))"


_BITS = {"Bps": ("bps", " * 8")}
"""A bit rate is shown in bits, as people speak of it."""

PANELS: tuple[tuple[Metric, str, str], ...] = (
    (LINK_UP, LINK_UP.name, "{{instance}}"),
    (ANSWER_AGE, ANSWER_AGE.name, "{{instance}}"),
    (ON_AIR, f"sum by (job) ({_once(ON_AIR.name)})", "{{job}}"),
    (ALARMS, f"sum by (kind, severity) ({_once(ALARMS.name)})", "{{severity}} {{kind}}"),
    *((metric, f"{_once(metric.name + SELECTED)} {NAMED}", "{{name}}") for metric in (HEALTH, VIDEO, AUDIO, FRAMES)),
    (SAMPLE_AGE, f"{_once(SAMPLE_AGE.name + SELECTED, 'min')} {NAMED}", "{{name}}"),
    (REQUESTS, _a_second(REQUESTS, "operation, result"), "{{operation}}: {{result}}"),
    (
        DURATIONS,
        f"histogram_quantile(0.95, sum by (operation, le) (rate({DURATIONS.name}_bucket[5m])))",
        "{{operation}}",
    ),
    (NOTIFICATIONS, f"sum by (route, result) (increase({NOTIFICATIONS.name}[10m]))", "{{route}}: {{result}}"),
    (SPOOL_MESSAGES, SPOOL_MESSAGES.name, "{{instance}}"),
    (READERS, READERS.name, "{{instance}}"),
    (EVENTS_OWNED, EVENTS_OWNED.name, "{{instance}}"),
    (WRITES_REFUSED, _a_second(WRITES_REFUSED, "instance"), "{{instance}}"),
)
"""Metric, query and legend of each panel, from the top left."""

COLUMNS, HEIGHT = 24, 8
"""Of Grafana's grid, and of a panel in its rows; two panels stand beside each other."""


def dashboard() -> dict[str, Any]:
    """The dashboard as Grafana imports it; it asks for the source of the data."""
    return {
        "uid": "livedeck",
        "title": "livedeck",
        "tags": ["livedeck"],
        "schemaVersion": 39,
        "editable": True,
        "refresh": "10s",
        "time": {"from": "now-1h", "to": "now"},
        "timezone": "utc",
        "templating": {"list": [_source_variable(), _event_variable()]},
        "panels": [_panel(number, *panel) for number, panel in enumerate(PANELS)],
    }


def dashboard_text() -> str:
    """The same as JSON."""
    return json.dumps(dashboard(), indent=2) + "\n"


_SOURCE = {"type": "prometheus", "uid": "${source}"}


def _source_variable() -> dict[str, Any]:
    return {"name": "source", "label": "Data source", "type": "datasource", "query": "prometheus"}


def _event_variable() -> dict[str, Any]:
    query = f"label_values({INFO.name}, event_id)"
    choice = {"includeAll": True, "multi": True, "allValue": ".*", "refresh": 2}
    return {"name": "event", "label": "Event", "type": "query", "datasource": _SOURCE, "query": query, **choice}


def _panel(number: int, metric: Metric, query: str, legend: str) -> dict[str, Any]:
    width = COLUMNS // 2
    unit, factor = _BITS.get(metric.unit, (metric.unit, ""))
    return {
        "id": number + 1,
        "type": "timeseries",
        "title": metric.title,
        "description": metric.help,
        "datasource": _SOURCE,
        "gridPos": {"x": number % 2 * width, "y": number // 2 * HEIGHT, "w": width, "h": HEIGHT},
        "fieldConfig": {"defaults": {"unit": unit}, "overrides": []},
        "targets": [{"refId": "A", "datasource": _SOURCE, "expr": query + factor, "legendFormat": legend}],
    }
