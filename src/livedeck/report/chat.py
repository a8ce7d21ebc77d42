"""Chat messages per minute, counted from an export. Pure."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from livedeck.text.times import parse_timestamp

_TIME = "created_at"


def messages_a_minute(text: str) -> Mapping[datetime, int]:
    """Return minute -> number of messages in a chat export (CSV, JSON or JSON lines). Raises ValueError."""
    times = [str(row[_TIME]) for row in _rows(text.removeprefix("\ufeff"))]
    return Counter(parse_timestamp(time).astimezone(UTC).replace(second=0, microsecond=0) for time in times)


def _rows(text: str) -> Iterator[Mapping[str, Any]]:
    rows: Iterable[Any]
    if text.lstrip().startswith("{"):
        try:
            rows = json.loads(text)["data"]
        except (ValueError, KeyError):
            rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    else:
        rows = reader = csv.DictReader(io.StringIO(text))
        if _TIME not in (reader.fieldnames or ()) and text.strip():
            raise ValueError(f"the file has no column {_TIME}: `livedeck event chat --format csv` writes it")
    yield from (row for row in rows if isinstance(row, Mapping) and row.get(_TIME))
