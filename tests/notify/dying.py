"""A notifier that is killed again and again: `python -m notify.dying FOLDER WEBHOOK MAIL ROUNDS SEED`.

Each round is a process of its own, forked from this one, which goes on from what the last one left: a new alarm begins
with every turn, and lasts half an hour; every fifth is acknowledged meanwhile. The last round is left alone until
everything is sent. WEBHOOK: an address of HTTP; MAIL: one of apprise.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from urllib.request import Request, urlopen

import structlog

from livedeck.monitor import Alarm, ConnectionState, ConnectionStatus, Severity, Snapshot
from livedeck.notify import AppriseTarget, Notifier, Plan, Route, Spool, Target, Webhook
from notify.stage import NOW, acknowledged, alarm

TURN = timedelta(seconds=30)
LASTS = 60
"""Turns that an alarm stands."""

MAX_LIFE = 0.06
"""Seconds after which a round is killed at the latest."""

ANSWERED_EACH, ANSWERED = 5, range(2, 30)
"""Which alarms are acknowledged, and in which turns after they began."""

ROUTES = (
    Route("ops", "ops", Severity.WARNING),
    Route("critical", "ops", Severity.CRITICAL),
    Route("mail", "mail", Severity.CRITICAL),
)


class TurnClock:
    """Time that goes by turns, and passes for nobody who sleeps but by itself."""

    def __init__(self) -> None:
        self.turn = 0

    def now(self) -> datetime:
        """Of this turn."""
        return NOW + self.turn * TURN

    def monotonic(self) -> float:
        """The same in seconds."""
        return (self.turn * TURN).total_seconds()

    async def sleep(self, seconds: float) -> None:
        """A thousandth of that."""
        await asyncio.sleep(seconds / 1000)


class Poster:
    """The way to the receiver, of the standard library."""

    status, text, retry_after = 200, "", None

    async def __call__(self, method: str, address: str, headers: Mapping[str, str], body: bytes) -> Poster:
        """One try; where nobody answers it is none."""
        await asyncio.to_thread(urlopen, Request(address, body, dict(headers), method=method), timeout=10)
        return self


async def live(folder: Path, targets: Mapping[str, Target], turns: int | None, is_ready: Callable[[], object]) -> None:
    """Go on from the last turn: for ever, or (the last round) for so many turns and until all is sent."""
    clock, counter = TurnClock(), folder / "turn"
    clock.turn = last_turn(folder)
    notifier = Notifier(Plan(ROUTES), targets, Spool(folder / "spool"), clock, Random(1))
    await notifier.open()
    sending = asyncio.create_task(notifier.run())
    is_ready()
    begun = clock.turn
    while turns is None or clock.turn < begun + turns or notifier.waiting_since:
        clock.turn += 1
        (folder / "next").write_text(str(clock.turn))
        (folder / "next").replace(counter)
        await notifier.take(snapshot(clock.turn if turns is None else min(clock.turn, begun), clock.now()))
    sending.cancel()
    await notifier.close()


def last_turn(folder: Path) -> int:
    """The last turn that was begun."""
    counter = folder / "turn"
    return int(counter.read_text()) if counter.exists() else 0


def snapshot(born: int, now: datetime) -> Snapshot:
    """The alarms of all turns so far: every third gets worse in the turn after it began."""
    alarms = [
        alarm(f"event-{turn}", severity=Severity.WARNING, since=NOW + turn * TURN, changed=NOW + turn * TURN)
        for turn in range(max(1, born - LASTS), born + 1)
    ]
    alarms = [
        replace(known, severity=Severity.CRITICAL) if known.event_id[-1] in "369" and index else known
        for index, known in enumerate(reversed(alarms))
    ]
    alarms = [
        acknowledged(known) if turn_of(known) % ANSWERED_EACH == 0 and born - turn_of(known) in ANSWERED else known
        for known in alarms
    ]
    return Snapshot(1, now, ConnectionStatus(ConnectionState.OK, NOW, as_of=now), alarms=tuple(alarms))


def turn_of(known: Alarm) -> int:
    """In which it began."""
    return int(known.event_id.removeprefix("event-"))


def forked(folder: Path, targets: Mapping[str, Target], turns: int | None) -> tuple[int, int]:
    """A process that lives, and a pipe that says when it has begun."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            asyncio.run(live(folder, targets, turns, lambda: os.write(write, b".")))
        finally:
            os._exit(0)
    os.close(write)
    return pid, read


def main(folder: Path, address: str, mail: str, rounds: int, seed: int) -> None:
    """All rounds; prints after which turn the last one began. One in five is killed before it has begun."""
    targets: Mapping[str, Target] = {"ops": Webhook(Poster(), address), "mail": AppriseTarget(mail)}
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    chance = Random(seed)
    for _ in range(rounds):
        pid, ready = forked(folder, targets, None)
        if chance.random() < 0.8:
            os.read(ready, 1)
        time.sleep(chance.random() * MAX_LIFE)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(ready)
    sys.stdout.write(f"{last_turn(folder)}\n")
    sys.stdout.flush()
    pid, _ = forked(folder, targets, 100)
    os.waitpid(pid, 0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
