"""Records that the history stores and returns, as frozen values. Times are by this machine's clock unless noted.

Records have no secrets in them: texts from people or the platform are masked when a record is made.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum

from msgspec import field
from msgspec.structs import force_setattr

from livedeck.monitor.model.alarm import AlarmChange, AlarmState, AlarmTransition, Severity
from livedeck.monitor.model.state import (
    BroadcastState,
    ConnectionProblem,
    ConnectionState,
    ConnectionStatus,
    Episode,
    EventState,
)
from livedeck.record import Record
from livedeck.text.secrets import masked_line


class AlarmRecord(Record):
    """Transition of an alarm, with the alarm after the transition.

    `actor`: person who caused the transition, or empty. `process`: process that recorded it. `is_silenced`: a silence
    covered the alarm after the transition.
    """

    at: datetime
    turn: AlarmTransition
    event_id: str
    kind: str
    target: str
    severity: Severity
    state: AlarmState
    since: datetime
    subject: str
    target_name: str
    actual: str
    expected: str
    reason: str = ""
    note: str = ""
    cause: str = ""
    actor: str = ""
    process: str = ""
    is_silenced: bool = False

    def __post_init__(self) -> None:
        _mask(self, "subject", "target_name", "actual", "expected", "reason", "note")

    @classmethod
    def of(cls, change: AlarmChange, process: str = "", ahead: float = 0.0) -> AlarmRecord:
        """Return the record of a change, with its times by a clock that is `ahead` seconds ahead."""
        alarm = change.alarm.moved(ahead)
        return cls(
            change.at + timedelta(seconds=ahead),
            change.transition,
            *alarm.key,
            alarm.severity,
            alarm.state,
            alarm.since,
            alarm.subject,
            alarm.target_name,
            alarm.actual,
            alarm.expected,
            alarm.reason,
            alarm.note,
            alarm.diagnosis.cause,
            change.actor,
            process,
            alarm.silenced is not None,
        )


class LinkRecord(Record):
    """Change of a process's connection to the platform."""

    at: datetime
    state: ConnectionState
    trouble: ConnectionProblem
    why: str = ""
    process: str = ""

    @classmethod
    def of(cls, link: ConnectionStatus, process: str = "") -> LinkRecord:
        """Return the record of a connection that has just changed."""
        return cls(link.since, link.state, link.problem, masked_line(link.reason), process)


class RestreamRecord(Record):
    """Restream of an event, without its address and key.

    `changed_at`: the platform's date of its last change; None if the platform gave none, or if an older version made
    the record.
    """

    id: str
    name: str
    status: str
    is_enabled: bool
    changed_at: datetime | None = None

    def __post_init__(self) -> None:
        _mask(self, "name", "status")


class EventRecord(Record):
    """Name and state of an event from `at` until its next record.

    `scheduled`, `started_at`, `finished_at`: times of the event and its stream, by the platform's clock. `parent_id`,
    `recording_parent_id`: project or folder of the event and of its recording. `is_gone`: the event is no longer
    listed; the other fields keep their last values. `presets`: picture sizes of the event; None if the platform
    reported none, or if an older version made the record.
    """

    at: datetime
    event_id: str
    name: str
    tally: BroadcastState
    scheduled: datetime | None = None
    stream_id: str = ""
    started_at: datetime | None = None
    finished_at: datetime | None = None
    restreams: tuple[RestreamRecord, ...] = ()
    parent_id: str = ""
    recording_parent_id: str = ""
    is_gone: bool = False
    presets: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        _mask(self, "name")

    @classmethod
    def of(cls, state: EventState, at: datetime) -> EventRecord:
        """Return the record of an event's present state."""
        event, stream = state.event, state.event.stream
        return cls(
            at,
            event.id,
            event.name or "",
            state.phase.tally,
            event.scheduled.time if event.scheduled else None,
            (stream.id if stream else None) or "",
            stream.started_at if stream else None,
            stream.finished_at if stream else None,
            tuple(
                RestreamRecord(
                    restream.id or "",
                    restream.name or "",
                    restream.status or "",
                    bool(restream.enabled),
                    restream.updated_at or restream.created_at,
                )
                for restream in event.restreams or ()
            ),
            event.parent_id or "",
            (event.record.parent_id if event.record else None) or "",
            presets=event.video.presets if event.video else None,
        )

    @property
    def planned(self) -> datetime | None:
        """Planned start of the stream if the stream has not begun, else of the event."""
        is_pending = self.is_waiting and self.finished_at is None
        return (self.started_at if is_pending else None) or self.scheduled

    @property
    def is_waiting(self) -> bool:
        """True if the event waits for its planned start, even if it is late."""
        return self.tally in {BroadcastState.SCHEDULED, BroadcastState.LATE}

    @property
    def is_completed(self) -> bool:
        """True if the platform reports that the event has ended."""
        return self.tally is BroadcastState.COMPLETED

    def is_same(self, other: EventRecord) -> bool:
        """Return whether both records are equal except for their times."""
        return replace(self, at=other.at) == other


