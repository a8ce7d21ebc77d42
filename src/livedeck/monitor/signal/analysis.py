"""Results of the folds over samples and over restreams, and the quality of the last reply.

This module lies below both the folds (`detection`) and the alarm kinds.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from msgspec import field

from livedeck.monitor.evidence.coverage import EVERYTHING, Coverage
from livedeck.monitor.model.blame import NO_BLAME, Blame
from livedeck.monitor.model.readings import Readings
from livedeck.monitor.model.state import Episode, Freshness
from livedeck.monitor.signal.duty import DutyCycle
from livedeck.monitor.signal.features import SampleFeatures
from livedeck.monitor.signal.hysteresis import FaultInterval
from livedeck.monitor.signal.memory import StreamMemory
from livedeck.monitor.signal.usual import Usual
from livedeck.record import Record

MAX_EPISODES = 200
"""Maximum number of past episodes in the analysis of a stream; the oldest are dropped."""

CHECKPOINT_SAMPLES = 64
"""Number of samples between checkpoints."""


class Checkpoint(NamedTuple):
    """State of the fold after the first `samples` samples; never changed.

    `memory`: state carried from sample to sample. `intervals`, `cycles`: alarm kind -> its fault, its duty cycle.
    `past`: ended episodes. `features`: newest sample in its context.
    """

    memory: StreamMemory
    intervals: Mapping[str, FaultInterval]
    cycles: Mapping[str, DutyCycle]
    past: tuple[Episode, ...]
    features: SampleFeatures | None
    samples: int

    @property
    def is_kept(self) -> bool:
        """True if the checkpoint stays when samples follow: it lies at a multiple of `CHECKPOINT_SAMPLES`."""
        return self.samples % CHECKPOINT_SAMPLES == 0


class SignalAnalysis(Record):
    """Result of the fold over the samples `readings`.

    `intervals`: alarm kind -> its raised fault. `past`: ended episodes in the order of their end. `features`: newest
    sample in its context. `first_time`: time of the stream's first sample (epoch s). `checkpoints`: states from which
    the fold can continue. `coverage`: coverage of the stream when its samples were judged.
    """

    readings: Readings = field(default_factory=Readings)
    intervals: Mapping[str, FaultInterval] = field(default_factory=dict)
    past: tuple[Episode, ...] = ()
    features: SampleFeatures | None = None
    first_time: float | None = None
    checkpoints: tuple[Checkpoint, ...] = (Checkpoint(StreamMemory(), {}, {}, (), None, 0),)
    coverage: Coverage = EVERYTHING

    @property
    def usual(self) -> Usual:
        """Usual values that the newest sample was compared with."""
        return self.features.usual if self.features else Usual()

    @property
    def oldest_checkpoint(self) -> Checkpoint | None:
        """Oldest checkpoint after the stream's start; None for a stream of fewer than `CHECKPOINT_SAMPLES` samples."""
        return next((point for point in self.checkpoints if point.samples and point.is_kept), None)

    @property
    def cadence(self) -> float | None:
        """Seconds between samples; None if unknown."""
        return self.checkpoints[-1].memory.order.cadence

    @property
    def last_hole(self) -> float:
        """Time of the first sample after the newest hole (epoch s); -inf without holes."""
        return self.checkpoints[-1].memory.last_hole


class RestreamHistory(Record):
    """Result of the fold over the event lists, for an event's restreams. Mappings are by restream id.

    `intervals`: faults, raised or pending. `last_connected`: time of the last list that showed the restream connected
    (epoch s, server clock). `past`: ended episodes. `listed_at`: time of the last list (epoch s, server clock).
    """

    intervals: Mapping[str, FaultInterval] = field(default_factory=dict)
    last_connected: Mapping[str, float] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    past: tuple[Episode, ...] = ()
    listed_at: float = 0.0


class DataQuality(Record):
    """Trust in the samples of the last reply. Times are server time.

    `freshness`: STALE if polling fails or the samples' time stands still, LATE if samples are late. `since`: time of
    the last good reply, or of the first failure if no reply was good. `blame`: nearest cause while it is STALE.
    `future_samples`: number of samples dropped because they are dated in the future. `empty_at`: time of the last good
    reply that proves that no sample ever came. `lag`: shortest delay of the last samples (s); None if unknown.
    `false_silence`: start of a recent silence that late samples disproved. `late_by`: delay of these samples (s).
    `has_unit`: the unit of the bit rates is known.
    """

    freshness: Freshness = Freshness.FRESH
    since: datetime | None = None
    blame: Blame = NO_BLAME
    future_samples: int = 0
    empty_at: datetime | None = None
    lag: float | None = None
    false_silence: datetime | None = None
    late_by: float = 0.0
    has_unit: bool = True


def make_episode(kind: str, interval: FaultInterval, until: float | None, target: str = "") -> Episode:
    """Return a fault as an episode. `until`: end of the fault (epoch s); None if the fault is present."""
    end = None if until is None else datetime.fromtimestamp(until, UTC)
    begin = datetime.fromtimestamp(interval.since, UTC)
    return Episode(kind, interval.severity, target, begin, end, *interval.evidence)
