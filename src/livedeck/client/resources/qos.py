"""Quality of service of an event's stream (platform-api.md, "QoS sample"), in columns: thousands of samples a poll."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import nan
from operator import itemgetter
from typing import Any, Literal, NamedTuple, cast, overload

from livedeck.client.http.errors import ApiError, Unreadable
from livedeck.client.http.lenient import Broken
from livedeck.client.http.request import Identifier, describe_call, make_request
from livedeck.client.http.response import rows
from livedeck.client.http.transport import Transport
from livedeck.client.resources.base import Resource
from livedeck.client.resources.qos_tail import Continuation, LastAnswers
from livedeck.client.resources.validation import coerce_integer, coerce_number, coerce_timestamp

BitrateUnit = Literal["bit", "kbit"]
_BITS: Mapping[BitrateUnit, float] = {"bit": 1.0, "kbit": 1000.0}

_NO_STATUS = -1
_MAX_NUMBER = 2**53  # floats are exact up to here; no stream comes near
_NUMBERS: frozenset[type] = frozenset({int, float})
_INTEGERS: frozenset[type] = frozenset({int})
_MEASURED = "bitrate_video", "bitrate_audio", "frame_rate", "status"
_DOCUMENTED = frozenset({"time", *_MEASURED})


class QosSample(NamedTuple):
    """A sample: an aware time, rates in bit/s and frames/s. None if missing."""

    time: datetime
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
    """The samples in the order of the answer, which may be unsorted and contain duplicates.

    A sequence of QosSample over columns of plain numbers; a slice is QosSamples too. `time`: epoch seconds. A missing,
    null or unreadable number is NaN in its column, and -1 in `status`, because zero is a measurement. `extra`: index ->
    the undocumented fields of that sample. `dropped`: number of samples without a readable time. `unreadable`: column
    -> number of values that are not numbers.
    """

    time: array[float] = field(default_factory=_doubles)
    bitrate_video: array[float] = field(default_factory=_doubles)
    bitrate_audio: array[float] = field(default_factory=_doubles)
    frame_rate: array[float] = field(default_factory=_doubles)
    status: array[int] = field(default_factory=_integers)
    extra: Mapping[int, Mapping[str, object]] = field(default_factory=dict)
    dropped: int = 0
    unreadable: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.time)

    @overload
    def __getitem__(self, index: int) -> QosSample: ...

    @overload
    def __getitem__(self, index: slice) -> QosSamples: ...

    def __getitem__(self, index: int | slice) -> QosSample | QosSamples:
        if isinstance(index, slice):
            return self._slice(range(len(self))[index])
        status = self.status[index]
        return QosSample(
            datetime.fromtimestamp(self.time[index], UTC),
            _or_none(self.bitrate_video[index]),
            _or_none(self.bitrate_audio[index]),
            _or_none(self.frame_rate[index]),
            None if status == _NO_STATUS else status,
        )

    def __iter__(self) -> Iterator[QosSample]:
        return map(self.__getitem__, range(len(self)))

    def __repr__(self) -> str:
        return f"<QosSamples: {len(self)}>"

    def since(self, time: float) -> QosSamples:
        """Return the samples of `time` (epoch s) and later."""
        return self._slice([index for index, at in enumerate(self.time) if at >= time])

    def _slice(self, indices: Sequence[int]) -> QosSamples:
        def pick(column: array[float]) -> array[float]:
            return array("d", [column[index] for index in indices])

        return QosSamples(
            pick(self.time),
            pick(self.bitrate_video),
            pick(self.bitrate_audio),
            pick(self.frame_rate),
            array("q", [self.status[index] for index in indices]),
            {place: self.extra[index] for place, index in enumerate(indices) if index in self.extra},
            self.dropped,
            self.unreadable,
        )


class Qos(Resource):
    """The quality of service of live events. `unit`: the platform's unit of bit rates, per second."""

    def __init__(self, transport: Transport, unit: BitrateUnit = "bit") -> None:
        super().__init__(transport)
        self._bits = _BITS[unit]
        self._answers: LastAnswers[QosSamples] = LastAnswers(transport.timing.timer)

    async def get(self, event_id: Identifier) -> QosSamples:
        """Return the samples of the current stream, at most the newest 3600 (platform-api.md, "QoS response").

        Raises ApiError.

        >>> samples = await api.qos.get(event_id)
        >>> newest = samples[-1]
        >>> newest.time.tzinfo
        datetime.timezone.utc
        >>> broken = [sample for sample in samples[-60:] if sample.status == 5]
        """
        summary = describe_call("get QoS of event", event_id)
        request = make_request("GET", summary, "v2", "live", "events", event_id, "qos")
        key, body, is_whole = str(event_id), b"", True

        def parse(answer: object) -> QosSamples:
            return _parse_samples(rows(answer, summary), summary, self._bits)

        def parse_tail(received: bytes) -> QosSamples | None:
            nonlocal body, is_whole
            body, is_whole = received, True
            found = self._answers.find(key, body)
            samples = _continue(*found, summary, self._bits) if found else None
            is_whole = samples is None
            return samples

        try:
            samples = await self._transport.send(request, parse, parse_tail)
        except ApiError:
            self._answers.forget(key)
            raise
        if _is_plain(samples):
            self._answers.keep(key, body, samples, is_whole=is_whole)
        else:
            self._answers.forget(key)
        if samples.unreadable or samples.dropped:
            names = [*samples.unreadable, *(["time"] if samples.dropped else [])]
            self._transport.log_faults(summary, [f"samples whose {name} cannot be read" for name in names])
        return samples


