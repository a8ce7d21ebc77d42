"""Which messages follow from the alarms as they stand: waiting, grouping, rate, escalation, end. Pure.

`step(plan, state, board, now)` is all of it (notifications.md, "From alarm to message"). Nothing here knows a file or a
network: what has to survive a restart is in the state that it returns.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import NamedTuple, TypeVar

from livedeck.monitor import Alarm, AlarmKey, AlarmState, Severity, Snapshot, person
from livedeck.notify.message import UNTOLD, Entry, Message, Status
from livedeck.notify.routes import Case, CaseEvent, Route, reasons_against
from livedeck.notify.texts import Sender, compose, told_as
from livedeck.text.times import isoformat_utc

V = TypeVar("V")

GROUP_WAIT = timedelta(seconds=5)
"""From the first alarm of a group to its message: what fails together is told together."""

SETTLED = timedelta(minutes=2)
"""What comes back sooner is the same fault: its end was not told yet, and its beginning is not told again."""

RATE_WINDOW = timedelta(minutes=10)
MAX_MESSAGES, MAX_CRITICAL = 6, 12
"""Of a route in that window; what is over waits and goes out as one."""

FLOOD_COUNT, FLOOD_GAP = 10, timedelta(minutes=1)
"""From more alarms than that in the window on, one message a minute."""


class EventInfo(NamedTuple):
    """What is known of an event. `at`: on air since, or its start; `project`: the id of what it is in."""

    name: str
    tally: str = ""
    at: datetime | None = None
    is_on_air: bool = False
    project: str = ""


@dataclass(frozen=True, slots=True)
class Board:
    """The alarms that are known at a moment, whatever their state. `is_known`: the platform answers, so what is not
    among them is over. `offset`: seconds that the machine's clock is ahead of the times here, after it was set."""

    alarms: Sequence[Alarm] = ()
    events: Mapping[str, EventInfo] = field(default_factory=dict)
    is_known: bool = True
    offset: float = 0.0

    @classmethod
    def of(cls, snapshot: Snapshot) -> Board:
        """What a snapshot of the monitor holds of it."""
        events = {
            state.id: EventInfo(
                state.event.name or state.id,
                state.phase.tally.value,
                state.phase.reference_time,
                state.phase.tally.expects_signal,
                state.event.parent_id or "",
            )
            for state in snapshot.events
        }
        alarms = (*snapshot.alarms, *snapshot.quiet)
        return cls(alarms, events, snapshot.link.state.is_answering, snapshot.link.clock_offset)


@dataclass(frozen=True, slots=True)
class Plan:
    """What the settings say: the routes, and who tells."""

    routes: tuple[Route, ...] = ()
    sender: Sender = field(default_factory=Sender)


class Told(NamedTuple):
    """How far an alarm had grown when a route was told last, and since when it waits there for an answer: since that
    was told, or since the last answer ended."""

    stage: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Life:
    """An alarm from its onset until its end is told. `standing_at`: when it was last seen; `over_since`: since when it
    was not. `is_answered`: somebody had answered it, or another alarm hid it, when it was last seen; `is_hidden`: only
    the latter, which the file forgets. `told`: by name of the route; `escalated`: by route, after which acknowledgement
    that was."""

    id: str
    key: AlarmKey
    since: datetime
    standing_at: datetime
    over_since: datetime | None = None
    is_answered: bool = False
    told: Mapping[str, Told] = field(default_factory=dict)
    escalated: Mapping[str, str] = field(default_factory=dict)
    is_hidden: bool = False


class Box(NamedTuple):
    """Where messages are counted: the route, and the target, which differs where it escalates."""

    route: str
    target: str


@dataclass(frozen=True, slots=True)
class State:
    """What is known from one step to the next. `opened`: since when a group waits, by route and incident; `held`: what
    is to be told as soon as the rate allows. `sent`, `counted`: when messages and alarms went out lately."""

    lives: Mapping[AlarmKey, Life] = field(default_factory=dict)
    opened: Mapping[tuple[str, str], datetime] = field(default_factory=dict)
    held: Mapping[Box, tuple[Entry, ...]] = field(default_factory=dict)
    sent: Mapping[Box, tuple[datetime, ...]] = field(default_factory=dict)
    counted: Mapping[Box, tuple[datetime, ...]] = field(default_factory=dict)

    @property
    def told_lives(self) -> tuple[Life, ...]:
        """Those that somebody was told of: what a restart must know."""
        return tuple(life for life in self.lives.values() if life.told)

    def is_kept_as(self, other: State) -> bool:
        """Whether a restart would go on from both alike, but for when alarms were seen last."""
        lives = [
            {life.id: (life.is_answered, life.told, life.escalated) for life in state.told_lives}
            for state in (self, other)
        ]
        return lives[0] == lives[1] and self.held == other.held


