"""Wire format of snapshots: one full listing, then changes (collector.md, "Wire"). Pure.

`monitor.published` defines the values that leave the collector. Samples are sent beside the values, in columns.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate, chain, pairwise
from math import inf
from typing import Any, NotRequired, cast

from typing_extensions import TypedDict

from livedeck.monitor import NO_STATUS, EventState, Readings, Snapshot
from livedeck.monitor.model.readings import MISSING
from livedeck.monitor.published.codec import Encoded, UnreadableSnapshotError, decode
from livedeck.monitor.published.difference import Values, apply, diff
from livedeck.monitor.signal.series import MAX_SAMPLES, first_change, prepend

SCHEMA = 1
"""Version of the wire format. Raise it if a field changes its meaning, but not for an additional field."""

LISTED_SAMPLES = 180
"""Default number of samples of each event in a listing, enough for the five minutes that lists of events draw."""

STARTING = "starting"
"""Code of the refusal by a collector that has just started and has no snapshot yet."""

EXPIRED, REPLACED = "expired token", "replaced token"
"""Codes of the refusals of a token that has expired, and of a replaced token after its grace period."""


class UnknownSchemaError(ValueError):
    """The collector's wire format is newer than this deck can read."""


class Columns(TypedDict):
    """Samples of one stream, ascending by time (server clock).

    `t0`: time of the first sample (epoch ms); None without samples. `dt`: milliseconds from each sample to the next.
    `v`, `a`: bit rates of video and audio (bit/s). `f`: frames/s. `s`: status. None is a missing value; 0 is measured.
    `after`: time (epoch ms) up to which the reader keeps its own samples, before it appends these columns. None: the
    reader keeps none of its own samples. It always drops samples of another stream.
    """

    stream: str
    after: int | None
    t0: int | None
    dt: list[int]
    v: list[float | None]
    a: list[float | None]
    f: list[float | None]
    s: list[int | None]


class Delta(TypedDict):
    """Difference between two successive snapshots. `samples`: event id -> columns, for events with changed samples."""

    values: Values
    samples: dict[str, Columns]


class Listing(TypedDict):
    """Full snapshot.

    `id`: id of the snapshot, after which the reader requests changes. `now`: time of the collector (epoch ms). `by`,
    `may`: name and right of the reader's token. `speed`: speed of the rehearsal that the collector follows, 0 while it
    is paused, null while it is unknown; missing if the collector has its machine's time.
    """

    schema: int
    id: str
    now: int
    values: Values
    samples: dict[str, Columns]
    by: str
    may: str
    speed: NotRequired[float | None]


def columns_of(state: EventState, begin: int, end: int) -> Columns:
    """Return the samples of an event from index `begin` to `end` (excluded)."""
    return columns(_stream(state), state.qos.readings, begin, end)


def columns(
    stream: str, readings: Readings, begin: int = 0, end: int | None = None, *, after: int | None = None
) -> Columns:
    """Return the samples from index `begin` to `end` (excluded) as columns. `after`: as in `Columns`."""
    rows = slice(begin, end)
    times = [_milliseconds(time) for time in readings.time[rows]]
    return Columns(
        stream=stream,
        after=after,
        t0=times[0] if times else None,
        dt=[later - earlier for earlier, later in pairwise(times)],
        v=_numbers(readings.video[rows]),
        a=_numbers(readings.audio[rows]),
        f=_numbers(readings.fps[rows]),
        s=[None if status == NO_STATUS else status for status in readings.status[rows]],
    )


def newest(states: Iterable[EventState], count: int) -> dict[str, Columns]:
    """Return event id -> the last `count` samples, for events with samples."""
    return {
        state.id: columns(_stream(state), state.qos.readings, max(0, len(state.qos.readings) - count))
        for state in states
        if len(state.qos.readings)
    }


def delta(before: Encoded, after: Encoded) -> Delta:
    """Return the change from `before` to `after`."""
    earlier = {state.id: state for state in before.snapshot.events}
    changed = {state.id: _changed(earlier.get(state.id), state) for state in after.snapshot.events}
    samples = {event_id: rows for event_id, rows in changed.items() if rows is not None}
    return Delta(values=diff(before.values, after.values), samples=samples)


def _changed(before: EventState | None, after: EventState) -> Columns | None:
    """Return the columns that change the samples of `before` to those of `after`; None if the samples are equal."""
    if after is before:
        return None
    readings, stream = after.qos.readings, _stream(after)
    if before is None or _stream(before) != stream:
        return columns(stream, readings) if len(readings) or before is not None else None
    if readings is before.qos.readings:
        return None
    since = _changed_since(before.qos.readings, readings)
    if since is None:
        return None
    begin = bisect_left(readings.time, _milliseconds(since), key=_milliseconds)
    return columns(stream, readings, begin, after=_milliseconds(readings.time[begin - 1]) if begin else None)


def _changed_since(before: Readings, after: Readings) -> float | None:
    """Return the time of the first changed or new sample (epoch s); None if only old samples were dropped."""
    since = first_change(before, after)
    if since < inf:
        return since
    begin = bisect_right(after.time, before.time[-1]) if len(before) else 0
    return after.time[begin] if begin < len(after) else None


