"""What persons answered to alarms, at whichever deck, applied to the alarms of this one (monitoring.md, "Shared
alarms").

Every process has the same rows, in whatever order they came, and makes the same of them: of two the later one counts,
and which answer holds follows from the alarm, the answers and the time. Pure.
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
from livedeck.monitor.alarms.operator import bring_back, put_away, without_acknowledgement
from livedeck.monitor.kinds import onset_tolerance
from livedeck.monitor.model.alarm import Alarm, AlarmKey, AlarmState
from livedeck.monitor.model.alarm_action import ACKNOWLEDGEMENTS, SHELVINGS, ActionKind, AlarmAction, person
from livedeck.monitor.model.thresholds import AlarmLimits

_KEPT = 4
"""The newest answers of a kind that are kept for each alarm: they may be about different occurrences of its fault."""

_MAX_ALARMS = 2000
"""Alarms of which answers are kept, the newest: a deck stays up for weeks."""

_NOTE_LASTS = timedelta(hours=1)

_AWAY = {ActionKind.SHELVE: AlarmState.SHELVED, ActionKind.OUT_OF_SERVICE: AlarmState.OUT_OF_SERVICE}

_BACK = ActionKind.UNACKNOWLEDGE

_order = attrgetter("order")


@dataclass(frozen=True, slots=True)
class AlarmActions:
    """The newest answers to one alarm, the oldest first."""

    promises: tuple[AlarmAction, ...] = ()
    places: tuple[AlarmAction, ...] = ()
    notes: tuple[AlarmAction, ...] = ()

    def including(self, answers: Iterable[AlarmAction]) -> AlarmActions:
        """These and those: the same in whatever order, and however often, they come."""
        known = {answer.uid: answer for answer in (*self.promises, *self.places, *self.notes, *answers)}
        ordered = sorted(known.values(), key=_order)
        return AlarmActions(
            tuple(answer for answer in ordered if answer.kind in ACKNOWLEDGEMENTS)[-_KEPT:],
            tuple(answer for answer in ordered if answer.kind in SHELVINGS)[-_KEPT:],
            tuple(answer for answer in ordered if answer.kind is ActionKind.NOTE)[-_KEPT:],
        )

    def __contains__(self, answer: AlarmAction) -> bool:
        return any(answer.uid == known.uid for known in (*self.promises, *self.places, *self.notes))

    def next_moment(self, now: datetime) -> datetime:
        """When an answer is given `now`: later than those that its giver knew, unless a clock was set back."""
        later = self.newest + timedelta(microseconds=1)
        return later if now < later <= now + SAME_OCCURRENCE else now

    @property
    def newest(self) -> datetime:
        """When the last of them was given."""
        return max(answer.at for answer in (*self.promises[-1:], *self.places[-1:], *self.notes[-1:]))


def merge(known: Mapping[AlarmKey, AlarmActions], answers: Iterable[AlarmAction]) -> dict[AlarmKey, AlarmActions]:
    """All of them by alarm; of too many alarms those that were answered last."""
    by_key: defaultdict[AlarmKey, list[AlarmAction]] = defaultdict(list)
    for answer in answers:
        by_key[answer.key].append(answer)
    merged = {**known, **{key: known.get(key, AlarmActions()).including(new) for key, new in by_key.items()}}
    excess = len(merged) - _MAX_ALARMS
    for key in sorted(merged, key=lambda key: (merged[key].newest, key))[: max(0, excess)]:
        del merged[key]
    return merged


def apply(alarm: Alarm, answers: AlarmActions, now: datetime, *, on_air: bool, limits: AlarmLimits) -> Alarm:
    """The alarm as persons answered it. What is dated in the future does not count yet: a clock was set back."""
    limit = now + SAME_OCCURRENCE
    place = next((answer for answer in reversed(answers.places) if answer.at <= limit), None)
    note = next((answer for answer in reversed(answers.notes) if answer.at <= limit), None)
    promises = _promises(answers, place, limit)
    alarm = _with_note(alarm, note, now) if note else alarm
    if place:
        alarm = _in_place(alarm, place, now, on_air=on_air, limits=limits)
    if alarm.state in _AWAY.values():
        return alarm
    alarm = _without_withdrawn(alarm, promises)
    promise = _holding(promises, alarm, now)
    return _with_promise(alarm, promise) if promise else alarm


def holding_acknowledgement(
    alarm: Alarm, answers: AlarmActions, now: datetime
) -> tuple[AlarmAction | None, datetime | None]:
    """Return the acknowledgement that holds for the alarm, and when the one before it was given; None for neither."""
    limit = now + SAME_OCCURRENCE
    place = next((answer for answer in reversed(answers.places) if answer.at <= limit), None)
    promises = _promises(answers, place, limit)
    promise = _holding(promises, alarm, now)
    return promise, _given_before(promise, promises) if promise else None


def _promises(answers: AlarmActions, place: AlarmAction | None, limit: datetime) -> list[AlarmAction]:
    """Return the acknowledgements, and what took them back, that were given since the alarm was put in its place."""
    return [answer for answer in answers.promises if answer.at <= limit and (not place or answer.at > place.at)]


def _standing(promises: Iterable[AlarmAction]) -> list[AlarmAction]:
    """Return the acknowledgements that nobody took back."""
    return [promise for promise in promises if promise.kind is not _BACK and not _withdrawal_of(promise, promises)]


def _withdrawal_of(promise: AlarmAction, promises: Iterable[AlarmAction]) -> AlarmAction | None:
    """Return the last answer by which the person took that acknowledgement back; None if they did not.

    An acknowledgement that had run out by then is not taken back.
    """
    tolerance = onset_tolerance(promise.key.kind)
    withdrawals = [
        answer
        for answer in promises
        if answer.kind is _BACK
        and answer.order > promise.order
        and (promise.until is None or promise.until > answer.at)
        and person(answer.actor) == person(promise.actor)
        and abs(answer.since - promise.since) <= tolerance
    ]
    return withdrawals[-1] if withdrawals else None


def _holding(promises: Iterable[AlarmAction], alarm: Alarm, now: datetime) -> AlarmAction | None:
    """Return the acknowledgement that holds for the alarm: the last of those that nobody took back."""
    return next((promise for promise in reversed(_standing(promises)) if _holds(promise, alarm, now)), None)


def _given_before(promise: AlarmAction, promises: Iterable[AlarmAction]) -> datetime | None:
    """Return when the same occurrence was acknowledged before that; None if it was not."""
    tolerance = onset_tolerance(promise.key.kind)
    earlier = (other for other in _standing(promises) if other.order < promise.order)
    return max((other.at for other in earlier if abs(other.since - promise.since) <= tolerance), default=None)


def _without_withdrawn(alarm: Alarm, promises: Iterable[AlarmAction]) -> Alarm:
    """Return the alarm as it was before the acknowledgement that it has, if the person took that back."""
    promise = next((answer for answer in promises if answer.kind is not _BACK and _is_held(answer, alarm)), None)
    withdrawal = _withdrawal_of(promise, promises) if promise else None
    if promise is None or withdrawal is None:
        return alarm
    alarm = without_acknowledgement(alarm, _given_before(promise, promises))
    return replace(alarm, answered_by=withdrawal.actor, answered_at=withdrawal.at)


def _is_held(promise: AlarmAction, alarm: Alarm) -> bool:
    """Return whether the alarm has been acknowledged by that very answer."""
    return promise.at in {alarm.acknowledged_at, alarm.answered_at}


def follow(alarm: Alarm, incident: Alarm) -> Alarm:
    """A member as its incident was answered: one key answers for all. What is over with it owes nothing of its own;
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


