"""Long work pauses, and others have their turn."""

from __future__ import annotations

import asyncio

from livedeck.slices import Slices, in_turns


async def test_between_two_slices_others_have_their_turn() -> None:
    heard: list[str] = []

    def work() -> Slices[int]:
        heard.append("first slice")
        yield
        heard.append("second slice")
        return 2

    async def other() -> None:
        heard.append("other")

    task = asyncio.create_task(other())
    assert await in_turns(work()) == 2
    assert heard == ["first slice", "other", "second slice"]
    await task


async def test_work_that_never_pauses_is_done_at_once() -> None:
    def work() -> Slices[str]:
        yield from ()
        return "done"

    assert await in_turns(work()) == "done"
