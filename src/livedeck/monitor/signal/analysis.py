"""Results so far of the folds over samples and over restreams, and the quality of the last answer.

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
"""Maximum number of episodes kept of a stream."""

CHECKPOINT_SAMPLES = 64
"""Number of samples between checkpoints."""


class Checkpoint(NamedTuple):
    """The immutable state of the fold after the first `samples` samples. `cycles`: alarm kind -> its duty cycle.

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
        """True if the checkpoint lies at a multiple of `CHECKPOINT_SAMPLES`, not merely at the current end."""
        return self.samples % CHECKPOINT_SAMPLES == 0


class SignalAnalysis(Record):
    """The findings from the samples.

    `intervals`: alarm kind -> its raised fault; `past`: ended episodes in the order of their end; `features`: the
    newest sample in its context; `first_time`: start of the stream's samples (epoch s). `coverage`: time in which the
    samples were known when they were judged.
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
        """The usual values with which the newest sample was compared."""
        return self.features.usual if self.features else Usual()

    @property
    def oldest_checkpoint(self) -> Checkpoint | None:
        """The oldest checkpoint after the stream's beginning; None for a young stream."""
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
    """The findings on an event's restreams from the event list, by restream id.

    `intervals`: faults, including pending ones; `last_connected`: the last time at which each restream was seen
    connected (epoch s, server clock). `past`: ended episodes. `listed_at`: time of the last list (epoch s, server
    clock).
    """

    intervals: Mapping[str, FaultInterval] = field(default_factory=dict)
    last_connected: Mapping[str, float] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    past: tuple[Episode, ...] = ()
    listed_at: float = 0.0


class DataQuality(Record):
    """The reliability of the last answer: STALE if polling fails or sample time stands still, LATE if samples are late.

    `since`: time of the last good answer, or of the first failure if there was none (server time). `blame`: nearest
    cause while it is STALE. `future_samples`: number of samples dropped because they are dated in the future.
    `empty_at`: time of the last good answer that proves that no sample ever came (server time). `lag`: the shortest
    delay of the last samples (s); None if unknown. `false_silence`: start of a silence that late samples disproved,
    kept for a while; `late_by`: the delay of those samples (s). `has_unit`: the unit of the bit rates is known.
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
    """Return the fault as an episode. `until`: end of the fault (epoch s), None if it lasts."""
    end = None if until is None else datetime.fromtimestamp(until, UTC)
    begin = datetime.fromtimestamp(interval.since, UTC)
    return Episode(kind, interval.severity, target, begin, end, *interval.evidence)
