"""Golden pictures of the Videos screens: sizes, themes, and the states in which a list must not look fine.

Renewed with `--snapshot-update`; look at each picture that changed before you keep it.
"""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from livedeck.ui.widgets.thumbnail import Thumbnail
from ui.cinema import asked, opened
from ui.writing import Stage, writing

PARTS = ("videos", "posters", "subtitles", "annotations", "materials", "cues")
LARGE = ((120, 40), (200, 60))


async def still(stage: Stage) -> None:
    """In the theme of all pictures, whatever terminal the tests run in."""
    stage.deck.theme = "dark"
    await stage.settle()


@pytest.mark.parametrize("part", PARTS)
async def test_a_part(picture: SnapshotAssertion, part: str) -> None:
    """In the smallest size in three themes, and in the others in the dark one, from one deck."""
    async with writing((120, 40)) as stage:
        await opened(stage, "subtitles" if part == "cues" else part)
        if part == "cues":
            stage.deck.do("subtitle.read")
            await stage.settle()
            await asked(stage)
        await stage.pilot.resize_terminal(80, 24)
        for theme in ("light", "mono", "dark"):
            stage.deck.theme = theme
            await stage.settle()
            if part == "posters" and theme != "mono":
                await stage.until(lambda: stage.deck.screen.query_one(Thumbnail).display)
                await stage.settle()
            assert stage.picture() == picture(name=f"80x24-{theme}")
        for size in LARGE:
            await stage.pilot.resize_terminal(*size)
            await stage.settle()
            assert stage.picture() == picture(name=f"{size[0]}x{size[1]}-dark")


async def test_rows_that_were_moved_and_not_sent(picture: SnapshotAssertion) -> None:
    async with writing((80, 24)) as stage:
        await opened(stage, "subtitles")
        stage.deck.do("order.later")
        await still(stage)
        assert stage.picture() == picture


async def test_a_list_that_could_not_be_asked_for(picture: SnapshotAssertion) -> None:
    async with writing((80, 24)) as stage:
        await opened(stage, "annotations")
        await stage.fault(kind="drop", method="GET", path="*/annotations")
        stage.deck.do("app.ask")
        await stage.until(lambda: bool(stage.deck.library.known("annotations").why))
        await still(stage)
        assert stage.picture() == picture


async def test_a_list_that_never_came_is_no_empty_list(picture: SnapshotAssertion) -> None:
    async with writing((80, 24)) as stage:
        await stage.fault(kind="drop", method="GET", path="*/annotations")
        await opened(stage, "annotations")
        assert "no annotation" not in stage.text()
        await still(stage)
        assert stage.picture() == picture


async def test_read_only(picture: SnapshotAssertion) -> None:
    async with writing((80, 24), read_only=True) as stage:
        await opened(stage, "subtitles")
        await still(stage)
        assert stage.picture() == picture


async def test_the_form_of_a_subtitle_file(picture: SnapshotAssertion) -> None:
    async with writing((80, 24)) as stage:
        await opened(stage, "subtitles")
        await stage.act("subtitle.upload")
        await stage.enter("~/evening.uk.vtt")
        await stage.press("tab")
        await stage.enter("xx")
        await still(stage)
        assert stage.picture() == picture
