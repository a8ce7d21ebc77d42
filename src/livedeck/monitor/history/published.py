"""Snapshots in the history, so that any past moment can be shown again.

A segment is a whole snapshot (part 0) and a chain of differences, each to the part before. One process writes all parts
of a segment. Each part is compressed JSON, with the end of part 0 as the dictionary of the other parts. A part has no
samples and only names the newest sample of each stream. Readers ignore damaged parts.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from random import SystemRandom
from typing import Any, NamedTuple

from livedeck.monitor.history.database import Database, microseconds, moment
from livedeck.monitor.history.foreign import Foreign
from livedeck.monitor.model.snapshot import Snapshot
from livedeck.monitor.published.codec import Encoded, encode
from livedeck.monitor.published.difference import Values, apply, diff
from livedeck.record import Record

_LASTS = timedelta(minutes=10)
"""Maximum duration of a segment, because showing a moment needs every earlier part of its segment."""

_GROWN = 8
"""Maximum size of a segment's differences, as a multiple of its whole part."""

_DICTIONARY = 32_768
"""Maximum number of bytes of a dictionary for zlib."""

_LARGEST = 8 * 2**20
"""Maximum number of bytes of JSON in a part; 3,000 events take 5 MB. A file from elsewhere may hold anything."""

_LARGEST_SUM = 8 * _LARGEST
"""Maximum number of bytes of JSON in all differences of a segment together."""

_MOST_VALUES = 600_000
"""Maximum number of values, names and brackets in a snapshot, because each takes memory. 3,000 events need half."""

_INSERT = "INSERT INTO published (segment, part, at, is_news, body) VALUES (?, ?, ?, ?, ?)"

_PARTS = """
SELECT part, at, body FROM published WHERE segment = :segment AND part > :after AND at <= :until ORDER BY part
"""

_SEGMENTS = "SELECT segment FROM published WHERE at < :until GROUP BY segment HAVING max(at) >= :since"

_PARTS_WHOLE = """
SELECT segment, part, at, is_news, body FROM published WHERE segment = :segment AND at < :until ORDER BY part
"""

_UNREADABLE = (zlib.error, ValueError, TypeError, AttributeError, RecursionError)

_PART = "published.segment .part .at .is_news .body"

Part = tuple[int, int, int, int, bytes]
"""Stored part: segment id, part number, time, `is_news` and body."""

_OLD = """
DELETE FROM published WHERE (segment, part) IN (SELECT segment, part FROM published WHERE segment < ? LIMIT ?)
RETURNING part
"""


class Segment(Record):
    """Segment that a process is writing.

    Attributes:
        number: Id of the segment.
        began: Time of its whole part, by this machine's clock.
        dictionary: Dictionary of its differences.
        whole: Size of the whole part as JSON, in bytes.
        last: Snapshot of the last part.
        part: Number of the last part.
        size: Size of the differences as JSON, in bytes.
    """

    number: int
    began: datetime
    dictionary: bytes
    whole: int
    last: Encoded
    part: int = 0
    size: int = 0


class Frame(NamedTuple):
    """Stored snapshot, with the state that is needed to read on from it.

    Attributes:
        segment: Id of the segment.
        part: Number of the part.
        at: Time of the snapshot, by this machine's clock.
        values: The snapshot as JSON values.
        dictionary: Dictionary of the segment's differences.
        began: Time of the segment's whole part.
        weight: Upper bound for the number of values, names and brackets in `values`.
        size: Size of the differences so far as JSON, in bytes.
    """

    segment: int
    part: int
    at: datetime
    values: Values
    dictionary: bytes
    began: datetime
    weight: int
    size: int = 0


def write(db: Database, segment: Segment | None, snapshots: Iterable[Snapshot]) -> Segment | None:
    """Append snapshots to `segment` within the caller's transaction, and begin new segments as needed.

    Returns the segment of the last snapshot. Raises StorageError.
    """
    for snapshot in snapshots:
        segment = _append(db, segment, snapshot)
    return segment


def _append(db: Database, segment: Segment | None, snapshot: Snapshot) -> Segment:
    at = snapshot.at + timedelta(seconds=snapshot.link.clock_offset)
    encoded = encode(snapshot, segment.last if segment else None)
    is_news = segment is None or _is_news(segment.last.snapshot, snapshot)
    if segment is None or not timedelta() <= at - segment.began < _LASTS or segment.size > _GROWN * segment.whole:
        text = _text(encoded.values)
        number = microseconds(at) << 10 | SystemRandom().getrandbits(10)  # differs from those of other processes
        db.run(_INSERT, (number, 0, microseconds(at), is_news, _packed(text)))
        return Segment(number, at, text[-_DICTIONARY:], len(text), encoded)
    text = _text(diff(segment.last.values, encoded.values))
    db.run(_INSERT, (segment.number, segment.part + 1, microseconds(at), is_news, _packed(text, segment.dictionary)))
    return replace(segment, last=encoded, part=segment.part + 1, size=segment.size + len(text))