def _is_plain(samples: QosSamples) -> bool:
    """Return whether each row became a sample with documented and readable values only."""
    return not (samples.extra or samples.dropped or samples.unreadable)


def _continue(before: QosSamples, found: Continuation, summary: str, bits: float) -> QosSamples | None:
    """Return the samples of an answer that continues the one `before`; None if a new row is not plain."""
    try:
        added = _parse_samples([*found.rows], summary, bits)
    except Unreadable:
        return None
    if not _is_plain(added):
        return None
    return QosSamples(
        before.time[found.first :] + added.time,
        before.bitrate_video[found.first :] + added.bitrate_video,
        before.bitrate_audio[found.first :] + added.bitrate_audio,
        before.frame_rate[found.first :] + added.frame_rate,
        before.status[found.first :] + added.status,
    )


def _parse_samples(answered: list[object], summary: str, bits: float) -> QosSamples:
    """Parse the samples column by column, because a deck reads thousands of plain numbers a second."""
    samples = [sample for sample in answered if isinstance(sample, dict)]
    times = _parse_times([sample.get("time") for sample in samples])
    if None in times:
        samples = [sample for sample, time in zip(samples, times, strict=True) if time is not None]
    if answered and not samples:  # an empty result would look like a stream without a signal
        raise Unreadable(f"{summary}: the response is not as documented: no sample of {len(answered)} has a time")
    if not samples:
        return QosSamples()
    measured, are_as_documented = _measured_values(samples)
    video, audio, rate, status = zip(*measured, strict=True)
    columns = _numbers(video, bits), _numbers(audio, bits), _numbers(rate), _statuses(status)
    extra = (
        {}
        if are_as_documented
        else {
            index: {name: _or_null(value) for name, value in sample.items() if name not in _DOCUMENTED}
            for index, sample in enumerate(samples)
            if not sample.keys() <= _DOCUMENTED
        }
    )
    return QosSamples(
        array("d", [time for time in times if time is not None]),
        *columns,
        extra,
        len(answered) - len(samples),
        {}
        if are_as_documented and _all_plain((*video, *audio, *rate, *status), _NUMBERS)
        else _count_unreadable(measured),
    )


def _count_unreadable(measured: Sequence[tuple[Any, ...]]) -> Mapping[str, int]:
    """Return the number of unreadable values of each column."""
    readers = (coerce_number, coerce_number, coerce_number, coerce_integer)
    counts = (
        (name, sum(value is not None and read(value) is None for value in column))
        for name, read, column in zip(_MEASURED, readers, zip(*measured, strict=True), strict=True)
    )
    return {name: count for name, count in counts if count}


def _measured_values(samples: list[dict[str, Any]]) -> tuple[list[tuple[Any, ...]], bool]:
    """Return each sample's values without its time (None if missing), and whether all fields are documented."""
    try:
        return [*map(itemgetter(*_MEASURED), samples)], {*map(len, samples)} <= {len(_DOCUMENTED)}
    except KeyError:
        return [tuple(sample.get(name) for name in _MEASURED) for sample in samples], False


def _numbers(values: Sequence[Any], unit: float = 1.0) -> array[float]:
    numbers = values if _all_plain(values, _NUMBERS) else [*map(_number, values)]
    return array("d", numbers if unit == 1.0 else [value * unit for value in numbers])


def _statuses(values: Sequence[Any]) -> array[int]:
    return array("q", values if _all_plain(values, _INTEGERS) else map(_status, values))


def _all_plain(values: Sequence[Any], types: frozenset[type]) -> bool:
    """Return whether all values are of these types, and none is too large."""
    return {*map(type, values)} <= types and max(map(abs, values), default=0) <= _MAX_NUMBER


def _parse_times(texts: list[object]) -> list[float | None]:
    """Return the times in epoch s, None if unreadable; quicker if all are plain UTC."""
    try:
        times = [*map(datetime.fromisoformat, cast("list[str]", texts))]
    except (TypeError, ValueError):
        return [*map(_parse_time, texts)]
    if any(time.tzinfo is not UTC for time in times):
        return [*map(_parse_time, texts)]
    return [time.timestamp() for time in times]


def _parse_time(value: object) -> float | None:
    time = coerce_timestamp(value)
    return None if time is None else time.timestamp()


def _number(value: object) -> float:
    number = coerce_number(value)
    return nan if number is None or abs(number) > _MAX_NUMBER else float(number)


def _status(value: object) -> int:
    status = coerce_integer(value)
    return _NO_STATUS if status is None or abs(status) > _MAX_NUMBER else status


def _or_null(value: object) -> object:
    return None if isinstance(value, Broken) else value


def _or_none(value: float) -> float | None:
    return None if value != value else value  # noqa: PLR0124  only NaN differs from itself
