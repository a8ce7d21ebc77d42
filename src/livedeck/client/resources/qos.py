"""Quality of service of an event's stream (platform-api.md, "QoS sample").

Samples are stored in columns, because a poll returns thousands of them.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from math import nan
from operator import attrgetter, itemgetter
from typing import Any, Literal, NamedTuple, cast, overload

from livedeck.client.http.errors import ApiError, Invalid, Misconfigured, Unreadable
from livedeck.client.http.lenient import Broken
from livedeck.client.http.request import Identifier, describe_call, make_request
from livedeck.client.http.response import data, rows
from livedeck.client.http.transport import Transport
from livedeck.client.resources.base import Resource
from livedeck.client.resources.events import Events, Stream
from livedeck.client.resources.qos_tail import Continuation, LastAnswers
from livedeck.client.resources.validation import coerce_integer, coerce_number, coerce_timestamp

BitrateUnit = Literal["bit", "kbit"]
_BITS: Mapping[BitrateUnit, float] = {"bit": 1.0, "kbit": 1000.0}

WATCH_INTERVAL = 5.0
"""Seconds between two reads of a watch, as in the deck for an event on air. The document names no limit."""

_REMEMBERED = 8192
"""Minimum number of sample times that a watch remembers. Two replies contain fewer."""

_NO_STATUS = -1
_MAX_NUMBER = 2**53  # floats are exact up to here; no stream comes near

MAX_SAMPLES = 86_400
"""Maximum number of samples to read from a reply: one a second for a day. The platform keeps an hour of them."""

_SLICE = 3600
"""Number of rows that are read at a time. The interpreter's lock is free in between, so that the event loop goes on."""

_NUMBERS: frozenset[type] = frozenset({int, float})
_INTEGERS: frozenset[type] = frozenset({int})
_MEASURED = "bitrate_video", "bitrate_audio", "frame_rate", "status"
_DOCUMENTED = frozenset({"time", *_MEASURED})


class QosSample(NamedTuple):
    """Sample: an aware time, rates in bit/s and frames/s, and a status. A missing value is None."""

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
    """Samples in the order of the reply, which may be unsorted and contain duplicates.

    A sequence of QosSample over columns of plain numbers; a slice is QosSamples too. A missing, null or unreadable
    number is NaN in its column, and -1 in `status`, because zero is a measurement.

    Attributes:
        time: Times in epoch seconds.
        bitrate_video: Video bit rates in bit/s.
        bitrate_audio: Audio bit rates in bit/s.
        frame_rate: Frames per second.
        status: Statuses of the platform.
        extra: Index of a sample -> its undocumented fields.
        dropped: Number of samples without a readable time.
        unreadable: Column -> number of values that are not numbers.
        older: Number of older samples in the reply, beyond MAX_SAMPLES.
    """

    time: array[float] = field(default_factory=_doubles)
    bitrate_video: array[float] = field(default_factory=_doubles)
    bitrate_audio: array[float] = field(default_factory=_doubles)
    frame_rate: array[float] = field(default_factory=_doubles)
    status: array[int] = field(default_factory=_integers)
    extra: Mapping[int, Mapping[str, object]] = field(default_factory=dict)
    dropped: int = 0
    unreadable: Mapping[str, int] = field(default_factory=dict)
    older: int = 0

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

    @property
    def newest(self) -> QosSample | None:
        """Sample with the latest time; None if there are no samples."""
        return self[max(range(len(self)), key=self.time.__getitem__)] if self.time else None

    def since(self, time: float) -> QosSamples:
        """Return the samples from `time` (epoch s) on."""
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
            self.older,
        )


class Qos(Resource):
    """Quality of service of live events. `unit`: the platform's unit of bit rates, per second."""

    def __init__(self, transport: Transport, unit: BitrateUnit = "bit") -> None:
        super().__init__(transport)
        self._bits = _BITS[unit]
        self._answers: LastAnswers[QosSamples] = LastAnswers(transport.timing.timer)

    async def get(self, event_id: Identifier) -> QosSamples:
        """Return the samples of the current stream, at most the newest 3600 (platform-api.md, "QoS response").

        There are none before the stream starts: `newest` is then None. If the reply has more, only the newest
        MAX_SAMPLES are read. Raises ApiError.

        >>> samples = await api.qos.get(event_id)
        >>> if samples.newest:
        ...     print(samples.newest.time.tzinfo)
        UTC
        >>> broken = [sample for sample in samples[-60:] if sample.status == 5]
        """
        summary = describe_call("get QoS of event", event_id)
        request = make_request("GET", summary, "v2", "live", "events", event_id, "qos")
        key, body, is_whole = str(event_id), b"", True

        def parse(answer: object) -> QosSamples:
            is_null = data(answer, summary) is None  # a stream without samples (platform-api.md, "QoS response")
            return _parse_samples([] if is_null else rows(answer, summary), summary, self._bits)

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
        if samples.older:
            self._transport.log_faults(summary, [f"only the newest {MAX_SAMPLES:,} samples of a reply are read"])
        if samples.unreadable or samples.dropped:
            names = [*samples.unreadable, *(["time"] if samples.dropped else [])]
            self._transport.log_faults(summary, [f"samples whose {name} cannot be read" for name in names])
        return samples

    async def watch(
        self, event_id: Identifier, *, interval: float = WATCH_INTERVAL, since: datetime | None = None
    ) -> AsyncGenerator[QosSample, None]:
        """Yield each new sample once, until the current stream ends. Reads the samples every `interval` seconds.

        `since`: yield stored samples after this aware time first; None begins with the newest. A sample that arrives
        late is yielded late. Waits while the event has no stream; the stream has ended when the event states its
        `finished_at`, or has another stream. Raises ApiError if a read fails in spite of its retries; to go on, call
        `watch` again with `since` set to the time of the last sample. Raises Invalid for a time without a zone,
        Misconfigured for an unusable interval.

        >>> async for sample in api.qos.watch(event_id):
        ...     print(sample.time.tzinfo)
        ...     break
        UTC
        """
        summary = describe_call("watch QoS of event", event_id)
        if not interval > 0:
            raise Misconfigured(f"{summary}: interval should be above 0 seconds")
        if since is not None and since.tzinfo is None:
            raise Invalid(summary, "since", "should have a time zone")
        events, new = Events(self._transport), _NewSamples(since)
        stream = (await events.get(event_id)).stream
        while True:
            is_last = _is_over(stream)
            samples = new.among(await self.get(event_id))
            if not is_last and not (samples and new.is_continued):
                current = (await events.get(event_id)).stream
                if _is_another(stream, current):
                    return
                stream = current or stream
            for sample in samples:
                yield sample
            if is_last:
                return
            if not _is_over(stream):
                await self._transport.timing.sleep(interval)


