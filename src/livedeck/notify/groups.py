"""The step from alarms to messages: waiting, grouping, rate, escalation, end. Pure.

See `step` (notifications.md, "From alarm to message"). No file and no network is used: the new state that `step`
returns holds everything that must survive a restart.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import NamedTuple, TypeVar

from msgspec import field

from livedeck.monitor import (
    Alarm,
    AlarmKey,
    AlarmState,
    Case,
    CaseEvent,
    NotWatched,
    Severity,
    Silence,
    Snapshot,
    person,
    silence_of,
    watched_seconds,
)
from livedeck.monitor import case_of as case_of_alarm
from livedeck.notify.message import NOT_NOTIFIED, Entry, Message, Open, Status
from livedeck.notify.routes import Route, reasons_against
from livedeck.notify.texts import Sender, compose, shown_status
from livedeck.record import Record
from livedeck.text.times import isoformat_utc

V = TypeVar("V")

GROUP_WAIT = timedelta(seconds=5)
"""Time from the onset of a group's first alarm to its message, so that faults of one cause share a message.

An alarm that waited for an incident before it was announced has waited already, and so has the incident."""

SETTLED = timedelta(minutes=2)
"""Time after the end of a fault. If the fault returns sooner, neither its end nor its return is sent."""

RATE_WINDOW = timedelta(minutes=10)
MAX_MESSAGES = 6
"""Allowance: maximum number of messages of a route in this window. Further alarms wait and go out as one message.

