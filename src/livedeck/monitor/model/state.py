"""Frozen values that leave the monitor. Nothing here decides; nothing here changes once made.

Two clocks appear. `as_of` and every age run on this machine's clock; `scheduled`, sample times and countdowns are the
server's. `ConnectionStatus.skew` is the distance between them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from livedeck.client import Event
from livedeck.monitor.model.alarm import Severity
from livedeck.monitor.model.readings import Readings
from livedeck.monitor.model.ruling import Ruling
from livedeck.monitor.model.thresholds import Content


class Clock(Protocol):
    """The time, passed in so that a test or a rehearsal can own it."""

    def now(self) -> datetime:
        """The wall clock of this machine, aware, UTC."""

    def monotonic(self) -> float:
        """Seconds that never run backwards, and go on while the machine sleeps; for delays and cadence."""

    async def sleep(self, seconds: float) -> None:
        """Return after that many seconds of this clock."""


class BroadcastState(StrEnum):
    """What an event is to the audience. Derived by `phase.derive`; the platform has no such field."""

    DRAFT = "DRAFT"
    SCHEDULED = "SCHEDULED"
    LATE = "LATE"
    ON_AIR = "ON AIR"
    RECONNECTING = "RECONNECTING"
    LOST = "LOST"
    COMPLETED = "COMPLETED"
    UNKNOWN = "UNKNOWN"

    @property
    def expects_signal(self) -> bool:
        """Whether the audience waits for a signal now: where none comes, something is wrong."""
        return self in {BroadcastState.ON_AIR, BroadcastState.RECONNECTING, BroadcastState.LOST}


class IngestState(StrEnum):
    """What arrives from the encoder."""

    UNKNOWN = "unknown"
    NONE = "none"
    WARMING_UP = "warming up"
    RECEIVING = "receiving"
    INTERRUPTED = "interrupted"
    ENDED = "ended"


class Freshness(StrEnum):
    """How far a datum may be believed. NEVER: there was no good answer yet."""

    FRESH = "fresh"
    LATE = "late"
    STALE = "stale"
    NEVER = "never"


class ConnectionState(StrEnum):
    """The connection to the platform as a whole. POOR: answers are lost in passing. BLIND: none came for 30 s."""

    CONNECTING = "connecting"
    OK = "ok"
    POOR = "poor"
    FAILING = "failing"
    BLIND = "blind"

    @property
    def is_answering(self) -> bool:
        """Whether the platform can be watched through it."""
        return self in {ConnectionState.OK, ConnectionState.POOR}


class ConnectionProblem(StrEnum):
    """Why the connection is not well, as a banner says it. NONE: it is well, or nothing was tried yet."""

    NONE = ""
    UNAUTHORIZED = "TOKEN REFUSED"
    RATE_LIMITED = "RATE LIMITED"
    REDIRECTED = "SENT ELSEWHERE"
    REQUEST_REFUSED = "REQUEST REFUSED"
    PLATFORM_FAILING = "PLATFORM FAILING"
    UNREADABLE = "ANSWER UNREADABLE"
    COLLECTOR_SILENT = "COLLECTOR SILENT"
    COLLECTOR_REFUSES = "COLLECTOR REFUSES"
    NO_ANSWER = "NO ANSWER"


class Grade(StrEnum):
    """The word for a health score; the four last ones stand where there is no score."""

    GOOD = "GOOD"
    FAIR = "FAIR"
    POOR = "POOR"
    NO_DATA = "NO DATA"
    STALE = "STALE"
    WARM_UP = "WARM-UP"
    NONE = ""


class Component(StrEnum):
    """What a health score is made of; UNKNOWN: what was not measured. NONE: nothing of it.

    Where faults hold the score down equally, the first of these is named.
    """

    UNKNOWN = "unknown"
    VIDEO = "video"
    FPS = "fps"
    AUDIO = "audio"
    KEY = "key"
    LOSS = "loss"
    LATE = "late"
    NONE = ""


@dataclass(frozen=True, slots=True)
class Ingest:
    """The encoder's side: since when it is so, and when its reconnect window ends; both by the server's clock."""

    state: IngestState = IngestState.UNKNOWN
    since: datetime | None = None
    window_ends: datetime | None = None


@dataclass(frozen=True, slots=True)
class Phase:
    """Tally and ingest of an event. Its clock counts from `reference_time` (on air, T+) or down to it (T-).

    A completed event's reference is its end, and `elapsed` the seconds that it was on air; None where the platform
    lacks a time.
    """

    tally: BroadcastState
    reference_time: datetime | None = None
    ingest: Ingest = field(default_factory=Ingest)
    elapsed: float | None = None

    @property
    def is_silent(self) -> bool:
        """Whether a signal is expected and none arrives."""
        return self.tally.expects_signal and self.ingest.state in {IngestState.NONE, IngestState.INTERRUPTED}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong now, with the actual and the expected in words.

    `since`: when it began by the samples or the schedule (server clock); None where they do not tell. `target`: the
    part of the event that is wrong (a restream's id), empty for the whole. `stage` grows when it deserves attention
    again though it never ended.
    """

    kind: str
    severity: Severity
    actual: str
    expected: str
    since: datetime | None = None
    target: str = ""
    target_name: str = ""
    stage: int = 0


