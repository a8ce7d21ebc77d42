"""Engine that steps alarms from one evaluation to the next, and applies operators' actions in between."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from math import inf
from typing import NamedTuple

from livedeck.monitor.alarms import actions, commands, faults, lifecycle, silencing, timeline
from livedeck.monitor.alarms.actions import AlarmActions
from livedeck.monitor.alarms.announce import (
    SHARED,
    GateCase,
    Held,
    Step,
    announce,
    announced,
    has_waited,
    is_unexplained,
    may_wait,
)
from livedeck.monitor.alarms.commands import AlarmGone
from livedeck.monitor.alarms.common_cause import diagnose_incident
from livedeck.monitor.alarms.faults import SAME_OCCURRENCE, MonitorState
from livedeck.monitor.alarms.inputs import distinct_inputs
from livedeck.monitor.alarms.operator import AlarmRefused, acknowledged_until, note_text, unhide
from livedeck.monitor.alarms.ranking import urgent_first
from livedeck.monitor.alarms.suppression import hidden_by, incident_of, priority
from livedeck.monitor.kinds import ALARM_KINDS
from livedeck.monitor.kinds.deck import Wave, needed_inputs, newest_wave
from livedeck.monitor.kinds.ingest import ENDED_ON_AIR
from livedeck.monitor.kinds.kind import CDN, RECONNECTING, IncidentCase, IncidentDetector
from livedeck.monitor.kinds.video import MAY_BE_RADIO
from livedeck.monitor.model.alarm import DECK, Alarm, AlarmChange, AlarmKey, AlarmState, Severity
from livedeck.monitor.model.alarm_action import ActionKind, AlarmAction, AlarmCommand
from livedeck.monitor.model.silence import MaintenanceWindow, Silence, Silences
from livedeck.monitor.model.state import EventState
from livedeck.monitor.model.thresholds import Thresholds
from livedeck.text.secrets import masked_line

_INCIDENTS = {
    AlarmKey(DECK, kind.name): (kind, kind.detector)
    for kind in ALARM_KINDS.values()
    if isinstance(kind.detector, IncidentDetector)
}
"""Incident kinds and their detectors, by alarm key. Their alarms derive from other alarms."""

_OF_VIEWERS = frozenset(kind.name for kind in ALARM_KINDS.values() if kind.shared and kind.incident == CDN)
_OF_ENCODERS = SHARED - _OF_VIEWERS
"""Kinds whose faults make a CDN incident (`_OF_VIEWERS`), and kinds whose faults make a PLATFORM incident."""

_MAX_COMMANDS = 10_000
"""Number of newest commands with a remembered result, so that a repeated command is not carried out twice."""


class Evaluation(NamedTuple):
    """Result of a step of the engine.

    `changes`: transitions to announce. `bells`: alarms that ring. `log`: transitions at their true times, for the
    history; unlike `changes`, it has the onsets that still wait for an incident.
    """

    changes: tuple[AlarmChange, ...]
    bells: tuple[AlarmKey, ...]
    log: tuple[AlarmChange, ...]


class AlarmEngine:
    """Alarms of this process.

    `alarms`: all current alarms by key, including those that are not announced yet.
    """

    def __init__(self, thresholds: Thresholds, windows: Sequence[MaintenanceWindow] = ()) -> None:
        self._silences, self._windows = Silences(), windows
        self.alarms: Mapping[AlarmKey, Alarm] = {}
        self.judge_by(thresholds)
        self._held: Mapping[AlarmKey, Held] = {}  # onsets that may belong to an incident
        self._looks: Mapping[str, datetime] = {}  # time of the first look at each event, by id
        self._rung_at: Mapping[AlarmKey, datetime] = {}  # times of the last bells, within 10 min
        self._newest_samples: Mapping[str, datetime] = {}  # by event id, at the last step (server clock)
        self._changes: list[AlarmChange] = []  # changes by a person since the last step
        self._seen: dict[AlarmKey, datetime] = {}  # time until which another engine judged the restored alarms
        self._actions: Mapping[AlarmKey, AlarmActions] = {}
        self._carried_out: dict[str, AlarmAction] = {}  # resulting actions by command id

    def judge_by(self, thresholds: Thresholds) -> None:
        """Use these limits from the next step on."""
        self._thresholds, self._limits = thresholds, thresholds.attention

    def restore(self, alarms: Iterable[Alarm], now: datetime, seen: datetime | None = None) -> None:
        """Continue with the alarms of a process that ran before. They replace alarms of this process with the same key.

        `seen`: time of the newest sample that the earlier process judged; None if unknown. Faults that ended before
        are not judged again. An alarm that was shelved in the future, by a wrong clock, is not shelved here.
        """
        restored = {alarm.key: _without_future_shelf(alarm, now) for alarm in alarms}
        self._rung_at = {key: alarm.activations[-1] for key, alarm in restored.items() if alarm.activations}
        self.alarms = {**self.alarms, **restored}
        self._held = {key: held for key, held in self._held.items() if key not in restored}
        self._seen = dict.fromkeys(restored, seen) if seen else {}

    def take(self, given: Iterable[AlarmAction]) -> tuple[AlarmAction, ...]:
        """Apply alarm actions from any deck, in any order, from the next step on. Returns the actions that are new."""
        news = tuple(action for action in given if action not in self._actions.get(action.key, AlarmActions()))
        self._actions = actions.merge(self._actions, news) if news else self._actions
        self._carried_out |= {action.uid: action for action in news}
        for uid in tuple(self._carried_out)[:-_MAX_COMMANDS]:
            del self._carried_out[uid]
        return news

    def is_used(self, uid: str) -> bool:
        """Return whether this process has an action with this id."""
        return uid in self._carried_out

    def take_silences(self, rows: Iterable[Silence]) -> bool:
        """Apply rows of silences from any process, in any order, from the next step on. Returns whether any is new."""
        before, self._silences = self._silences, self._silences.including(rows)
        return self._silences != before

    def silences(self, at: datetime) -> Silences:
        """Return all silences at a time, with those of the maintenance windows. All times by this machine's clock."""
        return self._silences.with_windows(self._windows, at)

    def begun_windows(self, at: datetime) -> tuple[Silence, ...]:
        """Return the silences of maintenance windows that run at a time and are not stored yet."""
        found = [window.silence(at) for window in self._windows]
        latest = self._silences.latest
        return tuple(each for each in found if each and each.covers(at) and each.id not in latest)

    def find_action(self, command: AlarmCommand) -> AlarmAction | None:
        """Return the action of this command if it was carried out before; None if it was not.

        Raises AlarmRefused if a different command had the same id.
        """
        action = self._carried_out.get(command.uid)
        if action and not _is_result_of(command, action):
            raise AlarmRefused("This id belongs to another command. Use a new id for each command.")
        return action

    def act(self, command: AlarmCommand, now: datetime, *, on_air: bool) -> AlarmAction | None:
        """Carry out a command, dated after all earlier actions on its alarm. Returns None if nothing changes.

        `on_air`: the alarm concerns a broadcast. Raises AlarmRefused.
        """
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
        verdict = alarm.verdict if command.kind is ActionKind.CLOSE else ""  # else acknowledged after it had cleared
        reasons = {ActionKind.NOTE: alarm.note, ActionKind.CLOSE: verdict}
        action = AlarmAction(
            command.uid,
            key,
            alarm.since,
            kind,
            at,
            actor,
            alarm.severity,
            alarm.stage,
            until,
            reasons.get(kind, alarm.reason),
        )
        self.take([action])
        return action

    def handle(self, key: AlarmKey, action: Callable[[Alarm], Alarm | None], now: datetime) -> bool:
        """Apply a person's action to an alarm. Returns False if nothing changes. Raises AlarmRefused."""
        before = self.alarms.get(key)
        if before is None:
            raise AlarmGone(f"{key.kind}: this alarm no longer exists")
        after = action(before)
        if after is None:
            return False
        change = lifecycle.change_between(before, after, now)
        self.alarms = {**self.alarms, key: timeline.extend(before, after, change, {}, now)}
        self._changes += [change] if change else []
        return True

    def step(self, state: MonitorState) -> Evaluation:
        """Update all alarms to this state. Returns the transitions since the last step, including those by people.

        An event that cannot be judged keeps its alarms, because nothing proves that they have cleared.
        """
        before, now = self.alarms, state.now
        self._looks = {event.id: self._looks.get(event.id, now) for event in state.events}
        unjudged = faults.unjudged_events(state)
        after = self._with_faults(state, unjudged)
        case = self._incident_case(after, state)
        after |= self._incidents(after, case, state)
        on_air = ids_on_air(state.events)
        after = {key: self._handled(alarm, now, on_air=key.event_id in on_air) for key, alarm in after.items()}
        waiting = {*self._held}
        may_coincide = len(on_air - {DECK}) >= self._limits.shared_events and not state.is_last
        for key in sorted(after, key=lambda key: priority(key.kind)):
            alarm = after[key]
            if incident := incident_of(alarm, after, waits=key in self._held and not alarm.is_ongoing):
                alarm = actions.follow(alarm, incident)
            cover = hidden_by(before.get(key), alarm, after, now, self._limits, waiting=waiting)
            after[key] = lifecycle.apply_suppression(before.get(key), alarm, cover, now, state.connection.own.stops)
            if may_coincide and may_wait(before.get(key), after[key]):
                waiting.add(key)
        after = self._silenced(self._bounded(after, state), state, on_air)
        names = {event.id: event.event.name or event.id for event in state.events}
        steps = [_step(before.get(key), alarm, names, now) for key, alarm in after.items()]
        self.alarms = {step.alarm.key: step.alarm for step in steps}
        self._newest_samples = faults.newest_samples(state, self._newest_samples, unjudged)
        return self._announce(steps, case, state, on_air, may_coincide=may_coincide)

    def _announce(
        self,
        steps: Sequence[Step],
        case: IncidentCase,
        state: MonitorState,
        on_air: frozenset[str],
        *,
        may_coincide: bool,
    ) -> Evaluation:
        """Return the transitions to announce, the alarms that ring, and the log. Only the log has onsets that wait.

        `on_air`: ids of the events on air. `may_coincide`: enough events are on air for an incident.
        """
        by_people, self._changes = self._changes, []
        wave = newest_wave(case, self._limits)
        gate = GateCase(
            state.now,
            wave,
            may_coincide=may_coincide,
            is_looking=any(event.id in on_air and faults.is_unpolled(event) for event in state.events),
            unexplained=self._unexplained(steps, case, state),
            unasked=self._unasked(steps, wave, case, state)
            | (self._unseen(steps, state) if state.is_probing else set()),
        )
        announcement = announce(self._held, steps, gate, self._limits)
        changes = [change for change in by_people if change.alarm.key not in self._held]
        self._held = announcement.held
        bells = tuple(key for key in announcement.audible if self._needs_ack(key))
        window = timedelta(seconds=self._limits.flood_window)
        rung_at = {**self._rung_at, **dict.fromkeys(bells, state.now)}
        self._rung_at = {key: at for key, at in rung_at.items() if state.now - at < window}
        log = (*by_people, *(step.change for step in steps if step.change))
        return Evaluation((*changes, *announcement.changes), bells, log)

    def _silenced(
        self, alarms: Mapping[AlarmKey, Alarm], state: MonitorState, on_air: frozenset[str]
    ) -> dict[AlarmKey, Alarm]:
        """Return the alarms, each with the silence that covers it now. `on_air`: ids of the events on air."""
        offset = state.connection.clock_offset
        wall = state.now + timedelta(seconds=offset)
        running = [silence.moved(-offset) for silence in self.silences(wall).current(wall) if silence.covers(wall)]
        if not running:
            return {
                key: alarm if alarm.silenced is None else silencing.silenced(alarm, None, state.now)
                for key, alarm in alarms.items()
            }
        events = {event.id: silencing.case_event(event) for event in state.events}

        def of(alarm: Alarm) -> Alarm:
            is_on_air = not on_air.isdisjoint({alarm.event_id, *alarm.affects})
            case = silencing.case_of(alarm, events)
            return silencing.silenced(
                alarm, silencing.silence_of(running, case, state.now, on_air=is_on_air), state.now
            )

        return {key: of(alarm) for key, alarm in alarms.items()}

    def _handled(self, alarm: Alarm, now: datetime, *, on_air: bool) -> Alarm:
        """Return the alarm after people's actions; if its shelf has ended, it is visible again."""
        if given := self._actions.get(alarm.key):
            alarm = actions.apply(alarm, given, now, on_air=on_air, limits=self._limits)
        return lifecycle.without_ended_shelf(alarm, now, on_air=on_air, limits=self._limits)

    def _unexplained(self, steps: Sequence[Step], case: IncidentCase, state: MonitorState) -> frozenset[AlarmKey]:
        """Return the keys of new or waiting alarms that no incident can explain."""
        alarms = [step.alarm for step in steps if step.alarm.kind == RECONNECTING]
        onsets = [alarm for alarm in alarms if alarm.changed == state.now or alarm.key in self._held]
        if not onsets:
            return frozenset()
        on_air = [event for event in state.events if event.phase.tally.expects_signal]
        failing = {step.alarm.event_id for step in steps if _may_be_of(step.alarm, _OF_ENCODERS)}
        inputs, skew = case.inputs or distinct_inputs(on_air), state.connection.skew
        return frozenset(
            onset.key
            for onset in onsets
            if is_unexplained(onset, on_air, failing, inputs=inputs, skew=skew, limits=self._limits)
        )

    def _unasked(
        self, steps: Sequence[Step], wave: Wave, case: IncidentCase, state: MonitorState
    ) -> frozenset[AlarmKey]:
        """Return the keys of new or waiting alarms that an incident may still explain.

        These are alarms for which too few other events have replied since the onset to rule out an incident. A slow
        machine polls each event rarely, so a fault of all events first appears on one.
        """
        onsets = self._onsets(steps, _OF_ENCODERS, state)
        if not onsets:
            return frozenset()
        on_air = [event for event in state.events if event.phase.tally.expects_signal]
        inputs = case.inputs or distinct_inputs(on_air)
        needed = needed_inputs(len(set(inputs.values())), self._limits)
        members = {alarm.key: alarm.event_id for alarm in wave.alarms}

        def is_unasked(key: AlarmKey, since: datetime) -> bool:
            failing = {*members.values()} if key in members else {key.event_id}
            late = {event.id for event in on_air if event.qos.as_of is not None and event.qos.as_of < since}
            return len({inputs[event.id] for event in on_air if event.id in late | failing}) >= needed

        return frozenset(key for key, since in onsets.items() if is_unasked(key, since))

    def _unseen(self, steps: Sequence[Step], state: MonitorState) -> frozenset[AlarmKey]:
        """Return the keys of new or waiting viewer alarms that an incident of their host may still explain.

        These are alarms for which too few playlists of the host have played since the onset to rule out an incident.
        """
        onsets = self._onsets(steps, _OF_VIEWERS, state)
        if not onsets:
            return frozenset()
        alarms = {step.alarm.key: step.alarm for step in steps}
        viewers = {event.id: event.viewer for event in state.events if event.viewer and event.viewer.is_known}

        def is_open(key: AlarmKey) -> bool:
            own, since = viewers.get(key.event_id), alarms[key].since if key in alarms else state.now
            alike = [viewer for viewer in viewers.values() if own and viewer.host == own.host]
            played = sum(viewer.is_playing and viewer.as_of is not None and viewer.as_of > since for viewer in alike)
            return len(alike) - played >= needed_inputs(len(alike), self._limits)

        return frozenset(key for key in onsets if is_open(key))

    def _onsets(self, steps: Sequence[Step], kinds: Container[str], state: MonitorState) -> dict[AlarmKey, datetime]:
        """Return the times of the new and the waiting onsets of some kinds."""
        waiting = {key: held.onset.at for key, held in self._held.items() if key.kind in kinds}
        new = {step.alarm.key: state.now for step in steps if step.alarm.kind in kinds and step.change}
        return {**new, **waiting}

    def waiting(self) -> Mapping[AlarmKey, datetime]:
        """Return alarm -> latest time until which its onset waits for an incident."""
        return {key: held.until for key, held in self._held.items()}

    def seconds_to_announcement(self, now: datetime) -> float:
        """Return the seconds until the next waiting onset is announced; inf if no onset waits."""
        return min(((held.until - now).total_seconds() for held in self._held.values()), default=inf)

    def _needs_ack(self, key: AlarmKey) -> bool:
        """Return whether the alarm needs an acknowledgement now, and no silence covers it."""
        alarm = self.alarms.get(key)
        return alarm is not None and alarm.needs_ack and alarm.active and alarm.silenced is None

    def ordered(self, events: Iterable[EventState]) -> tuple[Alarm, ...]:
        """Return all announced alarms, most urgent first."""
        return urgent_first(announced(self.alarms, self._held), events)

    def inactive(self, now: datetime) -> tuple[Alarm, ...]:
        """Return the announced alarms that nobody needs to handle: hidden or just cleared; newest first."""
        alarms = [
            alarm
            for alarm in announced(self.alarms, self._held)
            if not alarm.active and (alarm.state is not AlarmState.CLEARED or self._is_listed(alarm, now))
        ]
        return tuple(sorted(alarms, key=lambda alarm: (now - alarm.changed, alarm.key)))

    def is_flood(self, now: datetime) -> bool:
        """Return whether more alarms rang in the flood window than a person can follow. Each alarm counts once."""
        window = timedelta(seconds=self._limits.flood_window)
        return sum(now - at < window for at in self._rung_at.values()) > self._limits.flood_count

    def _with_faults(self, state: MonitorState, unjudged_events: frozenset[str]) -> dict[AlarmKey, Alarm]:
        """Return every alarm with its current fault, except incidents."""
        now, limits = state.now, self._limits
        active = faults.active_faults(state, self._thresholds)
        for key, known in self.alarms.items():
            is_told = key in active and active[key].since == known.since
            if is_told and key.kind == ENDED_ON_AIR and faults.is_end_over(known, state):
                del active[key]
        ended = faults.ended_faults(self.alarms, self._newest_samples, state, self._seen, unjudged_events)
        unjudged = set(faults.unjudged_keys(self.alarms.values(), state, unjudged_events)) - set(active)
        after = {}
        for key in {**self.alarms, **ended, **active}:
            if key in unjudged:
                after[key] = lifecycle.expire(faults.with_own_cause(self.alarms[key], state), now, limits)
            elif key not in _INCIDENTS:
                alarm = self.alarms.get(key)
                after[key] = lifecycle.advance(key, alarm, ended.get(key, []), active.get(key), now=now, limits=limits)
                is_new = alarm is None or after[key].since > alarm.since + SAME_OCCURRENCE
                if is_new and self._is_found(after[key], state):
                    after[key] = replace(after[key], found=True)
        return after

    def _is_found(self, alarm: Alarm, state: MonitorState) -> bool:
        """Return whether nobody saw the onset: it was before the first look at the event, or in unwatched time."""
        look = self._looks.get(alarm.event_id)
        if look is not None and alarm.since < look - SAME_OCCURRENCE:
            return True
        event, skew = state.by_id.get(alarm.event_id), state.connection.skew
        return event is not None and faults.is_onset_unseen(alarm.since, event, skew, self._thresholds)

    def _incident_case(self, alarms: Mapping[AlarmKey, Alarm], state: MonitorState) -> IncidentCase:
        """Return the alarms that may form an incident together, and the events whose samples are late or gone."""
        on_air = {event.id: event for event in state.events if event.phase.tally.expects_signal}
        shared = [alarm for alarm in alarms.values() if alarm.event_id in on_air and _may_be_of(alarm, _OF_ENCODERS)]
        if not self._may_coincide(shared):
            return IncidentCase([], {}, state.now)
        skew = timedelta(seconds=state.connection.skew)
        late = {event.id: since - skew for event in on_air.values() if (since := event.late_since)}
        of_encoders = {key: held for key, held in self._held.items() if key.kind in _OF_ENCODERS}
        is_late_counted = has_waited(of_encoders, state.now, self._limits)
        inputs = distinct_inputs(on_air.values())
        return IncidentCase(shared, inputs, state.now, late=late, is_late_counted=is_late_counted)

    def _viewer_case(self, alarms: Mapping[AlarmKey, Alarm], state: MonitorState) -> IncidentCase:
        """Return the alarms of viewers that may form an incident of a host together."""
        shared = [alarm for alarm in alarms.values() if _may_be_of(alarm, _OF_VIEWERS)]
        if not shared and AlarmKey(DECK, CDN) not in self.alarms:
            return IncidentCase([], {}, state.now)
        hosts = {
            event.id: event.viewer.host
            for event in state.events
            if event.viewer and event.viewer.is_known and event.is_fed
        }
        shared = [alarm for alarm in shared if alarm.event_id in hosts]
        return IncidentCase(shared, {event_id: event_id for event_id in hosts}, state.now, hosts=hosts)

    def _incidents(
        self, alarms: Mapping[AlarmKey, Alarm], encoders: IncidentCase, state: MonitorState
    ) -> dict[AlarmKey, Alarm]:
        """Return the incident alarms, new and previous. `encoders`: the case of alarms of encoders."""
        incidents = {}
        for key, (kind, detector) in _INCIDENTS.items():
            alarm = self.alarms.get(key)
            if kind.name == CDN and alarm is None and not state.is_probing:
                continue
            previous = alarm if alarm and alarm.is_ongoing else None
            case = self._viewer_case(alarms, state) if kind.name == CDN else encoders
            incident = detector.observe(replace(case, previous=previous), self._limits)
            diagnosis = diagnose_incident(incident, case, state.events, kind.diagnosis) if incident else kind.diagnosis
            fault = faults.incident_fault(kind, incident, diagnosis) if incident else None
            if alarm:
                is_listed = not state.is_unlisted
                incidents[key] = lifecycle.update(alarm, fault, state.now, self._limits) if is_listed else alarm
            elif fault:
                incidents[key] = lifecycle.raise_alarm(key, fault, state.now, self._limits)
        return incidents

    def _may_coincide(self, shared: Iterable[Alarm]) -> bool:
        """Return whether enough events have alarms for an incident. This check saves the slow comparison of inputs."""
        has_incident = not self.alarms.keys().isdisjoint(_INCIDENTS)
        return has_incident or len({alarm.event_id for alarm in shared}) >= self._limits.shared_events

    def _bounded(self, alarms: Mapping[AlarmKey, Alarm], state: MonitorState) -> dict[AlarmKey, Alarm]:
        """Return the alarms without obsolete ones. Above `listed_most`, clear the least urgent RETURNED alarms."""
        kept = {key: alarm for key, alarm in alarms.items() if not self._is_obsolete(alarm, state)}
        excess = len(kept) - self._limits.listed_most
        if excess <= 0:
            return kept
        returned = [alarm for alarm in kept.values() if alarm.state is AlarmState.RETURNED]
        returned.sort(key=lambda alarm: (-alarm.severity.rank, alarm.changed))
        for alarm in returned[:excess]:
            kept[alarm.key] = replace(alarm, state=AlarmState.CLEARED, needs_ack=False, changed=state.now)
        return kept

    def _is_obsolete(self, alarm: Alarm, state: MonitorState) -> bool:
        """Return whether an alarm can be dropped.

        Either it cleared long ago and has no recent activation, or it is hidden and its event no longer exists.
        """
        if alarm.is_ongoing:
            return False
        if alarm.state is AlarmState.CLEARED:
            return not (self._is_listed(alarm, state.now) or alarm.activations)
        return alarm.state is not AlarmState.RETURNED and not state.may_exist(alarm.event_id)

    def _is_listed(self, cleared: Alarm, now: datetime) -> bool:
        return now - cleared.changed < timedelta(seconds=self._limits.cleared_listed)


