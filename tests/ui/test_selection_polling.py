"""What is asked about the selection beside the monitor: of a slow platform, too, each thing is asked for once."""

from __future__ import annotations

import asyncio

import pytest

from livedeck.ui.videos.library import library_of
from ui.cinema import opened
from ui.deck_stage import Stage, deck_stage

SELECTED = {"recordings": "videos", "posters": "posters", "subtitles": "subtitles", "annotations": "annotations"}


async def selections(stage: Stage, part: str) -> list[str]:
    """Two that can be selected there, and were not asked about lately."""
    if part != "recordings":
        await opened(stage, part)
        library_of(stage.deck).expire()
        return [video.id for video in library_of(stage.deck).videos()][:2]
    await stage.act("screen.streams")
    shown = stage.deck.displayed()
    assert shown is not None
    return [state.id for state in shown[0].events if state.event.stream][1:3]


def select(stage: Stage, identity: str) -> None:
    """Select that event, or that video."""
    library = library_of(stage.deck)
    library.video = next((video for video in library.videos() if video.id == identity), library.video)
    stage.deck.select_event(identity)


@pytest.mark.parametrize("part", SELECTED)
async def test_a_slow_answer_is_waited_for_though_the_selection_moved_before_it_came(part: str) -> None:
    async with deck_stage() as stage:
        selected = await selections(stage, part)
        answer = asyncio.Event()

        async def held() -> None:
            await answer.wait()

        stage.hooks.append(("GET", held))
        for identity in selected:
            select(stage, identity)
            await stage.settle()
        stage.requests.clear()
        for _ in range(5):
            stage.deck.snapshot_signal.publish(None)
            await stage.settle()
        assert not stage.requests
        answer.set()
        await stage.settle()
        assert not [path for _, path in stage.requests if path.endswith(SELECTED[part])]
