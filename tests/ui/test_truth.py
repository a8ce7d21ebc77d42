"""Every sentence of every screen against the records of the simulated platform, at random moments of a scenario.

`pytest -n 0 -s -m "slow or not slow" tests/ui/test_truth.py` reads the screens of 128 moments, and prints how many
sentences were checked, and the forms of those that were not.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

import pytest

import ui.truth_sentences  # noqa: F401  its rules read the sentences
from breadth import slow_rows
from ui.truth import Reader, Sheet
from ui.truth_stage import watching

SIZES = ((80, 24), (120, 40), (200, 60))
SCREENS = (["2"], ["3"], ["4"], ["5"], ["6"], ["7", "right_square_bracket"], ["question_mark"])
LEAST_SHARE = 0.85
"""Share of the sentences with a number or a state that are checked."""


class Show(NamedTuple):
    """A scenario, or the demo's workspace without one, and the seconds that it is watched."""

    scenario: str | None
    seconds: float


NIGHT, OUTAGE, CALM = Show("bad-night", 765), Show("platform-outage", 220), Show("clean-show", 540)
EVENING = Show(None, 600)


async def read(show: Show, seed: int, moments: int) -> Sheet:
    """Return what was read on every screen at so many random moments of a show, each at a random size."""
    sheet, chance = Sheet(), Random(f"{show.scenario} {seed}")
    async with watching(show.scenario, seed) as watch:
        for time in sorted(chance.uniform(5, show.seconds) for _ in range(moments)):
            await watch.advance_to(time)
            await watch.resize(chance.choice(SIZES))
            rows, board = ["home", *["down"] * chance.randrange(4)], None
            for keys in (["7", *rows], ["1", *rows], *SCREENS):
                await watch.pilot.press(*keys)
                await watch.settle()
                columns, lines = watch.deck.size
                place = f"{show.scenario} at {time:.0f} s, keys {' '.join(keys)}, {columns}x{lines}"
                reader = Reader(watch.text(), watch.records, sheet, place, board)
                reader.read()
                board = reader.chips if board is None else board
            await watch.pilot.press("escape", "left_square_bracket")
    return sheet


@pytest.mark.parametrize(
    ("show", "seed", "moments"),
    [
        (OUTAGE, 1, 1),
        (NIGHT._replace(seconds=200), 1, 1),
        (CALM._replace(seconds=100), 1, 1),
        *slow_rows((NIGHT, 7, 34), (OUTAGE, 7, 33), (CALM, 7, 33), (EVENING, 7, 25)),
    ],
    ids=lambda value: value.scenario or "evening" if isinstance(value, Show) else str(value),
)
async def test_every_sentence_that_is_read_is_true(show: Show, seed: int, moments: int) -> None:
    sheet = await read(show, seed, moments)
    print(sheet.summary())  # noqa: T201  what a person who runs the thorough run wants to know
    assert sheet.untrue == []
    assert sheet.share >= LEAST_SHARE


def test_a_sentence_that_no_rule_reads_is_counted_and_not_taken_for_true() -> None:
    sheet = Sheet()
    sheet.unread["99 of 99 pigeons"] += 1
    assert sheet.share == 0.0
