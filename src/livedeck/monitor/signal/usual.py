"""Usual values of a stream, learnt from its own samples (monitoring.md, "Usual values").

Values are medians over slots of ten seconds, so up to half of the slots may be wrong. A slot ends by the time of the
samples, so the result does not depend on how many samples arrive at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from math import inf
from operator import attrgetter
from typing import NamedTuple

from livedeck.monitor.model.thresholds import Expectation, Thresholds
from livedeck.monitor.signal.order import copier

_TOP_SLOTS = 120
"""Number of newest slots whose highest rate is remembered: 20 min."""

_FROZEN_SLOTS = 18
_FLOOR_SLOTS = 30
"""Number of newest slots to compare with the floor if the rate is constant, or learnt too briefly to be sure."""

_RISING_SLOTS = 6
"""Number of newest slots. If their rate is higher than that of earlier slots, the rate counts as rising."""

_RISING = 1.08
"""A rate is rising if its newest minute is above this multiple of the two minutes before."""

_CAPABLE = 1.1
"""Multiple of the floor. A stream that has reached it can do better than the floor."""

_CAPABLE_SECONDS = 3600.0
_CAPABLE_CONSTANT_SECONDS = 600.0
_DECAY_SLOTS = 12
_MINUTE_SLOTS = 6
_PART_SLOTS, _SINKING_PARTS = 4, 13
"""Number of slots in a part; number of newest parts that show a sinking rate."""

_LOWER, _STEP = 0.97, 0.45
"""Shares of an earlier part's rate. A part below the first share is lower. A part at or below the second share of the
part just before is a sudden step."""

_SINKING = 5 / 6
"""Share of all pairs of parts whose later part must be lower. A single step reaches about half of them, a decay all."""

_SPANS = 30
"""Number of spans whose rate is remembered. A span has `_DECAY_SLOTS` slots and lasts two minutes."""

_NOISE_WEIGHT = 0.1
_DEVIATIONS = 1.5  # times the median absolute deviation: about one standard deviation
_MAX_LEVELS = 4
_YOUNG_SLOTS = 12
_VARIABLE_ALWAYS = (
    0.9  # share of all slots after the first ten minutes, so that an alarm cannot prevent learning for good
)
_VARIABLE_RANGE, _VARIABLE_FRAMES = 0.3, 3.0


class Rates(NamedTuple):
    """Rates of a sample, or of several: video bit/s, audio bit/s, frames/s."""

    video: float
    audio: float
    fps: float


class Usual(NamedTuple):
    """Usual values of a stream, learnt from its samples.

    Attributes:
        video: Video rate (bit/s); None until it is learnt.
        audio: Audio rate (bit/s); None until it is learnt.
        fps: Frame rate (frames/s); None until it is learnt.
        audio_low: Audio rate in ordinary pauses of the programme (bit/s).
        noise: Deviation of the video rate within a slot of ten seconds (bit/s).
        is_constant: The video rate is normally constant, so a low rate is a fault.
        is_witness: The audio rate is normally constant, so a lower one shows that the encoder lacks bits.
        is_variable_fps: The frame rate varies with the picture.
        floor: Lowest video rate that fits the highest preset (bit/s).
        is_below_floor: The video rate has been below the floor for minutes.
        is_decaying: A constant video rate has slowly sunk.
        anchor: Highest video rate of any two minutes since the last change of level (bit/s).
        sunk_from: Highest video rate of any two minutes of the last hour, if the rate has sunk since; else 0 (bit/s).
        sunk_to: Highest video rate of the newest minute, if the rate has sunk; else 0 (bit/s).
        fps_dip: Usual distance of a slot's lowest frame rate from the slot's median (frames/s).
    """

    video: float | None = None
    audio: float | None = None
    fps: float | None = None
    audio_low: float = 0.0
    noise: float = 0.0
    is_constant: bool = False
    is_witness: bool = False
    is_variable_fps: bool = False
    floor: float = 0.0
    is_below_floor: bool = False
    is_decaying: bool = False
    anchor: float = 0.0
    sunk_from: float = 0.0
    sunk_to: float = 0.0
    fps_dip: float = 0.0


class Level(NamedTuple):
    """Level that was usual earlier: a video rate (bit/s) with its frame rate (frames/s)."""

    video: float
    fps: float


class _Frames(NamedTuple):
    """Frame rates of a slot (frames/s). `dip`: median minus lowest rate. `width`: highest minus lowest rate."""

    median: float
    dip: float
    width: float


_MEDIAN, _DIP, _WIDTH = (attrgetter(name) for name in _Frames._fields)


@dataclass(slots=True)
class UsualMemory:
    """Slots, oldest first, and the usual values derived from them. Times are epoch seconds, server clock.

    `rows`: samples of the current slot. `slot`: its number. `tops`: highest video rate of each slot. `spans`: median of
    the tops of each two minutes in the last hour. `span_slots`: number of slots since the last span. `learnt`: number
    of slots that the video rate was learnt from since its last new level. `levels`: earlier usual levels. `steps`:
    times at which the video rate alone went to a new level. `variable_until`, `variable_fps_until`: times until which
    the video rate and the frame rate count as variable. `capable_at`: last time at which the video rate was clearly
    above the floor. `sunk_from`, `sunk_to`, `fps_dip`: as in `usual`.
    """

    video_slots: tuple[float, ...] = ()
    audio_slots: tuple[float, ...] = ()
    frame_slots: tuple[_Frames, ...] = ()
    all_frame_slots: tuple[_Frames, ...] = ()
    tops: tuple[float, ...] = ()
    rows: tuple[tuple[Rates, bool], ...] = ()
    slot: int | None = None
    learnt: int = 0
    spread: float = 1.0
    levels: tuple[Level, ...] = ()
    steps: tuple[float, ...] = ()
    variable_until: float = -inf
    variable_fps_until: float = -inf
    capable_at: float = -inf
    is_floor_waived: bool = False
    usual: Usual = field(default_factory=Usual)
    spans: tuple[float, ...] = ()
    span_slots: int = 0
    sunk_from: float = 0.0
    sunk_to: float = 0.0
    fps_dip: float = 0.0

    def __post_init__(self) -> None:
        if self.sunk_from != self.usual.sunk_from:  # a stored row of usual values lacks both
            self._sink(self.sunk_from, self.sunk_to)
        if self.fps_dip != self.usual.fps_dip:  # a stored row lacks this value, too
            self.usual = self.usual._replace(fps_dip=self.fps_dip)

    def copy(self) -> UsualMemory:
        return _copy(self)

    def start_run(self) -> None:
        """Start a new slot after a silence. The usual values stay, because usually the same encoder returns."""
        self.rows, self.slot = (), None

    def add(self, rates: Rates, *, is_normal: bool) -> None:
        """Add a sample with a picture to the slot."""
        self.rows = (*self.rows, (rates, is_normal))

    def is_slot_over(self, time: float, cadence: float | None, thresholds: Thresholds) -> bool:
        """Return whether a sample at `time` begins a new slot. Call this once for each sample."""
        slot = int(time // max(thresholds.usual_slot, cadence or 0.0))
        is_over = self.slot is not None and slot != self.slot and bool(self.rows)
        self.slot = slot
        return is_over

    def close_slot(self, time: float, spoilt: frozenset[str], floor: float, thresholds: Thresholds) -> None:
        """End the slot and learn from its samples.

        `spoilt`: rates (video, audio, fps) that a fault or an excursion affects; nothing is learnt from them.
        """
        rows, self.rows = self.rows, ()
        normal = [rates for rates, is_normal in rows if is_normal]
        if normal:
            videos = sorted([rates.video for rates in normal])
            self._add_top(videos[-1])
            if "video" not in spoilt:
                self._learn_video(videos)
            if "audio" not in spoilt:
                self.audio_slots = (*self.audio_slots, sum([rates.audio for rates in normal]) / len(normal))
        fps = sorted([rates.fps for rates, _ in rows])
        middle = median_of(fps)
        frames = _Frames(middle, middle - fps[0], fps[-1] - fps[0])
        self.all_frame_slots = (*self.all_frame_slots, frames)
        if "fps" not in spoilt:
            self.frame_slots = (*self.frame_slots, frames)
        self._forget(thresholds.usual_slots)
        self._measure_video(thresholds)
        self._measure_audio(thresholds)
        self._measure_frames(time, may_learn="fps" not in spoilt, thresholds=thresholds)
        self.refresh(time, thresholds)
        self._measure_floor(time, floor, thresholds)
        self._measure_decay(thresholds)
        self._measure_sunk(floor, thresholds)

    def refresh(self, time: float, thresholds: Thresholds) -> None:
        """Update whether the video rate is normally constant."""
        video = self.usual.video
        since = time - thresholds.class_memory
        is_stepping = sum(step > since for step in self.steps) >= thresholds.steps_variable
        is_constant = (
            video is not None
            and self.learnt >= thresholds.usual_sure
            and self.spread < thresholds.constant_spread
            and self.usual.noise < thresholds.constant_noise * video
            and not is_stepping
            and time > self.variable_until
        )
        if is_constant != self.usual.is_constant:
            self.usual = self.usual._replace(is_constant=is_constant)

    def show_variable(self, time: float, thresholds: Thresholds) -> None:
        """Note at `time` that the video rate is proven not to be constant."""
        self.variable_until = time + thresholds.class_memory
        self.refresh(time, thresholds)

    def accept_audio(self, audio: float, thresholds: Thresholds) -> None:
        """Make this audio rate (bit/s) the usual audio rate."""
        self.audio_slots = (audio,) * thresholds.usual_least
        self._measure_audio(thresholds)

    def waive_floor(self) -> None:
        """Ignore the floor until the video rate clearly exceeds it again, and forget earlier rates."""
        self.is_floor_waived = True
        self.spans, self.span_slots = (), 0
        self.usual = self.usual._replace(is_below_floor=False)
        self._sink(0.0, 0.0)

    def accept_fps(self, fps: float) -> None:
        """Make this frame rate (frames/s) the usual frame rate."""
        self._remember_level()
        self.frame_slots = ()
        self.usual = self.usual._replace(fps=fps)

    def accept_video(self, rates: Sequence[float], time: float, thresholds: Thresholds, *, is_sure: bool) -> bool:
        """Make the median of these video rates (bit/s) the usual video rate.

        `is_sure`: the rates form one level; otherwise learning starts again. Returns True if this level was never usual
        before.
        """
        level = median_of(sorted(rates))
        is_new = all(abs(level - earlier.video) > thresholds.out_video * earlier.video for earlier in self.levels)
        self._remember_level()
        self.video_slots = (level,) * thresholds.usual_least
        self.learnt = min(self.learnt, thresholds.usual_sure - thresholds.usual_anew) if is_sure else 0
        self.spread = 0.0 if is_sure else 1.0
        self.usual = self.usual._replace(video=level, anchor=level, is_decaying=False)
        self.refresh(time, thresholds)
        return is_new

    def note_step(self, time: float, thresholds: Thresholds) -> None:
        """Note at `time` that the video rate alone went to a new level."""
        self.steps = (*self.steps, time)[-thresholds.steps_variable :]

    def _remember_level(self) -> None:
        if self.usual.video is not None:
            self.levels = (*self.levels, Level(self.usual.video, self.usual.fps or 0.0))[-_MAX_LEVELS:]

    def _learn_video(self, rates: list[float]) -> None:
        """Learn from the video rates of a slot, ascending."""
        middle = median_of(rates)
        self.video_slots = (*self.video_slots, middle)
        self.learnt += 1
        if len(rates) >= 3:
            deviation = _DEVIATIONS * median_of(sorted([abs(rate - middle) for rate in rates]))
        else:
            deviation = abs(middle - (self.usual.video or middle))
        noise = self.usual.noise
        noise = noise + _NOISE_WEIGHT * (deviation - noise) if noise else deviation
        self.usual = self.usual._replace(noise=noise)

    def _forget(self, kept: int) -> None:
        self.video_slots, self.audio_slots = self.video_slots[-kept:], self.audio_slots[-kept:]
        self.frame_slots, self.all_frame_slots = self.frame_slots[-kept:], self.all_frame_slots[-kept:]

    def _measure_video(self, thresholds: Thresholds) -> None:
        if len(self.video_slots) >= thresholds.usual_least:
            rates = sorted(self.video_slots)
            self.usual = self.usual._replace(video=median_of(rates))
            self.spread = spread_of(rates)

    def _measure_audio(self, thresholds: Thresholds) -> None:
        if len(self.audio_slots) >= thresholds.usual_least:
            rates = sorted(self.audio_slots)
            self.usual = self.usual._replace(
                audio=median_of(rates),
                audio_low=percentile_of(rates, 0.03),
                is_witness=spread_of(rates) < thresholds.witness_spread,
            )

    def _measure_frames(self, time: float, thresholds: Thresholds, *, may_learn: bool) -> None:
        if len(self.frame_slots) < thresholds.usual_least:
            return
        medians = sorted(map(_MEDIAN, self.frame_slots))
        middle = median_of(medians)
        reach = percentile_of(medians, 0.9) - percentile_of(medians, 0.1)
        if self._is_fps_variable(thresholds) or reach > max(_VARIABLE_FRAMES, _VARIABLE_RANGE * middle):
            self.variable_fps_until = time + thresholds.class_memory
        is_open = self.usual.fps is None or (self.learnt < thresholds.usual_sure and may_learn)
        self.fps_dip = median_of(sorted(map(_DIP, self.all_frame_slots)))
        self.usual = self.usual._replace(
            fps=middle if is_open else self.usual.fps,
            is_variable_fps=time < self.variable_fps_until,
            fps_dip=self.fps_dip,
        )

    def _is_fps_variable(self, thresholds: Thresholds) -> bool:
        limit = thresholds.variable_fps_slots
        if _share_of_wide(self.frame_slots, thresholds) > limit:
            return True
        is_young = _YOUNG_SLOTS <= len(self.all_frame_slots) < thresholds.usual_slots
        return _share_of_wide(self.all_frame_slots, thresholds) > (limit if is_young else _VARIABLE_ALWAYS)

    def _measure_floor(self, time: float, floor: float, thresholds: Thresholds) -> None:
        is_expected = floor > 0 and Expectation.FLOOR in thresholds.content.expectations
        if self.tops and self.tops[-1] > _CAPABLE * floor:
            self.capable_at, self.is_floor_waived = time, False
        if not is_expected or self.is_floor_waived or self.usual.is_variable_fps or len(self.tops) < _YOUNG_SLOTS - 3:
            self._judge_floor(floor, is_below=False)
            return
        recent = sorted(self.tops[-_FROZEN_SLOTS:])
        is_low = self._is_stuck(time, floor, thresholds) or _is_frozen(recent, floor, thresholds)
        is_below = (is_low and not self._is_rising()) or (
            self.usual.is_below_floor
            and percentile_of(recent, 0.9) < floor
            and percentile_of(self._floor_span(thresholds), 0.9) <= thresholds.floor_clear * floor
        )
        self._judge_floor(floor, is_below=is_below)

    def _judge_floor(self, floor: float, *, is_below: bool) -> None:
        if (floor, is_below) != (self.usual.floor, self.usual.is_below_floor):
            self.usual = self.usual._replace(floor=floor, is_below_floor=is_below)

    def _floor_span(self, thresholds: Thresholds) -> list[float]:
        is_short = self.learnt < thresholds.usual_sure or self.usual.is_constant
        return sorted(self.tops[-(_FLOOR_SLOTS if is_short else _TOP_SLOTS) :])

    def _is_stuck(self, time: float, floor: float, thresholds: Thresholds) -> bool:
        """Return whether the rate stays below the floor and is flatter than that of any still picture."""
        patience = _CAPABLE_CONSTANT_SECONDS if self.usual.is_constant else _CAPABLE_SECONDS
        if len(self.tops) < _FLOOR_SLOTS or time - self.capable_at <= patience:
            return False
        span = self._floor_span(thresholds)
        high = percentile_of(span, 0.9)
        return high < floor and high < thresholds.floor_flat * median_of(span)

    def _is_rising(self) -> bool:
        if len(self.tops) < 2 * _RISING_SLOTS:
            return False
        newest, before = self.tops[-_RISING_SLOTS:], self.tops[-_FROZEN_SLOTS:][:-_RISING_SLOTS]
        return median_of(sorted(newest)) > _RISING * median_of(sorted(before))

    def _measure_decay(self, thresholds: Thresholds) -> None:
        usual = self.usual
        if not usual.is_constant and usual.is_decaying:
            self.usual = usual._replace(is_decaying=False)
        if not usual.is_constant or len(self.video_slots) < thresholds.usual_sure:
            return
        now = median_of(sorted(self.video_slots[-_DECAY_SLOTS:]))
        if now > usual.anchor:
            usual = usual._replace(anchor=now)
        limit = decay_limit(usual, thresholds) + (thresholds.decay_clear if usual.is_decaying else 0.0)
        is_decaying = now < limit * usual.anchor
        self.usual = usual if is_decaying is usual.is_decaying else usual._replace(is_decaying=is_decaying)

    def _add_top(self, top: float) -> None:
        self.tops = (*self.tops, top)[-_TOP_SLOTS:]
        self.span_slots += 1
        if self.span_slots >= _DECAY_SLOTS:
            span = median_of(sorted(self.tops[-_DECAY_SLOTS:]))
            self.spans, self.span_slots = (*self.spans, span)[-_SPANS:], 0

    def _measure_sunk(self, floor: float, thresholds: Thresholds) -> None:
        """Update whether the rate has sunk over minutes to a level that is too low for the preset."""
        is_expected = Expectation.FLOOR in thresholds.content.expectations and not self.usual.is_variable_fps
        high = max(self.tops[-_MINUTE_SLOTS:], default=0.0)
        sunk_from = self.sunk_from
        if not self.spans or not is_expected or high >= floor * (thresholds.floor_clear if sunk_from else 1.0):
            sunk_from = 0.0
        else:
            best, limit = max(self.spans), thresholds.sunk_video + (thresholds.decay_clear if sunk_from else 0.0)
            is_sunk = high < limit * best and (sunk_from > 0 or self._is_sinking())
            sunk_from = best if is_sunk else 0.0
        if sunk_from or self.sunk_from:
            self._sink(sunk_from, high if sunk_from else 0.0)

    def _sink(self, sunk_from: float, sunk_to: float) -> None:
        self.sunk_from, self.sunk_to = sunk_from, sunk_to
        self.usual = self.usual._replace(sunk_from=sunk_from, sunk_to=sunk_to)

    def _is_sinking(self) -> bool:
        """Return whether the rate sinks through the newest parts: on the whole, and without a sudden step."""
        slots = _PART_SLOTS * _SINKING_PARTS
        tops = self.tops[-slots:]
        if len(tops) < slots:
            return False
        parts = [median_of(sorted(tops[start : start + _PART_SLOTS])) for start in range(0, slots, _PART_SLOTS)]
        pairs = [after < _LOWER * before for before, after in combinations(parts, 2)]
        return sum(pairs) >= _SINKING * len(pairs) and all(after > _STEP * before for before, after in pairwise(parts))


_copy = copier(UsualMemory)


def decay_limit(usual: Usual, thresholds: Thresholds) -> float:
    """Return the share of `anchor`, the rate of the best two minutes, below which a constant rate is decaying."""
    return min(thresholds.decay_video, thresholds.decay_video_noisy - 3 * usual.noise / usual.anchor)


def median_of(ordered: Sequence[float]) -> float:
    """Return the median of ascending numbers; of two middle numbers, the lower."""
    return ordered[(len(ordered) - 1) // 2]


def percentile_of(ordered: Sequence[float], share: float) -> float:
    """Return a percentile of ascending numbers. `share`: 0 to 1."""
    return ordered[int((len(ordered) - 1) * share)]


def spread_of(ordered: Sequence[float]) -> float:
    """Return the distance between the 10th and the 90th percentile as a share of the median; 0 if the median is 0."""
    middle = median_of(ordered)
    return (percentile_of(ordered, 0.9) - percentile_of(ordered, 0.1)) / middle if middle else 0.0


def _share_of_wide(slots: Sequence[_Frames], thresholds: Thresholds) -> float:
    frames, share = thresholds.variable_fps_frames, thresholds.variable_fps
    if max(map(_WIDTH, slots), default=0.0) <= frames:
        return 0.0
    return sum([width > frames and width > share * median for median, _, width in slots]) / len(slots)


def _is_frozen(recent: list[float], floor: float, thresholds: Thresholds) -> bool:
    """Return whether the video rate has, for minutes, been too low for a moving picture of the preset's size."""
    is_long = len(recent) * thresholds.usual_slot >= thresholds.frozen
    return is_long and recent[-1] < min(thresholds.frozen_floor * floor, thresholds.floor_flat * median_of(recent))
