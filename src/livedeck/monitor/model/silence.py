"""Silences: times in which chosen alarms neither ring nor notify anybody (monitoring.md, "Silences").

Each action of a person is a row of the history that never changes. The last row of a silence holds its present values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from uuid import uuid4
from zoneinfo import ZoneInfo

from msgspec import field
from msgspec.structs import force_setattr

from livedeck.monitor.model.alarm import Severity
from livedeck.monitor.model.matching import Matcher
from livedeck.record import Record
from livedeck.text.hours import Hours
from livedeck.text.secrets import masked_line

_KEPT = 2000
"""Maximum number of silences in memory. The silences that end last stay."""

_FIRST = datetime(2000, 1, 1, tzinfo=UTC)
"""Time of the row of a maintenance window, before any action of a person on it."""


class SilenceDraft(Record):
    """Silence that a person wants to add.

    `starts_at`: start; None to start now. `seconds`: length. `until_end_of`: id of an event: the silence ends with the
    broadcast of this event at the latest; empty without one. `passes`: lowest severity that is not silenced; None to
    silence every severity. `is_everything`: the matchers may fit everything. `actor`: `user@host:pid`. `uid`: id of the
    resulting row, so that a repeated command adds no second silence.
    """

    matchers: tuple[Matcher, ...]
    seconds: float
    comment: str
    starts_at: datetime | None = None
    passes: Severity | None = None
    until_end_of: str = ""
    is_everything: bool = False
    actor: str = ""
    uid: str = field(default_factory=lambda: uuid4().hex)


class Silence(Record):
    """Silence after the last action on it. Times are by this machine's clock.

    `id`: id of the silence. `uid`: id of this row. `starts_at`, `ends_at`: start (included) and end (excluded). `by`:
    person who added the silence. `comment`: reason. `passes`: lowest severity that is not silenced; None to silence
    every severity. `until_end_of`: id of an event: the silence ends with the broadcast of this event at the latest;
    empty without one. `at`, `actor`: time and author (`user@host:pid`) of this row.
    """

    uid: str
    id: str
    matchers: tuple[Matcher, ...]
    starts_at: datetime
    ends_at: datetime
    by: str
    comment: str
    at: datetime
    actor: str
    passes: Severity | None = None
    until_end_of: str = ""

    def __post_init__(self) -> None:
        force_setattr(self, "comment", masked_line(self.comment))

    @property
    def order(self) -> tuple[datetime, str, str]:
        """Sort key of the rows of a silence: the last one counts."""
        return self.at, self.actor, self.uid

    @property
    def takes_everything(self) -> bool:
        """True if the silence covers alarms of every kind and event."""
        return all(matcher.takes_everything for matcher in self.matchers)

    @property
    def what(self) -> str:
        """Conditions of the silence in words; `everything` without a condition."""
        return ", ".join(matcher.text for matcher in self.matchers) or "everything"

    def covers(self, at: datetime) -> bool:
        """Return whether a time is in the silence."""
        return self.starts_at <= at < self.ends_at

    def moved(self, seconds: float) -> Silence:
        """Return a copy with its times by a clock that is `seconds` ahead."""
        if not seconds:
            return self
        ahead = timedelta(seconds=seconds)
        return replace(self, starts_at=self.starts_at + ahead, ends_at=self.ends_at + ahead, at=self.at + ahead)


class MaintenanceWindow(Record):
    """Silence that repeats at hours of the week. `zone`: time zone of the hours. `name`: unique in the settings."""

    name: str
    hours: Hours
    zone: str
    matchers: tuple[Matcher, ...]
    comment: str
    passes: Severity | None = None

    def silence(self, now: datetime) -> Silence | None:
        """Return the window's silence that covers `now`, or else its next one; None without hours.

        Every process makes the same silence, so a person's action on it counts everywhere.
        """
        stretch = self.hours.next_stretch(now.astimezone(ZoneInfo(self.zone)))
        if stretch is None:
            return None
        starts_at, ends_at = (moment.astimezone(UTC) for moment in stretch)
        name = f"{self.name}@{starts_at:%Y%m%dT%H%MZ}"
        return Silence(
            name, name, self.matchers, starts_at, ends_at, self.name, self.comment, _FIRST, self.name, self.passes
        )


class Silences(Record):
    """Set of silences, whose rows may be added in any order and repeatedly. `latest`: id -> last row."""

    latest: Mapping[str, Silence] = field(default_factory=lambda: MappingProxyType({}))

    def including(self, rows: Iterable[Silence]) -> Silences:
        """Return a copy with these rows added; of two rows of a silence, the later one counts."""
        latest = dict(self.latest)
        for row in rows:
            latest[row.id] = max(latest.get(row.id, row), row, key=lambda silence: silence.order)
        for silence in sorted(latest.values(), key=lambda silence: (silence.ends_at, silence.id))[:-_KEPT]:
            del latest[silence.id]
        return Silences(latest)

    def with_windows(self, windows: Sequence[MaintenanceWindow], now: datetime) -> Silences:
        """Return a copy with the present or next silence of each maintenance window."""
        if not windows:
            return self
        return self.including(filter(None, (window.silence(now) for window in windows)))

    def current(self, now: datetime) -> tuple[Silence, ...]:
        """Return the silences that run or are planned, in the order of their start."""
        current = [silence for silence in self.latest.values() if max(now, silence.starts_at) < silence.ends_at]
        return tuple(sorted(current, key=lambda silence: (silence.starts_at, silence.id)))

    def next_moment(self, silence_id: str, now: datetime) -> datetime:
        """Return the time to store for an action: `now`, or just after the silence's last action if that is later."""
        last = self.latest.get(silence_id)
        return max(now, last.at + timedelta(microseconds=1)) if last else now