class Outcome(NamedTuple):
    """What a step came to: the state after it, the messages that go out, and the keys of those that are taken back. It
    must be kept, whole, before any of them is sent."""

    state: State
    messages: tuple[Message, ...] = ()
    withdrawn: tuple[str, ...] = ()


def step(plan: Plan, state: State, board: Board, now: datetime, unsent: Sequence[Message] = ()) -> Outcome:
    """What follows from these alarms. `unsent`: the messages that went out before and are on their way nowhere yet, the
    oldest first."""
    turn = _Turn(plan, state, board, now, unsent)
    turn.follow_lives()
    turn.drop_answered()
    turn.withdraw_answered()
    turn.collect_firing()
    turn.collect_escalated()
    turn.collect_resolved()
    messages = tuple(turn.release())
    return Outcome(turn.state(), messages, tuple(turn.withdrawn))


def withheld(state: State, unsent: Iterable[Message], now: datetime) -> frozenset[str]:
    """The keys of the messages that wait as somebody has answered all their alarms. When an acknowledgement runs out,
    such a message goes out as it is, under its key."""
    lives = {life.id: life for life in state.lives.values()}
    keys = set()
    for message in unsent:
        known = [lives[beginning.life] for beginning in message.beginnings if beginning.life in lives]
        is_answered = all(life.is_answered for life in known)
        if is_answered and not all(_is_settled(life, now) for life in known):
            keys.add(message.key)
    return frozenset(keys)


def _is_settled(life: Life, now: datetime) -> bool:
    """Whether it is over for so long that its end is told."""
    return life.over_since is not None and now - life.over_since >= SETTLED


