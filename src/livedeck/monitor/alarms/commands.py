"""Carry out or refuse a command for an alarm (monitoring.md, "Conflicts"). Pure.

An alarm may change while the operator reads it and presses a key. A command that would silence a changed alarm is
refused, because the operator has not seen the new fault.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from livedeck.monitor.alarms import operator
from livedeck.monitor.alarms.operator import AlarmRefused
from livedeck.monitor.kinds import onset_tolerance
from livedeck.monitor.model.alarm import Alarm, Shown
from livedeck.monitor.model.alarm_action import ActionKind, AlarmAction, AlarmCommand
from livedeck.monitor.model.thresholds import AlarmLimits
from livedeck.text.values import evidence_text

_SILENCING = frozenset(
    {ActionKind.ACKNOWLEDGE, ActionKind.CLOSE, ActionKind.SHELVE, ActionKind.SHELVE_ALONE, ActionKind.OUT_OF_SERVICE}
)


class AlarmGone(AlarmRefused):
    """The alarm no longer exists."""

    code = "gone"


class AlarmOver(AlarmRefused):
    """The fault that the operator saw has cleared, and a new one of the same kind is present."""

    code = "over"


class AlarmGotWorse(AlarmRefused):
    """The alarm got worse since it was shown."""

    code = "got worse"


def carry_out(  # noqa: PLR0911  a return for each kind
    command: AlarmCommand,
    alarm: Alarm,
    now: datetime,
    *,
    on_air: bool,
    limits: AlarmLimits,
    acknowledgement: AlarmAction | None = None,
    earlier: datetime | None = None,
) -> Alarm | None:
    """Return the alarm after a command; None if nothing changes because another person was first.

    `on_air`: the alarm concerns a broadcast. `acknowledgement`: the acknowledgement in force, or None. `earlier`: time
    of the previous acknowledgement, or None. Raises AlarmRefused.
    """
    check_seen(command, alarm)
    match command.kind:
        case ActionKind.ACKNOWLEDGE:
            return operator.acknowledge(alarm, now, limits)
        case ActionKind.CLOSE:
            return operator.close(alarm, command.text, now, limits)
        case ActionKind.UNACKNOWLEDGE:
            return operator.unacknowledge(alarm, acknowledgement, earlier, command.actor, now)
        case ActionKind.SHELVE | ActionKind.SHELVE_ALONE:
            shelved = operator.shelve(alarm, command.minutes, command.text, now, on_air=on_air, limits=limits)
            return replace(shelved, hides=None) if command.kind is ActionKind.SHELVE_ALONE else shelved
        case ActionKind.UNSHELVE:
            return operator.unshelve(alarm, now)
        case ActionKind.OUT_OF_SERVICE:
            return operator.take_out_of_service(alarm, command.text, now)
        case ActionKind.IN_SERVICE:
            return operator.put_in_service(alarm, now)
        case ActionKind.NOTE:
            return operator.add_note(alarm, command.text)


def is_of(shown: Shown, alarm: Alarm) -> bool:
    """Return whether the operator saw this occurrence of the alarm. Its start may differ a little between two decks."""
    return abs(shown.since - alarm.since) <= onset_tolerance(alarm.kind)


def is_worse(alarm: Alarm, shown: Shown) -> bool:
    """Return whether the alarm has a higher severity or a later stage than the operator saw."""
    return alarm.severity.rank < shown.severity.rank or alarm.stage > shown.stage


def check_seen(command: AlarmCommand, alarm: Alarm) -> None:
    """Raise AlarmRefused if the command silences or annotates a fault that the operator has not seen."""
    shown, kind = command.shown, command.kind
    if shown is None or kind in {ActionKind.UNSHELVE, ActionKind.IN_SERVICE}:
        return
    if not is_of(shown, alarm):
        at = f"{alarm.since:%H:%M:%S}Z"
        raise AlarmOver(f"the fault you saw has cleared, and {alarm.kind} came back at {at}: check the new fault")
    if kind in _SILENCING and is_worse(alarm, shown):
        raise AlarmGotWorse(f"{alarm.kind} got worse since it was shown: {alarm.severity}, {evidence_text(alarm)}")
