"""Sample with its context, which the alarm kinds judge."""

from __future__ import annotations

from typing import NamedTuple

from livedeck.monitor.signal.order import Step
from livedeck.monitor.signal.usual import Rates, Usual
from livedeck.text.values import age

NORMAL = 0
"""QoS status of a good sample (monitoring.md, "QoS status")."""

KEY_DRIFT, KEY_SEVERE, LOSS = 3, 4, 5
"""Documented QoS statuses of a bad sample (monitoring.md, "QoS status")."""

VIDEO, AUDIO, FPS = "video", "audio", "fps"
"""Names of the rates with learnt usual values."""


_SHORT, _MINUTE = 10.0, 60.0
"""Watched time is rounded down to multiples of these seconds, so that its words do not change with each sample."""


class ProfileChange(NamedTuple):
    """Change of a rate to a new usual level. `rate`: `VIDEO` or `FPS`.

    `since`: time at which the rate left the old level (epoch s). `is_known`: the level was usual before, so the change
    needs no notice.
    """

    rate: str
    before: float
    after: float
    since: float
    is_known: bool = False


class SampleFeatures(NamedTuple):
    """Sample with its context. Times are epoch seconds; a missing rate is NaN, a missing status -1.

    Sample: `video`, `audio` in bit/s; `fps` in frames/s; `status`. `usual`: usual values. `step`: step from the
    previous sample. `cadence`: seconds between samples. `is_warm`: the run of samples is long enough to be judged.
    `is_dark`: there is no moving picture, so the other picture rates mean nothing. `window`: median video, mean audio
    and mean frame rate of the newest seconds.

    Status: `drift_hits`, `severe_hits`, `loss_hits`, `loss_hits_long`: number of samples with status 3 or 4, with 4,
    with 5, and with 5 in the longer window. `is_heavy_loss`: loss has exceeded its share for the hold.

    Levels: `is_fps_low`: the frame rate is too far below its usual value. `is_fps_pending`: the sender may have chosen
    it. `settled_fps`: steady rate below the usual one, with an alarm, or None. `witnesses`: number of signs that a low
    video rate is a shortage: frame rate, sound (`is_sound_short`), loss (`is_lossy`). `is_ragged`: a constant video
    rate is low and unsteady. `ragged_since`: start of this state after its hold, else None. `fps_charge`, `dip`:
    seconds of an excursion of the frame rate, or of a dip of the video rate, that ends with this sample. `change`:
    change to a level that becomes usual with this sample, or None.

    Stream: `has_picture`, `has_sound`: a received sample had a picture, or sound. `covered`: covered seconds of a
    stream without a picture or without sound so far. None for any other stream, or if it is covered since its start.
    `may_be_silent`: the stream is covered since its start, and neither this nor an earlier stream of the event had
    sound. `quiet_since`: start of near silence after its hold, else None.
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
    covered: float | None = None
    may_be_silent: bool = False
    is_lossy: bool = False
    is_sound_short: bool = False
    quiet_since: float | None = None
    settled_fps: float | None = None

    @property
    def is_shortage(self) -> bool:
        """True if a low video rate would be a shortage: the rate is normally constant, or a second signal fell too."""
        return self.usual.is_constant or self.witnesses > 0

    @property
    def covered_words(self) -> str:
        """Words for the covered time of the stream: `since its first sample`, or `in 05:00 of watched time`."""
        if self.covered is None:
            return "since its first sample"
        unit = _SHORT if self.covered < _MINUTE else _MINUTE
        return f"in {age(self.covered - self.covered % unit)} of watched time"
