"""Hysteresis of one fault: pending, raised, clearing, cleared. Pure.

Each sample is one step, so the result depends on the samples only, not on the polls.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from livedeck.monitor.model.alarm import Severity
from livedeck.monitor.model.thresholds import Hold


class Level(Enum):
    """Verdict of a kind on a sample.

    BAD: past the limit that raises. GOOD: past the limit that clears. DEADBAND: between both limits, or not measured.
    """

    GOOD = "good"
    DEADBAND = "deadband"
    BAD = "bad"


class Evidence(NamedTuple):
    """Actual and expected value as text."""

    actual: str
    expected: str


class FaultInterval(NamedTuple):
    """Fault that is pending or raised. Times are epoch seconds, server clock.

    `since`: start of the fault. `pending_since`: time of the first bad sample in a row. `evidence`: evidence of the
    last bad sample. `samples`: number of bad samples in a row. `is_raised`: False while pending. `good_since`: start of
    the good samples that may clear the fault; None if the newest sample is not good.
    """

    since: float
    pending_since: float
    severity: Severity
    evidence: Evidence
    samples: int = 0
    is_raised: bool = False
    good_since: float | None = None


def on_bad_sample(interval: FaultInterval, time: float, evidence: Evidence, hold: Hold) -> FaultInterval:
    """Return the fault after one more bad sample. `hold`: samples and seconds after which it is raised."""
    samples = interval.samples + 1
    is_held = samples >= hold.samples and time - interval.pending_since >= hold.seconds
    return interval._replace(
        samples=samples, is_raised=interval.is_raised or is_held, good_since=None, evidence=evidence
    )


def on_other_sample(interval: FaultInterval, level: Level, time: float, good_since: float) -> FaultInterval | None:
    """Return the fault after a sample that is not bad; None if the fault was only pending.

    `good_since`: start of the good signal; used only for the first good sample.
    """
    if not interval.is_raised:
        return None
    if level is Level.DEADBAND:
        return interval if interval.good_since is None else interval._replace(good_since=None)
    return interval if interval.good_since is not None else interval._replace(good_since=min(time, good_since))


def has_cleared(interval: FaultInterval, time: float, off_seconds: float) -> bool:
    """Return whether the signal has been good for `off_seconds`."""
    return interval.good_since is not None and time - interval.good_since >= off_seconds


def classify_low(value: float, limit: float, clear: float) -> Level:
    """Return BAD below `limit`, GOOD from `clear` on, and DEADBAND between them or for a missing value (NaN)."""
    if value < limit:
        return Level.BAD
    return Level.GOOD if value >= clear else Level.DEADBAND


def classify_high(value: float, limit: float, clear: float) -> Level:
    """Return BAD above `limit`, GOOD up to `clear`, and DEADBAND between them or for a missing value (NaN)."""
    return classify_low(-value, -limit, -clear)
