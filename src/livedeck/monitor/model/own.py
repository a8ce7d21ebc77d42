"""Stops and slowness of the process that watches: time that it did not watch proves nothing about an event."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import StrEnum

from livedeck.record import Record


class Why(StrEnum):
    """Cause of time without monitoring."""

    SLEPT = "slept"
    STOPPED = "stopped"
    SLOW = "slow"


class NotWatched(Record):
    """Time in which this process watched nothing (this machine's clock)."""

    since: datetime
    until: datetime
    why: Why

    @property
    def seconds(self) -> float:
        """Length in seconds."""
        return (self.until - self.since).total_seconds()

    def moved(self, seconds: float) -> NotWatched:
        """Return the same time on a clock that is `seconds` ahead."""
        ahead = timedelta(seconds=seconds)
        return NotWatched(self.since + ahead, self.until + ahead, self.why)


def watched_seconds(since: datetime, until: datetime, stops: Iterable[NotWatched]) -> float:
    """Return the seconds from `since` to `until` without the stops in between; below 0 if `until` is earlier."""
    cut = sum(max(0.0, (min(until, stop.until) - max(since, stop.since)).total_seconds()) for stop in stops)
    return (until - since).total_seconds() - cut


def whole_since(since: datetime, stops: Iterable[NotWatched]) -> datetime:
    """Return the start of the watch without a break, at `since` or later. Slowness alone breaks no watch."""
    return max([since, *(stop.until for stop in stops if stop.why is not Why.SLOW)])


class Slowness(Record):
    """Slowness of this process that calls for a person.

    `since`: this machine's clock. `behind`: seconds by which it is late. `events`: number of events that it judges.
    `is_grave`: most polls have been late or missing for long.
    """

    since: datetime
    behind: float
    events: int
    is_grave: bool = False


class OwnState(Record):
    """Trust that this process deserves.

    `stops`: newest stops, oldest first. `behind`: whole seconds by which this process is late, 0 below the limit.
    `slowness`: None unless it lasts. `reading_delay`: while this process is behind, the longest time between a request
    and the reading of its answer in the last half minute (s); otherwise 0.
    """

    stops: tuple[NotWatched, ...] = ()
    behind: float = 0.0
    slowness: Slowness | None = None
    reading_delay: float = 0.0


WATCHING = OwnState()
"""State of a process that watches without a break."""
