"""QoS samples in columns: ordered, merged, measured, and how far they may be believed. Pure."""

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

_ORDER = (Freshness.FRESH, Freshness.LATE, Freshness.STALE, Freshness.NEVER)


def late_limit(cadence: float | None, thresholds: Thresholds) -> float:
    """A gap longer than this is no mere pause between two samples; `cadence` None where it is not learnt yet."""
    return max(thresholds.late_after, thresholds.late_intervals * (cadence or 0.0))


def of_answer(age: float | None, interval: float, thresholds: Thresholds) -> Freshness:
    """OURS to keep: STALE once we failed to ask for two intervals; `age` None where there never was an answer."""
    if age is None:
        return Freshness.NEVER
    return Freshness.STALE if age > thresholds.answer_intervals * interval else Freshness.FRESH


def of_samples(age: float, cadence: float | None, thresholds: Thresholds) -> Freshness:
    """THEIRS to send: how old the newest sample is. Answers that keep bringing the same sample do not refresh it."""
    if age > max(thresholds.stale_after, thresholds.stale_intervals * (cadence or 0.0)):
        return Freshness.STALE
    return Freshness.LATE if age > late_limit(cadence, thresholds) else Freshness.FRESH


def worst(one: Freshness, other: Freshness) -> Freshness:
    """The less believable of two."""
    return max(one, other, key=_ORDER.index)


KEPT = 3600

"""Samples kept of one stream: as many as the platform answers at most (decisions.md, "Responses not shown")."""


_RECENT = 20


_RESOLUTION = 0.001

"""Seconds to which a record may have rounded its times."""


def merge(known: Readings, samples: QosSamples, limit: int = KEPT, until: float = inf) -> Readings:
    """`known` and `samples` of one stream as one series: ascending, one row a time, the newest `limit` rows.

    Nothing later than `until` (epoch s) is kept: one sample of a wrong clock would be the newest for ever. Where both
    have a time, the newer answer wins. When nothing changed, `known` itself is returned, so that who judged it need not
    judge it again. An ascending answer is taken as it is; any other is sorted first.
    """
    fresh = _ascending(samples)
    appended = _append(known, fresh)
    merged = _merge(known, fresh) if appended is None else appended
    stop = bisect_right(merged.time, until)
    merged = _rows(merged, max(0, stop - limit), stop)
    return known if _same(known, merged) else merged


def prepend(past: Readings, readings: Readings, gap: float, limit: int = KEPT) -> Readings:
    """`readings` with what an older record knows from before them, the newest `limit` rows.

    Without it where more than `gap` seconds lie between: what happened then is not known, and is no silence.
    """
    older = _rows(past, 0, bisect_left(past.time, readings.time[0] - _RESOLUTION))
    if not len(older) or readings.time[0] - older.time[-1] > gap:
        return readings
    both = _join(older, readings)
    return _rows(both, max(0, len(both) - limit), len(both))


def head(readings: Readings, count: int) -> Readings:
    """The first `count` rows; all of them, the very object, where there are no more."""
    return _rows(readings, 0, min(count, len(readings)))


def cadence(readings: Readings) -> float | None:
    """Seconds between samples: the median of the last 20 deltas; None where there are fewer than two samples."""
    return cadence_before(readings, len(readings))


def cadence_before(readings: Readings, index: int) -> float | None:
    """The cadence as it was learnt before the sample of that index came."""
    recent = readings.time[max(0, index - _RECENT - 1) : index]
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
    return times[0] if 0 < len(times) < KEPT else None


def occurrences(readings: Readings, status: int, window: int, memory: float) -> int:
    """How often that QoS status stood among `window` samples in a row, at its worst in the last `memory` seconds."""
    statuses, times = readings.status, readings.time
    recent = bisect_left(times, times[-1] - memory) if times else 0
    begin = max(0, recent - window + 1)
    if not statuses[begin:].count(status):
        return 0
    ends = range(recent, len(statuses))
    return max(statuses[max(0, end + 1 - window) : end + 1].count(status) for end in ends)


