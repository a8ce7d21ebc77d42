"""Shows that an encoder might send and a platform deliver, by families: clean ones, and ones with a fault.

Each is made from a seed alone. They are no recordings: measurements with them compare detectors and promise no rate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import exp, inf, sin
from random import Random

from livedeck.monitor import Reading

HOUR, MINUTE = 3600.0, 60.0
FULL, SOUND = 4.5e6, 128e3
"""Bit/s of the usual picture and its sound."""

Curve = Callable[[float], float]
"""A value by the time of the stream (s)."""


@dataclass(frozen=True, slots=True)
class Source:
    """Samples of an event's encoder.

    `rows`: by seconds from the start of the stream. `arrivals`: when each can be polled.
    """

    rows: tuple[Reading, ...]
    arrivals: tuple[float, ...]
    presets: tuple[str, ...] = ("1080p",)
    profile: str = "show"


@dataclass(frozen=True, slots=True)
class Show:
    """A run. `opened`: when the deck is opened (s of the stream). `lasts`: end of the run (s of the stream).

    `onset`, `kinds`: start of the fault, and the kinds of alarm that show it; both empty if the show is clean.
    `struck`: places of the events on which an alarm is no false one. `is_split`: whether every other answer comes from
    a slower back end.
    """

    sources: tuple[Source, ...]
    lasts: float = HOUR
    opened: float = 90.0
    onset: float | None = None
    kinds: frozenset[str] = frozenset()
    struck: frozenset[int] = frozenset()
    is_split: bool = False


class Chance(Random):
    """Chance of one run. `opened`: when the deck is opened, at the start of the stream or in its midst (s)."""

    def __init__(self, family: str, seed: int) -> None:
        super().__init__(f"{family} {seed}")
        self.opened = (90.0, 600.0)[seed % 2]


class Maker:
    """Maker of the rows of one encoder, by curves. Without other curves, all rates are constant with a little noise."""

    def __init__(self, random: Chance, cadence: float = 2.0) -> None:
        self.random, self.cadence = random, cadence
        self.video: Curve = self.constant(FULL, 0.015)
        self.audio: Curve = self.constant(SOUND, 0.008)
        self.fps: Curve = lambda _: 30 + random.choice((-1, 0, 0, 0, 0, 0, 0, 1)) * 0.5
        self.status: Callable[[float], int] = lambda _: 0
        self.sends: Callable[[float], bool] = lambda _: True
        self.next: Callable[[], float] = lambda: cadence

    def constant(self, rate: float, noise: float) -> Curve:
        """Return a rate that scatters by the share `noise`."""
        return lambda _: max(0.0, rate * self.random.gauss(1, noise))

    def rows(self, lasts: float) -> tuple[Reading, ...]:
        """Return everything that is sent in the first `lasts` seconds."""
        rows, time = [], self.random.uniform(0, self.cadence)
        while time < lasts:
            if self.sends(time):
                rows.append(
                    Reading(time, self.video(time), self.audio(time), max(0.0, self.fps(time)), self.status(time))
                )
            time += self.next()
        return tuple(rows)

    def source(self, lasts: float = HOUR, lag: Curve | None = None, **fields: object) -> Source:
        """Return the sent samples, each delivered `lag` seconds late."""
        rows = self.rows(lasts)
        late = lag or (lambda _: self.random.uniform(0.3, 2.5))
        return Source(rows, tuple(row.time + late(row.time) for row in rows), **fields)  # type: ignore[arg-type]


def steps(random: Chance, lasts: float, least: float, most: float, level: Callable[[], float]) -> Curve:
    """Return a level that holds for `least` to `most` seconds, then another."""
    ends, levels, time = [0.0], [level()], 0.0
    while time < lasts:
        time += random.uniform(least, most)
        ends.append(time)
        levels.append(level())
    place = 0

    def curve(at: float) -> float:
        nonlocal place
        while place + 1 < len(ends) and ends[place + 1] <= at:
            place += 1
        return levels[place]

    return curve


def times(curve: Curve, other: Curve) -> Curve:
    """Return the product of two curves."""
    return lambda at: curve(at) * other(at)


def wandering(random: Chance, spread: float, minutes: float, cadence: float = 2.0) -> Curve:
    """Return a curve about 1 that goes up and down by the share `spread` within `minutes`."""
    level, keep = 0.0, exp(-cadence / (minutes * MINUTE))

    def curve(_: float) -> float:
        nonlocal level
        level = keep * level + random.gauss(0, spread * (1 - keep**2) ** 0.5)
        return exp(level)

    return curve


def alone(random: Chance, maker: Maker, **fields: object) -> Show:
    """Return a show of one event, an hour long."""
    opened = random.opened
    return Show((maker.source(HOUR, **fields),), opened=opened)  # type: ignore[arg-type]


# Clean families


def cbr(random: Chance) -> Show:
    return alone(random, Maker(random))


def cbr_sd15(random: Chance) -> Show:
    maker = Maker(random)
    maker.video = maker.constant(FULL, 0.15)
    return alone(random, maker)


def cbr_gop_beat(random: Chance) -> Show:
    """Return a show whose key frames fall into every other sample."""
    maker = Maker(random)
    noise = maker.constant(FULL, 0.01)
    maker.video = lambda at: noise(at) * (1.07 if int(at / 2) % 2 else 0.93)
    return alone(random, maker)


def cbr_no_filler(random: Chance) -> Show:
    """Return a show with a capped rate: flat at the cap in motion, lower by the bits that a slide saves."""
    maker = Maker(random)
    flat = maker.constant(FULL, 0.02)
    share = steps(random, HOUR, 15, 150, lambda: random.uniform(0.25, 0.8) if random.random() < 0.35 else 1.0)
    maker.video = times(share, flat)
    return alone(random, maker)


def vbr_wander(random: Chance) -> Show:
    maker = Maker(random)
    maker.video = times(wandering(random, 0.25, 1.5), maker.constant(4e6, 0.08))
    return alone(random, maker)


def vbr_scenes(random: Chance) -> Show:
    maker = Maker(random)
    scenes = steps(random, HOUR, 4, 45, lambda: random.uniform(1e6, 6e6))
    maker.video = times(scenes, maker.constant(1, 0.1))
    return alone(random, maker)


def vbr_long_scenes(random: Chance) -> Show:
    maker = Maker(random)
    scenes = steps(random, HOUR, 120, 480, lambda: random.uniform(1.8e6, 6e6))
    maker.video = times(scenes, maker.constant(1, 0.07))
    return alone(random, maker)


def vbr_real(random: Chance) -> Show:
    """Return a show with scenes of all lengths under a cap, with bursts at cuts."""
    maker = Maker(random)
    scenes = steps(random, HOUR, 2, 90, lambda: 3.2e6 * exp(random.gauss(0, 0.5)))
    maker.video = lambda at: min(6e6, scenes(at) * exp(random.gauss(0, 0.18)))
    return alone(random, maker)


def _share(random: Chance, profile: str) -> Show:
    maker = Maker(random)
    motion = steps(random, HOUR, 3, 40, lambda: random.choice((0.06, 0.1, 0.2, 0.6, 1.0)))
    maker.video = times(motion, maker.constant(2.5e6, 0.3))
    maker.fps = lambda at: min(30.0, 30 * motion(at) * random.uniform(0.5, 1.4) + 1)
    return alone(random, maker, profile=profile)


def share_vfr(random: Chance) -> Show:
    return _share(random, "share")


def share_vfr_no_profile(random: Chance) -> Show:
    return _share(random, "show")


def _slides(random: Chance, profile: str) -> Show:
    maker = Maker(random)
    turned = steps(random, HOUR, 20, 90, lambda: random.uniform(1.8e6, 4e6))
    last = [0.0]

    def video(at: float) -> float:
        is_new, last[0] = turned(at) != last[0], turned(at)
        return turned(at) if is_new else random.uniform(0.7e6, 1.1e6)

    maker.video = video
    maker.audio = times(wandering(random, 0.2, 0.3), maker.constant(96e3, 0.1))
    return alone(random, maker, profile=profile)


def slides_audio_vbr(random: Chance) -> Show:
    return _slides(random, "slides")


def slides_no_profile(random: Chance) -> Show:
    return _slides(random, "show")


def odd_fps(random: Chance) -> Show:
    maker, rate = Maker(random), random.choice((12.0, 15.0, 20.0, 23.0))
    maker.fps = lambda _: rate + random.choice((-0.5, 0, 0, 0, 0.5))
    return alone(random, maker)


def fps_23976(random: Chance) -> Show:
    maker = Maker(random)
    maker.fps = lambda _: random.choice((23.0, 24.0, 24.0, 24.0, 24.0))
    return alone(random, maker)


def lag(random: Chance) -> Show:
    late = random.choice((20.0, 40.0))
    maker = Maker(random)
    return alone(random, maker, lag=lambda _: late + random.uniform(-1, 1))


def batch60(random: Chance) -> Show:
    maker = Maker(random)
    return alone(random, maker, lag=lambda at: 60.0 - at % 60.0 + 1.0)


def lag_wanders(random: Chance) -> Show:
    knots = [random.uniform(2, 25) for _ in range(32)]

    def delay(at: float) -> float:
        place, part = divmod(at / 120, 1)
        return knots[int(place)] * (1 - part) + knots[int(place) + 1] * part

    return alone(random, Maker(random), lag=delay)


def lag_jump_40(random: Chance) -> Show:
    return alone(random, Maker(random), lag=lambda at: 3.0 if at < 1800 else 40.0)


def cadence(random: Chance) -> Show:
    maker = Maker(random, random.choice((1.0, 5.0, 10.0, 30.0)))
    return alone(random, maker)


def irregular_cadence(random: Chance) -> Show:
    maker = Maker(random)
    maker.next = lambda: random.uniform(1, 5)
    return alone(random, maker)


def two_back_ends(random: Chance) -> Show:
    show = alone(random, Maker(random))
    return Show(show.sources, opened=show.opened, is_split=True)


def slate_then_show(random: Chance) -> Show:
    maker = Maker(random)
    slate = maker.constant(2e6, 0.01)
    scenes = times(steps(random, HOUR, 4, 60, lambda: random.uniform(1.5e6, 6e6)), maker.constant(1, 0.1))
    maker.video = lambda at: slate(at) if at < 900 else scenes(at)
    return alone(random, maker)


def interval_slate(random: Chance) -> Show:
    maker = Maker(random)
    slate = maker.constant(1.8e6, 0.01)
    scenes = times(steps(random, HOUR, 4, 60, lambda: random.uniform(1.5e6, 6e6)), maker.constant(1, 0.1))
    maker.video = lambda at: slate(at) if 1500 <= at < 2400 else scenes(at)
    return alone(random, maker)


def rare_blips(random: Chance) -> Show:
    """Return a show with rare single samples that have loss, a late key frame, or few bits."""
    maker = Maker(random)
    maker.status = lambda _: random.choices((0, 5, 3, 4), (1, 0.006, 0.008, 0.003))[0]
    noise = maker.video
    maker.video = lambda at: noise(at) * (random.uniform(0.3, 0.8) if random.random() < 0.004 else 1.0)
    return alone(random, maker)


def profile_change(random: Chance) -> Show:
    maker, at_half = Maker(random), random.random() < 0.5
    noise = maker.video
    maker.video = lambda at: noise(at) * (0.55 if at >= 1700 else 1.0)
    maker.fps = lambda at: (30 if at_half and at >= 1700 else 60 if at_half else 30) + random.choice((0, 0, 0.5))
    return alone(random, maker)


def three_profiles(random: Chance) -> Show:
    maker = Maker(random)
    levels = steps(random, HOUR, 800, 1000, iter([4.5e6, 2.4e6, 6e6, 4.5e6, 2.4e6, 6e6]).__next__)
    maker.video = times(levels, maker.constant(1, 0.015))
    return alone(random, maker)


def ramp_up(random: Chance) -> Show:
    maker = Maker(random)
    noise = maker.video
    maker.video = lambda at: noise(at) * min(1.0, 0.22 + at / 900)
    return alone(random, maker)


def start_quiet(random: Chance) -> Show:
    """Return a show with a waiting picture under the floor before it begins."""
    maker = Maker(random)
    quiet, noise = maker.constant(0.25e6, 0.03), maker.video
    maker.video = lambda at: quiet(at) if at < 420 else noise(at)
    return alone(random, maker)


def radio(random: Chance) -> Show:
    maker = Maker(random)
    maker.video = maker.fps = lambda _: 0.0
    return alone(random, maker, profile="radio")


def silent(random: Chance) -> Show:
    maker = Maker(random)
    maker.audio = lambda _: 0.0
    return alone(random, maker, profile="silent")


def he_aac_24k(random: Chance) -> Show:
    maker = Maker(random)
    maker.audio = maker.constant(24e3, 0.01)
    return alone(random, maker)


def _speech(random: Chance, maker: Maker) -> Curve:
    return times(wandering(random, 0.15, 0.2), maker.constant(96e3, 0.1))


def pauses(random: Chance) -> Show:
    """Return a show with an encoder that saves the sound's bits in pauses of speech."""
    maker = Maker(random)
    speech, length = _speech(random, maker), steps(random, HOUR, 40, 80, lambda: random.uniform(0, 35))
    since, newest = [0.0], [0.0]

    def audio(at: float) -> float:
        if length(at) != newest[0]:
            newest[0], since[0] = length(at), at
        return 1500.0 if at - since[0] < newest[0] else speech(at)

    maker.audio = audio
    return alone(random, maker)


