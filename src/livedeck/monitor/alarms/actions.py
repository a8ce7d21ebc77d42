"""Apply operators' alarm actions, from any deck, to the alarms of this process (monitoring.md, "Shared alarms"). Pure.

Every process receives the same actions, in any order, and derives the same alarms from them. Of two actions, the later
one counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
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
from livedeck.record import Record

_KEPT = 4
"""Number of newest actions of each kind that an alarm keeps. They may belong to several occurrences of its fault."""

_MAX_ALARMS = 2000
"""Maximum number of alarms with actions in memory, because a deck runs for weeks. The most recent actions stay."""

_NOTE_LASTS = timedelta(hours=1)
"""Time for which a note also applies to later occurrences of the fault."""

_HIDDEN_STATES = {
    ActionKind.SHELVE: AlarmState.SHELVED,
    ActionKind.SHELVE_ALONE: AlarmState.SHELVED,
    ActionKind.OUT_OF_SERVICE: AlarmState.OUT_OF_SERVICE,
}

_UNACKNOWLEDGE = ActionKind.UNACKNOWLEDGE

_order = attrgetter("order")


class AlarmActions(Record):
    """Newest actions on one alarm, oldest first."""

    acknowledgements: tuple[AlarmAction, ...] = ()
    shelvings: tuple[AlarmAction, ...] = ()
    notes: tuple[AlarmAction, ...] = ()

    def including(self, actions: Iterable[AlarmAction]) -> AlarmActions:
        """Return a copy with these actions added, in any order; a repeated action counts once."""
        by_uid = {action.uid: action for action in (*self.acknowledgements, *self.shelvings, *self.notes, *actions)}
        ordered = sorted(by_uid.values(), key=_order)
        return AlarmActions(
            tuple(action for action in ordered if action.kind in ACKNOWLEDGEMENTS)[-_KEPT:],
            tuple(action for action in ordered if action.kind in SHELVINGS)[-_KEPT:],
            tuple(action for action in ordered if action.kind is ActionKind.NOTE)[-_KEPT:],
        )

    def __contains__(self, action: AlarmAction) -> bool:
        return any(action.uid == other.uid for other in (*self.acknowledgements, *self.shelvings, *self.notes))

    def next_moment(self, now: datetime) -> datetime:
        """Return the time to store for a new action: `now`, or just after the newest action if that is later.

        If the newest action is over `SAME_OCCURRENCE` in the future, returns `now`: that action comes from a wrong
        clock.
        """
        later = self.newest + timedelta(microseconds=1)
        return later if now < later <= now + SAME_OCCURRENCE else now

    @property
    def newest(self) -> datetime:
        """Time of the last action."""
        return max(action.at for action in (*self.acknowledgements[-1:], *self.shelvings[-1:], *self.notes[-1:]))


def merge(earlier: Mapping[AlarmKey, AlarmActions], actions: Iterable[AlarmAction]) -> dict[AlarmKey, AlarmActions]:
    """Return `earlier` with these actions added. Beyond the limit, alarms with older actions are dropped."""
    by_key: defaultdict[AlarmKey, list[AlarmAction]] = defaultdict(list)
    for action in actions:
        by_key[action.key].append(action)
    merged = {**earlier, **{key: earlier.get(key, AlarmActions()).including(new) for key, new in by_key.items()}}
    excess = len(merged) - _MAX_ALARMS
    for key in sorted(merged, key=lambda key: (merged[key].newest, key))[: max(0, excess)]:
        del merged[key]
    return merged


def apply(alarm: Alarm, actions: AlarmActions, now: datetime, *, on_air: bool, limits: AlarmLimits) -> Alarm:
    """Return the alarm after these actions. Actions dated over `SAME_OCCURRENCE` in the future do not count."""
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
    """Return the alarm's acknowledgement in force and the time of the previous one; each is None if missing."""
    limit = now + SAME_OCCURRENCE
    shelving = next((action for action in reversed(actions.shelvings) if action.at <= limit), None)
    acknowledgements = _acknowledgements(actions, shelving, limit)
    acknowledgement = _holding(acknowledgements, alarm, now)
    return acknowledgement, _given_before(acknowledgement, acknowledgements) if acknowledgement else None


def _acknowledgements(actions: AlarmActions, shelving: AlarmAction | None, limit: datetime) -> list[AlarmAction]:
    """Return the acknowledgements and withdrawals after `shelving`, if any, and up to `limit`."""
    return [
        action
        for action in actions.acknowledgements
        if action.at <= limit and (not shelving or action.at > shelving.at)
    ]


def _not_withdrawn(acknowledgements: Iterable[AlarmAction]) -> list[AlarmAction]:
    """Return the acknowledgements that nobody took back."""
    return [
        acknowledgement
        for acknowledgement in acknowledgements
        if acknowledgement.kind is not _UNACKNOWLEDGE and not _withdrawal_of(acknowledgement, acknowledgements)
    ]


