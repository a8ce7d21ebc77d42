"""Comparison of a stream's rates with the usual values, and adoption of new levels (monitoring.md, "Change points")."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from livedeck.monitor.model.thresholds import Expectation, Thresholds
from livedeck.monitor.signal.duty import DutyCycle
from livedeck.monitor.signal.excursions import FpsExcursion, VideoExcursion, fps_tolerance, is_out
from livedeck.monitor.signal.features import AUDIO, FPS, VIDEO, ProfileChange
from livedeck.monitor.signal.usual import Rates, Usual, UsualMemory

_DIPS = 1.5
"""The mean frame rate of the newest seconds may lie below the usual rate by this multiple of an ordinary dip."""


class Standing(NamedTuple):
    """Result of judging a sample's rates, with the fields of SampleFeatures."""

    is_fps_low: bool = False
    witnesses: int = 0
    fps_charge: float = 0.0
    dip: float = 0.0
    change: ProfileChange | None = None
    is_lossy: bool = False
    is_sound_short: bool = False


class LevelSample(NamedTuple):
    """Sample whose rates are judged.

    `rates`: its rates; a missing rate has its previous value. `window`: combined rates of the newest seconds. `videos`:
    video rates of the samples in these seconds. `cadence`: seconds between samples. `is_lossy`: there was packet loss
    lately.
    """

    time: float
    rates: Rates
    window: Rates
    videos: tuple[float, ...]
    cadence: float
    is_lossy: bool


@dataclass(slots=True)
class Levels:
    """Usual values, and current excursions from them.

    `above`: time that a constant video rate was above its usual value. `sound_short_since`: start of the present low
    sound, a witness (epoch s); None without it.
    """

    usual: UsualMemory = field(default_factory=UsualMemory)
    fps_away: FpsExcursion | None = None
    video_away: VideoExcursion | None = None
    above: DutyCycle = field(default_factory=DutyCycle)
    sound_short_since: float | None = None

    def copy(self) -> Levels:
        return Levels(
            self.usual.copy(),
            self.fps_away and self.fps_away.copy(),
            self.video_away and self.video_away.copy(),
            self.above.copy(),
            self.sound_short_since,
        )

    def start_run(self) -> None:
        """Drop the current excursions after a silence."""
        self.usual.start_run()
        self.fps_away = self.video_away = self.sound_short_since = None

    @property
    def is_fps_pending(self) -> bool:
        """True if the sender may have chosen the new frame rate."""
        return self.fps_away is not None and self.fps_away.is_pending

    @property
    def settled_fps(self) -> float | None:
        """Steady frame rate below the usual one, with an alarm (frames/s); None without one."""
        return None if self.fps_away is None else self.fps_away.settled

    def held(self, time: float, thresholds: Thresholds) -> frozenset[str]:
        """Return the rates that are in an excursion, so that their usual values are not learnt from them now.

        Audio is held for at most `dirty` seconds of an excursion.
        """
        held = {FPS} if self.fps_away else set()
        if self.video_away or self.is_fps_pending:
            held.add(VIDEO)
        if self.sound_short_since is not None and time - self.sound_short_since < thresholds.dirty:
            held.add(AUDIO)
        return frozenset(held)

    def add_sample(self, sample: LevelSample, thresholds: Thresholds) -> Standing:
        """Judge the rates of the next sample, and update the excursions and usual values."""
        fps_charge, fps_change = self._follow_fps(sample, thresholds)
        usual = self.usual.usual
        is_fps_low = _is_fps_low(sample, usual, thresholds) and not self.is_fps_pending
        is_sound_short = _is_sound_short(sample.window.audio, usual, thresholds)
        if not is_sound_short:
            self.sound_short_since = None
        elif self.sound_short_since is None:
            self.sound_short_since = sample.time
        settled = self.settled_fps
        is_witness = is_fps_low and (settled is None or _is_fps_low(sample, usual._replace(fps=settled), thresholds))
        witnesses = is_witness + is_sound_short + sample.is_lossy
        dip, video_change = self._follow_video(sample, witnesses, thresholds)
        if video_change is not None and (profile := self._follow_profile(video_change, sample, thresholds)):
            fps_change, is_fps_low = profile, False
        return Standing(
            is_fps_low, witnesses, fps_charge, dip, fps_change or video_change, sample.is_lossy, is_sound_short
        )

    def take_as_usual(self, window: Rates, videos: tuple[float, ...], time: float, thresholds: Thresholds) -> None:
        """Make the current rates the usual values, because a person decided so."""
        if videos:
            self.usual.accept_fps(window.fps)
            self.usual.accept_audio(window.audio, thresholds)
            self.usual.accept_video(videos, time, thresholds, is_sure=True)
            self.usual.waive_floor()
        self.fps_away = self.video_away = None

    def _follow_fps(self, sample: LevelSample, thresholds: Thresholds) -> tuple[float, ProfileChange | None]:
        """Return the bad seconds of an excursion that ends with this sample, and a change of the usual frame rate."""
        usual, fps, away = self.usual.usual, sample.rates.fps, self.fps_away
        if usual.fps is None or usual.is_variable_fps:
            self.fps_away = None
            return 0.0, None
        is_away = abs(fps - usual.fps) > fps_tolerance(usual.fps, thresholds)
        if away is None and not is_away:
            return 0.0, None
        if Expectation.FRAMES not in thresholds.content.expectations:
            self.fps_away = None
            return 0.0, None
        if away is None:
            away = self.fps_away = FpsExcursion(sample.time, fps, fps, sample.time, sample.time)
        if not is_away:
            return self._return_fps(away, usual.fps, sample.cadence), None
        away.add_away(sample.time, fps, is_lossy=sample.is_lossy)
        away.settle(fps, usual.fps, self.usual.levels, thresholds)
        accepted = away.accepted(sample.time, thresholds)
        if accepted is None:
            return 0.0, None
        change = self._accept_fps(away, usual.fps, accepted)
        if self.video_away is None and usual.video is not None:
            self.usual.accept_video(sample.videos, sample.time, thresholds, is_sure=True)
        return 0.0, change

    def _follow_profile(
        self, video: ProfileChange, sample: LevelSample, thresholds: Thresholds
    ) -> ProfileChange | None:
        """Return a change to a slow frame rate if the video rate fell with it: both are a new profile."""
        away, usual = self.fps_away, self.usual.usual.fps
        if away is None or away.settled is None or usual is None or not away.is_clean_slow:
            return None
        is_together = abs(video.since - away.began) <= max(thresholds.window, sample.cadence)
        is_tidy = sample.time - video.since < thresholds.dirty
        is_profile = is_together and is_tidy and video.after < video.before
        return self._accept_fps(away, usual, away.settled) if is_profile else None

    def _accept_fps(self, away: FpsExcursion, before: float, after: float) -> ProfileChange:
        self.fps_away = None
        self.usual.accept_fps(after)
        return ProfileChange(FPS, before, after, away.began)

    def _return_fps(self, away: FpsExcursion, usual: float, cadence: float) -> float:
        """Return the bad seconds of an excursion that ends with this sample; 0 if no seconds count.

        They count if the excursion was pending and low: its rate has ended, so the sender had not chosen it.
        """
        if not away.add_back():
            return 0.0
        self.fps_away = None
        is_charged = away.is_pending and away.high < usual
        return away.last_away - away.began + cadence if is_charged else 0.0

    def _follow_video(
        self, sample: LevelSample, witnesses: int, thresholds: Thresholds
    ) -> tuple[float, ProfileChange | None]:
        """Return the seconds of a dip that ends with this sample, and a change of the usual video rate."""
        usual, time, video = self.usual.usual, sample.time, sample.rates.video
        if not usual.is_constant or usual.video is None:
            self.video_away = None
            return 0.0, None
        away = self.video_away
        if not is_out(video, usual.video, usual.noise, thresholds):
            self.above.add_good(time)
            if away is None or not away.add_back():
                return 0.0, None
            self.video_away = None
            return away.dip_seconds(time, sample.cadence, thresholds), None
        if away is None:
            away = self.video_away = VideoExcursion(time)
        away.add_away(video, usual.video, thresholds)
        away.judge(time, sample.window.video, usual.video, usual.noise, thresholds)
        self._note_above(sample, usual.video, witnesses, thresholds)
        if witnesses or self.is_fps_pending:
            return 0.0, None
        return 0.0, self._accept_video(away, sample, thresholds)

    def _note_above(self, sample: LevelSample, usual: float, witnesses: int, thresholds: Thresholds) -> None:
        """Count time above the usual video rate. Enough of this time proves a variable rate: no fault adds bits."""
        if sample.rates.video < usual or witnesses:
            self.above.add_good(sample.time)
            return
        self.above.add_bad(sample.time, sample.cadence, thresholds.above_duty)
        if self.above.is_raised:
            self.usual.show_variable(sample.time, thresholds)

    def _accept_video(self, away: VideoExcursion, sample: LevelSample, thresholds: Thresholds) -> ProfileChange | None:
        usual = self.usual.usual
        assert usual.video is not None, "a constant rate is known"
        is_still = Expectation.MOTION in thresholds.content.expectations and (
            sample.window.video < thresholds.still_video * usual.video
        )
        if not away.has_lasted(sample.time, thresholds.still_usual if is_still else thresholds.steady, thresholds):
            return None
        is_steady = away.is_steady(usual.video, usual.noise, sample.cadence, thresholds)
        if not is_steady and not away.has_lasted(sample.time, thresholds.dirty, thresholds):
            return None
        rates = away.newest(sample.cadence, thresholds)
        is_new = self.usual.accept_video(rates, sample.time, thresholds, is_sure=is_steady)
        self.usual.note_step(sample.time, thresholds)
        if not is_steady:
            self.usual.show_variable(sample.time, thresholds)
        self.video_away = None
        after = self.usual.usual.video or 0.0
        return ProfileChange(VIDEO, usual.video, after, away.began, is_known=not is_new)