def _is_news(before: Snapshot, now: Snapshot) -> bool:
    """Return whether a person would want to jump to the change between two snapshots."""
    if now.changes or now.alarm_actions or now.rule_changes or before.link.state is not now.link.state:
        return True
    tallies = {state.id: state.phase.tally for state in before.events}
    return tallies != {state.id: state.phase.tally for state in now.events}


def find(db: Database, at: datetime) -> Frame | None:
    """Return the last snapshot at or before `at`; None without such a snapshot. Raises StorageError."""
    query = "SELECT segment FROM published WHERE at <= ? ORDER BY at DESC, segment DESC LIMIT 1"
    found = db.checked("published.segment", query, [microseconds(at)])
    return _read_on(db, None, found[0][0], at) if found else None


def following(db: Database, frame: Frame, until: datetime) -> Frame:
    """Read on from `frame` and return the last snapshot at or before `until`; `frame` itself if it is the last.

    Reads a segment to its end before it begins another. Raises StorageError.
    """
    query = "SELECT segment FROM published WHERE part = 0 AND at > ? AND at <= ? ORDER BY at LIMIT 1"
    while True:
        frame = _read_on(db, frame, frame.segment, until) or frame
        later = db.checked("published.segment", query, (microseconds(frame.at), microseconds(until)))
        begun = _read_on(db, None, later[0][0], until) if later else None
        if begun is None:
            return frame
        frame = begun


def each(db: Database) -> Iterator[Frame]:
    """Yield the snapshots that can be read, oldest first, each segment to its end. Raises StorageError."""
    frame: Frame | None = None
    starts = db.checked("published.segment .at", "SELECT segment, at FROM published WHERE part = 0 ORDER BY at")
    for segment, at in starts:
        if frame is not None and moment(at) <= frame.at:
            continue
        for frame in _frames(db, None, segment, 2**63 - 1):
            yield frame


def news_beside(db: Database, at: datetime, step: int) -> datetime | None:
    """Return the time of the next change after `at`, or of the previous change if `step` is negative; or None.

    Raises StorageError.
    """
    side, order = ("<", "DESC") if step < 0 else (">", "ASC")
    query = f"SELECT at FROM published WHERE at {side} ? AND is_news ORDER BY at {order} LIMIT 1"  # noqa: S608  constants
    rows = db.checked("published.at", query, [microseconds(at)])
    return moment(rows[0][0]) if rows else None


def bounds(db: Database) -> tuple[datetime, datetime] | None:
    """Return the times of the first and the last snapshot; None without snapshots. Raises StorageError."""
    found = [row for row in db.rows("SELECT min(at), max(at) FROM published") if row[0] is not None]
    return next(((moment(first), moment(last)) for first, last in db.sound("published.at .at", found)), None)


def copy(
    source: Foreign, target: Database, since: int, until: int, keep: Callable[[Values], Values] | None = None
) -> None:
    """Copy the segments of a time range into another file, within the caller's transaction.

    A segment is copied from its start, even if the start is before `since`.

    Args:
        source: The file to read.
        target: The file to write.
        since: Microseconds since the epoch.
        until: Microseconds since the epoch, not included.
        keep: Takes the values of a snapshot and returns the values to copy; None copies all.

    Raises:
        StorageError: One of the files fails.
    """
    for (segment,) in source.checked("published.segment", _SEGMENTS, {"since": since, "until": until}):
        rows = source.each(_PARTS_WHOLE, {"segment": segment, "until": until})
        parts: Iterable[Part] = (part for row in rows for part in source.sound(_PART, [row]))
        target.run_many(_INSERT, _rewritten(parts, keep) if keep else parts)


def _rewritten(parts: Iterable[Part], keep: Callable[[Values], Values]) -> Iterator[Part]:
    """Yield the parts of a segment, reduced by `keep`, up to the first unreadable one."""
    frame: Frame | None = None
    before: Values = {}
    dictionary = b""
    for segment, part, at, is_news, body in parts:
        try:
            frame = _read(frame, segment, part, moment(at), body)
            values = keep(frame.values)
        except (*_UNREADABLE, KeyError):
            return
        text = _text(diff(before, values) if part else values)
        yield segment, part, at, is_news, _packed(text, dictionary)
        before, dictionary = values, dictionary or text[-_DICTIONARY:]


def count_unreadable(db: Foreign) -> int:
    """Return the number of parts that cannot be shown. Raises StorageError."""
    return sum(1 for _ in _unreadable(db.each("SELECT segment, part, body FROM published ORDER BY segment, part")))


