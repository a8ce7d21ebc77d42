"""A dialog as it looks in every size and in every theme, each of them once."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from ui.deck_stage import Stage

LOOKS = (((80, 24), "dark"), ((120, 40), "light"), ((200, 60), "mono"))


async def looks(stage: Stage, picture: SnapshotAssertion, name: str) -> None:
    """What stands on the screen now is what was kept under that name."""
    for size, theme in LOOKS:
        await stage.pilot.resize_terminal(*size)
        stage.deck.theme = theme
        assert await stage.steady() == picture(name=f"{name}-{size[0]}x{size[1]}-{theme}")
