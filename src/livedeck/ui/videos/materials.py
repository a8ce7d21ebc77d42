"""What is done with the additional materials of a video. The deck remembers those it made: nothing lists them."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from livedeck.client import ApiError, Material, NotFound
from livedeck.monitor import KnownMaterial, Severity, Video
from livedeck.operations import materials as acts
from livedeck.operations import video_forms
from livedeck.operations.operation import Operation, OperationResult
from livedeck.ui.kit.dialogs.form import Form, FormResult, FormState
from livedeck.ui.videos.actions import download as save
from livedeck.ui.videos.actions import filled, perform, renew, selected, video_of
from livedeck.ui.videos.screen import MaterialsScreen

if TYPE_CHECKING:
    from livedeck.ui.app import Deck


def upload(deck: Deck, argument: str) -> Awaitable[None]:
    """A file of this machine."""
    return _uploaded(deck, video_of(deck), argument)


async def _uploaded(deck: Deck, video: Video, typed: str) -> None:
    api, sheet = deck.desk.api, video_forms.MATERIAL_FILE

    def act(form: FormResult) -> Operation[object]:
        file = video_forms.path_of(form.entries["file"])
        return acts.upload(api, video, file, str(form.entries["title"]).strip() or file.name)

    entered = {"file": typed} if typed else None
    blank = FormState(f"Material of {video.title}", sheet, sheet.blank(), entered, save="Upload")
    outcome = await filled(deck, blank, act)
    if outcome and isinstance(outcome.answer, Material):
        await deck.library.shelf.put([KnownMaterial.of(outcome.answer, video.id, "this deck")])
        renew(deck)
    elif outcome and outcome.done:
        deck.tell("the platform did not say the id of the material: it cannot be shown here", Severity.WARNING)


def link(deck: Deck, _: str) -> Awaitable[None] | None:
    """Its address to the clipboard; it is never shown."""
    one = selected(deck, KnownMaterial, "material")
    return _linked(deck, one) if one else None


async def _linked(deck: Deck, one: KnownMaterial) -> None:
    target = acts.target_of(one)
    try:
        address = await deck.desk.api.materials.link(one.id)
    except ApiError as error:
        deck.tell(f"link of {target.name}: {error}", Severity.CRITICAL)
        return
    deck.copy(address.reveal(), f"link of {target.name}, good for a short while,")
    await deck.desk.did("material.link", target, str(address))


def download(deck: Deck, argument: str) -> Awaitable[None] | None:
    """Its file."""
    one = selected(deck, KnownMaterial, "material")
    if one is None:
        return None
    api = deck.desk.api
    return save(
        deck,
        acts.target_of(one),
        one.file_name or one.title or one.id,
        lambda: api.materials.link(one.id),
        typed=argument,
    )


def rename(deck: Deck, argument: str) -> Awaitable[None] | None:
    """Another title."""
    one = selected(deck, KnownMaterial, "material")
    return _renamed(deck, deck.screen_of(MaterialsScreen).rows(), one, argument) if one else None


async def _renamed(deck: Deck, things: Sequence[KnownMaterial], one: KnownMaterial, typed: str) -> None:
    api = deck.desk.api
    blank = FormState(
        f"Rename {acts.target_of(one).name}",
        video_forms.TITLE,
        {"title": one.title},
        {"title": typed} if typed else None,
    )
    outcome = await filled(deck, blank, lambda form: acts.rename(api, one, str(form.entries["title"])))
    if outcome and isinstance(outcome.answer, Material):
        said = replace(KnownMaterial.of(outcome.answer, one.video_id, one.source), at=one.at)
        await deck.library.shelf.put([said if each.id == one.id else each for each in things])
        renew(deck)
    elif outcome:
        await _missed(deck, one, outcome)


def delete(deck: Deck, _: str) -> Awaitable[None] | None:
    """Delete it for good."""
    one = selected(deck, KnownMaterial, "material")
    return _deleted(deck, one) if one else None


async def _deleted(deck: Deck, one: KnownMaterial) -> None:
    outcome = await perform(deck, acts.delete(deck.desk.api, one))
    if outcome.done:
        await deck.library.shelf.drop([one.id])
        renew(deck)
    else:
        await _missed(deck, one, outcome)


async def _missed(deck: Deck, one: KnownMaterial, outcome: OperationResult) -> None:
    """Forget one that turned out not to be there."""
    if isinstance(outcome.error, NotFound):
        await deck.library.shelf.drop([one.id])
        renew(deck)


def know(deck: Deck, argument: str) -> Awaitable[None]:
    """Take in one that somebody else made."""
    return _known(deck, video_of(deck), argument)


async def _known(deck: Deck, video: Video, typed: str) -> None:
    blank = FormState(f"A material of {video.title}", video_forms.KNOWN, {"material_id": ""}, save="Take in")
    while True:
        if not typed:
            form = await deck.push_screen_wait(Form(blank, deck.clock.monotonic, deck.desk.present))
            if form is None:
                return
            typed = str(form.entries["material_id"]).strip()
        try:
            await deck.desk.api.materials.link(typed)
        except ApiError as error:
            blank = replace(blank, entered={"material_id": typed}, note=str(error))
            typed = ""
        else:
            await deck.library.shelf.put([KnownMaterial(typed, video.id, at=deck.clock.now(), source="its id")])
            renew(deck)
            return
