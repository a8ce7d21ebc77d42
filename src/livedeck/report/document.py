"""A report as one JSON object and as one CSV table. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from livedeck.report.facts import EventFacts, Fault, Report, gaps_text
from livedeck.report.spans import Span, Spans, seconds_of
from livedeck.report.tables import csv_of, span_object
from livedeck.report.timeline import EntryKind
from livedeck.text.times import isoformat_utc

FIELDS = ("event_id", "event", "what", "since", "until", "seconds", "name", "severity", "by", "value", "text")
"""Columns of the CSV, which has a row for each fact."""


def report_object(report: Report) -> dict[str, Any]:
    """Return the whole report as JSON."""
    return {
        "schema": "livedeck past report v1",
        "title": report.title,
        "made": isoformat_utc(report.made),
        **span_object(report.span),
        "unwatched": [span_object(span) for span in report.unwatched],
        "events": [event_object(facts) for facts in report.events],
    }


def event_object(facts: EventFacts) -> dict[str, Any]:
    """Return one event as JSON, in seconds and percent; null is unknown."""
    return {
        "id": facts.event.event_id,
        "name": facts.name,
        "tally": facts.event.tally.value,
        "deleted": facts.event.is_gone,
        "planned": isoformat_utc(facts.event.scheduled),
        "on_air": _spans(facts.on_air),
        "up_seconds": round(seconds_of(facts.up), 3),
        "uptime": None if facts.uptime is None else round(facts.uptime, 4),
        "outages": _spans(facts.outages),
        "unknown": _spans(facts.unknown),
        "sample_seconds": facts.cadence,
        "target": facts.target,
        "budget_seconds": round(facts.budget, 3),
        "bad_seconds": round(facts.spent, 3),
        "bad": _spans(facts.bad),
        "faults": [_fault(fault) for fault in facts.faults],
        "seconds_by_kind": {kind: round(seconds, 3) for kind, (_, _, seconds) in facts.minutes_by_kind.items()},
        "worst": span_object(facts.worst) if facts.worst else None,
        "restreams": [{"name": name, "down": _spans(downs)} for name, downs in facts.restreams.items()],
        "markers": [{"at": isoformat_utc(marker.at), "text": marker.text} for marker in facts.markers],
        "actions": [entry.as_object() for entry in facts.of_kind(EntryKind.ACTION, EntryKind.RULING)],
        "acknowledgements": [
            {
                "kind": answer.kind,
                "target_name": answer.target_name or None,
                "severity": answer.severity.value,
                "raised": isoformat_utc(answer.raised),
                "seconds": answer.seconds,
                "by": answer.by or None,
            }
            for answer in facts.acknowledgements
        ],
        "seconds_to_acknowledge": facts.seconds_to_acknowledge,
        "chat": None if facts.chat is None else {isoformat_utc(at): count for at, count in sorted(facts.chat.items())},
        "not_known": gaps_text(facts),
        "entries": [entry.as_object() for entry in facts.entries],
    }


def _spans(spans: Spans) -> list[dict[str, Any]]:
    return [span_object(span) for span in spans]


def _fault(fault: Fault) -> dict[str, Any]:
    return {
        "kind": fault.kind,
        "severity": fault.severity.value,
        "target_name": fault.target_name or None,
        "since": isoformat_utc(fault.since),
        "until": isoformat_utc(fault.until),
        "exact": fault.is_exact,
        "text": fault.text,
    }


def report_csv(report: Report) -> str:
    """Return the whole report as rows."""
    rows = [row for facts in report.events for row in _rows(facts)]
    rows += [{"what": "unwatched", **span_object(span)} for span in report.unwatched]
    return csv_of(FIELDS, rows)


def _rows(facts: EventFacts) -> Iterator[dict[str, Any]]:
    head = {"event_id": facts.event.event_id, "event": facts.name}
    for row in _untitled_rows(facts):
        yield {**head, **row}


def _untitled_rows(facts: EventFacts) -> Iterator[dict[str, Any]]:
    yield {"what": "planned", "since": isoformat_utc(facts.event.scheduled)}
    stretches = {"on air": facts.on_air, "outage": facts.outages, "unknown": facts.unknown, "bad": facts.bad}
    for what, spans in stretches.items():
        yield from ({"what": what, **span_object(span)} for span in spans)
    yield {"what": "uptime", "value": facts.uptime}
    yield {"what": "error budget", "seconds": round(facts.budget, 3), "value": round(facts.spent, 3)}
    if facts.worst:
        yield {"what": "worst", **span_object(facts.worst)}
    for fault in facts.faults:
        seconds = round(Span(fault.since, fault.until).seconds, 3) if fault.until else None
        name = f"{fault.kind} {fault.target_name}".strip()
        yield {**_fault(fault), "what": "fault", "name": name, "seconds": seconds}
    for name, downs in facts.restreams.items():
        yield from ({"what": "restream down", "name": name, **span_object(span)} for span in downs)
    for marker in facts.markers:
        yield {"what": "marker", "since": isoformat_utc(marker.at), "text": marker.text}
    for entry in facts.of_kind(EntryKind.ACTION, EntryKind.RULING):
        yield {"what": entry.kind.value, "since": isoformat_utc(entry.at), "by": entry.by, "text": entry.text}
    for answer in facts.acknowledgements:
        yield {
            "what": "acknowledgement",
            "since": isoformat_utc(answer.raised),
            "seconds": answer.seconds,
            "name": f"{answer.kind} {answer.target_name}".strip(),
            "severity": answer.severity.value,
            "by": answer.by,
        }
    chat: dict[datetime, int] = dict(facts.chat or {})
    yield from ({"what": "chat", "since": isoformat_utc(at), "value": chat[at]} for at in sorted(chat))
