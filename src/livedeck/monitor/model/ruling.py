"""How an event is to be judged, by a person's word: rows of the history, appended and never changed (monitoring.md,
"Rulings")."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import TypeAlias

from livedeck.monitor.model.alarm_action import person
from livedeck.monitor.model.readings import Reading
from livedeck.monitor.model.thresholds import Content

_JUST_AFTER = 0.001
"""Seconds after a sample: what is said of it counts from the next one on."""


@dataclass(frozen=True, slots=True)
class UsualMark:
    """What the samples of that stream showed at `time` (epoch s, server clock) is usual. `at`: this machine's clock;
    `actor`: `user@host:pid`."""

    at: datetime
    event_id: str
    stream_id: str
    time: float
    actor: str

    @classmethod
    def of(cls, event_id: str, stream_id: str, newest: Reading, at: datetime, actor: str) -> UsualMark:
        """What that sample and those just before it show is usual."""
        return cls(at, event_id, stream_id, newest.time + _JUST_AFTER, actor)

    @property
    def text(self) -> str:
        """What was ruled, and by whom."""
        return f"taken as usual by {person(self.actor)}"

    @property
    def moment(self) -> datetime:
        """Where it stands in the charts."""
        return datetime.fromtimestamp(self.time, UTC)


@dataclass(frozen=True, slots=True)
class ProfileChoice:
    """Choice of an event's content by a person; stored with its key `profile`.

    `profile` is the content, or None to follow the settings. `at` is by this machine's clock; `actor` is
    `user@host:pid`.
    """

    at: datetime
    event_id: str
    profile: Content | None
    actor: str

    @property
    def text(self) -> str:
        """What was ruled, and by whom."""
        chosen = f"content {self.profile}" if self.profile else "content by the settings"
        return f"{chosen}, chosen by {person(self.actor)}"

    @property
    def moment(self) -> datetime:
        """Where it stands in the charts."""
        return self.at


Ruling: TypeAlias = UsualMark | ProfileChoice


@dataclass(frozen=True, slots=True)
class Rulings:
    """All that was ruled: the same in whatever order, and however often, it was heard of.

    `marks`: by event and stream, the oldest first; `choices`: the last one of each event.
    """

    marks: Mapping[tuple[str, str], tuple[UsualMark, ...]] = field(default_factory=lambda: MappingProxyType({}))
    choices: Mapping[str, ProfileChoice] = field(default_factory=lambda: MappingProxyType({}))

    def including(self, rulings: Iterable[Ruling]) -> Rulings:
        """These and those; of two choices for an event the later one counts."""
        marks, choices = dict(self.marks), dict(self.choices)
        for ruling in rulings:
            if isinstance(ruling, UsualMark):
                key = ruling.event_id, ruling.stream_id
                marks[key] = tuple(sorted({*marks.get(key, ()), ruling}, key=_order_of_mark))
            else:
                known = choices.get(ruling.event_id, ruling)
                choices[ruling.event_id] = max(known, ruling, key=_order_of_choice)
        return Rulings(marks, choices)

    def lacks(self, ruling: Ruling) -> bool:
        """Whether it is news that changes something."""
        return self.including([ruling]) != self

    def on(self, event_id: str, stream_id: str) -> tuple[Ruling, ...]:
        """What holds for that event and its stream, the marks first."""
        choice = self.choices.get(event_id)
        chosen = (choice,) if choice and choice.profile else ()
        return (*self.marks.get((event_id, stream_id), ()), *chosen)

    def content_of(self, event_id: str) -> Content | None:
        """Return the content that a person chose, or None to follow the settings."""
        choice = self.choices.get(event_id)
        return choice.profile if choice else None

    def next_moment(self, event_id: str, now: datetime) -> datetime:
        """Return a time for a choice made `now`: later than the last choice, even if a clock was set back."""
        known = self.choices.get(event_id)
        return max(now, known.at + timedelta(microseconds=1)) if known else now


def _order_of_mark(mark: UsualMark) -> tuple[float, datetime, str]:
    return mark.time, mark.at, mark.actor


def _order_of_choice(choice: ProfileChoice) -> tuple[datetime, str, str]:
    return choice.at, choice.actor, choice.profile or ""
