"""Complete state of the monitor at one moment, frozen."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from msgspec import field

from livedeck.client import Event, Room, Shortfall
from livedeck.monitor.model.alarm import Alarm, AlarmChange, AlarmKey, Severity
from livedeck.monitor.model.alarm_action import AlarmAction
from livedeck.monitor.model.attachment import Attachment
from livedeck.monitor.model.limits import RuleChange
from livedeck.monitor.model.resources import ROOM_LIST, CachedList, ResourceKey, event_key
from livedeck.monitor.model.silence import Silence
from livedeck.monitor.model.state import ConnectionStatus, EndedEvent, EventState, ListDoubt
from livedeck.monitor.model.withheld import Withheld
from livedeck.record import Record

_NEVER_RECEIVED: CachedList[Any] = CachedList()

OFTEN_UNLISTED = ("scheduled", "reconnect_window", "restreams", "poster", "video", "chat_active")
"""Fields of an event that a preflight needs, and that some lists lack (platform-api.md, "Live event")."""


class Snapshot(Record):
    """Complete state at `at` (this machine's clock). `seq`: grows by one with each snapshot.

    Events: `events`: worst first. `ended`: events that ended on air in the last minute. `unreadable`: number of events
    left out because their id could not be read. `shortfall`: events that the last list announced but lacks;
    None if the list is complete. `list_doubt`: events that the list lacks without reason, or None. `lists`: lists
    polled on demand. `withheld`: event id -> facts about its keys and addresses, in a snapshot without them; None if
    the snapshot has them, or if an older version made it.

    Alarms: `alarms`: alarms that need an operator now, most urgent first. `quiet`: alarms that are hidden or cleared
    less than 5 min ago. `silences`: silences that run or are planned, in the order of their start. `bells`: alarms that
    ring now. `flood`: the last 10 min brought more alarms than a person can follow.

    Since the last snapshot: `changes`: announced transitions of alarms. `log`: all transitions at their true times;
    None if equal to `changes`. `alarm_actions`: operators' actions, here and at other decks. `rule_changes`: changes of
    limits and rulings.

    `attachment`: connection to the collector that sent the snapshot; None if this process polls the platform itself.
    `probe`: number of probed events, and their traffic, in words; empty without a probe.
    """

    seq: int
    at: datetime
    link: ConnectionStatus
    events: tuple[EventState, ...] = ()
    alarms: tuple[Alarm, ...] = ()
    quiet: tuple[Alarm, ...] = ()
    changes: tuple[AlarmChange, ...] = ()
    alarm_actions: tuple[AlarmAction, ...] = ()
    rule_changes: tuple[RuleChange, ...] = ()
    bells: tuple[AlarmKey, ...] = ()
    flood: bool = False
    lists: Mapping[ResourceKey, CachedList[Any]] = field(default_factory=dict)
    unreadable: int = 0
    shortfall: Shortfall | None = None
    ended: tuple[EndedEvent, ...] = ()
    attachment: Attachment | None = None
    list_doubt: ListDoubt | None = None
    withheld: Mapping[str, Withheld] | None = None
    log: tuple[AlarmChange, ...] | None = None
    silences: tuple[Silence, ...] = ()
    probe: str = ""

    @property
    def has_probe(self) -> bool:
        """True if a probe reads the playlist of at least one event."""
        return any(state.viewer is not None for state in self.events)

    @property
    def is_whole(self) -> bool:
        """True if every row of the last event list came and could be read, and every known event was among them."""
        return self.shortfall is None and self.list_doubt is None and not self.unreadable

    @property
    def is_judged(self) -> bool:
        """True if every event on air was judged, and each of its faults above an info is an alarm by now.

        A fault that an incident may explain becomes an alarm some seconds later (monitoring.md, "Announcements").
        """
        keys = {alarm.key for alarm in (*self.alarms, *self.quiet)}
        return all(
            state.is_measured
            and all(
                AlarmKey(state.id, finding.kind, finding.target) in keys
                for finding in state.assessment.findings
                if finding.severity is not Severity.INFO
            )
            for state in self.events
        )

    @property
    def true_changes(self) -> tuple[AlarmChange, ...]:
        """Transitions of alarms since the last snapshot, at their true times."""
        return self.changes if self.log is None else self.log

    @property
    def rooms(self) -> CachedList[Room]:
        """Meeting rooms, as last received."""
        return self.cached(ROOM_LIST)

    def cached(self, key: ResourceKey | None) -> CachedList[Any]:
        """Return the list with this key; an empty list without a time if the key is None or was never polled."""
        return self.lists.get(key, _NEVER_RECEIVED) if key else _NEVER_RECEIVED

    def completed(self, event: Event) -> Event:
        """Return the event, with fields of `OFTEN_UNLISTED` that its list lacks added from its last response by id."""
        alone: Event | None = next(iter(self.cached(event_key(event.id)).items), None)
        if alone is None:
            return event
        missing = (name for name in OFTEN_UNLISTED if name not in event.model_fields_set)
        extra = {name: getattr(alone, name) for name in missing if name in alone.model_fields_set}
        return event.model_copy(update=extra) if extra else event

    def find(self, event_id: str) -> EventState | None:
        """Return the state of an event, or None if it is not listed."""
        return next((state for state in self.events if state.id == event_id), None)