def night_camera(random: Chance) -> Show:
    """Return a camera on a place where the lights go off: few bits, and half of the frames."""
    maker = Maker(random)
    day = times(wandering(random, 0.2, 1.5), maker.constant(3e6, 0.08))
    maker.video = lambda at: day(at) * (1.0 if at < 1800 else 0.06)
    return alone(random, maker, profile="camera")


def several(random: Chance, makers: Iterable[Maker], **fields: object) -> Show:
    """Return twenty minutes of several events."""
    sources = tuple(maker.source(20 * MINUTE, **fields) for maker in makers)  # type: ignore[arg-type]
    return Show(sources, lasts=20 * MINUTE, opened=random.opened / 2)


def independent_losses(random: Chance) -> Show:
    """Return a show in which each event loses a sample now and then, none with another."""
    makers = [Maker(random) for _ in range(6)]
    for maker in makers:
        maker.status = lambda _: 5 if random.random() < 0.004 else 0
        maker.sends = lambda _: random.random() > 0.004
    return several(random, makers)


def lag15_all(random: Chance) -> Show:
    return several(random, [Maker(random) for _ in range(5)], lag=lambda _: 15.0)


def lag40_all(random: Chance) -> Show:
    return several(random, [Maker(random) for _ in range(5)], lag=lambda _: 40.0)


