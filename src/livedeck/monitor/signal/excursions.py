"""Excursions of the frame rate and of a constant video rate from the usual values (monitoring.md, "Change points").

A fault lowers rates, never raises them, and is seldom steady. So a step to a steady level counts as a decision of the
sender if people configure such levels and nothing else is wrong. The usual value follows a decision. An unsteady
excursion is a fault, and so is a low frame rate other than the usual settings of encoders, however steady it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from livedeck.monitor.model.thresholds import Expectation, Thresholds
from livedeck.monitor.signal.order import copier
from livedeck.monitor.signal.usual import Level, spread_of

_BACK = 2
"""Number of samples at the usual value that end an excursion."""

_SAME_FPS = 1.0
"""Largest difference between two values of the same frame rate (frames/s)."""

_SLOW_FPS = (5.0, 6.25, 7.5, 10.0, 12.0, 12.5, 15.0, 20.0)
"""Frame rates that people set for cameras and rooms. An encoder in trouble may fall to the same rates."""

_KEPT_RATES = 30
_LEAST_RATES = 5
_DIP_SAMPLES = 3
_NOISES = 3.0  # multiple of the usual noise that is no excursion
_TIGHT_NOISES = 4.0  # multiple of the usual noise within which a level is steady


def fps_tolerance(usual: float, thresholds: Thresholds) -> float:
    """Return the largest distance from the usual frame rate (frames/s) that is not an excursion."""
    return max(thresholds.out_frames, thresholds.out_fps * usual)


@dataclass(slots=True)
class FpsExcursion:
    """Excursion of the frame rate since `began` (epoch s).

    `low`, `high`: lowest and highest rate since `steady_since` (epoch s). `last_away`: time of the excursion's newest
    sample. `samples`: number of the excursion's samples. `back`: number of samples at the usual rate since `last_away`.
    `is_dirty`: the rate was unsteady once. `is_chosen`: senders choose such a rate, so it becomes usual in time.
    `is_pending`: such a rate was never unsteady, so it raises no alarm yet. `is_clean_slow`: a slow rate that was never
    unsteady; it raises an alarm at once. `settled`: low level that lasts without becoming usual (frames/s).
    """

    began: float
    low: float
    high: float
    steady_since: float
    last_away: float
    samples: int = 0
    back: int = 0
    is_dirty: bool = False
    is_pending: bool = False
    is_clean_slow: bool = False
    is_chosen: bool = False
    settled: float | None = None

    def copy(self) -> FpsExcursion:
        return _copy_fps(self)

    def add_back(self) -> bool:
        """Add a sample at the usual rate and return whether the excursion is over."""
        self.back += 1
        return self.back >= _BACK

    def add_away(self, time: float, fps: float, *, is_lossy: bool) -> None:
        """Add a sample of the excursion. The level starts with the second sample: the first may mix two levels."""
        self.back, self.last_away = 0, time
        self.samples += 1
        self.low, self.high = min(self.low, fps), max(self.high, fps)
        is_untidy = self.samples > 2 and (self.high - self.low > _SAME_FPS or is_lossy)
        self.is_dirty = self.is_dirty or is_untidy
        if is_untidy:
            self.settled = None
        if is_untidy or self.samples == 2:
            self.low = self.high = fps
            self.steady_since = time

    def settle(self, fps: float, usual: float, levels: Iterable[Level], thresholds: Thresholds) -> None:
        """Update `is_chosen`, `is_pending` and `is_clean_slow` after a sample."""
        rate_now = fps if self.samples <= 2 else (self.low + self.high) / 2
        is_set = any(abs(rate_now - rate) <= thresholds.set_fps_slack for rate in thresholds.set_fps)
        is_known = any(abs(fps - level.fps) <= _SAME_FPS for level in levels)
        self.is_chosen = is_set or is_known or self.low > usual
        self.is_pending = self.is_chosen and not self.is_dirty
        is_slow = any(abs(rate_now - rate) <= thresholds.set_fps_slack for rate in _SLOW_FPS)
        self.is_clean_slow = is_slow and not self.is_dirty

    def accepted(self, time: float, thresholds: Thresholds) -> float | None:
        """Return the frame rate if it becomes the usual rate now, else None. Update `settled`."""
        patience = thresholds.steady if self.is_pending or self.is_clean_slow else thresholds.dirty
        is_long = self.samples >= thresholds.steady_samples and time - self.steady_since >= patience
        if not is_long or self.high - self.low > _SAME_FPS:
            return None
        level = (self.low + self.high) / 2
        may_fall = self.is_clean_slow and Expectation.LEVEL not in thresholds.content.expectations
        if self.is_chosen or may_fall:
            return level
        self.settled = level
        return None


@dataclass(slots=True)
class VideoExcursion:
    """Excursion of a constant video rate since `began` (epoch s).

    `rates`: newest rates (bit/s). `samples`: number of the excursion's samples. `low_samples`: number of samples low
    enough for a dip. `back`: number of samples at the usual rate since the newest sample of the excursion. `is_ragged`:
    the rate is low and too unsteady to be a chosen new level.
    `ragged_since`, `ragged_samples`: start of the ragged state (epoch s), and number of samples in it.
    """

    began: float
    rates: tuple[float, ...] = ()
    samples: int = 0
    low_samples: int = 0
    back: int = 0
    is_ragged: bool = False
    ragged_since: float = 0.0
    ragged_samples: int = 0

    def copy(self) -> VideoExcursion:
        return _copy_video(self)

    def add_back(self) -> bool:
        """Add a sample at the usual rate and return whether the excursion is over."""
        self.back += 1
        self.is_ragged, self.ragged_samples = False, 0
        return self.back >= _BACK

    def add_away(self, video: float, usual: float, thresholds: Thresholds) -> None:
        """Add a sample of the excursion. The first sample is not in `rates`, because it may mix two levels."""
        self.back = 0
        self.samples += 1
        self.low_samples += video < thresholds.dip_video * usual
        if self.samples > 1:
            self.rates = (*self.rates, video)[-_KEPT_RATES:]

    def judge(self, time: float, window: float, usual: float, noise: float, thresholds: Thresholds) -> None:
        """Update whether the excursion is ragged. `window`: median rate of the newest seconds (bit/s)."""
        newest = sorted(self.rates[-thresholds.ragged_samples :])
        is_low = window < thresholds.low_video * usual
        self.is_ragged = (
            is_low and len(self.rates) >= _LEAST_RATES and spread_of(newest) >= self._tight(usual, noise, thresholds)
        )
        if not self.is_ragged:
            self.ragged_samples = 0
            return
        self.ragged_since = time if not self.ragged_samples else self.ragged_since
        self.ragged_samples += 1

    def ragged_for_long(self, time: float, thresholds: Thresholds) -> float | None:
        """Return when the ragged state began (epoch s) if it has lasted at least its hold time, else None."""
        hold = thresholds.ragged_hold
        is_long = self.ragged_samples >= hold.samples and time - self.ragged_since >= hold.seconds
        return self.ragged_since if is_long else None

    def dip_seconds(self, time: float, cadence: float, thresholds: Thresholds) -> float:
        """Return the low time of an ended excursion in seconds if it was a dip, else 0."""
        is_dip = self.low_samples >= _DIP_SAMPLES and time - self.began < thresholds.steady
        return self.low_samples * cadence if is_dip else 0.0

    def is_steady(self, usual: float, noise: float, cadence: float, thresholds: Thresholds) -> bool:
        """Return whether the newest rates form one level."""
        return spread_of(sorted(self.newest(cadence, thresholds))) < self._tight(usual, noise, thresholds)

    def newest(self, cadence: float, thresholds: Thresholds) -> tuple[float, ...]:
        """Return as many of the newest rates as are needed to prove a steady level."""
        count = max(thresholds.steady_samples, min(_KEPT_RATES, int(thresholds.steady / cadence) - 1))
        return self.rates[-count:]

    def has_lasted(self, time: float, seconds: float, thresholds: Thresholds) -> bool:
        """Return whether the excursion has lasted for `seconds` and has enough samples to show its level."""
        is_known = len(self.rates) >= _LEAST_RATES and self.samples >= thresholds.steady_samples
        return is_known and time - self.began >= seconds

    @staticmethod
    def _tight(usual: float, noise: float, thresholds: Thresholds) -> float:
        return max(thresholds.steady_spread, _TIGHT_NOISES * noise / usual) if usual else thresholds.steady_spread


_copy_fps, _copy_video = copier(FpsExcursion), copier(VideoExcursion)


def is_out(video: float, usual: float, noise: float, thresholds: Thresholds) -> bool:
    """Return whether a sample of a constant video rate lies outside the usual level."""
    return abs(video - usual) > thresholds.out_video * usual + _NOISES * noise
