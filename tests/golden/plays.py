"""What is played for every change, and what `pytest -m slow tests/golden` plays besides: other seeds, all over HTTP."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from breadth import slow
from golden.player import Wire
from livedeck.simulator import scenario_names

FIRST_SEED, OTHER_SEEDS = 1, (2, 3)
SEEDS = (FIRST_SEED, *slow(*OTHER_SEEDS))

OVER_HTTP = frozenset({"api-dead", "broken-json", "encoder-drop-inside-window", "platform-outage", "slow-api"})
"""Played over HTTP for every change: the wire itself fails there, and one where it does not."""

OF_VIEWERS = frozenset({"nine", "viewer-faults"})
"""Faults of HLS, which no deck without a probe notices: for every change, `tests/simulator` plays them."""

_WIRES: tuple[Wire, ...] = ("in process", "http")


def every_play() -> list[Any]:
    """Scenario, wire and seed of each."""
    plays = product(scenario_names(), _WIRES, (FIRST_SEED, *OTHER_SEEDS))
    return [pytest.param(*play, marks=() if _is_quick(*play) else pytest.mark.slow) for play in plays]


def _is_quick(name: str, wire: Wire, seed: int) -> bool:
    return seed == FIRST_SEED and name not in OF_VIEWERS and (wire == "in process" or name in OVER_HTTP)
