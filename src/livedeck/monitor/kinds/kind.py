"""Alarm kinds, and the five ways to detect one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from datetime import datetime
from typing import NamedTuple, TypeAlias

from msgspec import field

from livedeck.monitor.evidence.blame import CAUSES
from livedeck.monitor.evidence.playlists import Playlists
from livedeck.monitor.model.alarm import Alarm, Diagnosis, Severity
from livedeck.monitor.model.attachment import Silence
from livedeck.monitor.model.blame import NO_BLAME, Blame
from livedeck.monitor.model.own import NotWatched
from livedeck.monitor.model.state import (
    NO_SHARING_FAULT,
    BroadcastState,
    Component,
    ConnectionStatus,
    EndedEvent,
    Finding,
    Freshness,
    ListDoubt,
    NotifyFault,
    Pattern,
    Phase,
    SharingFault,
)
from livedeck.monitor.model.thresholds import AlarmLimits, Duty, Expectation, Hold, Thresholds
from livedeck.monitor.model.viewing import Viewing
from livedeck.monitor.signal.analysis import DataQuality, RestreamHistory, SignalAnalysis
from livedeck.monitor.signal.features import SampleFeatures
from livedeck.monitor.signal.hysteresis import Evidence, FaultInterval, Level
from livedeck.record import Record

API_BLIND, PLATFORM, NO_INGEST = "API_BLIND", "PLATFORM", "NO_INGEST"
COLLECTOR_SILENT = "COLLECTOR_SILENT"
UNIT_UNKNOWN = "UNIT_UNKNOWN"
RECONNECTING, DROPOUTS = "RECONNECTING", "DROPOUTS"
CDN, PROBE_BLIND = "CDN", "PROBE_BLIND"
"""Names of kinds that other files refer to. Some are parents of a whole class of kinds (`AlarmKind.parents`)."""

THE_PLATFORM = "platform"
"""Subject of a deck alarm without a subject of its own."""


class Observation(NamedTuple):
    """Result of a detector; `AlarmKind.finding` makes a finding from it.

    `is_escalated`: the finding gets the kind's `escalated_severity`. `is_milder`: viewers still get the programme, so a
    critical finding is a warning. `is_withdrawn`: the observation proved to be no fault, so the finding gets the
    severity INFO. `blame`: more exact cause than that of the kind, or NO_BLAME.
    """

    actual: str
    expected: str
    since: datetime | None = None
    stage: int = 0
    is_escalated: bool = False
    target: str = ""
    target_name: str = ""
    is_withdrawn: bool = False
    blame: Blame = NO_BLAME
    is_milder: bool = False


class DutyRule(Record, kw_only=True):
    """Rule that raises an intermittent fault by its share of the time.

    `limits`: name of a Duty among the thresholds. `bad_seconds`: returns the bad seconds of a sample; 0 for a good
    sample, NaN for one that proves nothing. `words`: name of the fault, as in `no audio in 13 % of the last 10 min`.
    `is_spell`: the bad seconds of each sample count as a spell of their own. `counts_warm_up`: count from the first
    sample of a run, not from the end of its warm-up.
    """

    limits: str
    bad_seconds: Callable[[SampleFeatures, Thresholds], float]
    words: str
    is_spell: bool = False
    counts_warm_up: bool = False

    def limits_of(self, thresholds: Thresholds) -> Duty:
        """Return the Duty that `limits` names."""
        limits: Duty = getattr(thresholds, self.limits)
        return limits


class SampleDetector(Record, kw_only=True):
    """Detector that judges each sample. Bad samples raise the fault after its hold, and good samples clear it.

    `classify`: judges a sample. `describe`: returns the evidence of a sample. `hold`: name of a Hold among the
    thresholds; empty to raise and clear at once. `is_immediate`: the first bad sample raises the fault. `is_proven`:
    returns whether a sample alone proves the fault, which is then raised at once. `duty`: rule that raises the same
    fault by its share of time; the fault clears only if both the samples and this rule clear it. `expects`: judge a
    stream only if its content has this expectation; None to judge all. `spoils`: rate (video, audio, fps) from which
    nothing is learnt while the fault lasts; a new usual level of this rate clears the fault. `counted_status`: QoS
    status whose samples are counted; the fault begins and ends with a burst of them. `began`: returns the start of the
    fault (epoch s), which may be before the sample. `severity`: returns the current severity, which never falls while
    the fault lasts.
    """

    classify: Callable[[SampleFeatures, Thresholds], Level]
    describe: Callable[[SampleFeatures, Thresholds], Evidence]
    hold: str = ""
    is_immediate: bool = False
    is_proven: Callable[[SampleFeatures], bool] | None = None
    duty: DutyRule | None = None
    expects: Expectation | None = None
    spoils: str = ""
    counted_status: int | None = None
    began: Callable[[SampleFeatures, Thresholds], float] | None = None
    severity: Callable[[FaultInterval, SampleFeatures, Thresholds], Severity] | None = None

    def hold_time(self, thresholds: Thresholds) -> Hold:
        """Return the minimum time that the fault is present before it is raised, and absent before it clears."""
        if not self.hold:
            return Hold(1, 0.0, 0.0)
        hold: Hold = getattr(thresholds, self.hold)
        return Hold(1, 0.0, hold.off) if self.is_immediate else hold


_OFF_AIR = frozenset({BroadcastState.DRAFT, BroadcastState.SCHEDULED, BroadcastState.LATE, BroadcastState.COMPLETED})


class EventCase(Record):
    """Input of an EventDetector: an event at `now` (server time).

    `stops`: stops of this process (server time). `viewer`: rounds of the event's probe; None without a probe.
    """

    analysis: SignalAnalysis
    phase: Phase
    quality: DataQuality
    now: datetime
    restreams: RestreamHistory = field(default_factory=RestreamHistory)
    stops: tuple[NotWatched, ...] = ()
    viewer: Viewing | None = None

    @property
    def last_answer(self) -> datetime:
        """Time of the last good reply, else of the first failure, or `now` without any call (server time)."""
        return self.quality.since or self.now

    @property
    def is_off_air(self) -> bool:
        """True if no samples are due: the event has not begun, or has ended."""
        return self.phase.tally in _OFF_AIR

    @property
    def is_stale(self) -> bool:
        """True if samples are due, but the replies are too old to judge them."""
        return not self.is_off_air and self.quality.freshness is Freshness.STALE

    @property
    def is_judged(self) -> bool:
        """True if the event's samples are judged: it may be on air, and the last reply is not too old."""
        return not self.is_off_air and self.quality.freshness is not Freshness.STALE


