"""How far a datum may be believed (monitoring.md, "Freshness first"). Pure; all arguments in seconds."""

from __future__ import annotations

from livedeck.monitor.facts import Freshness
from livedeck.monitor.thresholds import Thresholds

_ORDER = (Freshness.FRESH, Freshness.LATE, Freshness.STALE, Freshness.NEVER)


def late_limit(cadence: float | None, thresholds: Thresholds) -> float:
    """A gap longer than this is no mere pause between two samples; `cadence` None where it is not learnt yet."""
    return max(thresholds.late_after, thresholds.late_intervals * (cadence or 0.0))


def of_answer(age: float | None, interval: float, thresholds: Thresholds) -> Freshness:
    """OURS to keep: STALE once we failed to ask for two intervals; `age` None where there never was an answer."""
    if age is None:
        return Freshness.NEVER
    return Freshness.STALE if age > thresholds.answer_intervals * interval else Freshness.FRESH


def of_samples(age: float, cadence: float | None, thresholds: Thresholds) -> Freshness:
    """THEIRS to send: how old the newest sample is. Answers that keep bringing the same sample do not refresh it."""
    if age > max(thresholds.stale_after, thresholds.stale_intervals * (cadence or 0.0)):
        return Freshness.STALE
    return Freshness.LATE if age > late_limit(cadence, thresholds) else Freshness.FRESH


def worst(one: Freshness, other: Freshness) -> Freshness:
    """The less believable of two."""
    return max(one, other, key=_ORDER.index)
