"""A drawn drill has three to five faults, a minute or more apart; the seed decides which."""

from __future__ import annotations

from itertools import pairwise

import pytest

from livedeck.simulator import draw_drill
from livedeck.simulator.rehearsal.checking import Source, read_scenario
from livedeck.simulator.rehearsal.drawn import one_fault_drills
from livedeck.simulator.rehearsal.scenario import Scenario

SEEDS = range(40)


def test_the_seed_decides_which_faults_come() -> None:
    tables = [draw_drill(seed).table for seed in SEEDS]
    assert tables == [draw_drill(seed).table for seed in SEEDS]
    assert len({tuple(row["alarm"] for row in table["answers"]) for table in tables}) > len(SEEDS) / 2
    assert {len(table["answers"]) for table in tables} == {3, 4, 5}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_drawn_drill_is_sound_and_its_faults_are_apart(seed: int) -> None:
    drill = draw_drill(seed)
    read_scenario(Source("random", drill.table), {})
    causes = [(answer.alarm.since, answer.alarm.until or drill.lasts) for answer in drill.answers]
    assert all(later - end >= 60 for (_, end), (later, _) in pairwise(causes))


@pytest.mark.parametrize("drill", [*one_fault_drills()], ids=lambda drill: drill.name)
def test_a_fault_that_may_be_drawn_ends_before_the_next_one(drill: Scenario) -> None:
    """Also in the world: the last step of each event undoes the fault."""
    assert all(alarm.until is not None for alarm in drill.alarms)
    last = {step.target: step.arguments.given() for step in drill.steps if step.command != "fault"}
    ended = ({"shape": "clean"}, {"sending": True}, {"restream": "Video share", "connected": True})
    assert all(arguments in ended for arguments in last.values())
