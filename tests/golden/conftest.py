"""What is asked of one play stands together, so that a worker plays it once."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the tests of this folder by scenario and seed; the others stay where they are."""
    places = [place for place, item in enumerate(items) if item.path.parent == HERE]
    for place, item in zip(places, sorted((items[place] for place in places), key=_play), strict=True):
        items[place] = item


def _play(item: pytest.Item) -> tuple[str, int]:
    asked = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    seed = asked.get("seed")
    return str(asked.get("name", "")), seed if isinstance(seed, int) else 0
