"""What the folds over samples and over restreams have found so far, and how far the last answer may be believed.

It stands below both the folds (`detection`) and the kinds of alarm, which are found in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

from livedeck.monitor.model.readings import Readings
from livedeck.monitor.model.state import Episode, Freshness
from livedeck.monitor.signal.duty import DutyCycle
from livedeck.monitor.signal.features import SampleFeatures
from livedeck.monitor.signal.hysteresis import FaultInterval
from livedeck.monitor.signal.memory import StreamMemory
from livedeck.monitor.signal.usual import Usual

MAX_EPISODES = 200
"""Kept of a stream."""

CHECKPOINT_SAMPLES = 64
"""Samples between checkpoints."""


class Checkpoint(NamedTuple):
    """The fold after so many samples; never changed once made. `cycles`: kind -> how much of the time it is bad.
    `features`: the newest sample in its context."""

    memory: StreamMemory
    intervals: Mapping[str, FaultInterval]
    cycles: Mapping[str, DutyCycle]
    past: tuple[Episode, ...]
    features: SampleFeatures | None
    samples: int

    @property
    def is_kept(self) -> bool:
        """Whether it is made after a whole number of samples, and no end of the samples so far."""
        return self.samples % CHECKPOINT_SAMPLES == 0


@dataclass(frozen=True, slots=True)
class SignalAnalysis:
    """What the samples show. `intervals`: kind -> its fault, of those that are raised; `past`: the episodes that are
    over, in the order of their end; `features`: the newest sample in its context; `first_time`: when the stream began
    to send (epoch s)."""

    readings: Readings = field(default_factory=Readings)
    intervals: Mapping[str, FaultInterval] = field(default_factory=dict)
    past: tuple[Episode, ...] = ()
    features: SampleFeatures | None = None
    first_time: float | None = None
    checkpoints: tuple[Checkpoint, ...] = (Checkpoint(StreamMemory(), {}, {}, (), None, 0),)

    @property
    def usual(self) -> Usual:
        """What is usual for the stream, as the newest sample was compared with it."""
        return self.features.usual if self.features else Usual()

    @property
    def oldest_checkpoint(self) -> Checkpoint | None:
        """The one that reaches back furthest but to the beginning; None of a young stream."""
        return next((point for point in self.checkpoints if point.samples and point.is_kept), None)

    @property
    def cadence(self) -> float | None:
        """Seconds between samples; None where that is not known yet."""
        return self.checkpoints[-1].memory.order.cadence

    @property
    def last_hole(self) -> float:
        """The first sample after the newest hole (epoch s); -inf where there is none."""
        return self.checkpoints[-1].memory.last_hole


@dataclass(frozen=True, slots=True)
class RestreamHistory:
    """What the event list showed of an event's restreams, by id.

    `intervals`: their faults, pending ones too; `last_connected`: when each was last seen connected (epoch s, server
    clock). `names`: what people call them. `past`: the episodes that are over. `listed_at`: the last answer (epoch s).
    """

    intervals: Mapping[str, FaultInterval] = field(default_factory=dict)
    last_connected: Mapping[str, float] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    past: tuple[Episode, ...] = ()
    listed_at: float = 0.0


@dataclass(frozen=True, slots=True)
class DataQuality:
    """How far the last answer may be believed: STALE where we cannot ask or its time stands still, LATE where its
    samples are.

    `since`: the last good answer, or the first failure where there was none (server time). `error`: why the last try
    failed, or empty. `future_samples`: how many of its samples were left out, being dated in the future.
    `last_empty_at`: the last good answer without any sample (server time). `lag`: how late the last samples came,
    all of them (s); None while that is not known. `false_silence`: since when the encoder was missed that was there all
    the time, for a while after that came out; `late_by`: how late the samples were that proved it (s).
    """

    freshness: Freshness = Freshness.FRESH
    since: datetime | None = None
    error: str = ""
    future_samples: int = 0
    last_empty_at: datetime | None = None
    lag: float | None = None
    false_silence: datetime | None = None
    late_by: float = 0.0


def make_episode(kind: str, interval: FaultInterval, until: float | None, target: str = "") -> Episode:
    """The fault as an episode; `until` (epoch s) None: it is not over."""
    end = None if until is None else datetime.fromtimestamp(until, UTC)
    begin = datetime.fromtimestamp(interval.since, UTC)
    return Episode(kind, interval.severity, target, begin, end, *interval.evidence)
