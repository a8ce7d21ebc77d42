"""Key figures of alarms, as frozen values (monitoring.md, "Alarm figures")."""

from __future__ import annotations

from datetime import datetime

from livedeck.record import Record


class Figure(Record):
    """Figure with its goal. `key`: name in JSON and in metrics. `title`: name for people.

    `value`: None if it is not recorded, or if there is nothing to measure; `missing` says which. `unit`: `share` (0 to
    1), `s`, `h`, or empty for a number. `goal`: largest good value; smallest good value if `is_least`; None without a
    goal.
    """

    key: str
    title: str
    value: float | None
    unit: str = ""
    goal: float | None = None
    is_least: bool = False
    missing: str = ""

    @property
    def is_met(self) -> bool | None:
        """True if the goal is met; None without a value or a goal."""
        if self.value is None or self.goal is None:
            return None
        return self.value >= self.goal if self.is_least else self.value <= self.goal


class BadActor(Record):
    """Alarm of an event that was announced often. `share`: its share of all announcements, 0 to 1."""

    event_id: str
    subject: str
    kind: str
    count: int
    share: float


class AlarmFigures(Record):
    """Key figures of alarms in a range of time. `bad_actors`: alarms that were announced most, the worst first."""

    since: datetime
    until: datetime
    figures: tuple[Figure, ...]
    bad_actors: tuple[BadActor, ...] = ()
