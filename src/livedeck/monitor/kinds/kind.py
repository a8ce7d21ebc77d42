"""What an alarm kind is, and the five ways in which one is detected."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, TypeAlias

from livedeck.monitor.model.alarm import Alarm, Diagnosis, Severity
from livedeck.monitor.model.attachment import Silence
from livedeck.monitor.model.state import (
    NO_SHARING_FAULT,
    BroadcastState,
    Component,
    ConnectionStatus,
    EndedEvent,
    Finding,
    Freshness,
    Pattern,
    Phase,
    SharingFault,
)
from livedeck.monitor.model.thresholds import AlarmLimits, Duty, Expectation, Hold, Thresholds
from livedeck.monitor.signal.analysis import DataQuality, RestreamHistory, SignalAnalysis
from livedeck.monitor.signal.features import SampleFeatures
from livedeck.monitor.signal.hysteresis import Evidence, FaultInterval, Level

API_BLIND, PLATFORM, NO_INGEST = "API_BLIND", "PLATFORM", "NO_INGEST"
COLLECTOR_SILENT = "COLLECTOR_SILENT"
RECONNECTING, DROPOUTS = "RECONNECTING", "DROPOUTS"
"""The parents whose children are a class of kinds: see `AlarmKind.parents`."""

THE_PLATFORM = "platform"
"""What an alarm of the deck is about, where it is about nothing nearer."""


class Observation(NamedTuple):
    """What a detector saw of its kind; the kind makes a Finding of it. The fields are those of a Finding.

    `is_escalated`: the finding has the kind's escalated severity. `is_withdrawn`: it has proven to be no fault,
    which is worth a word and no more.
    """

    actual: str
    expected: str
    since: datetime | None = None
    stage: int = 0
    is_escalated: bool = False
    target: str = ""
    target_name: str = ""
    is_withdrawn: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DutyRule:
    """When a fault that comes and goes counts: by how much of the time it is there.

    `limits`: the name of a Duty among the thresholds. `bad_seconds`: of a sample; 0 where it is good, NaN where it
    tells nothing. `words`: what is so, as in `audio out 13 % of the last 10 min`. `is_spell`: bad seconds of a sample
    are a spell of their own, whatever was before. `counts_warm_up`: it is counted from the first sample of a run on.
    """

    limits: str
    bad_seconds: Callable[[SampleFeatures, Thresholds], float]
    words: str
    is_spell: bool = False
    counts_warm_up: bool = False

    def limits_of(self, thresholds: Thresholds) -> Duty:
        """From how much on."""
        limits: Duty = getattr(thresholds, self.limits)
        return limits


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleDetector:
    """Judges each sample. The fault is raised once bad samples have held, and over once good ones have.

    `hold`: the name of a Hold among the thresholds; empty: raised and over at once. `is_immediate`: the first bad
    sample raises it, and only the end takes time. `is_proven`: raises it at once, however long it has been bad.
    `duty`: the other way to be raised; either raises, both clear. `expects`: it is judged only where that is expected.
    `spoils`: the rate (video, audio, fps) that is not learnt as usual while the fault stands; a new usual level ends
    it. `counted_status`: the QoS status of which the samples are counted: the fault begins and ends with its burst.
    `began`: when a fault that a sample shows began, where that was before. `severity`: what the samples show now; the
    fault stays as loud as it was.
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
        """How long it must last, and its end."""
        if not self.hold:
            return Hold(1, 0.0, 0.0)
        hold: Hold = getattr(thresholds, self.hold)
        return Hold(1, 0.0, hold.off) if self.is_immediate else hold


_OFF_AIR = frozenset({BroadcastState.DRAFT, BroadcastState.SCHEDULED, BroadcastState.LATE, BroadcastState.COMPLETED})


