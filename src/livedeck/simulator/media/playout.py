"""Segments that an event has at a time: a pure function of the states of its encoder."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import NamedTuple

from livedeck.simulator.engine.encoder import MEASURED, EncoderState, EncoderStates, Shape
from livedeck.simulator.media.loops import SECONDS

DELAYS = {"standard": 4.0, "reduced": 1.0}
"""Seconds from the camera to the playlist, by the latency mode of an event."""


class Run(NamedTuple):
    """Segments without a gap: the number of the first, its time (epoch seconds), and the number after the last."""

    first: int
    begin: float
    end: int


@dataclass(frozen=True, slots=True)
class Playout:
    """Segments of an event so far, numbered from 0. A gap of the encoder separates two runs."""

    runs: Sequence[Run]

    @property
    def total(self) -> int:
        """Number of segments so far."""
        return self.runs[-1].end if self.runs else 0

    def time(self, number: int) -> float:
        """Return the time at which the encoder sent the beginning of a segment."""
        run = self.runs[self.run(number)]
        return run.begin + (number - run.first) * SECONDS

    def run(self, number: int) -> int:
        """Return the index of the run of a segment."""
        return bisect_right(self.runs, number, key=lambda run: run.first) - 1


def playout(states: EncoderStates, shapes: Mapping[str, Shape], until: float) -> Playout:
    """Return the segments that the encoder had sent completely before `until` (epoch seconds)."""
    runs: list[Run] = []
    for begin, end in _joined(_spans(states, shapes, until)):
        count = int((end - begin) // SECONDS)
        if count > 0:
            first = runs[-1].end if runs else 0
            runs.append(Run(first, begin, first + count))
    return Playout(runs)


def _spans(states: EncoderStates, shapes: Mapping[str, Shape], until: float) -> Iterator[tuple[float, float]]:
    """Yield the times in which the encoder sends something."""
    for state, following in pairwise([*states, EncoderState(inf, "", sending=False)]):
        end = min(following.at, until)
        shape = Shape() if state.shape == MEASURED else shapes[state.shape]
        if not state.sending or not shape.connected or not (shape.video or shape.audio):
            continue
        begin = state.at
        while begin < end:
            yield begin, min(begin + shape.connected, end)
            begin += shape.connected + shape.disconnected


def _joined(spans: Iterator[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the spans, with adjacent ones joined."""
    joined: list[tuple[float, float]] = []
    for begin, end in spans:
        if joined and joined[-1][1] == begin:
            begin = joined.pop()[0]  # noqa: PLW2901  the longer span takes the place of both
        joined.append((begin, end))
    return joined
