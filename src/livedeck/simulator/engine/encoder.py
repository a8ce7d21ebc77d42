"""The encoder of an event: what it sends as a pure function of seed, time and shape, and its timeline of states."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from math import floor, inf, sin
from struct import Struct
from typing import NamedTuple

from livedeck.simulator.engine.clock import stamp_epoch

OK, KEY_FRAME, KEY_FRAME_SEVERE, LOSS = 0, 3, 4, 5


class Sample(NamedTuple):
    """Bits per second, bits per second, frames per second, QoS status."""

    video: int
    audio: int
    fps: int
    status: int


@dataclass(frozen=True, slots=True)
class Burst:
    """A fault that comes and goes: in each block of `every` seconds, with that `chance`, for `lasts` seconds.

    `video`, `audio` and `fps` are what is left of each while it lasts, as a share.
    """

    every: float
    chance: float
    lasts: float
    status: int = OK
    video: float = 1.0
    audio: float = 1.0
    fps: float = 1.0


@dataclass(frozen=True, slots=True)
class Shape:
    """How an encoder behaves: rates in bit/s and frames/s, their noise as a share or in frames, and its faults.

    `ramp`: seconds from the first packet to the full rate. `sends`, `away`: seconds on and off, in turn.
    """

    video: float = 4_500_000
    audio: float = 128_000
    fps: float = 30
    noise: float = 0.015
    jitter: float = 1.04
    ramp: float = 0
    sends: float = inf
    away: float = 0
    bursts: tuple[Burst, ...] = ()


_DIP = Burst(every=240, chance=0.6, lasts=4, video=0.86)


SHAPES = {
    "clean": Shape(bursts=(_DIP,)),
    "warm-up": Shape(ramp=24, bursts=(_DIP,)),
    "interrupted": Shape(sends=593, away=307, bursts=(_DIP,)),
    "keyframe-drift": Shape(
        bursts=(
            Burst(every=80, chance=0.85, lasts=58, status=KEY_FRAME),
            Burst(every=50, chance=0.7, lasts=14, status=KEY_FRAME_SEVERE),
        ),
    ),
    "packet-loss": Shape(
        noise=0.03,
        bursts=(
            Burst(every=26, chance=0.8, lasts=9, status=LOSS, video=0.52, audio=0.78, fps=0.72),
            Burst(every=110, chance=0.5, lasts=24, status=LOSS, video=0.7, audio=0.88, fps=0.84),
        ),
    ),
    "encoder-overload": Shape(
        video=4_380_000,
        fps=22.6,
        noise=0.025,
        jitter=1.6,
        bursts=(Burst(every=70, chance=0.6, lasts=4, status=LOSS, video=0.95),),
    ),
    "overloaded": Shape(
        *(4_380_000, 128_000, 22.6),
        noise=0.025,
        jitter=1.6,
        bursts=(Burst(every=40, chance=1, lasts=4, status=LOSS, video=0.95),),
    ),
    "keyframe-loose": Shape(bursts=(Burst(every=80, chance=1, lasts=58, status=KEY_FRAME),)),
    "keyframe-severe": Shape(
        bursts=(
            Burst(every=80, chance=1, lasts=58, status=KEY_FRAME),
            Burst(every=50, chance=1, lasts=14, status=KEY_FRAME_SEVERE),
        ),
    ),
    "ghost": Shape(video=0, audio=0, fps=0, jitter=0),
    "variable": Shape(noise=0.13),
    "static-picture": Shape(video=1_300_000, noise=0.13),
    "starvation": Shape(video=1_700_000, audio=96_000, fps=26),
    "bitrate-cliff": Shape(video=2_900_000),
    "loss-bursts": Shape(bursts=(Burst(every=50, chance=1, lasts=4, status=LOSS, video=0.8, audio=0.95, fps=0.95),)),
    "sustained-loss": Shape(
        bursts=(Burst(every=10, chance=1, lasts=10, status=LOSS, video=0.85, audio=0.95, fps=0.98),)
    ),
    "fps-halving": Shape(fps=15),
    "audio-lost": Shape(audio=0),
    "camera-lost": Shape(video=30_000, fps=0, jitter=0),
}

"""The named behaviours; scenarios may bring their own."""


def qos(seed: int, t: float, shape: Shape) -> Sample | None:
    """What is measured `t` seconds after the shape began, or None while the encoder is away."""
    if t % (shape.sends + shape.away) >= shape.sends:
        return None
    first, second, third, depth = _draws(seed, 0, int(t * 1000))
    status, video, audio, fps = _pull(seed, t, shape.bursts, 0.92 + 0.16 * depth)
    rise = min(1.0, t / shape.ramp) if shape.ramp else 1.0
    sway = 1 + shape.noise * (sin(t / 41 + seed % 7) + first + second - 1)
    return Sample(
        video=round(shape.video * sway * video * (0.12 + 0.88 * rise)),
        audio=round(shape.audio * (0.992 + 0.016 * third) * audio),
        fps=round((shape.fps + (second - 0.5) * shape.jitter) * fps * (0.5 + 0.5 * rise)),
        status=status,
    )


def _pull(seed: int, t: float, bursts: tuple[Burst, ...], depth: float) -> tuple[int, float, float, float]:
    """The bursts that strike at `t`, together: the worst status, and what is left of video, audio and frames."""
    status, video, audio, fps = OK, 1.0, 1.0, 1.0
    for salt, burst in enumerate(bursts, 1):
        if _strikes(seed, salt, t, burst):
            status = max(status, burst.status)
            video, audio, fps = min(video, burst.video), min(audio, burst.audio), min(fps, burst.fps)
    return status, _scaled(video, depth), _scaled(audio, depth), _scaled(fps, depth)


def _scaled(left: float, depth: float) -> float:
    return 1.0 if left == 1.0 else min(1.0, left * depth)


def _strikes(seed: int, salt: int, t: float, burst: Burst) -> bool:
    block, into = divmod(t, burst.every)
    chance, place, _, _ = _draws(seed, salt, int(block))
    begins = place * (burst.every - burst.lasts)
    return chance < burst.chance and begins <= into < begins + burst.lasts


_KEY = Struct("<Qqq")

_FOUR = Struct("<4I")


def _draws(seed: int, salt: int, moment: int) -> tuple[float, float, float, float]:
    """Four numbers from 0 to 1 that are the same for the same question."""
    digest = blake2b(_KEY.pack(seed & 0xFFFF_FFFF_FFFF_FFFF, salt, moment), digest_size=16).digest()
    a, b, c, d = _FOUR.unpack(digest)
    return a / 2**32, b / 2**32, c / 2**32, d / 2**32


LIMIT = 3600

"""Samples in an answer, at most (decisions.md, "Responses not shown")."""


class EncoderState(NamedTuple):
    """From just after `at` (epoch seconds) the encoder sends that shape, or does not send."""

    at: float
    shape: str
    sending: bool = True


Timeline = tuple[EncoderState, ...]


def timeline(rows: Iterable[Iterable[object]]) -> Timeline:
    """A timeline out of its stored form, which is a list of lists."""
    return tuple(EncoderState(*row) for row in rows)  # type: ignore[arg-type]


def turned(turns: Timeline, turn: EncoderState) -> Timeline:
    """The timeline after a change: the past stays as it was, what was planned for later is gone."""
    return (*(earlier for earlier in turns if earlier.at < turn.at), turn)


def first_sent(turns: Timeline, now: float) -> float | None:
    """When the encoder first sent, or None where it has not yet."""
    return next((turn.at for turn in turns if turn.sending and turn.at <= now), None)


def current(turns: Timeline, now: float) -> EncoderState | None:
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


def _ticks(turns: Timeline, cadence: float, after: int | None, until: int) -> Iterator[tuple[int, EncoderState]]:
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
