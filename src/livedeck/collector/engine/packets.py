"""What crosses between collectors, as JSON: samples in columns, and what persons said. Pure.

Whoever can write into Redis may have written it: only what could have been made here is taken.
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
from livedeck.monitor import NO_STATUS, AlarmAnswer, IntentRecord, ProfileChoice, SharedAnswer, UsualMark

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Row: TypeAlias = AlarmAnswer | UsualMark | ProfileChoice | IntentRecord
"""What a person answered, ruled or was about to do."""

_ROWS: dict[str, TypeAdapter[Any]] = {
    kind.__name__: TypeAdapter(kind) for kind in (AlarmAnswer, UsualMark, ProfileChoice, IntentRecord)
}

_MAX_NUMBER = 2**53
_YEARS = range(2000, 2100)
_LATEST = 4_102_444_800.0
"""Their end in seconds since 1970: with what is of another time sums of times fail."""


def encode_answer(answer: SharedAnswer, at_ms: int) -> str:
    """As it is handed out. `at_ms`: Redis' time when it was answered."""
    samples = answer.samples
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
        },
        separators=(",", ":"),
    )


def decode_answer(event_id: str, body: str, now_ms: int) -> SharedAnswer:
    """What `encode_answer` made, and how old it is by Redis' time. Raises ValueError for anything else."""
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
            raise ValueError("a time that is none")
        if any(abs(value) > _MAX_NUMBER for column in columns for value in column):  # which NaN is not
            raise ValueError("a number that is none")
        if max(samples.dropped, *samples.unreadable.values(), 0) > _MAX_NUMBER:
            raise ValueError("a count that is none")
        return SharedAnswer(event_id, str(values["stream"]), samples, max(0.0, now_ms / 1000 - at))
    except (KeyError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"no answer of a collector: {error}") from error


def _nullable(column: array[float]) -> list[float | None]:
    return [None if isnan(value) else value for value in column]


def encode_row(row: Row) -> tuple[str, str]:
    """Its uid, the same wherever it is encoded, and the row. What an intent would change stays where it is."""
    if isinstance(row, IntentRecord):
        row = replace(row, edits=())
    name = type(row).__name__
    text = json.dumps({"kind": name, "row": _ROWS[name].dump_python(row, mode="json")}, sort_keys=True)
    if isinstance(row, AlarmAnswer):
        return row.uid, text
    return (row.id if isinstance(row, IntentRecord) else sha256(text.encode()).hexdigest()), text


def decode_row(text: str) -> Row:
    """What `encode_row` made. Raises ValueError for anything else."""
    try:
        values = from_json(text, allow_inf_nan=False)
        row: Row = _ROWS[values["kind"]].validate_python(values["row"])
    except (KeyError, TypeError, ValidationError) as error:
        raise ValueError(f"no row of a collector: {error}") from error
    check_plausible(row)
    return row


def check_plausible(row: DataclassInstance) -> None:
    """Raises ValueError where a time in it has no zone or is of another century, or a number is one that no file
    takes."""
    for value in _leaves(asdict(row)):
        if isinstance(value, datetime) and (value.tzinfo is None or value.year not in _YEARS):
            raise ValueError(f"{value} is no time")
        if isinstance(value, int | float) and not abs(value) <= _MAX_NUMBER:
            raise ValueError("a number that is none")


def _leaves(value: object) -> Iterator[object]:
    """What is in it, however deep."""
    if isinstance(value, Mapping):
        value = tuple(value.values())
    if isinstance(value, list | tuple):
        for part in value:
            yield from _leaves(part)
    else:
        yield value
