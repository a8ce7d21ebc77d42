"""State of events and of the connection, as frozen values that leave the monitor. Nothing here decides.

Two clocks occur. `as_of` and all ages use this machine's clock; `scheduled`, sample times and countdowns use the
server's. `ConnectionStatus.skew` is the difference.

"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Protocol

from msgspec import field

from livedeck.client import Event
from livedeck.monitor.model.alarm import Severity
from livedeck.monitor.model.blame import NO_BLAME, NO_FAILURE, Blame, Culprit, Failure
from livedeck.monitor.model.own import WATCHING, OwnState, Why
from livedeck.monitor.model.readings import Readings
from livedeck.monitor.model.ruling import Ruling
from livedeck.monitor.model.span import Span
from livedeck.monitor.model.thresholds import Content
from livedeck.record import Record


class Clock(Protocol):
    """Clock that is passed in, so that a test or a rehearsal can control it."""

    def now(self) -> datetime:
        """Return the wall clock of this machine, aware, UTC."""

    def monotonic(self) -> float:
        """Return seconds that never run backwards and continue while the machine sleeps; for delays and cadence."""

    async def sleep(self, seconds: float) -> None:
        """Return after `seconds` of this clock."""


class BroadcastState(StrEnum):
    """State of an event for its audience. `phase.derive` computes it; the platform has no such field."""

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
        """True if the audience waits for a signal now, so that a missing one is a fault."""
        return self in {BroadcastState.ON_AIR, BroadcastState.RECONNECTING, BroadcastState.LOST}


class IngestState(StrEnum):
    """State of the encoder's signal."""

    UNKNOWN = "unknown"
    NONE = "none"
    WARMING_UP = "warming up"
    RECEIVING = "receiving"
    INTERRUPTED = "interrupted"
    ENDED = "ended"


class Freshness(StrEnum):
    """Freshness of a value: how far to trust it. NEVER: no good response yet."""

    FRESH = "fresh"
    LATE = "late"
    STALE = "stale"
    NEVER = "never"


class ConnectionState(StrEnum):
    """State of the connection to the platform. POOR: responses are lost at times. BLIND: no response for 30 s."""

    CONNECTING = "connecting"
    OK = "ok"
    POOR = "poor"
    FAILING = "failing"
    BLIND = "blind"

    @property
    def is_answering(self) -> bool:
        """True if the platform can be monitored through it."""
        return self in {ConnectionState.OK, ConnectionState.POOR}


class ConnectionProblem(StrEnum):
    """Problem of the connection; `banner` puts it in words. NONE: the connection works, or was not tried yet."""

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

    @property
    def banner(self) -> str:
        """Text of the banner. The value itself keeps the older word ANSWER, which histories and recordings hold."""
        return self.value.replace("ANSWER", "REPLY")


class Grade(StrEnum):
    """Grade of an event's health; the last four stand for a missing score."""

    GOOD = "GOOD"
    FAIR = "FAIR"
    POOR = "POOR"
    NO_DATA = "NO DATA"
    STALE = "STALE"
    WARM_UP = "WARM-UP"
    NONE = ""


class Component(StrEnum):
    """Component of a health score. UNKNOWN: values were not measured. NONE: no component.

    If several components have the lowest score, the first in this order is named.

    """

    UNKNOWN = "unknown"
    VIDEO = "video"
    FPS = "fps"
    AUDIO = "audio"
    KEY = "key"
    LOSS = "loss"
    LATE = "late"
    NONE = ""


class Ingest(Record):
    """State of the encoder's signal, its start, and the end of the reconnect window (server clock)."""

    state: IngestState = IngestState.UNKNOWN
    since: datetime | None = None
    window_ends: datetime | None = None


class Phase(Record):
    """Tally and ingest of an event. The event's clock counts from `reference_time` (on air, T+) or down to it (T-).

    For a completed event, `reference_time` is its end and `elapsed` its seconds on air. None if the platform lacks a
    time.

    """

    tally: BroadcastState
    reference_time: datetime | None = None
    ingest: Ingest = field(default_factory=Ingest)
    elapsed: float | None = None

    @property
    def is_silent(self) -> bool:
        """True if a signal is expected but missing."""
        return self.tally.expects_signal and self.ingest.state in {IngestState.NONE, IngestState.INTERRUPTED}


