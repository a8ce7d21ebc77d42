"""What a person does to an alarm counts, whenever it is done."""

from __future__ import annotations

from dataclasses import replace

from livedeck.monitor import AlarmKey, AlarmState, AlarmTransition, Thresholds
from livedeck.monitor.alarms.engine import AlarmEngine
from livedeck.monitor.alarms.faults import MonitorState
from livedeck.monitor.alarms.operator import acknowledge
from monitor.alarm_stage import RULES, WELL, finding, state
from monitor.stage import NOW

KEY = AlarmKey("event-7", "AUDIO_HIGH")


def test_what_is_done_between_two_steps_is_told_with_the_next() -> None:
    state_of_monitor = MonitorState((state(finding("AUDIO_HIGH"), name="event-7"),), replace(WELL, as_of=NOW), NOW)
    engine = AlarmEngine(Thresholds())
    engine.step(state_of_monitor)
    assert engine.handle(KEY, lambda alarm: acknowledge(alarm, NOW, RULES), NOW)
    changes, bells, _ = engine.step(state_of_monitor)
    assert engine.alarms[KEY].state is AlarmState.ACKNOWLEDGED
    assert ([change.transition for change in changes], bells) == ([AlarmTransition.ACKNOWLEDGED], ())
