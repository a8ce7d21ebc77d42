"""What becomes of a command, at whichever deck it was given (monitoring.md, "Conflicts"). Pure.

Between the look and the key press the alarm may have become another one. What would silence it is refused then, so that
no late key press silences a fault that its presser has not seen.
"""

from __future__ import annotations

from datetime import datetime

from livedeck.monitor.alarms import operator
from livedeck.monitor.alarms.operator import AlarmRefused
from livedeck.monitor.kinds import onset_tolerance
from livedeck.monitor.model.alarm import Alarm, Shown
from livedeck.monitor.model.alarm_action import ActionKind, AlarmAction, AlarmCommand
from livedeck.monitor.model.thresholds import AlarmLimits

_SILENCING = frozenset({ActionKind.ACKNOWLEDGE, ActionKind.SHELVE, ActionKind.OUT_OF_SERVICE})


class AlarmGone(AlarmRefused):
    """There is no such alarm."""

    code = "gone"


class AlarmOver(AlarmRefused):
    """The fault that was shown is over, and another one of its kind stands."""

    code = "over"


class AlarmGotWorse(AlarmRefused):
    """It is worse than it was shown."""

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
    """Return the alarm after that command, None if it changes nothing: somebody was first. Raises AlarmRefused.

    `on_air`: whether it concerns a broadcast. `acknowledgement`: the acknowledgement that holds, None if none does; `earlier`:
    when the one before it was given.
    """
    _refuse_unseen(command, alarm)
    match command.kind:
        case ActionKind.ACKNOWLEDGE | ActionKind.CLOSE:
            return operator.acknowledge(alarm, now, limits)
        case ActionKind.UNACKNOWLEDGE:
            return operator.unacknowledge(alarm, acknowledgement, earlier, command.actor, now)
        case ActionKind.SHELVE:
            return operator.shelve(alarm, command.minutes, command.text, now, on_air=on_air, limits=limits)
        case ActionKind.UNSHELVE:
            return operator.unshelve(alarm, now)
        case ActionKind.OUT_OF_SERVICE:
            return operator.take_out_of_service(alarm, command.text, now)
        case ActionKind.IN_SERVICE:
            return operator.put_in_service(alarm, now)
        case ActionKind.NOTE:
            return operator.add_note(alarm, command.text)


def is_of(shown: Shown, alarm: Alarm) -> bool:
    """Whether that occurrence of the fault was shown, as near as two decks can date it."""
    return abs(shown.since - alarm.since) <= onset_tolerance(alarm.kind)


def is_worse(alarm: Alarm, shown: Shown) -> bool:
    """Whether it is worse than it was shown."""
    return alarm.severity.rank < shown.severity.rank or alarm.stage > shown.stage


def _refuse_unseen(command: AlarmCommand, alarm: Alarm) -> None:
    """Refuse to silence, or to note beside, what was not shown. Bringing back silences nothing."""
    shown, kind = command.shown, command.kind
    if shown is None or kind in {ActionKind.UNSHELVE, ActionKind.IN_SERVICE}:
        return
    if not is_of(shown, alarm):
        raise AlarmOver(f"over: this is another {alarm.kind}, since {alarm.since:%H:%M:%S}Z; look at it first")
    if kind in _SILENCING and is_worse(alarm, shown):
        raise AlarmGotWorse(f"{alarm.kind} got worse since it was shown: {alarm.severity}, {alarm.actual}")