class EventDetector(Record):
    """Detector that judges an event at one instant. Each observation becomes a finding."""

    observe: Callable[[EventCase, Thresholds], Iterable[Observation]]


class DeckCase(Record):
    """Input of a DeckDetector: the state of the deck itself.

    `history_error`: reason why nothing can be recorded, or empty. `notify_fault`: fault of the notifications.
    `silence`: silence of the collector; None if it responds, or without a collector. `sharing`: fault among collectors
    that poll together. `list_doubt`: events that the list lacks without reason, or None. `now`: this machine's clock.
    `unit_question`: question about the unit of the bit rates, or empty. `unserved`: number of events on air without a
    good reply for long, because the platform refuses our pace. `playlists`: playlists of the events on air; None
    without a probe. While the platform is silent, only playlists that were probed since its last reply are in it.
    `probe_fault`: fault of the probe itself, or empty.
    """

    connection: ConnectionStatus
    history_error: str = ""
    notify_fault: NotifyFault = NotifyFault()
    silence: Silence | None = None
    sharing: SharingFault = NO_SHARING_FAULT
    list_doubt: ListDoubt | None = None
    now: datetime | None = None
    unit_question: str = ""
    unserved: int = 0
    playlists: Playlists | None = None
    probe_fault: str = ""


class DeckDetector(Record):
    """Detector for the deck itself: connection, clock, history, notifications. `subject`: subject of the alarm."""

    observe: Callable[[DeckCase, Thresholds], Observation | None]
    subject: str = THE_PLATFORM


class Incident(NamedTuple):
    """Faults of several events with one cause.

    `affects`: ids of the events in the order of their failure. `since`: start of the first fault (this machine's
    clock).
    """

    observation: Observation
    affects: tuple[str, ...]
    since: datetime


