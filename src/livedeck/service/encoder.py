"""The encoder of an event: a timeline of turns, and the QoS samples that it makes.

Samples are computed, never stored. Their JSON is kept per stream, so that an answer costs the new ones and a join.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from math import floor
from typing import NamedTuple

from livedeck.service.clock import stamp_epoch
from livedeck.service.signal import SHAPES, Sample, qos

LIMIT = 3600
"""Samples in an answer, at most (decisions.md, "Responses not shown")."""


class Turn(NamedTuple):
    """From just after `at` (epoch seconds) the encoder sends that shape, or does not send."""

    at: float
    shape: str
    sending: bool = True


Timeline = tuple[Turn, ...]


def timeline(rows: Iterable[Iterable[object]]) -> Timeline:
    """A timeline out of its stored form, which is a list of lists."""
    return tuple(Turn(*row) for row in rows)  # type: ignore[arg-type]


def turned(turns: Timeline, turn: Turn) -> Timeline:
    """The timeline after a change: the past stays as it was, what was planned for later is gone."""
    return (*(earlier for earlier in turns if earlier.at < turn.at), turn)


def first_sent(turns: Timeline, now: float) -> float | None:
    """When the encoder first sent, or None where it has not yet."""
    return next((turn.at for turn in turns if turn.sending and turn.at <= now), None)


def current(turns: Timeline, now: float) -> Turn | None:
    """The turn that holds at `now`, or None before the first."""
    return next((turn for turn in reversed(turns) if turn.at <= now), None)


@dataclass(slots=True)
class _Track:
    """Encoded samples of one stream up to the tick `until`, good for just these turns."""

    turns: Timeline
    until: int | None = None
    samples: deque[bytes] = field(default_factory=lambda: deque(maxlen=LIMIT))


class Encoders:
    """The samples of every stream, as JSON. `cadence` is seconds between samples, which lie on its multiples."""

    def __init__(self, cadence: float) -> None:
        self.cadence = cadence
        self._tracks: dict[str, _Track] = {}

    def encoded(self, stream: str, seed: int, turns: Timeline, now: float) -> bytes:
        """The last samples up to `now`, ascending, joined by commas."""
        until = floor(now / self.cadence)
        track = self._tracks.get(stream)
        if track is None or track.turns != turns or track.until is None or track.until > until:
            track = self._tracks[stream] = _Track(turns)
        news = [*islice(self._newest_first(seed, turns, track.until, until), LIMIT)]
        track.samples.extend(reversed(news))
        track.until = until
        return b",".join(track.samples)

    def forget(self) -> None:
        """Drop what is kept: other streams come."""
        self._tracks.clear()

    def _newest_first(self, seed: int, turns: Timeline, after: int | None, until: int) -> Iterator[bytes]:
        for tick, turn in _ticks(turns, self.cadence, after, until):
            at = tick * self.cadence
            sample = qos(seed, at - turn.at, SHAPES[turn.shape])
            if sample is not None:
                yield _json(sample, at)


def _ticks(turns: Timeline, cadence: float, after: int | None, until: int) -> Iterator[tuple[int, Turn]]:
    """The ticks at which the encoder sends, in (after, until], newest first, each with the turn it falls in."""
    for turn in reversed(turns):
        begin = floor(turn.at / cadence) + 1
        if turn.sending:
            lowest = begin if after is None else max(begin, after + 1)
            yield from ((tick, turn) for tick in range(until, lowest - 1, -1))
        until = min(until, begin - 1)


def _json(sample: Sample, at: float) -> bytes:
    return (
        f'{{"bitrate_video":{sample.video},"bitrate_audio":{sample.audio},"frame_rate":{sample.fps},'
        f'"status":{sample.status},"time":"{stamp_epoch(at)}"}}'
    ).encode()