def _is_over(stream: Stream | None) -> bool:
    return stream is not None and stream.finished_at is not None


def _is_another(before: Stream | None, stream: Stream | None) -> bool:
    """Return whether the ids prove that the event has another stream than before."""
    return bool(before and before.id and stream and stream.id and before.id != stream.id)


class _NewSamples:
    """Samples of a watch that were not seen before. `since`: time after which stored samples count as new.

    `is_continued`: the last reply repeats a sample that was seen before, so it is probably about the same stream.
    """

    def __init__(self, since: datetime | None) -> None:
        self.is_continued = True
        self._since = None if since is None else since.timestamp()
        self._seen = set[float]()
        self._is_first = True

    def among(self, samples: QosSamples) -> list[QosSample]:
        """Return the new samples by time. From the first reply, return the newest sample, or those after `since`."""
        places = {time: index for index, time in enumerate(samples.time)}
        times = sorted(places.keys() - self._seen)
        self.is_continued = not self._seen or len(times) < len(places)
        self._seen |= places.keys()
        most = max(_REMEMBERED, 2 * len(places))
        if len(self._seen) > most:
            self._seen = {*sorted(self._seen)[-most:]}
        if self._is_first:
            self._is_first = False
            times = times[-1:] if self._since is None else [time for time in times if time > self._since]
        return [samples[places[time]] for time in times]


def _is_plain(samples: QosSamples) -> bool:
    """Return whether each row became a sample with documented and readable values only."""
    return not (samples.extra or samples.dropped or samples.unreadable or samples.older)


def _continue(before: QosSamples, found: Continuation, summary: str, bits: float) -> QosSamples | None:
    """Return the samples of a reply: first those repeated from `before`, then the added rows.

    Returns None if an added row is not plain.
    """
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
    """Return the newest samples of a reply. Raises Unreadable if it has rows, but none has a time."""
    kept = _newest(answered)
    parts = [_parse_slice(kept[start : start + _SLICE], bits) for start in range(0, len(kept), _SLICE)]
    samples = parts[0] if len(parts) == 1 else _joined(parts, len(answered) - len(kept))
    if answered and not samples:  # an empty result would look like a stream without a signal
        raise Unreadable(f"{summary}: the response is not as documented, no time in any of {len(answered)} samples")
    return samples


def _newest(answered: list[object]) -> list[object]:
    """Return the newest MAX_SAMPLES rows. The times of the first and last row show whether the newest come first."""
    if len(answered) <= MAX_SAMPLES:
        return answered
    ends = [_parse_time(row.get("time")) if isinstance(row, dict) else None for row in (answered[0], answered[-1])]
    is_descending = ends[0] is not None and ends[1] is not None and ends[0] > ends[1]
    return answered[:MAX_SAMPLES] if is_descending else answered[-MAX_SAMPLES:]


def _joined(parts: Sequence[QosSamples], older: int) -> QosSamples:
    joined = QosSamples()
    extra, unreadable = dict[int, Mapping[str, object]](), Counter[str]()
    for part in parts:
        extra |= {len(joined) + index: fields for index, fields in part.extra.items()}
        unreadable.update(part.unreadable)
        joined.time.extend(part.time)
        joined.bitrate_video.extend(part.bitrate_video)
        joined.bitrate_audio.extend(part.bitrate_audio)
        joined.frame_rate.extend(part.frame_rate)
        joined.status.extend(part.status)
    dropped = sum(part.dropped for part in parts)
    return replace(joined, extra=extra, dropped=dropped, unreadable={**unreadable}, older=older)


def _parse_slice(answered: list[object], bits: float) -> QosSamples:
    """Parse the samples column by column, because a deck reads thousands of plain numbers a second."""
    samples = [sample for sample in answered if isinstance(sample, dict)]
    times = _parse_times([sample.get("time") for sample in samples])
    if None in times:
        samples = [sample for sample, time in zip(samples, times, strict=True) if time is not None]
    if not samples:
        return QosSamples(dropped=len(answered))
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
    """Return the values of each sample (without the time; None if missing), and whether all fields are documented."""
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
    """Return the times in epoch s, None for an unreadable one. Faster if all times are in UTC and readable."""
    try:
        times = [*map(datetime.fromisoformat, cast("list[str]", texts))]
    except (TypeError, ValueError):
        return [*map(_parse_time, texts)]
    if {*map(attrgetter("tzinfo"), times)} != {UTC}:
        return [*map(_parse_time, texts)]
    return [*map(datetime.timestamp, times)]


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
