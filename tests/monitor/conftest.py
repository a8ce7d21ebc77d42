"""Fixture of a deck with a stage, closed at the end of its test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any, TypeAlias

import pytest

from monitor.stage import Deck, Stage
from virtual_clock import VirtualClock

Raise: TypeAlias = Callable[..., Deck]


@pytest.fixture
async def deck() -> AsyncIterator[Raise]:
    """Function that makes a deck which watches these events."""
    made: list[Deck] = []

    def make(*events: dict[str, Any], **options: Any) -> Deck:
        made.append(Deck(Stage(VirtualClock(), *events), **options))
        return made[-1]

    yield make
    for opened in made:
        await opened.close()
