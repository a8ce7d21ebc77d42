"""Actions on the additional materials of a video. The deck stores known materials, because no endpoint lists them."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from livedeck.client import ApiError, Material
from livedeck.monitor import KnownMaterial, Severity, Video
from livedeck.operations.operation import OperationResult
from livedeck.operations.schema import Field, FormResult, FormSchema, FormState, parse_path
from livedeck.ui.shell.context import Action, change
from livedeck.ui.videos.extras import download as save
from livedeck.ui.videos.extras import empty_form, needs_video, run, run_form, selected, typed_entries, video_of

if TYPE_CHECKING:
    from livedeck.operations.diff import ParsedForm
    from livedeck.operations.materials import UploadMaterial
    from livedeck.ui.shell.context import Context

KNOW_FORM = FormSchema((Field("material_id", "Material", hint="id of the material", required=True),), dict)


def upload(ctx: Context, argument: str) -> Awaitable[None]:
    """Upload a file of this machine as a material."""
    return _upload(ctx, video_of(ctx), argument)


async def _upload(ctx: Context, video: Video, typed: str) -> None:
    from livedeck.operations.materials import UPLOAD_FORM, UploadMaterial

    def make(form: ParsedForm[Any]) -> UploadMaterial:
        file = parse_path(form.entries["file"])
        return UploadMaterial(video, file, str(form.entries["title"]).strip() or file.name)

    outcome = await run_form(ctx, empty_form(f"Material of {video.title}", UPLOAD_FORM, "Upload", typed), make)
    if outcome and isinstance(outcome.answer, Material):
        await ctx.monitor.remember_materials(KnownMaterial.of(outcome.answer, video.id, "this deck"))
    elif outcome and outcome.has_happened:
        ctx.announce("the platform sent no id of the material, so it cannot be shown here", Severity.WARNING)


def link(ctx: Context, _: str) -> Awaitable[None] | None:
    """Copy the material's link to the clipboard without showing it. Refuse if the history cannot record the copy."""
    material = selected(ctx, KnownMaterial, "material")
    return _link(ctx, material) if material else None


async def _link(ctx: Context, material: KnownMaterial) -> None:
    from livedeck.operations.materials import material_target

    target = material_target(material)
    try:
        address = await ctx.confirmer.api.materials.link(material.id)
    except ApiError as error:
        ctx.announce(f"link of {target.name}: {error}", Severity.CRITICAL)
        return
    if reason := await ctx.confirmer.audit_local("material.link", target, str(address)):
        ctx.announce(f"link of {target.name} not copied, because that cannot be recorded: {reason}", Severity.WARNING)
        return
    ctx.copy(address.reveal(), f"link of {target.name}, valid for a short time,", in_clear=True)


def download(ctx: Context, argument: str) -> Awaitable[None] | None:
    """Download the file of the material."""
    from livedeck.operations.materials import material_target

    material = selected(ctx, KnownMaterial, "material")
    if material is None:
        return None
    name = material.file_name or material.title or material.id
    address = partial(ctx.confirmer.api.materials.link, material.id)
    return save(ctx, material_target(material), name, address, typed=argument, size=material.size)


def rename(ctx: Context, argument: str) -> Awaitable[None] | None:
    """Rename the material."""
    from livedeck.ui.videos.screen import MaterialsScreen

    material = selected(ctx, KnownMaterial, "material")
    return _rename(ctx, ctx.screen_of(MaterialsScreen).rows(), material, argument) if material else None


async def _rename(ctx: Context, rows: Sequence[KnownMaterial], material: KnownMaterial, typed: str) -> None:
    from livedeck.operations.materials import RENAME_FORM, RenameMaterial, material_target

    title, entered = f"Rename {material_target(material).name}", typed_entries(RENAME_FORM, typed)
    state = FormState(title, RENAME_FORM, {"title": material.title}, entered)
    outcome = await run_form(ctx, state, lambda form: RenameMaterial(material, form.draft))
    if outcome and isinstance(outcome.answer, Material):
        renamed = replace(KnownMaterial.of(outcome.answer, material.video_id, material.source), at=material.at)
        await ctx.monitor.remember_materials(*(renamed if row.id == material.id else row for row in rows))
    elif outcome:
        await _forget_missing(ctx, material, outcome)


def delete(ctx: Context, _: str) -> Awaitable[None] | None:
    """Delete the material for good."""
    material = selected(ctx, KnownMaterial, "material")
    return _delete(ctx, material) if material else None


async def _delete(ctx: Context, material: KnownMaterial) -> None:
    from livedeck.operations.materials import DeleteMaterial

    outcome = await run(ctx, DeleteMaterial(material))
    if outcome.has_happened:
        await ctx.monitor.forget_materials(material.id)
    else:
        await _forget_missing(ctx, material, outcome)


async def _forget_missing(ctx: Context, material: KnownMaterial, outcome: OperationResult) -> None:
    """Forget a material if a read has shown that it does not exist on the platform."""
    if outcome.is_gone:
        await ctx.monitor.forget_materials(material.id)


def know(ctx: Context, argument: str) -> Awaitable[None]:
    """Add a material that another person has uploaded to the list, by its id."""
    return _know(ctx, video_of(ctx), argument)


async def _know(ctx: Context, video: Video, typed: str) -> None:
    state = empty_form(f"Material of {video.title}", KNOW_FORM, "Add")

    async def attempt(result: FormResult) -> str:
        material_id = str(result.entries["material_id"]).strip()
        await ctx.confirmer.api.materials.link(material_id)
        return material_id

    material_id = await ctx.confirmer.try_form(state, attempt, ApiError, typed=typed_entries(KNOW_FORM, typed))
    if material_id is not None:
        material = KnownMaterial(material_id, video.id, at=ctx.clock.now(), source="its id")
        await ctx.monitor.remember_materials(material)


_on_material = partial(Action, screens=("materials",), blocked=needs_video, is_for_now=True)
_material = partial(change, screens=("materials",), blocked=needs_video)

ACTIONS = (
    _material("material.upload", ("n",), "upload", upload, takes="[FILE]", rank=11),
    _on_material("material.download", ("g",), "get", "Download the file", download, takes="[FILE]", rank=12),
    _on_material("material.link", ("l",), "link", "Copy a link to the file, valid for a short time", link, rank=13),
    _material("material.edit", ("e",), "rename", rename, takes="[TITLE]", rank=16),
    _material("material.delete", ("D",), "delete", delete, rank=18),
    _on_material("material.know", (), "by id", "Add a material of this video by its id", know, takes="ID"),
)
