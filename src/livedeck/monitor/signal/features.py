"""What is remembered of a stream, and what is usual for it, so that each sample is judged in its context."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from math import inf, isnan, nan, sqrt
from typing import NamedTuple

from livedeck.monitor.model.readings import Readings
from livedeck.monitor.model.thresholds import Share, Thresholds

KEY_DRIFT, KEY_SEVERE, LOSS = 3, 4, 5

"""The documented complaints of a QoS sample (platform-api.md, 2)."""

NORMAL = 0

"""The QoS status of a sample with nothing to complain of (platform-api.md, 2)."""


SLOT = 20.0

"""Seconds of stream time after which what is usual is measured anew."""


class Baseline(NamedTuple):
    """`video` and `audio` in bit/s, `fps` in frames/s; None where too little was seen to say.

    `spread`: of the video rate, as a share of it: half of what lies between the 16th and the 84th of 100 samples. It is
    the coefficient of variation where rates scatter evenly, and a burst or two do not move it.
    """

    video: float | None = None
    audio: float | None = None
    fps: float | None = None
    spread: float = 0.0


TrainingSlot = tuple[float, float, tuple[float, ...], tuple[float, ...], tuple[float, ...]]

"""What the samples from the first time to the last (epoch s) teach: of video, audio and frames/s those rates that no
fault has spoilt, ascending. The times are those of the video rates alone; equal where there is none.

