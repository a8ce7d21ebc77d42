"""Samples in columns of whole numbers; the bytes that a slot of them takes in the file; what a chart tells of them.

In the file a slot is one byte, 4 or 8, and then, deflated, its columns one after the other in signed numbers of so many
bytes, times as steps from one to the next: the least bytes of all numbers, then those above them, and so on, for like
goes with like. Some 5 to 10 bytes a sample.
"""

from __future__ import annotations

import struct
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from operator import sub
from typing import NamedTuple

from livedeck.monitor.readings import NO_STATUS

SLOT = 180_000
"""Milliseconds that one row of the roll-up stands for: 24 h in 480 columns are still read from it."""

NOTHING = -(2**63)
"""Stands where a sample carried no number."""

STATUSES = (0, 3, 4, 5)
_USUAL = frozenset({NO_STATUS, *STATUSES})

_NARROW, _WIDE = 4, 8
_CODES = {_NARROW: "i", _WIDE: "q"}
_LIMIT = 2**31

Row = tuple[int, int, int, int, int]
"""Time (ms since the stream's base), video, audio (bit/s), fps (frames per 1000 s), status."""

Summary = tuple[int | None, ...]
"""Count; lowest, highest, last of video, audio and fps; how many of each status; the greatest of the unnamed ones."""


class Columns(NamedTuple):
    """Rows, a column each, ascending by time, one row a time."""

    time: Sequence[int]
    video: Sequence[int]
    audio: Sequence[int]
    fps: Sequence[int]
    status: Sequence[int]

    def part(self, first: int, end: int) -> Columns:
        """The rows from one index to before another."""
        return Columns(*(column[first:end] for column in self))

    def by_slot(self) -> Iterator[tuple[int, Columns]]:
        """Each slot that has rows, and those."""
        first, count = 0, len(self.time)
        while first < count:
            slot = self.time[first] // SLOT
            end = bisect_left(self.time, (slot + 1) * SLOT, first)
            yield slot, self.part(first, end)
            first = end


def columns_of(rows: Iterable[Row]) -> Columns:
    """Rows that ascend by time."""
    columns = [*zip(*rows, strict=True)]
    return Columns(*columns) if columns else Columns((), (), (), (), ())


def merged(older: Columns, newer: Columns) -> Columns:
    """Both; where a time is, the newer row wins."""
    if not older.time or not newer.time:
        return older if older.time else newer
    if older.time[-1] < newer.time[0]:
        return Columns(*([*one, *other] for one, other in zip(older, newer, strict=True)))
    rows = {row[0]: row for row in chain(zip(*older, strict=True), zip(*newer, strict=True))}
    return columns_of(rows[time] for time in sorted(rows))


def pack(samples: Columns, start: int) -> bytes:
    """The bytes of samples, whose slot begins at `start`."""
    steps = map(sub, samples.time, chain((start,), samples.time))
    numbers = [*steps, *samples.video, *samples.audio, *samples.fps, *samples.status]
    width = _NARROW if min(numbers) >= -_LIMIT and max(numbers) < _LIMIT else _WIDE
    flat = struct.pack(f"<{len(numbers)}{_CODES[width]}", *numbers)
    return bytes([width]) + zlib.compress(b"".join(flat[place::width] for place in range(width)), 1)


def unpack(content: bytes, start: int) -> Columns:
    """The samples that `pack` made into these bytes. Raises ValueError for others."""
    try:
        width, planes = content[0], zlib.decompress(content[1:])
        count = len(planes) // width
        flat = bytearray(len(planes))
        for place in range(width):
            flat[place::width] = planes[place * count : (place + 1) * count]
        length, odd = divmod(count, len(Columns._fields))
        if odd or not length:
            raise ValueError(f"{count} numbers are no rows")
        numbers = struct.unpack(f"<{count}{_CODES[width]}", flat)
    except (LookupError, ArithmeticError, zlib.error, struct.error) as error:
        raise ValueError(str(error)) from error
    steps, *rest = (numbers[first : first + length] for first in range(0, count, length))
    return Columns(list(accumulate(steps, initial=start))[1:], *rest)


def summaries(samples: Columns, bounds: Sequence[tuple[int, int]]) -> Iterator[Summary]:
    """What the rows from one index to before another, at least one, come to; for each of these pairs."""
    video, audio, fps, status = ([column[first:end] for first, end in bounds] for column in samples[1:])
    seen, none = set(samples.status), [0] * len(bounds)
    counts = ([part.count(known) for part in status] if known in seen else none for known in STATUSES)
    odd = [max((one for one in part if one not in _USUAL), default=None) if seen - _USUAL else None for part in status]
    return zip(map(len, status), *_band(video), *_band(audio), *_band(fps), *counts, odd, strict=True)


def _band(parts: list[Sequence[int]]) -> Iterator[Iterable[int | None]]:
    """The least, the greatest and the last number of each part."""
    least = list(map(min, parts))
    if NOTHING in least:
        known = [[value for value in part if value != NOTHING] for part in parts]
        yield [min(part, default=None) for part in known]
        yield [max(part, default=None) for part in known]
        yield [None if part[-1] == NOTHING else part[-1] for part in parts]
    else:
        yield least
        yield map(max, parts)
        yield [part[-1] for part in parts]