def _in_place(alarm: Alarm, place: AlarmAction, now: datetime, *, on_air: bool, limits: AlarmLimits) -> Alarm:
    """The alarm put away or in sight, as the last answer says and for as long as that holds."""
    state = _AWAY.get(place.kind)
    if state:
        away = put_away(alarm, state, place.reason, place.at, place.until)
        is_meant = state is AlarmState.OUT_OF_SERVICE or place.until is not None or is_of(place.shown, alarm)
        is_over = lifecycle.has_shelf_ended(away, now, on_air=on_air, limits=limits)
        if is_meant and (state is AlarmState.OUT_OF_SERVICE or not is_over):
            return _as_known(alarm, replace(away, answered_by=place.actor, answered_at=place.at))
    if alarm.state not in _AWAY.values():
        is_done = not state and place.until is not None and not alarm.is_ongoing and is_of(place.shown, alarm)
        if not (is_done and alarm.needs_ack):
            return alarm
        return replace(alarm, needs_ack=False, answered_by=place.actor, answered_at=place.at)
    alarm = bring_back(alarm, now)
    return alarm if state else replace(alarm, answered_by=place.actor, answered_at=place.at)


def _as_known(alarm: Alarm, after: Alarm) -> Alarm:
    """The very object where nothing is new."""
    return alarm if alarm == after else after


def _with_promise(alarm: Alarm, promise: AlarmAction) -> Alarm:
    """Silent; done, if it is over. Applied once: what becomes worse afterwards asks again."""
    known = alarm.acknowledged_at
    if known and (known > promise.at or (known == promise.at and alarm.answered_by == promise.actor)):
        return alarm
    return replace(
        alarm,
        needs_ack=False,
        acknowledged_until=promise.until if alarm.is_ongoing else None,
        answered_by=promise.actor,
        answered_at=promise.at,
        acknowledged_at=promise.at,
    )


def _holds(promise: AlarmAction, alarm: Alarm, now: datetime) -> bool:
    """Whether it was given for this occurrence, no worse than it was then, and had not run out when that ended."""
    is_over = alarm.state in {AlarmState.RETURNED, AlarmState.CLEARED}
    until = alarm.changed if is_over else now
    is_meant = is_of(promise.shown, alarm) and not is_worse(alarm, promise.shown)
    return is_meant and (promise.until is None or promise.until > until)
