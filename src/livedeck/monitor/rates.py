"""What one sample shows, beside what came before it. Pure."""

from __future__ import annotations

from typing import NamedTuple

from livedeck.monitor.baseline import Usual


class Seen(NamedTuple):
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
    usual: Usual
    dark: bool
    short: bool
    drift: int
    severe: int
    loss: int
    heavy: bool
    bursts: int
    cv: float
