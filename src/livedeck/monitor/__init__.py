"""monitor JUDGES. It knows no HTTP and no terminal; the clock is passed in. What leaves it is frozen."""

from __future__ import annotations

from livedeck.monitor.attended import attended
from livedeck.monitor.attention import Attention
from livedeck.monitor.board import Alarm, AlarmKey, AlarmState, Change, Diagnosis, Turn
from livedeck.monitor.connection import stale
from livedeck.monitor.diagnosis import diagnose
from livedeck.monitor.facts import (
    Clock,
    Episode,
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
    Tally,
    Trouble,
    Verdict,
)
from livedeck.monitor.handling import AlarmRefused
from livedeck.monitor.history import Glance, History
from livedeck.monitor.monitor import Monitor
from livedeck.monitor.past_streams import KnownStream, current_stream, known_streams, remembered_streams
from livedeck.monitor.readings import NO_STATUS, Reading, Readings
from livedeck.monitor.records import (
    ActionRecord,
    AlarmRecord,
    Band,
    Buckets,
    Edit,
    LinkRecord,
    Marker,
    MaterialRecord,
    NotificationRecord,
    Outcome,
    StreamRecord,
)
from livedeck.monitor.rooms import RoomsState
from livedeck.monitor.snapshot import Snapshot
from livedeck.monitor.thresholds import Cadence, Hold, Share, Thresholds, tuned

__all__ = [
    "NO_STATUS",
    "ActionRecord",
    "Alarm",
    "AlarmKey",
    "AlarmRecord",
    "AlarmRefused",
    "AlarmState",
    "Attention",
    "Band",
    "Buckets",
    "Cadence",
    "Change",
    "Clock",
    "Diagnosis",
    "Edit",
    "Episode",
    "EventState",
    "Finding",
    "Freshness",
    "Glance",
    "Grade",
    "Health",
    "History",
    "Hold",
    "Ingest",
    "IngestState",
    "KnownStream",
    "Link",
    "LinkRecord",
    "LinkState",
    "Marker",
    "MaterialRecord",
    "Monitor",
    "NotificationRecord",
    "Outcome",
    "Phase",
    "QosState",
    "Reading",
    "Readings",
    "RoomsState",
    "Severity",
    "Share",
    "Snapshot",
    "StreamRecord",
    "Tally",
    "Thresholds",
    "Trouble",
    "Turn",
    "Verdict",
    "attended",
    "current_stream",
    "diagnose",
    "known_streams",
    "remembered_streams",
    "stale",
    "tuned",
]
