"""A sample in its context: what the kinds of alarm are judged by."""

from __future__ import annotations

from typing import NamedTuple

from livedeck.monitor.signal.order import Step
from livedeck.monitor.signal.usual import Rates, Usual

NORMAL = 0
"""The QoS status of a sample with nothing to complain of (monitoring.md, "QoS status")."""

KEY_DRIFT, KEY_SEVERE, LOSS = 3, 4, 5
"""The documented complaints of a QoS sample (monitoring.md, "QoS status")."""

VIDEO, AUDIO, FPS = "video", "audio", "fps"
"""The rates of a sample that are learnt."""


class ProfileChange(NamedTuple):
    """A new level of `rate` (video or fps) is usual from now on; the one before was left at `since` (epoch s).

    `is_known`: it was usual before, so nobody needs to hear of it.
    """

    rate: str
    before: float
    after: float
    since: float
    is_known: bool = False


class SampleFeatures(NamedTuple):
    """A sample in its context. `time` in epoch s, rates in bit/s, frames/s; NaN is missing, status -1 is missing.

    `step`: how it follows the sample before; `cadence`: seconds between samples. `is_warm`: the run has lasted long
    enough to be judged. `is_dark`: no picture moves, so the other rates of the picture measure nothing. `window`:
    median video, mean audio and mean frame rate of the newest seconds. `drift_hits`, `severe_hits`, `loss_hits`,
    `loss_hits_long`: of the statuses 3 and 4, 4, and 5 in their windows. `is_heavy_loss`: the loss has stayed over its
    share.

    `is_fps_low`: under the usual by more than frames are counted. `is_fps_pending`: it may have been changed on
    purpose. `witnesses`: how many channels that were constant by habit testify that few bits are too few. `is_ragged`:
    a constant rate is far down and unsteady; `ragged_since`: for long, and since when. `fps_charge`, `dip`: seconds of
    a time away from the usual that is over with this sample. `change`: a new level is usual from this sample on.

    `has_picture`, `has_sound`: whether the stream ever had, as far as its samples are known.
    """

    time: float
    video: float
    audio: float
    fps: float
    status: int
    usual: Usual = Usual()
    step: Step = Step()
    cadence: float = 0.0
    is_warm: bool = True
    is_dark: bool = False
    window: Rates = Rates(0.0, 0.0, 0.0)
    drift_hits: int = 0
    severe_hits: int = 0
    loss_hits: int = 0
    loss_hits_long: int = 0
    is_heavy_loss: bool = False
    is_fps_low: bool = False
    is_fps_pending: bool = False
    witnesses: int = 0
    is_ragged: bool = False
    ragged_since: float | None = None
    fps_charge: float = 0.0
    dip: float = 0.0
    change: ProfileChange | None = None
    has_picture: bool = True
    has_sound: bool = True

    @property
    def is_shortage(self) -> bool:
        """Whether few bits would be a shortage: something else suffers, or the rate is constant by habit."""
        return self.usual.is_constant or self.witnesses > 0
