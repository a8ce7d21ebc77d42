"""Alarms from one evaluation to the next, and what a person does to them in between."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from math import inf

from livedeck.monitor.alarms import actions, commands, faults, lifecycle, timeline
from livedeck.monitor.alarms.actions import AlarmActions
from livedeck.monitor.alarms.commands import AlarmGone
from livedeck.monitor.alarms.faults import MonitorState
from livedeck.monitor.alarms.inputs import distinct_inputs
from livedeck.monitor.alarms.operator import AlarmRefused, acknowledged_until, note_text, unhide
from livedeck.monitor.alarms.ranking import urgent_first
from livedeck.monitor.alarms.suppression import hidden_by, incident_of, priority
from livedeck.monitor.kinds import ALARM_KINDS
from livedeck.monitor.kinds.kind import IncidentCase, IncidentDetector
from livedeck.monitor.model.alarm import DECK, Alarm, AlarmChange, AlarmKey, AlarmState, Severity
from livedeck.monitor.model.alarm_action import ActionKind, AlarmAction, AlarmCommand
from livedeck.monitor.model.state import EventState
from livedeck.monitor.model.thresholds import Thresholds
from livedeck.text.secrets import masked_line

_INCIDENTS = {
    AlarmKey(DECK, kind.name): (kind, kind.detector)
    for kind in ALARM_KINDS.values()
    if isinstance(kind.detector, IncidentDetector)
}
"""The alarms that are drawn from other alarms."""

_SHARED = frozenset(kind.name for kind in ALARM_KINDS.values() if kind.shared)


_MAX_COMMANDS = 10_000
"""Of so many, the last, it is known what became of them."""


class AlarmEngine:
    """Every alarm that is remembered. `alarms`: by key, as they are now."""

    def __init__(self, thresholds: Thresholds) -> None:
        self.alarms: Mapping[AlarmKey, Alarm] = {}
        self.judge_by(thresholds)
        self._bells_due: Mapping[AlarmKey, datetime] = {}  # of what may be part of an incident that is not known yet
        self._rung_at: Mapping[AlarmKey, datetime] = {}  # in the last 10 min
        self._newest_samples: Mapping[str, datetime] = {}  # by event id, at the last step (server clock)
        self._changes: list[AlarmChange] = []  # by a person, since the last step
        self._seen: dict[AlarmKey, datetime] = {}  # until when another engine has judged what it left
        self._actions: Mapping[AlarmKey, AlarmActions] = {}
        self._carried_out: dict[str, AlarmAction] = {}  # by the id of the command

    def judge_by(self, thresholds: Thresholds) -> None:
        """These limits hold from the next step on."""
        self._thresholds, self._limits = thresholds, thresholds.attention

    def restore(self, alarms: Iterable[Alarm], now: datetime, seen: datetime | None = None) -> None:
        """Go on from the alarms of a deck that ran before: how they stood counts, not what was found meanwhile. `seen`:
        until when whoever left them has judged all of it, and knew more samples than there are now.

        A shelf from the future is no shelf.
        """
        restored = {alarm.key: _without_future_shelf(alarm, now) for alarm in alarms}
        self._rung_at = {key: alarm.activations[-1] for key, alarm in restored.items() if alarm.activations}
        self.alarms = {**self.alarms, **restored}
        self._seen = dict.fromkeys(restored, seen) if seen else {}

    def take(self, given: Iterable[AlarmAction]) -> tuple[AlarmAction, ...]:
        """Heed these answers from the next step on, wherever they were given, in whatever order they come. Returns
        those that were not known."""
        news = tuple(action for action in given if action not in self._actions.get(action.key, AlarmActions()))
        self._actions = actions.merge(self._actions, news) if news else self._actions
        self._carried_out |= {action.uid: action for action in news}
        for uid in tuple(self._carried_out)[:-_MAX_COMMANDS]:
            del self._carried_out[uid]
        return news

    def find_action(self, command: AlarmCommand) -> AlarmAction | None:
        """What came of that very command before. Raises AlarmRefused where its id is another one's."""
        action = self._carried_out.get(command.uid)
        if action and not _is_action_of(command, action):
            raise AlarmRefused("that id is of another command: each needs its own")
        return action

    def act(self, command: AlarmCommand, now: datetime, *, on_air: bool) -> AlarmAction | None:
        """Carry out a new command, and have it counted after all that was known to be answered; None where it changes
        nothing. `on_air`: whether its alarm concerns a broadcast. Raises AlarmRefused."""
        key, kind, actor = command.key, command.kind, command.actor
        at = self._actions[key].next_moment(now) if key in self._actions else now
        is_note = kind is ActionKind.NOTE

        def carry_out(alarm: Alarm) -> Alarm | None:
            acknowledgement, earlier = actions.holding_acknowledgement(
                alarm, self._actions.get(key, AlarmActions()), at
            )
            after = commands.carry_out(
                command, alarm, at, on_air=on_air, limits=self._limits, acknowledgement=acknowledgement, earlier=earlier
            )
            return after and (after if is_note else replace(after, answered_by=actor, answered_at=at))

        if not self.handle(key, carry_out, at):
            return None
        alarm = self.alarms[key]
        if kind is ActionKind.ACKNOWLEDGE and not alarm.is_ongoing:
            kind = ActionKind.CLOSE
        if kind in {ActionKind.ACKNOWLEDGE, ActionKind.CLOSE}:
            until = acknowledged_until(alarm, at, self._limits)
        elif kind in {ActionKind.UNSHELVE, ActionKind.IN_SERVICE}:
            until = None if alarm.is_ongoing else at
        else:
            until = None if is_note else alarm.shelved_until
        given = AlarmAction(
            command.uid,
            key,
            alarm.since,
            kind,
            at,
            actor,
            alarm.severity,
            alarm.stage,
            until,
            alarm.note if is_note else alarm.reason,
        )
        self.take([given])
        return given

    def handle(self, key: AlarmKey, action: Callable[[Alarm], Alarm | None], now: datetime) -> bool:
        """Do what a person does to an alarm; False where it changes nothing. Raises AlarmRefused."""
        before = self.alarms.get(key)
        if before is None:
            raise AlarmGone(f"{key.kind}: there is no such alarm any more")
        after = action(before)
        if after is None:
            return False
        change = lifecycle.change_between(before, after, now)
        self.alarms = {**self.alarms, key: timeline.extend(before, after, change, {}, now)}
        self._changes += [change] if change else []
        return True

    def step(self, state: MonitorState) -> tuple[tuple[AlarmChange, ...], tuple[AlarmKey, ...]]:
        """Go on to that state: what changed since the last step, and which alarms ring.

        An event that cannot be judged keeps the alarms it had: nothing proves that they are over.
        """
        before, now = self.alarms, state.now
        after = self._with_faults(state)
        after |= self._incidents(after, state)
        on_air = ids_on_air(state.events)
        for key in sorted(after, key=lambda key: priority(key.kind)):
            alarm, is_on_air = after[key], key.event_id in on_air
            if key in self._actions:
                alarm = actions.apply(alarm, self._actions[key], now, on_air=is_on_air, limits=self._limits)
            if incident := incident_of(alarm, after):
                alarm = actions.follow(alarm, incident)
            parent = hidden_by(alarm, after, now, self._limits)
            after[key] = lifecycle.apply_suppression(
                before.get(key), alarm, parent, now, on_air=is_on_air, limits=self._limits
            )
        after = self._bounded(after, state)
        pairs = [(before.get(key), alarm) for key, alarm in after.items()]
        changes = [lifecycle.change_between(previous, alarm, now) for previous, alarm in pairs]
        names = {event.id: event.event.name or event.id for event in state.events}
        after = {
            alarm.key: timeline.extend(previous, alarm, change, names, now)
            for (previous, alarm), change in zip(pairs, changes, strict=True)
        }
        changes_by_person, self._changes = self._changes, []
        self.alarms = after
        self._newest_samples = faults.newest_samples(state, self._newest_samples)
        audible = [alarm.key for previous, alarm in pairs if lifecycle.is_audible(previous, alarm)]
        return (*changes_by_person, *(change for change in changes if change)), self._ring(audible, state)

    def seconds_to_bell(self, now: datetime) -> float:
        """Until a bell that waits is due."""
        return min(((at - now).total_seconds() for at in self._bells_due.values()), default=inf)

    def _ring(self, audible: Iterable[AlarmKey], state: MonitorState) -> tuple[AlarmKey, ...]:
        """Which alarms ring now: these, but for what may be part of an incident; that waits a little for the
        others, and rings then if nothing has answered or hidden it."""
        now, held = state.now, timedelta(seconds=self._limits.shared_hold)
        may_coincide = len(ids_on_air(state.events) - {DECK}) >= self._limits.shared_events
        due = {key: now + held if may_coincide and key.kind in _SHARED else now for key in audible}
        due = {key: at for key, at in {**due, **self._bells_due}.items() if self._asks(key)}
        rung = {key: now for key, at in due.items() if at <= now}
        self._bells_due = {key: at for key, at in due.items() if key not in rung}
        window = timedelta(seconds=self._limits.flood_window)
        self._rung_at = {key: at for key, at in {**self._rung_at, **rung}.items() if now - at < window}
        return tuple(rung)

    def _asks(self, key: AlarmKey) -> bool:
        """Whether that alarm asks a person to act."""
        alarm = self.alarms.get(key)
        return alarm is not None and alarm.needs_ack and alarm.active

    def ordered(self, events: Iterable[EventState]) -> tuple[Alarm, ...]:
        """All of them, the most urgent first."""
        return urgent_first(self.alarms.values(), events)

    def inactive(self, now: datetime) -> tuple[Alarm, ...]:
        """What needs nobody now, the newest change first: put away, hidden by a parent, or lately cleared."""
        alarms = [
            alarm
            for alarm in self.alarms.values()
            if not alarm.active and (alarm.state is not AlarmState.CLEARED or self._is_listed(alarm, now))
        ]
        return tuple(sorted(alarms, key=lambda alarm: (now - alarm.changed, alarm.key)))

    def is_flood(self, now: datetime) -> bool:
        """Whether more alarms rang in the last 10 min than a person can follow: one that comes and goes is one."""
        window = timedelta(seconds=self._limits.flood_window)
        return sum(now - at < window for at in self._rung_at.values()) > self._limits.flood_count

    def _with_faults(self, state: MonitorState) -> dict[AlarmKey, Alarm]:
        """Every alarm with its fault, but for incidents."""
        now, limits = state.now, self._limits
        active = faults.active_faults(state, self._thresholds)
        ended = faults.ended_faults(self.alarms, self._newest_samples, state, self._seen)
        unjudged = set(faults.unjudged_keys(self.alarms.values(), state)) - set(active)
        after = {}
        for key in {**self.alarms, **ended, **active}:
            if key in unjudged:
                after[key] = lifecycle.expire(self.alarms[key], now, limits)
            elif key not in _INCIDENTS:
                alarm = self.alarms.get(key)
                after[key] = lifecycle.advance(key, alarm, ended.get(key, []), active.get(key), now=now, limits=limits)
        return after

    def _incidents(self, alarms: Mapping[AlarmKey, Alarm], state: MonitorState) -> dict[AlarmKey, Alarm]:
        """The incidents that the alarms of events on air make together."""
        on_air = ids_on_air(state.events) - {DECK}
        shared = [alarm for alarm in alarms.values() if alarm.event_id in on_air and _may_be_shared(alarm)]
        if not self._may_coincide(shared):
            shared = []
        inputs = distinct_inputs([event for event in state.events if event.id in on_air]) if shared else {}
        incidents = {}
        for key, (kind, detector) in _INCIDENTS.items():
            alarm = self.alarms.get(key)
            previous = alarm if alarm and alarm.is_ongoing else None
            incident = detector.observe(IncidentCase(shared, inputs, state.now, previous), self._limits)
            fault = faults.incident_fault(kind, incident) if incident else None
            if alarm:
                is_known = not state.is_unlisted
                incidents[key] = lifecycle.update(alarm, fault, state.now, self._limits) if is_known else alarm
            elif fault:
                incidents[key] = lifecycle.raise_alarm(key, fault, state.now, self._limits)
        return incidents

    def _may_coincide(self, shared: Iterable[Alarm]) -> bool:
        """Whether these can be an incident at all; to find out which events have one input takes its time."""
        is_one_known = any(key in self.alarms and self.alarms[key].is_ongoing for key in _INCIDENTS)
        return is_one_known or len({alarm.event_id for alarm in shared}) >= self._limits.shared_events

    def _bounded(self, alarms: Mapping[AlarmKey, Alarm], state: MonitorState) -> dict[AlarmKey, Alarm]:
        """Without what is long over, and with no more that nobody acknowledges than a list can hold."""
        kept = {key: alarm for key, alarm in alarms.items() if not self._is_forgotten(alarm, state)}
        excess = len(kept) - self._limits.listed_most
        if excess <= 0:
            return kept
        returned = [alarm for alarm in kept.values() if alarm.state is AlarmState.RETURNED]
        returned.sort(key=lambda alarm: (-alarm.severity.rank, alarm.changed))
        for alarm in returned[:excess]:
            kept[alarm.key] = replace(alarm, state=AlarmState.CLEARED, needs_ack=False, changed=state.now)
        return kept

    def _is_forgotten(self, alarm: Alarm, state: MonitorState) -> bool:
        """Whether it is cleared for long and has not come lately; or put away, of an event that is no more."""
        if alarm.is_ongoing:
            return False
        if alarm.state is AlarmState.CLEARED:
            return not (self._is_listed(alarm, state.now) or alarm.activations)
        return alarm.state is not AlarmState.RETURNED and not state.may_exist(alarm.event_id)

    def _is_listed(self, cleared: Alarm, now: datetime) -> bool:
        return now - cleared.changed < timedelta(seconds=self._limits.cleared_listed)


def ids_on_air(events: Iterable[EventState]) -> frozenset[str]:
    """Whose alarms concern a broadcast: the events on air, and the deck itself while there are any."""
    ids = frozenset(event.id for event in events if event.phase.tally.expects_signal)
    return ids | {DECK} if ids else ids


def _without_future_shelf(alarm: Alarm, now: datetime) -> Alarm:
    is_of_future = alarm.state is AlarmState.SHELVED and alarm.changed > now
    return unhide(alarm, now) if is_of_future else alarm


def _may_be_shared(alarm: Alarm) -> bool:
    return alarm.is_ongoing and alarm.kind in _SHARED and alarm.severity is not Severity.INFO


def _is_action_of(command: AlarmCommand, action: AlarmAction) -> bool:
    kind = ActionKind.ACKNOWLEDGE if action.kind is ActionKind.CLOSE else action.kind
    is_same_note = kind is not ActionKind.NOTE or action.reason == masked_line(note_text(command.text))
    return (action.key, kind) == (command.key, command.kind) and is_same_note
