"""Every limit has an effect: half of it and double of it change what a monitor says or asks on some stage.

`tests/hygiene/test_completeness.py` checks that each limit has its stages; these tests play them.
"""

from __future__ import annotations

import pytest

from breadth import slow_rows
from monitor.limit_effects import DEFAULTS, FACTORS, ROWS, changed, differs, shown

CASES = [
    (stage, path, word)
    for path, stages in ROWS.items()
    for stage, word in zip(stages, FACTORS, strict=True)
    if not stage.startswith("(")
]
"""Stage, path of a limit, and which of the two values is tried; the cases of a stage follow each other."""


@pytest.fixture(scope="module")
def by_default() -> dict[str, list[int]]:
    """Return the moments of each stage played so far, with the limits as they are by default."""
    return {}


@pytest.mark.parametrize(
    ("stage", "path", "word"),
    [("fold starve-70", "low_video", "half"), ("fold starve-70", "low_video", "double"), *slow_rows(*sorted(CASES))],
)
def test_half_and_double_of_a_limit_show(by_default: dict[str, list[int]], stage: str, path: str, word: str) -> None:
    rules = changed(path, FACTORS[word])
    assert rules != DEFAULTS, f"{path}: its {word} is the same value"
    before = by_default.get(stage) or by_default.setdefault(stage, shown(stage))
    assert differs(stage, rules, before), f"{stage}: nothing shows {word} of {path}; name another stage"


def test_a_stage_shows_the_same_with_the_same_limits() -> None:
    """Otherwise every limit would seem to have an effect."""
    for stage in ("fold starve-70", "chances 0 1080p 2"):
        assert not differs(stage, DEFAULTS, shown(stage))