def one_encoder_three_events(random: Chance) -> Show:
    """Return a show in which the encoder of three of five events is away for a minute, which is its own fault alone."""
    shared, others = Maker(random), [Maker(random) for _ in range(2)]
    shared.sends = lambda at: not 600 <= at < 660
    source = shared.source(20 * MINUTE)
    rest = tuple(maker.source(20 * MINUTE) for maker in others)
    return Show((source, source, source, *rest), lasts=20 * MINUTE, struck=frozenset({0, 1, 2}))


CLEAN: Mapping[str, Callable[[Chance], Show]] = {
    "cbr": cbr,
    "vbr-wander": vbr_wander,
    "vbr-scenes": vbr_scenes,
    "vbr-long-scenes": vbr_long_scenes,
    "cbr-no-filler": cbr_no_filler,
    "share-vfr": share_vfr,
    "share-vfr-no-profile": share_vfr_no_profile,
    "slides-audio-vbr": slides_audio_vbr,
    "slides-no-profile": slides_no_profile,
    "odd-fps": odd_fps,
    "lag": lag,
    "batch60": batch60,
    "cadence": cadence,
    "two-back-ends": two_back_ends,
    "cbr-gop-beat": cbr_gop_beat,
    "slate-then-vbr-show": slate_then_show,
    "interval-slate": interval_slate,
    "rare-blips": rare_blips,
    "profile-change": profile_change,
    "lag-jump-40": lag_jump_40,
    "radio": radio,
    "silent": silent,
    "pauses": pauses,
    "night-camera": night_camera,
    "he-aac-24k": he_aac_24k,
    "independent-losses": independent_losses,
    "lag15-all": lag15_all,
    "lag40-all": lag40_all,
    "one-encoder-three-events": one_encoder_three_events,
    "vbr-real": vbr_real,
    "cbr-sd15": cbr_sd15,
    "23.976": fps_23976,
    "start-quiet": start_quiet,
    "irregular-cadence": irregular_cadence,
    "lag-wanders-2-25": lag_wanders,
    "ramp-up": ramp_up,
    "three-profiles": three_profiles,
}
"""Families of shows in which nothing is wrong. An alarm in them disturbs a person for nothing."""


