"""Process that shares a history of alarms with others: a deck, a wall or a follower.

Run as `answering.py FILE NAME deck|reader`: prints `ready`, and then the `uid` of each alarm action that it reads, a
line each. A deck acknowledges one alarm for each line that it reads, and prints `+uid` once the action is stored.
"""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime
from pathlib import Path

from livedeck.monitor import ActionKind, AlarmAction, AlarmKey, History, HistoryReader, Severity

SHARE_SECONDS = 0.2
"""Seconds between two reads of the history; a real deck reads each second."""


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


async def _follow(shared: History | HistoryReader) -> None:
    while True:
        for answer in await shared.new_alarm_actions():
            _say(answer.uid)
        await asyncio.sleep(SHARE_SECONDS)


async def _give(history: History, name: str) -> None:
    kinds = tuple(ActionKind)
    while line := await asyncio.to_thread(sys.stdin.readline):
        now, number = datetime.now(UTC), int(line)
        key, kind = AlarmKey(f"event{number % 7}", "BLACKOUT"), kinds[number % len(kinds)]
        answer = AlarmAction(f"{name}-{number}", key, now, kind, now, f"{name}@regie:1", Severity.CRITICAL)
        history.record_alarm_action(answer)
        await history.flush()
        _say(f"+{answer.uid}")


async def _run(path: Path, name: str, role: str) -> None:
    if role == "reader":
        _say("ready")
        await _follow(HistoryReader(path))
        return
    history = await History.open(path, datetime.now(UTC))
    _say("ready")
    await asyncio.gather(_follow(history), _give(history, name))


if __name__ == "__main__":
    asyncio.run(_run(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