class EpisodeRecord(Record):
    """Past fault of an event (server clock).

    `since`: time of the first bad sample. `until`: time of the first good sample. `severity`: highest severity of the
    fault.
    """

    event_id: str
    kind: str
    target: str
    target_name: str
    severity: Severity
    since: datetime
    until: datetime
    actual: str
    expected: str

    def __post_init__(self) -> None:
        _mask(self, "target_name", "actual", "expected")

    @classmethod
    def of(cls, state: EventState, episode: Episode, until: datetime) -> EpisodeRecord:
        """Return the record of a fault that ended at `until`."""
        names = {restream.id: restream.name or "" for restream in state.event.restreams or ()}
        return cls(
            state.id,
            episode.kind,
            episode.target,
            names.get(episode.target, ""),
            episode.severity,
            episode.since,
            until,
            episode.actual,
            episode.expected,
        )


class WatchRecord(Record):
    """Unbroken time of watching the platform, from a process's first to its last good reply."""

    at: datetime
    until: datetime
    process: str


class UnwatchedRecord(Record):
    """Time between two samples of a stream that no reply covers (server clock)."""

    at: datetime
    until: datetime
    event_id: str
    stream_id: str


WATCH_WRITTEN_EACH = timedelta(seconds=30)
"""Interval at which a watch record is stored, so that a killed process loses at most this much of it."""


class AuditOutcome(StrEnum):
    """Outcome of an action (trust.md, "Verdicts").

    DONE: the platform confirmed the action, or it needed no request. REFUSED: the platform refused the action, or it
    was provably not sent. APPLIED: the reply was lost, but the change is visible. UNKNOWN: no proof that the change was
    applied or was not. Files of version 0.1.0 differ: NOT_APPLIED is an outcome after four reads without proof, and
    DONE also means APPLIED.
    """

    DONE = "done"
    REFUSED = "refused"
    APPLIED = "applied"
    UNKNOWN = "unknown"
    NOT_APPLIED = "not applied"


class FieldChange(Record):
    """Field that an action changed: its values before and after as text, with secrets masked."""

    name: str
    before: str
    after: str

    def __post_init__(self) -> None:
        _mask(self, "before", "after")


class IntentRecord(Record):
    """Intent of a change, recorded before the change is sent, as proof in case the deck is killed.

    `action`: name of the action in the registry. `verb`: the change in words. `actor`, `host`, `pid`: sender of the
    change; `pid` is 0 if another collector records the outcome.
    """

    id: str
    at: datetime
    action: str
    verb: str
    target_kind: str
    target_id: str
    target_name: str
    actor: str
    host: str
    pid: int
    edits: tuple[FieldChange, ...] = ()

    def __post_init__(self) -> None:
        _mask(self, "target_name")

    @property
    def by(self) -> str:
        """Sender with machine, such as `anna@regie`."""
        return f"{self.actor}@{self.host}"


ENDING_ACTIONS = frozenset({"event.complete", "event.delete"})
"""Names of the actions that end an event."""

