"""The instant that a screen is painted for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from livedeck.monitor import AlarmKey, Snapshot, is_stale
from livedeck.presentation.preflight import Preflight


class ChangeStep(NamedTuple):
    """How far a change of an object is: on its way, or confirmed by the platform at that time (this machine's)."""

    confirmed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RenderTime:
    """`now` is this machine's clock, `server` the platform's. `stale`: nothing on the screen may look good.

    `blink_on`: whether what blinks is visible. `changes`: of objects that are changed now, by their id. `preflights`:
    of events that are about to start, by their id. `unshared`: alarms that were answered here, of which the collector
    does not know yet.
    """

    now: datetime
    server: datetime
    stale: bool
    blink_on: bool = True
    changes: Mapping[str, ChangeStep] = field(default_factory=dict, hash=False)
    preflights: Mapping[str, Preflight] = field(default_factory=dict, hash=False)
    unshared: frozenset[AlarmKey] = frozenset()

    @classmethod
    def from_snapshot(
        cls,
        snapshot: Snapshot,
        now: datetime,
        *,
        watched: bool = True,
        blink_on: bool = True,
        changes: Mapping[str, ChangeStep] | None = None,
    ) -> RenderTime:
        """The render time of a snapshot at `now`. Staleness is judged at each paint, so that a monitor that hangs or
        stopped (`watched` is false) cannot keep the screen looking fresh.
        """
        stale = not watched or is_stale(snapshot.link, now)
        unshared = frozenset(snapshot.attachment.unshared if snapshot.attachment else ())
        server = now + timedelta(seconds=snapshot.link.skew)
        return cls(now, server, stale, blink_on, changes or {}, unshared=unshared)

    def no_go(self, event_id: str) -> str:
        """What keeps that event from starting: `conflicts, restreams`; empty where nothing does, or it is not due."""
        preflight = self.preflights.get(event_id)
        return preflight.against if preflight else ""

    def same_second(self, now: datetime) -> bool:
        """Whether less than a second has passed at `now`: what was drawn for this render time is still right."""
        return 0 <= (now - self.now).total_seconds() < 1

    def to_server(self, local: datetime) -> datetime:
        """That instant of this machine's clock by the platform's."""
        return local + (self.server - self.now)

    def seconds_since(self, then: datetime) -> float:
        """Seconds from `then` to now on this machine's clock."""
        return (self.now - then).total_seconds()

    def server_seconds_since(self, then: datetime) -> float:
        """Seconds from `then` to now on the platform's clock; negative while it lies ahead."""
        return (self.server - then).total_seconds()
