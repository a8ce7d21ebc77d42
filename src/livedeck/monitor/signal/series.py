"""QoS samples in columns: ordering, merging, measurement and freshness. Pure."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from itertools import pairwise
from math import inf, isnan
from statistics import fmean, median

from livedeck.client import QosSamples
from livedeck.monitor.model.readings import NO_STATUS, Readings
from livedeck.monitor.model.state import Freshness
from livedeck.monitor.model.thresholds import Thresholds

MAX_SAMPLES = 3600
"""Samples kept of one stream, the most that the platform answers (platform-api.md, "QoS response")."""

_CADENCE_DELTAS = 20
"""The cadence is the median of so many newest deltas."""

_RESOLUTION = 0.001
"""Resolution of sample times in a history, in seconds."""

_FRESHNESS_ORDER = (Freshness.FRESH, Freshness.LATE, Freshness.STALE, Freshness.NEVER)


def late_limit(cadence: float | None, thresholds: Thresholds) -> float:
    """Return the age in seconds above which samples are late. `cadence`: None if not learnt yet."""
    return max(thresholds.late_after, thresholds.late_intervals * (cadence or 0.0))


def answer_freshness(age: float | None, interval: float, thresholds: Thresholds) -> Freshness:
    """Return the freshness of this deck's polling: STALE after two missed intervals.

    `age`: seconds since the last good answer, None before the first.
    """
    if age is None:
        return Freshness.NEVER
    return Freshness.STALE if age > thresholds.answer_intervals * interval else Freshness.FRESH


def sample_freshness(age: float, cadence: float | None, thresholds: Thresholds, lag: float = 0.0) -> Freshness:
    """Return the freshness of the platform's data, by the `age` (s) of the newest sample.

    An answer that repeats old samples does not make them fresher. `lag`: usual age of this stream's newest sample (s),
    which is subtracted.
    """
    age -= lag
    if age > max(thresholds.stale_after, thresholds.stale_intervals * (cadence or 0.0)):
        return Freshness.STALE
    return Freshness.LATE if age > late_limit(cadence, thresholds) else Freshness.FRESH


def least_fresh(answer: Freshness, samples: Freshness) -> Freshness:
    """Return the worse of both freshnesses."""
    return max(answer, samples, key=_FRESHNESS_ORDER.index)


def merge(readings: Readings, samples: QosSamples, limit: int = MAX_SAMPLES, until: float = inf) -> Readings:
    """Merge `readings` and `samples` of one stream: ascending, one row per time, the newest `limit` rows.

    Samples after `until` (epoch s) are dropped, because a sample with a wrong time in the future would stay the newest
    for ever. For equal times `samples` win. Returns `readings` itself if nothing changed, so that nothing is judged
    twice. Unsorted samples are sorted first.
    """
    answer = _ascending(samples)
    appended = _append(readings, answer)
    merged = _pick_newest(_join(readings, answer)) if appended is None else appended
    stop = bisect_right(merged.time, until)
    merged = _rows(merged, max(0, stop - limit), stop)
    return readings if _are_equal(readings, merged) else merged


def prepend(recorded: Readings, readings: Readings, gap: float, limit: int = MAX_SAMPLES) -> Readings:
    """Return `readings` preceded by the `recorded` ones, the newest `limit` rows.

    Recorded rows are left out if they end more than `gap` seconds before `readings`: that time is unknown, not a
    silence.
    """
    older = _rows(recorded, 0, bisect_left(recorded.time, readings.time[0] - _RESOLUTION))
    if not len(older) or readings.time[0] - older.time[-1] > gap:
        return readings
    joined = _join(older, readings)
    return _rows(joined, max(0, len(joined) - limit), len(joined))


def with_rates_times(readings: Readings, factor: float) -> Readings:
    """Return the readings with their bit rates times a factor."""
    video, audio = (array("d", [rate * factor for rate in column]) for column in (readings.video, readings.audio))
    return Readings(readings.time, video, audio, readings.fps, readings.status)


def head(readings: Readings, count: int) -> Readings:
    """Return the first `count` rows; the same object if there are no more."""
    return _rows(readings, 0, min(count, len(readings)))


def cadence(readings: Readings) -> float | None:
    """Return the seconds between samples: the median of the last 20 deltas; None with fewer than two samples."""
    recent = readings.time[-_CADENCE_DELTAS - 1 :]
    deltas = [later - earlier for earlier, later in pairwise(recent)]
    return median(deltas) if deltas else None


def run_start(readings: Readings, gap: float) -> float | None:
    """Return the time of the first sample since the last silence longer than `gap` seconds.

    Returns None without samples, or if the series is full and the run is older than its first row.
    """
    times = readings.time
    for index in range(len(times) - 1, 0, -1):
        if times[index] - times[index - 1] > gap:
            return times[index]
    return times[0] if 0 < len(times) < MAX_SAMPLES else None


def peak_count(readings: Readings, status: int, window: int, seconds: float) -> int:
    """Return how often a QoS status occurs in `window` successive samples: the maximum over the last `seconds`."""
    statuses, times = readings.status, readings.time
    recent = bisect_left(times, times[-1] - seconds) if times else 0
    begin = max(0, recent - window + 1)
    if not statuses[begin:].count(status):
        return 0
    ends = range(recent, len(statuses))
    return max(statuses[max(0, end + 1 - window) : end + 1].count(status) for end in ends)


def first_change(before: Readings, after: Readings) -> float:
    """Return the time of the earliest row in which two series of one stream differ; inf if `after` only appends.

    Rows that were dropped at the front of a full series are no difference.
    """
    start = bisect_left(before.time, after.time[0]) if len(after) else 0
    length = min(len(before) - start, len(after))
    same = length
    if not _start_alike(before, start, after, length):
        same = bisect_left(range(1, length + 1), x=True, key=lambda rows: not _start_alike(before, start, after, rows))
    ends = [rows.time[index] for rows, index in ((before, start + same), (after, same)) if index < len(rows)]
    return inf if start + same == len(before) else min(ends)


def _start_alike(before: Readings, start: int, after: Readings, rows: int) -> bool:
    return _bytes(_rows(before, start, start + rows)) == _bytes(_rows(after, 0, rows))


def count_future(samples: QosSamples, until: float) -> int:
    """Return the number of samples dated after `until` (epoch s)."""
    return sum(time > until for time in samples.time)


def is_frozen(samples: QosSamples, readings: Readings) -> bool:
    """Return whether time stands still in new samples: they repeat the newest time with other values."""
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
    """Return the names of the fields, among video, fps and status, that no sample of the last `seconds` contains."""
    start = bisect_left(readings.time, readings.time[-1] - seconds) if readings.time else 0
    is_missing = {
        "video": mean_measured(readings.video[start:]) is None,
        "fps": mean_measured(readings.fps[start:]) is None,
        "status": all(status == NO_STATUS for status in readings.status[start:]),
    }
    return tuple(name for name in is_missing if is_missing[name])


def mean_measured(column: array[float]) -> float | None:
    """Return the mean of the measured values; None without any. Zero is a measurement."""
    measured = [value for value in column if not isnan(value)]
    return fmean(measured) if measured else None


def _ascending(samples: QosSamples) -> Readings:
    rows = Readings(samples.time, samples.bitrate_video, samples.bitrate_audio, samples.frame_rate, samples.status)
    if all(earlier < later for earlier, later in pairwise(rows.time)):
        return rows
    return _pick_newest(rows)


def _append(readings: Readings, answer: Readings) -> Readings | None:
    """Return the joined series if the answer repeats the end of `readings` and goes on from there; else None."""
    if not len(answer):
        return readings
    start = bisect_left(readings.time, answer.time[0])
    overlap = readings.time[start:]
    if overlap.tobytes() != answer.time[: len(overlap)].tobytes():
        return None
    return _join(_rows(readings, 0, start), answer)


def _pick_newest(rows: Readings) -> Readings:
    """Return one row for each time, ascending: the row that was received last."""
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
    """Return whether both are equal byte for byte; NaN, which differs from itself, counts as equal here."""
    return readings is other or _bytes(readings) == _bytes(other)


def _bytes(readings: Readings) -> list[bytes]:
    columns = (readings.time, readings.video, readings.audio, readings.fps, readings.status)
    return [column.tobytes() for column in columns]
