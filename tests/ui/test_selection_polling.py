"""Polls of a selected object: each list is requested once, also from a slow platform."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from livedeck.ui.videos.selection import selection_of
from ui.cinema import asked, opened, videos
from ui.deck_stage import Stage, deck_stage

PATHS = {"recordings": "videos", "posters": "posters", "subtitles": "subtitles", "annotations": "annotations"}


async def selections(stage: Stage, part: str) -> list[str]:
    """Return two objects that can be selected there; the first was not polled since the last refresh."""
    if part != "recordings":
        await opened(stage, part)
        await stage.act("app.ask")  # the screen of videos has asked for both
        await asked(stage)
        return [video.id for video in videos(stage)]
    await stage.act("screen.streams")
    displayed = stage.deck.displayed()
    assert displayed is not None
    return [state.id for state in displayed[0].events if state.event.stream][1:3]


def select(stage: Stage, identity: str) -> None:
    """Select an event or a video."""
    selection = selection_of(stage.deck)
    selection.video = next((video for video in videos(stage) if video.id == identity), selection.video)
    stage.deck.select_event(identity)


@pytest.mark.parametrize("part", PATHS)
async def test_a_slow_answer_is_waited_for_though_the_selection_moved_before_it_came(part: str) -> None:
    async with deck_stage() as stage:
        first, second = await selections(stage, part)
        answer = asyncio.Event()

        async def held() -> None:
            await answer.wait()

        def requests() -> Counter[str]:
            return Counter(path for _, path in stage.requests if path.endswith(PATHS[part]))

        stage.requests.clear()
        stage.hooks.append(("GET", held))
        for identity in (first, second, first):
            select(stage, identity)
            await stage.until(lambda: bool(requests()))
            await stage.settle()
        for _ in range(5):
            stage.deck.snapshot_signal.publish(None)
            await stage.settle()
        once = requests()
        assert set(once.values()) == {1}
        answer.set()
        await stage.settle()
        assert requests() == once
