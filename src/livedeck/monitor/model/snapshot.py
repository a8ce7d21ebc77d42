"""All that the monitor says at one moment. Frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from livedeck.client import Room
from livedeck.monitor.model.alarm import Alarm, AlarmChange, AlarmKey
from livedeck.monitor.model.alarm_action import AlarmAction
from livedeck.monitor.model.attachment import Attachment
from livedeck.monitor.model.limits import RuleChange
from livedeck.monitor.model.resources import ROOM_LIST, CachedList, ResourceKey
from livedeck.monitor.model.state import ConnectionStatus, EndedEvent, EventState

_NEVER_ANSWERED: CachedList[Any] = CachedList()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that is known at `at` (this machine's clock). `seq` grows by one with each; events are worst first.

    `alarms`: what a person must read now, most urgent first. `quiet`: shelved, suppressed, out of service, and cleared
    less than 5 min ago. `changes`: what became of alarms since the snapshot before; `answers`: what persons answered to
    them since then, here and at other decks; `rule_changes`: how events are judged otherwise since then. `bells`: the
    alarms that ring now. `flood`: more alarms came in the last 10 min than a person can follow. `lists`: what was asked
    for on demand. `ended`: the events that ended on air in the last minute. `unreadable`: how many events are missing
    here, as not even their id could be read. `attachment`: the way to the collector that told all this; None where this
    process asks the platform itself.
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
    ended: tuple[EndedEvent, ...] = ()
    attachment: Attachment | None = None

    @property
    def rooms(self) -> CachedList[Room]:
        """The meeting rooms."""
        return self.cached(ROOM_LIST)

    def cached(self, key: ResourceKey | None) -> CachedList[Any]:
        """That list; one that was never answered where it was never asked for, and for None."""
        return self.lists.get(key, _NEVER_ANSWERED) if key else _NEVER_ANSWERED

    def find(self, event_id: str) -> EventState | None:
        """The state of that event, or None where it is gone."""
        return next((state for state in self.events if state.id == event_id), None)