# Families with a fault

_GONE = frozenset({"RECONNECTING", "DROPOUTS", "NO_INGEST"})
_DARK = frozenset({"BLACKOUT"})
_STILL = frozenset({"PICTURE_STILL"})
_MUTE = frozenset({"AUDIO_LOST"})
_FRAMES = frozenset({"FPS_COLLAPSE", "FPS_LOW"})
_BITS = frozenset({"VIDEO_STARVED", "VIDEO_LOW", "VIDEO_BELOW_PRESET", "VIDEO_DECAY", "BITRATE_UNSTABLE"})
_LOSS = frozenset({"PACKET_LOSS"})
_KEYS = frozenset({"KEYFRAME_DRIFT", "KEYFRAME_SEVERE"})
_ANY = _FRAMES | _BITS | _LOSS | frozenset({"AUDIO_LOW"})


@dataclass(slots=True)
class Fault:
    """A fault of one event that begins after a quarter of an hour.

    `watched`: seconds from its onset to the end of the run.
    """

    random: Chance
    kinds: frozenset[str]
    watched: float = 600.0
    maker: Maker = field(init=False)
    onset: float = field(init=False)
    cadence: float = 2.0

    def __post_init__(self) -> None:
        self.maker = Maker(self.random, self.cadence)
        self.onset = 900 + self.random.uniform(0, 60)

    def since(self, at: float) -> float:
        """Return the seconds since the onset; negative before."""
        return at - self.onset

    def is_on(self, at: float, on: float = inf, each: float = inf) -> bool:
        """Return whether the fault is present: `on` seconds of `each`."""
        since = self.since(at)
        return since >= 0 and (since if each == inf else since % each) < on

    def video(self, share: Curve) -> None:
        """Multiply the video rate by `share` while the fault lasts."""
        before = self.maker.video
        self.maker.video = lambda at: before(at) * (share(at) if self.is_on(at) else 1.0)

    def show(self, lag: Curve | None = None, **fields: object) -> Show:
        """Return the show with the fault."""
        lasts = self.onset + self.watched
        source = self.maker.source(lasts, lag, **fields)
        opened = self.random.opened
        return Show((source,), lasts, opened, self.onset, self.kinds, frozenset({0}))


