"""Truth and evidence of a drill: the scenario as it ran, and the acts of deck and person. Pure.

All times are on the simulator's clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from livedeck.monitor import (
    ActionKind,
    AlarmAction,
    AlarmKey,
    AlarmRecord,
    AlarmTransition,
    EventRecord,
    Severity,
    person,
)
from livedeck.record import Record

LATE_ALARM = timedelta(seconds=90)
"""Time after the end of a cause in which its alarm may still be raised."""


class Timing(Record):
    """Seconds for a reaction: full credit up to `par`, no credit from `limit` on."""

    par: float
    limit: float

    def credit(self, seconds: float | None) -> float:
        """Return the credit from 0 to 1 of a reaction after `seconds`; None: no reaction."""
        if seconds is None:
            return 0.0
        if seconds <= self.par:
            return 1.0
        return max(0.0, (self.limit - seconds) / (self.limit - self.par)) if seconds < self.limit else 0.0


class Answer(Record):
    """Row of `[[answers]]`: an incident, and the reaction of a good operator.

    `event`, `target`: names; an empty event is the platform, an empty target any part of the event. `since`, `until`:
    start and end of the fault; `until` is None if it stays. `severity`: highest severity of the alarm; None if the
    scenario does not say. `action`: time for a change, or for a note with the word `note`; None if only the
    acknowledgement counts. `asks`: the wanted change or note, in words.
    """

    alarm: str
    event: str
    target: str
    since: datetime
    until: datetime | None
    severity: Severity | None
    acknowledge: Timing
    action: Timing | None = None
    note: str = ""
    asks: str = ""

    @property
    def longest(self) -> timedelta:
        """Time after the alarm from which no reaction has credit."""
        return timedelta(seconds=max(self.acknowledge.limit, self.action.limit if self.action else 0.0))


class ExpectedAlarm(Record):
    """Row of `[[alarms]]`. `until`: end of the cause; None if it stays. `shown`: False if another alarm hides it."""

    alarm: str
    event: str
    target: str
    since: datetime
    until: datetime | None = None
    shown: bool = True


class Refused(Record):
    """Step that the platform refused. `event`: name of the event; empty for the platform."""

    at: datetime
    step: str
    event: str
    reason: str


class Truth(Record):
    """Scenario as it ran. `hash`: of the scenario's table; scores of two hashes cannot be compared."""

    scenario: str
    title: str
    hash: str
    seed: int
    began: datetime
    ends: datetime
    answers: tuple[Answer, ...] = ()
    alarms: tuple[ExpectedAlarm, ...] = ()
    refused: tuple[Refused, ...] = ()


class Raised(Record):
    """Alarm raised by the deck. `event`, `target`: names.

    `shown`: first time at which the deck could show it, because an onset may wait for an incident; None if unknown.
    """

    at: datetime
    key: AlarmKey
    event: str
    target: str
    severity: Severity
    shown: datetime | None = None

    @property
    def alarm(self) -> str:
        """Kind of the alarm."""
        return self.key.kind

    @property
    def counted_from(self) -> datetime:
        """Time from which a reaction counts: when the deck could show the alarm, or else when it raised it."""
        return self.shown or self.at


class Act(Record):
    """Act of a person on an alarm: an acknowledgement, or a note with its text."""

    at: datetime
    key: AlarmKey
    by: str
    note: str | None = None


class Change(Record):
    """Change that reached the platform. `does`: the change in words; equal changes have equal words.

    `event_id`, `event`: id and name of the event; empty without one. `answers`: indices of the answers that its request
    matches. `ends_event`: the change completes or deletes the event; in the evidence, False unless the event was on
    air.
    """

    at: datetime
    does: str
    event_id: str
    event: str
    is_carried_out: bool
    answers: tuple[int, ...] = ()
    is_allowed: bool = False
    ends_event: bool = False


class Starved(Record):
    """Time in which this machine was too busy to judge a reaction."""

    since: datetime
    until: datetime

    def spoils(self, since: datetime, until: datetime) -> bool:
        """Return whether a reaction in that time cannot be judged."""
        return self.since < until and self.until > since


class Evidence(Record):
    """Evidence of one drill. `ended`: the end of the drill. `by`: the person, empty if unknown."""

    truth: Truth
    ended: datetime
    raised: tuple[Raised, ...] = ()
    acts: tuple[Act, ...] = ()
    changes: tuple[Change, ...] = ()
    starved: tuple[Starved, ...] = ()
    by: str = ""


def has_raised(row: Answer | ExpectedAlarm, raised: Raised) -> bool:
    """Return whether an alarm has the name, event, target and time that the row expects."""
    is_named = (row.alarm, row.event) == (raised.alarm, raised.event) and row.target in {"", raised.target}
    return is_named and row.since <= raised.at and (row.until is None or raised.at <= row.until + LATE_ALARM)


def raised_of(
    records: Iterable[AlarmRecord], names: Mapping[str, str], announced: Iterable[AlarmRecord] = ()
) -> tuple[Raised, ...]:
    """Return the raised alarms of a deck's history in order of time.

    `names`: id of an event -> its name. `announced`: transitions at the times at which the deck could show them.
    """
    raises, shown = _raises(records), _raises(announced)
    found = (
        Raised(
            record.at,
            _key(record),
            names.get(record.event_id, ""),
            record.target_name,
            record.severity,
            _shown_at(record, raises, shown),
        )
        for record in raises
    )
    return tuple(found)


def _raises(records: Iterable[AlarmRecord]) -> list[AlarmRecord]:
    raises = (record for record in records if record.turn is AlarmTransition.RAISED)
    return sorted(raises, key=lambda record: record.at)


def _key(record: AlarmRecord) -> AlarmKey:
    return AlarmKey(record.event_id, record.kind, record.target)


def _shown_at(record: AlarmRecord, raises: Iterable[AlarmRecord], shown: Iterable[AlarmRecord]) -> datetime | None:
    """Return the time at which an alarm was first shown before it was raised again; None if it was not shown."""
    times = (each.at for each in shown if _key(each) == _key(record) and each.at >= record.at)
    at = next(times, None)
    is_next = at is not None and any(_key(other) == _key(record) and record.at < other.at <= at for other in raises)
    return None if is_next else at


def acts_of(actions: Iterable[AlarmAction]) -> tuple[Act, ...]:
    """Return the acknowledgements and notes of a deck's history in order of time."""
    return tuple(
        Act(action.at, action.key, person(action.actor), action.reason if action.kind is ActionKind.NOTE else None)
        for action in sorted(actions, key=lambda action: action.order)
        if action.kind in {ActionKind.ACKNOWLEDGE, ActionKind.CLOSE, ActionKind.NOTE}
    )


def was_on_air(records: Iterable[EventRecord], event_id: str, at: datetime) -> bool:
    """Return whether an event was on air at a time, by the records of the deck's history."""
    earlier = [record for record in records if record.event_id == event_id and record.at <= at]
    last = max(earlier, key=lambda record: record.at, default=None)
    return last is not None and not last.is_gone and last.tally.expects_signal
