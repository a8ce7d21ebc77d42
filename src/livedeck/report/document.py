"""Report as one JSON object and as one CSV table. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from livedeck.presentation.kpi import figure_object
from livedeck.report.facts import EventFacts, Fault, Report, gaps_text
from livedeck.report.sections import UNWATCHED_TYPE, csv_facts, span_fact
from livedeck.report.spans import Spans, seconds_of
from livedeck.report.tables import csv_of, span_object
from livedeck.report.timeline import EntryKind
from livedeck.report.viewers import ViewerFacts
from livedeck.text.times import isoformat_utc

if TYPE_CHECKING:
    from livedeck.presentation import documents

FIELDS = ("event_id", "event", "type", "since", "until", "seconds", "name", "severity", "by", "value", "text")
"""Columns of the CSV; each row is a fact."""


def report_object(report: Report) -> documents.Report:
    """Return the whole report as JSON."""
    span = span_object(report.span)
    return {
        "schema": "livedeck past report v1",
        "title": report.title,
        "written": isoformat_utc(report.made),
        "since": span["since"],
        "until": span["until"],
        "seconds": span["seconds"],
        "unwatched": [span_object(span) for span in report.unwatched],
        "events": [event_object(facts) for facts in report.events],
    }


def event_object(facts: EventFacts) -> documents.ReportEvent:
    """Return an event as JSON. Lengths are in seconds, shares in percent. null means unknown."""
    return {
        "id": facts.event.event_id,
        "name": facts.name,
        "tally": facts.event.tally.value,
        "deleted": facts.event.is_gone,
        "planned": isoformat_utc(facts.planned),
        "on_air": _spans(facts.on_air),
        "up_seconds": round(seconds_of(facts.up), 3),
        "uptime": None if facts.uptime is None else round(facts.uptime, 4),
        "outages": _spans(facts.outages),
        "unknown": _spans(facts.unknown),
        "sample_seconds": facts.cadence,
        "objective": facts.objective,
        "budget_seconds": round(facts.budget, 3),
        "bad_seconds": round(facts.spent, 3),
        "bad": _spans(facts.bad),
        "faults": [_fault(fault) for fault in facts.faults],
        "seconds_by_kind": {kind: round(seconds, 3) for kind, (_, _, seconds) in facts.minutes_by_kind.items()},
        "worst": span_object(facts.worst) if facts.worst else None,
        "viewers": _viewers(facts.viewers),
        "restreams": [{"name": name, "down": _spans(downs)} for name, downs in facts.restreams.items()],
        "markers": [{"at": isoformat_utc(marker.at), "text": marker.text} for marker in facts.markers],
        "actions": [entry.as_object() for entry in facts.of_kind(EntryKind.ACTION, EntryKind.RULING)],
        "acknowledgements": [
            {
                "kind": item.kind,
                "target_name": item.target_name or None,
                "severity": item.severity,
                "raised": isoformat_utc(item.raised),
                "seconds": item.seconds,
                "by": item.by or None,
            }
            for item in facts.acknowledgements
        ],
        "seconds_to_acknowledge": facts.seconds_to_acknowledge,
        "alarm_figures": [*map(figure_object, facts.figures)],
        "chat": None if facts.chat is None else {isoformat_utc(at): count for at, count in sorted(facts.chat.items())},
        "limits": gaps_text(facts),
        "entries": [entry.as_object() for entry in facts.entries],
    }


def _spans(spans: Spans) -> list[documents.Span]:
    return [span_object(span) for span in spans]


def _viewers(viewers: ViewerFacts) -> documents.ReportViewers | None:
    if not viewers.rounds:
        return None
    return {
        "rounds": viewers.rounds,
        "seen_seconds": round(seconds_of(viewers.seen), 3),
        "played": None if viewers.played is None else round(viewers.played, 4),
        "gone": _spans(viewers.gone),
        "stalled": _spans(viewers.stalled),
        "black": _spans(viewers.black),
        "still": _spans(viewers.still),
        "silent": _spans(viewers.silent),
        "latency": viewers.latency,
        "worst_latency": viewers.worst_latency,
        "missing_segments": viewers.missing,
        "listed_segments": viewers.listed,
    }


def _fault(fault: Fault) -> documents.ReportFault:
    return {
        "kind": fault.kind,
        "severity": fault.severity,
        "target_name": fault.target_name or None,
        "since": isoformat_utc(fault.since),
        "until": isoformat_utc(fault.until),
        "exact": fault.is_exact,
        "text": fault.text,
    }


def report_csv(report: Report) -> str:
    """Return the whole report as CSV, with a row for each fact."""
    rows: list[Mapping[str, Any]] = [
        {"event_id": facts.event.event_id, "event": facts.name, **fact}
        for facts in report.events
        for fact in csv_facts(facts)
    ]
    rows += [{"type": UNWATCHED_TYPE, **span_fact(span)} for span in report.unwatched]
    return csv_of(FIELDS, rows)