def _drop(random: Chance, seconds: float = 60.0, cadence: float = 2.0, delay: Curve | None = None) -> Show:
    fault = Fault(random, _GONE, 400.0, cadence=cadence)
    fault.maker.sends = lambda at: not fault.is_on(at, seconds)
    return fault.show(delay)


def _steady(random: Chance, least: float, most: float) -> Curve:
    delay = random.uniform(least, most)
    return lambda _: delay


def _away(random: Chance, on: float, each: float, delay: Curve | None = None, watched: float = 700.0) -> Show:
    """Return a show whose encoder comes and goes. The sample in which it returns is lost with the others."""
    fault = Fault(random, _GONE, watched)
    fault.maker.sends = lambda at: not fault.is_on(at, on + fault.cadence, each)
    return fault.show(delay)


def _dark(random: Chance, on: float = inf, each: float = inf) -> Show:
    fault = Fault(random, _DARK)
    video, fps = fault.maker.video, fault.maker.fps
    fault.maker.video = lambda at: random.uniform(0, 3e4) if fault.is_on(at, on, each) else video(at)
    fault.maker.fps = lambda at: 0.0 if fault.is_on(at, on, each) else fps(at)
    return fault.show()


def _mute(random: Chance, on: float = inf, each: float = inf) -> Show:
    fault = Fault(random, _MUTE)
    audio = fault.maker.audio
    fault.maker.audio = lambda at: 0.0 if fault.is_on(at, on, each) else audio(at)
    return fault.show()


def _starve(random: Chance, share: float, *, loss: float = 0.15, sound: float = 1.0, frames: float = 1.0) -> Show:
    """Return a show over a thin, unsteady line: frames fall a little, and some samples report loss."""
    fault = Fault(random, _ANY)
    fps, audio = fault.maker.fps, fault.maker.audio
    fault.video(lambda _: share * random.uniform(0.75, 1.2))
    fault.maker.fps = lambda at: fps(at) * (frames if fault.is_on(at) else 1.0)
    fault.maker.audio = lambda at: audio(at) * (sound if fault.is_on(at) else 1.0)
    fault.maker.status = lambda at: 5 if fault.is_on(at) and random.random() < loss else 0
    return fault.show()


