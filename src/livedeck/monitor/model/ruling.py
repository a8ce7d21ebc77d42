"""Rulings: decisions on how to judge an event or a platform (monitoring.md, "Rulings").

Each ruling is a row of the history that never changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import TypeAlias

from msgspec import field

from livedeck.monitor.model.alarm_action import person
from livedeck.monitor.model.readings import Reading
from livedeck.monitor.model.thresholds import Content
from livedeck.monitor.model.unit import BitrateUnit
from livedeck.record import Record

_JUST_AFTER = 0.001
"""Seconds by which a mark is dated after the newest sample, so that the mark applies from the next sample on."""


class UsualMark(Record):
    """Ruling that the samples of a stream just before `time` (epoch s, server clock) are the baseline.

    `at`: time of the ruling, by this machine's clock. `actor`: `user@host:pid`.
    """

    at: datetime
    event_id: str
    stream_id: str
    time: float
    actor: str

    @classmethod
    def of(cls, event_id: str, stream_id: str, newest: Reading, at: datetime, actor: str) -> UsualMark:
        """Return a mark that makes the newest sample, and those just before, the baseline."""
        return cls(at, event_id, stream_id, newest.time + _JUST_AFTER, actor)

    @property
    def text(self) -> str:
        """Ruling and author, in words."""
        return f"baseline set by {person(self.actor)}"

    @property
    def moment(self) -> datetime:
        """Time of the ruling on charts."""
        return datetime.fromtimestamp(self.time, UTC)


class ProfileChoice(Record):
    """A person's choice of the content of an event.

    `profile`: the content; None to follow the settings. `at`: time of the ruling, by this machine's clock. `actor`:
    `user@host:pid`.
    """

    at: datetime
    event_id: str
    profile: Content | None
    actor: str

    @property
    def text(self) -> str:
        """Ruling and author, in words."""
        chosen = f"content {self.profile}" if self.profile else "content by the settings"
        return f"{chosen}, chosen by {person(self.actor)}"

    @property
    def moment(self) -> datetime:
        """Time of the ruling on charts."""
        return self.at


class UnitChoice(Record):
    """Choice of the unit of a platform's bit rates, by a person or by livedeck itself.

    `at`: time of the ruling, by this machine's clock. `actor`: `user@host:pid`, or `LIVEDECK`. `origin`: host of the
    platform; empty in a copy that is only shown.
    """

    at: datetime
    unit: BitrateUnit
    actor: str
    origin: str = ""

    @property
    def event_id(self) -> str:
        """Empty event id, because the unit is the same for every event."""
        return ""

    @property
    def text(self) -> str:
        """Ruling and author, in words."""
        return f"bit rates taken as {self.unit}/s by {person(self.actor)}"

    @property
    def moment(self) -> datetime:
        """Time of the ruling on charts."""
        return self.at


LIVEDECK = "livedeck"
"""Actor of a ruling that livedeck made by itself."""

Ruling: TypeAlias = UsualMark | ProfileChoice | UnitChoice


class Rulings(Record):
    """Set of rulings, which may be added in any order and repeatedly.

    `marks`: event and stream -> marks, oldest first. `choices`: event -> last choice. `units`: platform -> last choice
    of its unit.
    """

    marks: Mapping[tuple[str, str], tuple[UsualMark, ...]] = field(default_factory=lambda: MappingProxyType({}))
    choices: Mapping[str, ProfileChoice] = field(default_factory=lambda: MappingProxyType({}))
    units: Mapping[str, UnitChoice] = field(default_factory=lambda: MappingProxyType({}))

    def including(self, rulings: Iterable[Ruling]) -> Rulings:
        """Return a copy with these rulings added; the later of two choices counts."""
        marks, choices, units = dict(self.marks), dict(self.choices), dict(self.units)
        for ruling in rulings:
            if isinstance(ruling, UsualMark):
                key = ruling.event_id, ruling.stream_id
                marks[key] = tuple(sorted({*marks.get(key, ()), ruling}, key=_order_of_mark))
            elif isinstance(ruling, UnitChoice):
                units[ruling.origin] = max(units.get(ruling.origin, ruling), ruling, key=_order_of_unit)
            else:
                earlier = choices.get(ruling.event_id, ruling)
                choices[ruling.event_id] = max(earlier, ruling, key=_order_of_choice)
        return Rulings(marks, choices, units)

    def lacks(self, ruling: Ruling) -> bool:
        """Return whether adding a ruling would change this set."""
        return self.including([ruling]) != self

    def on(self, event_id: str, stream_id: str) -> tuple[Ruling, ...]:
        """Return the rulings on an event and its stream: first the marks of usual values, then the chosen content."""
        choice = self.choices.get(event_id)
        chosen = (choice,) if choice and choice.profile else ()
        return (*self.marks.get((event_id, stream_id), ()), *chosen)

    def content_of(self, event_id: str) -> Content | None:
        """Return the content that a person chose for the event; None if the settings apply."""
        choice = self.choices.get(event_id)
        return choice.profile if choice else None

    def unit_of(self, origin: str) -> BitrateUnit | None:
        """Return the unit chosen for a platform's bit rates, or None without a choice."""
        choice = self.units.get(origin)
        return choice.unit if choice else None

    def next_moment(self, event_id: str, now: datetime) -> datetime:
        """Return the time to store for a choice: `now`, or just after the event's last choice if that is later."""
        return _after(self.choices.get(event_id), now)

    def next_unit_moment(self, origin: str, now: datetime) -> datetime:
        """Return the time to store for a unit choice: `now`, or just after the platform's last choice if later."""
        return _after(self.units.get(origin), now)


def _after(last: ProfileChoice | UnitChoice | None, now: datetime) -> datetime:
    return max(now, last.at + timedelta(microseconds=1)) if last else now


def _order_of_mark(mark: UsualMark) -> tuple[float, datetime, str]:
    return mark.time, mark.at, mark.actor


def _order_of_choice(choice: ProfileChoice) -> tuple[datetime, str, str]:
    return choice.at, choice.actor, choice.profile or ""


def _order_of_unit(choice: UnitChoice) -> tuple[datetime, str, str]:
    return choice.at, choice.actor, choice.unit
