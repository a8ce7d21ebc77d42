"""A handful of the families of shows that detection is measured on (monitoring.md, "Detection"); `python -m
bench.detection` in `tests` plays all of them."""

from __future__ import annotations

import pytest

from bench.detection import measure
from bench.families import CLEAN, FAULTS, IMPOSSIBLE, LIMITS

SEEDS = range(1)
QUIET = ("vbr-scenes", "profile-change", "one-encoder-three-events")
TOLD = ("drop-60s", "audio-out-4-of-30", "starve-30", "mass-drop")


@pytest.mark.parametrize("name", QUIET)
def test_of_a_show_in_which_nothing_is_wrong_nothing_is_told(name: str) -> None:
    table = measure([name], [], SEEDS)
    assert table.clean[0].kinds == {}


@pytest.mark.parametrize("name", TOLD)
def test_what_is_wrong_is_told_in_time(name: str) -> None:
    assert measure([], [name], SEEDS).shortcomings() == []


def test_every_fault_that_can_be_told_has_its_time() -> None:
    assert LIMITS.keys() == FAULTS.keys() - IMPOSSIBLE


@pytest.mark.slow
def test_over_all_families_few_alarms_are_false_and_none_is_missed() -> None:
    table = measure(CLEAN, FAULTS, range(2000, 2004))
    assert table.false_rate <= 0.15
    assert table.critical_rate <= 0.05
    assert not [score.name for score in table.faults if score.missed and score.name not in IMPOSSIBLE]
