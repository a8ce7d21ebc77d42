"""QoS samples in columns: ordering, merging, measurement and freshness. Pure."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from math import inf, isnan
from operator import lt
from statistics import fmean, median
from typing import NamedTuple

from livedeck.client import QosSamples
from livedeck.monitor.model.readings import NO_STATUS, Readings
from livedeck.monitor.model.state import Freshness
from livedeck.monitor.model.thresholds import Thresholds

MAX_SAMPLES = 3600
"""Maximum number of samples of one stream, in memory and in a reply (platform-api.md, "QoS response")."""

_CADENCE_DELTAS = 20
"""Number of newest distances between samples whose median is the cadence."""

_RESOLUTION = 0.001
"""Resolution of sample times in a history, in seconds."""

_FRESHNESS_ORDER = (Freshness.FRESH, Freshness.LATE, Freshness.STALE, Freshness.NEVER)


def late_limit(cadence: float | None, thresholds: Thresholds) -> float:
    """Return the age in seconds above which samples are late. `cadence`: seconds between samples; None if unknown."""
    return max(thresholds.late_after, thresholds.late_intervals * (cadence or 0.0))


def answer_freshness(age: float | None, interval: float, thresholds: Thresholds) -> Freshness:
    """Return the freshness of a polled value: STALE after two missed polls.

    `age`: seconds since the last good reply; None before the first. `interval`: seconds between two polls.
    """
    if age is None:
        return Freshness.NEVER
    return Freshness.STALE if age > thresholds.answer_intervals * interval else Freshness.FRESH


def sample_freshness(age: float, cadence: float | None, thresholds: Thresholds, lag: float = 0.0) -> Freshness:
    """Return the freshness of a stream's samples, by the `age` of the newest one (s).

    `cadence`: seconds between samples; None if unknown. `lag`: usual delivery delay of the stream (s), which does not
    count as age.
    """
    age -= lag
    if age > max(thresholds.stale_after, thresholds.stale_intervals * (cadence or 0.0)):
        return Freshness.STALE
    return Freshness.LATE if age > late_limit(cadence, thresholds) else Freshness.FRESH


def least_fresh(answer: Freshness, samples: Freshness) -> Freshness:
    """Return the worse of two freshnesses."""
    return max(answer, samples, key=_FRESHNESS_ORDER.index)


def merge(readings: Readings, samples: QosSamples, limit: int = MAX_SAMPLES, until: float = inf) -> Readings:
    """Return `readings` and new `samples` of one stream as one series, ascending, with one row for each time.

    Args:
        readings: Samples so far.
        samples: New samples, in any order. Of two rows with the same time the new one counts.
        limit: Maximum number of rows; the oldest are dropped.
        until: Latest allowed time (epoch s). A later sample has a wrong time and would stay the newest, so it is
            dropped.

    Returns:
        `readings` itself if nothing has changed.
    """
    answer = Readings(samples.time, samples.bitrate_video, samples.bitrate_audio, samples.frame_rate, samples.status)
    known = _repeated(readings, answer)
    if known and readings.time[-1] <= until and _are_ascending(answer.time[known - 1 :]):
        news = _rows(answer, known, bisect_right(answer.time, until, known))
        joined = _join(readings, news) if news.time else readings
        stop = len(joined.time)
        return _rows(joined, max(0, stop - limit), stop)
    is_first = not readings.time and _are_ascending(answer.time)
    merged = answer if is_first else _pick_newest(_join(readings, answer))
    stop = bisect_right(merged.time, until)
    merged = _rows(merged, max(0, stop - limit), stop)
    return readings if _are_equal(readings, merged) else merged


def prepend(recorded: Readings, readings: Readings, gap: float, limit: int = MAX_SAMPLES) -> Readings:
    """Return the newest `limit` rows of `recorded` and `readings` as one series.

    If `recorded` ends more than `gap` seconds before `readings`, it is left out, because the time between is unknown.
    """
    older = _rows(recorded, 0, bisect_left(recorded.time, readings.time[0] - _RESOLUTION))
    if not len(older) or readings.time[0] - older.time[-1] > gap:
        return readings
    joined = _join(older, readings)
    return _rows(joined, max(0, len(joined) - limit), len(joined))


def with_rates_times(readings: Readings, factor: float) -> Readings:
    """Return the readings with their bit rates multiplied by `factor`."""
    video, audio = (array("d", [rate * factor for rate in column]) for column in (readings.video, readings.audio))
    return Readings(readings.time, video, audio, readings.fps, readings.status)


def head(readings: Readings, count: int) -> Readings:
    """Return the first `count` rows; `readings` itself if `count` covers all its rows."""
    return _rows(readings, 0, min(count, len(readings)))


def cadence(readings: Readings) -> float | None:
    """Return the usual seconds between samples, from the last 20 distances; None with fewer than two samples."""
    recent = readings.time[-_CADENCE_DELTAS - 1 :]
    deltas = [later - earlier for earlier, later in pairwise(recent)]
    return median(deltas) if deltas else None


class Run(NamedTuple):
    """Newest samples of a series without a step of more than `gap` seconds. Times are epoch seconds, server clock.

    `since`, `until`: times of its first and its last sample. `started_at`: the same as `since`; None if earlier samples
    of the run may have been dropped, because the series is full.
    """

    since: float
    until: float
    gap: float
    started_at: float | None


def newest_run(readings: Readings, gap: float, before: Run | None = None) -> Run | None:
    """Return the newest run; None without samples.

    `before`: an earlier run of this series, to which samples were only added. Steps inside the earlier run are not
    checked again.
    """
    times = readings.time
    index = len(times) - 1
    while index >= 0:
        if before and before.gap <= gap and times[index] == before.until:
            index = bisect_left(times, before.since)
        if index == 0 or times[index] - times[index - 1] > gap:
            started_at = times[index] if index or len(times) < MAX_SAMPLES else None
            return Run(times[index], times[-1], gap, started_at)
        index -= 1
    return None


def peak_count(readings: Readings, status: int, window: int, seconds: float) -> int:
    """Return the largest number of samples with this status in a window of the last `seconds`.

    `window`: number of consecutive samples in a window.
    """
    recent = bisect_left(readings.time, readings.time[-1] - seconds) if readings.time else 0
    statuses = readings.status[recent:]
    if not statuses.count(status):
        return 0
    return max(statuses[max(0, end - window) : end].count(status) for end in range(1, len(statuses) + 1))


def first_change(before: Readings, after: Readings) -> float:
    """Return the time of the first row that differs between two series of a stream.

    Returns inf if `after` only adds newer rows.

    Rows that a full series dropped at its front do not count as a difference.
    """
    if _repeated(before, after):
        return inf
    start = bisect_left(before.time, after.time[0]) if len(after) else 0
    length = min(len(before) - start, len(after))
    same = length
    if not _start_alike(before, start, after, length):
        same = bisect_left(range(1, length + 1), x=True, key=lambda rows: not _start_alike(before, start, after, rows))
    ends = [rows.time[index] for rows, index in ((before, start + same), (after, same)) if index < len(rows)]
    return inf if start + same == len(before) else min(ends)


def _start_alike(before: Readings, start: int, after: Readings, rows: int) -> bool:
    return _bytes(before, start, start + rows) == _bytes(after, 0, rows)


def times_until(samples: QosSamples, until: float) -> Sequence[float]:
    """Return the times of the samples that are not dated after `until` (epoch s)."""
    times = samples.time
    return times if max(times, default=until) <= until else [time for time in times if time <= until]


def is_frozen(samples: QosSamples, readings: Readings) -> bool:
    """Return whether the samples' time stands still: new values come with the same newest time."""
    newest = max(samples.time, default=None)
    if newest is None:
        return False
    if samples.time.count(newest) == 1 and (not len(readings) or readings.time[-1] != newest):
        return False
    rows = {samples[index][1:] for index, time in enumerate(samples.time) if time == newest}
    if len(readings) and readings.time[-1] == newest:
        rows.add(readings[-1][1:])
    return len(rows) > 1


