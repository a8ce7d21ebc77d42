"""Notifier that is killed again and again: `python -m notify.dying FOLDER WEBHOOK MAIL ROUNDS SEED`.

Each round is a process of its own, forked from this one, which continues from the state of the last one. The alarms
follow random courses (`Course`): they get worse, are acknowledged, come, go and end. The last round lives until all of
them have ended and everything is sent. WEBHOOK: an HTTP address; MAIL: an address of apprise.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import accumulate
from pathlib import Path
from random import Random
from urllib.request import Request, urlopen

import structlog

from livedeck.egress import Egress
from livedeck.monitor import Alarm, ConnectionState, ConnectionStatus, Severity, Snapshot
from livedeck.notify import AppriseTarget, Notifier, Plan, Route, Spool, Target, Webhook
from notify.stage import NOW, acknowledged, alarm

MAX_TURNS = 5
"""Maximum number of turns in a round; afterwards it waits to be killed."""

MAX_LIFE = 0.03
"""Maximum seconds from the last turn of a round to its kill."""

MAX_LENGTH = 25
"""Maximum number of turns that an alarm lasts."""

REST = 40
"""Number of turns of the last round after the end of the last alarm.

Waiting messages are sent in each, until none waits for the rate.
"""

STORM, STORM_EACH, STORM_LENGTH = 55, 40, 10
"""Number of simultaneous alarms, more than a message names; turns between two such storms; turns that one lasts."""

MAILED = ("event-*5",)

ROUTES = (
    Route("ops", "ops", Severity.WARNING, escalate=2, escalate_to="boss"),
    Route("critical", "ops", Severity.CRITICAL, MAILED, escalate=2, escalate_to="mail"),
    Route("mail", "mail", Severity.CRITICAL, MAILED),
)

_MOMENTS = tuple(accumulate(Random(3).choices((20, 60, 150), k=20_000), initial=0))


def moment(turn: int) -> datetime:
    """Return the time of a turn."""
    return NOW + timedelta(seconds=_MOMENTS[turn])


@dataclass(frozen=True)
class Course:
    """Course of an alarm, in turns. It is present from `begin` to `end`, except for a `pause`.

    It is critical from `worse` on, and acknowledged while it is `answered`.
    """

    event: str
    begin: int
    end: int
    worse: int
    answered: range = range(0)
    pause: range = range(0)

    def at(self, turn: int) -> Alarm | None:
        """Return the alarm at a turn, if it is present."""
        if not self.begin <= turn < self.end or turn in self.pause:
            return None
        since = moment(self.onset(turn))
        severity = Severity.CRITICAL if turn >= self.worse else Severity.WARNING
        standing = alarm(self.event, severity=severity, since=since, changed=since)
        if not self.answered or turn < self.answered.start:
            return standing
        at = moment(self.answered.start)
        answered = replace(acknowledged(standing, at), answered_at=at)
        if turn in self.answered:
            return answered
        return replace(answered, state=standing.state, needs_ack=True, changed=moment(self.answered.stop))

    def onset(self, turn: int) -> int:
        """Return the turn since which the alarm is present."""
        return self.pause.stop if self.pause and turn >= self.pause.stop else self.begin


def course(number: int) -> Course:
    """Return the course that begins at a turn."""
    chance = Random(number)
    end = number + chance.randint(1, MAX_LENGTH)
    drawn = Course(f"event-{number}", number, end, number + chance.choice((1, 2, 6, MAX_LENGTH)))
    start = number + chance.randint(1, 8)
    stretch = range(start, start + chance.randint(1, 8))
    if chance.random() < 0.5:
        return replace(drawn, answered=stretch) if stretch.start < end else drawn
    return replace(drawn, pause=stretch) if stretch.stop < end and chance.random() < 0.3 else drawn


def courses(first: int, last: int) -> Iterator[Course]:
    """Yield all courses that begin in these turns."""
    for number in range(max(1, first), last + 1):
        yield course(number)
        if number % STORM_EACH == 5:
            end = number + STORM_LENGTH
            yield from (Course(f"storm-{each}", number, end, end) for each in range(STORM))


class TurnClock:
    """Clock that advances by turns. Its sleeps last a thousandth of their time."""

    def __init__(self) -> None:
        self.turn = 0

    def now(self) -> datetime:
        """Return the time of this turn."""
        return moment(self.turn)

    def monotonic(self) -> float:
        """Return the time of this turn in seconds."""
        return float(_MOMENTS[self.turn])

    async def sleep(self, seconds: float) -> None:
        """Sleep for a thousandth of that time."""
        await asyncio.sleep(seconds / 1000)


class Poster:
    """Sender to the webhook, of the standard library. It names the sending process."""

    status, text, retry_after, body = 200, "", None, b""

    async def __call__(self, method: str, address: str, headers: Mapping[str, str], body: bytes) -> Poster:
        """Send once. Raises OSError if the receiver cannot be reached."""
        request = Request(address, body, {**headers, "X-Process": str(os.getpid())}, method=method)
        await asyncio.to_thread(urlopen, request, timeout=10)
        return self


async def live(folder: Path, targets: Mapping[str, Target], last: int | None, say: Callable[[], object]) -> None:
    """Continue from the last turn: for some more, until killed, or (`last`: no alarm begins later) until all is over.

    `say` is called at the start and after each turn.
    """
    clock = TurnClock()
    clock.turn = last_turn(folder)
    notifier = Notifier(Plan(ROUTES), targets, Spool(folder / "spool"), clock, Random(1))
    await notifier.open()
    sending = asyncio.create_task(notifier.run())
    say()
    for _ in range(MAX_TURNS if last is None else MAX_LENGTH + REST):
        clock.turn += 1
        with (folder / "begun").open("a") as begun:
            begun.write(f"{clock.turn} {os.getpid()}\n")
        await notifier.take(snapshot(clock.turn, clock.turn if last is None else last))
        with (folder / "seen").open("a") as seen:
            seen.write(f"{clock.turn}\n")
        say()
        while last is not None and clock.turn > last + MAX_LENGTH and notifier.waiting:  # noqa: ASYNC110  it has no event
            await asyncio.sleep(0.01)
    if last is None:
        await sending
    sending.cancel()
    await notifier.close()


def turns_begun(folder: Path) -> dict[int, int]:
    """Return all turns, and the process of each."""
    path = folder / "begun"
    lines = path.read_text().splitlines() if path.exists() else []
    return {int(turn): int(process) for turn, process in map(str.split, lines)}


def turns_seen(folder: Path) -> list[int]:
    """Return the turns that are known to be stored.

    A process may have died after it stored a turn and before it said so.
    """
    return [int(line) for line in (folder / "seen").read_text().splitlines()]


def last_turn(folder: Path) -> int:
    """Return the last turn that was begun."""
    return max(turns_begun(folder), default=0)


def snapshot(turn: int, last: int) -> Snapshot:
    """Return a snapshot with the alarms of a turn."""
    standing = [known for each in courses(turn - MAX_LENGTH, min(turn, last)) if (known := each.at(turn))]
    status = ConnectionStatus(ConnectionState.OK, NOW, as_of=moment(turn))
    return Snapshot(1, moment(turn), status, alarms=tuple(standing))


def forked(folder: Path, targets: Mapping[str, Target], last: int | None) -> tuple[int, int]:
    """Fork a process that lives. Returns its id, and a pipe with a byte for each call of `say`."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            asyncio.run(live(folder, targets, last, lambda: os.write(write, b".")))
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    return pid, read


def main(folder: Path, address: str, mail: str, rounds: int, seed: int) -> None:
    """Play all rounds; print the last turn of the killed ones. One in five is killed before its first turn."""
    targets: Mapping[str, Target] = {
        "ops": Webhook(Poster(), f"{address}/ops"),
        "boss": Webhook(Poster(), f"{address}/boss"),
        "mail": AppriseTarget(mail, egress=Egress.of(["127.0.0.1"])),
    }
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    chance = Random(seed)
    for _ in range(rounds):
        pid, said = forked(folder, targets, None)
        if chance.random() < 0.8:
            for _ in range(chance.randint(1, MAX_TURNS)):
                os.read(said, 1)
        time.sleep(chance.random() * MAX_LIFE)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(said)
    last = last_turn(folder)
    sys.stdout.write(f"{last}\n")
    sys.stdout.flush()
    pid, _ = forked(folder, targets, last)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