def saw_tooth(random: Chance) -> Show:
    """Return a show whose rate climbs and breaks down, with loss as it breaks."""
    fault = Fault(random, _ANY)
    fault.video(lambda at: 0.35 + 0.65 * (fault.since(at) % 20) / 20)
    fault.maker.status = lambda at: 5 if fault.is_on(at, 3, 20) else 0
    return fault.show()


def _fps(random: Chance, rate: Curve, watched: float = 600.0) -> Show:
    fault = Fault(random, _FRAMES, watched)
    fps = fault.maker.fps
    fault.maker.fps = lambda at: rate(fault.since(at)) if fault.is_on(at) else fps(at)
    return fault.show()


def fps_halved_again(random: Chance) -> Show:
    """Return a show with half of its frames for three minutes, as before for four, and then half again.

    The alarm of the first fall counts as early.
    """
    fault = Fault(random, _FRAMES)
    fps = fault.maker.fps
    fault.maker.fps = lambda at: fps(at) / (2 if fault.is_on(at) or -420 <= fault.since(at) < -240 else 1)
    return fault.show()


def _status(random: Chance, status: Callable[[float], int], kinds: frozenset[str], cadence: float = 2.0) -> Show:
    fault = Fault(random, kinds, 1500.0, cadence=cadence)
    fault.maker.status = lambda at: status(fault.since(at)) if fault.is_on(at) else 0
    return fault.show()


def _loss(random: Chance, share: float, cadence: float = 2.0) -> Show:
    return _status(random, lambda _: 5 if random.random() < share else 0, _LOSS, cadence)


def decay(random: Chance) -> Show:
    fault = Fault(random, _BITS, HOUR)
    fault.video(lambda at: 1 - 0.75 * min(1.0, fault.since(at) / HOUR))
    return fault.show()


def fps_decay(random: Chance) -> Show:
    return _fps(random, lambda since: 30 - 18 * min(1.0, since / HOUR) + random.uniform(-0.3, 0.3), 1500.0)


def too_few_bits(random: Chance) -> Show:
    """Return a show with too few bits from its start, so that there is no usual rate to compare with."""
    maker = Maker(random)
    maker.video = maker.constant(6e5, 0.03)
    opened = random.opened
    return Show((maker.source(1500),), 1500, opened, opened, _BITS, frozenset({0}))


def frozen_camera(random: Chance) -> Show:
    fault = Fault(random, _STILL)
    scenes = times(steps(random, HOUR, 4, 45, lambda: random.uniform(1.5e6, 6e6)), fault.maker.constant(1, 0.1))
    frozen = fault.maker.constant(1.2e5, 0.05)
    fault.maker.video = lambda at: frozen(at) if fault.is_on(at) else scenes(at)
    return fault.show()


def black_vbr(random: Chance) -> Show:
    """Return a show that turns black at a variable rate: the encoder sends every frame, each nearly empty."""
    fault = Fault(random, _STILL | _DARK)
    scenes, level = times(wandering(random, 0.25, 1.5), fault.maker.constant(4e6, 0.08)), random.uniform(2e4, 1.5e5)
    black = fault.maker.constant(level, 0.1)
    fault.maker.video = lambda at: black(at) if fault.is_on(at) else scenes(at)
    return fault.show()


def frozen_cbr(random: Chance) -> Show:
    """Return a show whose constant rate has no filler, so that a still picture shows."""
    fault = Fault(random, _STILL)
    share = random.uniform(0.02, 0.08)
    fault.video(lambda _: share)
    return fault.show()


def _sinking(random: Chance, rate: float) -> Show:
    """Return a show whose variable rate (bit/s) sinks to an eighth within ten minutes."""
    fault = Fault(random, frozenset({"VIDEO_DECAY"}), 900.0)
    scenes = times(wandering(random, 0.2, 1.5), fault.maker.constant(rate, 0.08))
    fault.maker.video = lambda at: scenes(at) * (1 - 0.88 * min(1.0, max(0.0, fault.since(at) / 600)))
    return fault.show()


def near_silence(random: Chance) -> Show:
    """Return a show whose microphone is off while the mixer's noise still arrives."""
    fault = Fault(random, frozenset({"AUDIO_LOW"}))
    speech = _speech(random, fault.maker)
    fault.maker.audio = lambda at: speech(at) * (0.03 if fault.is_on(at) else 1.0)
    return fault.show()


