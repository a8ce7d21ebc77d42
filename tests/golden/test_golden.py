"""Every scenario raises exactly the alarms that it expects, in time: one seed here, three in the slow command."""

from __future__ import annotations

import pytest

from golden.limits import complaints
from golden.player import Wire, play
from livedeck.monitor.kinds import ALARM_KINDS
from livedeck.simulator import load_scenario, scenario_names

SEEDS = (1, 2, 3)
PLAYS: tuple[tuple[Wire, int], ...] = (("in process", SEEDS[0]), ("http", SEEDS[0]))
SLOW_PLAYS: tuple[tuple[Wire, int], ...] = tuple((wire, seed) for wire in ("in process", "http") for seed in SEEDS[1:])
GUARDS = ("clean-show", "warm-up", "static-picture", "api-5xx", "reordered-samples")
"""Where nothing is wrong that a person should hear of (monitoring.md, "Golden scenarios")."""


@pytest.mark.parametrize(
    ("wire", "seed"), [*PLAYS, *(pytest.param(*slow_play, marks=pytest.mark.slow) for slow_play in SLOW_PLAYS)]
)
@pytest.mark.parametrize("name", scenario_names())
def test_a_scenario_raises_exactly_what_it_expects(name: str, wire: Wire, seed: int) -> None:
    assert [*complaints(play(name, seed, wire))] == []


@pytest.mark.parametrize("seed", [SEEDS[0], *(pytest.param(seed, marks=pytest.mark.slow) for seed in SEEDS[1:])])
@pytest.mark.parametrize("name", GUARDS)
def test_a_guard_raises_nothing_not_even_for_a_parent_to_hide(name: str, seed: int) -> None:
    log = play(name, seed)
    assert (log.scenario.alarms, log.spans) == ((), [])
    assert sum(snapshot.bells for _, snapshot in log.snapshots) == 0


def test_every_kind_of_alarm_can_be_rehearsed() -> None:
    """But for two that are about the machine of the deck, its disk and its clock, for what takes an hour, and for late
    metrics."""
    raised = {expected.kind for name in scenario_names() for expected in load_scenario(name).alarms}
    assert raised == {*ALARM_KINDS} - {"HISTORY_FAILED", "MACHINE_CLOCK", "VIDEO_DECAY", "METRICS_LATE"}
