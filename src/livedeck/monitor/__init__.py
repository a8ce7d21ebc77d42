"""monitor JUDGES. It knows no HTTP and no terminal; the clock is passed in. What leaves it is frozen."""

from __future__ import annotations

from livedeck.monitor.connection import stale
from livedeck.monitor.facts import (
    Alarm,
    Clock,
    EventState,
    Finding,
    Freshness,
    Grade,
    Health,
    Ingest,
    IngestState,
    Link,
    LinkState,
    Phase,
    QosState,
    Severity,
    Snapshot,
    Tally,
    Trouble,
    Verdict,
)
from livedeck.monitor.monitor import Monitor
from livedeck.monitor.readings import MISSING, NO_STATUS, Reading, Readings
from livedeck.monitor.thresholds import Cadence, Thresholds

__all__ = [
    "MISSING",
    "NO_STATUS",
    "Alarm",
    "Cadence",
    "Clock",
    "EventState",
    "Finding",
    "Freshness",
    "Grade",
    "Health",
    "Ingest",
    "IngestState",
    "Link",
    "LinkState",
    "Monitor",
    "Phase",
    "QosState",
    "Reading",
    "Readings",
    "Severity",
    "Snapshot",
    "Tally",
    "Thresholds",
    "Trouble",
    "Verdict",
    "stale",
]
