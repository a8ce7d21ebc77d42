"""Decide whether a platform counts bit rates in bits or in kilobits (monitoring.md, "Unit of the bit rates"). Pure.

The platform's document names no unit, and a usual picture in kbit/s reads as a black picture in bit/s. So no rate is
judged until the numbers are plausible in one unit only. A rate of zero and a frame rate need no unit.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from enum import Enum, auto
from itertools import islice
from math import isclose, isnan, nan
from types import MappingProxyType

from msgspec import field

from livedeck.client import QosSamples
from livedeck.monitor.model.readings import Readings
from livedeck.monitor.model.unit import BitrateUnit
from livedeck.record import Record

_VIDEO_OF_BITS, _SOUND_OF_BITS = 200_000.0, 10_000.0
"""Largest plausible rates in kbit/s: of video (200 Mbit/s), and of sound (10 Mbit/s). A larger number is in bit/s."""

_NO_RATE = 1e9
"""Smallest number that is implausible as a rate in both units, so that it proves nothing."""

_VIDEO_OF_KBIT, _SOUND_OF_KBIT = (50.0, 100_000.0), (8.0, 640.0)
"""Lowest and highest plausible rate in kbit/s: of a picture, and of sound."""

_LEAST_FPS = 5.0
"""Lowest frame rate of a picture."""

_ALIKE = 3
"""Minimum number of samples with a picture, in a row of one stream, to ask the operator for the unit."""

_SOUNDS_ALIKE = 10
"""Minimum number of small samples, in a row of one stream, to ask the operator for the unit."""

_STREAMS_ALIKE = 3
"""Minimum number of streams with a plausible picture to ask the operator for the unit.

