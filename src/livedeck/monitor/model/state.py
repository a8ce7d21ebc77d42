"""State of events and of the connection, as frozen values that leave the monitor.

There are two clocks. `as_of` and all ages use this machine's clock. `scheduled`, sample times and countdowns use the
server's clock. `ConnectionStatus.skew` is the difference.
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
from livedeck.monitor.model.viewer import Delivery, ViewerState
from livedeck.record import Record


class Clock(Protocol):
    """Clock of the monitor. It is passed in, so that a test or a rehearsal can control time."""

    def now(self) -> datetime:
        """Return this machine's wall clock as an aware time in UTC."""

    def monotonic(self) -> float:
        """Return seconds that never run backwards and go on while the machine sleeps, to measure delays."""

    async def sleep(self, seconds: float) -> None:
        """Wait for `seconds` of this clock."""


class BroadcastState(StrEnum):
    """State of an event for its audience (tally). The platform has no such field; `phase.derive` computes the state."""

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
        """True if the audience waits for a signal now, so that a missing signal is a fault."""
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
    """Trust in a value by its age. NEVER: no good reply yet."""

    FRESH = "fresh"
    LATE = "late"
    STALE = "stale"
    NEVER = "never"


class ConnectionState(StrEnum):
    """State of the connection to the platform. POOR: some replies are lost. BLIND: no good reply for 30 s."""

    CONNECTING = "connecting"
    OK = "ok"
    POOR = "poor"
    FAILING = "failing"
    BLIND = "blind"

    @property
    def is_answering(self) -> bool:
        """True if the platform can be monitored in this state."""
        return self in {ConnectionState.OK, ConnectionState.POOR}


class ConnectionProblem(StrEnum):
    """Problem of the connection. NONE: the connection works, or was not tried yet."""

    NONE = ""
    UNAUTHORIZED = "TOKEN REFUSED"
    OTHER_WORKSPACE = "OTHER WORKSPACE"
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
        """Text of the banner: the value, with REPLY in place of the older word ANSWER."""
        return self.value.replace("ANSWER", "REPLY")


class Grade(StrEnum):
    """Grade of an event's health. The last four grades have no score."""

    GOOD = "GOOD"
    FAIR = "FAIR"
    POOR = "POOR"
    NO_DATA = "NO DATA"
    STALE = "STALE"
    WARM_UP = "WARM-UP"
    NONE = ""


class Component(StrEnum):
    """Component of a health score. UNKNOWN: values were not measured. NONE: no component.

    If several components share the lowest score, one scored by samples is named before one scored by findings. Within
    the first, the order is VIDEO, AUDIO, FPS, KEY, LOSS, LATE, UNKNOWN; within the second, that of this enum.
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
    """State of the encoder's signal, start of this state, and end of the reconnect window (server clock)."""

    state: IngestState = IngestState.UNKNOWN
    since: datetime | None = None
    window_ends: datetime | None = None


class Phase(Record):
    """Tally and ingest of an event.

    `reference_time`: time from which the event's clock counts: its start, or the end of a completed event. `elapsed`:
    seconds on air of a completed event. Each is None if unknown.
    """

    tally: BroadcastState
    reference_time: datetime | None = None
    ingest: Ingest = field(default_factory=Ingest)
    elapsed: float | None = None

    @property
    def is_silent(self) -> bool:
        """True if the audience waits for a signal and none arrives."""
        return self.tally.expects_signal and self.ingest.state in {IngestState.NONE, IngestState.INTERRUPTED}