def fps_slack(usual: float, thresholds: Thresholds) -> float:
    """Return the largest distance below the usual frame rate (frames/s) that is no fault."""
    if usual < thresholds.slow_fps:
        return thresholds.slow_fps_frames
    return max(thresholds.low_fps_frames, thresholds.low_fps * usual)


def low_fps_slack(usual: Usual, thresholds: Thresholds) -> float:
    """Return how far (frames/s) the mean may lie below the usual frame rate: more for an encoder that often dips."""
    return max(fps_slack(usual.fps or 0.0, thresholds), _DIPS * usual.fps_dip)


def _is_fps_low(sample: LevelSample, usual: Usual, thresholds: Thresholds) -> bool:
    if usual.fps is None or usual.is_variable_fps or sample.window.fps >= usual.fps:
        return False
    slack = low_fps_slack(usual, thresholds)
    is_low = sample.window.fps < usual.fps - slack and sample.rates.fps < usual.fps - slack / 2
    return is_low and Expectation.FRAMES in thresholds.content.expectations


def _is_sound_short(audio: float, usual: Usual, thresholds: Thresholds) -> bool:
    """Return whether a normally constant audio rate has fallen. Silence does not count as fallen."""
    if usual.audio is None or not usual.is_witness:
        return False
    is_short = 0 < audio < min(thresholds.witness_share * usual.audio, thresholds.witness_low * usual.audio_low)
    return is_short and Expectation.SOUND in thresholds.content.expectations
