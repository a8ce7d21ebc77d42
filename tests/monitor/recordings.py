"""Made-up data for a history, and a process that records until it is killed.

Run as `recordings.py FILE fault` by a user with few rights: prints the fault that the history reports.

Run as `recordings.py FILE ROUNDS`: in each round a child process records into FILE, prints after each tick the number
of safe samples, and is killed at a random moment. Prints the last number of each round as JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal as signals
import sqlite3
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from livedeck.monitor import (
    AlarmChange,
    BroadcastState,
    ConnectionState,
    ConnectionStatus,
    EventState,
    HealthAssessment,
    History,
    Phase,
    QosState,
    Reading,
    Readings,
    Snapshot,
)
from livedeck.monitor.signal.series import merge
from monitor.stage import model, samples

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ROUND = 1000
"""Maximum number of samples of a round, and seconds from one round to the next."""


def readings(rows: Iterable[Reading]) -> Readings:
    """Return rows in the form of the monitor."""
    return merge(Readings(), samples(rows))


def ticking(count: int, *, start: float = 0.0, every: float = 2.0) -> list[Reading]:
    """Return `count` samples from `start` seconds after NOW on, no two alike."""
    first = NOW.timestamp() + start
    return [Reading(first + every * index, 4e6 + index, 128e3 - index, 29.97, 0) for index in range(count)]


def snapshot(
    streams: Mapping[str, Readings],
    at: float = 0.0,
    changes: tuple[AlarmChange, ...] = (),
    link: ConnectionStatus | None = None,
) -> Snapshot:
    """Return a snapshot `at` seconds from NOW: event `one` has stream `stream-one` with these samples, and so on."""
    now = NOW + timedelta(seconds=at)
    states = [
        EventState(
            model(event_id=name), now, Phase(BroadcastState.ON_AIR), QosState(readings=known), HealthAssessment()
        )
        for name, known in streams.items()
    ]
    return Snapshot(0, now, link or ConnectionStatus(ConnectionState.OK, NOW), tuple(states), changes=changes)


async def everything(history: History, event_id: str = "one") -> list[Reading]:
    """Return all samples of the event's stream."""
    return await newest(history, -1, 4e9, event_id)


async def newest(history: History, count: int, until: float, event_id: str = "one") -> list[Reading]:
    """Return the newest `count` samples up to a time (epoch s)."""
    recorded = await history.recorded({event_id: f"stream-{event_id}"}, until, newest=count)
    found = recorded[event_id].readings if event_id in recorded else Readings()
    return [found[index] for index in range(len(found))]


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock the file as another program during the block."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        yield
        other.execute("ROLLBACK")


async def _record(path: Path, turn: int) -> None:
    """Record tick by tick, without an end. Each reply repeats the previous samples, like those of the platform."""
    history = await History.open(path, NOW)
    rows = ticking(ROUND, start=turn * ROUND, every=0.5)
    for count in range(1, ROUND):
        await history.append(snapshot({"one": readings(rows[:count])}, turn * ROUND))
        await history.flush()
        sys.stdout.write(f"{count} {history.fault}\n")
        sys.stdout.flush()


def _killed(path: Path, turn: int, random: Random) -> int:
    """Return the number of samples that a child reported as safe before it was killed."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(writing, sys.stdout.fileno())
        asyncio.run(_record(path, turn))
    os.close(writing)
    safe, enough = 0, random.randint(1, 20)
    with os.fdopen(reading, encoding="utf-8") as said:
        while safe < enough:
            safe = int(said.readline())  # a fault behind the number is no number
        os.kill(child, signals.SIGKILL)
        os.waitpid(child, 0)
        return max([safe, *(int(line) for line in said.read().split("\n")[:-1])])  # a line that was cut is none


async def _fault(path: Path | None) -> str:
    """Return the fault that a history reports after it got a snapshot."""
    history = await History.open(path, NOW)
    await history.append(snapshot({"one": readings(ticking(5))}))
    await history.flush()
    fault = history.fault
    await history.close()
    return fault


def _as_nobody() -> None:
    """Become a user with few rights, because root may write everything."""
    if os.geteuid() == 0:
        os.setgid(65534)
        os.setuid(65534)


if __name__ == "__main__" and sys.argv[2] == "fault":
    asyncio.run(_fault(None))  # imports what it needs
    _as_nobody()
    sys.stdout.write(json.dumps(asyncio.run(_fault(Path(sys.argv[1])))))
elif __name__ == "__main__":
    chance = Random(1)
    sys.stdout.write(json.dumps([_killed(Path(sys.argv[1]), turn, chance) for turn in range(int(sys.argv[2]))]))
