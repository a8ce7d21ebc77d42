"""Questions to a collector's history over HTTP, as one table for both sides (collector.md, "Questions"). Pure."""

from __future__ import annotations

import inspect
import json
from array import array
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, cached_property
from math import nan
from typing import Annotated, Any, get_origin, get_type_hints
from urllib.parse import urlencode

from pydantic import AwareDatetime, BeforeValidator, Field, TypeAdapter, ValidationError

from livedeck.collector.protocol import wire
from livedeck.monitor import Alarm, Buckets, HistoryReads, MinMax, Readings
from livedeck.monitor.detection.learnt import parse_learnt
from livedeck.monitor.history.reads import Recorded
from livedeck.monitor.published.codec import decode_alarm, encode_record
from livedeck.text.times import format_timestamp

Ask = Callable[..., Awaitable[Any]]


def _dated(text: str) -> str:
    """Return the text. Raises ValueError if it has no date, because pydantic would read a plain number as a time."""
    if "-" not in text.lstrip("-"):
        raise ValueError("a time needs a date and a zone")
    return text


_Time = Annotated[AwareDatetime, BeforeValidator(_dated)]

_PARAMETERS: Mapping[Any, Any] = {
    datetime: _Time,
    datetime | None: _Time,
    float: Annotated[float, Field(ge=0, le=1e11)],  # epoch s
    int: Annotated[int, Field(ge=-1, le=100_000)],
    "columns": Annotated[int, Field(ge=1, le=100_000)],
}
"""Name or type of a parameter -> its type in a query. A name has precedence. Other parameters keep their type."""


class QuestionError(ValueError):
    """The arguments of a question are wrong. The message has the reason."""


@dataclass(frozen=True)
class Question:
    """Question to a history. `ask`: method of the history. `dump`, `load`: convert its result to JSON and back."""

    ask: Ask
    dump: Callable[[Any], Any]
    load: Callable[[Any], Any]

    @property
    def name(self) -> str:
        """Name of the question: the last part of its path."""
        return self.ask.__name__

    @property
    def answer(self) -> Any:
        """Type of the result in the JSON reply."""
        return get_type_hints(self.dump).get("return") or get_type_hints(self.ask)["return"]

    def query(self, *args: Any, **kwargs: Any) -> str:
        """Return the query of a request for these arguments."""
        given = self._signature.bind(None, *args, **kwargs).arguments
        return urlencode({name: _text(given[name]) for name in self.parameters if given.get(name) is not None})

    def arguments(self, query: Iterable[tuple[str, str]]) -> dict[str, Any]:
        """Return the arguments in the query of a request. Raises QuestionError."""
        pairs = tuple(query)
        given, required = dict(pairs), self.required
        unknown, missing = given.keys() - self.parameters.keys(), required - given.keys()
        if unknown or missing or len(given) < len(pairs):
            names = ", ".join(f"{name}?" if name not in required else name for name in self.parameters)
            raise QuestionError(f"{self.name}: give {names or 'no parameters'}, each once")
        return {name: self.value(name, text) for name, text in given.items()}

    def value(self, name: str, text: str) -> Any:
        """Return the value of a parameter in a query. Raises QuestionError."""
        adapter, is_mapping = self.parameters[name]
        try:
            return adapter.validate_json(text) if is_mapping else adapter.validate_strings(text)
        except ValidationError as error:
            raise QuestionError(f"{name}: {error.errors()[0]['msg']}") from None

    @cached_property
    def _signature(self) -> inspect.Signature:
        return inspect.signature(self.ask)

    @property
    def required(self) -> set[str]:
        """Names of the parameters without a default."""
        return {name for name, default in self._defaults if default is inspect.Parameter.empty}

    @property
    def _defaults(self) -> list[tuple[str, Any]]:
        return [(name, parameter.default) for name, parameter in self._signature.parameters.items()][1:]

    @cached_property
    def parameters(self) -> Mapping[str, tuple[TypeAdapter[Any], bool]]:
        """Name of a parameter -> its adapter, and whether its text in the query is JSON."""
        hints = get_type_hints(self.ask)
        return {
            name: (TypeAdapter(_query_type(name, hints[name])), get_origin(hints[name]) is Mapping)
            for name, _ in self._defaults
        }


def _query_type(name: str, hint: Any) -> Any:
    return _PARAMETERS.get(name) or _PARAMETERS.get(hint, hint)