def _mass_drop(random: Chance, *, older: bool) -> Show:
    """Return a show in which every encoder loses the platform within some seconds."""
    lasts, onset = 1100.0, 900 + random.uniform(0, 60)
    makers = [Maker(random) for _ in range(6)]
    for maker in makers:
        begin = onset + random.uniform(0, 2)
        maker.sends = lambda at, begin=begin: not begin <= at < begin + 90  # type: ignore[misc]
    if older:
        for place, maker in enumerate(makers[:3]):
            since = onset - random.uniform(100, 150) * (place + 1)
            maker.status = lambda at, since=since: 5 if at >= since and random.random() < 0.5 else 0  # type: ignore[misc]
    sources = tuple(maker.source(lasts) for maker in makers)
    every = frozenset(range(len(makers)))
    return Show(sources, lasts, 90.0, onset, frozenset({"PLATFORM"}), every)


def early_drop(random: Chance) -> Show:
    maker, onset = Maker(random), 120.0
    maker.sends = lambda at: not onset <= at < onset + 60
    return Show((maker.source(400),), 400, 60.0, onset, _GONE, frozenset({0}))


def early_audio_lost(random: Chance) -> Show:
    maker, onset = Maker(random), 75.0
    audio = maker.audio
    maker.audio = lambda at: 0.0 if at >= onset else audio(at)
    return Show((maker.source(300),), 300, 50.0, onset, _MUTE, frozenset({0}))


def after_profile_change(random: Chance) -> Show:
    """Return a show whose rate was lowered on purpose five minutes before the line gets thin."""
    fault = Fault(random, _ANY)
    noise = fault.maker.video
    fault.maker.video = lambda at: noise(at) * (0.6 if fault.since(at) >= -300 else 1.0)
    fault.video(lambda _: 0.4 * random.uniform(0.75, 1.2))
    fault.maker.status = lambda at: 5 if fault.is_on(at) and random.random() < 0.15 else 0
    fps = fault.maker.fps
    fault.maker.fps = lambda at: fps(at) * (0.88 if fault.is_on(at) else 1.0)
    return fault.show()


def starve_vbr_fps_only(random: Chance) -> Show:
    fault = Fault(random, _ANY)
    scenes = times(steps(random, HOUR, 4, 45, lambda: random.uniform(2e6, 6e6)), fault.maker.constant(1, 0.1))
    fps = fault.maker.fps
    fault.maker.video = scenes
    fault.video(lambda _: 0.3)
    fault.maker.fps = lambda at: fps(at) * (random.uniform(0.78, 0.95) if fault.is_on(at) else 1.0)
    return fault.show()


def half_bits_silent(random: Chance) -> Show:
    """Return a show with half its bits from the onset on, clean and steady like a decision."""
    fault = Fault(random, _BITS)
    fault.video(lambda _: 0.5)
    return fault.show()


