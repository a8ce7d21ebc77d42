"""The meeting rooms as the platform lists them: asked for only while somebody looks at them. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from livedeck.client import ApiError, Room


@dataclass(frozen=True, slots=True)
class Listed:
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


def heard(known: RoomsState, brought: Listed | ApiError, at: datetime) -> RoomsState:
    """With this answer; a failure keeps the last good one."""
    if isinstance(brought, ApiError):
        return replace(known, error=str(brought))
    return replace(known, rooms=brought.rooms, as_of=at, error="")
