"""Alarms, their transitions and diagnoses, as frozen values (monitoring.md, "Alarm lifecycle").

The states are those of ISA-18.2. All times are by this machine's clock.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, NamedTuple

from pydantic import Field

from livedeck.record import Record

DECK = ""
"""Value of `event_id` in the deck's own alarms."""


class Severity(StrEnum):
    """Severity of an alarm, most severe first."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """Rank of the severity; 0 is the most severe."""
        return _SEVERITY_RANKS[self]


_SEVERITY_RANKS = {severity: rank for rank, severity in enumerate(Severity)}


class AlarmKey(NamedTuple):
    """Identity of an alarm. `target`: affected part of the event (a restream's id), or empty."""

    event_id: str
    kind: str
    target: str = ""


class Shown(NamedTuple):
    """Alarm as an operator saw it: start of its fault, severity and stage."""

    since: datetime
    severity: Severity
    stage: int = 0


class AlarmState(StrEnum):
    """State of an alarm by ISA-18.2.

    RETURNED: the fault has cleared, but nobody acknowledged the alarm. CLEARED: the fault has cleared, and the alarm is
    acknowledged; it stays listed for 5 min. SUPPRESSED: the fault is present, but a parent hides the alarm.
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
        """True if an operator must look at the alarm now."""
        return self in {AlarmState.UNACKNOWLEDGED, AlarmState.ACKNOWLEDGED, AlarmState.RETURNED}

    @property
    def words(self) -> str:
        """Name of the state for people, the same everywhere."""
        return _STATE_WORDS.get(self, self.value)


_STATE_WORDS = {
    AlarmState.UNACKNOWLEDGED: "new",
    AlarmState.RETURNED: "cleared, not acknowledged",
    AlarmState.SUPPRESSED: "hidden",
}
"""State -> name for people, if it differs from the name in the standard. JSON and the history have the standard's."""


class Diagnosis(Record):
    """Probable cause, effect on viewers and advice, one short sentence each."""

    cause: str = ""
    viewers: str = ""
    advice: str = ""


class TimelineEntry(NamedTuple):
    """Entry in the timeline of an alarm.

    `actor`: `user@host:pid`, the name of a collector token, or `link from NAME`; empty if no person acted.
    """

    at: datetime
    text: str
    actor: str = ""


class Silenced(Record):
    """Silence that covers an alarm now. `id`: its id. `until`: its end for this alarm. `by`: who added it."""

    id: str
    until: datetime
    comment: str
    by: str


@dataclass(frozen=True, slots=True)
class Alarm:
    """Present or past fault.

    Fault: `event_id`: DECK for the deck's own alarms. `since`: start of the fault according to the data. `present`: the
    fault exists now. `cleared_at`: end of the fault; None while it is ongoing. `stage`: rises when an ongoing fault
    deserves attention again. `activations`: starts of the fault in the last 10 min. `flapping`: too many activations to
    ring each time. `escalated`: so many activations that a warning is critical. `affects`: event ids of a PLATFORM
    incident. `found`: nobody saw the onset, which was before the first look at the event, or in unwatched time.

    State: `changed`: start of `state`. `needs_ack`: nobody has acknowledged the alarm yet. `acknowledged_at`,
    `acknowledged_until`: time and expiry of this occurrence's acknowledgement. `answered_by`, `answered_at`: author and
    time of the last acknowledgement (given or taken back), shelving or unshelving. `shelved_until`: end of the shelf;
    None without an end. `reason`: reason for the shelf or for out of service. `parent`: kind of the alarm that hides
    this one. `verdict`: verdict of the person who closed the alarm, or empty. `hides`: gravest severity of the symptoms
    that are hidden together with this shelved or out-of-service alarm; None if it hides none. `silenced`: silence in
    which the alarm neither rings nor notifies; None without one. `timeline`: changes of this occurrence, oldest first.
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
    needs_ack: Annotated[bool, Field(alias="owed")] = True  # stored under this name in the history
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
    found: bool = False
    cleared_at: datetime | None = None
    hides: Severity | None = None
    silenced: Silenced | None = None
    verdict: str = ""

    @property
    def key(self) -> AlarmKey:
        """Identity of the alarm: event, kind and target."""
        return AlarmKey(self.event_id, self.kind, self.target)

    @property
    def shown(self) -> Shown:
        """Alarm as an operator sees it now, for an alarm action."""
        return Shown(self.since, self.severity, self.stage)

    @property
    def active(self) -> bool:
        """True if an operator must look at the alarm now."""
        return self.state.active

    @property
    def is_ongoing(self) -> bool:
        """True if the fault counts as present; a flapping fault does so even in its pauses."""
        return self.present or self.flapping

    @property
    def episodes(self) -> int:
        """Number of activations in the last 10 min."""
        return len(self.activations)

    @property
    def seconds_to_acknowledge(self) -> float | None:
        """Seconds from the last raise to the first acknowledgement after it; None without one, or if unknown."""
        at, timeline = self.acknowledged_at, self.timeline
        if at is None:
            return None
        raised = max(
            (it.at for it in timeline if it.text == AlarmTransition.RAISED.words and it.at <= at), default=None
        )
        if raised is None:
            return None
        word = AlarmTransition.ACKNOWLEDGED.words
        return (min([at, *(it.at for it in timeline if it.text == word and it.at >= raised)]) - raised).total_seconds()

    def moved(self, seconds: float) -> Alarm:
        """Return a copy with its times by a clock that is `seconds` ahead."""
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
            cleared_at=self.cleared_at and self.cleared_at + ahead,
            silenced=self.silenced and replace(self.silenced, until=self.silenced.until + ahead),
        )


class AlarmTransition(StrEnum):
    """Transition of an alarm, for the log. RAISED: the alarm asks for attention, for the first time or again."""

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
    SILENCED = "silenced"
    UNSILENCED = "silence ended"

    @property
    def words(self) -> str:
        """Name of the transition for people, the same everywhere."""
        return _TRANSITION_WORDS.get(self, self.value)


_TRANSITION_WORDS = {
    AlarmTransition.LAPSED: "acknowledgement expired",
    AlarmTransition.RETURNED: "cleared, not acknowledged",
    AlarmTransition.SUPPRESSED: "hidden",
    AlarmTransition.RELEASED: "visible again",
}

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


class AlarmChange(Record):
    """Transition of an alarm, with the alarm after it."""

    at: datetime
    transition: AlarmTransition
    alarm: Alarm

    @property
    def actor(self) -> str:
        """Person who caused the transition; empty if nobody did, such as when an acknowledged fault clears."""
        alarm = self.alarm
        is_over_by_itself = (
            self.transition is AlarmTransition.CLEARED
            and alarm.answered_at is not None
            and alarm.answered_at == alarm.acknowledged_at
        )
        return alarm.answered_by if self.transition in _BY_PERSON and not is_over_by_itself else ""
