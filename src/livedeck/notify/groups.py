"""Decide which messages the alarms require: waiting, grouping, rate, escalation, end. Pure.

See `step` (notifications.md, "From alarm to message"). Uses no file and no network: the new state that `step` returns
holds everything that must survive a restart.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
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
    Shown,
    Silence,
    Snapshot,
    person,
    silence_of,
    watched_seconds,
)
from livedeck.monitor import case_of as case_of_alarm
from livedeck.notify.message import BEGINNINGS, NOT_NOTIFIED, NOTIFY_FAILING, Entry, Message, Open, Status
from livedeck.notify.routes import Level, Route, reasons_against
from livedeck.notify.templates import Template
from livedeck.notify.texts import NO_TEMPLATE, Sender, compose, shown_status
from livedeck.record import Record
from livedeck.text.times import isoformat_utc

V = TypeVar("V")

SETTLED = timedelta(minutes=2)
"""Time after the end of a fault. If the fault returns sooner, neither its end nor its return is sent."""

RATE_WINDOW = timedelta(minutes=10)
MAX_MESSAGES = 6
"""Allowance: maximum number of messages of a route in `RATE_WINDOW`. Further alarms wait and go out as one message.

A message about a present critical alarm needs no allowance. Neither does a message to a target that keeps alarms: such
a target shows a board, which must be current, rather than single messages."""

FLOOD_COUNT, FLOOD_GAP = 10, timedelta(minutes=1)
"""Maximum number of alarms in `RATE_WINDOW`. Above it, messages state the number of alarms, and messages that need the
allowance are at least FLOOD_GAP apart."""

LAST_SENT_KEPT = timedelta(hours=1)
"""Maximum `group_interval` of a route: the time for which the last message of a group is remembered."""

CRITICAL_GAP = timedelta(seconds=5)
"""Minimum time between two messages with critical alarms, by route, target, status and incident."""


class EventInfo(NamedTuple):
    """An event in short. `at`: actual or planned start. `project`: id of its project or folder. `content`: by name."""

    name: str
    tally: str = ""
    at: datetime | None = None
    is_on_air: bool = False
    project: str = ""
    content: str = ""


class Board(Record):
    """The alarms at one moment, in any state.

    Attributes:
        alarms: The alarms.
        events: The events by id.
        is_known: The platform responds, so an alarm that is missing has cleared.
        offset: Seconds that the machine's clock is ahead of the times on the board, after somebody set the clock.
        stops: Stops of the process that polls.
        is_complete: Every event on air had a response since the process began.
        silences: Silences that run or are planned.
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
    """The routes and the sender, from the settings.

    `acknowledging`: names of the targets that take the acknowledgement of an alarm. `keeping`: names of the targets
    that keep each alarm until its end. `templates`: name of a target -> template of its messages.
    """

    routes: tuple[Route, ...] = ()
    sender: Sender = field(default_factory=Sender)
    acknowledging: frozenset[str] = frozenset()
    keeping: frozenset[str] = frozenset()
    templates: Mapping[str, Template] = field(default_factory=dict)

    def message(self, box: Box, entries: Sequence[Entry], at: datetime, flood: int = 0) -> Message:
        """Return the message about alarms of one status. `flood`: as in `compose`."""
        has_end = next((route.resolved for route in self.routes if route.name == box.route), True)
        template = self.templates.get(box.target, NO_TEMPLATE)
        return compose(box.route, box.target, entries, at, self.sender, flood=flood, has_end=has_end, template=template)


class Notified(NamedTuple):
    """The last notification of an alarm on a route.

    `stage`: the stage of the alarm at the notification. `at`: time from which the minutes to an escalation count, which
    is the notification or the end of the last acknowledgement or shelf.
    """

    stage: int
    at: datetime


