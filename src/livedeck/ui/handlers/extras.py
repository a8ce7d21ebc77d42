"""What the handlers of everything on a video share: what is selected, frozen as the key is pressed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from livedeck.client import ApiError, Secret, plain_name
from livedeck.monitor import Severity
from livedeck.ui.acts.act import Act, Outcome, Target
from livedeck.ui.dialogs import extra_sheets
from livedeck.ui.dialogs.edits import Change, edits
from livedeck.ui.dialogs.fields import Entries, Sheet
from livedeck.ui.dialogs.form import Blank, Filled, Form
from livedeck.ui.filling import Making, fill
from livedeck.ui.library import Video
from livedeck.ui.performing import Stopped
from livedeck.ui.screens.part import VideoScreen

if TYPE_CHECKING:
    from livedeck.ui.app import Deck

T = TypeVar("T")


def video_of(deck: Deck) -> Video:
    """The selected video: the deck refuses every action that needs one where there is none."""
    assert deck.library.video is not None
    return deck.library.video


def selected(deck: Deck, kind: type[T], noun: str) -> T | None:
    """What the cursor stands on; said where it stands on nothing."""
    one = deck.screen_of(VideoScreen).picked()
    if isinstance(one, kind):
        return one
    deck.tell(f"no {noun} is selected", Severity.WARNING)
    return None


async def perform(deck: Deck, act: Act[Any]) -> Outcome:
    """Take it down the road, and ask for the lists anew."""
    outcome = await deck.desk.perform(act)
    renew(deck)
    return outcome


async def filled(deck: Deck, blank: Blank, act: Making) -> Outcome | None:
    """The same from a form."""
    outcome = await fill(deck, blank, act)
    renew(deck)
    return outcome


def changed(
    deck: Deck, title: str, sheet: Sheet, initial: Entries, act: Callable[[Any, tuple[Change, ...]], Act[object]]
) -> Awaitable[Any]:
    """A form of what there is. `act`: of a draft of what was changed, which is sent and nothing else, and in words."""

    def made(form: Filled) -> Act[object]:
        present = deck.desk.present()
        draft = sheet.draft(sheet.values(form.entries, form.changed, present))
        return act(draft, edits(sheet, initial, form.entries, form.changed, present))

    return filled(deck, Blank(title, sheet, initial), made)


def renew(deck: Deck) -> None:
    """Something may have changed."""
    deck.library.expire()
    deck.news.publish(None)


async def download(
    deck: Deck, target: Target, name: str, link: Callable[[], Awaitable[Secret]], *, typed: str = ""
) -> None:
    """Ask where it goes, and write it there, whole or not at all. `name`: from outside, it leads to no other folder."""
    plain = plain_name(name, target.kind)
    entries: Entries = {"file": typed or str(deck.downloads / plain), "replace": False}
    blank = Blank(f"Download {target.name}", extra_sheets.TARGET, entries, save="Download", fresh=True)
    while True:
        form = await deck.push_screen_wait(Form(blank, deck.clock.monotonic, deck.desk.present))
        if form is None:
            return
        to = deck.downloads / extra_sheets.path_of(form.entries["file"])
        to = to / plain if await asyncio.to_thread(to.is_dir) else to
        try:
            size = await _saved(deck, target, link, to, replace=form.entries["replace"] is True)
        except Stopped:
            deck.tell(f"download of {target.name}: stopped, nothing was kept", Severity.WARNING)
            return
        except ApiError as error:
            blank = replace(blank, entered=form.entries, note=str(error))
            continue
        deck.tell(f"download of {target.name}: {size:,} bytes in {to}")
        await deck.desk.did(f"{target.kind}.download", target, str(to))
        return


async def _saved(deck: Deck, target: Target, link: Callable[[], Awaitable[Secret]], to: Path, *, replace: bool) -> int:
    what = f"download {target.name}"

    async def work(progress: Callable[[int, int | None], None]) -> int:
        return await deck.desk.api.cdn.save(await link(), to, what, replace=replace, progress=progress)

    return await deck.desk.fetch(what, work)
