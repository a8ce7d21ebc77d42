"""A notifier that restarts while it holds messages: `python -m notify.restarting FOLDER WEBHOOK ROUNDS`.

Each round is a process of its own, forked from this one, which continues from the spool. Odd rounds end by SIGTERM,
even ones by SIGKILL. The first snapshots of a process know nothing yet, as after a real start. Many warnings begin in
each turn, so that the allowance holds some of them; most clear while they are held, some while no process lives.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random

import structlog

from livedeck.monitor import Alarm, ConnectionState, ConnectionStatus, Severity, Snapshot
from livedeck.notify import Notifier, Plan, Route, Spool, Webhook
from notify.dying import Poster
from notify.stage import NOW, alarm

TURN, DEAD_FOR = timedelta(seconds=5), timedelta(seconds=200)
TURNS, UNKNOWN, EACH = 8, 2, 4
"""Turns of a round, how many of them know nothing yet, and the alarms that begin in each turn."""

REST = 600
"""Turns of the last round, in which no alarm begins."""


def moment(number: int, turn: int) -> datetime:
    """Return the time of a turn of a round."""
    return NOW + number * (TURNS * TURN + DEAD_FOR) + turn * TURN


def span(number: int, turn: int, each: int) -> tuple[str, datetime, datetime]:
    """Return the event of an alarm, its onset and its end."""
    lasts = Random(f"{number}/{turn}/{each}").choice((15, 40, 100, 230, 900))
    begin = moment(number, turn)
    return f"event-{number}-{turn}-{each}", begin, begin + timedelta(seconds=lasts)


def present(at: datetime, rounds: int) -> tuple[Alarm, ...]:
    """Return the alarms at a time."""
    spans = [span(number, turn, each) for number in range(rounds) for turn in range(TURNS) for each in range(EACH)]
    return tuple(
        alarm(event, severity=Severity.WARNING, since=begin, changed=begin)
        for event, begin, end in spans
        if begin <= at < end
    )


class Clock:
    """Clock that shows the time of the turn."""

    def __init__(self) -> None:
        self.at = NOW

    def now(self) -> datetime:
        """Return the aware time, in UTC."""
        return self.at

    def monotonic(self) -> float:
        """Return the same time in seconds."""
        return (self.at - NOW).total_seconds()

    async def sleep(self, seconds: float) -> None:
        """Sleep for a thousandth of that time."""
        await asyncio.sleep(seconds / 1000)


async def live(folder: Path, address: str, number: int, rounds: int, say: Callable[[], object]) -> None:
    """Play a round. The last one goes on until everything is over and sent; the others wait for their signal."""
    task, clock = asyncio.current_task(), Clock()
    assert task
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    is_last = number == rounds
    clock.at = moment(number, 0)
    notifier = Notifier(
        Plan((Route("ops", "ops"),)), {"ops": Webhook(Poster(), address)}, Spool(folder / "spool"), clock
    )
    await notifier.open()
    sending = asyncio.create_task(notifier.run())
    with suppress(asyncio.CancelledError):
        for turn in range(REST if is_last else TURNS):
            clock.at = moment(number, turn)
            state = ConnectionState.CONNECTING if turn < UNKNOWN else ConnectionState.OK
            alarms = () if turn < UNKNOWN else present(clock.at, rounds)
            await notifier.take(Snapshot(1, clock.at, ConnectionStatus(state, NOW, as_of=clock.at), alarms=alarms))
            while notifier.waiting:  # noqa: ASYNC110  it has no event
                await asyncio.sleep(0.001)
        say()
        if not is_last:
            await sending
    sending.cancel()
    await notifier.close()


def main(folder: Path, address: str, rounds: int) -> None:
    """Play all rounds. Prints the number of entries that are held at each restart."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    for number in range(rounds + 1):
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                asyncio.run(live(folder, address, number, rounds, partial(os.write, write, b".")))
                code = 0
            finally:
                os._exit(code)
        os.close(write)
        is_played = os.read(read, 1) == b"."
        os.close(read)
        if number < rounds:
            os.kill(pid, signal.SIGTERM if number % 2 else signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        assert is_played
        assert status in {0, -signal.SIGKILL}
        spool = Spool(folder / "spool", reads=True)
        held = spool.state(moment(number, TURNS)).held.values()
        sys.stdout.write(f"{sum(map(len, held))}\n")
        spool.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
