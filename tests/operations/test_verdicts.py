"""No verdict without evidence: the verdict after a lost reply is true, whatever the reply was and whenever it lands."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

from livedeck.operations.catalogue import OPERATIONS
from operations.lost_answers import ALL_CELLS, CHANGES, HAPPENED, Cell, covering_cells, play


def test_every_operation_is_in_the_matrix() -> None:
    assert {name.partition(" ")[0] for name in CHANGES} == set(OPERATIONS)
    assert set(HAPPENED) == set(CHANGES)


@pytest.mark.parametrize("cell", [*covering_cells()], ids=str)
async def test_no_lost_answer_ends_in_a_verdict_that_is_not_so(cell: Cell, tmp_path: Path) -> None:
    assert not (await play(cell, tmp_path / "store.sqlite")).faults()


@pytest.mark.slow
async def test_no_lost_answer_of_the_whole_matrix_ends_in_a_verdict_that_is_not_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Check each change with each reply and landing, with and without a colleague; print the counts."""
    faults, counts = list[str](), Counter[str]()
    for index, cell in enumerate(ALL_CELLS):
        path = tmp_path / f"{index}.sqlite"
        outcome = await play(cell, path)
        path.unlink()
        faults += outcome.faults()
        end = f"{outcome.verdict}, {'it happened' if outcome.happened else 'it did not'}"
        counts[f"{cell.lands:8} {'colleague' if cell.has_colleague else 'alone':10} {end}"] += 1
    with capsys.disabled():
        sys.stdout.writelines(f"\n{count:5}  {what}" for what, count in sorted(counts.items()))
    assert not faults
