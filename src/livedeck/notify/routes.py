"""Choice of the routes of an alarm: by severity, event, project, kind and hours (notifications.md, "Routes"). Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, time, timedelta
from typing import NamedTuple

from livedeck.monitor import Severity
from livedeck.record import Record
from livedeck.text.patterns import fits

_DAYS = ("mo", "tu", "we", "th", "fr", "sa", "su")
_SPAN = re.compile(
    r"(?:(?P<first>[a-z]{2})(?:-(?P<last>[a-z]{2}))?\s+)?(?P<begin>\d{2}:\d{2})-(?P<end>\d{2}:\d{2})", re.IGNORECASE
)


class Span(NamedTuple):
    """Hours from `begin` to `end` on some weekdays (0 is Monday). If `end` is before `begin`, it is on the next day."""

    days: frozenset[int]
    begin: time
    end: time

    def covers(self, local: datetime) -> bool:
        """Return whether a time is in the span."""
        at, day = local.time(), local.weekday()
        if self.begin < self.end:
            return day in self.days and self.begin <= at < self.end
        return (day in self.days and at >= self.begin) or ((day - 1) % 7 in self.days and at < self.end)


class Hours(Record):
    """Hours in which somebody reads the messages of a route. Without spans: always."""

    spans: tuple[Span, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Hours:
        """Read hours such as `Mo-Fr 08:00-18:00, Sa 10:00-14:00`.

        Hours without days are for every day; an empty text means always. Raises ValueError.
        """
        return cls(tuple(_parse_span(part.strip()) for part in text.split(",") if part.strip()))

    def covers(self, local: datetime) -> bool:
        """Return whether somebody reads at that time."""
        return not self.spans or any(span.covers(local) for span in self.spans)


def _parse_span(text: str) -> Span:
    match = _SPAN.fullmatch(text)
    try:
        first, last, begin, end = match.groups() if match else ("", "", "", "")
        first_day = _DAYS.index((first or "mo").lower())
        last_day = _DAYS.index((last or first or "su").lower())
        days = frozenset((first_day + step) % 7 for step in range((last_day - first_day) % 7 + 1))
        return Span(days, _time(begin), _time(end))
    except ValueError:
        raise ValueError(f"{text!r} is not a range of hours; write Mo-Fr 08:00-18:00, Sa 10:00-14:00") from None


def _time(text: str) -> time:
    """Read a time; `24:00` is the midnight at the end of a day."""
    return time() if text == "24:00" else time.fromisoformat(text)


class Level(NamedTuple):
    """A further target of an alarm that nobody has handled for `after` minutes.

    `repeat`: minutes until a critical alarm goes there again; 0: never.
    """

    after: float
    to: str
    repeat: float = 0.0


GROUPINGS = ("incident", "event", "project", "kind", "none")
"""Values of `group_by`: alarms that share a message. An incident has its own message in any case."""


class Route(Record):
    """A rule that sends some alarms to a target.

    `to`: the target. `severity`: the lowest severity that the route takes. `events`, `projects`, `kinds`: shell
    patterns for the id or name of the event, the id of its project, and the kind. `hours`: when somebody reads the
    messages; outside these hours only severity `through` and worse go out. `escalate`: minutes until an unacknowledged
    alarm goes to `escalate_to`; 0: never. `resolved`: also send the end of an alarm. `levels`: further targets instead
    of `escalate_to`. `repeat`: minutes until an unacknowledged critical alarm goes to `to` again; 0: never. `group_by`:
    one of `GROUPINGS`. `group_wait`: time from a group's first alarm to its message. `group_interval`: minimum time
    from a group's message to one about warnings that join it.
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
        """Further targets, the first one first."""
        return self.levels or ((Level(self.escalate, self.escalate_to),) if self.escalate and self.escalate_to else ())

    @property
    def all_levels(self) -> tuple[Level, ...]:
        """The target of the route as a level, and the further ones."""
        return (Level(0.0, self.to, self.repeat), *self.escalations)

    def is_quiet(self, severity: Severity, local: datetime) -> bool:
        """Return whether an alarm of that severity waits for the hours of the route."""
        return severity.rank > self.through.rank and not self.hours.covers(local)


class CaseEvent(NamedTuple):
    """An event of an alarm. `project`: the id of its project or folder; empty if it has none."""

    id: str
    name: str
    project: str = ""


class Case(NamedTuple):
    """An alarm as a route sees it. `events`: the affected events; empty for the deck's own alarms."""

    kind: str
    severity: Severity
    events: Sequence[CaseEvent] = ()


def reasons_against(route: Route, case: Case) -> list[str]:
    """Return why the route does not take the alarm; empty if it does. The deck's own alarms belong to every event."""
    reasons = []
    if case.severity.rank > route.severity.rank:
        reasons.append(f"severity {case.severity} is below {route.severity}")
    if not fits(route.kinds, case.kind):
        reasons.append(f"the kind of the alarm does not match {', '.join(route.kinds)}")
    named = [event for event in case.events if fits(route.events, event.id, event.name)]
    if case.events and not named:
        reasons.append(f"the event of the alarm does not match {', '.join(route.events)}")
    elif case.events and not any(fits(route.projects, event.project) for event in named):
        reasons.append(f"the project of the event does not match {', '.join(route.projects)}")
    return reasons