def missing_fields(readings: Readings, seconds: float) -> tuple[str, ...]:
    """Return which of video, fps and status have no value in any sample of the last `seconds`."""
    start = bisect_left(readings.time, readings.time[-1] - seconds) if readings.time else 0
    is_missing = {
        "video": mean_measured(readings.video[start:]) is None,
        "fps": mean_measured(readings.fps[start:]) is None,
        "status": all(status == NO_STATUS for status in readings.status[start:]),
    }
    return tuple(name for name in is_missing if is_missing[name])


def mean_measured(column: array[float]) -> float | None:
    """Return the mean of the values that are not NaN; None if all are NaN."""
    measured = [value for value in column if not isnan(value)]
    return fmean(measured) if measured else None


def _repeated(readings: Readings, answer: Readings) -> int:
    """Return the number of newest rows that `answer` begins with; 0 if one of these rows differs in `answer`."""
    if not (readings.time and answer.time):
        return 0
    stop = len(readings.time)
    start = bisect_left(readings.time, answer.time[0])
    return stop - start if _bytes(readings, start, stop) == _bytes(answer, 0, stop - start) else 0


def _are_ascending(times: array[float]) -> bool:
    return all(map(lt, times, times[1:]))


def _pick_newest(rows: Readings) -> Readings:
    """Return the rows in ascending order; of several rows with the same time, the last one."""
    last = {time: index for index, time in enumerate(rows.time)}
    indexes = [last[time] for time in sorted(last)]
    return Readings(
        array("d", [rows.time[index] for index in indexes]),
        array("d", [rows.video[index] for index in indexes]),
        array("d", [rows.audio[index] for index in indexes]),
        array("d", [rows.fps[index] for index in indexes]),
        array("q", [rows.status[index] for index in indexes]),
    )


def _join(first: Readings, second: Readings) -> Readings:
    return Readings(
        first.time + second.time,
        first.video + second.video,
        first.audio + second.audio,
        first.fps + second.fps,
        first.status + second.status,
    )


def _rows(readings: Readings, start: int, stop: int) -> Readings:
    if start == 0 and stop == len(readings):
        return readings
    rows = slice(start, stop)
    return Readings(
        readings.time[rows], readings.video[rows], readings.audio[rows], readings.fps[rows], readings.status[rows]
    )


def _are_equal(readings: Readings, other: Readings) -> bool:
    """Return whether two series are equal byte for byte. Bytes are compared because NaN differs from itself."""
    return _bytes(readings, 0, len(readings)) == _bytes(other, 0, len(other))


def _bytes(readings: Readings, start: int, stop: int) -> tuple[bytes, ...]:
    return (
        readings.time[start:stop].tobytes(),
        readings.video[start:stop].tobytes(),
        readings.audio[start:stop].tobytes(),
        readings.fps[start:stop].tobytes(),
        readings.status[start:stop].tobytes(),
    )
