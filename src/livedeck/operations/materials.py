"""Operations on the additional materials of a video. No endpoint reads a material, but a link proves that it exists."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from livedeck.client import UPLOAD_CHUNK, NotFound
from livedeck.monitor import KnownMaterial, Video
from livedeck.operations.diff import Change
from livedeck.operations.operation import (
    ConfirmLevel,
    DeleteOperation,
    Operation,
    Platform,
    SendContext,
    Target,
    has_other_id,
    has_other_names,
)
from livedeck.operations.schema import Field, FormSchema
from livedeck.operations.videos import FILE, Ids, Reorder, video_title
from livedeck.text import values

UPLOAD_FORM = FormSchema((FILE, Field("title", "Title", hint="empty: the file name")), dict)


def _title(fields: Mapping[str, Any]) -> str:
    return str(fields["title"])


RENAME_FORM = FormSchema((Field("title", "Title", required=True),), _title)
CONCURRENT_READS = 8


def material_target(material: KnownMaterial) -> Target:
    """Return the target of a change of a material."""
    name = values.safe(material.title or material.file_name or material.id, 60)
    state = f"a file of the video, {values.safe(material.file_name or 'name unknown', 60)}"
    return Target("material", material.id, name, state)


@dataclass(slots=True)
class _UploadProgress:
    """Progress of an upload. `may_be_complete`: the last bytes may have been sent.

    The flag is set one chunk early, because the last chunk may be sent before its progress is reported.
    """

    may_be_complete: bool = True


@dataclass(frozen=True, slots=True)
class UploadMaterial(Operation[bool]):
    """Upload a file as material of a video. The file is read while it is sent."""

    name = "material.upload"
    verb = "upload"
    past = "uploaded"
    kind = "material"
    level = ConfirmLevel.NONE
    lists_changes = True
    help = "Upload a file as material of the video"
    no_evidence = "the platform does not list the materials of a video"
    may_conflict = False
    schema = UPLOAD_FORM

    video: Video
    file: Path
    title: str
    _sent: _UploadProgress = field(default_factory=_UploadProgress, init=False, compare=False, repr=False)

    @property
    def target(self) -> Target:
        return Target("material", "", f"{values.safe(self.file.name, 60)} for {video_title(self.video)}")

    @property
    def seen(self) -> bool:
        return True

    @property
    def changes(self) -> tuple[Change, ...]:
        return (Change("File", "", values.safe(self.file.name, 60)), Change("Title", "", values.safe(self.title, 60)))

    def is_of_another(self, answer: object, _before: bool, /) -> bool:
        return has_other_names(answer, {"title": self.title})

    @property
    def may_have_arrived(self) -> bool:
        return self._sent.may_be_complete

    async def read(self, platform: Platform) -> bool:
        """Check only that the video exists, because no endpoint lists its materials."""
        await platform.api.posters.list(self.video.id, per_page=1)
        return True

    async def send(self, context: SendContext[bool], /) -> object:
        def progress(done: int, total: int | None) -> None:
            self._sent.may_be_complete = total is None or done + UPLOAD_CHUNK >= total
            context.progress(done, total)

        return await context.api.materials.upload(
            self.video.id, self.file, self.file.name, self.title, progress=progress
        )


@dataclass(frozen=True, slots=True)
class MaterialOperation(Operation[bool]):
    """Change of an existing material. `read` returns True if the material exists."""

    kind = "material"

    material: KnownMaterial

    @property
    def target(self) -> Target:
        return material_target(self.material)

    @property
    def seen(self) -> bool:
        return True

    async def read(self, platform: Platform) -> bool:
        await platform.api.materials.link(self.material.id)
        return True


@dataclass(frozen=True, slots=True)
class RenameMaterial(MaterialOperation):
    """Rename a material. No read proves the new title."""

    name = "material.edit"
    audit_name = "material.rename"
    verb = "rename"
    past = "renamed"
    level = ConfirmLevel.NONE
    lists_changes = True
    help = "Rename the material"
    no_evidence = "the platform does not show the title of a material"
    may_conflict = False
    schema = RENAME_FORM

    title: str

    @property
    def changes(self) -> tuple[Change, ...]:
        return (Change("Title", values.safe(self.material.title, 60), values.safe(self.title, 60)),)

    def is_of_another(self, answer: object, _before: bool, /) -> bool:
        return has_other_id(answer, self.target.id)

    async def send(self, context: SendContext[bool], /) -> object:
        return await context.api.materials.rename(self.material.id, self.title)


class DeleteMaterial(DeleteOperation[bool], MaterialOperation):
    """Delete a material for good."""

    name = "material.delete"
    level = ConfirmLevel.ASK
    help = "Delete the material and its file for good"

    def effect(self, _current: bool, /) -> str:
        return "The material and its file are deleted for good."

    async def send(self, context: SendContext[bool], /) -> None:
        await context.api.materials.delete(self.material.id)


class ReorderMaterials(Reorder):
    """Put the known materials into another order. Their links prove which of them exist. No read proves the order."""

    name = "material.reorder"
    kind = "material"
    help = "Reorder the materials"
    no_evidence = "the platform does not show the order of materials"
    may_conflict = False

    async def read(self, platform: Platform) -> Ids:
        gate = asyncio.Semaphore(CONCURRENT_READS)

        async def is_there(material_id: str) -> bool:
            async with gate:
                try:
                    await platform.api.materials.link(material_id)
                except NotFound as error:
                    if not error.is_documented:  # a proxy may have sent it
                        raise
                    return False
                return True

        answers = await asyncio.gather(*map(is_there, self.shown))
        return tuple(material_id for material_id, there in zip(self.shown, answers, strict=True) if there)

    async def send(self, context: SendContext[Ids], /) -> Ids:
        """Send the order and return it, because the platform's response does not contain it."""
        order = self.complete_order(context.current)
        await context.api.materials.reorder(order)
        return order


OPERATIONS = (UploadMaterial, RenameMaterial, DeleteMaterial, ReorderMaterials)