class Life(Record):
    """An alarm from its onset until people are notified of its end.

    Attributes:
        id: Identity of the life (`_life_id`).
        key: Key of the alarm.
        since: Onset of the alarm.
        seen_at: Time at which the alarm was last present.
        cleared_since: Time at which the alarm cleared; None while it is present.
        is_handled: When last present, the alarm was acknowledged, shelved, out of service, silenced or hidden.
        notified: Name of the route -> last notification.
        escalated: Route and target (`_place`) -> time of the expired acknowledgement that led to the escalation; empty
            if there was none.
        is_hidden: When last present, another alarm hid this one, and nobody had handled it.
        repeated: Route and target -> time of the last escalation or repeat.
        is_silenced: When last present, a silence covered the alarm, so it is announced anew after the silence.
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
    repeated: Mapping[str, datetime] = field(default_factory=dict)
    is_silenced: bool = False

    def shown(self, alarm: Alarm) -> Shown | None:
        """Return the alarm as notifications showed it; None without a notification, or if `alarm` is a later life."""
        if not self.notified or alarm.since > self.seen_at + SETTLED:
            return None
        stage = max(last.stage for last in self.notified.values())
        return Shown(alarm.since, _severity(stage), stage % _STAGES)


class Box(NamedTuple):
    """A route and one of its targets. Each such pair has its own queue of entries and its own allowance."""

    route: str
    target: str


Group = tuple[int, str]
"""Key of a message's entries: index of their status in `Status`, and their key by `group_by` of the route."""


class State(Record):
    """State of the grouping between two steps.

    Attributes:
        lives: Lives of the alarms.
        opened: Route and key of a group -> time at which the group opened.
        held: Entries that wait for the hours of their route or for its allowance of messages.
        sent: Times of the recent messages that used the allowance.
        counted: Times of the recent alarms.
        urgent: Time of the last message with critical alarms, by status and group.
        acknowledged: Target and life -> time of the last acknowledgement sent to the target. Not stored, so a restart
            repeats the acknowledgement.
        last_sent: Time of the last message about new alarms of a group.
    """

    lives: Mapping[AlarmKey, Life] = field(default_factory=dict)
    opened: Mapping[tuple[str, str], datetime] = field(default_factory=dict)
    held: Mapping[Box, tuple[Entry, ...]] = field(default_factory=dict)
    sent: Mapping[Box, tuple[datetime, ...]] = field(default_factory=dict)
    counted: Mapping[Box, tuple[datetime, ...]] = field(default_factory=dict)
    urgent: Mapping[tuple[Box, Group], datetime] = field(default_factory=dict)
    acknowledged: Mapping[tuple[str, str], datetime] = field(default_factory=dict)
    last_sent: Mapping[tuple[Box, str], datetime] = field(default_factory=dict)

    @property
    def notified_lives(self) -> tuple[Life, ...]:
        """The lives with a notification, which a restart must know."""
        return tuple(life for life in self.lives.values() if life.notified)

    @property
    def is_waiting(self) -> bool:
        """True if a group waits for its message, or a critical alarm for the gap between two messages."""
        return bool(self.opened) or any(entry.is_urgent for entries in self.held.values() for entry in entries)

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
    """Return the new state, and the messages that the alarms on the board require.

    `unsent`: earlier messages that no target has taken, oldest first. `opens`: alarms whose end no message reports yet.
    `is_reconciling`: `opens` was just read; also send the end of each alarm in it that board and state lack.
    """
    turn = _Turn(plan, state, board, now, unsent, opens)
    turn.follow_lives()
    turn.drop_handled()
    turn.withdraw_handled()
    turn.collect_firing()
    turn.collect_escalated()
    turn.collect_repeated()
    turn.collect_acknowledged()
    turn.collect_resolved()
    if is_reconciling and board.is_known:
        turn.collect_unknown()
    messages = tuple(turn.release())
    return Outcome(turn.state(), messages, tuple(turn.withdrawn))


