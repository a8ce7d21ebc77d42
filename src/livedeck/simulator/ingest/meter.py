"""Meter of a published stream: media and arrivals in, a sample and a verdict out each beat. The caller gives the clock.

A sample covers exact media time. Its window ends where the wall clock says the stream should be, less `JITTER`, or at
the newest message if that is earlier: a late message never falls into the wrong window.
"""

from __future__ import annotations

from collections import deque
from enum import StrEnum
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from livedeck.simulator.engine.encoder import KEY_FRAME, KEY_FRAME_SEVERE, LOSS, OK
from livedeck.simulator.engine.measured import Sample
from livedeck.simulator.ingest.session import Media

JITTER = 0.7
"""Seconds that a message may be late without leaving its window."""

AHEAD = 5.0
"""Seconds that media may be ahead of the wall clock before the listener stops reading."""

RECENT = 5
"""Number of beats from which the current speed and idle time are computed: 10 s at the platform's cadence."""

_OFFSETS = 15
"""Number of last beats that count for the smallest offset from media to wall clock: few, to follow a drifting clock."""

_DRIFT = 0.01
"""Share of the wall clock by which the encoder's clock may drift. Faster media counts as ahead."""

_QUIET, _SILENT = 0.4, 2.0
"""Seconds without bytes after which a stream counts as stopped, and a publisher that never sent media as silent.

A pause of under `_QUIET` cannot make the speed over 10 s fall below `SLOW`.
"""

_IDLE_GAP = 0.01
"""Minimum seconds between two messages during which the line counts as idle."""

_FRAMES, _ENOUGH, _INTERVALS = 300, 10, 7
"""Maximum number of frame intervals, minimum number for their median, maximum number of key-frame intervals."""

SLOW, UNEVEN, SEVERE, MISSING, LATE = 0.95, 0.2, 0.5, 0.05, 0.9
"""Limits of the verdicts. SLOW: media seconds per second. UNEVEN, SEVERE: deviation of a key-frame interval, as a share
of the median. MISSING: share of missing frames. LATE: share of a beat by which media must advance."""


class Verdict(StrEnum):
    """Judgement of a stream, as the control API writes it."""

    SILENT = "silent"
    STOPPED = "stopped"
    SLOW_ENCODER = "encoder slower than real time"
    SLOW_LINE = "line too slow"
    SLOW_EITHER = "encoder or line"
    FAST = "faster than real time"
    GAPS = "frames missing"
    KEYS_SEVERE = "key frames severe"
    KEYS_UNEVEN = "key frames uneven"
    STARTING = "starting"
    WELL = "ok"


SLOW_VERDICTS = frozenset({Verdict.SLOW_ENCODER, Verdict.SLOW_LINE, Verdict.SLOW_EITHER})

STATUSES = {
    **dict.fromkeys((Verdict.SILENT, Verdict.STOPPED, *SLOW_VERDICTS, Verdict.GAPS), LOSS),
    Verdict.KEYS_SEVERE: KEY_FRAME_SEVERE,
    Verdict.KEYS_UNEVEN: KEY_FRAME,
}
"""Verdict -> status of the platform, if it is not 0."""


class Reading(NamedTuple):
    """Result of a beat. `speed`: media seconds per second. `idle`: share of the time between messages.

    All but the verdict are None until the first window is whole.
    """

    verdict: Verdict
    sample: Sample | None = None
    speed: float | None = None
    idle: float | None = None


NO_READING = Reading(Verdict.STARTING)
"""Reading of a stream before its first beat."""


class _Beat(NamedTuple):
    """Stream at a beat: wall clock and newest media (s), idle seconds since the last beat, and whether it stopped."""

    at: float
    media: float
    idle: float
    has_stopped: bool


class _Packet(NamedTuple):
    time: float
    is_video: bool
    size: int