A message with a critical alarm that began needs no allowance."""

FLOOD_COUNT, FLOOD_GAP = 10, timedelta(minutes=1)
"""Maximum number of alarms in the window. Above it messages count the alarms, and messages that need the allowance are
at least FLOOD_GAP apart."""

CRITICAL_GAP = timedelta(seconds=5)
"""Minimum time between two messages with critical alarms, by route, target, status and incident."""


class EventInfo(NamedTuple):
    """An event in short. `at`: actual or planned start. `project`: id of its project or folder. `content`: a word."""

    name: str
    tally: str = ""
    at: datetime | None = None
    is_on_air: bool = False
    project: str = ""
    content: str = ""


class Board(Record):
    """The alarms at one moment, in any state.

    `is_known`: the platform responds, so an alarm that is missing has cleared. `is_complete`: every event on air had a
    response since the process began. `offset`: seconds that the machine's clock is ahead of the times on the board,
    because it was set. `stops`: stops of the process that polls. `silences`: silences that run or are planned.
    """

    alarms: Sequence[Alarm] = ()
    events: Mapping[str, EventInfo] = field(default_factory=dict)
    is_known: bool = True
    offset: float = 0.0
    stops: tuple[NotWatched, ...] = ()
    is_complete: bool = True
    silences: tuple[Silence, ...] = ()

    @classmethod
    def of(cls, snapshot: Snapshot) -> Board:
        """Return the board of a snapshot of the monitor."""
        events = {
            state.id: EventInfo(
                state.event.name or state.id,
                state.phase.tally.value,
                state.phase.reference_time,
                state.phase.tally.expects_signal,
                state.event.parent_id or "",
                state.content.value,
            )
            for state in snapshot.events
        }
        alarms = (*snapshot.alarms, *snapshot.quiet)
        link = snapshot.link
        on_air = [state for state in snapshot.events if state.phase.tally.expects_signal]
        is_complete = all(state.qos.as_of is not None for state in on_air)
        is_known = link.state.is_answering
        return cls(alarms, events, is_known, link.clock_offset, link.own.stops, is_complete, snapshot.silences)


class Plan(Record):
    """The routes and the sender, from the settings."""

    routes: tuple[Route, ...] = ()
    sender: Sender = field(default_factory=Sender)


class Notified(NamedTuple):
    """The last notification of an alarm on a route.

    `stage`: the stage of the alarm at the notification. `at`: start of the time until the alarm escalates: the
    notification, or the end of the last acknowledgement or shelf.
    """

    stage: int
    at: datetime


class Life(Record):
    """An alarm from its onset until people are notified of its end.

    `seen_at`: time at which the alarm was last present; `cleared_since`: None while the alarm is present. `is_handled`:
    when last present, the alarm was acknowledged, shelved, out of service, silenced or hidden by another alarm;
    `is_hidden`: it was hidden and nobody had handled it. `is_silenced`: when last present, a silence covered it; it is
    then announced anew after the silence. `notified`: name of the route -> last notification. `escalated`: name of the
    route -> time of the expired acknowledgement that led to the escalation; empty if there was none.
    """

    id: str
    key: AlarmKey
    since: datetime
    seen_at: datetime
    cleared_since: datetime | None = None
    is_handled: bool = False
    notified: Mapping[str, Notified] = field(default_factory=dict)
    escalated: Mapping[str, str] = field(default_factory=dict)
    is_hidden: bool = False
    is_silenced: bool = False


class Box(NamedTuple):
    """A route and a target of its messages. Messages are counted for each such pair."""

    route: str
    target: str


Group = tuple[int, str]
"""Entries that share a message: the place of their status in `Status`, and their incident."""


class State(Record):
    """The state between two steps.

    `opened`: time at which each group opened, by route and incident. `held`: entries that wait for the allowance or the
    hours. `sent`: times of the recent messages that needed the allowance. `counted`: times of the recent alarms.
    `urgent`: time of the last message with critical alarms, by status and incident.
    """

    lives: Mapping[AlarmKey, Life] = field(default_factory=dict)
    opened: Mapping[tuple[str, str], datetime] = field(default_factory=dict)
    held: Mapping[Box, tuple[Entry, ...]] = field(default_factory=dict)
    sent: Mapping[Box, tuple[datetime, ...]] = field(default_factory=dict)
    counted: Mapping[Box, tuple[datetime, ...]] = field(default_factory=dict)
    urgent: Mapping[tuple[Box, Group], datetime] = field(default_factory=dict)

    @property
    def notified_lives(self) -> tuple[Life, ...]:
        """The lives with a notification, which a restart must know."""
        return tuple(life for life in self.lives.values() if life.notified)

    def is_kept_as(self, other: State) -> bool:
        """Return whether a restart would continue in the same way from both states. `seen_at` does not matter."""
        lives = [
            {life.id: replace(life, seen_at=life.since) for life in state.notified_lives} for state in (self, other)
        ]
        return lives[0] == lives[1] and self.held == other.held


class Outcome(NamedTuple):
    """The result of a step: the new state, the new messages, and the keys of withdrawn messages.

    Store the outcome as a whole before sending any of the messages.
    """

    state: State
    messages: tuple[Message, ...] = ()
    withdrawn: tuple[str, ...] = ()


def step(
    plan: Plan,
    state: State,
    board: Board,
    now: datetime,
    unsent: Sequence[Message] = (),
    *,
    opens: Sequence[Open] = (),
    is_reconciling: bool = False,
) -> Outcome:
    """Return the messages that follow from the alarms.

    `unsent`: earlier messages that no target has taken, oldest first. `opens`: alarms whose end no message reports yet.
    `is_reconciling`: `opens` was just read, so that those whose alarm nobody knows get their end.
    """
    turn = _Turn(plan, state, board, now, unsent, opens)
    turn.follow_lives()
    turn.drop_handled()
    turn.withdraw_handled()
    turn.collect_firing()
    turn.collect_escalated()
    turn.collect_resolved()
    if is_reconciling and board.is_known:
        turn.collect_unknown()
    messages = tuple(turn.release())
    return Outcome(turn.state(), messages, tuple(turn.withdrawn))


def withheld(state: State, unsent: Iterable[Message], now: datetime) -> frozenset[str]:
    """Return the keys of the messages that wait because all their alarms are handled.

    If an acknowledgement expires, such a message goes out unchanged, under the same key.
    """
    lives = {life.id: life for life in state.lives.values()}
    keys = set()
    for message in unsent:
        present = [lives[beginning.life] for beginning in message.beginnings if beginning.life in lives]
        is_handled = all(life.is_handled for life in present)
        if is_handled and not all(_is_settled(life, now) for life in present):
            keys.add(message.key)
    return frozenset(keys)


def _is_settled(life: Life, now: datetime) -> bool:
    """Return whether the alarm cleared so long ago that its end can be sent."""
    return life.cleared_since is not None and now - life.cleared_since >= SETTLED


@dataclasses.dataclass(slots=True)
class _Turn:
    """A running step."""

    plan: Plan
    before: State
    board: Board
    now: datetime
    unsent: Sequence[Message]
    opens: Sequence[Open]
    alarms: dict[AlarmKey, Alarm] = dataclasses.field(init=False)
    lives: dict[AlarmKey, Life] = dataclasses.field(init=False)
    opened: dict[tuple[str, str], datetime] = dataclasses.field(default_factory=dict, init=False)
    held: dict[Box, tuple[Entry, ...]] = dataclasses.field(init=False)
    sent: dict[Box, tuple[datetime, ...]] = dataclasses.field(init=False)
    counted: dict[Box, tuple[datetime, ...]] = dataclasses.field(init=False)
    urgent: dict[tuple[Box, Group], datetime] = dataclasses.field(init=False)
    withdrawn: list[str] = dataclasses.field(default_factory=list, init=False)
    awaited: set[str] = dataclasses.field(default_factory=set, init=False)
    kinds: defaultdict[str, set[str]] = dataclasses.field(init=False)  # kinds of the present alarms, by event
    on_air: int = dataclasses.field(init=False)
    open_lives: defaultdict[str, list[Open]] = dataclasses.field(init=False)
    missed: dict[str, Life] = dataclasses.field(default_factory=dict, init=False)  # lives whose end no step saw, by id

    def __post_init__(self) -> None:
        self.alarms = {alarm.key: alarm for alarm in self.board.alarms}
        self.kinds = defaultdict(set)
        for alarm in self.board.alarms:
            if alarm.active and alarm.is_ongoing:
                self.kinds[alarm.event_id].add(alarm.kind)
        self.open_lives = defaultdict(list)
        for known in self.opens:
            self.open_lives[known.life].append(known)
        self.on_air = sum(info.is_on_air for info in self.board.events.values())
        self.lives, self.held = dict(self.before.lives), dict(self.before.held)
        self.sent = {box: self._recent(moments) for box, moments in self.before.sent.items()}
        self.counted = {box: self._recent(moments) for box, moments in self.before.counted.items()}
        self.urgent = {place: at for place, at in self.before.urgent.items() if self.now - at < CRITICAL_GAP}

    def state(self) -> State:
        """The state after this step."""
        held = {box: entries for box, entries in self.held.items() if entries}
        return State(self.lives, self.opened, held, self.sent, self.counted, self.urgent)

    def _recent(self, moments: Iterable[datetime]) -> tuple[datetime, ...]:
        return tuple(at for at in moments if self.now - at < RATE_WINDOW)

    # Lives

    def follow_lives(self) -> None:
        """Update the lives: note which alarms are present, and when the other alarms cleared."""
        for alarm in self.board.alarms:
            if not alarm.is_ongoing:
                continue
            life = self.lives.get(alarm.key)
            if life is None or alarm.since > life.seen_at + SETTLED:
                if life is not None:
                    self.missed[life.id] = replace(life, cleared_since=life.cleared_since or life.seen_at)
                life = Life(_life_id(alarm), alarm.key, alarm.since, self.now)
            if life.is_silenced and _is_unhandled(alarm):
                life = replace(life, notified={})  # it stands at the end of its silence, so it is announced again
            self.lives[alarm.key] = replace(
                life,
                seen_at=self.now,
                cleared_since=None,
                is_handled=not _is_unhandled(alarm),
                is_hidden=alarm.state is AlarmState.SUPPRESSED and (life.is_hidden or not life.is_handled),
                notified=_notified_now(life, alarm) if _is_unhandled(alarm) else life.notified,
                is_silenced=alarm.silenced is not None,
            )
        for key, life in [*self.lives.items()]:
            alarm_now = self.alarms.get(key)
            if life.cleared_since is None and self.board.is_known and not (alarm_now and alarm_now.is_ongoing):
                self.lives[key] = replace(life, cleared_since=self.now)
        for box, entries in self.held.items():
            self.held[box] = tuple(map(self._updated, entries))

    def _life(self, entry: Entry) -> Life | None:
        """Return the life of the entry; None if it has ended."""
        life = self.lives.get(entry.key)
        return life if life and life.id == entry.life else None

    def _updated(self, entry: Entry) -> Entry:
        """Return the entry with `is_cleared` updated: the alarm may clear or return while the entry waits."""
        life = self._life(entry) or self.missed.get(entry.life)
        if life is None or entry.status is Status.RESOLVED or entry.is_cleared is (life.cleared_since is not None):
            return entry
        seconds = ((life.cleared_since or self.now) - life.since).total_seconds()
        return replace(entry, is_cleared=not entry.is_cleared, seconds=seconds)

    def drop_handled(self) -> None:
        """Drop waiting entries whose alarm has been handled or hidden meanwhile."""
        for box, entries in [*self.held.items()]:
            handled = [entry for entry in entries if self._is_handled(entry)]
            self._drop(box, handled)
            for entry in handled:
                if life := self._life(entry):
                    self._restore(life, box.route, entry.status, entry.stage_before)

    def _drop(self, box: Box, dropped: Iterable[Entry]) -> None:
        ids = {id(entry) for entry in dropped}
        self.held[box] = tuple(entry for entry in self.held.get(box, ()) if id(entry) not in ids)

    def _is_handled(self, entry: Entry) -> bool:
        alarm = self.alarms.get(entry.key)
        is_present = alarm is not None and alarm.is_ongoing and not entry.is_cleared
        return entry.status is not Status.RESOLVED and is_present and not _is_unhandled(alarm)

    def _restore(self, life: Life, route: str, status: Status, stage_before: int) -> None:
        """Set the notification of a life on a route back to the previous notification."""
        if status is Status.ESCALATED:
            escalated = _without(life.escalated, route)
            if stage_before != NOT_NOTIFIED:
                escalated[route] = ""  # that target was notified before, so it must learn of the end
            self.lives[life.key] = replace(life, escalated=escalated)
        else:
            notified = _without(life.notified, route)
            if stage_before != NOT_NOTIFIED:
                notified[route] = Notified(stage_before, life.notified[route].at)
            self.lives[life.key] = replace(life, notified=notified)

    def withdraw_handled(self) -> None:
        """Withdraw unsent messages whose alarms all cleared while they were handled; their end is not sent either.

        The newest message comes first, because each one restores the notification before it.
        """
        keys = {life.id: key for key, life in self.lives.items()}
        self.awaited = {beginning.life for message in self.unsent for beginning in message.beginnings} & {*self.missed}
        for message in reversed(self.unsent):
            lives = [self.lives[keys[told.life]] for told in message.beginnings if told.life in keys]
            is_whole = len(lives) == len(message.beginnings) > 0
            if not (is_whole and all(life.is_handled and _is_settled(life, self.now) for life in lives)):
                self.awaited |= {life.id for life in lives}
                continue
            self.withdrawn.append(message.key)
            for life, beginning in zip(lives, message.beginnings, strict=True):
                self._restore(life, message.route, message.status, beginning.stage_before)

    # Entries to send

    def collect_firing(self) -> None:
        """Open a group at its first alarm. 5 s after that alarm was raised, hold an entry for each alarm of it."""
        for route in self.plan.routes:
            candidates = [alarm for alarm in self.board.alarms if self._is_news(route, alarm)]
            by_incident: dict[str, list[Alarm]] = {}
            for alarm in candidates:
                by_incident.setdefault(alarm.kind if alarm.affects else "", []).append(alarm)
            for incident, alarms in by_incident.items():
                began = min(self._began(route, alarm) for alarm in alarms)
                opened_at = min(began, self.before.opened.get((route.name, incident), self.now))
                if self.now - opened_at < GROUP_WAIT and not incident:
                    self.opened[route.name, incident] = opened_at
                    continue
                self._hold(route, alarms)

    def _began(self, route: Route, alarm: Alarm) -> datetime:
        """Return when an alarm was raised.

        Returns now if it has become worse since its last notification, or if the end of an earlier life goes out first.
        """
        has_other_life = any(life.key == alarm.key for life in self.missed.values())
        is_notified = route.name in self.lives[alarm.key].notified
        return self.now if is_notified or has_other_life else alarm.changed

    def _is_news(self, route: Route, alarm: Alarm) -> bool:
        """Return whether the alarm needs a notification on the route now."""
        if not _is_unhandled(alarm) or route.is_quiet(alarm.severity, self._local()):
            return False
        last = self.lives[alarm.key].notified.get(route.name)
        is_louder = _stage(alarm) > (last.stage if last else NOT_NOTIFIED)
        return is_louder and not reasons_against(route, case_of(alarm, self.board.events))

    def _hold(self, route: Route, alarms: Sequence[Alarm]) -> None:
        """Hold an entry for each alarm, in place of a waiting entry of the same life."""
        box = Box(route.name, route.to)
        waiting = {entry.life: entry for entry in self.held.get(box, ()) if entry.status is Status.FIRING}
        entries = [self._firing_entry(route, alarm, waiting) for alarm in alarms]
        self._drop(box, [waiting[entry.life] for entry in entries if entry.life in waiting])
        self.held[box] = (*self.held[box], *entries)
        self.counted[box] = (*self.counted.get(box, ()), *[self.now] * len(entries))

    def _firing_entry(self, route: Route, alarm: Alarm, waiting: Mapping[str, Entry]) -> Entry:
        life = self.lives[alarm.key]
        replaced, before = waiting.get(life.id), life.notified.get(route.name)
        stage_before = replaced.stage_before if replaced else before.stage if before else NOT_NOTIFIED
        self.lives[alarm.key] = replace(life, notified={**life.notified, route.name: Notified(_stage(alarm), self.now)})
        return replace(self._entry(Status.FIRING, alarm, life), stage_before=stage_before)

    def collect_escalated(self) -> None:
        """Hold an entry for each alarm that nobody has handled within the `escalate` minutes of its route."""
        for route in self.plan.routes:
            if not (route.escalate and route.escalate_to):
                continue
            box, late = Box(route.name, route.escalate_to), list[Entry]()
            for alarm in self.board.alarms:
                life = self.lives.get(alarm.key)
                if life is None or not self._has_escalated(route, alarm, life):
                    continue
                stage_before = _stage(alarm) if route.name in life.escalated else NOT_NOTIFIED
                escalated = {**life.escalated, route.name: _expired_acknowledgement(alarm)}
                self.lives[alarm.key] = replace(life, escalated=escalated)
                late.append(replace(self._entry(Status.ESCALATED, alarm, life), stage_before=stage_before))
            self.held[box] = (*self.held.get(box, ()), *late)

    def _has_escalated(self, route: Route, alarm: Alarm, life: Life) -> bool:
        last = life.notified.get(route.name)
        if last is None or not _is_unhandled(alarm):
            return False
        escalated = life.escalated.get(route.name)
        is_new = escalated is None or escalated < _expired_acknowledgement(alarm)
        return is_new and watched_seconds(last.at, self.now, self.board.stops) >= route.escalate * 60

    def collect_resolved(self) -> None:
        """Hold an entry for the end of each notified alarm that cleared long enough ago, and forget its life."""
        settled = [life for life in self.lives.values() if _is_settled(life, self.now)]
        ends = defaultdict[Box, list[Entry]](list)
        waiting = {(box, entry.life) for box, entries in self.held.items() for entry in entries}
        for life in (*settled, *self.missed.values()):
            if life.is_handled and life.id in self.awaited:
                continue  # the waiting message of its onset goes first or not at all
            if life.id not in self.missed:
                del self.lives[life.key]
            for box, last in self._readers(life):
                if (box, life.id) not in waiting:  # otherwise the waiting entry of its onset becomes the end
                    ends[box].append(self._end(life, last))
        self._hold_ends(ends)

    def _hold_ends(self, ends: Mapping[Box, list[Entry]]) -> None:
        for box, entries in ends.items():
            self.held[box] = (*self.held.get(box, ()), *entries)

    def _readers(self, life: Life) -> Iterator[tuple[Box, Notified]]:
        """Yield each box that must be notified of the end of the alarm, with the last notification there.

        A target that took the beginning learns of the end, also if its route has gone.
        """
        targets = set[str]()
        for route in self.plan.routes:
            last = life.notified.get(route.name)
            if last is not None and route.resolved:
                targets.add(route.to)
                yield Box(route.name, route.to), last
                if route.name in life.escalated:
                    targets.add(route.escalate_to)
                    yield Box(route.name, route.escalate_to), last
        for known in self.open_lives[life.id]:
            if known.target not in targets:
                yield Box(known.route, known.target), Notified(known.end.stage, self.now)

    def collect_unknown(self) -> None:
        """Hold an end for each beginning that a target took, and whose alarm nobody knows any more."""
        lives = {life.id for life in (*self.lives.values(), *self.missed.values())}
        waiting = {(box.target, entry.life) for box, entries in self.held.items() for entry in entries}
        ends = defaultdict[Box, list[Entry]](list)
        for known in self.opens:
            if known.life not in lives and (known.target, known.life) not in waiting:
                seconds = (self.now - known.end.since).total_seconds()
                ends[Box(known.route, known.target)].append(known.end.as_end(seconds, is_undated=True))
        self._hold_ends(ends)

    # Messages

    def release(self) -> Iterator[Message]:
        """Yield a message for each status and incident, as far as the allowance of the route permits."""
        for box in [*self.held]:
            ready = [entry for entry in self.held[box] if not self._waits(box, entry)]
            count = len(self.counted.get(box, ()))
            for group, found in groupby(sorted(ready, key=_order), key=_group):
                entries = [*found]
                is_urgent = any(entry.is_urgent for entry in entries)
                if is_urgent and (box, group) not in self.urgent:
                    self.urgent[box, group] = self.now
                elif not is_urgent and self._is_allowed(box):
                    self.sent[box] = (*self.sent.get(box, ()), self.now)
                else:
                    continue
                self._drop(box, entries)
                flood = count if count > FLOOD_COUNT else 0
                has_end = all(route.resolved for route in self.plan.routes if route.name == box.route)
                yield compose(box.route, box.target, entries, self.now, self.plan.sender, flood=flood, has_end=has_end)

    def _waits(self, box: Box, entry: Entry) -> bool:
        """Return whether an entry has to wait.

        It waits for the hours of its route, and for the end of a silence that covers its alarm. The end of an alarm
        also waits until the alarm has surely cleared.
        """
        if self._is_silenced(entry):
            return True
        life = self.lives.get(entry.key) if shown_status(entry) is Status.RESOLVED else None
        may_be_present = life is not None and (life.id == entry.life or box.route in life.notified)
        return may_be_present or self._waits_for_hours(box, entry)

    def _is_silenced(self, entry: Entry) -> bool:
        """Return whether a silence covers the alarm of an entry now, also if the alarm is not listed any more."""
        alarm = self.alarms.get(entry.key)
        if alarm is not None or not self.board.silences:
            return alarm is not None and alarm.silenced is not None
        info = self.board.events.get(entry.event_id, EventInfo(entry.event))
        events = [_case_event(entry.event_id, info)] if entry.event_id else []
        case = Case(entry.kind, entry.severity, events, tuple(filter(None, (entry.target, entry.part))))
        return silence_of(self.board.silences, case, self.now, on_air=info.is_on_air) is not None

    def _waits_for_hours(self, box: Box, entry: Entry) -> bool:
        route = next((route for route in self.plan.routes if route.name == box.route), None)
        return route is not None and route.is_quiet(entry.severity, self._local())

    def _is_allowed(self, box: Box) -> bool:
        """Return whether the allowance of the route permits one more message now."""
        sent, is_flood = self.sent.get(box, ()), len(self.counted.get(box, ())) > FLOOD_COUNT
        return len(sent) < MAX_MESSAGES and not (is_flood and sent and self.now - sent[-1] < FLOOD_GAP)

    # Entries

    def _local(self) -> datetime:
        """Return the present time in the readers' time zone."""
        return (self.now + timedelta(seconds=self.board.offset)).astimezone(self.plan.sender.zone)

    def _entry(self, status: Status, alarm: Alarm, life: Life) -> Entry:
        events = self.board.events
        others = self.kinds[alarm.event_id] - {alarm.kind}
        is_last = not (alarm.answered_at and alarm.acknowledged_at and alarm.answered_at > alarm.acknowledged_at)
        expired = f"by {person(alarm.answered_by)}, expired" if alarm.answered_by and is_last else ""
        return Entry(
            status,
            life.id,
            _stage(alarm),
            alarm.event_id,
            alarm.kind,
            alarm.target,
            alarm.severity,
            alarm.subject,
            alarm.target_name,
            alarm.actual,
            alarm.expected,
            life.since,
            (self.now - life.since).total_seconds(),
            alarm.diagnosis.cause,
            alarm.diagnosis.viewers,
            alarm.diagnosis.advice,
            self._airing(alarm.event_id),
            tuple(sorted(others)) if alarm.event_id else (),
            tuple(events[id_].name if id_ in events else id_ for id_ in alarm.affects),
            self.on_air,
            expired if status is Status.ESCALATED and alarm.acknowledged_at else "",
        )

    def _end(self, life: Life, last: Notified) -> Entry:
        """Return the entry for the end of an alarm, which the alarm engine may have forgotten already."""
        cleared_since = life.cleared_since or self.now
        alarm = self.alarms.get(life.key)
        info = self.board.events.get(life.key.event_id)
        return Entry(
            Status.RESOLVED,
            life.id,
            last.stage,
            *life.key,
            alarm.severity if alarm else _severity(last.stage),
            alarm.subject if alarm else (info.name if info else life.key.event_id or "platform"),
            alarm.target_name if alarm else "",
            "",
            "",
            life.since,
            (cleared_since - life.since).total_seconds(),
            airing=self._airing(life.key.event_id),
        )

    def _airing(self, event_id: str) -> str:
        info = self.board.events.get(event_id)
        if info is None:
            return ""
        words = _AIRING.get(info.tally, "")
        at = f" {info.at.astimezone(self.plan.sender.zone):%Y-%m-%d %H:%M %Z}" if info.at and words else ""
        return f"{words}{at}" if at else info.tally.lower()


