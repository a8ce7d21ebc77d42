"""Quality of service of an event's stream (platform-api.md, 2 and 4), in columns: thousands of samples a poll."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import nan
from typing import Any, Literal, NamedTuple

from livedeck.client.base import Resource, call, named
from livedeck.client.envelope import rows
from livedeck.client.errors import Unreadable
from livedeck.client.moments import parse_time
from livedeck.client.transport import Transport
from livedeck.slices import Slices

BitrateUnit = Literal["bit", "kbit"]
_BITS: Mapping[BitrateUnit, float] = {"bit": 1.0, "kbit": 1000.0}

_NO_STATUS = -1
_LARGEST = 2**53  # past it a float is no longer exact; no stream comes near
_SLICE = 256  # samples read at once: less than a millisecond
_PLAIN = frozenset({int, float})
_KNOWN = frozenset({"time", "bitrate_video", "bitrate_audio", "frame_rate", "status"})


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
        what = named("get QoS of event", event_id)
        answer = await self._transport.send(call("GET", what, "v2", "live", "events", event_id, "qos"))
        return await self._transport.in_turn(_columns(rows(answer, what), what, self._bits))


def _columns(samples: list[object], what: str, bits: float) -> Slices[QosSamples]:
    """Column by column: most of an answer is plain numbers, and a deck reads thousands of samples a second."""
    whole, extra = QosSamples(), dict[int, Mapping[str, object]]()
    for start in range(0, len(samples), _SLICE):
        timed = [
            (time, sample)
            for sample in samples[start : start + _SLICE]
            if isinstance(sample, dict) and (time := _time(sample.get("time"))) is not None
        ]
        found: list[dict[str, Any]] = [sample for _, sample in timed]
        strange = ((place, sample) for place, sample in enumerate(found, len(whole)) if not sample.keys() <= _KNOWN)
        extra |= {place: _unknown(sample) for place, sample in strange}
        whole.time.extend(time for time, _ in timed)
        whole.bitrate_video.extend(_numbers([sample.get("bitrate_video") for sample in found], bits))
        whole.bitrate_audio.extend(_numbers([sample.get("bitrate_audio") for sample in found], bits))
        whole.frame_rate.extend(_numbers([sample.get("frame_rate") for sample in found]))
        whole.status.extend(_status(sample.get("status")) for sample in found)
        yield
    dropped = len(samples) - len(whole)
    if dropped and not len(whole):  # an empty answer would be taken for one of no signal
        raise Unreadable(f"{what}: the answer is not as documented: no sample of {dropped} has a time")
    return replace(whole, extra=extra, dropped=dropped)


def _unknown(sample: dict[str, Any]) -> Mapping[str, object]:
    return {name: value for name, value in sample.items() if name not in _KNOWN}


def _numbers(values: list[Any], unit: float = 1.0) -> array[float]:
    plain = {*map(type, values)} <= _PLAIN and max(map(abs, values), default=0) <= _LARGEST
    numbers = values if plain else [*map(_number, values)]
    return array("d", numbers if unit == 1.0 else [value * unit for value in numbers])


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