class Meter:
    """Measures one stream from its publication at `began`. All times are seconds of one monotonic clock."""

    def __init__(self, began: float) -> None:
        self.last_media = began
        self._began = self._last_arrival = began
        self._idle = self._longest_gap = 0.0
        self._packets = deque[_Packet]()
        self._keys = deque[float]()
        self._key_intervals = deque[float](maxlen=_INTERVALS)
        self._last_key: float | None = None
        self._last_frame: float | None = None
        self._frame_intervals = deque[float](maxlen=_FRAMES)
        self._raw: int | None = None
        self._first = self._newest = 0.0
        self._end: float | None = None
        self._smallest: float | None = None
        self._offsets = deque[float](maxlen=_OFFSETS)
        self._anchor: float | None = None
        self._beats = deque[_Beat](maxlen=RECENT + 1)

    def arrive(self, now: float, *, is_within_message: bool = False) -> None:
        """Record that bytes arrived. `is_within_message`: before them, the newest message had arrived only in part.

        Then the line was not idle before them but busy with that message: at 0.4 Mbit/s, a TCP segment takes 30 ms. An
        encoder that pauses within a message looks the same.
        """
        gap = now - self._last_arrival
        self._last_arrival = now
        self._longest_gap = max(self._longest_gap, gap)
        if gap > _IDLE_GAP and not is_within_message:
            self._idle += gap

    def add(self, media: Media, now: float) -> None:
        """Record an audio or video message that arrived at `now`."""
        time = self._unwrap(media.timestamp)
        self.last_media = now
        offset = now - time
        if self._anchor is None:
            self._anchor, self._first, self._newest = offset, time, time
        self._smallest = offset if self._smallest is None else min(self._smallest, offset)
        self._newest = max(self._newest, time)
        self._packets.append(_Packet(time, media.is_video, media.size))
        if media.is_key:
            self._keys.append(time)

    def _unwrap(self, timestamp: int) -> float:
        """Return the seconds of a timestamp that starts again at 0 after 2**32 ms."""
        if self._raw is None:
            self._raw = timestamp
        else:
            self._raw += (timestamp - self._raw + 2**31) % 2**32 - 2**31
        return self._raw / 1000

    def ahead(self, now: float) -> float:
        """Return the seconds by which media is ahead of the wall clock."""
        return 0.0 if self._anchor is None else self._newest - (now - self._anchor)

    def beat(self, now: float) -> Reading:
        """End the window and judge the stream."""
        if self._anchor is None:
            silent = now - self._began >= _SILENT
            return Reading(Verdict.SILENT, Sample(0, 0, 0, LOSS)) if silent else NO_READING
        gap = max(self._longest_gap, now - self._last_arrival)
        before = self._beats[-1] if self._beats else None
        self._beats.append(_Beat(now, self._newest, self._idle, gap > _QUIET))
        self._idle = self._longest_gap = 0.0
        due = now - self._follow(now - before.at if before else 0.0) - JITTER
        end, start = min(due, self._newest), self._end
        if start is None or before is None:
            if due >= self._first:
                self._end = end
                self._take(end)
            return NO_READING
        end = self._end = max(start, end)
        return self._judge(now, now - before.at, start, end)

    def _follow(self, elapsed: float) -> float:
        """Return the offset (s) from media to wall clock. Move the anchor towards it, at most by a clock's drift."""
        if self._smallest is not None:
            self._offsets.append(self._smallest)
            self._smallest = None
        assert self._anchor is not None
        nearest, drift = min(self._offsets), _DRIFT * elapsed
        self._anchor += max(-drift, min(drift, nearest - self._anchor))
        return max(nearest, self._anchor)

    def _judge(self, now: float, elapsed: float, start: float, end: float) -> Reading:
        video, audio, frames, missing = self._take(end)
        window = max(elapsed, end - start)
        is_late = end - start < LATE * elapsed
        speed, idle = self._speed(), self._idle_share()
        verdict = self._verdict(now, speed, idle, is_late=is_late, missing=missing / max(1, frames + missing))
        status = STATUSES.get(verdict, LOSS if is_late else OK)
        sample = Sample(round(video * 8 / window), round(audio * 8 / window), round(frames / window), status)
        return Reading(verdict, sample, speed, idle)

    def _verdict(self, now: float, speed: float, idle: float, *, is_late: bool, missing: float) -> Verdict:
        """Return the first verdict whose condition is met."""
        deviation = self._key_deviation()
        is_ahead = self.ahead(now) > AHEAD / 2
        is_slow = len(self._beats) > RECENT and speed < SLOW and not any(beat.has_stopped for beat in self._beats)
        slow = Verdict.SLOW_ENCODER if idle > 0.5 else Verdict.SLOW_LINE if idle < 0.2 else Verdict.SLOW_EITHER
        found = (
            (Verdict.SILENT, now - self.last_media > RECENT * 2),
            (Verdict.STOPPED, is_late and self._beats[-1].has_stopped and not is_ahead),
            (slow, is_slow),
            (Verdict.FAST, is_ahead),
            (Verdict.GAPS, missing > MISSING),
            (Verdict.SLOW_EITHER, is_late),
            (Verdict.KEYS_SEVERE, deviation > SEVERE),
            (Verdict.KEYS_UNEVEN, deviation > UNEVEN),
        )
        return next((verdict for verdict, holds in found if holds), Verdict.WELL)

    def _take(self, end: float) -> tuple[int, int, int, int]:
        """Remove the messages up to `end`. Returns the bytes of video and audio, the frames, and the missing frames."""
        video = audio = frames = missing = 0
        usual = median(self._frame_intervals) if len(self._frame_intervals) >= _ENOUGH else 0.0
        while self._packets and self._packets[0].time <= end:
            packet = self._packets.popleft()
            if not packet.is_video:
                audio += packet.size
                continue
            video, frames = video + packet.size, frames + 1
            missing += self._missing_before(packet.time, usual)
        while self._keys and self._keys[0] <= end:
            key = self._keys.popleft()
            if self._last_key is not None and key > self._last_key:
                self._key_intervals.append(key - self._last_key)
            self._last_key = key
        return video, audio, frames, missing

    def _missing_before(self, time: float, usual: float) -> int:
        """Return the number of frames missing before the one at `time`. `usual`: usual interval (s); 0 if unknown."""
        before, self._last_frame = self._last_frame, time
        if before is None or time <= before:
            return 0
        self._frame_intervals.append(time - before)
        return max(0, round((time - before) / usual) - 1) if usual else 0

    def _key_deviation(self) -> float:
        """Return the deviation of the last or overdue key-frame interval, as a share of the median of earlier ones."""
        *earlier, last = self._key_intervals or (0.0,)
        if self._last_key is None or self._end is None or not last:
            return 0.0
        waiting = self._end - self._last_key
        overdue = waiting / median(self._key_intervals) - 1
        return max(overdue, abs(last / median(earlier) - 1) if earlier else 0.0)

    def _speed(self) -> float:
        first, last = self._beats[0], self._beats[-1]
        return (last.media - first.media) / (last.at - first.at)

    def _idle_share(self) -> float:
        """Return the share of the last beats in which no bytes arrived."""
        beats = self._beats
        wall = beats[-1].at - beats[0].at
        return sum(later.idle for _, later in pairwise(beats)) / wall
