"""What may be wrong with an answer that arrives: functions of the parsed JSON and of the moment that it began. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from livedeck.service.clock import stamp_epoch
from livedeck.service.identity import number_of

PADDING = 10 * 1024 * 1024
"""Bytes that come on top of a huge answer."""

Json = Any


def broken(content: Json, _since: float) -> bytes:
    """No JSON, although it says so."""
    return str(content).encode()[:200]


def wrong_types(content: Json, _since: float) -> Json:
    """Every number is text and every truth is a number; what was text stays."""
    return _leaves(content, lambda _, value: _mistyped(value))


def _mistyped(value: Json) -> Json:
    if isinstance(value, bool):
        return int(value)
    return str(value) if isinstance(value, int | float) else value


def nulls(content: Json, _since: float) -> Json:
    """Every value is null, but ids and times."""
    return _leaves(content, lambda name, value: value if name in {"id", "time"} else None)


def missing_fields(content: Json, _since: float) -> Json:
    """Every third field of the objects in the data is missing, but never the id."""
    return _objects(content, lambda row: {name: row[name] for place, name in enumerate(row) if place % 3 != 1})


def extra_fields(content: Json, _since: float) -> Json:
    """Every object in the data has fields that nobody documented."""
    return _objects(content, lambda row: row | {"x_extra": {"nested": [1, None, "?"]}, "x_version": 7})


def duplicates(content: Json, _since: float) -> Json:
    """Every element of a list comes twice."""
    return _rows(content, lambda rows: [row for row in rows for _ in range(2)])


def reordered(content: Json, _since: float) -> Json:
    """The elements of a list come in any order."""
    return _rows(content, _shuffled)


def _shuffled(rows: list[Json]) -> list[Json]:
    return [rows[place] for place in sorted(range(len(rows)), key=lambda place: number_of("order", place))]


def frozen(content: Json, since: float) -> Json:
    """New samples come, but their time stands still."""
    limit = stamp_epoch(since)
    return _objects(content, lambda row: row | {"time": min(row["time"], limit)} if "time" in row else row)


def ahead(content: Json, seconds: float) -> Json:
    """Samples are stamped by a clock that is so many seconds ahead."""

    def later(text: str) -> str:
        return stamp_epoch(datetime.fromisoformat(text).timestamp() + seconds)

    return _objects(content, lambda row: row | {"time": later(row["time"])} if "time" in row else row)


def huge(content: Json, _since: float) -> Json:
    """Ten megabytes more than it needs."""
    return content | {"padding": "x" * PADDING}


def _leaves(value: Json, change: Callable[[str, Json], Json], name: str = "") -> Json:
    if isinstance(value, dict):
        return {key: _leaves(one, change, key) for key, one in value.items()}
    if isinstance(value, list):
        return [_leaves(one, change, name) for one in value]
    return change(name, value)


def _rows(content: Json, change: Callable[[list[Json]], list[Json]]) -> Json:
    data = content.get("data")
    return content | {"data": change(data)} if isinstance(data, list) else content


def _objects(content: Json, change: Callable[[dict[str, Json]], Json]) -> Json:
    data = content.get("data")
    if isinstance(data, dict):
        return content | {"data": change(data)}
    return _rows(content, lambda rows: [change(row) for row in rows])


ALL: Mapping[str, Callable[[Json, float], Json]] = {
    "broken-json": broken,
    "wrong-types": wrong_types,
    "nulls": nulls,
    "missing-fields": missing_fields,
    "extra-fields": extra_fields,
    "duplicates": duplicates,
    "reordered": reordered,
    "frozen": frozen,
    "huge": huge,
}