def _withdrawal_of(acknowledgement: AlarmAction, acknowledgements: Iterable[AlarmAction]) -> AlarmAction | None:
    """Return the last action by which its author took back this acknowledgement; None without such an action.

    Such an action counts only before the acknowledgement expires.
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
    """Return the last acknowledgement of the alarm that is in force and was not taken back."""
    return next(
        (
            acknowledgement
            for acknowledgement in reversed(_not_withdrawn(acknowledgements))
            if _holds(acknowledgement, alarm, now)
        ),
        None,
    )


def _given_before(acknowledgement: AlarmAction, acknowledgements: Iterable[AlarmAction]) -> datetime | None:
    """Return the time of the previous acknowledgement of the same occurrence; None without one."""
    tolerance = onset_tolerance(acknowledgement.key.kind)
    earlier = (other for other in _not_withdrawn(acknowledgements) if other.order < acknowledgement.order)
    return max((other.at for other in earlier if abs(other.since - acknowledgement.since) <= tolerance), default=None)


def _without_withdrawn(alarm: Alarm, acknowledgements: Iterable[AlarmAction]) -> Alarm:
    """Return the alarm without its current acknowledgement if that was taken back; otherwise the alarm itself."""
    acknowledgement = next(
        (action for action in acknowledgements if action.kind is not _UNACKNOWLEDGE and _is_held(action, alarm)), None
    )
    withdrawal = _withdrawal_of(acknowledgement, acknowledgements) if acknowledgement else None
    if acknowledgement is None or withdrawal is None:
        return alarm
    alarm = without_acknowledgement(alarm, _given_before(acknowledgement, acknowledgements))
    return replace(alarm, answered_by=withdrawal.actor, answered_at=withdrawal.at)


def _is_held(acknowledgement: AlarmAction, alarm: Alarm) -> bool:
    """Return whether this acknowledgement is the alarm's current one."""
    return acknowledgement.at in {alarm.acknowledged_at, alarm.answered_at}


def follow(alarm: Alarm, incident: Alarm) -> Alarm:
    """Return `alarm`, a member of `incident`, with the acknowledgement and the note of the incident.

    The member itself needs an acknowledgement only if it lasts longer than the incident.
    """
    note = alarm.note or incident.note
    is_owed = alarm.needs_ack and alarm.is_ongoing and incident.needs_ack
    if (is_owed, note) == (alarm.needs_ack, alarm.note):
        return alarm
    return replace(
        alarm, needs_ack=is_owed, note=note, answered_by=incident.answered_by, answered_at=incident.answered_at
    )


def _with_note(alarm: Alarm, note: AlarmAction, now: datetime) -> Alarm:
    """Return the alarm with a note. The note also applies to occurrences that follow within an hour."""
    text = note.reason if is_of(note.shown, alarm) or now - note.at < _NOTE_LASTS else ""
    return alarm if alarm.note == text else replace(alarm, note=text)


def _shelved(alarm: Alarm, shelving: AlarmAction, now: datetime, *, on_air: bool, limits: AlarmLimits) -> Alarm:
    """Return the alarm, hidden or visible as its last shelving action demands."""
    state = _HIDDEN_STATES.get(shelving.kind)
    if state:
        hides = None if shelving.kind is ActionKind.SHELVE_ALONE else shelving.severity
        away = hide(alarm, state, shelving.reason, shelving.at, shelving.until, hides=hides)
        is_valid = state is AlarmState.OUT_OF_SERVICE or shelving.until is not None or is_of(shelving.shown, alarm)
        is_over = lifecycle.has_shelf_ended(away, now, on_air=on_air, limits=limits)
        if is_valid and (state is AlarmState.OUT_OF_SERVICE or not is_over):
            return _unchanged_or(alarm, replace(away, answered_by=shelving.actor, answered_at=shelving.at))
    if alarm.state not in _HIDDEN_STATES.values():
        is_done = not state and shelving.until is not None and not alarm.is_ongoing and is_of(shelving.shown, alarm)
        if not (is_done and alarm.needs_ack):
            return alarm
        return replace(alarm, needs_ack=False, answered_by=shelving.actor, answered_at=shelving.at)
    alarm = unhide(alarm, now)
    return alarm if state else replace(alarm, answered_by=shelving.actor, answered_at=shelving.at)


def _unchanged_or(alarm: Alarm, after: Alarm) -> Alarm:
    """Return `after`, or the object `alarm` itself if nothing changed."""
    return alarm if alarm == after else after


def _acknowledged(alarm: Alarm, acknowledgement: AlarmAction) -> Alarm:
    """Return the alarm with this acknowledgement applied.

    Returns the same alarm if this or a later acknowledgement was applied before. A fault that got worse needs a new
    acknowledgement.
    """
    last = alarm.acknowledged_at
    if last and (
        last > acknowledgement.at or (last == acknowledgement.at and alarm.answered_by == acknowledgement.actor)
    ):
        return alarm
    return replace(
        alarm,
        needs_ack=False,
        acknowledged_until=acknowledgement.until if alarm.is_ongoing else None,
        answered_by=acknowledgement.actor,
        answered_at=acknowledgement.at,
        acknowledged_at=acknowledgement.at,
        verdict=(acknowledgement.reason if acknowledgement.kind is ActionKind.CLOSE else "") or alarm.verdict,
    )


def _holds(acknowledgement: AlarmAction, alarm: Alarm, now: datetime) -> bool:
    """Return whether an acknowledgement belongs to this occurrence, covers its severity and has not expired."""
    is_over = alarm.state in {AlarmState.RETURNED, AlarmState.CLEARED}
    until = alarm.changed if is_over else now
    is_valid = is_of(acknowledgement.shown, alarm) and not is_worse(alarm, acknowledgement.shown)
    return is_valid and (acknowledgement.until is None or acknowledgement.until > until)