@dataclass(frozen=True, slots=True)
class Episode:
    """A fault of a stream, present (`until` None) or past, as its samples tell it (server clock).

    `since`: its first bad sample; `until`: when it was good again, which its end confirmed. `severity`: the loudest
    that it had; `actual` and `expected`: in words, at its last bad sample.
    """

    kind: str
    severity: Severity
    target: str
    since: datetime
    until: datetime | None
    actual: str
    expected: str


class Pattern(StrEnum):
    """The eight faults that look alike everywhere (monitoring.md, "Fault patterns"); NONE where it looks like no
    one."""

    NETWORK = "network"
    BURSTS = "wireless burst loss"
    OVERLOAD = "encoder overload"
    AUDIO = "audio path"
    CAMERA = "camera lost"
    STEP = "encoder profile or static picture"
    KEYS = "key-frame interval not constant"
    GONE = "disconnected or blind"
    NONE = ""


@dataclass(frozen=True, slots=True)
class Health:
    """0 to 100, the minimum of its components; `score` is None where no fresh picture was measured.

    `component` is the lowest one, `detail` what it measured (`fps 22.1/30`); both are empty where the score is 100.
    """

    score: int | None = None
    grade: Grade = Grade.NONE
    component: Component = Component.NONE
    detail: str = ""


@dataclass(frozen=True, slots=True)
class HealthAssessment:
    """What `health.assess` says of one event: the health, every finding, and what it was measured against.

    `limit_video`: bit/s under which the video counts as low. All three are None until enough was seen.
    """

    health: Health = field(default_factory=Health)
    findings: tuple[Finding, ...] = ()
    nominal_fps: float | None = None
    baseline_video: float | None = None
    limit_video: float | None = None


@dataclass(frozen=True, slots=True)
class QosState:
    """The samples of an event and how far they may be believed.

    `as_of`: last good answer (this machine's clock). `cadence`: seconds between samples, learnt. `error`: why the last
    try failed, or empty; `failing_since`: when the first one since `as_of` failed. `future_samples`: how many samples
    of the last answer were left out, being dated in the future; `unreadable`: field -> in how many of them it could not
    be read. `lag`: how late samples come as a rule (s); None while that is not known.
    `is_overdue`: the newest was older than that when it was last answered. `is_frozen`: they come, their time stands
    still.
    """

    readings: Readings = field(default_factory=Readings)
    as_of: datetime | None = None
    freshness: Freshness = Freshness.NEVER
    cadence: float | None = None
    error: str = ""
    future_samples: int = 0
    failing_since: datetime | None = None
    unreadable: Mapping[str, int] = field(default_factory=dict)
    lag: float | None = None
    is_overdue: bool = False
    is_frozen: bool = False


