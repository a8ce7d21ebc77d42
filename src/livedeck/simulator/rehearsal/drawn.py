"""Drill drawn from a seed: several shipped drills, each with one fault, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from livedeck.simulator.engine.store import Document
from livedeck.simulator.rehearsal import scenario_file, scenarios
from livedeck.simulator.rehearsal.offsets import offset_of, seconds_of
from livedeck.simulator.rehearsal.scenario import Scenario

LEAST, MOST = 3, 5
"""Smallest and largest number of faults in a drawn drill."""


def draw_drill(seed: int) -> Scenario:
    """Return a drill of `LEAST` to `MOST` faults in the workspace `stage`; the same seed gives the same drill."""
    chance, pool = Random(seed), [*one_fault_drills()]  # noqa: S311  a drill keeps no secret
    table: Document = {"title": f"Random drill, seed {seed}", "seed": seed}
    table |= {name: [] for name in ("steps", "alarms", "answers", "allowed")}
    began = 0.0
    for drill in chance.sample(pool, chance.randint(LEAST, MOST)):
        for name, rows in table.items():
            if isinstance(rows, list):
                rows += [_shifted(row, began) for row in drill.table.get(name, ())]
        began += drill.lasts
    drawn, flaws = scenario_file.draft("random", table | {"lasts": offset_of(began)}, {})
    assert not flaws, flaws
    return drawn


def one_fault_drills() -> Iterator[Scenario]:
    """Yield the shipped drills with a single answer in the workspace `stage`."""
    for name in scenarios.names():
        drill = scenarios.load(name)
        if len(drill.answers) == 1 and drill.workspace == "stage":
            yield drill


def _shifted(row: Mapping[str, Any], seconds: float) -> Document:
    times = {name: row[name] for name in ("at", "since", "until") if name in row}
    return {**row, **{name: offset_of(seconds_of(at) + seconds) for name, at in times.items()}}
