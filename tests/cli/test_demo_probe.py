"""Demo with a probe: nine events that play, and a scenario that only viewers notice."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from livedeck.cli import main
from livedeck.simulator import load_scenario


@pytest.mark.parametrize(("arguments", "events"), [((), 9), (("--scenario", "clean-show"), 2)])
def test_the_demo_with_a_probe_shows_nine_events_unless_a_scenario_is_named(
    arguments: tuple[str, ...], events: int
) -> None:
    done = CliRunner().invoke(main, ["demo", "--probe", *arguments])
    assert done.exit_code == 0, done.output
    assert f"{events} events, " in done.output


def test_its_encoders_send_well_and_its_faults_are_those_of_viewers() -> None:
    scenario = load_scenario("nine")
    assert scenario.alarms == ()
    assert [step.command for step in scenario.steps] == ["fault"] * 3