def first_change(known: Readings, other: Readings) -> float:
    """Time of the earliest row in which two series of one stream differ; inf where `other` only goes on.

    Rows that fell off the front, because so many came, make no difference.
    """
    start = bisect_left(known.time, other.time[0]) if len(other) else 0
    length = min(len(known) - start, len(other))
    same = length
    if not _alike(known, start, other, length):
        same = bisect_left(range(1, length + 1), x=True, key=lambda rows: not _alike(known, start, other, rows))
    ends = [rows.time[place] for rows, place in ((known, start + same), (other, same)) if place < len(rows)]
    return inf if start + same == len(known) else min(ends)


def _alike(known: Readings, start: int, other: Readings, rows: int) -> bool:
    return _bytes(_rows(known, start, start + rows)) == _bytes(_rows(other, 0, rows))


def count_future(samples: QosSamples, until: float) -> int:
    """How many of the samples are dated after `until` (epoch s)."""
    return sum(time > until for time in samples.time)


def is_frozen(samples: QosSamples, known: Readings) -> bool:
    """Whether new samples come at a time that does not move: the newest is there twice, or is not what it was."""
    newest = max(samples.time, default=None)
    if newest is None:
        return False
    if samples.time.count(newest) == 1 and (not len(known) or known.time[-1] != newest):
        return False
    rows = {samples[index][1:] for index, time in enumerate(samples.time) if time == newest}
    if len(known) and known.time[-1] == newest:
        rows.add(known[-1][1:])
    return len(rows) > 1


def missing(readings: Readings, window: float) -> tuple[str, ...]:
    """What no sample of the last `window` seconds carried, of that which makes a picture good: video, fps, status."""
    start = bisect_left(readings.time, readings.time[-1] - window) if readings.time else 0
    absent = {
        "video": known_mean(readings.video[start:]) is None,
        "fps": known_mean(readings.fps[start:]) is None,
        "status": all(status == NO_STATUS for status in readings.status[start:]),
    }
    return tuple(name for name, is_absent in absent.items() if is_absent)


def known_mean(column: array[float]) -> float | None:
    """The mean of what was measured; None where nothing was. Zero is a measurement."""
    measured = [value for value in column if not isnan(value)]
    return fmean(measured) if measured else None


def _ascending(samples: QosSamples) -> Readings:
    rows = Readings(samples.time, samples.bitrate_video, samples.bitrate_audio, samples.frame_rate, samples.status)
    times = rows.time
    if all(earlier < later for earlier, later in pairwise(times)):
        return rows
    last = {time: index for index, time in enumerate(times)}
    return _pick(rows, [last[time] for time in sorted(last)])


def _append(known: Readings, fresh: Readings) -> Readings | None:
    """The usual case: the answer repeats the end of what was known and goes on. None where it does not."""
    if not len(fresh):
        return known
    start = bisect_left(known.time, fresh.time[0])
    overlap = known.time[start:]
    if overlap.tobytes() != fresh.time[: len(overlap)].tobytes():
        return None
    return _join(_rows(known, 0, start), fresh)


def _merge(known: Readings, fresh: Readings) -> Readings:
    both = _join(known, fresh)
    last = {time: index for index, time in enumerate(both.time)}
    return _pick(both, [last[time] for time in sorted(last)])


def _join(first: Readings, second: Readings) -> Readings:
    return Readings(
        first.time + second.time,
        first.video + second.video,
        first.audio + second.audio,
        first.fps + second.fps,
        first.status + second.status,
    )


def _rows(rows: Readings, start: int, stop: int) -> Readings:
    if start == 0 and stop == len(rows):
        return rows
    kept = slice(start, stop)
    return Readings(rows.time[kept], rows.video[kept], rows.audio[kept], rows.fps[kept], rows.status[kept])


def _pick(rows: Readings, indexes: list[int]) -> Readings:
    return Readings(
        array("d", [rows.time[index] for index in indexes]),
        array("d", [rows.video[index] for index in indexes]),
        array("d", [rows.audio[index] for index in indexes]),
        array("d", [rows.fps[index] for index in indexes]),
        array("q", [rows.status[index] for index in indexes]),
    )


def _same(one: Readings, other: Readings) -> bool:
    """Equal byte for byte: NaN, which is unlike itself, counts as equal here."""
    return one is other or _bytes(one) == _bytes(other)


def _bytes(rows: Readings) -> list[bytes]:
    return [column.tobytes() for column in (rows.time, rows.video, rows.audio, rows.fps, rows.status)]
