"""The monitor's complete state at one moment. Frozen."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from msgspec import field

from livedeck.client import Room, Shortfall
from livedeck.monitor.model.alarm import Alarm, AlarmChange, AlarmKey
from livedeck.monitor.model.alarm_action import AlarmAction
from livedeck.monitor.model.attachment import Attachment
from livedeck.monitor.model.limits import RuleChange
from livedeck.monitor.model.resources import ROOM_LIST, CachedList, ResourceKey
from livedeck.monitor.model.state import ConnectionStatus, EndedEvent, EventState, ListDoubt
from livedeck.monitor.model.withheld import Withheld
from livedeck.record import Record

_NEVER_RECEIVED: CachedList[Any] = CachedList()


class Snapshot(Record):
    """Complete state at `at` (this machine's clock). `seq` grows by one with each snapshot; events are worst first.

    `alarms`: alarms that need an operator now, most urgent first. `quiet`: shelved, suppressed, out of service, and
    cleared less than 5 min ago. `changes`: transitions of alarms announced since the last snapshot; `alarm_actions`:
    operators' actions since then, here and at other decks; `rule_changes`: changes since then in how events are judged.
    `bells`: alarms that ring now. `flood`: the last 10 min brought more alarms than a person can follow. `lists`: lists
    polled on demand. `ended`: events that ended on air in the last minute. `unreadable`: number of events left out
    because even their id could not be read. `shortfall`: events that the last list announced and lacks; None if it is
    complete. `list_doubt`: known events that whole lists lack; None without any. `attachment`: connection to the
    collector that sent this; None if this process polls the platform itself. `withheld`: facts about the keys and
    addresses that the events here lack, by event id; None if they lack none, or if a history of an older version holds
    no such facts. `log`: transitions since the last snapshot at their true times, also of alarms that are not announced
    yet; None: the same as `changes`.
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

    @property
    def true_changes(self) -> tuple[AlarmChange, ...]:
        """Transitions of alarms since the last snapshot, at their true times."""
        return self.changes if self.log is None else self.log

    @property
    def rooms(self) -> CachedList[Room]:
        """The meeting rooms."""
        return self.cached(ROOM_LIST)

    def cached(self, key: ResourceKey | None) -> CachedList[Any]:
        """Return the list with this key. For None, or if it was never polled: an empty list without a response."""
        return self.lists.get(key, _NEVER_RECEIVED) if key else _NEVER_RECEIVED

    def find(self, event_id: str) -> EventState | None:
        """Return the state of an event, or None if it is not listed."""
        return next((state for state in self.events if state.id == event_id), None)
