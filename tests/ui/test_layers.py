"""A dialog and the screen under it change in the same frame, and both changes are painted."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from textual.geometry import Region

from livedeck.monitor import History
from livedeck.text.segments import StyleRole
from livedeck.ui.kit.lines import LinesWidget
from ui.stage import act, running


async def test_a_change_behind_a_dialog_does_not_lose_a_change_of_the_dialog(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The blinking alarm lies under the remark of the prompt. Its regions come to the dialog as those of a screen."""
    history = await History.open(tmp_path / "history.sqlite", datetime.now(UTC))  # without a file, T is refused
    async with running((80, 24), history=history) as (deck, pilot):
        await act(pilot, "past.go")
        painted, display = set[tuple[int, int]](), deck._display

        def note(screen: Any, update: Any) -> None:
            painted.update((y, x) for y, first, end in getattr(update, "spans", ()) for x in range(first, end))
            display(screen, update)

        monkeypatch.setattr(deck, "_display", note)
        remark = deck.screen.query_one("#remark", LinesWidget)
        refusal, (left, row) = "that is not a time", remark.region.offset
        with deck.batch_update():
            remark.show([[(refusal, StyleRole.WARNING)]])
            deck.screen.refresh(Region(left, row, 4, 1))
            await pilot.pause()
        await pilot.pause()
        assert {(row, left + cell) for cell in range(len(refusal))} <= painted
    await history.close()
