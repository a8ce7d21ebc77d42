"""monitor JUDGES. It knows no HTTP and no terminal; the clock is passed in. What leaves it is frozen."""

from __future__ import annotations

from livedeck.monitor.alarms.operator import AlarmRefused
from livedeck.monitor.detection.patterns import diagnose
from livedeck.monitor.history import History, HistoryReader
from livedeck.monitor.kinds.deck import clock_change_text
from livedeck.monitor.model.alarm import Alarm, AlarmChange, AlarmKey, AlarmState, AlarmTransition, Diagnosis
from livedeck.monitor.model.answer import AlarmAnswer, AnswerKind, person
from livedeck.monitor.model.readings import NO_STATUS, Reading, Readings
from livedeck.monitor.model.records import (
    ActionRecord,
    AlarmRecord,
    AuditOutcome,
    Buckets,
    FieldChange,
    IntentRecord,
    LinkRecord,
    Marker,
    MaterialRecord,
    MinMax,
    NotificationRecord,
    OpenChange,
    StreamRecord,
)
from livedeck.monitor.model.resources import (
    ROOM_LIST,
    CachedList,
    KnownMaterial,
    ResourceKey,
    ResourceKind,
    Video,
    recordings_key,
)
from livedeck.monitor.model.snapshot import Snapshot
from livedeck.monitor.model.state import (
    BroadcastState,
    Clock,
    ConnectionProblem,
    ConnectionState,
    ConnectionStatus,
    Episode,
    EventState,
    Finding,
    Freshness,
    Grade,
    Health,
    HealthAssessment,
    Ingest,
    IngestState,
    Phase,
    QosState,
    Severity,
)
from livedeck.monitor.model.thresholds import AlarmLimits, Cadence, Hold, Share, Thresholds, with_overrides
from livedeck.monitor.monitor import Monitor
from livedeck.monitor.polling.connection import is_stale
from livedeck.monitor.polling.known_streams import KnownStream, current_stream, known_streams, remembered_streams

__all__ = [
    "NO_STATUS",
    "ROOM_LIST",
    "ActionRecord",
    "Alarm",
    "AlarmAnswer",
    "AlarmChange",
    "AlarmKey",
    "AlarmLimits",
    "AlarmRecord",
    "AlarmRefused",
    "AlarmState",
    "AlarmTransition",
    "AnswerKind",
    "AuditOutcome",
    "BroadcastState",
    "Buckets",
    "CachedList",
    "Cadence",
    "Clock",
    "ConnectionProblem",
    "ConnectionState",
    "ConnectionStatus",
    "Diagnosis",
    "Episode",
    "EventState",
    "FieldChange",
    "Finding",
    "Freshness",
    "Grade",
    "Health",
    "HealthAssessment",
    "History",
    "HistoryReader",
    "Hold",
    "Ingest",
    "IngestState",
    "IntentRecord",
    "KnownMaterial",
    "KnownStream",
    "LinkRecord",
    "Marker",
    "MaterialRecord",
    "MinMax",
    "Monitor",
    "NotificationRecord",
    "OpenChange",
    "Phase",
    "QosState",
    "Reading",
    "Readings",
    "ResourceKey",
    "ResourceKind",
    "Severity",
    "Share",
    "Snapshot",
    "StreamRecord",
    "Thresholds",
    "Video",
    "clock_change_text",
    "current_stream",
    "diagnose",
    "is_stale",
    "known_streams",
    "person",
    "recordings_key",
    "remembered_streams",
    "with_overrides",
]