ATTRIBUTED_FOR = timedelta(minutes=2)
"""Window after a person's action; an end of the event within it is attributed to that person."""


def ending_actors(intents: Iterable[IntentRecord]) -> dict[str, str]:
    """Return event id -> person who requested its end."""
    return {intent.target_id: intent.by for intent in intents if intent.action in ENDING_ACTIONS}


class OpenChange(Record):
    """Change that was sent and has an unknown outcome.

    `detail`: facts so far; empty if the sender was killed. `watched_until`: time until which the sender goes on
    checking the outcome; None if it does not.
    """

    intent: IntentRecord
    detail: str = ""
    watched_until: datetime | None = None


class ActionRecord(Record):
    """Action of a person, for the audit, with its target and outcome.

    `action`: name of the action in the registry. `detail`: text of the platform, or of livedeck. `intent`: id of the
    intent that this record completes (or only updates, if the outcome is UNKNOWN); empty if no request was sent.
    `watched_until`: as in OpenChange.
    """

    at: datetime
    action: str
    target_kind: str
    target_id: str
    target_name: str
    outcome: AuditOutcome
    detail: str = ""
    edits: tuple[FieldChange, ...] = ()
    intent: str = ""
    watched_until: datetime | None = None

    def __post_init__(self) -> None:
        _mask(self, "target_name", "detail")


class Marker(Record):
    """Moment that a person marked in the charts of an event (server clock)."""

    at: datetime
    event_id: str
    text: str = ""

    def __post_init__(self) -> None:
        _mask(self, "text")


class NotificationRecord(Record):
    """Message that the deck has shown: a toast, an error, a bell."""

    at: datetime
    severity: Severity
    title: str
    text: str = ""
    event_id: str = ""

    def __post_init__(self) -> None:
        _mask(self, "title", "text")


class MaterialRecord(Record):
    """Additional material that livedeck created; the platform has no list (platform-api.md, "Additional materials")."""

    id: str
    video_id: str
    title: str
    file_name: str
    at: datetime

    def __post_init__(self) -> None:
        _mask(self, "title", "file_name")


class StreamRecord(Record):
    """Stream in the history: times of its first and last sample (server clock), and number of samples."""

    stream_id: str
    first: datetime
    last: datetime
    samples: int


class StreamSpan(Record):
    """Time from the first to the last sample of a stream in the history (server clock)."""

    event_id: str
    stream_id: str
    first: datetime
    last: datetime


class CollectedStream(Record):
    """Ended stream with all samples collected. `samples`: number of samples in the last reply."""

    at: datetime
    event_id: str
    stream_id: str
    samples: int

    @property
    def key(self) -> tuple[str, str]:
        """Event id and stream id."""
        return self.event_id, self.stream_id


def _doubles() -> array[float]:
    return array("d")


def _integers() -> array[int]:
    return array("q")


class MinMax(Record, eq=False):
    """Minimum and maximum of a measure, by column; NaN if not measured."""

    low: array[float] = field(default_factory=_doubles)
    high: array[float] = field(default_factory=_doubles)


class Buckets(Record, eq=False):
    """Samples of one stream in equal steps of time, one for each column of a chart.

    Column `i` begins at `since + i * step` (epoch s, server clock). `count`: number of samples; 0 is a gap. `video`,
    `audio`, `fps`: rates in bit/s and frames/s. `status`: worst status (from the worst: 5, 4, 3, an undocumented one,
    0); NO_STATUS without any. `statuses`: status (0, 3, 4, 5) -> number of samples with this status.
    """

    since: float
    step: float
    count: array[int] = field(default_factory=_integers)
    video: MinMax = field(default_factory=MinMax)
    audio: MinMax = field(default_factory=MinMax)
    fps: MinMax = field(default_factory=MinMax)
    status: array[int] = field(default_factory=_integers)
    statuses: Mapping[int, array[int]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.count)


def _mask(record: Record, *names: str) -> None:
    for name in names:
        force_setattr(record, name, masked_line(getattr(record, name)))
