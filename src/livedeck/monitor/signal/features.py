"""A sample in its context: the input of the alarm kinds."""

from __future__ import annotations

from typing import NamedTuple

from livedeck.monitor.signal.order import Step
from livedeck.monitor.signal.usual import Rates, Usual
from livedeck.text.values import age

NORMAL = 0
"""The QoS status of a good sample (monitoring.md, "QoS status")."""

KEY_DRIFT, KEY_SEVERE, LOSS = 3, 4, 5
"""The documented QoS statuses of a bad sample (monitoring.md, "QoS status")."""

VIDEO, AUDIO, FPS = "video", "audio", "fps"
"""The rates of a sample whose usual values are learnt."""


_SHORT, _MINUTE = 10.0, 60.0
"""Units in seconds to which a watched time is rounded down, so that the words do not change with each sample."""


class ProfileChange(NamedTuple):
    """A new usual level of `rate` (video or fps); the rate left the old level at `since` (epoch s).

    `is_known`: the level was usual before, so the change needs no notice.
    """

    rate: str
    before: float
    after: float
    since: float
    is_known: bool = False


class SampleFeatures(NamedTuple):
    """A sample in its context. `time` in epoch s, rates in bit/s, frames/s; a missing rate is NaN, a missing status -1.

    `step`: the step from the previous sample; `cadence`: seconds between samples. `is_warm`: the run of samples is long
    enough to be judged. `is_dark`: there is no moving picture, so the other picture rates mean nothing. `window`:
    median video, mean audio and mean frame rate of the newest seconds. `drift_hits`, `severe_hits`, `loss_hits`,
    `loss_hits_long`: number of samples with status 3 or 4, with 4, with 5, and with 5 again, each in its window.
    `is_heavy_loss`: loss has exceeded its share for long.

    `is_fps_low`: the frame rate is too far below the usual value. `is_fps_pending`: it may have been changed on
    purpose. `witnesses`: number of normally constant channels that show that the video rate is too low. `is_ragged`: a
    normally constant video rate is far down and unsteady; `ragged_since`: the start of this state, once it has lasted.
    `fps_charge`, `dip`: seconds of an excursion of the frame rate or the video rate that ends with this sample.
    `change`: the level that becomes usual with this sample, or None.

    `has_picture`, `has_sound`: whether any known sample of the stream had a picture, or sound. `known`: the watched
    seconds of a stream that lacks one of them; None if it was watched since its start. `may_be_silent`: it was, and
    neither it nor an earlier stream of the event ever had sound.

    `is_lossy`, `is_sound_short`: the witness that is loss, and the one that is the sound. `quiet_since`: start of near
    silence (epoch s), once it has lasted.
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
    known: float | None = None
    may_be_silent: bool = False
    is_lossy: bool = False
    is_sound_short: bool = False
    quiet_since: float | None = None

    @property
    def is_shortage(self) -> bool:
        """True if a low video rate would be a shortage: another channel suffers, or the rate is normally constant."""
        return self.usual.is_constant or self.witnesses > 0

    @property
    def known_words(self) -> str:
        """Words for the watched time, in which something was never seen: `since its first sample` if that is all."""
        if self.known is None:
            return "since its first sample"
        unit = _SHORT if self.known < _MINUTE else _MINUTE
        return f"in the {age(self.known - self.known % unit)} that are known"
