"""The interval of one fault: pending, raised, clearing, over. A state machine in stream time. Pure.

It is stepped once for each sample, so it is a function of the samples and not of how often they were asked for.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from livedeck.monitor.model.alarm import Severity
from livedeck.monitor.model.thresholds import Hold


class Level(Enum):
    """What a sample says of one kind of fault.

    BAD: past the level that raises it. GOOD: past the one that clears it. DEADBAND: between the two, or nothing was
    measured. A bad run that is not raised yet ends with whatever is not BAD, a good run that has not cleared yet with
    whatever is not GOOD.
    """

    GOOD = "good"
    DEADBAND = "deadband"
    BAD = "bad"


class Evidence(NamedTuple):
    """The actual and the expected, in words."""

    actual: str
    expected: str


class FaultInterval(NamedTuple):
    """A run of bad samples and what came of it. Times in epoch s, server clock.

    `since`: when the fault began; `pending_since`: the first sample of the run, `samples` of it so far; `good_since`:
    when it became good again, though not yet for long enough; `evidence`: of the last bad sample.
    """

    since: float
    pending_since: float
    severity: Severity
    evidence: Evidence
    samples: int = 0
    is_raised: bool = False
    good_since: float | None = None


def on_bad_sample(interval: FaultInterval, time: float, evidence: Evidence, hold: Hold) -> FaultInterval:
    """The interval after one more bad sample: raised once it has held for its samples and its seconds, the longer."""
    samples = interval.samples + 1
    is_held = samples >= hold.samples and time - interval.pending_since >= hold.seconds
    return interval._replace(
        samples=samples, is_raised=interval.is_raised or is_held, good_since=None, evidence=evidence
    )


def on_other_sample(interval: FaultInterval, level: Level, time: float, good_since: float) -> FaultInterval | None:
    """The interval after a sample that is not bad; None where it was not raised.

    `good_since`: when a good run would begin.
    """
    if not interval.is_raised:
        return None
    if level is Level.DEADBAND:
        return interval if interval.good_since is None else interval._replace(good_since=None)
    return interval if interval.good_since is not None else interval._replace(good_since=min(time, good_since))


def has_cleared(interval: FaultInterval, time: float, off_seconds: float) -> bool:
    """Whether it has been good for `off_seconds`."""
    return interval.good_since is not None and time - interval.good_since >= off_seconds


def classify_low(value: float, limit: float, clear: float) -> Level:
    """The level of a value that is bad under `limit` and good from `clear` on. A missing one (NaN) is neither."""
    if value < limit:
        return Level.BAD
    return Level.GOOD if value >= clear else Level.DEADBAND


def classify_high(value: float, limit: float, clear: float) -> Level:
    """The level of a value that is bad over `limit` and good up to `clear`. A missing one (NaN) is neither."""
    return classify_low(-value, -limit, -clear)
