"""Every scenario raises exactly the alarms that it expects, in time."""

from __future__ import annotations

import pytest

from golden.limits import complaints
from golden.player import Wire, play
from golden.plays import SEEDS, every_play
from livedeck.monitor.kinds import ALARM_KINDS
from livedeck.monitor.kinds.viewer import VIEWER_RULES
from livedeck.simulator import load_scenario, scenario_names

GUARDS = ("clean-show", "warm-up", "static-picture", "api-5xx", "reordered-samples")
"""Scenarios without a fault that a person should hear of (monitoring.md, "Golden scenarios")."""


@pytest.mark.parametrize(("name", "wire", "seed"), every_play())
def test_a_scenario_raises_exactly_what_it_expects(name: str, wire: Wire, seed: int) -> None:
    assert [*complaints(play(name, seed, wire))] == []


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", GUARDS)
def test_a_guard_raises_nothing_not_even_for_a_parent_to_hide(name: str, seed: int) -> None:
    log = play(name, seed)
    assert (log.scenario.alarms, log.spans) == ((), [])
    assert sum(len(snapshot.bells) for _, snapshot in log.snapshots) == 0


def test_every_kind_of_alarm_can_be_rehearsed() -> None:
    """But for those that are about the machine of the deck, for what takes an hour, and for a platform in kbit/s."""
    raised = {expected.kind for name in scenario_names() for expected in load_scenario(name).alarms}
    of_machine = {
        "HISTORY_FAILED",
        "MACHINE_CLOCK",
        "NOTIFY_FAILING",
        "ENGINE_APART",
        "COLLECTOR_LOST",
        "COLLECTOR_SILENT",
        "OWN_SLOW",
    }
    of_other_platforms = {"LIST_WRONG", "UNIT_UNKNOWN"}  # the simulator lists and counts as the document says
    of_viewers = {*VIEWER_RULES, "CDN", "PROBE_BLIND"}  # they need a probe
    assert raised - of_viewers == {*ALARM_KINDS} - of_machine - of_other_platforms - of_viewers - {"VIDEO_DECAY"}
