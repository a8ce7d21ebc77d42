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


class Lesson(NamedTuple):
    """What the samples from `first` to `last` (epoch s) teach: of each rate those that no fault has spoilt, ascending.

    `first` and `last` are those of the video rates alone; equal where there is none.
    """

    first: float
    last: float
    video: tuple[float, ...]
    audio: tuple[float, ...]
    fps: tuple[float, ...]


def usual(known: Usual, lessons: Sequence[Lesson], thresholds: Thresholds) -> Usual:
    """What is usual by these lessons, oldest first; what they are too few to tell stays as it was known."""
    fps = _nominal(_merged(lesson.fps for lesson in lessons), thresholds)
    known = known if fps is None else known._replace(fps=fps)
    told = [lesson for lesson in lessons if lesson.video]
    if not told or told[-1].last - told[0].first < thresholds.baseline_least:
        return known
    video, audio = _merged(lesson.video for lesson in told), _merged(lesson.audio for lesson in lessons)
    middle = _at(video, 0.5)
    spread = (_at(video, 0.84) - _at(video, 0.16)) / 2 / middle
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
