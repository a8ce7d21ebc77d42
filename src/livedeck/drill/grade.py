"""Grade of a drill: the credit of each incident, wrong actions, and the score (simulator.md, "Drills"). Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from livedeck.drill.truth import (
    LATE_ALARM,
    Act,
    Answer,
    Change,
    Evidence,
    ExpectedAlarm,
    Raised,
    Starved,
    Truth,
    has_raised,
)
from livedeck.monitor import Severity
from livedeck.record import Record

RULES = 4
"""Version of the rules. Scores of two versions cannot be compared."""

ACKNOWLEDGE_SHARE = 0.3
"""Share of the acknowledgement in the credit of an incident that also asks for an action."""

CRITICAL_WEIGHT = 3
"""Weight of a critical incident; any other has 1."""

WRONG_COST = 10.0
ENDED_SHOW_COST = 25.0
"""Points off for a wrong change. ENDED_SHOW_COST: for a change that ends an event on air."""

REPEATED_WITHIN = timedelta(seconds=10)
"""Time in which the same change counts once."""

TOO_BUSY = "this machine is too busy"
NEVER_RAISED = "the deck never raised this alarm"
ENDED_EARLY = "the drill ended before the limit"


class Incident(Record):
    """Graded row of `[[answers]]`.

    `parts`: names of the parts of the event with the alarm. `shown`: first time at which the deck could show the alarm;
    None if unknown. `seen`: first act of the person on the alarm or its event, because a look leaves no trace. `wrong`:
    number of wrong changes that belong to it. `credit`: from 0 to 1; None if `void` says why there is none.
    """

    answer: Answer
    weight: int
    parts: tuple[str, ...]
    raised: datetime | None
    shown: datetime | None
    seen: datetime | None
    acknowledged: datetime | None
    acknowledged_by: str
    acted: datetime | None
    action: str
    void: str = ""
    wrong: int = 0
    credit: float | None = None

    @property
    def is_mistaken(self) -> bool:
        """True if a wrong change was made in place of the right reaction, which may be to change nothing."""
        return self.wrong > 0 and self.acted is None

    def is_open(self, at: datetime) -> bool:
        """Return whether a time is between the alarm and its limit, and not later than the requested action."""
        is_raised = self.raised is not None and self.raised <= at <= self.limit
        return is_raised and (self.acted is None or at <= self.acted)

    @property
    def counted_from(self) -> datetime | None:
        """Time from which reactions count; None without an alarm."""
        return self.shown or self.raised

    @property
    def limit(self) -> datetime:
        """Time from which no reaction has credit; without an alarm, if it had been raised with its fault."""
        return (self.counted_from or self.answer.since) + self.answer.longest

    def seconds_to(self, at: datetime | None) -> float | None:
        """Return the seconds to `at` from the time at which the deck could show the alarm; None without one of them."""
        return (at - self.counted_from).total_seconds() if at and self.counted_from else None

    def is_spoilt(self, busy: Starved) -> bool:
        """Return whether the reaction cannot be judged, because the machine was too busy at that time."""
        return busy.spoils(self.answer.since, self.limit)


class Wrong(Record):
    """Wrong change and its cost in points."""

    change: Change
    cost: float


class Grade(Record):
    """Grade of a drill. `score`: from 0 to 100; None if `void` says why there is none.

    `busy`: first time in which this machine was too busy to judge a reaction. `reactions`: score without the cost of
    wrong changes. `due`: alarms that the deck had to raise before the drill `ended`. `missed`, `false`: alarms that it
    did not raise, or raised without a cause. They do not change the score.
    """

    truth: Truth
    by: str
    ended: datetime
    score: float | None
    void: str
    busy: Starved | None
    reactions: float
    incidents: tuple[Incident, ...]
    wrong: tuple[Wrong, ...]
    due: tuple[ExpectedAlarm, ...]
    missed: tuple[ExpectedAlarm, ...]
    false: tuple[Raised, ...]
    rules: int = RULES


def grade(evidence: Evidence) -> Grade:
    """Return the grade of a drill."""
    wrong = tuple(Wrong(change, _cost(change)) for change in _wrong_changes(evidence.changes))
    played = [_incident(evidence, number) for number in range(len(evidence.truth.answers))]
    incidents = tuple(_graded(evidence, played, wrong))
    reactions, void = _reactions(incidents)
    score = None if void else max(0.0, round(reactions - sum(item.cost for item in wrong), 1))
    busy = (busy for busy in evidence.starved if any(incident.is_spoilt(busy) for incident in incidents))
    due = tuple(row for row in evidence.truth.alarms if row.shown and _is_due(row, evidence))
    missed = tuple(row for row in due if not any(has_raised(row, raised) for raised in evidence.raised))
    return Grade(
        evidence.truth,
        evidence.by,
        evidence.ended,
        score,
        void,
        next(busy, None),
        reactions,
        incidents,
        wrong,
        due,
        missed,
        _false_alarms(evidence),
    )


def _reactions(incidents: Iterable[Incident]) -> tuple[float, str]:
    """Return the mean credit in percent, and the reason why there is no score; empty if there is one."""
    incidents = [*incidents]
    total = sum(incident.weight for incident in incidents)
    counted = [(incident.weight, incident.credit) for incident in incidents if incident.credit is not None]
    weight = sum(weight for weight, _ in counted)
    if not total:
        return 0.0, "the scenario asks for no answer"
    if 2 * weight < total:
        return 0.0, max(incidents, key=lambda incident: (bool(incident.void), incident.weight)).void
    return 100 * sum(weight * credit for weight, credit in counted) / weight, ""


def is_lost(truth: Truth, starved: Sequence[Starved]) -> bool:
    """Return whether these busy times leave a drill without a score, whatever else happens.

    A severity that the scenario does not say counts as warning if the incident is void, else as critical.
    """
    void, counted = 0, 0
    for row in truth.answers:
        if any(busy.spoils(row.since, row.since + row.longest) for busy in starved):
            void += _weight(row.severity or Severity.WARNING)
        else:
            counted += _weight(row.severity or Severity.CRITICAL)
    return void > counted


def _weight(severity: Severity | None) -> int:
    return CRITICAL_WEIGHT if severity is Severity.CRITICAL else 1


def _graded(evidence: Evidence, incidents: Sequence[Incident], wrong: Iterable[Wrong]) -> Iterator[Incident]:
    """Yield the incidents with the reason why they are void, the number of their wrong changes, and their credit."""
    count = Counter(number for item in wrong for number in _owners(incidents, item.change))
    for number, incident in enumerate(incidents):
        counted = replace(incident, wrong=count[number], void=_void(evidence, incident))
        yield counted if counted.void else replace(counted, credit=_credit(counted))


def _owners(incidents: Sequence[Incident], change: Change) -> list[int]:
    """Return the indices of the incidents to which a wrong change belongs: the open incidents of its event.

    If its event has none, returns the open incidents that ask for an action. If there are none either, returns all open
    incidents.
    """
    opened = [number for number, incident in enumerate(incidents) if incident.is_open(change.at)]
    same = [number for number in opened if change.event and incidents[number].answer.event == change.event]
    return same or [number for number in opened if incidents[number].answer.action] or opened


def _incident(evidence: Evidence, number: int) -> Incident:
    answer = evidence.truth.answers[number]
    alarms = [raised for raised in evidence.raised if has_raised(answer, raised)]
    raised, keys = next(iter(alarms), None), {alarm.key for alarm in alarms}
    acts = [act for act in evidence.acts if raised and act.key in keys and act.at >= raised.at]
    acknowledged = next((act for act in acts if act.note is None), None)
    acted = _action(evidence, number, acts)
    severity = answer.severity or (raised.severity if raised else None)
    return Incident(
        answer=answer,
        weight=_weight(severity),
        parts=tuple(dict.fromkeys(alarm.target for alarm in alarms if alarm.target)),
        raised=raised.at if raised else None,
        shown=raised.shown if raised else None,
        seen=min([*(act.at for act in acts), *_change_times(evidence, answer, raised)], default=None),
        acknowledged=acknowledged.at if acknowledged else None,
        acknowledged_by=acknowledged.by if acknowledged else "",
        acted=acted[0] if acted else None,
        action=acted[1] if acted else "",
    )


def _credit(incident: Incident) -> float:
    """Return the credit. A wrong change in place of the right reaction costs more than any delay."""
    answer = incident.answer
    if incident.is_mistaken:
        return 0.0
    acknowledged = answer.acknowledge.credit(incident.seconds_to(incident.acknowledged))
    if answer.action is None:
        return acknowledged
    acted = answer.action.credit(incident.seconds_to(incident.acted))
    return ACKNOWLEDGE_SHARE * acknowledged + (1 - ACKNOWLEDGE_SHARE) * acted


def _action(evidence: Evidence, number: int, acts: Iterable[Act]) -> tuple[datetime, str] | None:
    """Return time and words of the first change or note that the answer asks for, or None."""
    answer = evidence.truth.answers[number]
    if answer.note:
        word = re.compile(rf"(?<!\w){re.escape(answer.note)}(?!\w)", re.IGNORECASE)
        return next(((act.at, act.note) for act in acts if act.note and word.search(act.note)), None)
    changes = (change for change in evidence.changes if change.is_carried_out and number in change.answers)
    return next(((change.at, change.does) for change in changes if change.at >= answer.since), None)


def _change_times(evidence: Evidence, answer: Answer, raised: Raised | None) -> list[datetime]:
    """Return the times of the changes to the incident's event after its alarm."""
    changes = (change for change in evidence.changes if answer.event == change.event)
    return [change.at for change in changes if raised and change.at >= raised.at]


