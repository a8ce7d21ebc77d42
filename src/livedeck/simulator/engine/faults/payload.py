"""Faults in the content of a reply: invalid, odd or outdated payloads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from livedeck.simulator.engine.clock import format_epoch
from livedeck.simulator.engine.identity import number_of

PADDING = 10 * 1024 * 1024
"""Number of bytes added to a response by the fault `huge`."""

Json = Any


def break_json(content: Json, _since: float) -> bytes:
    """Return a body that is not JSON although its media type says so."""
    return str(content).encode()[:200]


def mistype(content: Json, _since: float) -> Json:
    """Turn every number into text and every boolean into a number; text stays."""
    return _leaves(content, lambda _, value: _mistyped(value))


def _mistyped(value: Json) -> Json:
    if isinstance(value, bool):
        return int(value)
    return str(value) if isinstance(value, int | float) else value


def nullify(content: Json, _since: float) -> Json:
    """Replace every value with null, except ids and times."""
    return _leaves(content, lambda name, value: value if name in {"id", "time"} else None)


def drop_fields(content: Json, _since: float) -> Json:
    """Drop every third field of the objects in the data, but never the id."""
    return _objects(content, lambda row: {name: row[name] for index, name in enumerate(row) if index % 3 != 1})


def add_fields(content: Json, _since: float) -> Json:
    """Add undocumented fields to every object in the data."""
    return _objects(content, lambda row: row | {"x_extra": {"nested": [1, None, "?"]}, "x_version": 7})


def duplicate(content: Json, _since: float) -> Json:
    """Repeat every element of a list."""
    return _rows(content, lambda rows: [row for row in rows for _ in range(2)])


def reorder(content: Json, _since: float) -> Json:
    """Shuffle the elements of a list."""
    return _rows(content, _shuffled)


def _shuffled(rows: list[Json]) -> list[Json]:
    return [rows[index] for index in sorted(range(len(rows)), key=lambda index: number_of("order", index))]


def freeze_time(content: Json, since: float) -> Json:
    """Limit the time of new samples to `since` (epoch seconds)."""
    limit = format_epoch(since)
    return _objects(content, lambda row: row | {"time": min(row["time"], limit)} if "time" in row else row)


def hold_back(content: Json, until: float) -> Json:
    """Drop samples after `until` (epoch seconds)."""
    limit = format_epoch(until)

    def is_there(row: Json) -> bool:
        return not isinstance(row, dict) or row.get("time", "") <= limit

    return _rows(content, lambda rows: [row for row in rows if is_there(row)])


def shift_time(content: Json, seconds: float) -> Json:
    """Move the time of samples ahead by `seconds`."""

    def later(text: str) -> str:
        return format_epoch(datetime.fromisoformat(text).timestamp() + seconds)

    return _objects(content, lambda row: row | {"time": later(row["time"])} if "time" in row else row)


def date_ahead(content: Json, _since: float) -> Json:
    """Date every fifth sample an hour ahead."""

    def ahead(index: int, row: Json) -> Json:
        later = isinstance(row, dict) and "time" in row and index % 5 == 4
        return shift_time({"data": row}, 3600)["data"] if later else row

    return _rows(content, lambda rows: [ahead(index, row) for index, row in enumerate(rows)])


def pad(content: Json, _since: float) -> Json:
    """Add ten megabytes of padding."""
    return content | {"padding": "x" * PADDING}


def _leaves(value: Json, change: Callable[[str, Json], Json], name: str = "") -> Json:
    if isinstance(value, dict):
        return {key: _leaves(child, change, key) for key, child in value.items()}
    if isinstance(value, list):
        return [_leaves(child, change, name) for child in value]
    return change(name, value)


def _rows(content: Json, change: Callable[[list[Json]], list[Json]]) -> Json:
    data = content.get("data")
    return content | {"data": change(data)} if isinstance(data, list) else content


def _objects(content: Json, change: Callable[[dict[str, Json]], Json]) -> Json:
    data = content.get("data")
    if isinstance(data, dict):
        return content | {"data": change(data)}
    return _rows(content, lambda rows: [change(row) for row in rows])


PAYLOAD_FAULTS: Mapping[str, Callable[[Json, float], Json]] = {
    "broken-json": break_json,
    "wrong-types": mistype,
    "nulls": nullify,
    "missing-fields": drop_fields,
    "extra-fields": add_fields,
    "duplicates": duplicate,
    "reordered": reorder,
    "frozen": freeze_time,
    "future": date_ahead,
    "huge": pad,
}
