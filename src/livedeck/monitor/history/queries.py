"""A stretch of samples gathered into the columns of a chart, out of the roll-up where that is fine enough."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import pairwise
from operator import add
from typing import Any, TypeAlias

from livedeck.monitor.history.database import Database
from livedeck.monitor.history.samples import (
    FPS_SCALE,
    SLOT,
    STATUSES,
    Columns,
    Stream,
    oldest_recent,
    stored,
    summaries,
)
from livedeck.monitor.model.readings import MISSING, NO_STATUS
from livedeck.monitor.model.records import Buckets, MinMax

_FROM_SLOTS = f"""
WITH span AS (
    SELECT max(0, (slot * {SLOT} - :since) * :columns / :length) AS bucket, max(slot) AS newest,
        sum(count) AS count, min(video_low) AS vl, max(video_high) AS vh, min(audio_low) AS al, max(audio_high) AS ah,
        min(fps_low) AS fl, max(fps_high) AS fh, sum(normal) AS normal, sum(key20) AS key20, sum(key50) AS key50,
        sum(loss) AS loss, max(odd) AS odd
    FROM rollup WHERE stream = :stream AND slot >= :first AND slot < :end GROUP BY bucket
)
SELECT bucket, span.count, vl, vh, video_last, al, ah, audio_last, fl, fh, fps_last,
    span.normal, span.key20, span.key50, span.loss, span.odd
FROM span JOIN rollup ON stream = :stream AND slot = newest
"""  # noqa: S608  constants


_Row: TypeAlias = tuple[Any, ...]

"""A column, and what its samples come to (packing.summaries)."""


def gather(db: Database, stream: Stream, since: float, until: float, columns: int) -> Buckets:
    """The stretch from `since` to `until` (epoch s) in `columns` equal steps. Raises StorageError.

    Columns of three minutes and more are gathered from whole slots: a sample near an edge may count in the next one.
    """
    begin, end = round(since * 1000) - stream.base, round(until * 1000) - stream.base
    rows: list[_Row] = []
    first = begin
    if end - begin >= columns * SLOT:
        begin_slot, whole = begin // SLOT, -(-end // SLOT)
        recent = oldest_recent(db, stream, begin_slot * SLOT)
        whole = whole if recent is None else min(recent // SLOT, whole)
        bounds = {"stream": stream.id, "since": begin, "length": end - begin, "columns": columns}
        rows += db.rows(_FROM_SLOTS, bounds | {"first": begin_slot, "end": whole})
        first = max(begin, whole * SLOT)
    if first < end:
        rows += _from_samples(stored(db, stream, first, end - 1), begin, end - begin, columns)
    return _buckets(rows, since, until, columns)


def empty(since: float, until: float, columns: int) -> Buckets:
    """Nothing but gaps."""
    return _buckets((), since, until, columns)


def _from_samples(samples: Columns, begin: int, length: int, columns: int) -> Iterator[_Row]:
    edges = [bisect_left(samples.time, begin + -(-at * length // columns)) for at in range(columns + 1)]
    bounds = {at: (first, end) for at, (first, end) in enumerate(pairwise(edges)) if first < end}
    for at, summary in zip(bounds, summaries(samples, [*bounds.values()]), strict=True):
        yield (at, *summary)


def _buckets(rows: Iterable[_Row], since: float, until: float, columns: int) -> Buckets:
    """`rows` in the order of time; the last slot and the first of the samples may share a column."""
    each: dict[int, _Row] = {}
    for row in rows:
        each[row[0]] = _both(each[row[0]], row) if row[0] in each else row
    _, count, *measures = zip(*each.values(), strict=True) if each else [()] * len(_FOLDS)

    def placed(values: Iterable[int], blank: int = 0) -> array[int]:
        filled = array("q", [blank]) * columns
        for at, value in zip(each, values, strict=True):
            filled[at] = value
        return filled

    def scaled(values: Iterable[int | None], scale: int) -> array[float]:
        filled = array("d", [MISSING]) * columns
        for at, value in zip(each, values, strict=True):
            if value is not None:
                filled[at] = value / scale
        return filled

    def band(first: int, scale: int = 1) -> MinMax:
        return MinMax(*(scaled(values, scale) for values in measures[first : first + 3]))

    return Buckets(
        since,
        (until - since) / columns,
        placed(count),
        band(0),
        band(3),
        band(6, FPS_SCALE),
        placed(map(_worst, *measures[9:]), NO_STATUS),
        {status: placed(values) for status, values in zip(STATUSES, measures[9:13], strict=True)},
    )


def _worst(normal: int, key20: int, key50: int, loss: int, odd: int | None) -> int:
    named = 5 if loss else 4 if key50 else 3 if key20 else None
    if named is None:
        return odd if odd is not None else 0 if normal else NO_STATUS
    return named


def _both(earlier: _Row, later: _Row) -> _Row:
    """What two parts of one column come to."""
    return tuple(fold(*pair) for fold, *pair in zip(_FOLDS, earlier, later, strict=True))


def _least(one: int | None, other: int | None) -> int | None:
    return min((value for value in (one, other) if value is not None), default=None)


def _greatest(one: int | None, other: int | None) -> int | None:
    return max((value for value in (one, other) if value is not None), default=None)


def _later(_: int | None, other: int | None) -> int | None:
    return other


_FOLDS = (_later, add, *(_least, _greatest, _later) * 3, add, add, add, add, _greatest)
