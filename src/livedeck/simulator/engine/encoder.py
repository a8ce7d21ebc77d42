"""Encoder of an event: its signal as a pure function of seed, time and shape, and its states over time."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from math import floor, inf, sin
from struct import Struct
from typing import NamedTuple

from livedeck.simulator.engine.clock import format_epoch
from livedeck.simulator.engine.measured import MAX_SAMPLES, MeasuredSamples, Sample

OK, UNKNOWN, KEY_FRAME, KEY_FRAME_SEVERE, LOSS = 0, 1, 3, 4, 5

CADENCE = 2.0
"""Seconds between two samples."""


@dataclass(frozen=True, slots=True)
class Burst:
    """Fault that comes and goes: in each `period` of seconds, with probability `chance`, for `duration` seconds.

    `video`, `audio` and `fps` are the shares that remain during the burst.
    """

    period: float
    chance: float
    duration: float
    status: int = OK
    video: float = 1.0
    audio: float = 1.0
    fps: float = 1.0


@dataclass(frozen=True, slots=True)
class Shape:
    """Behaviour of an encoder: rates in bit/s and frames/s, their noise, and its faults.

    `noise` is a share of the video rate, `jitter` a number of frames. `ramp`: seconds from the first packet to the full
    rate. `connected`, `disconnected`: seconds of each state, alternating.
    """

    video: float = 4_500_000
    audio: float = 128_000
    fps: float = 30
    noise: float = 0.015
    jitter: float = 1.04
    ramp: float = 0
    connected: float = inf
    disconnected: float = 0
    bursts: tuple[Burst, ...] = ()


_DIP = Burst(period=240, chance=0.6, duration=4, video=0.86)

SHAPES = {
    "clean": Shape(bursts=(_DIP,)),
    "warm-up": Shape(ramp=24, bursts=(_DIP,)),
    "interrupted": Shape(connected=593, disconnected=307, bursts=(_DIP,)),
    "keyframe-drift": Shape(
        bursts=(
            Burst(period=80, chance=0.85, duration=58, status=KEY_FRAME),
            Burst(period=50, chance=0.7, duration=14, status=KEY_FRAME_SEVERE),
        )
    ),
    "packet-loss": Shape(
        noise=0.03,
        bursts=(
            Burst(period=26, chance=0.8, duration=9, status=LOSS, video=0.52, audio=0.78, fps=0.72),
            Burst(period=110, chance=0.5, duration=24, status=LOSS, video=0.7, audio=0.88, fps=0.84),
        ),
    ),
    "encoder-overload": Shape(
        video=4_380_000,
        fps=22.6,
        noise=0.025,
        jitter=1.6,
        bursts=(Burst(period=70, chance=0.6, duration=4, status=LOSS, video=0.95),),
    ),
    "overloaded": Shape(
        *(4_380_000, 128_000, 22.6),
        noise=0.025,
        jitter=1.6,
        bursts=(Burst(period=40, chance=1, duration=4, status=LOSS, video=0.95),),
    ),
    "keyframe-loose": Shape(bursts=(Burst(period=80, chance=1, duration=58, status=KEY_FRAME),)),
    "keyframe-severe": Shape(
        bursts=(
            Burst(period=80, chance=1, duration=58, status=KEY_FRAME),
            Burst(period=50, chance=1, duration=14, status=KEY_FRAME_SEVERE),
        )
    ),
    "ghost": Shape(video=0, audio=0, fps=0, jitter=0),
    "variable": Shape(noise=0.13),
    "static-picture": Shape(video=1_300_000, noise=0.13),
    "starvation": Shape(video=1_700_000, audio=96_000, fps=26),
    "bitrate-cliff": Shape(video=2_900_000),
    "video-low": Shape(video=2_900_000, audio=92_000),
    "frozen-picture": Shape(video=120_000),
    "loss-bursts": Shape(
        bursts=(Burst(period=50, chance=1, duration=4, status=LOSS, video=0.8, audio=0.95, fps=0.95),)
    ),
    "sustained-loss": Shape(
        bursts=(Burst(period=10, chance=1, duration=10, status=LOSS, video=0.85, audio=0.95, fps=0.98),)
    ),
    "fps-halving": Shape(fps=15),
    "fps-low": Shape(fps=27),
    "audio-lost": Shape(audio=0),
    "audio-low": Shape(audio=20_000),
    "audio-high": Shape(audio=400_000),
    "unstable-rate": Shape(bursts=(Burst(period=30, chance=1, duration=12, video=0.5),)),
    "unknown-status": Shape(bursts=(Burst(period=10, chance=1, duration=10, status=UNKNOWN),)),
    "silent": Shape(connected=0, disconnected=1),
    "camera-lost": Shape(video=30_000, fps=0, jitter=0),
}
"""Name of a shape -> its behaviour."""


def qos(seed: int, t: float, shape: Shape) -> Sample | None:
    """Return the sample `t` seconds after the shape began, or None while the encoder is disconnected."""
    if t % (shape.connected + shape.disconnected) >= shape.connected:
        return None
    first, second, third, depth = _random_numbers(seed, 0, int(t * 1000))
    status, video, audio, fps = _apply_bursts(seed, t, shape.bursts, 0.92 + 0.16 * depth)
    ramp = min(1.0, t / shape.ramp) if shape.ramp else 1.0
    noise = 1 + shape.noise * (sin(t / 41 + seed % 7) + first + second - 1)
    return Sample(
        video=round(shape.video * noise * video * (0.12 + 0.88 * ramp)),
        audio=round(shape.audio * (0.992 + 0.016 * third) * audio),
        fps=round((shape.fps + (second - 0.5) * shape.jitter) * fps * (0.5 + 0.5 * ramp)),
        status=status,
    )


def _apply_bursts(seed: int, t: float, bursts: tuple[Burst, ...], depth: float) -> tuple[int, float, float, float]:
    """Return the worst status of the bursts active at `t`, and the share of video, audio and frames that remains."""
    status, video, audio, fps = OK, 1.0, 1.0, 1.0
    for salt, burst in enumerate(bursts, 1):
        if _is_active(seed, salt, t, burst):
            status = max(status, burst.status)
            video, audio, fps = min(video, burst.video), min(audio, burst.audio), min(fps, burst.fps)
    return status, _scaled(video, depth), _scaled(audio, depth), _scaled(fps, depth)


def _scaled(left: float, depth: float) -> float:
    return 1.0 if left == 1.0 else min(1.0, left * depth)


def _is_active(seed: int, salt: int, t: float, burst: Burst) -> bool:
    block, offset = divmod(t, burst.period)
    chance, position, _, _ = _random_numbers(seed, salt, int(block))
    start = position * (burst.period - burst.duration)
    return chance < burst.chance and start <= offset < start + burst.duration


_KEY = Struct("<Qqq")
_NUMBERS = Struct("<4I")


def _random_numbers(seed: int, salt: int, index: int) -> tuple[float, float, float, float]:
    """Return four numbers from 0 to 1 that depend on the arguments only."""
    digest = blake2b(_KEY.pack(seed & 0xFFFF_FFFF_FFFF_FFFF, salt, index), digest_size=16).digest()
    a, b, c, d = _NUMBERS.unpack(digest)
    return a / 2**32, b / 2**32, c / 2**32, d / 2**32


MEASURED = "measured"
"""Shape of a real encoder: its samples are measured by the ingest and stored."""

RECORDED = "recorded"
"""Shape of an encoder in a recording: its samples are stored, and the recording says when the stream is live."""


class EncoderState(NamedTuple):
    """Encoder from just after `at` (epoch seconds) on: its shape (or `MEASURED`, `RECORDED`), and whether it sends."""

    at: float
    shape: str
    sending: bool = True


EncoderStates = tuple[EncoderState, ...]
"""States of an encoder, ascending."""


def encoder_states(rows: Iterable[Iterable[object]]) -> EncoderStates:
    """Return the states from their stored form, a list of lists."""
    return tuple(EncoderState(*row) for row in rows)  # type: ignore[arg-type]


def change_state(states: EncoderStates, state: EncoderState) -> EncoderStates:
    """Return the states after a change: earlier states stay, later ones are dropped."""
    return (*(earlier for earlier in states if earlier.at < state.at), state)


def first_sent_at(states: EncoderStates, now: float) -> float | None:
    """Return the time of the first sending state up to `now`, or None. Recorded streams do not count."""
    sending = (state.at for state in states if state.sending and state.shape != RECORDED)
    return next((at for at in sending if at <= now), None)


def current_state(states: EncoderStates, now: float) -> EncoderState | None:
    """Return the state at `now`, or None before the first."""
    return next((state for state in reversed(states) if state.at <= now), None)


@dataclass(slots=True)
class _SampleCache:
    """Encoded samples of one stream up to the tick `until`. Valid only for these `states` of its encoder."""

    states: EncoderStates
    until: int | None = None
    samples: deque[bytes] = field(default_factory=lambda: deque(maxlen=MAX_SAMPLES))


class Encoders:
    """Samples of every stream as JSON. `cadence`: seconds between samples; sample times are multiples of it.

    `measured`: the samples of real encoders.
    """

    def __init__(self, cadence: float, measured: MeasuredSamples) -> None:
        self.cadence = cadence
        self.shapes: Mapping[str, Shape] = SHAPES
        self.measured = measured
        self._caches: dict[str, _SampleCache] = {}

    def encode_samples(self, stream: str, seed: int, states: EncoderStates, now: float) -> bytes:
        """Return the last samples up to `now`, ascending, joined by commas."""
        until = floor(now / self.cadence)
        current = current_state(states, now)
        if current is not None and current.shape == MEASURED:  # a sample is stored a little after its time
            until = min(until, max(self.measured.last_tick(stream), floor(current.at / self.cadence)))
        cache = self._caches.get(stream)
        if cache is None or cache.states != states or cache.until is None or cache.until > until:
            cache = self._caches[stream] = _SampleCache(states)
        newest_first = [*islice(self._newest_first(stream, seed, states, cache.until, until), MAX_SAMPLES)]
        cache.samples.extend(reversed(newest_first))
        cache.until = until
        return b",".join(cache.samples)

    def use(self, shapes: Mapping[str, Shape]) -> None:
        """Add `shapes` to the shipped ones, and drop the cached samples."""
        self.shapes = {**SHAPES, **shapes}
        self._caches.clear()

    def clear(self) -> None:
        """Drop the cached and the measured samples."""
        self._caches.clear()
        self.measured.clear()

    def _newest_first(
        self, stream: str, seed: int, states: EncoderStates, after: int | None, until: int
    ) -> Iterator[bytes]:
        for ticks, state in _sending_ticks(states, self.cadence, after, until):
            if state.shape == MEASURED:
                for tick, sample in self.measured.newest_first(stream, ticks):
                    yield _json(tick * self.cadence, *sample)
                continue
            if state.shape == RECORDED:
                first, last = (ticks.start - 1) * self.cadence, (ticks.stop - 1) * self.cadence
                for at, values in self.measured.recorded(stream, first, last):
                    yield _json(at, *map(_number, values))
                continue
            for tick in reversed(ticks):
                at = tick * self.cadence
                computed = qos(seed, at - state.at, self.shapes[state.shape])
                if computed is not None:
                    yield _json(at, *computed)


def _sending_ticks(
    states: EncoderStates, cadence: float, after: int | None, until: int
) -> Iterator[tuple[range, EncoderState]]:
    """Yield the ticks in (after, until] at which the encoder sends, for each state; the newest state first."""
    for state in reversed(states):
        first = floor(state.at / cadence) + 1
        if state.sending:
            lowest = first if after is None else max(first, after + 1)
            yield range(lowest, until + 1), state
        until = min(until, first - 1)


def _json(at: float, video: object, audio: object, fps: object, status: object) -> bytes:
    return (
        f'{{"bitrate_video":{video},"bitrate_audio":{audio},"frame_rate":{fps},'
        f'"status":{status},"time":"{format_epoch(at)}"}}'
    ).encode()


def _number(value: float | None) -> str:
    return "null" if value is None else f"{value:.15g}"