def keep_readable(db: Database, segment: int) -> int:
    """Delete the parts of a segment that cannot be shown, and return the number of remaining parts.

    Call this in a transaction. Raises StorageError.
    """
    rows = db.rows("SELECT segment, part, body FROM published WHERE segment = ? ORDER BY part", [segment])
    unreadable = [*_unreadable(rows)]
    db.run_many("DELETE FROM published WHERE segment = ? AND part = ?", unreadable)
    return len(rows) - len(unreadable)


def _unreadable(rows: Iterable[tuple[int, int, bytes]]) -> Iterator[tuple[int, int]]:
    """Yield segment and part number of each part that cannot be shown.

    Such a part is damaged or too large, or an earlier part of its segment is unreadable or missing. `rows`: segment,
    number and body of each part, in ascending order.
    """
    size, segment, following, dictionary = 0, -1, 0, b""
    for number, part, body in rows:
        if number != segment:
            segment, size, following, dictionary = number, 0, 0, b""
        try:
            if part != following:
                raise ValueError("an earlier part is missing")
            unpacker = zlib.decompressobj(-zlib.MAX_WBITS, dictionary) if part else zlib.decompressobj()
            text = _unpacked(unpacker, body)
            size += len(text) if part else 0
            if size > _LARGEST_SUM:
                raise ValueError("too large")
            _values(text)
        except _UNREADABLE:
            following = -1
            yield number, part
        else:
            following, dictionary = part + 1, dictionary or text[-_DICTIONARY:]


def prune(db: Database, before: int, step: int) -> bool:
    """Delete up to `step` parts of segments that ended before `before` (epoch ms). Return whether any was deleted."""
    began = before * 1000 - _LASTS // timedelta(microseconds=1)
    return bool(db.rows(_OLD, (began << 10, step)))


def _read_on(db: Database, frame: Frame | None, segment: int, until: datetime) -> Frame | None:
    """Return the last readable part of a segment at or before `until`, read after `frame` or from the whole part on.

    Returns `frame` (possibly None) if no part could be read.
    """
    for later in _frames(db, frame, segment, microseconds(until)):
        frame = later
    return frame


def _frames(db: Database, frame: Frame | None, segment: int, until: int) -> Iterator[Frame]:
    """Yield the readable parts of a segment up to `until` (microseconds), after `frame` if there is one."""
    bounds = {"segment": segment, "after": frame.part if frame else -1, "until": until}
    for part, at, body in db.checked("published.part .at .body", _PARTS, bounds):
        if part != (frame.part + 1 if frame else 0):
            return
        try:
            frame = _read(frame, segment, part, moment(at), body)
        except _UNREADABLE:
            return
        yield frame


def _read(frame: Frame | None, segment: int, part: int, at: datetime, body: bytes) -> Frame:
    if frame is None:
        text = _unpacked(zlib.decompressobj(), body)
        return Frame(segment, part, at, _values(text), text[-_DICTIONARY:], at, _weight(text))
    text = _unpacked(zlib.decompressobj(-zlib.MAX_WBITS, frame.dictionary), body)
    size = frame.size + len(text)
    if at < frame.began or size > _LARGEST_SUM:
        raise ValueError("part older than its segment, or segment too large")
    values = apply(_values(text), frame.values)
    weight = frame.weight + _weight(text)
    if weight > _MOST_VALUES and (weight := _count(values)) > _MOST_VALUES:
        raise ValueError("too many values")
    return Frame(segment, part, at, values, frame.dictionary, frame.began, weight, size)


def _packed(text: bytes, dictionary: bytes = b"") -> bytes:
    """Compress the JSON of a whole part, or of a difference if a dictionary is given."""
    if not dictionary:
        return zlib.compress(text, 9)
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, zdict=dictionary)
    return packer.compress(text) + packer.flush()


def _unpacked(unpacker: Any, body: bytes) -> bytes:
    text: bytes = unpacker.decompress(body, _LARGEST)
    if not unpacker.eof:
        raise ValueError("too large, or cut off")
    return text


def _weight(text: bytes) -> int:
    """Return an upper bound for the number of values, names and brackets in JSON; it also counts some of the texts."""
    return sum(map(text.count, (b",", b":", b"[", b"{")))


def _count(values: Values) -> int:
    """Return the exact number of values, names and brackets."""
    count, waiting = 0, list[Any]([values])
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            count += 1 + 2 * len(value)
            waiting += value.values()
        elif isinstance(value, list):
            count += 1 + len(value)
            waiting += value
    return count


def _values(text: bytes) -> Values:
    if _weight(text) > _MOST_VALUES:
        raise ValueError("too many values")
    values = json.loads(text)
    if not isinstance(values, dict):
        raise TypeError("not an object")
    return values


def _text(values: Values) -> bytes:
    return json.dumps(values, separators=(",", ":"), ensure_ascii=False).encode()
