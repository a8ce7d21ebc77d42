"""All that the monitor says at one moment. Frozen."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from livedeck.monitor.board import Alarm, Change
from livedeck.monitor.facts import EventState, Link
from livedeck.monitor.rooms import RoomsState


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that is known at `at` (this machine's clock). `seq` grows by one with each; events are worst first.

    `alarms`: what a person must read now, most urgent first. `quiet`: shelved, suppressed, out of service, and cleared
    less than 5 min ago. `changes`: what became of alarms since the snapshot before. `bells`: how often to ring now.
    `flood`: more alarms came in the last 10 min than a person can follow. `rooms`: asked for only when wanted.
    """

    seq: int
    at: datetime
    link: Link
    events: tuple[EventState, ...] = ()
    alarms: tuple[Alarm, ...] = ()
    quiet: tuple[Alarm, ...] = ()
    changes: tuple[Change, ...] = ()
    bells: int = 0
    flood: bool = False
    rooms: RoomsState = field(default_factory=RoomsState)

    def find(self, event_id: str) -> EventState | None:
        """The state of that event, or None where it is gone."""
        return next((state for state in self.events if state.id == event_id), None)
