"""Which alarm is meant, where more than one could be: what the footer names and a key acts on is the same."""

from __future__ import annotations

from livedeck.monitor import Alarm, AlarmState, EventState, Snapshot
from livedeck.text import values
from livedeck.text.segments import StyleRole, clip, plain

AWAY = frozenset({AlarmState.SHELVED, AlarmState.OUT_OF_SERVICE})


SUBJECT_CELLS = 12

"""What the name of what an alarm is about takes at most."""


def target_alarm(
    snapshot: Snapshot, chosen: EventState | None, *, owed: bool = False, away: bool = False
) -> Alarm | None:
    """The most urgent alarm of the selected event, else of all.

    `owed`: of those that await an acknowledgement; `away`: of those that are shelved or out of service.
    """
    known = [one for one in snapshot.quiet if one.state in AWAY] if away else [*snapshot.alarms]
    known = [one for one in known if one.needs_ack] if owed else known
    own = [one for one in known if chosen and one.event_id == chosen.id]
    return next(iter([*own, *known]), None)


def alarm_label(alarm: Alarm, seen: EventState | None) -> str:
    """Its kind; before that whose it is, unless that is the event which the screen shows as the selected one."""
    if seen and alarm.event_id == seen.id:
        return alarm.kind
    return f"{plain(clip([(values.safe(alarm.subject), StyleRole.DIM)], SUBJECT_CELLS))} {alarm.kind}"
