"""State of a stream that is carried from sample to sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf, isnan
from typing import NamedTuple

from livedeck.monitor.evidence.coverage import Coverage
from livedeck.monitor.model.readings import Readings
from livedeck.monitor.model.thresholds import Expectation, Share, Thresholds
from livedeck.monitor.signal.features import KEY_DRIFT, KEY_SEVERE, LOSS, NORMAL, SampleFeatures
from livedeck.monitor.signal.levels import Levels, LevelSample, Standing
from livedeck.monitor.signal.order import SampleOrder, Step, copier, silence_limit
from livedeck.monitor.signal.usual import Rates, Usual
from livedeck.record import Record

_LEAST_WINDOW, _MOST_WINDOW = 3, 10
"""Minimum and maximum number of samples in the window for judging a rate."""

_NO_NEW_FRAME = 2.0
"""Multiple of the dark video rate above which a screen share without new frames is not dark."""

_NO_SOUND = 4000.0
"""Audio rate (bit/s) below which every stream is nearly silent: every codec needs more for sound."""

_NOTHING = Standing()


class _Hits(NamedTuple):
    """Number of newest samples with a status, with the fields of SampleFeatures. `is_lossy`: the loss is a witness."""

    drift: int = 0
    severe: int = 0
    loss: int = 0
    loss_long: int = 0
    is_lossy: bool = False


_NO_HITS = _Hits()


class Burst(Record):
    """Several samples of one status close together: times of the first and the last (epoch s)."""

    first: float
    last: float


@dataclass(slots=True)
class StreamMemory:
    """State that each sample updates, in order. Times are epoch seconds, server clock.

    `levels`: usual values and excursions. `order`: cadence. `first_time`: time of the stream's first sample.
    `run_start`: start of the current run, after the last silence. `last_time`: time of the newest sample. `last_hole`:
    time of the first sample after the newest hole. `recent`: rates of the newest samples; a missing rate has the
    previous value. `hit_bits`: status -> one bit for each of the last samples; the lowest bit is the newest sample.
    `bursts`: status -> its newest burst. `heavy_loss_since`: start of the time with more packet loss than its share.
    `has_picture`, `has_sound`: a sample had a picture, or sound. `quiet_from`: start of near silence.
    """

    levels: Levels = field(default_factory=Levels)
    order: SampleOrder = field(default_factory=SampleOrder)
    first_time: float | None = None
    run_start: float = -inf
    last_time: float = -inf
    last_hole: float = -inf
    recent: tuple[Rates, ...] = ()
    hit_bits: Mapping[int, int] = field(default_factory=dict)
    bursts: Mapping[int, Burst] = field(default_factory=dict)
    heavy_loss_since: float | None = None
    has_picture: bool = False
    has_sound: bool = False
    quiet_from: float | None = None

    def copy(self) -> StreamMemory:
        copy = _copy(self)
        copy.levels, copy.order = self.levels.copy(), self.order.copy()
        return copy

    def resumed(self) -> StreamMemory:
        """Return a copy with only the usual values and the cadence, for samples after an unknown gap."""
        memory = StreamMemory(
            self.levels.copy(), self.order.copy(), has_picture=self.has_picture, has_sound=self.has_sound
        )
        memory.levels.start_run()
        return memory

    def step_to(self, time: float, thresholds: Thresholds, coverage: Coverage) -> Step:
        """Return the step to a sample at `time`. Counts and excursions start anew after a silence or unwatched time.

        A new run begins after a silence, and after unwatched time that is long enough for a silence.
        """
        if self.first_time is None:
            self.first_time = self.run_start = time
            return Step()
        step = self.order.add(self.last_time, time, thresholds, coverage)
        if not (step.missing or step.unwatched):
            return step
        self.last_hole = time
        if step.is_silence or step.unwatched > silence_limit(self.order.cadence, thresholds):
            self.run_start = time
        if step.is_silence or step.unwatched:
            self.heavy_loss_since = self.quiet_from = None
            self.hit_bits, self.recent = {}, ()
            self.levels.start_run()
        if step.unwatched:
            self.bursts = {}
        return step

    def close_slot(self, time: float, spoilt: frozenset[str], floor: float, thresholds: Thresholds) -> None:
        """Learn usual values from the samples before `time`. `spoilt`: rates with a fault, which are left out."""
        self.levels.usual.close_slot(time, spoilt | self.levels.held(time, thresholds), floor, thresholds)

    def add_sample(
        self,
        readings: Readings,
        index: int,
        step: Step,
        thresholds: Thresholds,
        coverage: Coverage,
        *,
        had_sound: bool = False,
    ) -> SampleFeatures:
        """Store the next sample and return its features.

        In the first `warm_up` seconds after a start or a silence, statuses are not counted and rates are not judged.
        `had_sound`: an earlier stream of the event had sound.
        """
        time, status = readings.time[index], readings.status[index]
        measured = Rates(readings.video[index], readings.audio[index], readings.fps[index])
        rates = self._completed(measured)
        self.recent = (*self.recent, rates)[-_MOST_WINDOW:]
        self.last_time = time
        is_warm = time - self.run_start >= thresholds.warm_up
        is_dark = _is_dark(measured, thresholds)
        self.has_picture = self.has_picture or not is_dark
        self.has_sound = self.has_sound or measured.audio > 0
        standing = _NOTHING
        window, videos = self._window(thresholds)
        if is_warm:
            self._count_status(time, status, thresholds)
        hits = self._newest_hits(thresholds)
        if is_warm and not is_dark and Expectation.PICTURE in thresholds.content.expectations:
            sample = LevelSample(time, rates, window, videos, self.order.cadence or 0.0, hits.is_lossy)
            standing = self.levels.add_sample(sample, thresholds)
            if not isnan(measured.video):
                self.levels.usual.add(rates, is_normal=status == NORMAL)
        self._follow_quiet(time, measured.audio, thresholds)
        covered = None if self.has_sound and self.has_picture else coverage.known_seconds(time)
        levels, heavy_since, quiet_from = self.levels, self.heavy_loss_since, self.quiet_from
        video_away = levels.video_away
        is_ragged = video_away is not None and video_away.is_ragged
        return SampleFeatures(
            time,
            *measured,
            status,
            levels.usual.usual,
            step,
            self.order.cadence or 0.0,
            is_warm,
            is_dark,
            window,
            hits.drift,
            hits.severe,
            hits.loss,
            hits.loss_long,
            heavy_since is not None and time - heavy_since >= thresholds.loss_hold.seconds,
            standing.is_fps_low,
            levels.is_fps_pending,
            standing.witnesses,
            is_ragged,
            video_away.ragged_for_long(time, thresholds) if video_away is not None else None,
            standing.fps_charge,
            standing.dip,
            standing.change,
            self.has_picture,
            self.has_sound,
            covered,
            covered is None and not (had_sound or self.has_sound),
            standing.is_lossy,
            standing.is_sound_short,
            quiet_from if quiet_from is not None and time - quiet_from >= thresholds.quiet_hold else None,
            levels.settled_fps,
        )

    def end_burst(self, status: int) -> None:
        """Forget the newest burst of a status, because its fault is over."""
        self.bursts = {counted: burst for counted, burst in self.bursts.items() if counted != status}

    def take_as_usual(self, thresholds: Thresholds) -> None:
        """Make the newest rates the usual values, because a person decided so."""
        window, videos = self._window(thresholds)
        self.levels.take_as_usual(window, videos, self.last_time, thresholds)

    def _completed(self, measured: Rates) -> Rates:
        """Return the rates; a missing rate has the value of the previous sample."""
        video, audio, fps = measured
        if video == video and audio == audio and fps == fps:  # noqa: PLR0124  only NaN differs from itself
            return measured
        before = self.recent[-1] if self.recent else Rates(0.0, 0.0, 0.0)
        return Rates(*(old if isnan(new) else new for new, old in zip(measured, before, strict=True)))

    def _window(self, thresholds: Thresholds) -> tuple[Rates, tuple[float, ...]]:
        """Return the combined rates of the samples in the newest seconds, and the video rate of each of them."""
        rows = self.recent[-_window_samples(self.order.cadence or 0.0, thresholds) :]
        if not rows:
            return Rates(0.0, 0.0, 0.0), ()
        videos, audios, rates = zip(*rows, strict=True)
        count = len(rows)
        return Rates(sorted(videos)[(count - 1) // 2], sum(audios) / count, sum(rates) / count), videos

    def _follow_quiet(self, time: float, audio: float, thresholds: Thresholds) -> None:
        """Note the start or the end of near silence. A missing audio rate changes nothing."""
        if audio >= quiet_limit(self.levels.usual.usual, thresholds):
            self.quiet_from = None
        elif self.quiet_from is None and audio >= 0:
            self.quiet_from = time

    def _newest_hits(self, thresholds: Thresholds) -> _Hits:
        if not self.hit_bits:
            return _NO_HITS
        short, long = thresholds.loss_witness, thresholds.loss_witness_long
        return _Hits(
            self._hits(KEY_DRIFT, thresholds.drift_share),
            self._hits(KEY_SEVERE, thresholds.severe_share),
            self._hits(LOSS, thresholds.loss_share),
            self._hits(LOSS, thresholds.loss_share_long),
            self._hits(LOSS, short) >= short.hits or self._hits(LOSS, long) >= long.hits,
        )

    def _count_status(self, time: float, status: int, thresholds: Thresholds) -> None:
        if status == NORMAL and not self.hit_bits:
            return
        bits: dict[int, int] = {}
        for counted, share in _counted_statuses(thresholds):
            is_hit = status == counted or (counted == KEY_DRIFT and status == KEY_SEVERE)
            bits[counted] = (self.hit_bits.get(counted, 0) << 1 | is_hit) & ((1 << share.window) - 1)
            if is_hit:
                burst = self.bursts.get(counted)
                is_same = burst is not None and time - burst.last <= thresholds.memory
                self.bursts = {**self.bursts, counted: Burst(burst.first if burst and is_same else time, time)}
        self.hit_bits = {counted: newest for counted, newest in bits.items() if newest}
        if self._hits(LOSS, thresholds.loss_share) < thresholds.loss_share.hits:
            self.heavy_loss_since = None
        elif self.heavy_loss_since is None:
            self.heavy_loss_since = time

    def _hits(self, status: int, share: Share) -> int:
        bits = self.hit_bits.get(status)
        return (bits & ((1 << share.window) - 1)).bit_count() if bits else 0


_copy = copier(StreamMemory)


def _window_samples(cadence: float, thresholds: Thresholds) -> int:
    """Return the number of newest samples by which a rate is judged. `cadence`: 0 if unknown."""
    wanted = int(thresholds.window / (cadence or thresholds.window) + 0.5)
    return max(_LEAST_WINDOW, min(_MOST_WINDOW, wanted))


def window_seconds(cadence: float, thresholds: Thresholds) -> float:
    """Return the length of the window by which a rate is judged. `cadence`: seconds between samples; 0 if unknown."""
    return _window_samples(cadence, thresholds) * cadence or thresholds.window


def quiet_limit(usual: Usual, thresholds: Thresholds) -> float:
    """Return the audio rate (bit/s) below which a stream with these usual values is nearly silent."""
    return max(_NO_SOUND, thresholds.quiet_audio * (usual.audio or 0.0))


def _counted_statuses(thresholds: Thresholds) -> tuple[tuple[int, Share], ...]:
    """Return each counted status with its longest window."""
    return (
        (KEY_DRIFT, thresholds.drift_share),
        (KEY_SEVERE, thresholds.severe_share),
        (LOSS, max(thresholds.loss_share, thresholds.loss_share_long, key=lambda share: share.window)),
    )


def _is_dark(rates: Rates, thresholds: Thresholds) -> bool:
    """Return whether there is no picture. A screen share without new frames is not dark if its rate is high enough."""
    if rates.video >= thresholds.dark_video and rates.fps >= thresholds.dark_fps > 0:
        return False
    expectations = thresholds.content.expectations
    if Expectation.PICTURE not in expectations:
        return False
    if rates.video < thresholds.dark_video:
        return True
    if Expectation.FRAMES in expectations:
        return rates.fps < thresholds.dark_fps
    return rates.fps == 0 and rates.video < _NO_NEW_FRAME * thresholds.dark_video
