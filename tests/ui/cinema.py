"""Videos screens on a stage: a part of the rehearsal's recording, as the platform has it and as it is shown."""

from __future__ import annotations

from typing import Any

from livedeck.cli.screenshots import is_answered
from livedeck.monitor import CachedList, Video
from livedeck.ui.videos.screen import VideoTab
from livedeck.ui.videos.selection import selection_of
from ui.deck_stage import Stage

REHEARSAL = "Rehearsal Tuesday"


async def opened(stage: Stage, part: str) -> str:
    """Open a part of the rehearsal's recording and wait until it is painted. Returns the id of the video."""
    stage.deck.dispatch("screen.videos")
    await stage.settle()
    await asked(stage)
    await stage.act("row.last")
    video = selection_of(stage.deck).video
    assert video is not None
    assert video.title == REHEARSAL
    stage.deck.dispatch("part.next", part)
    await stage.settle()
    await asked(stage)
    return video.id


async def asked(stage: Stage) -> None:
    """Wait until the list in front is received and painted."""
    await stage.until(lambda: is_answered(stage.deck))
    await stage.settle()


def cached(stage: Stage) -> CachedList[Any]:
    """Return the list of the open part, whatever dialog is over it."""
    return next(screen for screen in stage.deck.screen_stack if isinstance(screen, VideoTab)).cached()


def videos(stage: Stage) -> tuple[Video, ...]:
    """Return the videos that can be selected."""
    displayed = stage.deck.displayed()
    return selection_of(stage.deck).videos(displayed[0], stage.deck.selected_event()) if displayed else ()


async def agree(stage: Stage) -> None:
    """Press the confirming button, and wait until the change is done and shown."""
    await stage.press("tab", "enter")
    await done(stage)


async def fill(stage: Stage, action: str, *typed: str) -> None:
    """Open the form of an action, type texts into its fields in order, and send it."""
    await stage.act(action)
    for text in typed:
        await stage.enter(text)
        await stage.press("tab")
    await sent(stage)


async def sent(stage: Stage) -> None:
    """Send the form unchanged, and wait until the change is done and shown."""
    await stage.press("ctrl+s")
    await done(stage)


async def done(stage: Stage) -> None:
    """Wait until no action is in progress and the list is received again."""
    await stage.idle()
    if not stage.deck.screen.is_modal:
        await asked(stage)


def words(stage: Stage) -> str:
    """Return the words on the screen as one line, without frames and line breaks."""
    return " ".join(stage.text().replace("│", " ").split())


async def said(stage: Stage, text: str) -> None:
    """Wait until a text is on the screen."""
    await stage.until(lambda: text in words(stage))