The same number of streams with `_ALIKE` pictures or `_SOUNDS_ALIKE` samples is enough to choose kbit/s without asking.
"""

_SURE = 30
"""Minimum number of samples like kbit/s, in a row of one stream, to choose kbit/s without asking."""

_CONTRADICTIONS = 3
"""Samples in a row that are implausible in kbit/s and so contradict this unit; a single sample may be an error."""

_SAME_RATE = 0.01
"""Relative difference below which a recorded rate counts as equal to the rate of a reply."""

_COUNTED = 64
"""Maximum number of newest samples of a reply to count; more than `_SURE` samples add nothing."""


class _Looks(Enum):
    """Class of a sample by the plausible unit of its rates.

    BITS: bit/s only. PICTURE, SOUND: kbit/s, as a picture with sound or as sound alone. SMALL: neither, because the
    rates are too small. BETWEEN: too large for kbit/s, but no proof of bit/s. NOTHING: no rate, or zero.
    """

    BITS = auto()
    BETWEEN = auto()
    PICTURE = auto()
    SOUND = auto()
    SMALL = auto()
    NOTHING = auto()


class StreamLook(Record):
    """Counts of one stream's newest samples in a row that suggest the same unit.

    `newest`: time of the newest sample (epoch s, server clock). `bits`: samples plausible in bit/s only. `pictures`,
    `sounds`: samples plausible in kbit/s, with and without a picture. `small`: samples too small for both units.
    `example`: video and audio of the newest of these samples, as the platform sent them.
    """

    stream_id: str | None
    newest: float = 0.0
    bits: int = 0
    pictures: int = 0
    sounds: int = 0
    small: int = 0
    example: str = ""

    @property
    def is_in_doubt(self) -> bool:
        """True if the newest samples are so small that their unit is not evident."""
        return bool(self.pictures or self.sounds or self.small)

    @property
    def is_alike(self) -> bool:
        """True if enough samples in a row look like kbit/s to ask for the unit."""
        return self.pictures >= _ALIKE or self.pictures + self.sounds >= _SOUNDS_ALIKE

    @property
    def is_sure(self) -> bool:
        """True if enough samples in a row look like kbit/s to take this unit without asking."""
        return self.pictures + self.sounds >= _SURE

    @property
    def is_long(self) -> bool:
        """True if enough samples in a row look like kbit/s, or are too small for both units, to ask for the unit."""
        return self.pictures + self.sounds + self.small >= _SOUNDS_ALIKE


class UnitEvidence(Record):
    """Evidence for the unit, from all replies of a platform.

    `looks`: counts by event id. `proof`: video and audio of the first sample that is plausible in bit/s only; empty
    without one.
    """

    looks: Mapping[str, StreamLook] = field(default_factory=lambda: MappingProxyType({}))
    proof: str = ""

    def after(self, event_id: str, stream_id: str | None, samples: QosSamples) -> UnitEvidence:
        """Return the evidence after a reply. `samples`: the samples as the platform sent them."""
        look = self.looks.get(event_id)
        if look is None or look.stream_id != stream_id:
            look = StreamLook(stream_id)
        count = sum(1 for _ in _newest_first(samples, look.newest))
        if not count:
            return self
        proof = self.proof or next(
            (
                _example(samples, index)
                for index in _newest_first(samples, look.newest)
                if _looks_of(samples, index) is _Looks.BITS
            ),
            "",
        )
        newest = max(samples.time[-count:])
        for index in reversed([*islice(_newest_first(samples, look.newest), _COUNTED)]):
            look = _counted(look, samples, index)
        return UnitEvidence(MappingProxyType({**self.looks, event_id: replace(look, newest=newest)}), proof)

    def only(self, event_ids: Collection[str]) -> UnitEvidence:
        """Return the evidence without the samples of other events; a proof stays."""
        if self.looks.keys() <= set(event_ids):
            return self
        kept = {event_id: look for event_id, look in self.looks.items() if event_id in event_ids}
        return replace(self, looks=MappingProxyType(kept))


class UnitVerdict(Record):
    """Unit of a platform's bit rates.

    `is_doubtful`: the unit is in doubt, so no rate but zero is known. `question`: question to the operator, or empty.
    `is_sure`: the evidence suffices without an answer of the operator.
    """

    unit: BitrateUnit
    is_doubtful: bool = False
    question: str = ""
    is_sure: bool = False


def judge_unit(setting: BitrateUnit | None, chosen: BitrateUnit | None, evidence: UnitEvidence) -> UnitVerdict:
    """Return the verdict on the unit.

    Args:
        setting: Unit in the settings, which wins; None to learn the unit.
        chosen: Unit of the ruling; None without a ruling.
        evidence: Evidence from the platform's replies.
    """
    looks = evidence.looks.values()
    beyond = next((look.example for look in looks if look.bits >= _CONTRADICTIONS), "")
    if (setting or chosen) is BitrateUnit.KBIT:
        question = _question(BitrateUnit.BIT, beyond, setting) if beyond else ""
        return UnitVerdict(BitrateUnit.KBIT, bool(question) and setting is None, question)
    if evidence.proof or (setting is None and chosen is BitrateUnit.BIT):
        return UnitVerdict(BitrateUnit.BIT)
    alike = [look for look in looks if look.is_alike]
    pictures = [look for look in looks if look.pictures]
    asking = alike or (pictures if len(pictures) >= _STREAMS_ALIKE else [])
    small = [look for look in looks if look.is_long]
    question = _question(BitrateUnit.KBIT, asking[0].example, setting) if asking else ""
    if small and not question and setting is None:
        question = f"rates may be bit/s or kbit/s ({small[0].example}): set bitrate_unit"
    return UnitVerdict(
        BitrateUnit.BIT,
        is_doubtful=setting is None and any(look.is_in_doubt for look in looks),
        question=question,
        is_sure=setting is None and (len(alike) >= _STREAMS_ALIKE or any(look.is_sure for look in looks)),
    )


def unit_of_records(samples: QosSamples, recorded: Readings) -> BitrateUnit | None:
    """Return the unit that a history used for the same samples; None if the history lacks these samples or their rates.

    `samples`: as the platform sent them.
    """
    rates = {_tenths(time): rate for time, rate in zip(recorded.time, recorded.video, strict=True)}
    for time, sent in zip(samples.time, samples.bitrate_video, strict=True):
        read = rates.get(_tenths(time), nan)
        for unit in BitrateUnit:
            if sent > 0 and isclose(read, sent * unit.bits, rel_tol=_SAME_RATE):
                return unit
    return None


def _tenths(time: float) -> int:
    return round(10 * time)


def in_bits(samples: QosSamples, verdict: UnitVerdict) -> QosSamples:
    """Return the samples with rates in bit/s. While the unit is in doubt, all rates but 0 are missing."""
    if verdict.is_doubtful:
        return replace(
            samples, bitrate_video=_only_zeros(samples.bitrate_video), bitrate_audio=_only_zeros(samples.bitrate_audio)
        )
    if verdict.unit.bits == 1.0:
        return samples
    return replace(
        samples,
        bitrate_video=array("d", [rate * verdict.unit.bits for rate in samples.bitrate_video]),
        bitrate_audio=array("d", [rate * verdict.unit.bits for rate in samples.bitrate_audio]),
    )


def _only_zeros(rates: array[float]) -> array[float]:
    return array("d", [0.0 if rate == 0 else nan for rate in rates])


def _question(asked: BitrateUnit, example: str, setting: BitrateUnit | None) -> str:
    looks = f"rates look like {asked}/s ({example})"
    return f'{looks}, but bitrate_unit is "{setting}"' if setting else f'{looks}: set bitrate_unit = "{asked}"'


def _newest_first(samples: QosSamples, newest: float) -> Iterator[int]:
    """Yield the indexes of the samples later than `newest` (epoch s), newest first."""
    for index in range(len(samples) - 1, -1, -1):
        if samples.time[index] <= newest:
            return
        yield index


def _counted(look: StreamLook, samples: QosSamples, index: int) -> StreamLook:
    """Return the counts after one more sample. A sample that suggests the other unit restarts the counts."""
    kind = _looks_of(samples, index)
    if kind is _Looks.NOTHING:
        return look
    if kind is _Looks.BETWEEN:
        return StreamLook(look.stream_id, look.newest)
    if (kind is _Looks.BITS) != bool(look.bits):
        look = StreamLook(look.stream_id, look.newest)
    return replace(
        look,
        bits=look.bits + (kind is _Looks.BITS),
        pictures=look.pictures + (kind is _Looks.PICTURE),
        sounds=look.sounds + (kind is _Looks.SOUND),
        small=look.small + (kind is _Looks.SMALL),
        example=_example(samples, index),
    )


def _looks_of(samples: QosSamples, index: int) -> _Looks:
    video, sound = (_rate(column[index]) for column in (samples.bitrate_video, samples.bitrate_audio))
    if _VIDEO_OF_BITS < video < _NO_RATE or _SOUND_OF_BITS < sound < _NO_RATE:
        return _Looks.BITS
    if video <= 0 and sound <= 0:
        return _Looks.NOTHING
    (least_video, most_video), (least_sound, most_sound) = _VIDEO_OF_KBIT, _SOUND_OF_KBIT
    if video > most_video or sound > most_sound:
        return _Looks.BETWEEN
    if sound < least_sound:
        return _Looks.SMALL
    if video < least_video:
        return _Looks.SOUND
    return _Looks.PICTURE if samples.frame_rate[index] >= _LEAST_FPS else _Looks.SMALL


def _rate(value: float) -> float:
    return 0.0 if isnan(value) else value


def _example(samples: QosSamples, index: int) -> str:
    return f"{_rate(samples.bitrate_video[index]):.0f} / {_rate(samples.bitrate_audio[index]):.0f}"
