"""The state of an event to a monitoring system (scripting.md, "Checks")."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from livedeck.monitor import (
    Alarm,
    AlarmState,
    BroadcastState,
    EventState,
    Grade,
    Health,
    HealthAssessment,
    Phase,
    QosState,
    Severity,
    Silenced,
)
from livedeck.presentation.check import ServiceState, check_event
from livedeck.presentation.render_time import RenderTime
from monitor.stage import model

NOW = datetime(2026, 11, 20, 21, 0, tzinfo=UTC)
FAULT = Alarm("one", "FPS_LOW", Severity.WARNING, NOW, "Choir", "fps 22", "fps 30", changed=NOW)


@pytest.mark.parametrize(
    ("grade", "alarms", "found"),
    [
        (Grade.GOOD, (), ServiceState.OK),
        (Grade.FAIR, (), ServiceState.OK),
        (Grade.POOR, (), ServiceState.WARNING),
        (Grade.POOR, (replace(FAULT, severity=Severity.CRITICAL),), ServiceState.CRITICAL),
        (Grade.POOR, (replace(FAULT, present=False),), ServiceState.WARNING),
        (Grade.POOR, (replace(FAULT, state=AlarmState.SHELVED),), ServiceState.OK),
    ],
)
def test_a_poor_health_is_not_ok_unless_somebody_put_its_fault_away(
    grade: Grade, alarms: tuple[Alarm, ...], found: ServiceState
) -> None:
    health = HealthAssessment(Health(45 if grade is Grade.POOR else 95, grade))
    state = EventState(model(id="one"), NOW, Phase(BroadcastState.ON_AIR, NOW), QosState(), health)
    assert check_event(state, alarms, RenderTime(NOW, NOW, stale=False)).state is found


@pytest.mark.parametrize("kind", ["FPS_LOW", "RECONNECTING"])
def test_a_silenced_alarm_has_a_text_and_no_exit_code(kind: str) -> None:
    has_health = kind == "FPS_LOW"
    health = HealthAssessment(Health(45, Grade.POOR) if has_health else Health(None, Grade.NO_DATA))
    state = EventState(model(id="one"), NOW, Phase(BroadcastState.ON_AIR, NOW), QosState(), health)
    covering = Silenced("s-1", NOW + timedelta(hours=7), "encoder swap", "anna@regie:7")
    fault = replace(FAULT, kind=kind, severity=Severity.CRITICAL)
    check = check_event(state, (replace(fault, silenced=covering),), RenderTime(NOW, NOW, stale=False))
    assert check.state is ServiceState.OK
    assert check.text.endswith(f"{kind} silenced until 04:00Z (encoder swap, anna@regie)")
    stale = check_event(
        replace(state, is_stale=True), (replace(fault, silenced=covering),), RenderTime(NOW, NOW, False)
    )
    assert stale.state is ServiceState.UNKNOWN


def test_an_event_whose_rates_have_no_unit_is_unknown_and_the_question_is_asked() -> None:
    health = HealthAssessment(Health(None, Grade.NO_DATA))
    state = EventState(model(id="one"), NOW, Phase(BroadcastState.ON_AIR, NOW), QosState(), health)
    text = 'rates look like kbit/s (2438 / 156): set bitrate_unit = "kbit"'
    asked = Alarm("", "UNIT_UNKNOWN", Severity.WARNING, NOW, "platform", text, "", changed=NOW)
    check = check_event(state, (asked,), RenderTime(NOW, NOW, stale=False))
    assert check.state is ServiceState.UNKNOWN
    assert check.text == f"one: ON AIR, health unknown NO DATA, UNIT_UNKNOWN {text}"
    later = check_event(state, (replace(asked, present=False),), RenderTime(NOW, NOW, stale=False))
    assert "UNIT_UNKNOWN" not in later.text