_AIRING = {
    "SCHEDULED": "scheduled for",
    "LATE": "late since",
    "ON AIR": "on air since",
    "RECONNECTING": "reconnecting, on air since",
    "LOST": "lost, on air since",
}
"""Words before the time of an event, by its tally."""


def case_of(alarm: Alarm, events: Mapping[str, EventInfo]) -> Case:
    """Return the case of an alarm, by which a route checks it. `events`: events by id."""
    known = {id_: _case_event(id_, events[id_]) for id_ in (alarm.event_id, *alarm.affects) if id_ in events}
    return case_of_alarm(alarm, known)


def _case_event(event_id: str, info: EventInfo) -> CaseEvent:
    return CaseEvent(event_id, info.name, info.project, info.content)


def _is_unhandled(alarm: Alarm | None) -> bool:
    """Return whether the alarm is present, and neither a person nor a silence has handled it."""
    is_open = alarm is not None and alarm.state is AlarmState.UNACKNOWLEDGED and alarm.is_ongoing
    return is_open and alarm is not None and alarm.silenced is None


_STAGES = 100


def _stage(alarm: Alarm) -> int:
    """Return how far an alarm has grown: by severity first, then by its own stage."""
    return (len(Severity) - 1 - alarm.severity.rank) * _STAGES + min(alarm.stage, _STAGES - 1)


