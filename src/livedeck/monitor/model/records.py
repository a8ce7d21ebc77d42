"""What the history keeps and gives back: frozen values. Moments are this machine's clock unless said otherwise.

No secret is in any of them: texts that a person or the platform wrote are masked as the record is made.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from livedeck.monitor.model.alarm import AlarmChange, AlarmState, AlarmTransition, Severity
from livedeck.monitor.model.state import (
    BroadcastState,
    ConnectionProblem,
    ConnectionState,
    ConnectionStatus,
    Episode,
    EventState,
)
from livedeck.text.secrets import masked_line


@dataclass(frozen=True, slots=True)
class AlarmRecord:
    """One turn in the life of an alarm, and how the alarm was after it. `actor`: who answered for it, or empty;
    `process`: the one that tells of it."""

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

    def __post_init__(self) -> None:
        _mask(self, "subject", "target_name", "actual", "expected", "reason", "note")

    @classmethod
    def of(cls, change: AlarmChange, process: str = "", ahead: float = 0.0) -> AlarmRecord:
        """The record of that change, by a clock that is so many seconds ahead."""
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
        )


@dataclass(frozen=True, slots=True)
class LinkRecord:
    """The connection to the platform changed, as that `process` tells."""

    at: datetime
    state: ConnectionState
    trouble: ConnectionProblem
    why: str = ""
    process: str = ""

    @classmethod
    def of(cls, link: ConnectionStatus, process: str = "") -> LinkRecord:
        """The record of that link, as it became what it is."""
        return cls(link.since, link.state, link.problem, masked_line(link.reason), process)


@dataclass(frozen=True, slots=True)
class RestreamRecord:
    """A restream of an event: neither its address nor its key."""

    id: str
    name: str
    status: str
    is_enabled: bool

    def __post_init__(self) -> None:
        _mask(self, "name", "status")


@dataclass(frozen=True, slots=True)
class EventRecord:
    """What an event was called and where it stood from `at` on, until its next record.

    `scheduled`, `started_at`, `finished_at`: of the event and its stream, by the platform's clock. `parent_id`: the
    project or folder that it is in, `recording_parent_id`: the one that its recording goes to. `is_gone`: no list has
    it any more; the rest is as it was last.
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

    def __post_init__(self) -> None:
        _mask(self, "name")

    @classmethod
    def of(cls, state: EventState, at: datetime) -> EventRecord:
        """The record of how that event stands."""
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
                RestreamRecord(restream.id or "", restream.name or "", restream.status or "", bool(restream.enabled))
                for restream in event.restreams or ()
            ),
            event.parent_id or "",
            (event.record.parent_id if event.record else None) or "",
        )

    @property
    def is_completed(self) -> bool:
        """Whether it was over, as the platform says."""
        return self.tally is BroadcastState.COMPLETED

    def is_same(self, other: EventRecord) -> bool:
        """Whether both say the same, though of different moments."""
        return replace(self, at=other.at) == other


@dataclass(frozen=True, slots=True)
class EpisodeRecord:
    """A fault of an event that is over, as its samples or the platform's own dates tell it (server clock).

    `since`: its first bad sample; `until`: when it was good again. `severity`: the loudest that it had.
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
        """The record of that fault, which was over then."""
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


@dataclass(frozen=True, slots=True)
class WatchRecord:
    """From its first to its last good answer a process watched the platform, without a break."""

    at: datetime
    until: datetime
    process: str


WATCH_WRITTEN_EACH = timedelta(seconds=30)
"""What a killed process loses of its last stretch, at most; what is newer nobody knows from the file."""


class AuditOutcome(StrEnum):
    """What became of an action (trust.md, "Verdicts").

    DONE: the platform said so, or it never left this machine. REFUSED: the platform said so, or it was provably not
    sent. APPLIED: the answer was lost, and what was changed shows it. UNKNOWN: nothing proves either. NOT_APPLIED: in
    files of 0.1.0 only, whose four looks proved nothing; DONE is APPLIED in them.
    """

    DONE = "done"
    REFUSED = "refused"
    APPLIED = "applied"
    UNKNOWN = "unknown"
    NOT_APPLIED = "not applied"


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field that an action changed, before and after, as text; secrets masked."""

    name: str
    before: str
    after: str

    def __post_init__(self) -> None:
        _mask(self, "before", "after")