def ids_on_air(events: Iterable[EventState]) -> frozenset[str]:
    """Return the ids of the events on air, and also DECK if any event is on air: their alarms concern a broadcast."""
    ids = frozenset(event.id for event in events if event.phase.tally.expects_signal)
    return ids | {DECK} if ids else ids


def _without_future_shelf(alarm: Alarm, now: datetime) -> Alarm:
    is_of_future = alarm.state is AlarmState.SHELVED and alarm.changed > now
    return unhide(alarm, now) if is_of_future else alarm


def _may_be_of(alarm: Alarm, kinds: Container[str]) -> bool:
    """Return whether an alarm may be part of an incident of these kinds.

    The alarm of an event that never had a picture does not count, because the event may be radio.
    """
    is_question = alarm.severity is Severity.WARNING and alarm.expected.endswith(MAY_BE_RADIO)
    is_fault = alarm.is_ongoing and alarm.severity is not Severity.INFO and not is_question
    return is_fault and alarm.kind in kinds and not alarm.found


def _step(before: Alarm | None, alarm: Alarm, names: Mapping[str, str], now: datetime) -> Step:
    """Return the step of an alarm, with the alarm's timeline extended. `names`: event names by id."""
    change = lifecycle.change_between(before, alarm, now)
    return Step(before, timeline.extend(before, alarm, change, names, now), change)


def _is_result_of(command: AlarmCommand, action: AlarmAction) -> bool:
    is_plain = action.kind is ActionKind.CLOSE and not action.reason  # of an alarm that had cleared
    kind = ActionKind.ACKNOWLEDGE if is_plain else action.kind
    if kind is ActionKind.CLOSE:
        return (action.key, kind, action.reason) == (command.key, command.kind, command.text)
    is_same_note = kind is not ActionKind.NOTE or action.reason == masked_line(note_text(command.text))
    return (action.key, kind) == (command.key, command.kind) and is_same_note