class Finding(Record):
    """Present fault, with the actual and expected value in words.

    `since`: start by samples or schedule (server clock); None if unknown. `target`: faulty part of the event (a
    restream's id), empty for the whole. `stage` grows when the fault deserves attention again without a break.
    """

    kind: str
    severity: Severity
    actual: str
    expected: str
    since: datetime | None = None
    target: str = ""
    target_name: str = ""
    stage: int = 0


class Episode(Record):
    """Fault of a stream, present (`until` None) or past, according to its samples (server clock).

    `since`: first bad sample; `until`: first good sample, once the end is confirmed. `severity`: the highest so far;
    `actual`, `expected`: values in words, at the last bad sample.
    """

    kind: str
    severity: Severity
    target: str
    since: datetime
    until: datetime | None
    actual: str
    expected: str


class Pattern(StrEnum):
    """The eight known fault patterns (monitoring.md, "Fault patterns"); NONE: no pattern."""

    NETWORK = "network"
    BURSTS = "wireless burst loss"
    OVERLOAD = "encoder overload"
    AUDIO = "audio path"
    CAMERA = "camera lost"
    STEP = "encoder profile or static picture"
    KEYS = "key-frame interval not constant"
    GONE = "disconnected or blind"
    NONE = ""


class Health(Record):
    """Score from 0 to 100, the minimum of its components; `score` is None without a fresh measured picture.

    `component` has the lowest score; `detail` is its measured value (`fps 22.1/30`). Both are empty at 100.

    """

    score: int | None = None
    grade: Grade = Grade.NONE
    component: Component = Component.NONE
    detail: str = ""


class HealthAssessment(Record):
    """Result of `health.assess` for one event: health, findings and reference values.

    `limit_video`: rate (bit/s) under which the video counts as low. The reference values are None until enough samples
    were measured.

    """

    health: Health = field(default_factory=Health)
    findings: tuple[Finding, ...] = ()
    nominal_fps: float | None = None
    baseline_video: float | None = None
    limit_video: float | None = None


class QosState(Record):
    """Samples of an event and their freshness.

    `as_of`: last good response (this machine's clock). `cadence`: seconds between samples, learnt. `error`: reason of
    the last failure, or empty; `failing_since`: first failure since `as_of`. `future_samples`: number of samples of the
    last response left out because they are dated in the future; `unreadable`: field -> number of samples without a
    readable value. `lag`: usual delay of samples (s); None if unknown. `is_overdue`: at the last response the newest
    sample was older than `lag`. `is_frozen`: samples arrive, but their time stands still. `not_watched`: ranges of
    time between the samples that no response covers (server clock), so that nothing is known of them.
    `failure`: the last failure since `as_of`, as far as it tells who is to blame.
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
    failure: Failure = NO_FAILURE
    not_watched: tuple[Span, ...] = ()


class Proof(StrEnum):
    """State of a claim's evidence. NOT_KNOWN: not decided, and nothing more is asked."""

    PROVEN = "proven"
    NOT_YET = "not yet"
    NOT_KNOWN = "not known"


ENCODER_LOST, NO_SAMPLE = "encoder lost", "no sample ever"
"""Claims about an event."""


class ClaimEvidence(Record):
    """Evidence for a claim about an event, so that nothing is said that nothing proves.

    `claim`: the claim in words; `have`: evidence so far; `need`: evidence that would prove it. `since`: time from which
    on it would be true. `decided_at`: time at which it is decided if nothing changes; None if nothing more is asked.
    Server clock. `asked_for`: seconds after which a report stopped asking; None while the platform is asked.
    """

    claim: str
    state: Proof
    have: str
    need: str
    since: datetime | None = None
    decided_at: datetime | None = None
    asked_for: float | None = None


