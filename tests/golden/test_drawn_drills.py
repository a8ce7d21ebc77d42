"""A drawn drill raises the alarms of its faults and no others: no fault disturbs the next one."""

from __future__ import annotations

from pathlib import Path

import pytest
import tomlkit

from golden.limits import complaints
from golden.player import play
from livedeck.simulator import draw_drill


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_a_drawn_drill_raises_exactly_what_it_expects(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "random.toml"
    path.write_text(tomlkit.dumps(draw_drill(seed).table), encoding="utf-8")
    assert [*complaints(play(path, seed))] == []
