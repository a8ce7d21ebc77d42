"""A notifier killed at any moment notifies lasting alarms, unacknowledged ones and ends, each under one key."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fnmatch import fnmatch
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from breadth import slow
from livedeck.monitor import AlarmState, Severity
from livedeck.notify import DEAD, KEPT, SENT, WAITING, Message, Route, Spool, Status
from livedeck.notify.texts import MAX_ALARMS
from notify.dying import MAX_LENGTH, REST, ROUTES, Course, courses, moment, turns_begun, turns_seen
from notify.sinks import Mailbox, Sink, http_sink, smtp_sink
from notify.stage import NOW

ROOT = Path(__file__).parents[2]


class Reader(NamedTuple):
    """Reader of messages: a route and a target."""

    route: str
    target: str


@dataclass(frozen=True)
class Notified:
    """Message with its alarms: the named ones, and by their lives those that it reports as present."""

    reader: Reader
    key: str
    at: datetime
    status: Status
    named: Sequence[dict[str, Any]]
    truncated: int
    standing: frozenset[str] = frozenset()

    @classmethod
    def of(cls, message: Message) -> Notified:
        """Return the message of the spool."""
        body = json.loads(message.payload)
        standing = frozenset(beginning.life for beginning in message.beginnings)
        reader = Reader(message.route, message.target)
        return cls(reader, message.key, message.at, message.status, body["alarms"], body["truncated"], standing)

    @classmethod
    def read(cls, text: bytes) -> Notified:
        """Return the message that a receiver got."""
        body = json.loads(text)
        at, status = datetime.fromisoformat(body["at"]), Status(body["status"])
        return cls(Reader(body["route"], ""), body["id"], at, status, body["alarms"], body["truncated"])

    @property
    def lives(self) -> frozenset[str]:
        """Lives of the named alarms."""
        return frozenset(entry["life"] for entry in self.named)


@dataclass
class Past:
    """Course of the alarms, snapshots of the processes, and messages that were made and known to be taken."""

    last: int
    begun: dict[int, int]
    seen: list[int]
    told: list[Notified]

    @cached_property
    def moments(self) -> list[datetime]:
        """Times of all turns."""
        return [moment(turn) for turn in range(self.last + MAX_LENGTH + REST + 1)]

    @cached_property
    def courses(self) -> dict[str, Course]:
        """Courses by the life of the alarm: its onset names the life, and a pause may begin another one."""
        onsets = [(known, onset) for known in courses(1, self.last) for onset in {known.begin, known.pause.stop}]
        return {life_of(known.event, onset): known for known, onset in onsets if known.at(onset)}

    def turn(self, at: datetime) -> int:
        """Return the turn of a time."""
        return bisect_left(self.moments, at)

    def unanswered_since(self, life: str, turn: int) -> datetime:
        """Return the time since which the alarm of that turn was unacknowledged."""
        known = self.courses[life]
        return moment(known.answered.stop if known.answered and known.answered.start <= turn else known.begin)

    def asks(self, life: str, turn: int) -> bool:
        """Return whether the alarm was present and unacknowledged at that turn."""
        known = self.courses[life].at(turn)
        return known is not None and known.state is AlarmState.UNACKNOWLEDGED

    def may_have_ended_answered(self, life: str) -> bool:
        """Return whether the alarm may have been acknowledged when it was last seen.

        A later turn may have been stored by a process that died before it said so.
        """
        known = self.courses[life]
        seen = [turn for turn in self.seen if known.begin <= turn < known.end]
        return any(turn in known.answered for turn in range(max(seen, default=known.begin), known.end))

    def says(self, reader: Reader, *status: Status) -> list[Notified]:
        """Return the messages to a reader that have one of these statuses."""
        return [told for told in self.told if told.reader == reader and told.status in status]

    def of_one_storm(self, lives: set[str]) -> set[str]:
        """Return these lives and those that began and ended with them: one message counts all alarms of a storm."""
        storms = {self.courses[life].begin for life in lives if life.startswith("storm")}
        return lives | {life for life, known in self.courses.items() if life[:5] == "storm" and known.begin in storms}

    def lasting(self, route: Route) -> set[str]:
        """Return lives that one process saw twice, a group's wait apart, and that stayed unacknowledged.

        Only lives that fit the route.
        """
        stretches = [two for two in pairwise(self.seen) if len({self.begun[turn] for turn in two}) == 1]
        return {
            life
            for life, known in self.courses.items()
            if not known.pause and any(fnmatch(known.event, pattern) for pattern in route.events)
            for first, second in stretches
            if self.asks(life, first) and self.asks(life, second) and not is_answered_after(known, first)
            if route.severity is Severity.WARNING or known.worse <= first
        }

    def late(self, route: Route) -> dict[str, datetime]:
        """Return lives whose escalation is due, and the end of their last acknowledgement.

        Such an alarm was notified, and then nobody acknowledged it for the minutes of the route.
        """
        late = {}
        for told in self.says(Reader(route.name, route.to), Status.FIRING):
            for life in told.standing:
                known = self.courses[life]
                answered_until = moment(known.answered.stop) if known.answered else NOW
                ripe_at = max(told.at, answered_until) + timedelta(minutes=route.escalate)
                ripe = [turn for turn in self.seen if moment(turn) >= ripe_at and self.asks(life, turn)]
                is_final = known.worse >= known.end or told.at >= moment(known.worse)  # told of it as bad as it got
                if is_final and not known.pause and any(not is_answered_after(known, turn) for turn in ripe):
                    late[life] = answered_until
        return late


def life_of(event: str, onset: int) -> str:
    """Return the life of an alarm from that turn on, until its end is notified."""
    return f"{event}/NO_INGEST//{round(moment(onset).timestamp() * 1000)}"


def is_answered_after(known: Course, turn: int) -> bool:
    """Return whether anybody acknowledges the alarm after that turn."""
    return bool(known.answered) and turn < min(known.answered.stop, known.end)


@pytest.mark.parametrize("rounds", [10, *slow(200)])
def test_after_every_kill_everything_is_told_under_one_key(tmp_path: Path, rounds: int) -> None:
    with http_sink() as sink, smtp_sink() as box:
        mail = f"mailto://127.0.0.1:{box.port}/?from=deck@example.org&to=ops@example.org&mode=insecure"
        done = subprocess.run(
            [sys.executable, "-m", "notify.dying", str(tmp_path), sink.address, mail, str(rounds), "7"],
            env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}"},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    last = int(done.stdout)
    spool = Spool(tmp_path / "spool", reads=True)
    sent = {spooled.message.key: spooled.message for spooled in spool.messages(SENT)}
    left = [*spool.messages(WAITING), *spool.messages(DEAD)]
    end = moment(last + MAX_LENGTH + REST)
    state = spool.state(end)
    spool.close()
    assert end - NOW < KEPT  # nothing that was sent is forgotten
    assert (left, state.lives, state.held) == ([], {}, {})
    bodies, mails = posted(sink), mailed(box)
    past = Past(last, turns_begun(tmp_path), turns_seen(tmp_path), [Notified.of(message) for message in sent.values()])
    assert sent.keys() <= {*bodies} | mails
    taken_back = [Notified.read(body) for key, body in bodies.items() if key not in sent]
    assert [told for told in taken_back if not all(map(past.may_have_ended_answered, told.lives))] == []
    assert_one_key(past, [*past.told, *taken_back])
    for told in past.told:
        assert_true(past, told)
    for route in ROUTES:
        assert_all_told(past, Reader(route.name, route.to), past.lasting(route))
        if route.escalate:
            escalated = Reader(route.name, route.escalate_to)
            assert_all_told(past, escalated, {*past.late(route)})
            assert_escalated(past, escalated, past.late(route))
    print(f"{rounds} kills, {last} turns: {figures(past, sink, bodies, box)}; {len(taken_back)} posts taken back")  # noqa: T201


def posted(sink: Sink) -> dict[str, bytes]:
    """Return the posted bodies by key. A repeated message has equal bytes."""
    bodies: dict[str, bytes] = {}
    for request in sink.received:
        key = request.headers["idempotency-key"]
        assert bodies.setdefault(key, request.body) == request.body
    return bodies


def mailed(box: Mailbox) -> set[str]:
    """Return the keys of the mails. A repeated mail has equal words."""
    mails: dict[str, set[str]] = defaultdict(set)
    for came in box.mails:
        words = came.get_body(("plain",))
        assert words is not None
        mails[came["Idempotency-Key"]].add(f"{came['Subject']}\n{words.get_content()}")
    assert [words for words in mails.values() if len(words) > 1] == []
    return {*mails}


def assert_one_key(past: Past, told: Sequence[Notified]) -> None:
    """Check that no reader gets the same news of an alarm under two keys.

    News are: its onset, once for each severity; its escalation, once more after an expired acknowledgement; its end.
    """
    keys = defaultdict[tuple[object, ...], set[str]](set)
    for message in told:
        for entry in message.named:
            known = past.courses[entry["life"]]
            has_run_out = bool(known.answered) and message.at >= moment(known.answered.stop)
            news = {Status.FIRING: entry["severity"], Status.ESCALATED: has_run_out}.get(message.status)
            keys[message.reader, message.status, entry["life"], news].add(message.key)
    assert [same for same, of_it in keys.items() if len(of_it) > 1] == []


def assert_true(past: Past, told: Notified) -> None:
    """Check that a message is true: its present alarms were present and unacknowledged, and its ended ones had ended.

    For an escalation, they were unacknowledged for its minutes. The message counts the alarms that it does not name.
    """
    turn = past.turn(told.at)
    if told.status is Status.RESOLVED:
        over = [past.courses[life] for life in told.lives]
        assert [known for known in over if not known.pause and known.at(turn)] == []
        assert told.truncated == 0 or len(told.named) == MAX_ALARMS
        return
    assert [life for life in told.standing if not past.asks(life, turn)] == []
    assert told.lives <= told.standing
    assert len(told.lives) == len(told.named) == min(len(told.standing), MAX_ALARMS)
    assert told.truncated == len(told.standing) - len(told.named)
    if told.status is Status.ESCALATED:
        minutes = next(timedelta(minutes=route.escalate) for route in ROUTES if route.name == told.reader.route)
        assert [life for life in told.standing if past.unanswered_since(life, turn) > told.at - minutes] == []


def assert_all_told(past: Past, reader: Reader, owed: set[str]) -> None:
    """Check that all owed alarms, and all that were notified as present, are notified as ended, by name or in a count.

    An alarm of which only the end is notified had ended before its onset could be.
    """
    begun = {life for told in past.says(reader, Status.FIRING, Status.ESCALATED) for life in told.standing}
    ends = past.says(reader, Status.RESOLVED)
    over = {life for told in ends for life in told.lives}
    unnamed = (begun | past.of_one_storm(over) | owed) - over
    assert len(unnamed) == sum(told.truncated for told in ends), unnamed
    alone = [entry for told in ends for entry in told.named if entry["life"] not in begun]
    assert [entry for entry in alone if not entry["actual"]] == []


def assert_escalated(past: Past, reader: Reader, late: dict[str, datetime]) -> None:
    """Check that unacknowledged alarms are escalated after the last acknowledgement, unless they ended before."""
    told_at = {life: told.at for told in past.says(reader, Status.ESCALATED) for life in told.standing}
    over = {entry["life"] for told in past.says(reader, Status.RESOLVED) for entry in told.named if entry["actual"]}
    untold = {life for life, since in late.items() if told_at.get(life, NOW) <= since}
    assert untold <= past.of_one_storm(over)


def figures(past: Past, sink: Sink, bodies: dict[str, bytes], box: Mailbox) -> str:
    """Return counts of messages: by status, sent by another process than their maker, and about old alarms."""
    made_by = {told.key: past.begun[past.turn(told.at)] for told in past.told}
    status = {told.key: told.status.value for told in past.told}
    posts = Counter(status[key] for key in bodies if key in status)
    mails = Counter(status[key] for key in {came["Idempotency-Key"] for came in box.mails} if key in status)
    handed = Counter(
        status[key]
        for key in {
            request.headers["idempotency-key"]
            for request in sink.received
            if int(request.headers["x-process"]) != made_by.get(request.headers["idempotency-key"], 0)
        }
        if key in status
    )
    first = dict[tuple[str, str], int]()
    later = Counter[str]()
    for told in past.told:
        process = made_by[told.key]
        before = {first.setdefault((told.reader.route, life), process) for life in told.lives | told.standing}
        later[told.status.value] += bool(before - {process})
    repeats = len(sink.received) - len(bodies), len(box.mails) - len({came["Idempotency-Key"] for came in box.mails})
    return (
        f"posts {dict(posts)}, mails {dict(mails)}, sent by a later process {dict(handed)}, "
        f"of what an earlier process had told {dict(later)}, repeats {repeats}"
    )
