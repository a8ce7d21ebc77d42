"""What is remembered of a stream from sample to sample, and its baseline, so that each sample has its context."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from math import inf, isnan, nan, sqrt
from typing import NamedTuple

from livedeck.monitor.model.readings import Readings
from livedeck.monitor.model.thresholds import Share, Thresholds

NORMAL = 0
"""The QoS status of a sample with nothing to complain of (monitoring.md, "QoS status")."""

KEY_DRIFT, KEY_SEVERE, LOSS = 3, 4, 5
"""The documented complaints of a QoS sample (monitoring.md, "QoS status")."""

SLOT_SECONDS = 20.0
"""Stream time after which the baseline is measured anew."""

_STEADY_SHARE = 0.1
"""Of the baseline: a minute in which no video rate strays further has no variation worth measuring."""


class Baseline(NamedTuple):
    """What is usual: `video` and `audio` in bit/s, `fps` in frames/s; None where too little was seen to say.

    `spread`: of the video rate, as a share of it: half of what lies between the 16th and the 84th of 100 samples. It is
    the coefficient of variation where rates scatter evenly, and a burst or two do not move it.
    """

    video: float | None = None
    audio: float | None = None
    fps: float | None = None
    spread: float = 0.0


TrainingSlot = tuple[float, float, tuple[float, ...], tuple[float, ...], tuple[float, ...]]
"""The samples from the first time to the last (epoch s) that train the baseline: video, audio and frames/s, each
ascending, without the rates that a fault excludes. The times are those of the video rates alone; equal where there is
none.

