"""What is usual for a stream, learnt from the stream itself (monitoring.md, "Alarms")."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from livedeck.monitor.thresholds import Thresholds

NORMAL = 0
"""The QoS status of a sample with nothing to complain of (platform-api.md, 2)."""

SLOT = 20.0
"""Seconds of stream time after which what is usual is measured anew."""


class Usual(NamedTuple):
    """`video` and `audio` in bit/s, `fps` in frames/s; None where too little was seen to say.

    `spread`: of the video rate, as a share of it: half of what lies between the 16th and the 84th of 100 samples. It is
    the coefficient of variation where rates scatter evenly, and a burst or two do not move it.
    """

    video: float | None = None
    audio: float | None = None
    fps: float | None = None
    spread: float = 0.0


Lesson = tuple[float, float, tuple[float, ...], tuple[float, ...], tuple[float, ...]]
"""What the samples from the first time to the last (epoch s) teach: of video, audio and frames/s those rates that no
fault has spoilt, ascending. The times are those of the video rates alone; equal where there is none.

A plain tuple of numbers is none of the garbage collector's business; of objects there would be dozens an event.
"""


def usual(known: Usual, lessons: Sequence[Lesson], thresholds: Thresholds) -> Usual:
    """What is usual by these lessons, oldest first; what they are too few to tell stays as it was known."""
    fps = _nominal(_merged(fps for *_, fps in lessons), thresholds)
    known = known if fps is None else known._replace(fps=fps)
    told = [(first, last) for first, last, video, *_ in lessons if video]
    if not told or told[-1][1] - told[0][0] < thresholds.baseline_least:
        return known
    video, audio = _merged(video for _, _, video, *_ in lessons), _merged(audio for *_, audio, _ in lessons)
    middle = _at(video, 0.5)
    spread = (_at(video, 0.84) - _at(video, 0.16)) / 2 / middle if middle else 0.0  # sound alone
    return Usual(middle, _at(audio, 0.5) if audio else known.audio, known.fps, spread)


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
