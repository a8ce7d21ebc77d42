"""Decide when an alarm is announced: shown, rung and sent (monitoring.md, "Announcements"). Pure.

Each event is polled at its own time, so a fault of many events appears on one event after another. An onset of a kind
in `SHARED` is therefore not announced before it is clear whether an incident explains the fault.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from livedeck.monitor.alarms.faults import SAME_OCCURRENCE
from livedeck.monitor.alarms.lifecycle import change_between, is_audible
from livedeck.monitor.alarms.suppression import incident_of, priority
from livedeck.monitor.kinds import ALARM_KINDS
from livedeck.monitor.kinds.deck import Wave, needed_inputs
from livedeck.monitor.kinds.kind import RECONNECTING
from livedeck.monitor.model.alarm import Alarm, AlarmChange, AlarmKey, AlarmState, Severity
from livedeck.monitor.model.state import EventState
from livedeck.monitor.model.thresholds import AlarmLimits
from livedeck.record import Record

SHARED = frozenset(kind.name for kind in ALARM_KINDS.values() if kind.shared)
"""Kinds whose onsets wait, because an incident may explain them."""


class Held(Record):
    """Onset of an alarm that is not announced yet.

    `onset`: the transition, with its true time. `before`: the alarm as last announced; None before its first
    announcement. `until`: time of the announcement at the latest.
    """

    onset: AlarmChange
    before: Alarm | None
    until: datetime


class Step(NamedTuple):
    """Alarm before and after a step of the engine.

    `before`: None for a new alarm. `change`: its transition; None if nothing to log has changed.
    """

    before: Alarm | None
    alarm: Alarm
    change: AlarmChange | None


class GateCase(Record):
    """Facts that decide at `now` (this machine's clock) which onsets wait.

    `wave`: alarms that may become an incident. `may_coincide`: enough events are on air for an incident. `is_looking`:
    an event on air was not polled yet. `unexplained`: alarms that no incident can explain. `unasked`: alarms that an
    incident may still explain, because too few other events have replied since their onset.
    """

    now: datetime
    wave: Wave
    may_coincide: bool = True
    is_looking: bool = False
    unexplained: frozenset[AlarmKey] = frozenset()
    unasked: frozenset[AlarmKey] = frozenset()


class Announcement(NamedTuple):
    """Result of `announce`.

    `changes`: transitions to announce, each parent before the alarms that it hides. `audible`: announced alarms that
    may ring. `held`: onsets that still wait.
    """

    changes: tuple[AlarmChange, ...]
    audible: tuple[AlarmKey, ...]
    held: Mapping[AlarmKey, Held]


def announce(
    held: Mapping[AlarmKey, Held], steps: Collection[Step], case: GateCase, limits: AlarmLimits
) -> Announcement:
    """Return the transitions to announce after a step of all alarms. `held`: onsets that wait since earlier steps."""
    onsets = {
        step.alarm.key: Held(step.change, step.before, case.now)
        for step in steps
        if step.change and may_wait(step.before, step.alarm)
    }
    waiting = _with_deadlines({**onsets, **held}, case, limits)
    alarms = {step.alarm.key: step.alarm for step in steps}
    due = [key for key, onset in waiting.items() if _is_due(onset, alarms.get(key), case.now)]
    others = [step for step in steps if step.alarm.key not in waiting]
    changes = [change for key in due for change in _outcome(waiting[key], alarms, case.now)]
    changes += [step.change for step in others if step.change]
    changes.sort(key=lambda change: priority(change.alarm.kind))
    audible = [*due, *(step.alarm.key for step in others if is_audible(step.before, step.alarm))]
    kept = {key: onset for key, onset in waiting.items() if key not in due}
    return Announcement(tuple(changes), tuple(audible), kept)


def announced(alarms: Mapping[AlarmKey, Alarm], held: Mapping[AlarmKey, Held]) -> Collection[Alarm]:
    """Return the alarms as last announced.

    An alarm with a waiting onset has the state before this onset. A new alarm with a waiting onset is left out.
    """
    if not held:
        return alarms.values()
    before = {key: onset.before for key, onset in held.items()}
    return [alarm for alarm in (before.get(key, alarm) for key, alarm in alarms.items()) if alarm]


def has_waited(held: Mapping[AlarmKey, Held], now: datetime, limits: AlarmLimits) -> bool:
    """Return whether any onset has waited for `shared_hold_most` seconds.

    From then on, events whose samples are late or gone count as failed.
    """
    most = timedelta(seconds=limits.shared_hold_most)
    return any(now - onset.onset.at >= most for onset in held.values())


def is_unexplained(
    onset: Alarm,
    events: Collection[EventState],
    failing: Collection[str],
    *,
    inputs: Mapping[str, Hashable],
    skew: float,
    limits: AlarmLimits,
) -> bool:
    """Return whether no incident can explain a lost encoder, because enough other encoders have sent samples since.

    A sample counts if it is more than a cadence later than the onset. Encoders that fail together may send their last
    samples one cadence apart.

    Args:
        onset: RECONNECTING alarm of the lost encoder; for an alarm of another kind the result is False.
        events: Events on air.
        failing: Ids of the events with an alarm of a shared kind.
        inputs: Event id -> input.
        skew: Seconds by which the platform's clock is ahead of this machine's.
        limits: Limits of an incident.
    """
    cadences = {event.id: event.qos.cadence for event in events}
    cadence, since = cadences.get(onset.event_id), onset.since.timestamp() + skew + SAME_OCCURRENCE.total_seconds()
    if onset.kind != RECONNECTING or cadence is None:
        return False

    def sent_on(event: EventState) -> bool:
        newest = event.qos.readings.last
        is_known = newest is not None and not event.qos.is_frozen and event.late_since is None
        if event.id in failing or not is_known or newest is None or event.qos.cadence is None:
            return False
        return newest.time > since + max(cadence, event.qos.cadence)

    doubtful = {inputs[event.id] for event in events if not sent_on(event)}
    return len(doubtful) < needed_inputs(len(set(inputs.values())), limits)


def may_wait(before: Alarm | None, alarm: Alarm) -> bool:
    """Return whether a step is an onset that may wait for an incident: its kind is shared, or the alarm was found."""
    was_fault = before is not None and before.is_ongoing and before.severity is not Severity.INFO
    is_fault = alarm.state is AlarmState.UNACKNOWLEDGED and alarm.severity is not Severity.INFO
    return is_fault and not was_fault and (alarm.kind in SHARED or alarm.found)


def _with_deadlines(held: Mapping[AlarmKey, Held], case: GateCase, limits: AlarmLimits) -> dict[AlarmKey, Held]:
    """Return the waiting onsets with `until` computed from the present facts."""
    hold, most = timedelta(seconds=limits.shared_hold), timedelta(seconds=limits.shared_hold_most)
    wave = {alarm.key for alarm in case.wave.alarms} & held.keys() if case.wave.is_possible else set[AlarmKey]()
    first = min((held[key].onset.at for key in wave), default=case.now)

    def deadline(key: AlarmKey, onset: Held) -> datetime:
        if not case.may_coincide or (onset.onset.alarm.found and not case.is_looking):
            return case.now
        if key in case.unexplained:
            return case.now
        if key in case.unasked:
            return onset.onset.at + most
        return max(onset.onset.at + hold, first + most) if key in wave else onset.onset.at + hold

    return {key: replace(onset, until=deadline(key, onset)) for key, onset in held.items()}


def _is_due(onset: Held, alarm: Alarm | None, now: datetime) -> bool:
    """Return whether an onset is announced now: its time has come, a parent hides it, or a person has handled it."""
    return onset.until <= now or alarm is None or alarm.state not in _WAITING


_WAITING = frozenset({AlarmState.UNACKNOWLEDGED, AlarmState.RETURNED, AlarmState.CLEARED})


def _outcome(onset: Held, alarms: Mapping[AlarmKey, Alarm], now: datetime) -> Iterator[AlarmChange]:
    """Yield the transitions to announce at the end of an onset's wait: the onset, and a later change of its alarm.

    Yields nothing if the fault of a new alarm has ended during the wait and an incident explains the fault.
    """
    alarm = alarms.get(onset.onset.alarm.key)
    is_over = alarm is not None and not alarm.is_ongoing
    if alarm and is_over and onset.before is None and incident_of(alarm, alarms, waits=True):
        return
    is_hidden = alarm is not None and alarm.state is AlarmState.SUPPRESSED
    is_open = alarm is not None and alarm.state is AlarmState.UNACKNOWLEDGED
    if not is_hidden:
        yield AlarmChange(now, onset.onset.transition, alarm if alarm and is_open else onset.onset.alarm)
    earlier = onset.before if is_hidden else onset.onset.alarm
    if alarm and not is_open and (later := change_between(earlier, alarm, now)):
        yield later
