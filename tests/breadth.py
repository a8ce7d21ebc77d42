"""Breadth: one case of a law is tried for every change, more of the same with `pytest -m slow`."""

from __future__ import annotations

from typing import Any

import pytest


def slow(*cases: Any) -> list[Any]:
    """More cases of one parameter; another stands for them where every change is tried."""
    return [pytest.param(case, marks=pytest.mark.slow) for case in cases]


def slow_rows(*rows: tuple[Any, ...]) -> list[Any]:
    """The same, of several parameters together."""
    return [pytest.param(*row, marks=pytest.mark.slow) for row in rows]