def _severity(stage: int) -> Severity:
    return tuple(Severity)[len(Severity) - 1 - stage // _STAGES]


def _life_id(alarm: Alarm) -> str:
    """Return the identity of a life: the key of the alarm and its onset in ms."""
    return "/".join((*alarm.key, str(round(alarm.since.timestamp() * 1000))))


def _notified_now(life: Life, alarm: Alarm) -> Mapping[str, Notified]:
    """Return the notifications of an unhandled alarm.

    The end of an acknowledgement or a shelf restarts the time until the alarm escalates. A pause of the fault, or a
    time in which another alarm hid it, does not.
    """
    has_ended = life.is_handled and not life.is_hidden
    return {
        route: last._replace(at=max(last.at, alarm.changed))
        if has_ended or (alarm.answered_at and alarm.answered_at > last.at)
        else last
        for route, last in life.notified.items()
    }


def _expired_acknowledgement(alarm: Alarm) -> str:
    """Return the time of the expired acknowledgement as text; empty if there was none.

    Each expired acknowledgement is a reason to escalate once. The text of a later one compares as greater.
    """
    return isoformat_utc(alarm.acknowledged_at) or ""


def _without(values: Mapping[str, V], name: str) -> dict[str, V]:
    return {key: value for key, value in values.items() if key != name}


def _group(entry: Entry) -> Group:
    return [*Status].index(shown_status(entry)), entry.incident


def _order(entry: Entry) -> tuple[int, str, int]:
    return (*_group(entry), entry.severity.rank)
