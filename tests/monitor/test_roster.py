"""What a person does to an alarm counts, whenever it is done."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from livedeck.monitor import AlarmKey, AlarmState, AlarmTransition, Thresholds
from livedeck.monitor.alarms.engine import AlarmEngine
from livedeck.monitor.alarms.faults import MonitorState
from livedeck.monitor.alarms.operator import acknowledge
from monitor.alarm_stage import RULES, WELL, finding, state
from monitor.stage import NOW

KEY = AlarmKey("event-7", "AUDIO_HIGH")


async def test_what_is_done_while_the_alarms_are_stepped_is_not_lost() -> None:
    states = tuple(state(finding("AUDIO_HIGH"), name=f"event-{number}") for number in range(100))
    sight = MonitorState(states, replace(WELL, as_of=NOW), NOW)
    roster = AlarmEngine(Thresholds())
    await roster.step(sight)
    step = asyncio.create_task(roster.step(sight))
    await asyncio.sleep(0)
    assert not step.done()
    assert roster.handle(KEY, lambda alarm: acknowledge(alarm, NOW, RULES), NOW)
    changes, _ = await step
    assert roster.board.alarms[KEY].state is AlarmState.ACKNOWLEDGED
    assert [change.transition for change in changes if change.alarm.key == KEY] == [AlarmTransition.ACKNOWLEDGED]
