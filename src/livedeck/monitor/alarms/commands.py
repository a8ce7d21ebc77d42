"""Carry out or refuse a command for an alarm (monitoring.md, "Conflicts"). Pure.

The alarm may change between a look and a key press. A silencing command is then refused, so that a late key press
silences no fault that the operator has not seen.

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

_SILENCING = frozenset({ActionKind.ACKNOWLEDGE, ActionKind.SHELVE, ActionKind.SHELVE_ALONE, ActionKind.OUT_OF_SERVICE})


class AlarmGone(AlarmRefused):
    """The alarm does not exist."""

    code = "gone"


class AlarmOver(AlarmRefused):
    """The fault on the screen cleared, and a later fault of its kind is open."""

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
    """Return the alarm after a command; None if another person was first, so nothing changes. Raises AlarmRefused.

    `on_air`: whether the alarm concerns a broadcast. `acknowledgement`: the acknowledgement that holds, or None;
    `earlier`: time of the previous acknowledgement, or None.
    """
    _refuse_unseen(command, alarm)
    match command.kind:
        case ActionKind.ACKNOWLEDGE | ActionKind.CLOSE:
            return operator.acknowledge(alarm, now, limits)
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
    """Return whether `shown` is this occurrence of the alarm; two decks may date its start slightly differently."""
    return abs(shown.since - alarm.since) <= onset_tolerance(alarm.kind)


def is_worse(alarm: Alarm, shown: Shown) -> bool:
    """Return whether the alarm is worse than shown."""
    return alarm.severity.rank < shown.severity.rank or alarm.stage > shown.stage


def _refuse_unseen(command: AlarmCommand, alarm: Alarm) -> None:
    """Refuse to silence or annotate an alarm that was not shown. Unshelving silences nothing."""
    shown, kind = command.shown, command.kind
    if shown is None or kind in {ActionKind.UNSHELVE, ActionKind.IN_SERVICE}:
        return
    if not is_of(shown, alarm):
        raise AlarmOver(f"the fault you saw has cleared; {alarm.kind} came back at {alarm.since:%H:%M:%S}Z: check it")
    if kind in _SILENCING and is_worse(alarm, shown):
        raise AlarmGotWorse(f"{alarm.kind} got worse since it was shown: {alarm.severity}, {alarm.actual}")
