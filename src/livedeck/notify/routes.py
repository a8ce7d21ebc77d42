"""Choice of the routes of an alarm: by severity, event, project, kind and hours (notifications.md, "Routes"). Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from livedeck.monitor import Case, CaseEvent, Matcher, MatchField, MatchOp, Severity, match
from livedeck.record import Record
from livedeck.text.hours import Hours


class Level(NamedTuple):
    """Further target of an alarm that nobody has handled for `after` minutes.

    `repeat`: minutes until a critical alarm goes there again (0: never).
    """

    after: float
    to: str
    repeat: float = 0.0


GROUPINGS = ("incident", "event", "project", "kind", "none")
"""Values of `group_by`: alarms that share a message. An incident has its own message in any case."""


class Route(Record):
    """Rule that sends some alarms to a target.

    Attributes:
        name: Name of the route.
        to: The target.
        severity: Lowest severity that the route takes.
        events: Shell patterns for the id or name of the event.
        projects: Shell patterns for the id of the event's project.
        kinds: Shell patterns for the kind of alarm.
        hours: Hours in which somebody reads the messages.
        through: Lowest severity that goes out outside these hours.
        escalate: Minutes until an unacknowledged alarm goes to `escalate_to`; 0 for never.
        escalate_to: Target of an escalation.
        resolved: Also send the end of an alarm.
        levels: Further targets, instead of `escalate_to`.
        repeat: Minutes until an unacknowledged critical alarm goes to `to` again; 0 for never.
        group_by: One of `GROUPINGS`.
        group_wait: Time from a group's first alarm to its message.
        group_interval: Minimum time from a group's message to the next one about warnings that join the group.
    """

    name: str
    to: str
    severity: Severity = Severity.WARNING
    events: tuple[str, ...] = ("*",)
    projects: tuple[str, ...] = ("*",)
    kinds: tuple[str, ...] = ("*",)
    hours: Hours = Hours()
    through: Severity = Severity.CRITICAL
    escalate: float = 0.0
    escalate_to: str = ""
    resolved: bool = True
    levels: tuple[Level, ...] = ()
    repeat: float = 0.0
    group_by: str = "incident"
    group_wait: timedelta = timedelta(seconds=5)
    group_interval: timedelta = timedelta(seconds=60)

    @property
    def escalations(self) -> tuple[Level, ...]:
        """Levels of escalation, earliest first."""
        return self.levels or ((Level(self.escalate, self.escalate_to),) if self.escalate and self.escalate_to else ())

    @property
    def all_levels(self) -> tuple[Level, ...]:
        """Target of the route as a level without delay, then the levels of escalation."""
        return (Level(0.0, self.to, self.repeat), *self.escalations)

    def is_quiet(self, severity: Severity, local: datetime) -> bool:
        """Return whether an alarm of that severity waits for the hours of the route."""
        return severity.rank > self.through.rank and not self.hours.covers(local)


def reasons_against(route: Route, case: Case) -> list[str]:
    """Return why the route does not take the alarm; empty if it does.

    An alarm of the deck itself passes every condition on events.
    """
    reasons = []
    if case.severity.rank > route.severity.rank:
        reasons.append(f"severity {case.severity} is below {route.severity}")
    if not _fits(route.kinds, case, None, MatchField.KIND):
        reasons.append(f"the kind of the alarm does not match {', '.join(route.kinds)}")
    named = [event for event in case.events if _fits(route.events, case, event, MatchField.EVENT, MatchField.NAME)]
    if case.events and not named:
        reasons.append(f"the event of the alarm does not match {', '.join(route.events)}")
    elif case.events and not any(_fits(route.projects, case, event, MatchField.PROJECT) for event in named):
        reasons.append(f"the project of the event does not match {', '.join(route.projects)}")
    return reasons


def _fits(patterns: Iterable[str], case: Case, event: CaseEvent | None, *fields: MatchField) -> bool:
    """Return whether one of the shell patterns fits one of the fields of the alarm."""
    return any(match([Matcher(field, MatchOp.FITS, pattern)], case, event) for pattern in patterns for field in fields)
