"""An action of a person on an alarm counts at any moment."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from costs import check
from counting import calls_of
from livedeck.monitor import AlarmKey, AlarmState, AlarmTransition, Grade, Thresholds
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


def test_ten_times_the_events_with_alarms_are_at_most_eleven_times_the_work() -> None:
    """Also while none of them can be judged, so that each alarm needs the cause of its event."""

    def calls(count: int) -> int:
        names = [f"event-{number}" for number in range(count)]
        seen = tuple(state(finding("AUDIO_HIGH"), name=name) for name in names)
        unjudged = tuple(replace(state(name=name, grade=Grade.STALE), as_of=NOW) for name in names)
        engine, link = AlarmEngine(Thresholds()), replace(WELL, as_of=NOW)
        engine.step(MonitorState(seen, link, NOW))
        found = calls_of(lambda: engine.step(MonitorState(unjudged, link, NOW + timedelta(seconds=5))))
        assert len(engine.alarms) == count
        return found

    check("growth of work at ten times the size", calls(200) / calls(20))
