"""Golden pictures of the Videos screens: sizes, themes, and the states in which a list must not look fine.

Renewed as performance.md, "Test run", says; look at each picture that changed before you keep it.
"""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from livedeck.cli.screenshots import EVENING
from livedeck.ui.kit.dialogs.confirm import Confirm
from livedeck.ui.kit.dialogs.progress import ProgressDialog
from livedeck.ui.videos.thumbnail import Thumbnail
from ui.cinema import asked, cached, fill, opened, sent
from ui.deck_stage import Stage, deck_stage
from ui.looks import Look, in_each_look, looks
from ui.stage import linked, show
from ui.test_pictures import GREEN
from ui.test_videos import TIMED

PARTS = ("videos", "posters", "subtitles", "annotations", "materials", "cues")
LOOKS = (((80, 24), "mono"), ((120, 40), "dark"), ((200, 60), "light"))
"""Every size once and every theme once, because the drawing of a theme does not depend on the size."""


async def still(stage: Stage) -> None:
    """Set the theme of all pictures, whatever terminal the tests run in."""
    stage.deck.theme = "dark"
    await stage.settle()


async def pictured(stage: Stage) -> None:
    """Show the posters in front, with the thumbnail of the selected one."""
    await stage.until(lambda: stage.deck.screen is stage.deck.screen_stack[0])
    await still(stage)
    await hung(stage, there=True)


async def hung(stage: Stage, *, there: bool) -> None:
    """Wait until the thumbnail is there, or gone in a theme without colours."""
    await stage.until(lambda: (stage.deck.screen.query_one(Thumbnail).picture is not None) is there)
    await stage.settle()


@pytest.mark.parametrize("part", PARTS)
async def test_a_part(picture: SnapshotAssertion, part: str) -> None:
    """In every size and every theme, from one deck."""
    async with deck_stage((120, 40)) as stage:
        await opened(stage, "subtitles" if part == "cues" else part)
        if part == "cues":
            stage.deck.dispatch("subtitle.read")
            await stage.settle()
            await asked(stage)
        for size, theme in LOOKS:
            await stage.pilot.resize_terminal(*size)
            stage.deck.theme = theme
            await stage.settle()
            if part in {"posters", "videos"}:
                await hung(stage, there=theme != "mono")
            assert await stage.steady() == picture(name=f"{size[0]}x{size[1]}-{theme}")


async def test_rows_that_were_moved_and_not_sent(picture: SnapshotAssertion) -> None:
    async with deck_stage((80, 24)) as stage:
        await opened(stage, "subtitles")
        stage.deck.dispatch("order.later")
        await still(stage)
        assert stage.picture() == picture


async def test_a_list_that_could_not_be_asked_for(picture: SnapshotAssertion) -> None:
    async with deck_stage((80, 24)) as stage:
        await opened(stage, "annotations")
        await stage.fault(kind="drop", method="GET", path="**/annotations")
        stage.deck.dispatch("app.ask")
        await stage.until(lambda: bool(cached(stage).error))
        await still(stage)
        assert stage.picture() == picture


async def test_a_list_that_never_came_is_no_empty_list(picture: SnapshotAssertion) -> None:
    async with deck_stage((80, 24)) as stage:
        await stage.fault(kind="drop", method="GET", path="**/annotations")
        await opened(stage, "annotations")
        assert "no annotation" not in stage.text()
        await still(stage)
        assert stage.picture() == picture


async def test_read_only(picture: SnapshotAssertion) -> None:
    async with deck_stage((80, 24), read_only=True) as stage:
        await opened(stage, "subtitles")
        await still(stage)
        assert stage.picture() == picture


async def test_what_nobody_sees_or_cannot_be_believed(picture: SnapshotAssertion) -> None:
    """An empty list, one that is held still, and one that is old."""
    async with deck_stage((80, 24)) as stage:
        video = await opened(stage, "annotations")
        for one in (await stage.api.annotations.list(video)).items:
            await stage.api.annotations.delete(video, one.id)
        stage.deck.dispatch("app.ask")
        await stage.until(lambda: "no annotation" in stage.text())
        await still(stage)
        assert stage.picture() == picture(name="empty")
        stage.deck.dispatch("part.next", "subtitles")
        await stage.settle()
        await asked(stage)
        stage.deck.dispatch("view.freeze")
        await stage.settle()
        assert stage.picture() == picture(name="frozen")
        stage.deck.dispatch("view.freeze")
        await show(stage.deck, stage.pilot, link=linked(stage.deck, as_of=EVENING - timedelta(seconds=31)))
        assert not GREEN & set(re.findall(r"#[0-9a-f]{6}", stage.picture()))
        assert stage.picture() == picture(name="stale")


@in_each_look
async def test_the_dialogs_of_the_videos(picture: SnapshotAssertion, look: Look, tmp_path: Path) -> None:
    odd = tmp_path / "odd.vtt"
    odd.write_text(TIMED)
    async with deck_stage((80, 24)) as stage:
        await opened(stage, "posters")
        await pictured(stage)
        await stage.act("video.find")
        await stage.enter("no-such-video")
        await sent(stage)
        await looks(stage, picture, look, "find")
        await stage.press("escape", "tab", "enter")
        await pictured(stage)
        await stage.act("poster.create")
        await stage.enter("9:99")
        await looks(stage, picture, look, "make")
        await stage.press("escape", "tab", "enter")
        await pictured(stage)
        await stage.act("poster.delete")
        await stage.until(lambda: stage.shows(Confirm))
        await looks(stage, picture, look, "delete")
        await stage.press("escape")
        await stage.act("part.next")
        await asked(stage)
        stage.deck.dispatch("subtitle.upload", "~/evening.uk.vtt")
        await stage.settle()
        await stage.press("tab")
        await stage.enter("xx")
        await looks(stage, picture, look, "upload")
        await stage.press("escape", "tab", "enter")
        stage.deck.dispatch("subtitle.upload", str(odd))
        await stage.settle()
        await stage.press("tab")
        await stage.enter("en")
        await sent(stage)
        await looks(stage, picture, look, "odd")


@in_each_look
async def test_the_dialogs_of_what_is_refused_or_takes_long(picture: SnapshotAssertion, look: Look) -> None:
    async with deck_stage((80, 24)) as stage:
        video = await opened(stage, "subtitles")
        await stage.fault(kind="status", status=400, path="**/subtitles/auto")
        await stage.act("subtitle.recognise")
        await stage.enter("uk aa")
        await sent(stage)
        await looks(stage, picture, look, "language")
        await stage.press("escape", "tab", "enter")
        await stage.clear_faults()
        await stage.act("order.later")
        await stage.api.subtitles.copy(video, (await stage.api.subtitles.list(video)).items[0].id)
        await stage.act("order.send")
        await stage.until(lambda: stage.shows(Confirm))
        await looks(stage, picture, look, "order")
        await stage.press("escape", "escape")
        await stage.act("part.next")
        await asked(stage)
        await fill(stage, "annotation.create", "", "Bar 118", "90", "60")
        await looks(stage, picture, look, "annotation")
        await stage.press("escape", "tab", "enter")
        await stage.act("annotation.delete")
        stage.clock.impatient = True
        await stage.fault(kind="hang", method="DELETE")
        await stage.press("tab", "enter")
        await stage.until(lambda: stage.shows(ProgressDialog))
        await looks(stage, picture, look, "working")
        await stage.press("tab", "enter")
        await stage.idle()