class Finding(Record):
    """Present fault, with the actual and expected value in words.

    `since`: start of the fault, by samples or schedule (server clock); None if unknown. `target`: faulty part of the
    event (a restream's id); empty for the whole event. `stage`: rises when an ongoing fault deserves attention again.
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
    """Present or past fault of a stream, according to its samples (server clock).

    `since`: time of the first bad sample. `until`: time of the first good sample; None while the fault is present.
    `severity`: highest severity so far. `actual`, `expected`: values in words, at the last bad sample.
    """

    kind: str
    severity: Severity
    target: str
    since: datetime
    until: datetime | None
    actual: str
    expected: str


class Pattern(StrEnum):
    """Known fault pattern (monitoring.md, "Fault patterns"). NONE: no pattern."""

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
    """Health of an event. `score`: 0 to 100, the minimum of the components; None without a fresh, measured picture.

    `component`: component with the lowest score. `detail`: its measured value (`fps 22.1/30`). Both are empty at 100.
    """

    score: int | None = None
    grade: Grade = Grade.NONE
    component: Component = Component.NONE
    detail: str = ""


class HealthAssessment(Record):
    """Health, findings and reference values of an event.

    `nominal_fps`, `baseline_video`: usual frame rate (frames/s) and video rate (bit/s). `limit_video`: video rate below
    which the video may count as low (bit/s). These three are None until they are learnt.
    """

    health: Health = field(default_factory=Health)
    findings: tuple[Finding, ...] = ()
    nominal_fps: float | None = None
    baseline_video: float | None = None
    limit_video: float | None = None


class QosState(Record):
    """Samples of an event and their freshness.

    Polls: `as_of`: time of the last good reply (this machine's clock). `failing_since`: time of the first failure since
    `as_of`. `error`: reason of the last failure, or empty. `failure`: kind of the last failure since `as_of`.

    Samples: `cadence`: learnt seconds between samples. `lag`: usual delivery delay (s); None if unknown. `is_overdue`:
    at the last reply the newest sample was older than `lag`. `is_frozen`: samples arrive, but their time stands still.
    `not_watched`: times between samples that no reply covers (server clock). `future_samples`: number of samples left
    out of the last reply because they are dated in the future. `unreadable`: field -> number of samples without a
    readable value.
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
    """State of the evidence for a claim. NOT_KNOWN: not decided, and no further poll will decide it."""

    PROVEN = "proven"
    NOT_YET = "not yet"
    NOT_KNOWN = "not known"


ENCODER_LOST, NO_SAMPLE = "encoder lost", "no sample ever"
"""Claims about an event."""


class ClaimEvidence(Record):
    """Evidence for a claim about an event. Times are by the server clock.

    `claim`: the claim in words. `have`: evidence so far. `need`: evidence that would prove the claim. `since`: start of
    the time for which the claim would be true. `decided_at`: time at which the claim is decided if no new sample comes;
    None if no further poll is made. `asked_for`: seconds after which a report stopped polling; None while it polls.
    """

    claim: str
    state: Proof
    have: str
    need: str
    since: datetime | None = None
    decided_at: datetime | None = None
    asked_for: float | None = None


class EventState(Record):
    """Event as the operator sees it: the platform's object, and the results of the monitor.

    `episodes`: present and past faults of the stream, oldest first, at most 200. `pattern`: fault pattern of the
    samples. `is_stale`: there was no good reply for two poll intervals, so the state may be outdated. If the platform
    replies without new samples, the state is not stale. `is_listed`: the last list held the event; False if its state
    comes from requests by id. `content`: content of the event. `rulings`: people's decisions on how to judge the event.
    `evidence`: evidence that the encoder is lost or never sent; None while samples come as usual. `blame`: nearest
    cause while `is_stale`. `viewer`: what viewers get; None without a probe.
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
    viewer: ViewerState | None = None

    @property
    def is_undecided(self) -> bool:
        """True if samples are late or missing, and no proof shows yet whether the encoder sends."""
        return self.evidence is not None and self.evidence.state is not Proof.PROVEN

    @property
    def is_measured(self) -> bool:
        """False if the audience waits for a signal, and the event is undecided or its samples were not judged yet."""
        is_open = self.is_undecided or self.phase.ingest.state in {IngestState.UNKNOWN, IngestState.WARMING_UP}
        return not (self.phase.tally.expects_signal and is_open)

    @property
    def id(self) -> str:
        return self.event.id

    @property
    def late_since(self) -> datetime | None:
        """Time of the newest sample (server clock) if the encoder is late or gone; None in any other state."""
        times = self.qos.readings.time
        if not (self.qos.is_overdue and times and self.phase.ingest.state is IngestState.RECEIVING):
            return None
        return datetime.fromtimestamp(times[-1], UTC)

    @property
    def is_fed(self) -> bool:
        """True if nothing shows that the encoder is away. Only then is a failing playlist the fault of its host.

        A playlist stops with its encoder. So a stalled playlist needs a sample that is later than its newest segment by
        two segments. An encoder that began or returned must have sent for two segments and three rounds: the faults of
        viewers end that much later than its absence.
        """
        if self.phase.tally is not BroadcastState.ON_AIR or self.late_since is not None:
            return False
        viewer, times, returned = self.viewer, self.qos.readings.time, self.phase.ingest.since
        if viewer is None or not times:
            return True
        segments = 2 * (viewer.target or 0.0)
        if returned is not None and times[-1] <= returned.timestamp() + segments + 3 * viewer.interval:
            return False
        head = viewer.head_time if viewer.delivery is Delivery.STALLED else None
        return head is None or times[-1] > head.timestamp() + segments


class ListDoubt(Record):
    """Doubt about the event list, because whole lists lack events that no source has proven gone.

    `since`: time of the first such list (this machine's clock). `listed`: number of events in the last list. `missing`:
    number of events that the list lacks. `served`: number of them that the platform still serves by id or sends new
    samples of. `expected`: number of them that only the history has, so that they cannot be shown yet.
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
    """Event that ended on air.

    `how`: the end in words, without its time. `at`: time of the reply that showed the end. `is_gone`: the event no
    longer exists. `by`: person who ended the event at a deck of this history; empty if nobody did, None if unknown.
    """

    id: str
    name: str
    how: str
    at: datetime
    is_gone: bool = False
    by: str | None = None
    way: EndWay = EndWay.GONE


class ClockChange(Record):
    """Step of this machine's clock by `seconds` at the time `at`.

    `is_sleep`: this process was stopped instead, for `seconds` up to `at`; `why` is the cause of the stop.
    """

    at: datetime
    seconds: float
    is_sleep: bool = False
    why: Why = Why.SLEPT


class SharingFault(Record):
    """Fault among collectors that poll together.

    `apart_since`: time since which this collector has exchanged no polls with the others. `reason`: cause of this.
    `lost`: names of collectors that disappeared.
    """

    apart_since: datetime | None = None
    reason: str = ""
    lost: tuple[str, ...] = ()


NO_SHARING_FAULT = SharingFault()


class NotifyFault(Record):
    """Fault of the notifications, in words; empty without one. `is_down`: a target takes no message at all."""

    reason: str = ""
    is_down: bool = False


class ConnectionStatus(Record):
    """Connection to the platform.

    `since`: start of `state`. `problem`: cause of the state in two words, or empty. `reason`: full text of the last
    failure. `blame`: nearest cause of the state. `as_of`: time of the last good reply. `recovered_at`: time of the last
    recovery from FAILING or BLIND. `is_checking`: the platform replies again after the connection was blind, but it is
    not proven yet that events can be judged. `failures`: number of failed rounds in a row. `next_try`: time of the next
    retry; None without failures and during a retry.

    `round_trip`: seconds of the last exchange. `interval`: seconds between two event lists; values older than two
    intervals are stale. `lost_share`: share of lost replies in the last minute; 0 while the link is not poor.
    `slowed_to`: seconds between two polls of an event after the platform refused our pace; 0 at the usual pace.

    `skew`: seconds by which the server's clock is ahead of this machine's; 0 while under 2 s. `clock_offset`: seconds
    by which this machine's clock was set forward since the monitor began; all times leave them out. `clock_change`:
    clock change of the last minute. `is_clock_doubtful`: the clock made a step, and no reply has shown yet whether it
    was set or the machine slept. `own`: stops and slowness of the polling process.
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
        """Cause of the state, and the last failure in brackets unless one contains the other; empty without failure.

        For a refused token, the text is the failure alone, because the failure says where to store another token.
        """
        text, reason = self.blame.text, self.reason
        if self.is_unauthorized and reason:
            return reason
        if self.blame.cause is Culprit.OWN_STOP:  # failures from before the stop explain nothing now
            return text
        if text in reason:
            return reason
        return f"{text} ({reason})" if reason and reason not in text else text

    @property
    def measured_skew(self) -> float | None:
        """Skew (s) as measured by a reply; None before the first reply."""
        return None if self.round_trip is None else self.skew

    @property
    def is_unauthorized(self) -> bool:
        """True if the platform refuses this token."""
        return self.problem is ConnectionProblem.UNAUTHORIZED