def _void(evidence: Evidence, incident: Incident) -> str:
    """Return the reason why an incident does not count; empty if it counts."""
    if any(map(incident.is_spoilt, evidence.starved)):
        return TOO_BUSY
    event = incident.answer.event
    for step in evidence.truth.refused:
        if step.at < incident.limit and (not step.event or not event or step.event == event):
            return f"a step was refused: {step.step}: {step.reason}"
    if evidence.ended < incident.limit:
        return ENDED_EARLY
    return "" if incident.raised else NEVER_RAISED


def _wrong_changes(changes: Iterable[Change]) -> Iterator[Change]:
    """Yield the carried-out changes that the scenario neither asks for nor allows.

    A change that repeats another one within 10 s does not count.
    """
    counted: dict[tuple[str, str], datetime] = {}
    for change in sorted(changes, key=lambda change: change.at):
        if not change.is_carried_out or change.answers or change.is_allowed:
            continue
        same = change.does, change.event
        if same in counted and change.at - counted[same] <= REPEATED_WITHIN:
            continue
        counted[same] = change.at
        yield change


def _cost(change: Change) -> float:
    return ENDED_SHOW_COST if change.ends_event else WRONG_COST


def _is_due(row: ExpectedAlarm, evidence: Evidence) -> bool:
    return (row.until or row.since) + LATE_ALARM <= evidence.ended


def _false_alarms(evidence: Evidence) -> tuple[Raised, ...]:
    """Return the alarms without a cause.

    A change by the person counts as a cause of every later alarm about the same event.
    """

    def is_caused(raised: Raised) -> bool:
        made = (change for change in evidence.changes if change.is_carried_out and change.event == raised.event)
        return any(change.at <= raised.at for change in made)

    return tuple(
        raised
        for raised in evidence.raised
        if evidence.truth.began <= raised.at <= evidence.ended
        and not is_caused(raised)
        and not any(has_raised(row, raised) for row in evidence.truth.alarms)
    )