@dataclass(frozen=True, slots=True)
class Samples:
    """Samples of a stream in the copy of a reader."""

    stream: str
    readings: Readings = field(default_factory=Readings)


@dataclass(frozen=True, slots=True)
class Held:
    """Reader's copy of the collector's snapshot. `listed` makes a copy; `changed` and `filled` return a new copy.

    The copy has the newest samples of the collector, but not always all of them.
    """

    last: Encoded
    samples: Mapping[str, Samples]

    @property
    def snapshot(self) -> Snapshot:
        """Collector's snapshot, with the samples that this copy holds."""
        return self.last.snapshot

    @classmethod
    def listed(cls, listing: Mapping[str, Any]) -> Held:
        """Make a copy from a listing, which is a whole snapshot. Raises UnknownSchemaError, UnreadableSnapshotError."""
        schema = listing.get("schema")
        if isinstance(schema, int) and schema > SCHEMA:
            raise UnknownSchemaError(f"COLLECTOR SPEAKS SCHEMA {schema}: upgrade this deck")
        if schema != SCHEMA:
            raise UnreadableSnapshotError("this is not a collector's listing")
        return cls._of(listing, None, {})

    def changed(self, change: Mapping[str, Any]) -> Held:
        """Return the copy with the next delta applied. Raises UnreadableSnapshotError."""
        return self._of(change, self.last, self.samples)

    def filled(self, event_id: str, rows: Mapping[str, Any]) -> Held:
        """Return a copy of the snapshot with earlier samples of an event. Raises UnreadableSnapshotError."""
        try:
            found = appended(None, cast("Columns", rows))  # a missing column raises KeyError
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise UnreadableSnapshotError(f"{type(error).__name__}: {error}") from error
        held = self.samples.get(event_id, Samples(found.stream))
        if held.stream != found.stream or event_id not in self.last.values["events"]:
            return self
        readings = prepend(found.readings, held.readings, inf) if len(held.readings) else found.readings
        samples = {**self.samples, event_id: Samples(found.stream, readings)}
        return Held._decoded(self.last.values, samples, self.last)

    @classmethod
    def _of(cls, message: Mapping[str, Any], before: Encoded | None, held: Mapping[str, Samples]) -> Held:
        try:
            values = apply(message["values"], before.values) if before else message["values"]
            news = {event_id: appended(held.get(event_id), rows) for event_id, rows in message["samples"].items()}
            samples = {event_id: rows for event_id, rows in {**held, **news}.items() if event_id in values["events"]}
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise UnreadableSnapshotError(f"{type(error).__name__}: {error}") from error
        return cls._decoded(values, samples, before)

    @classmethod
    def _decoded(cls, values: Values, samples: Mapping[str, Samples], before: Encoded | None) -> Held:
        readings = {event_id: rows.readings for event_id, rows in samples.items()}
        return cls(Encoded(decode(values, readings, before), values), samples)


def appended(held: Samples | None, rows: Columns) -> Samples:
    """Return the samples of `held` with `rows` added, which may also hold late or corrected samples.

    If `rows` are of another stream, returns only them. Raises KeyError, TypeError or ValueError for malformed columns.
    """
    old = held.readings if held and held.stream == rows["stream"] else Readings()
    after, news = rows["after"], readings_of(rows)
    kept = 0 if after is None else bisect_right(old.time, after, key=_milliseconds)
    begin = min(kept, max(0, kept + len(news) - MAX_SAMPLES))
    return Samples(
        rows["stream"],
        Readings(
            old.time[begin:kept] + news.time,
            old.video[begin:kept] + news.video,
            old.audio[begin:kept] + news.audio,
            old.fps[begin:kept] + news.fps,
            old.status[begin:kept] + news.status,
        ),
    )


def readings_of(rows: Columns) -> Readings:
    """Return columns as Readings of the monitor. Raises KeyError, TypeError or ValueError for malformed columns."""
    times = [] if rows["t0"] is None else [*accumulate(chain([rows["t0"]], rows["dt"]))]
    found = Readings(
        array("d", [time / 1000 for time in times]),
        _doubles(rows["v"]),
        _doubles(rows["a"]),
        _doubles(rows["f"]),
        array("q", [NO_STATUS if status is None else status for status in rows["s"]]),
    )
    if {len(found.video), len(found.audio), len(found.fps), len(found.status)} != {len(times)}:
        raise ValueError("columns of different lengths")
    return found


def _stream(state: EventState) -> str:
    return (state.event.stream.id if state.event.stream else None) or ""


def _milliseconds(time: float) -> int:
    return round(time * 1000)


def _doubles(numbers: list[float | None]) -> array[float]:
    return array("d", [MISSING if number is None else number for number in numbers])


def _numbers(column: array[float]) -> list[float | None]:
    """Return the values for JSON. Whole numbers become integers, which are half as long."""
    return [None if value != value else int(value) if value.is_integer() else value for value in column]  # noqa: PLR0124
