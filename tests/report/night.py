"""Scenario of the simulator, played on its own clock into a history, with a person at the deck."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, closing
from datetime import timedelta
from pathlib import Path
from random import Random

import livedeck.simulator
from golden.player import START, Clock, Following, _api
from golden.warp import Warp
from livedeck.monitor import ActionRecord, Alarm, AuditOutcome, History, IntentRecord, Monitor, Snapshot
from livedeck.simulator import Simulator, load_scenario

ANNA = "anna@regie:7"
NIGHT = "bad-night"
SCRIPT = Path(livedeck.simulator.__file__).parent / "data" / "scenarios" / f"{NIGHT}.toml"
"""File of the scenario, as its author wrote it."""


def record_night(path: Path) -> None:
    """Play the bad night into a history.

    A person acknowledges each critical alarm after 30 s, writes notes and marks a moment; one message is sent.
    """
    with asyncio.Runner(loop_factory=Warp) as runner:
        runner.run(_record(path))


async def _record(path: Path) -> None:
    clock, chance = Clock(), Random(2)
    history = await History.open(path, clock.now())
    with closing(Simulator(seed=1, clock=Following(clock), scenario=NIGHT)) as simulator:
        async with _api(simulator, "in process", clock, chance) as api:
            monitor = Monitor(api, clock, random=chance, history=history, actor=ANNA)
            person = Person(monitor, history)
            async with aclosing(monitor.snapshots()) as snapshots:
                async for snapshot in snapshots:
                    await person.look(snapshot)
                    if clock.monotonic() >= load_scenario(NIGHT).lasts:
                        break
    await history.close()


class Person:
    """Operator at the deck."""

    def __init__(self, monitor: Monitor, history: History) -> None:
        self._monitor, self._history, self._has_acted = monitor, history, False

    async def look(self, snapshot: Snapshot) -> None:
        """Act once on the critical alarm that has been present for half a minute."""
        for alarm in snapshot.alarms:
            is_due = alarm.kind == "FPS_COLLAPSE" and (snapshot.at - alarm.since).total_seconds() > 30
            if is_due and not self._has_acted:
                self._has_acted = True
                await self._answer(alarm)

    async def _answer(self, alarm: Alarm) -> None:
        await self._monitor.acknowledge(alarm.key)
        await self._monitor.note(alarm.key, "camera 2 runs at half its rate")
        at, target = START + timedelta(seconds=190), alarm.event_id
        await self._history.mark(target, at, "change over to camera 1")
        intent = IntentRecord("i1", at, "event.edit", "edit", "event", target, alarm.subject, "anna", "regie", 7)
        await self._history.record_intent(intent)
        done = ActionRecord(at, "event.edit", "event", target, alarm.subject, AuditOutcome.DONE, intent="i1")
        await self._history.record_action(done)
