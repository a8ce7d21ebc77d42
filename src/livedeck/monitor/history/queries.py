"""Query that gathers samples into the columns of a chart, from the roll-up if a column is a minute or more."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import Any

from livedeck.monitor.history.columns import SLOT
from livedeck.monitor.history.database import Database
from livedeck.monitor.history.samples import FPS_SCALE, STATUSES, Stream
from livedeck.monitor.model.readings import MISSING, NO_STATUS
from livedeck.monitor.model.records import Buckets, MinMax

_SAMPLES = """
    SELECT {time} AS time, 1 AS count, video AS video_low, video AS video_high, audio AS audio_low, audio AS audio_high,
        fps AS fps_low, fps AS fps_high, status = 0 AS normal, status = 3 AS key20, status = 4 AS key50,
        status = 5 AS loss, CASE WHEN status NOT IN (0, 3, 4, 5) THEN status END AS odd
    FROM (
        SELECT time, video, audio, fps, status FROM sample WHERE stream = :stream AND time >= :first AND time < :end
        UNION ALL SELECT time - :base, video, audio, fps, status FROM recent
        WHERE stream = :stream AND time >= :base + :first AND time < :base + :end
    )
"""

_MINUTE = f"(time + {SLOT << 24}) / {SLOT} * {SLOT} - {SLOT << 24}"
"""SQL for the start of a sample's minute, rounded down also for a time before the stream's base."""

_ROLLUPS = f"""
    SELECT slot * {SLOT} AS time, count, video_low, video_high, audio_low, audio_high, fps_low, fps_high,
        normal, key20, key50, loss, odd
    FROM rollup WHERE stream = :stream AND slot >= :first_slot AND slot < :end_slot
"""  # noqa: S608  constants

_COLUMNS = """
SELECT max(0, time - :since) * :columns / :length AS bucket, sum(count), min(video_low), max(video_high),
    min(audio_low), max(audio_high), min(fps_low), max(fps_high), coalesce(sum(normal), 0), coalesce(sum(key20), 0),
    coalesce(sum(key50), 0), coalesce(sum(loss), 0), max(odd)
FROM ({parts}) GROUP BY bucket
"""

_GATHERED = "sample.place .count .video .video .audio .audio .fps .fps .count .count .count .count .status"


def gather(db: Database, stream: Stream, since: float, until: float, columns: int) -> Buckets:
    """Return the samples from `since` to `until` (epoch s) in `columns` equal steps of time. Raises StorageError.

    If a step is a minute or more, whole minutes are gathered, so a sample near an edge may count in the next column.
    """
    first, end = round(since * 1000) - stream.base, round(until * 1000) - stream.base
    first_slot = end_slot = first // SLOT
    is_coarse = end - first >= columns * SLOT
    if is_coarse:
        end_slot = max(first_slot, min(stream.rolled, -(-end // SLOT)))
    bounds = {"since": first, "length": end - first, "columns": columns, "first_slot": first_slot, "end_slot": end_slot}
    tail = {"first": max(first, end_slot * SLOT), "end": end, "base": stream.base}
    parts = _SAMPLES.format(time=_MINUTE if is_coarse else "time")
    if end_slot > first_slot:
        parts = f"{_ROLLUPS} UNION ALL {parts}"
    rows = db.checked(_GATHERED, _COLUMNS.format(parts=parts), {"stream": stream.id} | bounds | tail)
    return _buckets(rows, since, until, columns)


def empty(since: float, until: float, columns: int) -> Buckets:
    """Return the result of `gather` for a stream without samples."""
    return _buckets((), since, until, columns)


def _buckets(rows: Sequence[tuple[Any, ...]], since: float, until: float, columns: int) -> Buckets:
    places, count, *measures = zip(*rows, strict=True) if rows else [()] * 13

    def integers(values: Iterable[int], blank: int = 0) -> array[int]:
        filled = array("q", [blank]) * columns
        for place, value in zip(places, values, strict=True):
            filled[place] = value
        return filled

    def numbers(values: Iterable[int | None], scale: int) -> array[float]:
        filled = array("d", [MISSING]) * columns
        for place, value in zip(places, values, strict=True):
            if value is not None:
                filled[place] = value / scale
        return filled

    def min_max(index: int, scale: int = 1) -> MinMax:
        return MinMax(*(numbers(values, scale) for values in measures[index : index + 2]))

    return Buckets(
        since,
        (until - since) / columns,
        integers(count),
        min_max(0),
        min_max(2),
        min_max(4, FPS_SCALE),
        integers(map(_worst, *measures[6:]), NO_STATUS),
        {status: integers(values) for status, values in zip(STATUSES, measures[6:10], strict=True)},
    )


def _worst(normal: int, key20: int, key50: int, loss: int, odd: int | None) -> int:
    if loss or key50 or key20:
        return 5 if loss else 4 if key50 else 3
    if odd is not None:
        return int(odd)
    return 0 if normal else NO_STATUS
