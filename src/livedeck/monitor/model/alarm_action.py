"""What a person answered to an alarm: one row each, appended and never changed (monitoring.md, "Shared alarms")."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import uuid4

from livedeck.monitor.model.alarm import AlarmKey, Severity, Shown
from livedeck.text.secrets import masked_line

TAKE_BACK_FOR = timedelta(minutes=5)
"""Time within which a person can take an acknowledgement back: as long as the one of a critical alarm lasts. Later the
others rely on it, and it soon runs out by itself."""


class ActionKind(StrEnum):
    """Kind of an answer. CLOSE: acknowledged when it was over. UNACKNOWLEDGE: takes either of both back."""

    ACKNOWLEDGE = "acknowledge"
    CLOSE = "close"
    UNACKNOWLEDGE = "unacknowledge"
    SHELVE = "shelve"
    UNSHELVE = "unshelve"
    OUT_OF_SERVICE = "out of service"
    IN_SERVICE = "in service"
    NOTE = "note"


ACKNOWLEDGEMENTS = frozenset({ActionKind.ACKNOWLEDGE, ActionKind.CLOSE, ActionKind.UNACKNOWLEDGE})
SHELVINGS = frozenset({ActionKind.SHELVE, ActionKind.UNSHELVE, ActionKind.OUT_OF_SERVICE, ActionKind.IN_SERVICE})
"""The kinds that take each other's place: a promise to act, where the alarm is kept; a note is by itself."""


@dataclass(frozen=True, slots=True)
class AlarmCommand:
    """What a person wants done to an alarm. `carry_out` decides what becomes of it.

    `shown`: the alarm as they saw it; None: as it stands. `minutes`: of a shelf, None until it is over. `text`: why it
    is put away, or the note. `actor`: as of an answer. `uid`: of the answer that comes of it: the same command again is
    the same answer.
    """

    key: AlarmKey
    kind: ActionKind
    shown: Shown | None = None
    minutes: float | None = None
    text: str = ""
    actor: str = ""
    uid: str = field(default_factory=lambda: uuid4().hex)


@dataclass(frozen=True, slots=True)
class AlarmAction:
    """One answer. `since`, `severity`, `stage`: of the alarm as it was answered.

    `at`, `until`: this machine's clock; `until`: when the promise or the shelf runs out, None where it has no time; of
    what was brought back when it was over, that moment. `actor`: `user@host:pid`. `reason`: why it was put away, or the
    note. `uid`: no two have the same.
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
        object.__setattr__(self, "reason", masked_line(self.reason))

    @property
    def shown(self) -> Shown:
        """The alarm as it was answered."""
        return Shown(self.since, self.severity, self.stage)

    @property
    def order(self) -> tuple[datetime, str]:
        """The later of two answers is the one that counts; `uid` decides between two of one moment."""
        return self.at, self.uid

    def moved(self, seconds: float) -> AlarmAction:
        """The same by a clock that is so much ahead."""
        if not seconds:
            return self
        ahead = timedelta(seconds=seconds)
        until = self.until and self.until + ahead
        return replace(self, since=self.since + ahead, at=self.at + ahead, until=until)


def person(actor: str) -> str:
    """The actor without the process: `anna@regie`."""
    name, _, process = actor.rpartition(":")
    return name if name and process.isdigit() else actor
