"""All that the monitor says at one moment, and what it knows of the meeting rooms. Frozen."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime

from livedeck.client import ApiError, Room
from livedeck.monitor.model.alarm import Alarm, AlarmChange
from livedeck.monitor.model.state import ConnectionStatus, EventState


@dataclass(frozen=True, slots=True)
class RoomList:
    """The rooms that one call brought."""

    rooms: tuple[Room, ...]


@dataclass(frozen=True, slots=True)
class RoomsState:
    """The rooms as last answered, in the platform's order.

    `as_of`: the last good answer (this machine's clock); None: there was none, which is not the same as no rooms.
    `error`: why the last try failed, or empty. `interval`: seconds between asks; what is older than two is stale.
    """

    rooms: tuple[Room, ...] = ()
    as_of: datetime | None = None
    error: str = ""
    interval: float = 30.0

    @property
    def told(self) -> bool:
        """Whether they were asked for, with whatever result."""
        return self.as_of is not None or bool(self.error)

    def find(self, room_id: str) -> Room | None:
        """That room, or None where it is not listed."""
        return next((room for room in self.rooms if room.id == room_id), None)

    def stale(self, now: datetime) -> bool:
        """Whether they may be otherwise by now (monitoring.md, "Freshness first")."""
        return self.as_of is None or (now - self.as_of).total_seconds() > 2 * self.interval


def ingest_rooms(known: RoomsState, brought: RoomList | ApiError, at: datetime) -> RoomsState:
    """With this answer; a failure keeps the last good one."""
    if isinstance(brought, ApiError):
        return replace(known, error=str(brought))
    return replace(known, rooms=brought.rooms, as_of=at, error="")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that is known at `at` (this machine's clock). `seq` grows by one with each; events are worst first.

    `alarms`: what a person must read now, most urgent first. `quiet`: shelved, suppressed, out of service, and cleared
    less than 5 min ago. `changes`: what became of alarms since the snapshot before. `bells`: how often to ring now.
    `flood`: more alarms came in the last 10 min than a person can follow. `rooms`: asked for only when wanted.
    """

    seq: int
    at: datetime
    link: ConnectionStatus
    events: tuple[EventState, ...] = ()
    alarms: tuple[Alarm, ...] = ()
    quiet: tuple[Alarm, ...] = ()
    changes: tuple[AlarmChange, ...] = ()
    bells: int = 0
    flood: bool = False
    rooms: RoomsState = field(default_factory=RoomsState)

    def find(self, event_id: str) -> EventState | None:
        """The state of that event, or None where it is gone."""
        return next((state for state in self.events if state.id == event_id), None)
