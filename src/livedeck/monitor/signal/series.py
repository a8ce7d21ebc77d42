"""QoS samples in columns: ordered, merged, measured; and their freshness. Pure."""

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
"""Kept of one stream: as many as the platform answers at most (platform-api.md, "QoS answer")."""

_CADENCE_DELTAS = 20
"""The newest, of which the cadence is the median."""

_RESOLUTION = 0.001
"""Seconds to which a history may have rounded its times."""

_FRESHNESS_ORDER = (Freshness.FRESH, Freshness.LATE, Freshness.STALE, Freshness.NEVER)


def late_limit(cadence: float | None, thresholds: Thresholds) -> float:
    """Samples older than this (s) are late; `cadence` None where it is not learnt yet."""
    return max(thresholds.late_after, thresholds.late_intervals * (cadence or 0.0))


def answer_freshness(age: float | None, interval: float, thresholds: Thresholds) -> Freshness:
    """Ours to keep: STALE once we failed to ask for two intervals; `age` (s) None where there never was an answer."""
    if age is None:
        return Freshness.NEVER
    return Freshness.STALE if age > thresholds.answer_intervals * interval else Freshness.FRESH


def sample_freshness(age: float, cadence: float | None, thresholds: Thresholds, lag: float = 0.0) -> Freshness:
    """The platform's to send: by the `age` (s) of the newest sample, which no answer that repeats it refreshes.

    `lag`: how old samples of this stream are as a rule (s): so much older is no news.
    """
    age -= lag
    if age > max(thresholds.stale_after, thresholds.stale_intervals * (cadence or 0.0)):
        return Freshness.STALE
    return Freshness.LATE if age > late_limit(cadence, thresholds) else Freshness.FRESH


def least_fresh(answer: Freshness, samples: Freshness) -> Freshness:
    """The less believable of the two."""
    return max(answer, samples, key=_FRESHNESS_ORDER.index)


def merge(readings: Readings, samples: QosSamples, limit: int = MAX_SAMPLES, until: float = inf) -> Readings:
    """`readings` and `samples` of one stream as one series: ascending, one row a time, the newest `limit` rows.

    Nothing later than `until` (epoch s) is kept: one sample of a wrong clock would be the newest for ever. Where both
    have a time, the newer answer wins. When nothing changed, `readings` itself is returned, so that nothing is judged
    twice. An ascending answer is taken as it is; any other is sorted first.
    """
    answer = _ascending(samples)
    appended = _append(readings, answer)
    merged = _pick_newest(_join(readings, answer)) if appended is None else appended
    stop = bisect_right(merged.time, until)
    merged = _rows(merged, max(0, stop - limit), stop)
    return readings if _are_equal(readings, merged) else merged


def prepend(recorded: Readings, readings: Readings, gap: float, limit: int = MAX_SAMPLES) -> Readings:
    """`readings` with what was recorded before them, the newest `limit` rows.

    Without it where more than `gap` seconds lie between: what happened then is not known, and is no silence.
    """
    older = _rows(recorded, 0, bisect_left(recorded.time, readings.time[0] - _RESOLUTION))
    if not len(older) or readings.time[0] - older.time[-1] > gap:
        return readings
    joined = _join(older, readings)
    return _rows(joined, max(0, len(joined) - limit), len(joined))


def head(readings: Readings, count: int) -> Readings:
    """The first `count` rows; all of them, the very object, where there are no more."""
    return _rows(readings, 0, min(count, len(readings)))


def cadence(readings: Readings) -> float | None:
    """Seconds between samples: the median of the last 20 deltas; None where there are fewer than two samples."""
    recent = readings.time[-_CADENCE_DELTAS - 1 :]
    deltas = [later - earlier for earlier, later in pairwise(recent)]
    return median(deltas) if deltas else None


def run_start(readings: Readings, gap: float) -> float | None:
    """Time of the first sample since the last silence longer than `gap` seconds.

    None where there are no samples, or where the series is full and the run is older than what is kept.
    """
    times = readings.time
    for index in range(len(times) - 1, 0, -1):
        if times[index] - times[index - 1] > gap:
            return times[index]
    return times[0] if 0 < len(times) < MAX_SAMPLES else None


def peak_count(readings: Readings, status: int, window: int, seconds: float) -> int:
    """How often that QoS status stood among `window` samples in a row, at most, in the last `seconds`."""
    statuses, times = readings.status, readings.time
    recent = bisect_left(times, times[-1] - seconds) if times else 0
    begin = max(0, recent - window + 1)
    if not statuses[begin:].count(status):
        return 0
    ends = range(recent, len(statuses))
    return max(statuses[max(0, end + 1 - window) : end + 1].count(status) for end in ends)


def first_change(before: Readings, after: Readings) -> float:
    """Time of the earliest row in which two series of one stream differ; inf where `after` only goes on.

    Rows that fell off the front, because so many came, make no difference.
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
    """How many of the samples are dated after `until` (epoch s)."""
    return sum(time > until for time in samples.time)


def is_frozen(samples: QosSamples, readings: Readings) -> bool:
    """Whether new samples come at a time that does not move: the newest is there twice, or is not what it was."""
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
    """What no sample of the last `seconds` carried, of that which makes a picture good: video, fps, status."""
    start = bisect_left(readings.time, readings.time[-1] - seconds) if readings.time else 0
    is_missing = {
        "video": mean_measured(readings.video[start:]) is None,
        "fps": mean_measured(readings.fps[start:]) is None,
        "status": all(status == NO_STATUS for status in readings.status[start:]),
    }
    return tuple(name for name in is_missing if is_missing[name])


def mean_measured(column: array[float]) -> float | None:
    """The mean of what was measured; None where nothing was. Zero is a measurement."""
    measured = [value for value in column if not isnan(value)]
    return fmean(measured) if measured else None


def _ascending(samples: QosSamples) -> Readings:
    rows = Readings(samples.time, samples.bitrate_video, samples.bitrate_audio, samples.frame_rate, samples.status)
    if all(earlier < later for earlier, later in pairwise(rows.time)):
        return rows
    return _pick_newest(rows)


def _append(readings: Readings, answer: Readings) -> Readings | None:
    """The usual case: the answer repeats the end of what was known and goes on. None where it does not."""
    if not len(answer):
        return readings
    start = bisect_left(readings.time, answer.time[0])
    overlap = readings.time[start:]
    if overlap.tobytes() != answer.time[: len(overlap)].tobytes():
        return None
    return _join(_rows(readings, 0, start), answer)


def _pick_newest(rows: Readings) -> Readings:
    """One row a time, the last of them, ascending."""
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
    """Equal byte for byte: NaN, which is unlike itself, counts as equal here."""
    return readings is other or _bytes(readings) == _bytes(other)


def _bytes(readings: Readings) -> list[bytes]:
    columns = (readings.time, readings.video, readings.audio, readings.fps, readings.status)
    return [column.tobytes() for column in columns]
