"""Recorded history of an event as JSON and CSV. No spreadsheet evaluates a cell of the CSV as a formula. Pure."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any

from livedeck.monitor import EpisodeRecord, EventRecord, Reading, Readings
from livedeck.presentation.serialization import SAMPLE_FIELDS, sample_object
from livedeck.report.recorded import Recorded
from livedeck.report.spans import Span
from livedeck.report.timeline import ENTRY_FIELDS, Entry
from livedeck.text.spreadsheet import safe_cell
from livedeck.text.times import isoformat_utc

if TYPE_CHECKING:
    from livedeck.presentation import documents

_HISTORY_FIELDS = (*ENTRY_FIELDS, "stream_id", *SAMPLE_FIELDS[1:])
_EPISODE_FIELDS = (
    "since", "until", "seconds", "event_id", "event", "kind", "severity", "target", "target_name", "actual", "expected",
)  # fmt: skip


def csv_of(fields: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Return CSV with a header and a row for each mapping. None becomes an empty cell."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(fields)
    for row in rows:
        writer.writerow([_cell(row.get(field)) for field in fields])
    return text.getvalue()


def _cell(value: Any) -> Any:
    return safe_cell(value) if isinstance(value, str) else value


def span_object(span: Span) -> documents.Span:
    """Return the JSON form of a span."""
    return {"since": isoformat_utc(span.since), "until": isoformat_utc(span.until), "seconds": round(span.seconds, 3)}


def history_object(recorded: Recorded, event: EventRecord, entries: Iterable[Entry]) -> documents.History:
    """Return the JSON form of an event's history in the recorded period."""
    return {
        "schema": "livedeck past show v1",
        "event": {"id": event.event_id, "name": event.name or None, "deleted": event.is_gone},
        **span_object(recorded.span),
        "watched": [
            {"since": isoformat_utc(watch.at), "until": isoformat_utc(watch.until)} for watch in recorded.watched
        ],
        "entries": [entry.as_object() for entry in entries],
        "samples": [
            {"stream_id": stream, **sample_object(reading)}
            for (_, stream), readings in recorded.samples.items()
            for reading in _rows(readings)
        ],
    }


def history_csv(recorded: Recorded, entries: Iterable[Entry]) -> str:
    """Return entries and samples as one CSV table, sorted by time."""
    rows: list[Mapping[str, Any]] = [entry.as_object() for entry in entries]
    for (event_id, stream), readings in recorded.samples.items():
        for reading in _rows(readings):
            sample = sample_object(reading)
            rows.append({**sample, "at": sample["time"], "type": "sample", "event_id": event_id, "stream_id": stream})
    return csv_of(_HISTORY_FIELDS, sorted(rows, key=lambda row: str(row["at"])[:19]))


def entries_csv(entries: Iterable[Entry]) -> str:
    """Return CSV with a row for each entry."""
    return csv_of(ENTRY_FIELDS, [entry.as_object() for entry in entries])


def episode_object(episode: EpisodeRecord, names: Mapping[str, str]) -> documents.Episode:
    """Return the JSON form of an episode."""
    return {
        **span_object(Span(episode.since, episode.until)),
        "event_id": episode.event_id,
        "event": names.get(episode.event_id),
        "kind": episode.kind,
        "severity": episode.severity,
        "target": episode.target or None,
        "target_name": episode.target_name or None,
        "actual": episode.actual,
        "expected": episode.expected,
    }


def episodes_csv(episodes: Iterable[EpisodeRecord], names: Mapping[str, str]) -> str:
    """Return CSV with a row for each episode."""
    return csv_of(_EPISODE_FIELDS, [episode_object(episode, names) for episode in episodes])


def _rows(readings: Readings) -> Iterable[Reading]:
    return (readings[index] for index in range(len(readings)))
