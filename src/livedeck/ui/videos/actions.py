"""Which video, which part of it, and what the actions on its extras share."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from livedeck.client import ApiError, Secret, Subtitle, plain_name
from livedeck.monitor import KnownMaterial, Severity, Video
from livedeck.operations import video_forms
from livedeck.operations import videos as acts
from livedeck.operations.diff import Change, edits
from livedeck.operations.executor import Cancelled
from livedeck.operations.operation import Operation, OperationResult, Target
from livedeck.operations.schema import FieldValues, FormSchema
from livedeck.operations.subtitles import named
from livedeck.ui.kit.dialogs.form import Form, FormResult, FormState
from livedeck.ui.shell.confirmer import OperationFactory, run_form
from livedeck.ui.shell.keymap import worded
from livedeck.ui.videos.library import PARTS
from livedeck.ui.videos.screen import OrderedScreen, SubtitlesScreen, VideosScreen, VideoTab

if TYPE_CHECKING:
    from livedeck.ui.app import Deck


T = TypeVar("T")


def video_of(deck: Deck) -> Video:
    """The selected video: the deck refuses every action that needs one where there is none."""
    assert deck.library.video is not None
    return deck.library.video


def selected(deck: Deck, kind: type[T], noun: str) -> T | None:
    """What the cursor stands on; said where it stands on nothing."""
    one = deck.screen_of(VideoTab).picked()
    if isinstance(one, kind):
        return one
    deck.tell(f"no {noun} is selected", Severity.WARNING)
    return None


async def perform(deck: Deck, act: Operation[Any]) -> OperationResult:
    """Take it down the road, and ask for the lists anew."""
    outcome = await deck.desk.perform(act)
    renew(deck)
    return outcome


async def filled(deck: Deck, blank: FormState, act: OperationFactory) -> OperationResult | None:
    """The same from a form."""
    outcome = await run_form(deck, blank, act)
    renew(deck)
    return outcome


def changed(
    deck: Deck,
    title: str,
    sheet: FormSchema,
    initial: FieldValues,
    act: Callable[[Any, tuple[Change, ...]], Operation[object]],
) -> Awaitable[Any]:
    """A form of what there is. `act`: of a draft of what was changed, which is sent and nothing else, and in words."""

    def made(form: FormResult) -> Operation[object]:
        present = deck.desk.present()
        draft = sheet.draft(sheet.values(form.entries, form.changed, present))
        return act(draft, edits(sheet, initial, form.entries, form.changed, present))

    return filled(deck, FormState(title, sheet, initial), made)


def renew(deck: Deck) -> None:
    """Something may have changed."""
    deck.library.expire()
    deck.news.publish(None)


async def download(
    deck: Deck, target: Target, name: str, link: Callable[[], Awaitable[Secret]], *, typed: str = ""
) -> None:
    """Ask where it goes, and write it there, whole or not at all. `name`: from outside, it leads to no other folder."""
    plain = plain_name(name, target.kind)
    entries: FieldValues = {"file": typed or str(deck.downloads / plain), "replace": False}
    blank = FormState(f"Download {target.name}", video_forms.TARGET, entries, save="Download", fresh=True)
    while True:
        form = await deck.push_screen_wait(Form(blank, deck.clock.monotonic, deck.desk.present))
        if form is None:
            return
        to = deck.downloads / video_forms.path_of(form.entries["file"])
        to = to / plain if await asyncio.to_thread(to.is_dir) else to
        try:
            size = await _saved(deck, target, link, to, replace=form.entries["replace"] is True)
        except Cancelled:
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
    deck.screen_of(VideoTab).open()


def find(deck: Deck, argument: str) -> Awaitable[None] | None:
    """Open any video by its id."""
    if deck.api is None:
        deck.tell("this deck was given no way to the platform", Severity.WARNING)
        return None
    return _found(deck, argument)


async def _found(deck: Deck, typed: str) -> None:
    blank = FormState("Open a video", video_forms.VIDEO, {"video_id": ""}, save="Open")
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


def earlier(deck: Deck, _: str) -> None:
    """The row one up."""
    _shift(deck, -1)


def later(deck: Deck, _: str) -> None:
    """The row one down."""
    _shift(deck, 1)


def _shift(deck: Deck, step: int) -> None:
    why = deck.screen_of(OrderedScreen).shift(step)
    if why:
        deck.tell(why, Severity.WARNING)


def send(deck: Deck, _: str) -> Awaitable[None] | None:
    """The whole order, as it is shown."""
    screen = deck.screen_of(OrderedScreen)
    wanted = screen.order()
    if wanted is None:
        deck.tell("nothing was moved")
        return None
    return _sent(deck, screen, video_of(deck), wanted)


async def _sent(deck: Deck, screen: OrderedScreen, video: Video, wanted: acts.Ids) -> None:
    tracks = isinstance(screen, SubtitlesScreen)
    known: tuple[Subtitle | KnownMaterial, ...] = deck.library.known(screen.MODE).items
    names = {one.id: named(one) if isinstance(one, Subtitle) else one.title or one.id for one in known}
    act = (acts.of_tracks if tracks else acts.of_materials)(
        deck.desk.api, video, wanted, tuple(one.id for one in known), names
    )
    outcome = await perform(deck, act)
    if not outcome.done:
        return
    if not tracks:
        await _kept(deck, known, outcome.answer)
    screen.settle_order(video.id, wanted)
    renew(deck)


async def _kept(deck: Deck, known: tuple[Subtitle | KnownMaterial, ...], order: object) -> None:
    """Remember the order of the materials: nothing else does. Those that were not sent are gone."""
    things = {one.id: one for one in known if isinstance(one, KnownMaterial)}
    ids = [one for one in order if one in things] if isinstance(order, tuple) else [*things]
    await deck.library.shelf.put(things[one] for one in ids)
    await deck.library.shelf.drop([one for one in things if one not in ids])