class IncidentCase(Record):
    """Input of an IncidentDetector at `now` (this machine's clock).

    `alarms`: ongoing alarms of events on air, of the kinds with `shared`, without found ones. `inputs`: id of an event
    on air -> its input. `previous`: the current incident, or None. `late`: id of an event whose samples are late or
    gone -> time of its newest sample. `is_late_counted`: the wait for these events is over, so they count as failed.
    `hosts`: id of an event on air -> host of its playlist; empty for an incident of encoders.
    """

    alarms: Collection[Alarm]
    inputs: Mapping[str, Hashable]
    now: datetime
    previous: Alarm | None = None
    late: Mapping[str, datetime] = field(default_factory=dict)
    is_late_counted: bool = False
    hosts: Mapping[str, str] = field(default_factory=dict)


class IncidentDetector(Record):
    """Detector that judges the alarms of all events together."""

    observe: Callable[[IncidentCase, AlarmLimits], Incident | None]


class EndDetector(Record):
    """Detector that reports the end of an event on air; the platform may no longer have the event."""

    observe: Callable[[EndedEvent, Thresholds], Observation]


Detector: TypeAlias = SampleDetector | EventDetector | DeckDetector | IncidentDetector | EndDetector


class AlarmKind(Record, kw_only=True):
    """Kind of alarm.

    `name`: name in settings, history and JSON, which never changes. `severity`: severity at the start.
    `escalated_severity`: severity of an escalated observation. `component`: part of the health score that this fault
    lowers. `hidden_by`: kinds of the same event that suppress this kind, the widest first. `shared`: the platform, or
    the network to it, can cause the fault on many events at once. `incident`: kind of the incident that such faults
    make. `explained_by`: patterns whose diagnosis is better than `diagnosis`. `is_of_picture`, `is_of_sound`: the fault
    is one of several signs of a fault of picture or sound.
    """

    name: str
    severity: Severity
    escalated_severity: Severity = Severity.CRITICAL
    component: Component
    detector: Detector
    hidden_by: tuple[str, ...]
    shared: bool
    explained_by: tuple[Pattern, ...]
    diagnosis: Diagnosis
    is_of_picture: bool = False
    is_of_sound: bool = False
    incident: str = PLATFORM

    @property
    def is_of_deck(self) -> bool:
        """True for an alarm of the deck itself, False for an alarm of an event."""
        return isinstance(self.detector, DeckDetector | IncidentDetector)

    @property
    def parents(self) -> tuple[str, ...]:
        """Kinds of alarm that suppress this kind, the widest first.

        API_BLIND suppresses every kind of an event. PLATFORM suppresses every shared kind whose faults make a PLATFORM
        incident. NO_INGEST and RECONNECTING suppress the kinds that judge samples.
        """
        if self.is_of_deck:
            return self.hidden_by
        incident = (PLATFORM,) if self.shared and self.incident == PLATFORM else ()
        silence: tuple[str, ...] = (NO_INGEST, RECONNECTING) if isinstance(self.detector, SampleDetector) else ()
        if self.name == DROPOUTS:  # RECONNECTING is a part of DROPOUTS and must not hide it
            silence = (NO_INGEST,)
        return (API_BLIND, *incident, *silence, *self.hidden_by)

    def diagnose(self, observation: Observation) -> Diagnosis:
        """Return the diagnosis of an observation by its `blame`; without one, the diagnosis of the kind."""
        cause = observation.blame
        if not cause.text:
            return self.diagnosis
        return Diagnosis(CAUSES[cause.cause], self.diagnosis.viewers, cause.advice)

    def finding(self, observation: Observation) -> Finding:
        """Return an observation as a finding of this kind."""
        severity = self.escalated_severity if observation.is_escalated else self.severity
        if observation.is_milder and severity is Severity.CRITICAL:
            severity = Severity.WARNING
        return Finding(
            self.name,
            Severity.INFO if observation.is_withdrawn else severity,
            observation.actual,
            observation.expected,
            observation.since,
            observation.target,
            observation.target_name,
            observation.stage,
        )
