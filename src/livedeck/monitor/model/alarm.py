"""An alarm, its transitions and its diagnosis: frozen values (monitoring.md, "Alarm lifecycle"). Nothing here decides.

The states are those of ISA-18.2. All times are by this machine's clock.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, NamedTuple

from pydantic import Field

DECK = ""
"""The `event_id` of the deck's own alarms."""


class Severity(StrEnum):
    """How loud an alarm is, the loudest first."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for the loudest."""
        return _SEVERITY_RANKS[self]


_SEVERITY_RANKS = {severity: rank for rank, severity in enumerate(Severity)}


class AlarmKey(NamedTuple):
    """The identity of an alarm. `target`: a part of the event (a restream's id), or empty."""

    event_id: str
    kind: str
    target: str = ""


class Shown(NamedTuple):
    """How an alarm stood before whoever answers it: since when its fault was there, how bad, and at which stage."""

    since: datetime
    severity: Severity
    stage: int = 0


class AlarmState(StrEnum):
    """The state of an alarm after ISA-18.2.

    RETURNED: the fault is over and nobody has acknowledged it. CLEARED: it is over and acknowledged; listed 5 min.
    SUPPRESSED: present, but hidden by a parent alarm.
    """

    UNACKNOWLEDGED = "unacknowledged"
    ACKNOWLEDGED = "acknowledged"
    RETURNED = "returned"
    SHELVED = "shelved"
    SUPPRESSED = "suppressed"
    OUT_OF_SERVICE = "out of service"
    CLEARED = "cleared"

    @property
    def active(self) -> bool:
        """Whether a person must read it now."""
        return self in {AlarmState.UNACKNOWLEDGED, AlarmState.ACKNOWLEDGED, AlarmState.RETURNED}


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One short sentence each: the probable cause, what viewers see, what to do."""

    cause: str = ""
    viewers: str = ""
    advice: str = ""


class TimelineEntry(NamedTuple):
    """Something that became of an alarm. `actor`: who did it, `user@host:pid`; empty where nobody did."""

    at: datetime
    text: str
    actor: str = ""


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something that is or was wrong. `event_id` is empty for the deck's own.

    `since`: when the fault began as far as the data tell; `changed`: when `state` began. `present`: whether the fault
    is there now; `needs_ack`: whether it awaits an acknowledgement. `acknowledged_until`: when that runs out;
    `acknowledged_at`: when this occurrence was. `answered_by`, `answered_at`: who acknowledged it last, took that back,
    put it away or brought it back, and when. `shelved_until`: None unless shelved for a time. `reason`: why it is
    shelved or out of service. `parent`: kind of the alarm that hides it. `activations`: when it came in the last 10
    min; `flapping`: too often to ring each time; `escalated`: so often that even a warning is critical. `stage` grows
    when an ongoing fault deserves attention again. `affects`: ids of the events of a PLATFORM incident. `timeline`:
    what became of this occurrence, the oldest first.
    """

    event_id: str
    kind: str
    severity: Severity
    since: datetime
    subject: str
    actual: str
    expected: str
    target: str = ""
    target_name: str = ""
    changed: datetime = field(kw_only=True)
    state: AlarmState = AlarmState.UNACKNOWLEDGED
    present: bool = True
    needs_ack: Annotated[bool, Field(alias="owed")] = True  # by its name in the history
    acknowledged_until: datetime | None = None
    acknowledged_at: datetime | None = None
    answered_by: str = ""
    answered_at: datetime | None = None
    shelved_until: datetime | None = None
    reason: str = ""
    note: str = ""
    parent: str = ""
    activations: tuple[datetime, ...] = ()
    flapping: bool = False
    escalated: bool = False
    stage: int = 0
    affects: tuple[str, ...] = ()
    timeline: tuple[TimelineEntry, ...] = ()
    diagnosis: Diagnosis = field(default_factory=Diagnosis)

    @property
    def key(self) -> AlarmKey:
        """Its identity: event, kind and target."""
        return AlarmKey(self.event_id, self.kind, self.target)

    @property
    def shown(self) -> Shown:
        """What of it an answer is about."""
        return Shown(self.since, self.severity, self.stage)

    @property
    def active(self) -> bool:
        """Whether a person must read it now."""
        return self.state.active

    @property
    def is_ongoing(self) -> bool:
        """Whether it counts as present: a fault that comes and goes is not over in its pauses."""
        return self.present or self.flapping

    @property
    def episodes(self) -> int:
        """How often it came in the last 10 min."""
        return len(self.activations)

    def moved(self, seconds: float) -> Alarm:
        """The same by a clock that is so much ahead."""
        if not seconds:
            return self
        ahead = timedelta(seconds=seconds)
        return replace(
            self,
            since=self.since + ahead,
            changed=self.changed + ahead,
            acknowledged_until=self.acknowledged_until and self.acknowledged_until + ahead,
            acknowledged_at=self.acknowledged_at and self.acknowledged_at + ahead,
            answered_at=self.answered_at and self.answered_at + ahead,
            shelved_until=self.shelved_until and self.shelved_until + ahead,
            activations=tuple(at + ahead for at in self.activations),
            timeline=tuple(entry._replace(at=entry.at + ahead) for entry in self.timeline),
        )


class AlarmTransition(StrEnum):
    """What happened to an alarm, for the log. RAISED: it asks for attention, the first time or again."""

    RAISED = "raised"
    SEVERITY = "severity changed"
    ACKNOWLEDGED = "acknowledged"
    LAPSED = "acknowledgement ran out"
    UNACKNOWLEDGED = "acknowledgement taken back"
    RETURNED = "returned"
    CLEARED = "cleared"
    SHELVED = "shelved"
    UNSHELVED = "unshelved"
    SUPPRESSED = "suppressed"
    RELEASED = "no longer suppressed"
    OUT_OF_SERVICE = "out of service"
    IN_SERVICE = "in service"
    NOTED = "noted"


_BY_PERSON = frozenset(
    {
        AlarmTransition.ACKNOWLEDGED,
        AlarmTransition.UNACKNOWLEDGED,
        AlarmTransition.CLEARED,
        AlarmTransition.SHELVED,
        AlarmTransition.UNSHELVED,
        AlarmTransition.OUT_OF_SERVICE,
        AlarmTransition.IN_SERVICE,
    }
)


@dataclass(frozen=True, slots=True)
class AlarmChange:
    """One transition of an alarm, and the alarm after it."""

    at: datetime
    transition: AlarmTransition
    alarm: Alarm

    @property
    def actor(self) -> str:
        """Who did it; empty where nobody did: what was acknowledged while it lasted is over by itself."""
        alarm = self.alarm
        is_over_by_itself = (
            self.transition is AlarmTransition.CLEARED
            and alarm.answered_at is not None
            and alarm.answered_at == alarm.acknowledged_at
        )
        return alarm.answered_by if self.transition in _BY_PERSON and not is_over_by_itself else ""
