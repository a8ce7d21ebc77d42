"""Order of the golden tests: tests of one play follow each other, so that a worker plays it once."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the tests of this folder by scenario and seed; the others stay where they are."""
    indexes = [index for index, item in enumerate(items) if item.path.parent == HERE]
    for index, item in zip(indexes, sorted((items[index] for index in indexes), key=_play), strict=True):
        items[index] = item


def _play(item: pytest.Item) -> tuple[str, int]:
    parameters = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    seed = parameters.get("seed")
    return str(parameters.get("name", "")), seed if isinstance(seed, int) else 0
