"""Stops and slowness of the monitoring process. Time that it did not watch proves nothing about an event."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import StrEnum

from livedeck.record import Record


class Why(StrEnum):
    """Cause of time that was not watched. OUTRUN: the followed clock of a rehearsal ran ahead of this process."""

    SLEPT = "slept"
    STOPPED = "stopped"
    SLOW = "slow"
    OUTRUN = "outrun"


class NotWatched(Record):
    """Time when this process did not watch (this machine's clock)."""

    since: datetime
    until: datetime
    why: Why

    @property
    def seconds(self) -> float:
        return (self.until - self.since).total_seconds()

    def moved(self, seconds: float) -> NotWatched:
        """Return the same time on a clock that is `seconds` ahead."""
        ahead = timedelta(seconds=seconds)
        return NotWatched(self.since + ahead, self.until + ahead, self.why)


def watched_seconds(since: datetime, until: datetime, stops: Iterable[NotWatched]) -> float:
    """Return the seconds from `since` to `until`, without the stops in between; negative if `until` is earlier."""
    cut = sum(max(0.0, (min(until, stop.until) - max(since, stop.since)).total_seconds()) for stop in stops)
    return (until - since).total_seconds() - cut


def whole_since(since: datetime, stops: Iterable[NotWatched]) -> datetime:
    """Return the end of the last stop that ended after `since`; `since` if there was none. Slowness does not count."""
    return max([since, *(stop.until for stop in stops if stop.why is not Why.SLOW)])


class Slowness(Record):
    """Slowness of this process that calls for a person (OWN_SLOW).

    `since`: start of the slowness (this machine's clock). `behind`: seconds that this process is late. `events`: number
    of events that it judges. `is_grave`: too many polls have been late for `own_hold` seconds.
    """

    since: datetime
    behind: float
    events: int
    is_grave: bool = False


class OwnState(Record):
    """Stops and slowness of this process.

    `stops`: newest stops, oldest first. `behind`: whole seconds that this process is late; 0 below the limit.
    `slowness`: slowness that lasts, or None. `reading_delay`: longest time in the last half minute from a request to
    the reading of its reply (s); 0 while this process is not behind.
    """

    stops: tuple[NotWatched, ...] = ()
    behind: float = 0.0
    slowness: Slowness | None = None
    reading_delay: float = 0.0


WATCHING = OwnState()
"""State of a process that has not stopped and is not slow."""
