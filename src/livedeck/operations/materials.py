"""What can be done with the additional materials of a video. No endpoint reads one: its link tells that it is there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from livedeck.client import Api, Progress
from livedeck.monitor import KnownMaterial, Video
from livedeck.operations.diff import Change
from livedeck.operations.operation import Operation, Target
from livedeck.operations.videos import Ask, CreatedTarget, asking, gone, unless_changed
from livedeck.text import values


def target_of(one: KnownMaterial) -> Target:
    """That material as it is shown."""
    name = values.safe(one.title or one.file_name or one.id, 60)
    return Target(
        "material", one.id, name, f"a file beside the video, {values.safe(one.file_name or 'name unknown', 60)}"
    )


def upload(api: Api, video: Video, file: Path, title: str) -> Operation[object]:
    """Put a file beside the video, read while it is sent."""
    target = Target("material", "", f"{values.safe(file.name, 60)} for {values.safe(video.title, 40)}")
    unseen = CreatedTarget(lambda: api.posters.list(video.id, per_page=1))

    async def send(progress: Progress) -> object:
        def told(done: int, whole: int | None) -> None:
            unseen.sent = done == whole
            progress(done, whole)

        return await api.materials.upload(video.id, file, file.name, title, progress=told)

    edits = (Change("File", "", values.safe(file.name, 60)), Change("Title", "", values.safe(title, 60)))
    return _act("upload", target, unseen, send, ask=_unasked, edits=edits)


def rename(api: Api, one: KnownMaterial, title: str) -> Operation[object]:
    """Give it another title."""
    target, unseen = target_of(one), CreatedTarget(lambda: api.materials.link(one.id))

    async def send(_: Progress) -> object:
        unseen.sent = True
        return await api.materials.rename(one.id, title)

    edits = (Change("Title", values.safe(one.title, 60), values.safe(title, 60)),)
    ask = unless_changed(target, "rename", f'Its title becomes "{values.safe(title, 60)}".')
    return _act("rename", target, unseen, send, ask=ask, edits=edits)


def delete(api: Api, one: KnownMaterial) -> Operation[object]:
    """Delete it for good. That it is gone shows by its link."""
    target = target_of(one)
    unseen = CreatedTarget(lambda: api.materials.link(one.id))

    async def send(_: Progress) -> object:
        await api.materials.delete(one.id)
        return None

    return _act("delete", target, unseen, send, ask=asking(target, "delete", "It is deleted for good, with its file."))


def _unasked(_: object, __: tuple[str, ...]) -> None:
    """A form was consent enough."""


def _act(
    verb: str,
    target: Target,
    unseen: CreatedTarget,
    send: Callable[[Progress], Awaitable[object]],
    *,
    ask: Ask,
    edits: tuple[Change, ...] = (),
) -> Operation[object]:
    shown = gone if verb == "delete" else lambda *_: False
    return Operation(f"material.{verb}", verb, target, False, unseen.look, lambda *_: (), ask, send, shown, edits)