def _text(value: Any) -> str:
    if isinstance(value, datetime):
        return format_timestamp(value)
    return json.dumps(value) if isinstance(value, Mapping) else str(value)


def _records(ask: Ask) -> Question:
    """Make the question for a method that returns records of the history."""
    return Question(
        ask,
        lambda answer: _adapter(ask).dump_python(answer, mode="json"),
        lambda values: _adapter(ask).validate_python(values),
    )


@cache
def _adapter(ask: Ask) -> TypeAdapter[Any]:
    return TypeAdapter(get_type_hints(ask)["return"])


def _dump_alarms(alarms: Iterable[Alarm]) -> list[Any]:
    return [encode_record(alarm) for alarm in alarms]


def _load_alarms(values: Iterable[Any]) -> tuple[Alarm, ...]:
    return tuple(map(decode_alarm, values))


def _dump_readings(readings: Readings) -> wire.Columns:
    return wire.columns("", readings)


def _dump_recorded(recorded: Mapping[str, Recorded]) -> dict[str, Any]:
    return {
        event_id: {
            "samples": _dump_readings(found.readings),
            "learnt": found.learnt and found.learnt.to_json(),
            "before": found.before and found.before.to_json(),
            "had_sound": found.had_sound,
        }
        for event_id, found in recorded.items()
    }


def _load_recorded(values: Mapping[str, Any]) -> dict[str, Recorded]:
    return {
        event_id: Recorded(
            wire.readings_of(found["samples"]),
            parse_learnt(found["learnt"]) if found["learnt"] else None,
            parse_learnt(found["before"]) if found.get("before") else None,  # missing from older collectors
            found.get("had_sound", False),  # missing from older collectors
        )
        for event_id, found in values.items()
    }


def _dump_buckets(buckets: Buckets) -> dict[str, Any]:
    return {
        "since": buckets.since,
        "step": buckets.step,
        "count": list(buckets.count),
        "video": _dump_measure(buckets.video),
        "audio": _dump_measure(buckets.audio),
        "fps": _dump_measure(buckets.fps),
        "status": list(buckets.status),
        "statuses": {status: list(counts) for status, counts in buckets.statuses.items()},
    }


def _load_buckets(values: Mapping[str, Any]) -> Buckets:
    return Buckets(
        float(values["since"]),
        float(values["step"]),
        array("q", values["count"]),
        _load_measure(values["video"]),
        _load_measure(values["audio"]),
        _load_measure(values["fps"]),
        array("q", values["status"]),
        {int(status): array("q", counts) for status, counts in values["statuses"].items()},
    )


def _dump_measure(measure: MinMax) -> list[list[float | None]]:
    return [_numbers(measure.low), _numbers(measure.high)]


def _load_measure(values: Sequence[Sequence[float | None]]) -> MinMax:
    low, high = map(_doubles, values)
    return MinMax(low, high)


def _numbers(column: array[float]) -> list[float | None]:
    return [None if value != value else value for value in column]  # noqa: PLR0124  NaN is the one value unlike itself


def _doubles(column: Sequence[float | None]) -> array[float]:
    return array("d", [nan if value is None else value for value in column])


_QUESTIONS = (
    Question(HistoryReads.series, _dump_buckets, _load_buckets),
    Question(HistoryReads.recorded, _dump_recorded, _load_recorded),
    Question(HistoryReads.readings, _dump_readings, wire.readings_of),
    Question(HistoryReads.standing_alarms, _dump_alarms, _load_alarms),
    _records(HistoryReads.streams),
    _records(HistoryReads.spans),
    _records(HistoryReads.events),
    _records(HistoryReads.episodes),
    _records(HistoryReads.watched),
    _records(HistoryReads.unwatched),
    _records(HistoryReads.stops),
    _records(HistoryReads.answer_log),
    _records(HistoryReads.silence_log),
    _records(HistoryReads.viewer_rounds),
    _records(HistoryReads.ruling_log),
    _records(HistoryReads.collected_streams),
    _records(HistoryReads.alarm_log),
    _records(HistoryReads.audit),
    _records(HistoryReads.intents),
    _records(HistoryReads.open_changes),
    _records(HistoryReads.markers),
    _records(HistoryReads.connection_log),
    _records(HistoryReads.notifications),
    _records(HistoryReads.materials),
)

QUESTIONS: Mapping[str, Question] = {question.name: question for question in _QUESTIONS}
"""Questions by name: all reads of a history except those of new rows. Attached decks get new rows with snapshots."""
