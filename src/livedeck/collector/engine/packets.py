"""JSON that collectors exchange: samples in columns, and rows of people's actions. Pure.

Anybody with write access to Redis may have written such JSON, so only values that a collector can produce are accepted.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from datetime import datetime
from hashlib import sha256
from math import isnan, nan
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from livedeck.client import QosSamples
from livedeck.monitor import (
    NO_STATUS,
    AlarmAction,
    Dated,
    IntentRecord,
    ProfileChoice,
    SharedAnswer,
    Silence,
    UnitChoice,
    UsualMark,
    ViewerState,
)

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Row: TypeAlias = AlarmAction | Silence | UsualMark | ProfileChoice | UnitChoice | IntentRecord
"""Alarm action, silence, ruling or intent of a person."""

_ROWS: dict[str, TypeAdapter[Any]] = {
    kind.__name__: TypeAdapter(kind)
    for kind in (AlarmAction, Silence, UsualMark, ProfileChoice, UnitChoice, IntentRecord)
}

_VIEWER: TypeAdapter[ViewerState] = TypeAdapter(ViewerState)

_MAX_NUMBER = 2**53
_MAX_TEXT = 2000
"""Maximum number of characters of a text in the state of a probe."""

_YEARS = range(2000, 2100)
_LATEST = 4_102_444_800.0
"""Latest accepted time (epoch s); date arithmetic fails on much later times."""


def encode_answer(answer: SharedAnswer, at_ms: int) -> str:
    """Return a reply of the platform as JSON. `at_ms`: time of the reply by the clock of Redis (epoch ms)."""
    samples, dated = answer.samples, answer.dated
    return json.dumps(
        {
            "stream": answer.stream_id,
            "at": at_ms,
            "t": [*samples.time],
            "v": _nullable(samples.bitrate_video),
            "a": _nullable(samples.bitrate_audio),
            "f": _nullable(samples.frame_rate),
            "s": [None if status == NO_STATUS else status for status in samples.status],
            "dropped": samples.dropped,
            "unreadable": dict(samples.unreadable),
            "dated": dated and [dated.sent, dated.read, dated.date, dated.age],
            **({"viewer": json.loads(_VIEWER.dump_json(answer.viewer))} if answer.viewer else {}),
        },
        separators=(",", ":"),
    )


def decode_answer(event_id: str, body: str, now_ms: int) -> SharedAnswer:
    """Return the reply that `encode_answer` wrote. Raises ValueError for any other text.

    `now_ms`: present time of Redis (epoch ms), to compute the reply's age.
    """
    try:
        values = from_json(body, allow_inf_nan=False)
        video, audio, rate = (array("d", [nan if value is None else value for value in values[name]]) for name in "vaf")
        samples = QosSamples(
            array("d", values["t"]),
            video,
            audio,
            rate,
            array("q", [NO_STATUS if value is None else value for value in values["s"]]),
            dropped=int(values["dropped"]),
            unreadable={str(name): int(count) for name, count in values["unreadable"].items()},
        )
        columns = samples.bitrate_video, samples.bitrate_audio, samples.frame_rate, samples.status
        if any(len(column) != len(samples) for column in columns):
            raise ValueError("columns of different lengths")
        at = int(values["at"]) / 1000
        if not all(0 <= time < _LATEST for time in (*samples.time, at)):
            raise ValueError("a time is out of range")
        if any(abs(value) > _MAX_NUMBER for column in columns for value in column):  # False for NaN
            raise ValueError("a sample is out of range")
        if max(samples.dropped, *samples.unreadable.values(), 0) > _MAX_NUMBER:
            raise ValueError("a count out of range")
        dated = _dated(values.get("dated"))  # missing from collectors of an older version
        age, viewer = max(0.0, now_ms / 1000 - at), _viewer(values.get("viewer"))
        return SharedAnswer(event_id, str(values["stream"]), samples, age, dated, viewer)
    except (KeyError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"not a reply from a collector: {error}") from error


def _dated(values: Any) -> Dated | None:
    """Return the times of a request and its reply. Raises ValueError, TypeError."""
    if values is None:
        return None
    sent, read, date, age = values
    dated = Dated(float(sent), float(read), None if date is None else float(date), float(age))
    if not all(0 <= moment < _LATEST for moment in (dated.sent, dated.read, dated.date or 0.0, dated.age)):
        raise ValueError("a moment out of range")
    return dated


def _viewer(values: Any) -> ViewerState | None:
    """Return the state of a probe; None without one, or if it is not what a collector can produce."""
    if values is None:
        return None
    try:
        state: ViewerState = _VIEWER.validate_python(values)
        check_plausible(state)
    except ValueError:
        return None
    texts = (leaf for leaf in _leaves(asdict(state)) if isinstance(leaf, str))
    return state if all(len(text) <= _MAX_TEXT for text in texts) else None


def _nullable(column: array[float]) -> list[float | None]:
    return [None if isnan(value) else value for value in column]


def encode_row(row: Row) -> tuple[str, str]:
    """Return the uid and the JSON of a row. The uid is the same on every collector. Edits of an intent are left out."""
    if isinstance(row, IntentRecord):
        row = replace(row, edits=())
    name = type(row).__name__
    text = json.dumps({"kind": name, "row": _ROWS[name].dump_python(row, mode="json")}, sort_keys=True)
    if isinstance(row, AlarmAction | Silence):
        return row.uid, text
    return (row.id if isinstance(row, IntentRecord) else sha256(text.encode()).hexdigest()), text


def decode_row(text: str) -> Row:
    """Return the row that `encode_row` wrote. Raises ValueError for any other text."""
    try:
        values = from_json(text, allow_inf_nan=False)
        row: Row = _ROWS[values["kind"]].validate_python(values["row"])
    except (KeyError, TypeError, ValidationError) as error:
        raise ValueError(f"not a row of a collector: {error}") from error
    check_plausible(row)
    return row


def check_plausible(row: DataclassInstance) -> None:
    """Raise ValueError if a time has no zone or is not of this century, or if a number is too large to store."""
    for value in _leaves(asdict(row)):
        if isinstance(value, datetime) and (value.tzinfo is None or value.year not in _YEARS):
            raise ValueError(f"time {value} out of range")
        if isinstance(value, int | float) and not abs(value) <= _MAX_NUMBER:
            raise ValueError("a number out of range")


def _leaves(value: object) -> Iterator[object]:
    """Yield all nested values."""
    if isinstance(value, Mapping):
        value = tuple(value.values())
    if isinstance(value, list | tuple):
        for part in value:
            yield from _leaves(part)
    else:
        yield value
