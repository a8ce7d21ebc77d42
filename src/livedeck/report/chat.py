"""Messages a minute out of an export of the chat. Pure."""

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
    """Minute -> how many messages an export as CSV, JSON or JSON lines has of it. Raises ValueError where it has no
    times."""
    minutes = Counter(
        parse_timestamp(str(row[_TIME])).astimezone(UTC).replace(second=0, microsecond=0) for row in _rows(text)
    )
    if not minutes:
        raise ValueError(f"no message with a {_TIME} in it; `livedeck chat export --format csv` writes one")
    return minutes


def _rows(text: str) -> Iterator[Mapping[str, Any]]:
    text = text.removeprefix("\ufeff")
    rows: Iterable[Any]
    if text.lstrip().startswith("{"):
        try:
            rows = json.loads(text)["data"]
        except (ValueError, KeyError):
            rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    else:
        rows = csv.DictReader(io.StringIO(text))
    yield from (row for row in rows if isinstance(row, Mapping) and row.get(_TIME))
