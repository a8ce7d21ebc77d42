"""Laws of notifications over random alarms, crashes and receivers, with a real file.

See notifications.md, "Guarantees".
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from livedeck.monitor import Alarm, AlarmState, Severity
from livedeck.notify import SENT, WAITING, Board, Message, Outcome, Plan, Route, Spool, Spooled, Status, step, withheld
from notify.stage import NOW, acknowledged, alarm, over
from trials import trials

EVENTS = ("one", "two", "three")
PLAN = Plan((Route("ops", "ops", escalate=5, escalate_to="boss"), Route("night", "night", Severity.CRITICAL)))
LASTS = timedelta(seconds=15)
"""Time after which an unacknowledged, watched alarm must be notified.

A group waits 5 s, and looks are 5 s or more apart.
"""

MEMORY = Path("/dev/shm")
"""Folder where the sync of a file costs nothing."""

REST = 20
"""Number of looks, a minute apart, after which no message waits for the rate."""


@dataclass(frozen=True)
class Turn:
    """Event of an alarm, the process or the receiver, and the seconds that pass."""

    event: str
    act: str
    death: str
    receiver: str
    after: float


TURNS = st.builds(
    Turn,
    st.sampled_from((*EVENTS, EVENTS[0])),
    st.sampled_from(("", "begin", "begin", "worse", "end", "end", "acknowledge", "acknowledge", "hide", "release")),
    st.sampled_from(("", "", "", "", "before it is kept", "before it is sent", "before it is marked")),
    st.sampled_from(("", "", "", "away", "back")),
    st.sampled_from((5.0, 5.0, 20.0, 130.0)),
)


@dataclass
class World:
    """Alarms, a notifier that may die, and a receiver that records its messages."""

    path: Path
    now: datetime = NOW
    alarms: dict[str, Alarm] = field(default_factory=dict)
    composed: list[Message] = field(default_factory=list)  # but what was taken back
    received: list[Message] = field(default_factory=list)
    answers: bool = True
    told_answered: list[str] = field(default_factory=list)  # what was told while somebody had answered
    ended_untold: list[str] = field(default_factory=list)  # ends that were told to whom nothing had begun
    standing: dict[str, datetime] = field(default_factory=dict)  # since when unanswered and watched, by event
    owed: list[tuple[str, datetime]] = field(default_factory=list)  # events, and when each had lasted
    last_answered: dict[str, bool] = field(default_factory=dict)  # as last seen standing, by event
    lost: list[str] = field(default_factory=list)  # what was taken back though nobody had answered it

    def __post_init__(self) -> None:
        self.spool = Spool(self.path)
        self.state = self.spool.state(self.now)

    def act(self, event: str, act: str) -> None:
        """Let something happen to the alarm of an event, if it can."""
        current = self.alarms.get(event)
        if current is None or not current.is_ongoing:
            if act == "begin":
                self.alarms[event] = alarm(event, severity=Severity.WARNING, since=self.now, changed=self.now)
            return
        acts = {
            "worse": replace(current, severity=Severity.CRITICAL, state=AlarmState.UNACKNOWLEDGED, changed=self.now),
            "end": over(current, self.now),
            "acknowledge": acknowledged(current, self.now),
            "shelve": replace(current, state=AlarmState.SHELVED, changed=self.now),
            "hide": replace(current, state=AlarmState.SUPPRESSED, changed=self.now),
            "release": replace(current, state=AlarmState.UNACKNOWLEDGED, changed=self.now),
        }
        self.alarms[event] = acts.get(act, current)

    def look(self, death: str = "", after: float = 60.0) -> None:
        """Let time pass and step, store the outcome and send what waits; or die in between."""
        self.now += timedelta(seconds=after)
        unsent = [spooled.message for spooled in self.spool.messages(WAITING)]
        outcome = step(PLAN, self.state, Board(tuple(self.alarms.values())), self.now, unsent)
        if death == "before it is kept":
            self.restart()
            return
        self.spool.keep(outcome, self.now)
        self.state = outcome.state
        self.note(outcome)
        if death == "before it is sent":
            self.restart()
            return
        for spooled in self.sendable() if self.answers else ():
            self.receive(spooled.message)
            if death == "before it is marked":
                self.restart()
                return
            self.spool.mark(spooled.message.key, SENT, 1, "200")

    def sendable(self) -> list[Spooled]:
        """Return the waiting messages that are not held back for an acknowledgement."""
        waiting = self.spool.messages(WAITING)
        kept = withheld(self.state, [spooled.message for spooled in waiting], self.now)
        return [spooled for spooled in waiting if spooled.message.key not in kept]

    def receive(self, message: Message) -> None:
        """Receive a message.

        Record it as wrong if all its alarms are handled, or if it ends an alarm that never began here.
        """
        begun = {entry.life for known in self.received if known.target == message.target for entry in entries(known)}
        named = entries(message)
        if message.status is Status.RESOLVED:
            lives = {entry.life for entry in named if entry.life not in begun}
            self.ended_untold += [] if "OVER" in message.title else lives
        elif all(self.is_handled(entry) for entry in named):
            self.told_answered.append(message.title)
        self.received.append(message)

    def is_handled(self, told: Notified) -> bool:
        """Return whether that very alarm is acknowledged and still present."""
        current = self.alarms[told.event]
        is_same = round(current.since.timestamp() * 1000) == round(told.onset.timestamp() * 1000)
        return is_same and current.is_ongoing and current.state is not AlarmState.UNACKNOWLEDGED

    def note(self, outcome: Outcome) -> None:
        """Record the messages, and the alarms that have lasted long enough."""
        withdrawn = [message for message in self.composed if message.key in outcome.withdrawn]
        named = [told for message in withdrawn for told in entries(message)]
        self.lost += [told.life for told in named if not self.last_answered[told.event]]
        self.composed = [message for message in self.composed if message not in withdrawn]
        events = {told.event for told in named}  # of which nobody is owed a word any more
        self.owed = [(name, at) for name, at in self.owed if name not in events or self.was_told(name, at)]
        self.composed += outcome.messages
        for message in outcome.messages:
            if message.status is not Status.RESOLVED and any(self.is_handled(told) for told in entries(message)):
                self.told_answered.append(message.title)
        for event, current in self.alarms.items():
            if current.is_ongoing:
                is_handled = current.state is not AlarmState.UNACKNOWLEDGED
                self.last_answered[event] = is_handled
            if current.is_ongoing and current.state is AlarmState.UNACKNOWLEDGED:
                if self.now - self.standing.setdefault(event, self.now) >= LASTS:
                    self.owed.append((event, self.now))
                continue
            self.standing.pop(event, None)
            if current.is_ongoing:  # answered or hidden before it was told: nobody is owed a word
                self.owed = [(name, at) for name, at in self.owed if name != event or self.was_told(name, at)]

    def was_told(self, event: str, at: datetime) -> bool:
        """Return whether a reader knew of the alarm then, or was notified of it later."""
        told = [(message, told) for message in self.composed for told in entries(message) if told.event == event]
        told = [(message, entry) for message, entry in told if message.route == "ops"]
        before = [message.status for message, _ in told if message.at <= at]
        later = [message for message, entry in told if message.at > at and entry.onset <= at]
        is_known = bool(before) and before[-1] is not Status.RESOLVED
        return is_known or any(message.status is Status.FIRING for message in later)

    def restart(self) -> None:
        """Start another process, which knows the file. Nothing watched meanwhile."""
        self.spool.close()
        self.standing.clear()
        self.spool = Spool(self.path)
        self.state = self.spool.state(self.now)


class Notified(NamedTuple):
    """Alarm of a message."""

    event: str
    life: str
    severity: str

    @property
    def onset(self) -> datetime:
        """Return the beginning of its life."""
        return datetime.fromtimestamp(int(self.life.rpartition("/")[2]) / 1000, UTC)


def entries(message: Message) -> list[Notified]:
    """Return the alarms of a message."""
    alarms = json.loads(message.payload)["alarms"]
    return [Notified(entry["event_id"], entry["life"], entry["severity"]) for entry in alarms]


@trials(400)
@given(turns=st.lists(TURNS, min_size=20, max_size=60))
def test_what_lasts_is_told_under_one_key_and_nothing_while_it_is_answered(turns: list[Turn]) -> None:
    with TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        world = World(Path(folder) / "history.sqlite.notify")
        for turn in turns:
            world.act(turn.event, turn.act)
            world.answers = world.answers if not turn.receiver else turn.receiver == "back"
            world.look(turn.death, turn.after)
        world.answers = True
        for _ in range(REST):
            world.look()
        left = {spooled.message.key for spooled in world.spool.messages(WAITING)}
        assert not world.sendable()
        world.spool.close()
    assert [(event, at) for event, at in world.owed if not world.was_told(event, at)] == []
    assert world.told_answered == []
    assert world.ended_untold == []
    assert world.lost == []
    assert {message.key for message in world.received} >= {message.key for message in world.composed} - left
    keys = defaultdict(set)
    for message in world.received:
        if message.status is not Status.ESCALATED:  # that comes again after each acknowledgement that runs out
            for told in entries(message):
                keys[message.route, message.target, message.status, told.life, told.severity].add(message.key)
    assert [told for told, of_it in keys.items() if len(of_it) > 1] == []
