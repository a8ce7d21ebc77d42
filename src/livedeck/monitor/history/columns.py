"""A stretch of samples gathered into the columns of a chart, out of the roll-up where that is fine enough."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from math import inf

from livedeck.monitor.history.database import Database
from livedeck.monitor.history.samples import FPS_SCALE, GATHER, SLOT, Stream
from livedeck.monitor.readings import MISSING, NO_STATUS
from livedeck.monitor.records import Band, Buckets

_FROM_SAMPLES = GATHER.format(bucket="(time - :since) * :columns / :length")

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

_STATUSES = (0, 3, 4, 5)
_WORST_FIRST = (5, 4, 3)

_Row = Sequence[int | None]


def gather(db: Database, stream: Stream, since: float, until: float, columns: int) -> Buckets:
    """The stretch from `since` to `until` (epoch s) in `columns` equal steps. Raises StorageError.

    Columns of three minutes and more are gathered from whole slots: a sample near an edge may count in the next one.
    """
    begin, end = round(since * 1000) - stream.base, round(until * 1000) - stream.base
    bounds = {"stream": stream.id, "since": begin, "length": end - begin, "columns": columns}
    rows: list[_Row] = []
    first = begin
    if end - begin >= columns * SLOT:
        rolled = min(stream.rolled, -(-end // SLOT))
        rows += db.rows(_FROM_SLOTS, bounds | {"first": begin // SLOT, "end": rolled})
        first = max(begin, stream.rolled * SLOT)
    rows += db.rows(_FROM_SAMPLES, bounds | {"first": first, "end": end})
    return _buckets(rows, since, until, columns)


def empty(since: float, until: float, columns: int) -> Buckets:
    """Nothing but gaps."""
    return _buckets((), since, until, columns)


def _buckets(rows: Iterable[_Row], since: float, until: float, columns: int) -> Buckets:
    """`rows` in the order of time; the last slot and the first of the samples may share a column."""
    measured = Buckets(
        since,
        (until - since) / columns,
        _none(columns),
        _band(columns),
        _band(columns),
        _band(columns),
        array("q", [NO_STATUS]) * columns,
        {status: _none(columns) for status in _STATUSES},
    )
    for row in rows:
        _add(measured, row)
    return measured


def _add(buckets: Buckets, row: _Row) -> None:
    at, count = row[0] or 0, row[1] or 0
    buckets.count[at] += count
    bands = ((buckets.video, 1), (buckets.audio, 1), (buckets.fps, FPS_SCALE))
    for place, (band, scale) in enumerate(bands):
        low, high, last = row[2 + 3 * place : 5 + 3 * place]
        if low is not None and high is not None:
            band.low[at] = min(low / scale, _or(band.low[at], inf))
            band.high[at] = max(high / scale, _or(band.high[at], -inf))
        band.last[at] = MISSING if last is None else last / scale
    for status, counted in zip(_STATUSES, row[11:15], strict=True):
        buckets.statuses[status][at] += counted or 0
    buckets.status[at] = _worst(buckets, at, row[15])


def _worst(buckets: Buckets, at: int, odd: int | None) -> int:
    for status in _WORST_FIRST:
        if buckets.statuses[status][at]:
            return status
    before = buckets.status[at]
    if odd is not None or before not in {NO_STATUS, 0}:
        return before if odd is None else odd
    return 0 if buckets.statuses[0][at] else NO_STATUS


def _or(value: float, instead: float) -> float:
    return instead if value != value else value  # noqa: PLR0124  NaN is the one value unlike itself


def _band(columns: int) -> Band:
    return Band(*(array("d", [MISSING]) * columns for _ in range(3)))


def _none(columns: int) -> array[int]:
    return array("q", [0]) * columns
