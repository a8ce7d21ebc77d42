"""What persons answered to alarms, at whichever deck, applied to the alarms of this one (monitoring.md, "Shared
alarms").

Every process has the same rows, in whatever order they came, and makes the same of them: of two the later one counts,
and which action holds follows from the alarm, the actions and the time. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from operator import attrgetter

from livedeck.monitor.alarms import lifecycle
from livedeck.monitor.alarms.commands import is_of, is_worse
from livedeck.monitor.alarms.faults import SAME_OCCURRENCE
from livedeck.monitor.alarms.operator import hide, unhide, without_acknowledgement
from livedeck.monitor.kinds import onset_tolerance
from livedeck.monitor.model.alarm import Alarm, AlarmKey, AlarmState
from livedeck.monitor.model.alarm_action import ACKNOWLEDGEMENTS, SHELVINGS, ActionKind, AlarmAction, person
from livedeck.monitor.model.thresholds import AlarmLimits

_KEPT = 4
"""The newest actions of a kind that are kept for each alarm: they may be about different occurrences of its fault."""

_MAX_ALARMS = 2000
"""Alarms of which actions are kept, the newest: a deck stays up for weeks."""

_NOTE_LASTS = timedelta(hours=1)

_HIDDEN_STATES = {ActionKind.SHELVE: AlarmState.SHELVED, ActionKind.OUT_OF_SERVICE: AlarmState.OUT_OF_SERVICE}

_UNACKNOWLEDGE = ActionKind.UNACKNOWLEDGE

_order = attrgetter("order")


@dataclass(frozen=True, slots=True)
class AlarmActions:
    """The newest actions to one alarm, the oldest first."""

    acknowledgements: tuple[AlarmAction, ...] = ()
    shelvings: tuple[AlarmAction, ...] = ()
    notes: tuple[AlarmAction, ...] = ()

    def including(self, actions: Iterable[AlarmAction]) -> AlarmActions:
        """These and those: the same in whatever order, and however often, they come."""
        known = {action.uid: action for action in (*self.acknowledgements, *self.shelvings, *self.notes, *actions)}
        ordered = sorted(known.values(), key=_order)
        return AlarmActions(
            tuple(action for action in ordered if action.kind in ACKNOWLEDGEMENTS)[-_KEPT:],
            tuple(action for action in ordered if action.kind in SHELVINGS)[-_KEPT:],
            tuple(action for action in ordered if action.kind is ActionKind.NOTE)[-_KEPT:],
        )

    def __contains__(self, action: AlarmAction) -> bool:
        return any(action.uid == known.uid for known in (*self.acknowledgements, *self.shelvings, *self.notes))

    def next_moment(self, now: datetime) -> datetime:
        """When an action is given `now`: later than those that its giver knew, unless a clock was set back."""
        later = self.newest + timedelta(microseconds=1)
        return later if now < later <= now + SAME_OCCURRENCE else now

    @property
    def newest(self) -> datetime:
        """When the last of them was given."""
        return max(action.at for action in (*self.acknowledgements[-1:], *self.shelvings[-1:], *self.notes[-1:]))


def merge(known: Mapping[AlarmKey, AlarmActions], actions: Iterable[AlarmAction]) -> dict[AlarmKey, AlarmActions]:
    """All of them by alarm; of too many alarms those that were answered last."""
    by_key: defaultdict[AlarmKey, list[AlarmAction]] = defaultdict(list)
    for action in actions:
        by_key[action.key].append(action)
    merged = {**known, **{key: known.get(key, AlarmActions()).including(new) for key, new in by_key.items()}}
    excess = len(merged) - _MAX_ALARMS
    for key in sorted(merged, key=lambda key: (merged[key].newest, key))[: max(0, excess)]:
        del merged[key]
    return merged


def apply(alarm: Alarm, actions: AlarmActions, now: datetime, *, on_air: bool, limits: AlarmLimits) -> Alarm:
    """The alarm as persons answered it. What is dated in the future does not count yet: a clock was set back."""
    limit = now + SAME_OCCURRENCE
    shelving = next((action for action in reversed(actions.shelvings) if action.at <= limit), None)
    note = next((action for action in reversed(actions.notes) if action.at <= limit), None)
    acknowledgements = _acknowledgements(actions, shelving, limit)
    alarm = _with_note(alarm, note, now) if note else alarm
    if shelving:
        alarm = _shelved(alarm, shelving, now, on_air=on_air, limits=limits)
    if alarm.state in _HIDDEN_STATES.values():
        return alarm
    alarm = _without_withdrawn(alarm, acknowledgements)
    acknowledgement = _holding(acknowledgements, alarm, now)
    return _acknowledged(alarm, acknowledgement) if acknowledgement else alarm


def holding_acknowledgement(
    alarm: Alarm, actions: AlarmActions, now: datetime
) -> tuple[AlarmAction | None, datetime | None]:
    """Return the acknowledgement that holds for the alarm, and when the one before it was given; None for neither."""
    limit = now + SAME_OCCURRENCE
    shelving = next((action for action in reversed(actions.shelvings) if action.at <= limit), None)
    acknowledgements = _acknowledgements(actions, shelving, limit)
    acknowledgement = _holding(acknowledgements, alarm, now)
    return acknowledgement, _given_before(acknowledgement, acknowledgements) if acknowledgement else None


def _acknowledgements(actions: AlarmActions, shelving: AlarmAction | None, limit: datetime) -> list[AlarmAction]:
    """Return the acknowledgements, and what took them back, that were given since the alarm was put in its shelving."""
    return [
        action
        for action in actions.acknowledgements
        if action.at <= limit and (not shelving or action.at > shelving.at)
    ]


def _standing(acknowledgements: Iterable[AlarmAction]) -> list[AlarmAction]:
    """Return the acknowledgements that nobody took back."""
    return [
        acknowledgement
        for acknowledgement in acknowledgements
        if acknowledgement.kind is not _UNACKNOWLEDGE and not _withdrawal_of(acknowledgement, acknowledgements)
    ]


def _withdrawal_of(acknowledgement: AlarmAction, acknowledgements: Iterable[AlarmAction]) -> AlarmAction | None:
    """Return the last action by which the person took that acknowledgement back; None if they did not.

    An acknowledgement that had run out by then is not taken back.
    """
    tolerance = onset_tolerance(acknowledgement.key.kind)
    withdrawals = [
        action
        for action in acknowledgements
        if action.kind is _UNACKNOWLEDGE
        and action.order > acknowledgement.order
        and (acknowledgement.until is None or acknowledgement.until > action.at)
        and person(action.actor) == person(acknowledgement.actor)
        and abs(action.since - acknowledgement.since) <= tolerance
    ]
    return withdrawals[-1] if withdrawals else None


def _holding(acknowledgements: Iterable[AlarmAction], alarm: Alarm, now: datetime) -> AlarmAction | None:
    """Return the acknowledgement that holds for the alarm: the last of those that nobody took back."""
    return next(
        (
            acknowledgement
            for acknowledgement in reversed(_standing(acknowledgements))
            if _holds(acknowledgement, alarm, now)
        ),
        None,
    )


def _given_before(acknowledgement: AlarmAction, acknowledgements: Iterable[AlarmAction]) -> datetime | None:
    """Return when the same occurrence was acknowledged before that; None if it was not."""
    tolerance = onset_tolerance(acknowledgement.key.kind)
    earlier = (other for other in _standing(acknowledgements) if other.order < acknowledgement.order)
    return max((other.at for other in earlier if abs(other.since - acknowledgement.since) <= tolerance), default=None)


def _without_withdrawn(alarm: Alarm, acknowledgements: Iterable[AlarmAction]) -> Alarm:
    """Return the alarm as it was before the acknowledgement that it has, if the person took that back."""
    acknowledgement = next(
        (action for action in acknowledgements if action.kind is not _UNACKNOWLEDGE and _is_held(action, alarm)), None
    )
    withdrawal = _withdrawal_of(acknowledgement, acknowledgements) if acknowledgement else None
    if acknowledgement is None or withdrawal is None:
        return alarm
    alarm = without_acknowledgement(alarm, _given_before(acknowledgement, acknowledgements))
    return replace(alarm, answered_by=withdrawal.actor, answered_at=withdrawal.at)


def _is_held(acknowledgement: AlarmAction, alarm: Alarm) -> bool:
    """Return whether the alarm has been acknowledged by that very action."""
    return acknowledgement.at in {alarm.acknowledged_at, alarm.answered_at}


def follow(alarm: Alarm, incident: Alarm) -> Alarm:
    """A member as its incident was answered: one key actions for all. What is over with it owes nothing of its own;
    what still stands when the incident is over asks again."""
    note = alarm.note or incident.note
    is_owed = alarm.needs_ack and alarm.is_ongoing and incident.needs_ack
    if (is_owed, note) == (alarm.needs_ack, alarm.note):
        return alarm
    return replace(
        alarm, needs_ack=is_owed, note=note, answered_by=incident.answered_by, answered_at=incident.answered_at
    )


def _with_note(alarm: Alarm, note: AlarmAction, now: datetime) -> Alarm:
    """A note is beside its occurrence, and beside those that follow within the hour."""
    text = note.reason if is_of(note.shown, alarm) or now - note.at < _NOTE_LASTS else ""
    return alarm if alarm.note == text else replace(alarm, note=text)


def _shelved(alarm: Alarm, shelving: AlarmAction, now: datetime, *, on_air: bool, limits: AlarmLimits) -> Alarm:
    """The alarm put away or in sight, as the last action says and for as long as that holds."""
    state = _HIDDEN_STATES.get(shelving.kind)
    if state:
        away = hide(alarm, state, shelving.reason, shelving.at, shelving.until)
        is_meant = state is AlarmState.OUT_OF_SERVICE or shelving.until is not None or is_of(shelving.shown, alarm)
        is_over = lifecycle.has_shelf_ended(away, now, on_air=on_air, limits=limits)
        if is_meant and (state is AlarmState.OUT_OF_SERVICE or not is_over):
            return _as_known(alarm, replace(away, answered_by=shelving.actor, answered_at=shelving.at))
    if alarm.state not in _HIDDEN_STATES.values():
        is_done = not state and shelving.until is not None and not alarm.is_ongoing and is_of(shelving.shown, alarm)
        if not (is_done and alarm.needs_ack):
            return alarm
        return replace(alarm, needs_ack=False, answered_by=shelving.actor, answered_at=shelving.at)
    alarm = unhide(alarm, now)
    return alarm if state else replace(alarm, answered_by=shelving.actor, answered_at=shelving.at)


def _as_known(alarm: Alarm, after: Alarm) -> Alarm:
    """The very object where nothing is new."""
    return alarm if alarm == after else after


def _acknowledged(alarm: Alarm, acknowledgement: AlarmAction) -> Alarm:
    """Silent; done, if it is over. Applied once: what becomes worse afterwards asks again."""
    known = alarm.acknowledged_at
    if known and (
        known > acknowledgement.at or (known == acknowledgement.at and alarm.answered_by == acknowledgement.actor)
    ):
        return alarm
    return replace(
        alarm,
        needs_ack=False,
        acknowledged_until=acknowledgement.until if alarm.is_ongoing else None,
        answered_by=acknowledgement.actor,
        answered_at=acknowledgement.at,
        acknowledged_at=acknowledgement.at,
    )


def _holds(acknowledgement: AlarmAction, alarm: Alarm, now: datetime) -> bool:
    """Whether it was given for this occurrence, no worse than it was then, and had not run out when that ended."""
    is_over = alarm.state in {AlarmState.RETURNED, AlarmState.CLEARED}
    until = alarm.changed if is_over else now
    is_meant = is_of(acknowledgement.shown, alarm) and not is_worse(alarm, acknowledgement.shown)
    return is_meant and (acknowledgement.until is None or acknowledgement.until > until)
