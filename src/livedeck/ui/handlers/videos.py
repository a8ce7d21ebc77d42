"""Which video, and which part of it."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import replace
from typing import TYPE_CHECKING

from livedeck.client import ApiError
from livedeck.monitor import Severity
from livedeck.ui.actions.keymap import worded
from livedeck.ui.dialogs import extra_sheets
from livedeck.ui.dialogs.form import Blank, Form
from livedeck.ui.library import PARTS
from livedeck.ui.screens.part import VideoScreen
from livedeck.ui.screens.videos import VideosScreen

if TYPE_CHECKING:
    from livedeck.ui.app import Deck


def next_(deck: Deck, argument: str) -> None:
    """The next part, or the one that is named."""
    _turn(deck, 1, argument)


def previous(deck: Deck, _: str) -> None:
    """The part before."""
    _turn(deck, -1)


def _turn(deck: Deck, step: int, name: str = "") -> None:
    if name and name not in PARTS:
        deck.tell(f"there is no part {name}: {', '.join(PARTS)}", Severity.WARNING)
        return
    part = name or PARTS[(PARTS.index(deck.current_mode) + step) % len(PARTS)]
    if isinstance(deck.screen, VideosScreen):
        deck.screen.choose()
    if part != PARTS[0] and deck.library.video is None:
        deck.tell(worded("no video is selected; {video.find} opens any by its id", deck.keymap), Severity.WARNING)
    else:
        deck.switch_mode(part)


def open_(deck: Deck, _: str) -> None:
    """The posters of the video under the cursor."""
    deck.screen_of(VideoScreen).open()


def find(deck: Deck, argument: str) -> Awaitable[None] | None:
    """Open any video by its id."""
    if deck.api is None:
        deck.tell("this deck was given no way to the platform", Severity.WARNING)
        return None
    return _found(deck, argument)


async def _found(deck: Deck, typed: str) -> None:
    blank = Blank("Open a video", extra_sheets.VIDEO, {"video_id": ""}, save="Open")
    while True:
        if not typed:
            filled = await deck.push_screen_wait(Form(blank, deck.clock.monotonic, deck.desk.present))
            if filled is None:
                return
            typed = str(filled.entries["video_id"]).strip()
        try:
            await deck.library.find(typed)
        except ApiError as error:
            blank = replace(blank, entered={"video_id": typed}, note=str(error))
            typed = ""
        else:
            deck.switch_mode("posters")
            return
