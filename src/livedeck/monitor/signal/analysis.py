"""Results of the folds over samples and over restreams so far, and the quality of the last answer.

This module lies below both the folds (`detection`) and the alarm kinds.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from msgspec import field

from livedeck.monitor.model.readings import Readings
from livedeck.monitor.model.state import Episode, Freshness
from livedeck.monitor.signal.duty import DutyCycle
from livedeck.monitor.signal.features import SampleFeatures
from livedeck.monitor.signal.hysteresis import FaultInterval
from livedeck.monitor.signal.memory import StreamMemory
from livedeck.monitor.signal.usual import Usual
from livedeck.record import Record

MAX_EPISODES = 200
"""Episodes kept of a stream."""

CHECKPOINT_SAMPLES = 64
"""Samples between checkpoints."""


class Checkpoint(NamedTuple):
    """The state of the fold after `samples` samples; immutable. `cycles`: kind -> its duty cycle.

    `features`: the newest sample in its context.
    """

    memory: StreamMemory
    intervals: Mapping[str, FaultInterval]
    cycles: Mapping[str, DutyCycle]
    past: tuple[Episode, ...]
    features: SampleFeatures | None
    samples: int

    @property
    def is_kept(self) -> bool:
        """True if it lies at a multiple of `CHECKPOINT_SAMPLES`, not merely at the current end."""
        return self.samples % CHECKPOINT_SAMPLES == 0


class SignalAnalysis(Record):
    """The findings from the samples.

    `intervals`: kind -> its raised fault; `past`: ended episodes in the order of their end; `features`: the newest
    sample in its context; `first_time`: start of the stream's samples (epoch s).
    """

    readings: Readings = field(default_factory=Readings)
    intervals: Mapping[str, FaultInterval] = field(default_factory=dict)
    past: tuple[Episode, ...] = ()
    features: SampleFeatures | None = None
    first_time: float | None = None
    checkpoints: tuple[Checkpoint, ...] = (Checkpoint(StreamMemory(), {}, {}, (), None, 0),)

    @property
    def usual(self) -> Usual:
        """The usual values that the newest sample was compared with."""
        return self.features.usual if self.features else Usual()

    @property
    def oldest_checkpoint(self) -> Checkpoint | None:
        """The oldest checkpoint after the beginning; None for a young stream."""
        return next((point for point in self.checkpoints if point.samples and point.is_kept), None)

    @property
    def cadence(self) -> float | None:
        """Seconds between samples; None if unknown."""
        return self.checkpoints[-1].memory.order.cadence

    @property
    def last_hole(self) -> float:
        """The first sample after the newest hole (epoch s); -inf without holes."""
        return self.checkpoints[-1].memory.last_hole


class RestreamHistory(Record):
    """The findings from the event list on an event's restreams, by id.

    `intervals`: their faults, including pending ones; `last_connected`: the last time each was seen connected (epoch s,
    server clock). `names`: their names. `past`: ended episodes. `listed_at`: the last answer (epoch s).
    """

    intervals: Mapping[str, FaultInterval] = field(default_factory=dict)
    last_connected: Mapping[str, float] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    past: tuple[Episode, ...] = ()
    listed_at: float = 0.0


class DataQuality(Record):
    """The reliability of the last answer: STALE if polling fails or its time stands still, LATE if its samples are.

    `since`: the last good answer, or the first failure without one (server time). `error`: the reason of the last
    failure, or empty. `future_samples`: number of dropped samples with a future date. `last_empty_at`: the last good
    answer without samples (server time). `lag`: delay of the last samples, common to all (s); None if unknown.
    `false_silence`: start of a silence that late samples disproved, kept for a while; `late_by`: the delay of those
    samples (s).
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
    """Return the fault as an episode; `until` (epoch s) None: it has not ended."""
    end = None if until is None else datetime.fromtimestamp(until, UTC)
    begin = datetime.fromtimestamp(interval.since, UTC)
    return Episode(kind, interval.severity, target, begin, end, *interval.evidence)
