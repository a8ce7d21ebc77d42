"""Plays for every change, and the further plays of `pytest -m slow tests/golden`: other seeds, and all over HTTP."""

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
"""Scenarios that every change plays over HTTP: those with faults of the wire itself, and one without."""

OF_VIEWERS = frozenset({"nine", "viewer-faults"})
"""Scenarios with faults of HLS, which only a probe notices. For every change, `tests/simulator` plays them."""

_WIRES: tuple[Wire, ...] = ("in process", "http")


def every_play() -> list[Any]:
    """Return scenario, wire and seed of each play."""
    plays = product(scenario_names(), _WIRES, (FIRST_SEED, *OTHER_SEEDS))
    return [pytest.param(*play, marks=() if _is_quick(*play) else pytest.mark.slow) for play in plays]


def _is_quick(name: str, wire: Wire, seed: int) -> bool:
    return seed == FIRST_SEED and name not in OF_VIEWERS and (wire == "in process" or name in OVER_HTTP)
