"""Quality of service of an event's stream (platform-api.md, 2 and 4), in columns: thousands of samples a poll."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from math import nan
from operator import itemgetter
from typing import Any, Literal, NamedTuple, cast

from livedeck.client.http.errors import Unreadable
from livedeck.client.http.response import rows
from livedeck.client.http.transport import Transport
from livedeck.client.resources.base import Resource, call, describe_call
from livedeck.client.resources.fields import parse_time
from livedeck.slices import Slices

BitrateUnit = Literal["bit", "kbit"]

_BITS: Mapping[BitrateUnit, float] = {"bit": 1.0, "kbit": 1000.0}


_NO_STATUS = -1

_LARGEST = 2**53  # past it a float is no longer exact; no stream comes near

_SLICE = 256  # samples read at once: less than a millisecond

_NUMBERS: frozenset[type] = frozenset({int, float})

_INTEGERS: frozenset[type] = frozenset({int})

_MEASURED = "bitrate_video", "bitrate_audio", "frame_rate", "status"

_KNOWN = frozenset({"time", *_MEASURED})


class QosSample(NamedTuple):
    """One sample: `time` in epoch seconds, rates in bit/s, frames/s. None is missing."""

    time: float
    bitrate_video: float | None
    bitrate_audio: float | None
    frame_rate: float | None
    status: int | None


def _doubles() -> array[float]:
    return array("d")


def _integers() -> array[int]:
    return array("q")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class QosSamples:
    """The samples in the order answered, which need not be by time nor free of duplicates.

    Where a number is missing, null or none that can be read, its column holds NaN, and `status` holds -1: zero is a
    measurement. `extra`: index -> the fields of that sample that the document does not name. `dropped`: how many more
    were answered, without a time that can be read.
    """

    time: array[float] = field(default_factory=_doubles)
    bitrate_video: array[float] = field(default_factory=_doubles)
    bitrate_audio: array[float] = field(default_factory=_doubles)
    frame_rate: array[float] = field(default_factory=_doubles)
    status: array[int] = field(default_factory=_integers)
    extra: Mapping[int, Mapping[str, object]] = field(default_factory=dict)
    dropped: int = 0

    def __len__(self) -> int:
        return len(self.time)

    def __getitem__(self, index: int) -> QosSample:
        status = self.status[index]
        return QosSample(
            self.time[index],
            _present(self.bitrate_video[index]),
            _present(self.bitrate_audio[index]),
            _present(self.frame_rate[index]),
            None if status == _NO_STATUS else status,
        )

    def __repr__(self) -> str:
        return f"<QosSamples: {len(self)}>"


class Qos(Resource):
    """The quality of service of live events. `unit`: what the platform counts bit rates in, a second."""

    def __init__(self, transport: Transport, unit: BitrateUnit = "bit") -> None:
        super().__init__(transport)
        self._bits = _BITS[unit]

    async def get(self, event_id: str) -> QosSamples:
        """What the platform measured of the current stream, newest 3600 at most (decisions.md). Raises ApiError."""
        what = describe_call("get QoS of event", event_id)
        answer = await self._transport.send(call("GET", what, "v2", "live", "events", event_id, "qos"))
        return await self._transport.in_turn(_columns(rows(answer, what), what, self._bits))


def _columns(samples: list[object], what: str, bits: float) -> Slices[QosSamples]:
    """Column by column: most of an answer is plain numbers, and a deck reads thousands of samples a second."""
    whole, extra = QosSamples(), dict[int, Mapping[str, object]]()
    for start in range(0, len(samples), _SLICE):
        found = [sample for sample in samples[start : start + _SLICE] if isinstance(sample, dict)]
        times = _times([sample.get("time") for sample in found])
        found = [sample for sample, time in zip(found, times, strict=True) if time is not None]
        values, usual = _values(found)
        if not usual:
            strange = ((place, sample) for place, sample in enumerate(found, len(whole)) if not sample.keys() <= _KNOWN)
            extra |= {place: _unknown(sample) for place, sample in strange}
        whole.time.extend(time for time in times if time is not None)
        if values:
            video, audio, rate, status = zip(*values, strict=True)
            whole.bitrate_video.extend(_numbers(video, bits))
            whole.bitrate_audio.extend(_numbers(audio, bits))
            whole.frame_rate.extend(_numbers(rate))
            whole.status.extend(status if _plain(status, _INTEGERS) else map(_status, status))
        yield
    dropped = len(samples) - len(whole)
    if dropped and not len(whole):  # an empty answer would be taken for one of no signal
        raise Unreadable(f"{what}: the answer is not as documented: no sample of {dropped} has a time")
    return replace(whole, extra=extra, dropped=dropped)


def _unknown(sample: dict[str, Any]) -> Mapping[str, object]:
    return {name: value for name, value in sample.items() if name not in _KNOWN}


def _values(samples: list[dict[str, Any]]) -> tuple[list[tuple[Any, ...]], bool]:
    """What each sample holds beside its time, None where it is missing; and whether all are as documented."""
    try:
        return [*map(itemgetter(*_MEASURED), samples)], {*map(len, samples)} <= {len(_KNOWN)}
    except KeyError:
        return [tuple(sample.get(name) for name in _MEASURED) for sample in samples], False


def _numbers(values: Sequence[Any], unit: float = 1.0) -> array[float]:
    numbers = values if _plain(values, _NUMBERS) else [*map(_number, values)]
    return array("d", numbers if unit == 1.0 else [value * unit for value in numbers])


def _plain(values: Sequence[Any], kinds: frozenset[type]) -> bool:
    """Whether nothing else is among them, and nothing too large."""
    return {*map(type, values)} <= kinds and max(map(abs, values), default=0) <= _LARGEST


def _times(texts: list[object]) -> list[float | None]:
    """Each as `parse_time` reads it (epoch s), None for what is no time; quicker where all are plain UTC."""
    try:
        moments = [*map(datetime.fromisoformat, cast("list[str]", texts))]
    except (TypeError, ValueError):
        return [*map(_time, texts)]
    if any(moment.tzinfo is not UTC for moment in moments):
        return [*map(_time, texts)]
    return [moment.timestamp() for moment in moments]


def _time(text: object) -> float | None:
    try:
        return parse_time(text).timestamp() if isinstance(text, str) else None
    except ValueError:
        return None


def _number(value: object) -> float:
    # Of JSON's own numbers alone: a boolean is an int to Python.
    if (type(value) is int or type(value) is float) and abs(value) <= _LARGEST:
        return float(value)
    return nan


def _status(value: object) -> int:
    return value if type(value) is int and abs(value) <= _LARGEST else _NO_STATUS


def _present(value: float) -> float | None:
    return None if value != value else value  # noqa: PLR0124  NaN is the one value unlike itself
