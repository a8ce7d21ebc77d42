"""What is done with the additional materials of a video. The deck remembers those it made: nothing lists them."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from livedeck.client import ApiError, Material, NotFound
from livedeck.monitor import KnownMaterial, Severity, Video
from livedeck.operations import materials as acts
from livedeck.operations import video_forms
from livedeck.operations.operation import Operation, OperationResult
from livedeck.ui.kit.dialogs.form import Form, FormResult, FormState
from livedeck.ui.shell.action import Action, ConfirmLevel
from livedeck.ui.videos.extras import download as save
from livedeck.ui.videos.extras import filled, needs_video, perform, renew, selected, video_of
from livedeck.ui.videos.library import library_of

if TYPE_CHECKING:
    from livedeck.ui.shell.context import Context


def upload(ctx: Context, argument: str) -> Awaitable[None]:
    """A file of this machine."""
    return _uploaded(ctx, video_of(ctx), argument)


async def _uploaded(ctx: Context, video: Video, typed: str) -> None:
    api, sheet = ctx.desk.api, video_forms.MATERIAL_FILE

    def act(form: FormResult) -> Operation[object]:
        file = video_forms.path_of(form.entries["file"])
        return acts.upload(api, video, file, str(form.entries["title"]).strip() or file.name)

    entered = {"file": typed} if typed else None
    blank = FormState(f"Material of {video.title}", sheet, sheet.blank(), entered, save="Upload")
    outcome = await filled(ctx, blank, act)
    if outcome and isinstance(outcome.answer, Material):
        await library_of(ctx).shelf.put([KnownMaterial.of(outcome.answer, video.id, "this deck")])
        renew(ctx)
    elif outcome and outcome.done:
        ctx.announce("the platform did not say the id of the material: it cannot be shown here", Severity.WARNING)


def link(ctx: Context, _: str) -> Awaitable[None] | None:
    """Its address to the clipboard; it is never shown."""
    one = selected(ctx, KnownMaterial, "material")
    return _linked(ctx, one) if one else None


async def _linked(ctx: Context, one: KnownMaterial) -> None:
    target = acts.target_of(one)
    try:
        address = await ctx.desk.api.materials.link(one.id)
    except ApiError as error:
        ctx.announce(f"link of {target.name}: {error}", Severity.CRITICAL)
        return
    ctx.copy(address.reveal(), f"link of {target.name}, good for a short while,")
    await ctx.desk.did("material.link", target, str(address))


def download(ctx: Context, argument: str) -> Awaitable[None] | None:
    """Its file."""
    one = selected(ctx, KnownMaterial, "material")
    if one is None:
        return None
    api = ctx.desk.api
    return save(
        ctx,
        acts.target_of(one),
        one.file_name or one.title or one.id,
        lambda: api.materials.link(one.id),
        typed=argument,
    )


def rename(ctx: Context, argument: str) -> Awaitable[None] | None:
    """Another title."""
    from livedeck.ui.videos.screen import MaterialsScreen

    one = selected(ctx, KnownMaterial, "material")
    return _renamed(ctx, ctx.screen_of(MaterialsScreen).rows(), one, argument) if one else None


async def _renamed(ctx: Context, things: Sequence[KnownMaterial], one: KnownMaterial, typed: str) -> None:
    api = ctx.desk.api
    blank = FormState(
        f"Rename {acts.target_of(one).name}",
        video_forms.TITLE,
        {"title": one.title},
        {"title": typed} if typed else None,
    )
    outcome = await filled(ctx, blank, lambda form: acts.rename(api, one, str(form.entries["title"])))
    if outcome and isinstance(outcome.answer, Material):
        said = replace(KnownMaterial.of(outcome.answer, one.video_id, one.source), at=one.at)
        await library_of(ctx).shelf.put([said if each.id == one.id else each for each in things])
        renew(ctx)
    elif outcome:
        await _missed(ctx, one, outcome)


def delete(ctx: Context, _: str) -> Awaitable[None] | None:
    """Delete it for good."""
    one = selected(ctx, KnownMaterial, "material")
    return _deleted(ctx, one) if one else None


async def _deleted(ctx: Context, one: KnownMaterial) -> None:
    outcome = await perform(ctx, acts.delete(ctx.desk.api, one))
    if outcome.done:
        await library_of(ctx).shelf.drop([one.id])
        renew(ctx)
    else:
        await _missed(ctx, one, outcome)


async def _missed(ctx: Context, one: KnownMaterial, outcome: OperationResult) -> None:
    """Forget one that turned out not to be there."""
    if isinstance(outcome.error, NotFound):
        await library_of(ctx).shelf.drop([one.id])
        renew(ctx)


def know(ctx: Context, argument: str) -> Awaitable[None]:
    """Take in one that somebody else made."""
    return _known(ctx, video_of(ctx), argument)


async def _known(ctx: Context, video: Video, typed: str) -> None:
    blank = FormState(f"A material of {video.title}", video_forms.KNOWN, {"material_id": ""}, save="Take in")
    while True:
        if not typed:
            form = await ctx.ask(Form(blank, ctx.clock.monotonic, ctx.desk.present))
            if form is None:
                return
            typed = str(form.entries["material_id"]).strip()
        try:
            await ctx.desk.api.materials.link(typed)
        except ApiError as error:
            blank = replace(blank, entered={"material_id": typed}, note=str(error))
            typed = ""
        else:
            await library_of(ctx).shelf.put([KnownMaterial(typed, video.id, at=ctx.clock.now(), source="its id")])
            renew(ctx)
            return


_material = partial(Action, screens=("materials",), blocked=needs_video)


ACTIONS = (
    _material(
        "material.upload",
        ("n",),
        "upload",
        "Put a file beside the video",
        upload,
        confirm=ConfirmLevel.FORM,
        takes="[FILE]",
        rank=11,
    ),
    _material("material.download", ("g",), "get", "Download the file", download, takes="[FILE]", rank=12),
    _material(
        "material.link", ("l",), "link", "Copy an address that downloads the file for a short while", link, rank=13
    ),
    _material(
        "material.rename",
        ("e",),
        "rename",
        "Give the material another title",
        rename,
        confirm=ConfirmLevel.FORM,
        takes="[TITLE]",
        rank=16,
    ),
    _material(
        "material.delete",
        ("D",),
        "delete",
        "Delete the material and its file for good",
        delete,
        confirm=ConfirmLevel.CONFIRM,
        rank=18,
    ),
    _material("material.know", (), "by id", "Take in a material of this video by its id", know, takes="ID"),
)
