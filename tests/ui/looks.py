"""Dialog in every size and in every theme, each of them once."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from breadth import slow
from ui.deck_stage import Stage

Look = tuple[tuple[int, int], str]

FIRST: Look = ((80, 24), "dark")
"""Size with the least room for a dialog, and a theme."""

OTHERS: tuple[Look, ...] = (((120, 40), "light"), ((200, 60), "mono"))


def _name(look: Look) -> str:
    (columns, rows), theme = look
    return f"{columns}x{rows}-{theme}"


in_each_look = pytest.mark.parametrize("look", [FIRST, *slow(*OTHERS)], ids=_name)


async def looks(stage: Stage, picture: SnapshotAssertion, look: Look, name: str) -> None:
    """Check that the screen, in that size and theme, equals the picture stored under a name."""
    size, stage.deck.theme = look
    await stage.pilot.resize_terminal(*size)
    await stage.steady()  # another size may ask for a larger picture, which a child process decodes
    await stage.until(lambda: all(worker.is_finished for worker in stage.deck.workers if worker.group == "picture"))
    assert await stage.steady() == picture(name=name)
