"""What was published, so that any moment can be shown as it stood then: whole snapshots, and what changed after each.

A segment is one whole snapshot and the differences that build on it in turn, all by one process. Each part is JSON,
compressed with the end of the whole one as the dictionary. Samples are in their own table; a part says which of them
were known. What has rotted is as if it had never been published.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import SystemRandom
from typing import Any, NamedTuple

from livedeck.monitor.history.database import Database, microseconds, moment
from livedeck.monitor.history.foreign import Foreign
from livedeck.monitor.model.snapshot import Snapshot
from livedeck.monitor.published.codec import Encoded, encode
from livedeck.monitor.published.difference import Values, apply, diff

_LASTS = timedelta(minutes=10)
"""Of a segment at most: what lies before a moment is read through for it."""

_GROWN = 8
"""Times the whole one that its differences may come to, likewise."""

_DICTIONARY = 32_768
"""Bytes that zlib looks back on."""

_LARGEST = 8 * 2**20
"""Bytes of JSON that one part may come to: that of 3,000 events is 5 MB; a file from elsewhere may hold anything."""

_LARGEST_SUM = 8 * _LARGEST
"""The same of all that follows the whole part of a segment."""

_MOST_VALUES = 600_000
"""Values, names and brackets in a snapshot: 3,000 events have half of that. Empty lists take 30 times their text."""

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
"""Segment, part, at, is_news and body, as they are stored."""

_OLD = """
DELETE FROM published WHERE (segment, part) IN (SELECT segment, part FROM published WHERE at < ? LIMIT ?) RETURNING part
"""


@dataclass(frozen=True, slots=True)
class Segment:
    """What is being written, and the snapshot of the last part. `whole`, `size`: bytes of JSON of the whole one, and of
    what was written after it."""

    number: int
    began: datetime
    dictionary: bytes
    whole: int
    last: Encoded
    part: int = 0
    size: int = 0


class Frame(NamedTuple):
    """What was published `at` that time (this machine's clock), in values. The rest is to read on: `began`, when the
    segment did; `weight`, values in it at most; `size`, bytes of JSON behind the whole part."""

    segment: int
    part: int
    at: datetime
    values: Values
    dictionary: bytes
    began: datetime
    weight: int
    size: int = 0


def write(db: Database, segment: Segment | None, snapshots: Iterable[Snapshot]) -> Segment | None:
    """Append these to that segment, or to a new one; in a transaction of the caller's. Returns the segment then.

    Raises StorageError.
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
        number = microseconds(at) << 10 | SystemRandom().getrandbits(10)  # no two processes begin the same one
        db.run(_INSERT, (number, 0, microseconds(at), is_news, _packed(text)))
        return Segment(number, at, text[-_DICTIONARY:], len(text), encoded)
    text = _text(diff(segment.last.values, encoded.values))
    db.run(_INSERT, (segment.number, segment.part + 1, microseconds(at), is_news, _packed(text, segment.dictionary)))
    return replace(segment, last=encoded, part=segment.part + 1, size=segment.size + len(text))


def _is_news(before: Snapshot, now: Snapshot) -> bool:
    """Whether something happened that a person would go back to."""
    if now.changes or now.alarm_actions or now.rule_changes or before.link.state is not now.link.state:
        return True
    tallies = {state.id: state.phase.tally for state in before.events}
    return tallies != {state.id: state.phase.tally for state in now.events}


def find(db: Database, at: datetime) -> Frame | None:
    """What was published last at that time; None where nothing was. Raises StorageError."""
    query = "SELECT segment FROM published WHERE at <= ? ORDER BY at DESC, segment DESC LIMIT 1"
    found = db.checked("published.segment", query, [microseconds(at)])
    return _read_on(db, None, found[0][0], at) if found else None


def following(db: Database, frame: Frame, until: datetime) -> Frame:
    """What was published last up to that time, read on from a frame before it; the frame itself where nothing was.

    A segment is followed to its end before another one is begun with. Raises StorageError.
    """
    query = "SELECT segment FROM published WHERE part = 0 AND at > ? AND at <= ? ORDER BY at LIMIT 1"
    while True:
        frame = _read_on(db, frame, frame.segment, until) or frame
        later = db.checked("published.segment", query, (microseconds(frame.at), microseconds(until)))
        begun = _read_on(db, None, later[0][0], until) if later else None
        if begun is None:
            return frame
        frame = begun


def news_beside(db: Database, at: datetime, step: int) -> datetime | None:
    """When something happened next after that time, or with a negative step before it. Raises StorageError."""
    side, order = (">", "ASC") if step > 0 else ("<", "DESC")
    query = f"SELECT at FROM published WHERE at {side} ? AND is_news ORDER BY at {order} LIMIT 1"  # noqa: S608  constants
    rows = db.checked("published.at", query, [microseconds(at)])
    return moment(rows[0][0]) if rows else None


def bounds(db: Database) -> tuple[datetime, datetime] | None:
    """The first and the last moment that can be shown; None where there is none. Raises StorageError."""
    found = [row for row in db.rows("SELECT min(at), max(at) FROM published") if row[0] is not None]
    return next(((moment(first), moment(last)) for first, last in db.sound("published.at .at", found)), None)


def copy(
    source: Foreign, target: Database, since: int, until: int, keep: Callable[[Values], Values] | None = None
) -> None:
    """Write what that file says from then until before then (microseconds since the epoch) into another one, by whole
    segments; in a transaction of the caller's. `keep`: what stays of each. Raises StorageError."""
    for (segment,) in source.checked("published.segment", _SEGMENTS, {"since": since, "until": until}):
        rows = source.each(_PARTS_WHOLE, {"segment": segment, "until": until})
        parts: Iterable[Part] = (part for row in rows for part in source.sound(_PART, [row]))
        target.run_many(_INSERT, _rewritten(parts, keep) if keep else parts)


def _rewritten(parts: Iterable[Part], keep: Callable[[Values], Values]) -> Iterator[Part]:
    """The same segment with what is kept of each part, up to what cannot be read."""
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
    """Return how many parts nobody can unpack: they are cut off, or come to more than any of ours. Raises StorageError.

    What is left of a segment behind such a part counts too.
    """
    rotten, size, segment, dictionary = 0, 0, -1, b""
    rows = db.each("SELECT segment, part, body FROM published ORDER BY segment, part")
    for number, part, body in rows:
        if number != segment:
            segment, size, dictionary = number, 0, b""
        try:
            if part and not dictionary:
                raise ValueError("it has no beginning")
            unpacker = zlib.decompressobj(-zlib.MAX_WBITS, dictionary) if part else zlib.decompressobj()
            text = _unpacked(unpacker, body)
            size += len(text) if part else 0
            if size > _LARGEST_SUM or _weight(text) > _MOST_VALUES:
                raise ValueError("it is too large")
            dictionary = dictionary or text[-_DICTIONARY:]
        except _UNREADABLE:
            rotten, dictionary = rotten + 1, b""
    return rotten


def prune(db: Database, before: int, step: int) -> bool:
    """Delete `step` parts at most of segments that ended before then (epoch ms); whether there were any."""
    return bool(db.rows(_OLD, (before * 1000 - _LASTS // timedelta(microseconds=1), step)))


def _read_on(db: Database, frame: Frame | None, segment: int, until: datetime) -> Frame | None:
    """The frame of the last part that can be read up to that time, from the frame or from the whole one on."""
    after = frame.part if frame else -1
    bounds = {"segment": segment, "after": after, "until": microseconds(until)}
    for part, at, body in db.checked("published.part .at .body", _PARTS, bounds):
        if part != (frame.part + 1 if frame else 0):
            break
        try:
            frame = _read(frame, segment, part, moment(at), body)
        except _UNREADABLE:
            break
    return frame


def _read(frame: Frame | None, segment: int, part: int, at: datetime, body: bytes) -> Frame:
    if frame is None:
        text = _unpacked(zlib.decompressobj(), body)
        return Frame(segment, part, at, _values(text), text[-_DICTIONARY:], at, _weight(text))
    text = _unpacked(zlib.decompressobj(-zlib.MAX_WBITS, frame.dictionary), body)
    size = frame.size + len(text)
    if at < frame.began or size > _LARGEST_SUM:
        raise ValueError("it is older than its segment, or that is too large")
    values = apply(_values(text), frame.values)
    weight = frame.weight + _weight(text)
    if weight > _MOST_VALUES and (weight := _count(values)) > _MOST_VALUES:
        raise ValueError("it has too many values")
    return Frame(segment, part, at, values, frame.dictionary, frame.began, weight, size)


def _packed(text: bytes, dictionary: bytes = b"") -> bytes:
    """A whole part; with the dictionary, one that builds on it."""
    if not dictionary:
        return zlib.compress(text, 9)
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, zdict=dictionary)
    return packer.compress(text) + packer.flush()


def _unpacked(unpacker: Any, body: bytes) -> bytes:
    text: bytes = unpacker.decompress(body, _LARGEST)
    if not unpacker.eof:
        raise ValueError("it is too large, or cut off")
    return text


def _weight(text: bytes) -> int:
    """Return how many values, names and brackets that JSON has at most; signs within texts count too."""
    return sum(map(text.count, (b",", b":", b"[", b"{")))


def _count(values: Values) -> int:
    """Return how many values, names and brackets there are, as `_weight` counts those of its text."""
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
        raise ValueError("it has too many values")
    values = json.loads(text)
    if not isinstance(values, dict):
        raise TypeError("it is no object")
    return values


def _text(values: Values) -> bytes:
    return json.dumps(values, separators=(",", ":"), ensure_ascii=False).encode()