A plain tuple of numbers is none of the garbage collector's business; of objects there would be dozens an event.
"""


def learn_baseline(known: Baseline, lessons: Sequence[TrainingSlot], thresholds: Thresholds) -> Baseline:
    """What is usual by these lessons, oldest first; what they are too few to tell stays as it was known."""
    fps = _nominal(_merged(fps for *_, fps in lessons), thresholds)
    known = known if fps is None else known._replace(fps=fps)
    told = [(first, last) for first, last, video, *_ in lessons if video]
    if not told or told[-1][1] - told[0][0] < thresholds.baseline_least:
        return known
    video, audio = _merged(video for _, _, video, *_ in lessons), _merged(audio for *_, audio, _ in lessons)
    middle = _at(video, 0.5)
    spread = (_at(video, 0.84) - _at(video, 0.16)) / 2 / middle if middle else 0.0  # sound alone
    return Baseline(middle, _at(audio, 0.5) if audio else known.audio, known.fps, spread)


def _merged(columns: Iterable[tuple[float, ...]]) -> list[float]:
    return sorted(chain.from_iterable(columns))


def _nominal(rates: list[float], thresholds: Thresholds) -> float | None:
    """The usual frame rate nearest to a high percentile: what the encoder reaches when nothing hinders it."""
    if not rates:
        return None
    top = _at(rates, thresholds.fps_percentile)
    return min(thresholds.usual_fps, key=lambda rate: abs(rate - top)) if top >= thresholds.dark_fps else None


def _at(ordered: list[float], share: float) -> float:
    return ordered[int((len(ordered) - 1) * share)]


class SampleFeatures(NamedTuple):
    """A sample in its context. `time` in epoch s, rates in bit/s, frames/s; NaN is missing, status -1 is missing.

    `dark`: no picture moves, so the other rates of the picture measure nothing. `short`: few bits would be a shortage,
    and not a quiet picture: the rate is constant by habit, or the frames, the sound or the status suffer with it.
    `drift`, `severe`, `loss`: hits of the statuses 3, 4 and 5 in their windows. `heavy`: the loss has stayed over its
    share. `bursts`: of loss, lately. `cv`: deviation over
    mean of the video rate in the last minute, 0 where it is plainly small, NaN where the minute is not seen whole.
    """

    time: float
    video: float
    audio: float
    fps: float
    status: int
    usual: Baseline
    dark: bool
    short: bool
    drift: int
    severe: int
    loss: int
    heavy: bool
    bursts: int
    cv: float


_SWAY = 0.1

"""Share of the usual rate: a minute in which none strays further has no deviation worth measuring."""


@dataclass(frozen=True, slots=True)
class Burst:
    """Samples of one status that are less than a pause apart: the first and the last of them."""

    first: float
    last: float


_Row = tuple[float, float, float, float]

"""What a sample teaches: its time, video, audio and frames/s; NaN where it teaches nothing. Plain as a lesson is."""


@dataclass(slots=True)
class StreamMemory:
    """Changed by each sample, in order. Times in epoch s, server clock.

    `first` of the stream, `run`: first since the last silence. `hits`: status -> its last samples as bits, the newest
    lowest. `bursts`: status -> the present one. `losses`: when the last bursts of loss began; `heavy`: since when it
    is over its share. `minute`: (time, video) of the last minute, and `swung`: when one of
    them was last far from the usual. `lessons`, `rows`: what was and what is being learnt.
    """

    first: float | None = None
    run: float = -inf
    last: float = -inf
    hits: dict[int, int] = field(default_factory=dict)
    bursts: dict[int, Burst] = field(default_factory=dict)
    losses: tuple[float, ...] = ()
    heavy: float | None = None
    minute: deque[tuple[float, float]] = field(default_factory=deque)
    swung: float = -inf
    lessons: tuple[TrainingSlot, ...] = ()
    rows: list[_Row] = field(default_factory=list)
    usual: Baseline = field(default_factory=Baseline)

    def copy(self) -> StreamMemory:
        """One that may go another way."""
        return replace(
            self, hits=self.hits.copy(), bursts=self.bursts.copy(), minute=self.minute.copy(), rows=self.rows.copy()
        )

    def restart(self, time: float) -> None:
        """A new run begins: counts and deviations do not reach over a silence."""
        self.first = time if self.first is None else self.first
        self.run, self.heavy = time, None
        self.hits.clear()
        self.minute.clear()

    def see(self, readings: Readings, index: int, thresholds: Thresholds) -> SampleFeatures:
        """That sample, in its context, and remembered. While a run warms up, nothing is counted."""
        time, video, fps = readings.time[index], readings.video[index], readings.fps[index]
        audio, status = readings.audio[index], readings.status[index]
        if time // SLOT != self.last // SLOT:
            self._measure(time, thresholds)
        self.last = time
        dark = video < thresholds.dark_video or fps < thresholds.dark_fps
        warm = time - self.run >= thresholds.warm_up
        if warm:
            self._count(time, status, thresholds)
        if not dark and not isnan(video):
            self._swing(time, video, thresholds)
        return SampleFeatures(
            time=time,
            video=video,
            audio=audio,
            fps=fps,
            status=status,
            usual=self.usual,
            dark=dark,
            short=status == LOSS or _short(audio, fps, self.usual, thresholds),
            drift=self._hits(KEY_DRIFT),
            severe=self._hits(KEY_SEVERE),
            loss=self._hits(LOSS),
            heavy=self.heavy is not None and time - self.heavy >= thresholds.loss_hold.seconds,
            bursts=len(self.losses),
            cv=self._cv(time, thresholds) if warm else nan,
        )

    def learn(self, seen: SampleFeatures, spoilt: set[str], thresholds: Thresholds) -> None:
        """What this sample tells of the usual, but for the rates that a fault has spoilt."""
        if seen.dark or seen.time - self.run < thresholds.warm_up:
            return
        normal = seen.status == NORMAL
        video = seen.video if normal and "video" not in spoilt else nan
        audio = seen.audio if normal and "audio" not in spoilt else nan
        fps = seen.fps if "fps" not in spoilt else nan
        self.rows.append((seen.time, video, audio, fps))

    def _measure(self, time: float, thresholds: Thresholds) -> None:
        if self.rows:
            self.lessons = (*self.lessons, _lesson(self.rows))
            self.rows = []
        begin = time - thresholds.baseline
        self.lessons = tuple(lesson for lesson in self.lessons if lesson[1] >= begin)
        self.usual = learn_baseline(self.usual, self.lessons, thresholds)

    def _count(self, time: float, status: int, thresholds: Thresholds) -> None:
        if status == NORMAL and not self.hits and not self.losses:
            return
        for one, share in _counted(thresholds):
            hits = (self.hits.pop(one, 0) << 1 | (status == one)) & ((1 << share.window) - 1)
            if hits:
                self.hits[one] = hits
        if status in {KEY_DRIFT, KEY_SEVERE, LOSS}:
            self._burst(time, status, thresholds)
        self.losses = tuple(begun for begun in self.losses if begun > time - thresholds.loss_bursts_within)
        if self._hits(LOSS) < thresholds.loss_share.hits:
            self.heavy = None
        elif self.heavy is None:
            self.heavy = time

    def _burst(self, time: float, status: int, thresholds: Thresholds) -> None:
        known = self.bursts.get(status)
        if status == LOSS and (known is None or time - known.last > thresholds.loss_pause):
            self.losses = (*self.losses, time)
        joined = known is not None and time - known.last <= thresholds.memory
        self.bursts[status] = Burst(known.first if known and joined else time, time)

    def _hits(self, status: int) -> int:
        return self.hits[status].bit_count() if status in self.hits else 0

    def _swing(self, time: float, video: float, thresholds: Thresholds) -> None:
        normal = self.usual.video
        if normal is None or abs(video - normal) > _SWAY * normal:
            self.swung = time
        while self.minute and self.minute[0][0] <= time - thresholds.unstable_window:
            self.minute.popleft()
        self.minute.append((time, video))

    def _cv(self, time: float, thresholds: Thresholds) -> float:
        if time - self.run < thresholds.unstable_window or len(self.minute) < 2:
            return nan
        if time - self.swung > thresholds.unstable_window:
            return 0.0
        rates = [rate for _, rate in self.minute]
        mean = sum(rates) / len(rates)
        return sqrt(sum((rate - mean) ** 2 for rate in rates) / len(rates)) / mean if mean else 0.0


def _counted(thresholds: Thresholds) -> tuple[tuple[int, Share], ...]:
    shares = thresholds.drift_share, thresholds.severe_share, thresholds.loss_share
    return tuple(zip((KEY_DRIFT, KEY_SEVERE, LOSS), shares, strict=True))


def _short(audio: float, fps: float, normal: Baseline, thresholds: Thresholds) -> bool:
    """Whether few bits would be a shortage: something else suffers, or the rate is constant by habit."""
    return (
        normal.spread < thresholds.constant_cv
        or (normal.fps is not None and fps < thresholds.low_fps * normal.fps)
        or (normal.audio is not None and audio < thresholds.starved_audio * normal.audio)
    )


def _lesson(rows: list[_Row]) -> TrainingSlot:
    times, *columns = zip(*rows, strict=True)
    told = [time for time, video in zip(times, columns[0], strict=True) if not isnan(video)] or [times[-1]]
    video, audio, fps = (tuple(sorted(rate for rate in column if not isnan(rate))) for column in columns)
    return told[0], told[-1], video, audio, fps