@dataclass(frozen=True, slots=True)
class EventCase:
    """An event at the instant `now` (server time): what an EventDetector looks at."""

    analysis: SignalAnalysis
    phase: Phase
    quality: DataQuality
    now: datetime
    restreams: RestreamHistory = field(default_factory=RestreamHistory)

    @property
    def last_answer(self) -> datetime:
        """Until when it is known what the samples were (server time)."""
        return self.quality.since or self.now

    @property
    def is_off_air(self) -> bool:
        """Whether nobody waits for samples: it has not begun, or is over."""
        return self.phase.tally in _OFF_AIR

    @property
    def is_stale(self) -> bool:
        """Whether samples are due and nothing tells how they are now."""
        return not self.is_off_air and self.quality.freshness is Freshness.STALE

    @property
    def is_judged(self) -> bool:
        """Whether its samples are judged: it may be on air, and the last answer is believed."""
        return not self.is_off_air and self.quality.freshness is not Freshness.STALE


@dataclass(frozen=True, slots=True)
class EventDetector:
    """Looks at an event at an instant; each observation is a finding."""

    observe: Callable[[EventCase, Thresholds], Iterable[Observation]]


@dataclass(frozen=True, slots=True)
class DeckCase:
    """The deck itself: what a DeckDetector looks at. `history_error`: why nothing can be recorded, or empty;
    `notify_error`: which targets of notifications take nothing, or empty. `silence`: that of the collector, None where
    it is heard or there is none. `sharing`: what is wrong among the collectors. `now`: this machine's clock."""

    connection: ConnectionStatus
    history_error: str = ""
    notify_error: str = ""
    silence: Silence | None = None
    sharing: SharingFault = NO_SHARING_FAULT
    now: datetime | None = None


@dataclass(frozen=True, slots=True)
class DeckDetector:
    """Looks at the deck itself: its connection, its clock, its history, its notifications. `subject`: what the alarm is
    about, as a person reads it."""

    observe: Callable[[DeckCase, Thresholds], Observation | None]
    subject: str = THE_PLATFORM


class Incident(NamedTuple):
    """Faults of several events with one cause: the events in the order in which they failed, and since when (this
    machine's clock)."""

    observation: Observation
    affects: tuple[str, ...]
    since: datetime


@dataclass(frozen=True, slots=True)
class IncidentCase:
    """What an IncidentDetector looks at, at the instant `now` (this machine's clock).

    `alarms`: ongoing ones of a shared kind, of events on air. `inputs`: each event on air -> what feeds it. `previous`:
    the incident that lasts, if there is one.
    """

    alarms: Collection[Alarm]
    inputs: Mapping[str, Hashable]
    now: datetime
    previous: Alarm | None = None


@dataclass(frozen=True, slots=True)
class IncidentDetector:
    """Looks at the alarms of all events together."""

    observe: Callable[[IncidentCase, AlarmLimits], Incident | None]


@dataclass(frozen=True, slots=True)
class EndDetector:
    """Looks at an event that ended while on air: no state of it may be left to look at."""

    observe: Callable[[EndedEvent], Observation]


Detector: TypeAlias = SampleDetector | EventDetector | DeckDetector | IncidentDetector | EndDetector


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmKind:
    """One kind of alarm: everything that is particular to it.

    `name` stands in settings, history and JSON: it never changes. `severity`: as it begins. `component`: of the health
    score, which a fault of this kind holds down. `hidden_by`: kinds within the same event that make it no news, the
    widest first. `shared`: the platform, or the way to it, can do this to many events at once. `explained_by`: the
    patterns whose diagnosis is better than its own. `is_of_picture`: a sign of a picture fault, which has several.
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

    @property
    def is_of_deck(self) -> bool:
        """Whether it is an alarm of the deck itself, and not of an event."""
        return isinstance(self.detector, DeckDetector | IncidentDetector)

    @property
    def parents(self) -> tuple[str, ...]:
        """Every kind that hides it, the widest first.

        Without answers nothing can be said of any event; an incident stands for the shared kinds of its events; and
        without a stream nothing can be said of its samples.
        """
        if self.is_of_deck:
            return self.hidden_by
        incident = (PLATFORM,) if self.shared else ()
        silence: tuple[str, ...] = (NO_INGEST, RECONNECTING) if isinstance(self.detector, SampleDetector) else ()
        if self.name == DROPOUTS:  # it stands for the silences of which it is made
            silence = (NO_INGEST,)
        return (API_BLIND, *incident, *silence, *self.hidden_by)

    def finding(self, observation: Observation) -> Finding:
        """The finding of that observation."""
        severity = self.escalated_severity if observation.is_escalated else self.severity
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
