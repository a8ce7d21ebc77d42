"""Which alarm is meant, where more than one could be: what the footer names and a key acts on is the same."""

from __future__ import annotations

from livedeck.monitor import Alarm, AlarmState, EventState, Snapshot

AWAY = frozenset({AlarmState.SHELVED, AlarmState.OUT_OF_SERVICE})


def meant(snapshot: Snapshot, chosen: EventState | None, *, owed: bool = False, away: bool = False) -> Alarm | None:
    """The most urgent alarm of the selected event, else of all.

    `owed`: of those that await an acknowledgement; `away`: of those that are shelved or out of service.
    """
    known = [one for one in snapshot.quiet if one.state in AWAY] if away else [*snapshot.alarms]
    known = [one for one in known if one.owed] if owed else known
    own = [one for one in known if chosen and one.event_id == chosen.id]
    return next(iter([*own, *known]), None)
