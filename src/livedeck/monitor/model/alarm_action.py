"""Alarm actions of operators, each a row that never changes (monitoring.md, "Shared alarms")."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import uuid4

from msgspec import field
from msgspec.structs import force_setattr

from livedeck.monitor.model.alarm import Alarm, AlarmKey, AlarmState, Severity, Shown
from livedeck.record import Record
from livedeck.text.secrets import masked_line

TAKE_BACK_FOR = timedelta(minutes=5)
"""Time limit for taking an acknowledgement back; later, other people rely on it."""


class ActionKind(StrEnum):
    """Kind of an alarm action.

    CLOSE: acknowledge a cleared alarm, or give any alarm a verdict. UNACKNOWLEDGE: take back an acknowledgement.
    SHELVE_ALONE: shelve an alarm without its symptoms. A program ignores actions of a kind that it does not have.
    """

    ACKNOWLEDGE = "acknowledge"
    CLOSE = "close"
    UNACKNOWLEDGE = "unacknowledge"
    SHELVE = "shelve"
    SHELVE_ALONE = "shelve alone"
    UNSHELVE = "unshelve"
    OUT_OF_SERVICE = "out of service"
    IN_SERVICE = "in service"
    NOTE = "note"


class Verdict(StrEnum):
    """Verdict of a person on an alarm. REAL: a fault. FALSE: no fault. MEANT_SO: correctly detected, but on purpose."""

    REAL = "real"
    FALSE = "false"
    MEANT_SO = "meant so"


ACKNOWLEDGEMENTS = frozenset({ActionKind.ACKNOWLEDGE, ActionKind.CLOSE, ActionKind.UNACKNOWLEDGE})
SHELVINGS = frozenset(
    {ActionKind.SHELVE, ActionKind.SHELVE_ALONE, ActionKind.UNSHELVE, ActionKind.OUT_OF_SERVICE, ActionKind.IN_SERVICE}
)
"""Two groups of kinds. A later action replaces an earlier one of its group."""


class AlarmCommand(Record):
    """Command of an operator for an alarm; `carry_out` applies or refuses it.

    `shown`: alarm on the operator's screen; None for its present state. `minutes`: minutes to shelve the alarm; None to
    shelve it until it clears. `text`: reason, note or verdict. `actor`: as in AlarmAction. `uid`: id of the resulting
    action, so that a repeated command makes no second action.
    """

    key: AlarmKey
    kind: ActionKind
    shown: Shown | None = None
    minutes: float | None = None
    text: str = ""
    actor: str = ""
    uid: str = field(default_factory=lambda: uuid4().hex)


class AlarmAction(Record):
    """Action of an operator on an alarm. Times are by this machine's clock.

    `since`, `severity`, `stage`: values of the alarm at the time of the action. `until`: expiry of the acknowledgement
    or shelf; None without one. For unshelving a cleared alarm it equals `at`. `actor`: `user@host:pid`. `reason`:
    reason, note or verdict. `uid`: unique id.
    """

    uid: str
    key: AlarmKey
    since: datetime
    kind: ActionKind
    at: datetime
    actor: str
    severity: Severity
    stage: int = 0
    until: datetime | None = None
    reason: str = ""

    def __post_init__(self) -> None:
        force_setattr(self, "reason", masked_line(self.reason))

    @property
    def shown(self) -> Shown:
        """Alarm as the operator saw it."""
        return Shown(self.since, self.severity, self.stage)

    @property
    def order(self) -> tuple[datetime, str]:
        """Sort key of actions: by time, and by `uid` for equal times."""
        return self.at, self.uid

    def moved(self, seconds: float) -> AlarmAction:
        """Return a copy with its times by a clock that is `seconds` ahead."""
        if not seconds:
            return self
        ahead = timedelta(seconds=seconds)
        until = self.until and self.until + ahead
        return replace(self, since=self.since + ahead, at=self.at + ahead, until=until)


BY_LINK = "link from "
"""Beginning of the actor of an acknowledgement by a link; the name of its sender follows."""


def person(actor: str) -> str:
    """Return the person of an actor, without the process id: `anna@regie`."""
    name, _, process = actor.rpartition(":")
    return name if name and process.isdigit() else actor


def is_acknowledged(alarm: Alarm) -> bool:
    """Return whether the alarm is acknowledged, or was acknowledged when it cleared."""
    is_given = alarm.state is AlarmState.ACKNOWLEDGED or alarm.acknowledged_at is not None
    is_away = alarm.state in {AlarmState.SHELVED, AlarmState.OUT_OF_SERVICE}
    return is_given and not alarm.needs_ack and not is_away


def take_back_until(alarm: Alarm, actor: str) -> datetime | None:
    """Return the time until which a person can take back the alarm's acknowledgement; None if that person cannot.

    The time is `TAKE_BACK_FOR` after the acknowledgement, or its expiry if that is earlier.
    """
    acknowledged_at, is_past_info = alarm.acknowledged_at, alarm.severity is Severity.INFO and not alarm.is_ongoing
    if acknowledged_at is None or acknowledged_at != alarm.answered_at or not is_acknowledged(alarm) or is_past_info:
        return None
    if person(alarm.answered_by) != person(actor):
        return None
    return min(acknowledged_at + TAKE_BACK_FOR, alarm.acknowledged_until or acknowledged_at + TAKE_BACK_FOR)
