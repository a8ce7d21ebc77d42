"""The interval of one fault: pending, raised, clearing, cleared. A state machine in stream time. Pure.

Each sample makes one step, so the result depends on the samples only, not on the polls.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from livedeck.monitor.model.alarm import Severity
from livedeck.monitor.model.thresholds import Hold


class Level(Enum):
    """The verdict on a sample for one kind of fault.

    BAD: past the raising limit. GOOD: past the clearing limit. DEADBAND: between the limits, or not measured. A run of
    bad samples that has not raised the fault ends with any level other than BAD. A run of good samples that has not
    cleared the fault ends with any level other than GOOD.
    """

    GOOD = "good"
    DEADBAND = "deadband"
    BAD = "bad"


class Evidence(NamedTuple):
    """The actual and the expected value as text."""

    actual: str
    expected: str


class FaultInterval(NamedTuple):
    """A run of bad samples and its state. Times in epoch s, server clock.

    `since`: start of the fault; `pending_since`: time of the first bad sample; `samples`: number of bad samples so far;
    `good_since`: start of a run of good samples that is not long enough yet, or None; `evidence`: that of the last bad
    sample.
    """

    since: float
    pending_since: float
    severity: Severity
    evidence: Evidence
    samples: int = 0
    is_raised: bool = False
    good_since: float | None = None


def on_bad_sample(interval: FaultInterval, time: float, evidence: Evidence, hold: Hold) -> FaultInterval:
    """Return the interval after one more bad sample. It is raised once samples and seconds of `hold` are reached."""
    samples = interval.samples + 1
    is_held = samples >= hold.samples and time - interval.pending_since >= hold.seconds
    return interval._replace(
        samples=samples, is_raised=interval.is_raised or is_held, good_since=None, evidence=evidence
    )


def on_other_sample(interval: FaultInterval, level: Level, time: float, good_since: float) -> FaultInterval | None:
    """Return the interval after a sample that is not bad, or None if the fault was not raised.

    `good_since`: start of a run of good samples that begins here, if that is earlier than `time`.
    """
    if not interval.is_raised:
        return None
    if level is Level.DEADBAND:
        return interval if interval.good_since is None else interval._replace(good_since=None)
    return interval if interval.good_since is not None else interval._replace(good_since=min(time, good_since))


def has_cleared(interval: FaultInterval, time: float, off_seconds: float) -> bool:
    """Return whether the interval has been good for `off_seconds`."""
    return interval.good_since is not None and time - interval.good_since >= off_seconds


def classify_low(value: float, limit: float, clear: float) -> Level:
    """Return the level of a value that is bad under `limit` and good from `clear` on. NaN (missing) is DEADBAND."""
    if value < limit:
        return Level.BAD
    return Level.GOOD if value >= clear else Level.DEADBAND


def classify_high(value: float, limit: float, clear: float) -> Level:
    """Return the level of a value that is bad over `limit` and good up to `clear`. NaN (missing) is DEADBAND."""
    return classify_low(-value, -limit, -clear)