@dataclass(slots=True)
class _Turn:
    """One step, under way."""

    plan: Plan
    before: State
    board: Board
    now: datetime
    unsent: Sequence[Message]
    alarms: dict[AlarmKey, Alarm] = field(init=False)
    lives: dict[AlarmKey, Life] = field(init=False)
    opened: dict[tuple[str, str], datetime] = field(default_factory=dict, init=False)
    held: dict[Box, tuple[Entry, ...]] = field(init=False)
    sent: dict[Box, tuple[datetime, ...]] = field(init=False)
    counted: dict[Box, tuple[datetime, ...]] = field(init=False)
    withdrawn: list[str] = field(default_factory=list, init=False)
    awaited: set[str] = field(default_factory=set, init=False)
    kinds: defaultdict[str, set[str]] = field(init=False)  # of the alarms that stand, by event
    on_air: int = field(init=False)
    missed: dict[str, Life] = field(default_factory=dict, init=False)  # whose end nobody saw, by their ids

    def __post_init__(self) -> None:
        self.alarms = {alarm.key: alarm for alarm in self.board.alarms}
        self.kinds = defaultdict(set)
        for alarm in self.board.alarms:
            if alarm.active and alarm.is_ongoing:
                self.kinds[alarm.event_id].add(alarm.kind)
        self.on_air = sum(info.is_on_air for info in self.board.events.values())
        self.lives, self.held = dict(self.before.lives), dict(self.before.held)
        self.sent = {box: self._recent(moments) for box, moments in self.before.sent.items()}
        self.counted = {box: self._recent(moments) for box, moments in self.before.counted.items()}

    def state(self) -> State:
        """The state after this step."""
        held = {box: entries for box, entries in self.held.items() if entries}
        return State(self.lives, self.opened, held, self.sent, self.counted)

    def _recent(self, moments: Iterable[datetime]) -> tuple[datetime, ...]:
        return tuple(at for at in moments if self.now - at < RATE_WINDOW)

    # Lives

    def follow_lives(self) -> None:
        """Which alarms stand, and since when those that do not are over."""
        for alarm in self.board.alarms:
            if not alarm.is_ongoing:
                continue
            life = self.lives.get(alarm.key)
            if life is None or alarm.since > life.standing_at + SETTLED:
                if life is not None:
                    self.missed[life.id] = replace(life, over_since=life.standing_at)
                life = Life(_life_id(alarm), alarm.key, alarm.since, self.now)
            self.lives[alarm.key] = replace(
                life,
                standing_at=self.now,
                over_since=None,
                is_answered=not _asks(alarm),
                is_hidden=alarm.state is AlarmState.SUPPRESSED and (life.is_hidden or not life.is_answered),
                told=_waiting(life, alarm) if _asks(alarm) else life.told,
            )
        for key, life in [*self.lives.items()]:
            alarm_now = self.alarms.get(key)
            if life.over_since is None and self.board.is_known and not (alarm_now and alarm_now.is_ongoing):
                self.lives[key] = replace(life, over_since=self.now)
        for box, entries in self.held.items():
            self.held[box] = tuple(map(self._as_it_is, entries))

    def _life(self, entry: Entry) -> Life | None:
        """The life that it tells of, while that lasts."""
        life = self.lives.get(entry.key)
        return life if life and life.id == entry.life else None

    def _as_it_is(self, entry: Entry) -> Entry:
        """What waits to be told was too late where it is over by now, and was not where that has come back."""
        life = self._life(entry) or self.missed.get(entry.life)
        if life is None or entry.status is Status.RESOLVED or entry.is_over is (life.over_since is not None):
            return entry
        seconds = ((life.over_since or self.now) - life.since).total_seconds()
        return replace(entry, is_over=not entry.is_over, seconds=seconds)

    def drop_answered(self) -> None:
        """Nobody is told of what somebody has answered, or another alarm hides, while it waits for its turn."""
        for box, entries in [*self.held.items()]:
            answered = [entry for entry in entries if self._is_answered(entry)]
            self._drop(box, answered)
            for entry in answered:
                if life := self._life(entry):
                    self._untell(life, box.route, entry.status, entry.stage_before)

    def _drop(self, box: Box, dropped: Iterable[Entry]) -> None:
        gone = {id(entry) for entry in dropped}
        self.held[box] = tuple(entry for entry in self.held.get(box, ()) if id(entry) not in gone)

    def _is_answered(self, entry: Entry) -> bool:
        alarm = self.alarms.get(entry.key)
        is_standing = alarm is not None and alarm.is_ongoing and not entry.is_over
        return entry.status is not Status.RESOLVED and is_standing and not _asks(alarm)

    def _untell(self, life: Life, route: str, status: Status, stage_before: int) -> None:
        if status is Status.ESCALATED:
            escalated = _without(life.escalated, route)
            if stage_before != UNTOLD:
                escalated[route] = ""  # its reader was told before, and has to learn of the end
            self.lives[life.key] = replace(life, escalated=escalated)
        else:
            told = _without(life.told, route)
            if stage_before != UNTOLD:
                told[route] = Told(stage_before, life.told[route].at)
            self.lives[life.key] = replace(life, told=told)

    def withdraw_answered(self) -> None:
        """Take back what is not sent, and tells of nothing but alarms that somebody had answered when they ended: then
        nobody is told of their end, either. The newest first: each goes back to what was told before it."""
        keys = {life.id: key for key, life in self.lives.items()}
        self.awaited = {beginning.life for message in self.unsent for beginning in message.beginnings} & {*self.missed}
        for message in reversed(self.unsent):
            lives = [self.lives[keys[life]] for life, _ in message.beginnings if life in keys]
            is_whole = len(lives) == len(message.beginnings) > 0
            if not (is_whole and all(life.is_answered and _is_settled(life, self.now) for life in lives)):
                self.awaited |= {life.id for life in lives}
                continue
            self.withdrawn.append(message.key)
            for life, (_, stage_before) in zip(lives, message.beginnings, strict=True):
                self._untell(life, message.route, message.status, stage_before)

    # What is to be told

    def collect_firing(self) -> None:
        """Groups open with their first alarm, and are told 5 s later with all that have joined."""
        for route in self.plan.routes:
            candidates = [alarm for alarm in self.board.alarms if self._is_news(route, alarm)]
            by_incident: dict[str, list[Alarm]] = {}
            for alarm in candidates:
                by_incident.setdefault(alarm.kind if alarm.affects else "", []).append(alarm)
            for incident, alarms in by_incident.items():
                opened_at = self.before.opened.get((route.name, incident), self.now)
                if self.now - opened_at < GROUP_WAIT:
                    self.opened[route.name, incident] = opened_at
                    continue
                self._tell(route, alarms)

    def _is_news(self, route: Route, alarm: Alarm) -> bool:
        """Whether that route has to be told of it, now."""
        if not _asks(alarm) or route.is_quiet(alarm.severity, self._local()):
            return False
        told = self.lives[alarm.key].told.get(route.name)
        is_louder = _stage(alarm) > (told.stage if told else UNTOLD)
        return is_louder and not reasons_against(route, case_of(alarm, self.board.events))

    def _tell(self, route: Route, alarms: Sequence[Alarm]) -> None:
        """Have them told, each instead of what waits of the same life."""
        box = Box(route.name, route.to)
        waiting = {entry.life: entry for entry in self.held.get(box, ()) if entry.status is Status.FIRING}
        told = [self._told(route, alarm, waiting) for alarm in alarms]
        self._drop(box, [waiting[entry.life] for entry in told if entry.life in waiting])
        self.held[box] = (*self.held[box], *told)
        self.counted[box] = (*self.counted.get(box, ()), *[self.now] * len(told))

    def _told(self, route: Route, alarm: Alarm, waiting: Mapping[str, Entry]) -> Entry:
        life = self.lives[alarm.key]
        replaced, before = waiting.get(life.id), life.told.get(route.name)
        stage_before = replaced.stage_before if replaced else before.stage if before else UNTOLD
        self.lives[alarm.key] = replace(life, told={**life.told, route.name: Told(_stage(alarm), self.now)})
        return replace(self._entry(Status.FIRING, alarm, life), stage_before=stage_before)

    def collect_escalated(self) -> None:
        """What a route was told of, and nobody has answered for so many minutes since."""
        for route in self.plan.routes:
            if not (route.escalate and route.escalate_to):
                continue
            box, late = Box(route.name, route.escalate_to), list[Entry]()
            for alarm in self.board.alarms:
                life = self.lives.get(alarm.key)
                if life is None or not self._is_unanswered(route, alarm, life):
                    continue
                stage_before = _stage(alarm) if route.name in life.escalated else UNTOLD
                escalated = {**life.escalated, route.name: _promise(alarm)}
                self.lives[alarm.key] = replace(life, escalated=escalated)
                late.append(replace(self._entry(Status.ESCALATED, alarm, life), stage_before=stage_before))
            self.held[box] = (*self.held.get(box, ()), *late)

    def _is_unanswered(self, route: Route, alarm: Alarm, life: Life) -> bool:
        told = life.told.get(route.name)
        if told is None or not _asks(alarm):
            return False
        escalated = life.escalated.get(route.name)
        is_new = escalated is None or escalated < _promise(alarm)
        return is_new and self.now - told.at >= timedelta(minutes=route.escalate)

    def collect_resolved(self) -> None:
        """What is over for long enough, and was told, is told to be over; then its life is."""
        over = [life for life in self.lives.values() if _is_settled(life, self.now)]
        ends = defaultdict[Box, list[Entry]](list)
        waiting = {(box, entry.life) for box, entries in self.held.items() for entry in entries}
        for life in (*over, *self.missed.values()):
            if life.is_answered and life.id in self.awaited:
                continue  # what waits, and says that it stands, goes before its end or not at all
            if life.id not in self.missed:
                del self.lives[life.key]
            for box, told in self._readers(life):
                if (box, life.id) not in waiting:  # else its beginning was not told yet: that is told as its end
                    ends[box].append(self._end(life, told))
        for box, entries in ends.items():
            self.held[box] = (*self.held.get(box, ()), *entries)

    def _readers(self, life: Life) -> Iterator[tuple[Box, Told]]:
        """Where its end is told, and what was told there."""
        for route in self.plan.routes:
            told = life.told.get(route.name)
            if told is not None and route.resolved:
                yield Box(route.name, route.to), told
                if route.name in life.escalated:
                    yield Box(route.name, route.escalate_to), told

    # What goes out

    def release(self) -> Iterator[Message]:
        """A message for each status and incident, as many as the rate of the route allows."""
        for box in [*self.held]:
            ready = [entry for entry in self.held[box] if not self._waits(box, entry)]
            for _, group in groupby(sorted(ready, key=_order), key=_group):
                entries = [*group]
                if self._may_send(box, entries):
                    self.sent[box] = (*self.sent.get(box, ()), self.now)
                    self._drop(box, entries)
                    yield compose(box.route, box.target, entries, self.now, self.plan.sender)

    def _waits(self, box: Box, entry: Entry) -> bool:
        """For the hours of its route; or, an end, until it is sure that its alarm is over there."""
        life = self.lives.get(entry.key) if told_as(entry) is Status.RESOLVED else None
        may_stand = life is not None and (life.id == entry.life or box.route in life.told)
        return may_stand or self._waits_for_hours(box, entry)

    def _waits_for_hours(self, box: Box, entry: Entry) -> bool:
        route = next((route for route in self.plan.routes if route.name == box.route), None)
        return route is not None and route.is_quiet(entry.severity, self._local())

    def _may_send(self, box: Box, entries: Sequence[Entry]) -> bool:
        sent = self.sent.get(box, ())
        is_critical = any(entry.severity is Severity.CRITICAL for entry in entries)
        if len(sent) >= (MAX_CRITICAL if is_critical else MAX_MESSAGES):
            return False
        is_flood = len(self.counted.get(box, ())) > FLOOD_COUNT
        return not is_flood or not sent or self.now - sent[-1] >= FLOOD_GAP

    # Words of the moment

    def _local(self) -> datetime:
        """The readers' clock."""
        return (self.now + timedelta(seconds=self.board.offset)).astimezone(self.plan.sender.zone)

    def _entry(self, status: Status, alarm: Alarm, life: Life) -> Entry:
        events = self.board.events
        others = self.kinds[alarm.event_id] - {alarm.kind}
        is_last = not (alarm.answered_at and alarm.acknowledged_at and alarm.answered_at > alarm.acknowledged_at)
        promise = f"by {person(alarm.answered_by)}, and it ran out" if alarm.answered_by and is_last else ""
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
            promise if status is Status.ESCALATED and alarm.acknowledged_at else "",
        )

    def _end(self, life: Life, told: Told) -> Entry:
        """That it is over. Of an alarm that is forgotten by now no more is known than what it was."""
        over_since = life.over_since or self.now
        alarm = self.alarms.get(life.key)
        info = self.board.events.get(life.key.event_id)
        return Entry(
            Status.RESOLVED,
            life.id,
            told.stage,
            *life.key,
            alarm.severity if alarm else _severity(told.stage),
            alarm.subject if alarm else (info.name if info else life.key.event_id or "platform"),
            alarm.target_name if alarm else "",
            "",
            "",
            life.since,
            (over_since - life.since).total_seconds(),
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
"""What goes before the time of an event, by its tally."""


def case_of(alarm: Alarm, events: Mapping[str, EventInfo]) -> Case:
    """What a route is asked about that alarm. `events`: those that are known, by their ids."""
    names = {alarm.event_id: alarm.subject} if alarm.event_id else {}
    names |= {event_id: event_id for event_id in alarm.affects}
    known = {event_id: events.get(event_id, EventInfo(name)) for event_id, name in names.items()}
    return Case(
        alarm.kind, alarm.severity, [CaseEvent(event_id, info.name, info.project) for event_id, info in known.items()]
    )


def _asks(alarm: Alarm | None) -> bool:
    """Whether it stands, and nobody has answered for it."""
    return alarm is not None and alarm.state is AlarmState.UNACKNOWLEDGED and alarm.is_ongoing


_STAGES = 100


def _stage(alarm: Alarm) -> int:
    """How far it has grown: by severity first, then by its own stage."""
    return (len(Severity) - 1 - alarm.severity.rank) * _STAGES + min(alarm.stage, _STAGES - 1)


def _severity(stage: int) -> Severity:
    return tuple(Severity)[len(Severity) - 1 - stage // _STAGES]


def _life_id(alarm: Alarm) -> str:
    """Its identity: which alarm, and its onset in ms."""
    return "/".join((*alarm.key, str(round(alarm.since.timestamp() * 1000))))


def _waiting(life: Life, alarm: Alarm) -> Mapping[str, Told]:
    """Who was told of what asks now. An answer that has ended begins the wait for another one anew; neither a pause of
    the fault nor an alarm that hid it does."""
    has_ended = life.is_answered and not life.is_hidden
    return {
        route: told._replace(at=max(told.at, alarm.changed))
        if has_ended or (alarm.answered_at and alarm.answered_at > told.at)
        else told
        for route, told in life.told.items()
    }


def _promise(alarm: Alarm) -> str:
    """Which acknowledgement has run out: each is a reason of its own to escalate, and the later is the greater. Empty:
    there was none."""
    return isoformat_utc(alarm.acknowledged_at) or ""


def _without(values: Mapping[str, V], name: str) -> dict[str, V]:
    return {key: value for key, value in values.items() if key != name}


def _group(entry: Entry) -> tuple[int, str]:
    return [*Status].index(told_as(entry)), entry.incident


def _order(entry: Entry) -> tuple[int, str, int]:
    return (*_group(entry), entry.severity.rank)