@dataclass(frozen=True, slots=True)
class EventState:
    """One event as the operator sees it: the platform's object, and what the monitor made of it.

    `episodes`: what the kept samples tell of this stream: present and past faults, oldest first, 200 at most.
    `pattern`: which known fault the samples look like, where they show any.

    `is_stale`: asking for it fails, or has for two intervals brought nothing: what is shown may be over. Samples that
    stopped while the platform answers make nothing stale: that silence is known. `is_listed`: the last list held it;
    else it held rows that could not be read, and this event may be one of them, or it is the first list without it.
    `content`: what the event carries; `rulings`: what persons said of how it is judged.
    """

    event: Event
    as_of: datetime
    phase: Phase
    qos: QosState
    assessment: HealthAssessment
    is_stale: bool = False
    episodes: tuple[Episode, ...] = ()
    pattern: Pattern = Pattern.NONE
    is_listed: bool = True
    content: Content = Content.SHOW
    rulings: tuple[Ruling, ...] = ()

    @property
    def id(self) -> str:
        """The identity that a cursor, a dialog and an action follow."""
        return self.event.id


@dataclass(frozen=True, slots=True)
class EndedEvent:
    """An event that ended while on air, its encoder sending: `how` in words, up to its time; `at`: of the answer.

    `is_gone`: no list has it; else it was completed. `by`: who did that at a deck of this history, empty where nobody
    did; None while that was not looked up.
    """

    id: str
    name: str
    how: str
    at: datetime
    is_gone: bool = False
    by: str | None = None


@dataclass(frozen=True, slots=True)
class ClockChange:
    """Until `at` this machine slept so many `seconds`, or then its clock was set by so many, forward or back."""

    at: datetime
    seconds: float
    is_sleep: bool = False


@dataclass(frozen=True, slots=True)
class SharingFault:
    """What is wrong among the processes that ask together: since when this one is apart from the others, why, and which
    of them are lost."""

    apart_since: datetime | None = None
    reason: str = ""
    lost: tuple[str, ...] = ()


NO_SHARING_FAULT = SharingFault()


@dataclass(frozen=True, slots=True)
class ConnectionStatus:
    """The connection to the platform.

    `since`: when `state` began. `problem`: its cause in two words, empty while all is well; `reason`: the whole of it.
    `as_of`: the last good answer. `recovered_at`: when the connection last came back from FAILING or BLIND.
    `round_trip`: seconds, of the last exchange. `skew`: seconds that the server's clock is ahead of this machine's; 0
    while that is under 2 s. `interval`: seconds between event rounds; what is older than two of them is stale.
    `failures`: failed rounds in a row; `next_try`: when the platform is asked again after them, None while it is being
    asked. `lost_share`: of the answers of the last minute, in passing; 0 while the link is not poor.

    `clock_offset`: seconds that this machine's clock was set forward since the monitor began; all times are without
    that. `clock_change`: what happened to it in the last minute. `is_clock_doubtful`: it made a step, and no answer has
    told yet whether it was set or the machine slept.
    """

    state: ConnectionState
    since: datetime
    reason: str = ""
    as_of: datetime | None = None
    round_trip: float | None = None
    skew: float = 0.0
    interval: float = 15.0
    failures: int = 0
    problem: ConnectionProblem = ConnectionProblem.NONE
    recovered_at: datetime | None = None
    next_try: datetime | None = None
    lost_share: float = 0.0
    clock_offset: float = 0.0
    clock_change: ClockChange | None = None
    is_clock_doubtful: bool = False

    @property
    def measured_skew(self) -> float | None:
        """`skew`, where there was an answer to measure it by; None before the first."""
        return None if self.round_trip is None else self.skew

    @property
    def is_unauthorized(self) -> bool:
        """Whether the platform answers, but not to this token."""
        return self.problem is ConnectionProblem.UNAUTHORIZED
