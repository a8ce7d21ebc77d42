"""Instant that a screen is painted for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from livedeck.monitor import (
    ENDED_ON_AIR,
    NO_BLAME,
    AlarmKey,
    AlarmState,
    Blame,
    Diagnosis,
    EventState,
    Silence,
    Snapshot,
    end_of_silence,
    is_stale,
    stale_blame,
)
from livedeck.presentation.preflight import Preflight


class ChangeStep(NamedTuple):
    """Progress of a change: sent, or confirmed by the platform at `confirmed_at` (this machine's clock)."""

    confirmed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RenderTime:
    """Time of a paint. `now`: time of this machine's clock. `server`: time of the platform's clock.

    `stale`: the data are old, so nothing may look good. `blame`: nearest cause while `stale`. `blink_on`: blinking
    glyphs are visible. `changes`: id of an object -> progress of its change. `preflights`: id of a due event -> its
    checks. `unshared`: alarms with actions that the collector has not received yet. `silences`: running silences.
    `pinned`: ids of events that stay above the others. `folders`: id of a project or folder -> name in the settings.
    `explained`: alarm that an incident hides -> diagnosis of the incident; open ENDED_ON_AIR -> its own diagnosis.
    """

    now: datetime
    server: datetime
    stale: bool
    blink_on: bool = True
    changes: Mapping[str, ChangeStep] = field(default_factory=dict, hash=False)
    preflights: Mapping[str, Preflight] = field(default_factory=dict, hash=False)
    unshared: frozenset[AlarmKey] = frozenset()
    blame: Blame = NO_BLAME
    silences: tuple[Silence, ...] = field(default=(), hash=False)
    pinned: frozenset[str] = frozenset()
    folders: Mapping[str, str] = field(default_factory=dict, hash=False)
    explained: Mapping[AlarmKey, Diagnosis] = field(default_factory=dict, hash=False)

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
        """Return the render time of a snapshot at `now`.

        Each paint judges the age of the data again, so a monitor that hangs cannot look fresh. `watched`: False if the
        monitor has stopped.
        """
        stale = not watched or is_stale(snapshot.link, now)
        unshared = frozenset(snapshot.attachment.unshared if snapshot.attachment else ())
        server = now + timedelta(seconds=snapshot.link.skew)
        cause = stale_blame(snapshot.link, snapshot.at, now, watched=watched) if stale else NO_BLAME
        running = tuple(silence for silence in snapshot.silences if silence.covers(now))
        return cls(
            now,
            server,
            stale,
            blink_on,
            changes or {},
            unshared=unshared,
            blame=cause,
            silences=running,
            explained=_explained(snapshot),
        )

    def silenced_until(self, state: EventState) -> datetime | None:
        """Return the end of the last silence that may cover alarms of an event; None without one."""
        return end_of_silence(self.silences, state, self.now) if self.silences else None

    def no_go(self, event_id: str) -> str:
        """Return the NO-GO items of an event: `conflicts, restreams`; empty without any, or if the event is not due."""
        preflight = self.preflights.get(event_id)
        return preflight.against if preflight else ""

    def differs_in_time_only(self, other: RenderTime) -> bool:
        """Return whether two render times differ only in the time and in the visibility of blinking glyphs."""
        return (
            self.stale is other.stale
            and self.blame == other.blame
            and self.server - self.now == other.server - other.now
            and self.changes == other.changes
            and self.preflights == other.preflights
            and self.unshared == other.unshared
            and self.silences == other.silences
            and self.pinned == other.pinned
            and self.folders == other.folders
        )

    def same_second(self, now: datetime) -> bool:
        """Return whether `now` is less than a second after this time, so that the last paint is still valid."""
        return 0 <= (now - self.now).total_seconds() < 1

    def to_server(self, local: datetime) -> datetime:
        """Convert a time of this machine's clock to the platform's clock."""
        return local + (self.server - self.now)

    def seconds_since(self, then: datetime) -> float:
        """Return the seconds from `then` to now on this machine's clock."""
        return (self.now - then).total_seconds()

    def server_seconds_since(self, then: datetime) -> float:
        """Return the seconds from `then` to now on the platform's clock; negative for a future time."""
        return (self.server - then).total_seconds()


def _explained(snapshot: Snapshot) -> dict[AlarmKey, Diagnosis]:
    incidents = {alarm.kind: alarm.diagnosis for alarm in snapshot.alarms if alarm.affects}
    hidden = (alarm for alarm in snapshot.quiet if incidents and alarm.state is AlarmState.SUPPRESSED)
    ended = {alarm.key: alarm.diagnosis for alarm in snapshot.alarms if alarm.kind == ENDED_ON_AIR and alarm.is_ongoing}
    return ended | {alarm.key: incidents[alarm.parent] for alarm in hidden if alarm.parent in incidents}