class EventState(Record):
    """Event as the operator sees it: the platform's object, and the monitor's results.

    `episodes`: present and past faults of this stream by the kept samples, oldest first, 200 at most. `pattern`: known
    fault pattern of the samples, if any.

    `is_stale`: polling fails, or brought nothing for two intervals, so the shown state may be outdated. If samples stop
    while the platform responds, nothing is stale: the silence itself is the current state. `is_listed`: the last list
    held the event; if it did not, the state is from the event's own answers. `content`:
    kind of programme that the event carries. `rulings`: people's decisions on how it is judged. `evidence`: evidence
    that the encoder is lost or never sent; None while samples come as usual. `blame`: nearest cause while `is_stale`.
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
    evidence: ClaimEvidence | None = None
    blame: Blame = NO_BLAME

    @property
    def is_undecided(self) -> bool:
        """True if samples are late or missing, and nothing shows yet whether the encoder sends."""
        return self.evidence is not None and self.evidence.state is not Proof.PROVEN

    @property
    def id(self) -> str:
        """Identity that a cursor, a dialog and an action follow."""
        return self.event.id

    @property
    def late_since(self) -> datetime | None:
        """Time of the newest sample (server clock) if samples are late or gone, and undecided which; else None."""
        newest = self.qos.readings.last
        is_undecided = self.qos.is_overdue and self.phase.ingest.state is IngestState.RECEIVING
        return datetime.fromtimestamp(newest.time, UTC) if newest and is_undecided else None


class ListDoubt(Record):
    """Doubt of the event list, which lacks `missing` known events although it claims to be whole.

    `since`: first such list (this machine's clock). `listed`: number of events in the last list. `served`: number of
    missing events that the platform still serves, by id or by new samples. `expected`: number of missing events that
    only the history knows, so that they cannot be shown yet.
    """

    since: datetime
    listed: int
    missing: int
    served: int = 0
    expected: int = 0


class EndWay(StrEnum):
    """Way in which an event ended on air. REPLACED: the event now has another stream, which is not on air."""

    GONE = "gone"
    STREAM_REMOVED = "stream removed"
    COMPLETED = "completed"
    REPLACED = "replaced"


class EndedEvent(Record):
    """Event that ended on air. `how`: the end in words, without its time; `at`: time of the response that showed it.

    `is_gone`: the event no longer exists. `by`: the person who ended it at a deck of this history, empty if nobody did,
    None if that is not known.
    """

    id: str
    name: str
    how: str
    at: datetime
    is_gone: bool = False
    by: str | None = None
    way: EndWay = EndWay.GONE


class ClockChange(Record):
    """Step of this machine's clock by `seconds` at the time `at`, or a stop of `seconds` that ended then.

    `is_sleep`: it was a stop, with its cause in `why`.
    """

    at: datetime
    seconds: float
    is_sleep: bool = False
    why: Why = Why.SLEPT


class SharingFault(Record):
    """Fault among processes that poll together.

    `apart_since`, `reason`: since when and why this process is separated from the others. `lost`: processes that
    vanished.
    """

    apart_since: datetime | None = None
    reason: str = ""
    lost: tuple[str, ...] = ()


NO_SHARING_FAULT = SharingFault()


class ConnectionStatus(Record):
    """Connection to the platform.

    `since`: start of `state`. `problem`: cause of the state in two words, empty without one; `reason`: the full text.
    `as_of`: last good response. `recovered_at`: last return from FAILING or BLIND. `round_trip`: seconds of the last
    exchange. `skew`: seconds that the server's clock is ahead of this machine's; 0 while under 2 s. `interval`: seconds
    between event rounds; values older than two of them are stale. `failures`: number of failed rounds in a row;
    `next_try`: time of the next retry after them, None during a retry. `lost_share`: share of lost responses in the
    last minute; 0 while the link is not poor. `blame`: nearest cause of the state. `slowed_to`: seconds between two
    polls of an event after the platform refused our pace, 0 at the usual pace. `is_checking`: the platform answers
    again after the connection was blind, and it is not yet proven that events can be judged.

    `clock_offset`: seconds that this machine's clock was set forward since the monitor began; all times exclude them.
    `clock_change`: clock change of the last minute. `is_clock_doubtful`: the clock made a step, and no response has
    shown yet whether it was set or the machine slept. `own`: trust that the polling process itself deserves.
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
    own: OwnState = WATCHING
    blame: Blame = NO_BLAME
    slowed_to: float = 0.0
    is_checking: bool = False

    @property
    def why(self) -> str:
        """Cause of the state, and the failure that shows it; empty without one.

        A refused token is named by its failure alone, which says where to write another one.
        """
        text, reason = self.blame.text, self.reason
        if self.is_unauthorized and reason:
            return reason
        if self.blame.cause is Culprit.OWN_STOP:  # what failed before it is no reason any more
            return text
        return f"{text} ({reason})" if text and reason and reason not in text else text or reason

    @property
    def measured_skew(self) -> float | None:
        """`skew` after a response that measured it; None before the first."""
        return None if self.round_trip is None else self.skew

    @property
    def is_unauthorized(self) -> bool:
        """True if the platform responds but refuses this token."""
        return self.problem is ConnectionProblem.UNAUTHORIZED