FAULTS: Mapping[str, Callable[[Chance], Show]] = {
    "drop-60s": _drop,
    "drop-60s-lag": lambda random: _drop(random, delay=_steady(random, 12, 20)),
    "drop-60s-batch60": lambda random: _drop(random, delay=lambda at: 61.0 - at % 60.0),
    "flap-20-20": lambda random: _away(random, 20, 40),
    "away-10-of-40": lambda random: _away(random, 10, 40),
    "blackout": _dark,
    "picture-out-4-of-20": lambda random: _dark(random, 4, 20),
    "starve-70": lambda random: _starve(random, 0.66, frames=0.93),
    "starve-50": lambda random: _starve(random, 0.48, frames=0.9),
    "starve-30": lambda random: _starve(random, 0.3, frames=0.88),
    "starve-30-cbr-silent": lambda random: _starve(random, 0.3, loss=0),
    "starve-40-audio-too": lambda random: _starve(random, 0.4, loss=0, sound=0.8),
    "saw-tooth": saw_tooth,
    "audio-lost": _mute,
    "audio-out-4-of-30": lambda random: _mute(random, 4, 30),
    "fps-collapse": lambda random: _fps(random, lambda _: 22 + random.uniform(-1.5, 1.5)),
    "fps-27-of-30": lambda random: _fps(random, lambda _: 27 + random.uniform(-0.5, 0.5)),
    "fps-30-24": lambda random: _fps(random, lambda since: 24.0 if since % 30 < 15 else 30.0),
    "fps-halved-15": lambda random: _fps(random, lambda _: 15 + random.choice((-0.5, 0, 0.5))),
    "fps-halved-again": fps_halved_again,
    "loss-5": lambda random: _loss(random, 0.05),
    "loss-20": lambda random: _loss(random, 0.2),
    "loss-70": lambda random: _loss(random, 0.7),
    "key-drift-3-half": lambda random: _status(random, lambda _: 3 if random.random() < 0.5 else 0, _KEYS),
    "key-4-1-of-6": lambda random: _status(random, lambda since: 4 if int(since / 2) % 6 == 0 else 0, _KEYS),
    "key-3-4-0-0": lambda random: _status(random, lambda since: (3, 4, 0, 0)[int(since / 2) % 4], _KEYS),
    "decay-1h": decay,
    "fps-decay-1h": fps_decay,
    "600k-on-1080p": too_few_bits,
    "frozen-camera-vbr": frozen_camera,
    "black-vbr": black_vbr,
    "frozen-cbr": frozen_cbr,
    "sinking-vbr-10-min": lambda random: _sinking(random, FULL),
    "sinking-vbr-low": lambda random: _sinking(random, 2.4e6),
    "near-silence": near_silence,
    "mass-drop": lambda random: _mass_drop(random, older=False),
    "mass-drop-older-faults": lambda random: _mass_drop(random, older=True),
    "early-drop": early_drop,
    "early-audio-lost": early_audio_lost,
    "after-profile-change": after_profile_change,
    "fps-26-wobble": lambda random: _fps(random, lambda since: 26 + 1.5 * sin(since / 9) + random.uniform(-1, 1)),
    "audio-out-2-of-20": lambda random: _mute(random, 2, 20),
    "away-6-of-60": lambda random: _away(random, 6, 60),
    "loss-70-cadence": lambda random: _loss(random, 0.7, random.choice((5.0, 10.0))),
    "drop-cadence": lambda random: _drop(random, 120, random.choice((5.0, 10.0, 15.0))),
    "starve-vbr-fps-only": starve_vbr_fps_only,
    "away-20-of-60-lag40": lambda random: _away(random, 20, 60, lambda _: 40.0),
    "half-bits-silent": half_bits_silent,
}
"""Families of shows in which something is wrong from `onset` on."""

IMPOSSIBLE = frozenset({"half-bits-silent"})
"""Faults that these numbers cannot tell from a decision: they may be missed."""

LIMITS: Mapping[str, float] = {
    "drop-60s": 14,
    "drop-60s-lag": 29,
    "drop-60s-batch60": 74,
    "flap-20-20": 14,
    "away-10-of-40": 54,
    "blackout": 10,
    "picture-out-4-of-20": 44,
    "starve-70": 24,
    "starve-50": 22,
    "starve-30": 19,
    "starve-30-cbr-silent": 44,
    "starve-40-audio-too": 19,
    "saw-tooth": 52,
    "audio-lost": 10,
    "audio-out-4-of-30": 153,
    "fps-collapse": 18,
    "fps-27-of-30": 24,
    "fps-30-24": 54,
    "fps-halved-15": 19,
    "fps-halved-again": 19,
    "loss-5": 192,
    "loss-20": 41,
    "loss-70": 10,
    "key-drift-3-half": 41,
    "key-4-1-of-6": 137,
    "key-3-4-0-0": 41,
    "decay-1h": 1160,
    "fps-decay-1h": 320,
    "600k-on-1080p": 140,
    "frozen-camera-vbr": 21,
    "black-vbr": 20,
    "frozen-cbr": 20,
    "sinking-vbr-10-min": 580,
    "sinking-vbr-low": 580,
    "near-silence": 44,
    "mass-drop": 13,
    "mass-drop-older-faults": 13,
    "early-drop": 12,
    "early-audio-lost": 9,
    "after-profile-change": 16,
    "fps-26-wobble": 23,
    "audio-out-2-of-20": 203,
    "away-6-of-60": 192,
    "loss-70-cadence": 33,
    "drop-cadence": 27,
    "starve-vbr-fps-only": 22,
    "away-20-of-60-lag40": 53,
}
"""Seconds from the onset to the alarm, the median of many seeds. Five more are tolerated."""