@dataclass(frozen=True, slots=True)
class IntentRecord:
    """A change that is about to be sent, recorded before it leaves: what a killed deck leaves behind.

    `verb`: in words, beside the name `action`. `actor`, `host`, `pid`: who sends it, as this machine knows them; `pid`
    is 0 where another collector has the history of what becomes of it.
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
        """Who sends it, and where: `anna@regie`."""
        return f"{self.actor}@{self.host}"


ENDING_ACTIONS = frozenset({"event.complete", "event.delete"})
"""The names of the actions that end an event."""


@dataclass(frozen=True, slots=True)
class OpenChange:
    """A change that was sent and of which nothing proves what became of it.

    `detail`: what is known, empty where its sender was ended. `watched_until`: until when its sender looks again; None:
    it does not.
    """

    intent: IntentRecord
    detail: str = ""
    watched_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class ActionRecord:
    """Something that a person did, for the audit: `action` by its name in the registry, on what, and what came of it.

    `detail`: the platform's words, or ours. `intent`: the id of the intent that this is the end of, or for UNKNOWN news
    of; empty for what never left this machine. `watched_until`: as of an `OpenChange`.
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


@dataclass(frozen=True, slots=True)
class Marker:
    """A moment that a person marked in the charts of an event (server clock)."""

    at: datetime
    event_id: str
    text: str = ""

    def __post_init__(self) -> None:
        _mask(self, "text")


@dataclass(frozen=True, slots=True)
class NotificationRecord:
    """What the deck told the person: a toast, an error, a bell."""

    at: datetime
    severity: Severity
    title: str
    text: str = ""
    event_id: str = ""

    def __post_init__(self) -> None:
        _mask(self, "title", "text")


@dataclass(frozen=True, slots=True)
class MaterialRecord:
    """An additional material that this deck made; the platform cannot list them (platform-api.md, "Additional
    materials")."""

    id: str
    video_id: str
    title: str
    file_name: str
    at: datetime

    def __post_init__(self) -> None:
        _mask(self, "title", "file_name")


@dataclass(frozen=True, slots=True)
class StreamRecord:
    """A stream that the history knows: its first and last sample (server clock), and how many there are."""

    stream_id: str
    first: datetime
    last: datetime
    samples: int


@dataclass(frozen=True, slots=True)
class StreamSpan:
    """From when to when the history has samples of a stream (server clock)."""

    event_id: str
    stream_id: str
    first: datetime
    last: datetime


@dataclass(frozen=True, slots=True)
class CollectedStream:
    """The samples of a stream were asked for after its end, and are not asked for again; so many came."""

    at: datetime
    event_id: str
    stream_id: str
    samples: int

    @property
    def key(self) -> tuple[str, str]:
        """Its event and itself."""
        return self.event_id, self.stream_id


def _doubles() -> array[float]:
    return array("d")


def _integers() -> array[int]:
    return array("q")


@dataclass(frozen=True, slots=True, eq=False)
class MinMax:
    """One measure by column: the least and the greatest value; NaN where none was measured."""

    low: array[float] = field(default_factory=_doubles)
    high: array[float] = field(default_factory=_doubles)


@dataclass(frozen=True, slots=True, eq=False)
class Buckets:
    """The samples of one stream gathered into equal steps of time, one for each column of a chart.

    Column `i` begins at `since + i * step` (epoch s, server clock). `count`: samples in it, 0 is a gap. Rates in bit/s,
    frames/s. `status`: the worst in it (5, 4, 3, one that the document does not name, 0), NO_STATUS where there was
    none. `statuses`: 0, 3, 4, 5 -> how many samples had it.
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


def _mask(record: object, *names: str) -> None:
    for name in names:
        object.__setattr__(record, name, masked_line(getattr(record, name)))
