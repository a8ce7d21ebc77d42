"""Which routes an alarm takes: by severity, event, project, kind and hours (notifications.md, "Routes"). Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time
from fnmatch import fnmatchcase
from typing import NamedTuple

from livedeck.monitor import Severity

_DAYS = ("mo", "tu", "we", "th", "fr", "sa", "su")
_SPAN = re.compile(
    r"(?:(?P<first>[a-z]{2})(?:-(?P<last>[a-z]{2}))?\s+)?(?P<begin>\d{2}:\d{2})-(?P<end>\d{2}:\d{2})", re.IGNORECASE
)


class Span(NamedTuple):
    """From `begin` to `end` of each of these weekdays (0 is Monday). One that ends before it begins ends the day
    after."""

    days: frozenset[int]
    begin: time
    end: time

    def covers(self, local: datetime) -> bool:
        """Whether that moment lies in it."""
        at, day = local.time(), local.weekday()
        if self.begin < self.end:
            return day in self.days and self.begin <= at < self.end
        return (day in self.days and at >= self.begin) or ((day - 1) % 7 in self.days and at < self.end)


@dataclass(frozen=True, slots=True)
class Hours:
    """When somebody reads a route. Without spans: always."""

    spans: tuple[Span, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Hours:
        """`Mo-Fr 08:00-18:00, Sa 10:00-14:00`; without days every day, and empty is always. Raises ValueError."""
        return cls(tuple(_parse_span(part.strip()) for part in text.split(",") if part.strip()))

    def covers(self, local: datetime) -> bool:
        """Whether somebody reads then."""
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
        raise ValueError(f"{text!r} are no hours; write Mo-Fr 08:00-18:00, Sa 10:00-14:00") from None


def _time(text: str) -> time:
    """`24:00` is the midnight that ends a day."""
    return time() if text == "24:00" else time.fromisoformat(text)


@dataclass(frozen=True, slots=True)
class Route:
    """Who is told of what. `to`: the target; `severity`: this and worse; `events`, `projects`, `kinds`: shell patterns,
    over id and name of the event, the id of its project, the kind. `hours`: when it is read; outside them only what is
    `through` or worse goes out. `escalate`: minutes until `escalate_to` is told of what nobody has acknowledged; 0:
    never. `resolved`: tell the end, too."""

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

    def is_quiet(self, severity: Severity, local: datetime) -> bool:
        """Whether what is that severe waits now for the hours in which the route is read."""
        return severity.rank > self.through.rank and not self.hours.covers(local)


class CaseEvent(NamedTuple):
    """An event that an alarm concerns. `project`: the id of the project or folder that it is in; empty: of none."""

    id: str
    name: str
    project: str = ""


class Case(NamedTuple):
    """What a route is asked about. `events`: those that it concerns; none of the deck's own."""

    kind: str
    severity: Severity
    events: Sequence[CaseEvent] = ()


def reasons_against(route: Route, case: Case) -> list[str]:
    """Why that route does not take it; empty where it does. The deck's own alarms concern every event."""
    reasons = []
    if case.severity.rank > route.severity.rank:
        reasons.append(f"it is {case.severity}, and the route takes {route.severity} and worse")
    if not _matches(route.kinds, (case.kind,)):
        reasons.append(f"its kind is none of {', '.join(route.kinds)}")
    named = [event for event in case.events if _matches(route.events, (event.id, event.name))]
    if case.events and not named:
        reasons.append(f"its event is none of {', '.join(route.events)}")
    elif case.events and not any(_matches(route.projects, (event.project,)) for event in named):
        reasons.append(f"its project is none of {', '.join(route.projects)}")
    return reasons


def _matches(patterns: Sequence[str], names: Sequence[str]) -> bool:
    """Whether one of the patterns fits one of the names, in whatever case."""
    return any(fnmatchcase(name.casefold(), pattern.casefold()) for pattern in patterns for name in names)