def withheld(state: State, unsent: Iterable[Message], now: datetime) -> frozenset[str]:
    """Return the keys of the messages that wait because all their alarms are handled.

    A withheld message goes out unchanged once an alarm is no longer handled, such as after an acknowledgement expires.
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
    """State of one call of `step`: its arguments, and the values that it changes."""

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
    last_sent: dict[tuple[Box, str], datetime] = dataclasses.field(init=False)
    routes: Mapping[str, Route] = dataclasses.field(init=False)
    acknowledged: dict[tuple[str, str], datetime] = dataclasses.field(default_factory=dict, init=False)
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
        for opened in self.opens:
            self.open_lives[opened.life].append(opened)
        self.on_air = sum(info.is_on_air for info in self.board.events.values())
        self.lives, self.held = dict(self.before.lives), dict(self.before.held)
        self.sent = {box: self._recent(moments) for box, moments in self.before.sent.items()}
        self.counted = {box: self._recent(moments) for box, moments in self.before.counted.items()}
        self.urgent = {place: at for place, at in self.before.urgent.items() if self.now - at < CRITICAL_GAP}
        self.last_sent = {group: at for group, at in self.before.last_sent.items() if self.now - at < LAST_SENT_KEPT}
        self.routes = {route.name: route for route in self.plan.routes}

    def state(self) -> State:
        """The state after this step."""
        held = {box: entries for box, entries in self.held.items() if entries}
        return State(
            self.lives, self.opened, held, self.sent, self.counted, self.urgent, self.acknowledged, self.last_sent
        )

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
                life = replace(life, notified={}, escalated={})  # still present after its silence: as if new
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
        if life is None or entry.status not in BEGINNINGS or entry.is_cleared is (life.cleared_since is not None):
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
                    self._restore(life, box, entry.status, entry.stage_before)

    def _drop(self, box: Box, dropped: Iterable[Entry]) -> None:
        ids = {id(entry) for entry in dropped}
        self.held[box] = tuple(entry for entry in self.held.get(box, ()) if id(entry) not in ids)

    def _is_handled(self, entry: Entry) -> bool:
        alarm = self.alarms.get(entry.key)
        is_present = alarm is not None and alarm.is_ongoing and not entry.is_cleared
        return entry.status in BEGINNINGS and is_present and not _is_unhandled(alarm)

    def _restore(self, life: Life, box: Box, status: Status, stage_before: int) -> None:
        """Forget the newest, unsent notification of a life on a route, and restore the previous notification."""
        if status is Status.ESCALATED:
            escalated = _without(life.escalated, _place(box))
            if stage_before != NOT_NOTIFIED:
                escalated[_place(box)] = ""  # that target was notified before, so it must learn of the end
            self.lives[life.key] = replace(life, escalated=escalated)
        elif status is not Status.REPEATED:
            notified = _without(life.notified, box.route)
            if stage_before != NOT_NOTIFIED:
                notified[box.route] = Notified(stage_before, life.notified[box.route].at)
            self.lives[life.key] = replace(life, notified=notified)

    def withdraw_handled(self) -> None:
        """Withdraw unsent messages whose alarms all cleared while handled. The end of these alarms is not sent either.

        The newest message comes first, because each one restores the notification before it.
        """
        keys = {life.id: key for key, life in self.lives.items()}
        self.awaited = {beginning.life for message in self.unsent for beginning in message.beginnings} & {*self.missed}
        for message in reversed(self.unsent):
            lives = [self.lives[keys[begun.life]] for begun in message.beginnings if begun.life in keys]
            is_whole = len(lives) == len(message.beginnings) > 0
            if not (is_whole and all(life.is_handled and _is_settled(life, self.now) for life in lives)):
                self.awaited |= {life.id for life in lives}
                continue
            self.withdrawn.append(message.key)
            for life, beginning in zip(lives, message.beginnings, strict=True):
                self._restore(life, Box(message.route, message.target), message.status, beginning.stage_before)

    # Entries to send

    def collect_firing(self) -> None:
        """Open a group at its first alarm, and hold an entry for each of its alarms after `group_wait`.

        `group_wait` begins when the first alarm is raised, so an earlier wait for an incident counts. Incidents and
        failing targets are reported at once.
        """
        for route in self.plan.routes:
            candidates = [alarm for alarm in self.board.alarms if self._is_news(route, alarm)]
            by_key: dict[str, list[Alarm]] = {}
            for alarm in candidates:
                by_key.setdefault(self._key(route, alarm), []).append(alarm)
            for key, alarms in by_key.items():
                began = min(self._began(route, alarm) for alarm in alarms)
                opened_at = min(began, self.before.opened.get((route.name, key), self.now))
                is_ready = bool(alarms[0].affects) or any(alarm.kind == NOTIFY_FAILING for alarm in alarms)
                if self.now - opened_at < route.group_wait and not is_ready:
                    self.opened[route.name, key] = opened_at
                    continue
                self._hold(route, alarms)

    def _key(self, route: Route, alarm: Alarm) -> str:
        """Return the key by which the route groups the alarm."""
        incident = alarm.kind if alarm.affects else ""
        return _group_key(route, incident, alarm.key, self._project(alarm.event_id), self.lives[alarm.key].id)

    def _project(self, event_id: str) -> str:
        info = self.board.events.get(event_id)
        return info.project if info else ""

    def _began(self, route: Route, alarm: Alarm) -> datetime:
        """Return the time from which `group_wait` counts: when the alarm was raised.

        Returns the present time if the route has notified of the alarm before, or still has to send the end of an
        earlier life.
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
        """Hold an entry for each alarm. It replaces a waiting entry of the same life."""
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
        """Hold an entry for each alarm that nobody has handled within the minutes of a level of its route."""
        for route in self.plan.routes:
            for level in route.escalations:
                box, late = Box(route.name, level.to), list[Entry]()
                for alarm in self.board.alarms:
                    life = self.lives.get(alarm.key)
                    if life is None or not self._has_escalated(route, level, alarm, life):
                        continue
                    place = _place(box)
                    stage_before = _stage(alarm) if place in life.escalated else NOT_NOTIFIED
                    self.lives[alarm.key] = replace(
                        life,
                        escalated={**life.escalated, place: _expired_acknowledgement(alarm)},
                        repeated={**life.repeated, place: self.now},
                    )
                    late.append(replace(self._entry(Status.ESCALATED, alarm, life), stage_before=stage_before))
                self.held[box] = (*self.held.get(box, ()), *late)

    def _has_escalated(self, route: Route, level: Level, alarm: Alarm, life: Life) -> bool:
        last = life.notified.get(route.name)
        if last is None or not _is_unhandled(alarm):
            return False
        escalated = life.escalated.get(_place(Box(route.name, level.to)))
        is_new = escalated is None or escalated < _expired_acknowledgement(alarm)
        return is_new and watched_seconds(last.at, self.now, self.board.stops) >= level.after * 60

    def collect_repeated(self) -> None:
        """Hold an entry for each critical alarm that nobody has handled for `repeat` minutes after its last message."""
        for route in self.plan.routes:
            for level in route.all_levels:
                box = Box(route.name, level.to)
                waiting = {entry.life for entry in self.held.get(box, ())}
                for alarm in self.board.alarms:
                    life = self.lives.get(alarm.key)
                    if not level.repeat or life is None or life.id in waiting:
                        continue
                    if self._is_due_again(route, level, alarm, life):
                        repeated = {**life.repeated, _place(box): self.now}
                        self.lives[alarm.key] = replace(life, repeated=repeated)
                        entry = replace(self._entry(Status.REPEATED, alarm, life), stage_before=_stage(alarm))
                        self.held[box] = (*self.held.get(box, ()), entry)

    def _is_due_again(self, route: Route, level: Level, alarm: Alarm, life: Life) -> bool:
        first, place = life.notified.get(route.name), _place(Box(route.name, level.to))
        is_told = first is not None and (level.to == route.to or place in life.escalated)
        is_severe = alarm.severity is Severity.CRITICAL and not route.is_quiet(alarm.severity, self._local())
        if first is None or not (is_told and is_severe and _is_unhandled(alarm)):
            return False
        last = max(first.at, life.repeated.get(place, first.at))
        return watched_seconds(last, self.now, self.board.stops) >= level.repeat * 60

    def collect_acknowledged(self) -> None:
        """Hold an entry for each acknowledged alarm that is open at a target which takes acknowledgements."""
        for opened in self.opens:
            alarm, life = self.alarms.get(opened.entry.key), self.lives.get(opened.entry.key)
            if opened.target not in self.plan.acknowledging or not alarm or not life or life.id != opened.life:
                continue
            at = alarm.answered_at or alarm.acknowledged_at
            if alarm.state is not AlarmState.ACKNOWLEDGED or not alarm.is_ongoing or at is None:
                continue
            if self.before.acknowledged.get((opened.target, opened.life)) != at:
                box = Box(opened.route, opened.target)
                self.held[box] = (*self.held.get(box, ()), self._entry(Status.ACKNOWLEDGED, alarm, life))
            self.acknowledged[opened.target, opened.life] = at

    def collect_resolved(self) -> None:
        """Hold an entry for the end of each notified alarm that cleared long enough ago, and forget its life."""
        settled = [life for life in self.lives.values() if _is_settled(life, self.now)]
        ends = defaultdict[Box, list[Entry]](list)
        waiting = {(box, entry.life) for box, entries in self.held.items() for entry in entries if _tells_end(entry)}
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
        """Yield each route and target to notify of the end of the alarm, with the last notification on the route.

        Includes a target that took the beginning by a route that the settings no longer have.
        """
        targets = set[str]()
        for route in self.plan.routes:
            last = life.notified.get(route.name)
            if last is None or not route.resolved:
                continue
            boxes = [Box(route.name, level.to) for level in route.escalations]
            for box in (Box(route.name, route.to), *(box for box in boxes if _place(box) in life.escalated)):
                targets.add(box.target)
                yield box, last
        for opened in self.open_lives[life.id]:
            if opened.target not in targets:
                yield Box(opened.route, opened.target), Notified(opened.entry.stage, self.now)

    def collect_unknown(self) -> None:
        """Hold the end of each alarm that is open at a target, but whose life this process does not know."""
        lives = {life.id for life in (*self.lives.values(), *self.missed.values())}
        held = ((box, entry) for box, entries in self.held.items() for entry in entries)
        waiting = {(box.target, entry.life) for box, entry in held if _tells_end(entry)}
        ends = defaultdict[Box, list[Entry]](list)
        for opened in self.opens:
            if opened.life not in lives and (opened.target, opened.life) not in waiting:
                seconds = (self.now - opened.entry.since).total_seconds()
                ends[Box(opened.route, opened.target)].append(opened.entry.as_end(seconds, is_undated=True))
        self._hold_ends(ends)

    # Messages

    def release(self) -> Iterator[Message]:
        """Yield a message for each status and group, as far as the allowance of the route permits."""
        for box in [*self.held]:
            ready = [entry for entry in self.held[box] if not self._waits(box, entry)]
            count = len(self.counted.get(box, ()))
            for group, entries in self._groups(box, ready):
                is_free = self._is_free(box, entries)
                if is_free and (box, group) not in self.urgent:
                    self.urgent[box, group] = self.now
                elif not is_free and self._is_allowed(box):
                    self.sent[box] = (*self.sent.get(box, ()), self.now)
                else:
                    continue
                if group[0] == _NEWS:
                    self.last_sent |= {(box, self._box_key(box, entry)): self.now for entry in entries}
                self._drop(box, entries)
                self._note_repeats(box, entries)
                flood = count if count > FLOOD_COUNT else 0
                yield self.plan.message(box, entries, self.now, flood)

    def _note_repeats(self, box: Box, entries: Iterable[Entry]) -> None:
        """Restart the minutes to the next repeat at the time of the message, because its entries may have waited."""
        for entry in entries:
            life = self._life(entry)
            if life and _place(box) in life.repeated:
                self.lives[entry.key] = replace(life, repeated={**life.repeated, _place(box): self.now})

    def _groups(self, box: Box, ready: Sequence[Entry]) -> list[tuple[Group, list[Entry]]]:
        """Return the entries of each message, by status and group.

        If `group_by` of the route is not `incident` and more groups need the allowance than it has messages left, those
        groups share one message for each status.
        """
        by_group: dict[Group, list[Entry]] = {}
        for entry in sorted(ready, key=lambda entry: (_order(entry), entry.severity.rank)):
            by_group.setdefault((_order(entry), self._box_key(box, entry)), []).append(entry)
        bound = [group for group, entries in by_group.items() if not self._is_free(box, entries)]
        route = self.routes.get(box.route)
        if route and route.group_by != "incident" and len(bound) > MAX_MESSAGES - len(self.sent.get(box, ())):
            for group in bound:
                by_group.setdefault((group[0], _SHARED), []).extend(by_group.pop(group))
        return sorted(by_group.items(), key=lambda item: item[0])

    def _box_key(self, box: Box, entry: Entry) -> str:
        """Return the key by which the route of a box groups an entry; without its route, by incident."""
        route = self.routes.get(box.route, _NO_ROUTE)
        return _group_key(route, entry.incident, entry.key, entry.project, entry.life)

    def _joins(self, box: Box, entry: Entry) -> bool:
        """Return whether an entry must wait because the last message of its group is too recent (`group_interval`).

        Urgent entries never wait.
        """
        key, route = self._box_key(box, entry), self.routes.get(box.route, _NO_ROUTE)
        last = self.last_sent.get((box, key)) if key and entry.status is Status.FIRING and not entry.is_urgent else None
        return last is not None and self.now - last < route.group_interval

    def _waits(self, box: Box, entry: Entry) -> bool:
        """Return whether an entry has to wait.

        Reasons are the hours of its route, a recent message of its group, and a silence that covers its alarm. The end
        of an alarm also waits until the alarm has surely cleared.
        """
        if self._joins(box, entry) or self._is_silenced(entry):
            return True
        life = self.lives.get(entry.key) if shown_status(entry) is Status.RESOLVED else None
        may_be_present = life is not None and (life.id == entry.life or box.route in life.notified)
        return may_be_present or self._waits_for_hours(box, entry)

    def _is_silenced(self, entry: Entry) -> bool:
        """Return whether a silence covers the alarm of an entry now, even if the alarm is not listed any more."""
        alarm = self.alarms.get(entry.key)
        if alarm is not None or not self.board.silences:
            return alarm is not None and alarm.silenced is not None
        info = self.board.events.get(entry.event_id, EventInfo(entry.event))
        events = [_case_event(entry.event_id, info)] if entry.event_id else []
        case = Case(entry.kind, entry.severity, events, tuple(filter(None, (entry.target, entry.part))))
        return silence_of(self.board.silences, case, self.now, on_air=info.is_on_air) is not None

    def _waits_for_hours(self, box: Box, entry: Entry) -> bool:
        route = self.routes.get(box.route)
        return route is not None and route.is_quiet(entry.severity, self._local())

    def _is_free(self, box: Box, entries: Iterable[Entry]) -> bool:
        """Return whether a message needs no allowance: urgent news, an acknowledgement, a target that keeps alarms."""
        is_urgent = any(entry.is_urgent or entry.status is Status.ACKNOWLEDGED for entry in entries)
        return is_urgent or box.target in self.plan.keeping

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
        by = f"by {person(alarm.answered_by)}" if alarm.answered_by else ""
        acknowledged = {Status.ESCALATED: expired if alarm.acknowledged_at else "", Status.ACKNOWLEDGED: by}
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
            acknowledged.get(status, ""),
            project=self._project(alarm.event_id),
        )

    def _end(self, life: Life, last: Notified) -> Entry:
        """Return the entry for the end of an alarm, which the alarm engine may have forgotten already."""
        cleared_since = life.cleared_since or self.now
        alarm = self.alarms.get(life.key)
        info = self.board.events.get(life.key.event_id)
        event_name = next((opened.entry.event for opened in self.open_lives[life.id]), "")
        return Entry(
            Status.RESOLVED,
            life.id,
            last.stage,
            *life.key,
            alarm.severity if alarm else _severity(last.stage),
            alarm.subject if alarm else (info.name if info else event_name or life.key.event_id or "platform"),
            alarm.target_name if alarm else "",
            "",
            "",
            life.since,
            (cleared_since - life.since).total_seconds(),
            airing=self._airing(life.key.event_id),
            project=self._project(life.key.event_id),
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
    """Return the facts about an alarm that a route checks. `events`: events by id."""
    concerned = {id_: _case_event(id_, events[id_]) for id_ in (alarm.event_id, *alarm.affects) if id_ in events}
    return case_of_alarm(alarm, concerned)


def _case_event(event_id: str, info: EventInfo) -> CaseEvent:
    return CaseEvent(event_id, info.name, info.project, info.content)


def _is_unhandled(alarm: Alarm | None) -> bool:
    """Return whether the alarm is present, and neither a person nor a silence has handled it."""
    is_open = alarm is not None and alarm.state is AlarmState.UNACKNOWLEDGED and alarm.is_ongoing
    return is_open and alarm is not None and alarm.silenced is None


_STAGES = 100


def _stage(alarm: Alarm) -> int:
    """Return a number that grows with the severity of an alarm and, within a severity, with its stage."""
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

    Each expired acknowledgement is a reason to escalate once. The text of a later acknowledgement compares as greater.
    """
    return isoformat_utc(alarm.acknowledged_at) or ""


def _tells_end(entry: Entry) -> bool:
    """Return whether a waiting entry reports the end of its alarm, or will report it once the alarm clears."""
    return entry.status is not Status.ACKNOWLEDGED


def _without(values: Mapping[str, V], name: str) -> dict[str, V]:
    return {key: value for key, value in values.items() if key != name}


_NEWS = [*Status].index(Status.FIRING)
_SHARED = "\n"
"""Key of the group that all others join if the allowance is too small for them."""

_NO_ROUTE = Route("", "")


def _order(entry: Entry) -> int:
    """Return the place of the status in `Status`."""
    return [*Status].index(shown_status(entry))


def _group_key(route: Route, incident: str, key: AlarmKey, project: str, life: str) -> str:
    """Return the key by which a route groups an alarm; empty if it shares its message with all others."""
    by = {"event": key.event_id, "project": project, "kind": key.kind, "none": life}
    return incident or by.get(route.group_by, "")


def _place(box: Box) -> str:
    """Return a route and one of its targets as text, for JSON."""
    return "\n".join(box)