A plain tuple of numbers is none of the garbage collector's business; of objects there would be dozens an event.
"""


def learn_baseline(baseline: Baseline, slots: Sequence[TrainingSlot], thresholds: Thresholds) -> Baseline:
    """The baseline by these slots, oldest first; what they are too few to tell stays as it was."""
    fps = _nominal_fps(_merge(fps for *_, fps in slots), thresholds)
    baseline = baseline if fps is None else baseline._replace(fps=fps)
    times = [(first, last) for first, last, video, *_ in slots if video]
    if not times or times[-1][1] - times[0][0] < thresholds.baseline_least:
        return baseline
    video, audio = _merge(video for _, _, video, *_ in slots), _merge(audio for *_, audio, _ in slots)
    median = _percentile(video, 0.5)
    spread = (_percentile(video, 0.84) - _percentile(video, 0.16)) / 2 / median if median else 0.0  # sound alone
    return Baseline(median, _percentile(audio, 0.5) if audio else baseline.audio, baseline.fps, spread)


def _merge(columns: Iterable[tuple[float, ...]]) -> list[float]:
    return sorted(chain.from_iterable(columns))


def _nominal_fps(rates: list[float], thresholds: Thresholds) -> float | None:
    """The usual frame rate nearest to a high percentile: what the encoder reaches when nothing hinders it."""
    if not rates:
        return None
    top = _percentile(rates, thresholds.fps_percentile)
    return min(thresholds.usual_fps, key=lambda rate: abs(rate - top)) if top >= thresholds.dark_fps else None


def _percentile(ordered: list[float], share: float) -> float:
    return ordered[int((len(ordered) - 1) * share)]


class SampleFeatures(NamedTuple):
    """A sample in its context. `time` in epoch s, rates in bit/s, frames/s; NaN is missing, status -1 is missing.

    `is_dark`: no picture moves, so the other rates of the picture measure nothing. `is_shortage`: few bits are a
    shortage, and not a quiet picture: the rate is constant by habit, or the frames, the sound or the status suffer with
    it. `drift_hits`, `severe_hits`, `loss_hits`: of the statuses 3, 4 and 5 in their windows. `is_heavy_loss`: the loss
    has stayed over its share. `loss_bursts`: how many, lately. `variation`: deviation over mean of the video rate in
    the last minute, 0 where it is plainly small, NaN where the minute is not seen whole.
    """

    time: float
    video: float
    audio: float
    fps: float
    status: int
    baseline: Baseline
    is_dark: bool
    is_shortage: bool
    drift_hits: int
    severe_hits: int
    loss_hits: int
    is_heavy_loss: bool
    loss_bursts: int
    variation: float


@dataclass(frozen=True, slots=True)
class Burst:
    """Samples of one status that are less than a pause apart: the first and the last of them (epoch s)."""

    first: float
    last: float


_Row = tuple[float, float, float, float]
"""What a sample trains: its time, video, audio and frames/s; NaN is excluded. Plain, as a TrainingSlot is."""


@dataclass(slots=True)
class StreamMemory:
    """Changed by each sample, in order. Times in epoch s, server clock.

    `first_time` of the stream; `run_start`: of the present run, since the last silence; `last_time`: the newest sample.
    `hit_bits`: status -> whether each of the last samples had it, the newest the lowest bit. `bursts`: status -> the
    present one. `loss_bursts`: when the last bursts of loss began; `heavy_loss_since`: since when loss is over its
    share. `last_minute`: (time, video) of it; `last_variation`: when the video rate was last far from the baseline.
    `slots`, `slot_rows`: the training slots, and the samples of the present one.
    """

    first_time: float | None = None
    run_start: float = -inf
    last_time: float = -inf
    hit_bits: dict[int, int] = field(default_factory=dict)
    bursts: dict[int, Burst] = field(default_factory=dict)
    loss_bursts: tuple[float, ...] = ()
    heavy_loss_since: float | None = None
    last_minute: deque[tuple[float, float]] = field(default_factory=deque)
    last_variation: float = -inf
    slots: tuple[TrainingSlot, ...] = ()
    slot_rows: list[_Row] = field(default_factory=list)
    baseline: Baseline = field(default_factory=Baseline)

    def copy(self) -> StreamMemory:
        """An independent copy."""
        return replace(
            self,
            hit_bits=self.hit_bits.copy(),
            bursts=self.bursts.copy(),
            last_minute=self.last_minute.copy(),
            slot_rows=self.slot_rows.copy(),
        )

    def start_run(self, time: float) -> None:
        """Begin a new run: counts and variation do not reach over a silence."""
        self.first_time = time if self.first_time is None else self.first_time
        self.run_start, self.heavy_loss_since = time, None
        self.hit_bits.clear()
        self.last_minute.clear()

    def add_sample(self, readings: Readings, index: int, thresholds: Thresholds) -> SampleFeatures:
        """Remember that sample and give it in its context. While a run warms up, nothing is counted."""
        time, video, fps = readings.time[index], readings.video[index], readings.fps[index]
        audio, status = readings.audio[index], readings.status[index]
        if time // SLOT_SECONDS != self.last_time // SLOT_SECONDS:
            self._close_slot(time, thresholds)
        self.last_time = time
        is_dark = video < thresholds.dark_video or fps < thresholds.dark_fps
        is_warm = time - self.run_start >= thresholds.warm_up
        if is_warm:
            self._count_status(time, status, thresholds)
        if not is_dark and not isnan(video):
            self._note_variation(time, video, thresholds)
        heavy_since = self.heavy_loss_since
        return SampleFeatures(
            time=time,
            video=video,
            audio=audio,
            fps=fps,
            status=status,
            baseline=self.baseline,
            is_dark=is_dark,
            is_shortage=status == LOSS or _is_shortage(audio, fps, self.baseline, thresholds),
            drift_hits=self._hit_count(KEY_DRIFT),
            severe_hits=self._hit_count(KEY_SEVERE),
            loss_hits=self._hit_count(LOSS),
            is_heavy_loss=heavy_since is not None and time - heavy_since >= thresholds.loss_hold.seconds,
            loss_bursts=len(self.loss_bursts),
            variation=self._variation(time, thresholds) if is_warm else nan,
        )

    def learn(self, features: SampleFeatures, excluded: set[str], thresholds: Thresholds) -> None:
        """Train the baseline with that sample, but for the `excluded` rates (video, audio, fps), that a fault holds."""
        if features.is_dark or features.time - self.run_start < thresholds.warm_up:
            return
        is_normal = features.status == NORMAL
        video = features.video if is_normal and "video" not in excluded else nan
        audio = features.audio if is_normal and "audio" not in excluded else nan
        fps = features.fps if "fps" not in excluded else nan
        self.slot_rows.append((features.time, video, audio, fps))

    def _close_slot(self, time: float, thresholds: Thresholds) -> None:
        if self.slot_rows:
            self.slots = (*self.slots, _training_slot(self.slot_rows))
            self.slot_rows = []
        begin = time - thresholds.baseline
        self.slots = tuple(slot for slot in self.slots if slot[1] >= begin)
        self.baseline = learn_baseline(self.baseline, self.slots, thresholds)

    def _count_status(self, time: float, status: int, thresholds: Thresholds) -> None:
        if status == NORMAL and not self.hit_bits and not self.loss_bursts:
            return
        for counted, share in _counted_statuses(thresholds):
            bits = (self.hit_bits.pop(counted, 0) << 1 | (status == counted)) & ((1 << share.window) - 1)
            if bits:
                self.hit_bits[counted] = bits
        if status in {KEY_DRIFT, KEY_SEVERE, LOSS}:
            self._extend_burst(time, status, thresholds)
        self.loss_bursts = tuple(begun for begun in self.loss_bursts if begun > time - thresholds.loss_bursts_within)
        if self._hit_count(LOSS) < thresholds.loss_share.hits:
            self.heavy_loss_since = None
        elif self.heavy_loss_since is None:
            self.heavy_loss_since = time

    def _extend_burst(self, time: float, status: int, thresholds: Thresholds) -> None:
        burst = self.bursts.get(status)
        if status == LOSS and (burst is None or time - burst.last > thresholds.loss_pause):
            self.loss_bursts = (*self.loss_bursts, time)
        is_same = burst is not None and time - burst.last <= thresholds.memory
        self.bursts[status] = Burst(burst.first if burst and is_same else time, time)

    def _hit_count(self, status: int) -> int:
        return self.hit_bits[status].bit_count() if status in self.hit_bits else 0

    def _note_variation(self, time: float, video: float, thresholds: Thresholds) -> None:
        usual = self.baseline.video
        if usual is None or abs(video - usual) > _STEADY_SHARE * usual:
            self.last_variation = time
        while self.last_minute and self.last_minute[0][0] <= time - thresholds.unstable_window:
            self.last_minute.popleft()
        self.last_minute.append((time, video))

    def _variation(self, time: float, thresholds: Thresholds) -> float:
        """Deviation over mean of the last minute."""
        if time - self.run_start < thresholds.unstable_window or len(self.last_minute) < 2:
            return nan
        if time - self.last_variation > thresholds.unstable_window:
            return 0.0
        rates = [rate for _, rate in self.last_minute]
        mean = sum(rates) / len(rates)
        return sqrt(sum((rate - mean) ** 2 for rate in rates) / len(rates)) / mean if mean else 0.0


def _counted_statuses(thresholds: Thresholds) -> tuple[tuple[int, Share], ...]:
    return ((KEY_DRIFT, thresholds.drift_share), (KEY_SEVERE, thresholds.severe_share), (LOSS, thresholds.loss_share))


def _is_shortage(audio: float, fps: float, baseline: Baseline, thresholds: Thresholds) -> bool:
    """Whether few bits would be a shortage: something else suffers, or the rate is constant by habit."""
    return (
        baseline.spread < thresholds.constant_cv
        or (baseline.fps is not None and fps < thresholds.low_fps * baseline.fps)
        or (baseline.audio is not None and audio < thresholds.starved_audio * baseline.audio)
    )


def _training_slot(rows: list[_Row]) -> TrainingSlot:
    times, *columns = zip(*rows, strict=True)
    measured = [time for time, video in zip(times, columns[0], strict=True) if not isnan(video)] or [times[-1]]
    video, audio, fps = (tuple(sorted(rate for rate in column if not isnan(rate))) for column in columns)
    return measured[0], measured[-1], video, audio, fps
