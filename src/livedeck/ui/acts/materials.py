"""What can be done with the additional materials of a video. No endpoint reads one: its link tells that it is there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from livedeck import wording
from livedeck.client import Api, Progress
from livedeck.ui.acts.act import Act, Target
from livedeck.ui.acts.extras import Ask, Unseen, asking, gone, unless_changed
from livedeck.ui.dialogs.edits import Change
from livedeck.ui.library import Video
from livedeck.ui.shelf import Thing


def target_of(one: Thing) -> Target:
    """That material as it is shown."""
    name = wording.safe(one.title or one.file_name or one.id, 60)
    return Target(
        "material", one.id, name, f"a file beside the video, {wording.safe(one.file_name or 'name unknown', 60)}"
    )


def upload(api: Api, video: Video, file: Path, title: str) -> Act[object]:
    """Put a file beside the video, read while it is sent."""
    target = Target("material", "", f"{wording.safe(file.name, 60)} for {wording.safe(video.title, 40)}")
    unseen = Unseen(lambda: api.posters.list(video.id, per_page=1))

    async def send(progress: Progress) -> object:
        def told(done: int, whole: int | None) -> None:
            unseen.sent = done == whole
            progress(done, whole)

        return await api.materials.upload(video.id, file, file.name, title, progress=told)

    edits = (Change("File", "", wording.safe(file.name, 60)), Change("Title", "", wording.safe(title, 60)))
    return _act("upload", target, unseen, send, ask=_unasked, edits=edits)


def rename(api: Api, one: Thing, title: str) -> Act[object]:
    """Give it another title."""
    target, unseen = target_of(one), Unseen(lambda: api.materials.link(one.id))

    async def send(_: Progress) -> object:
        unseen.sent = True
        return await api.materials.rename(one.id, title)

    edits = (Change("Title", wording.safe(one.title, 60), wording.safe(title, 60)),)
    ask = unless_changed(target, "rename", f'Its title becomes "{wording.safe(title, 60)}".')
    return _act("rename", target, unseen, send, ask=ask, edits=edits)


def delete(api: Api, one: Thing) -> Act[object]:
    """Delete it for good. That it is gone shows by its link."""
    target = target_of(one)
    unseen = Unseen(lambda: api.materials.link(one.id))

    async def send(_: Progress) -> object:
        await api.materials.delete(one.id)
        return None

    return _act("delete", target, unseen, send, ask=asking(target, "delete", "It is deleted for good, with its file."))


def _unasked(_: object, __: tuple[str, ...]) -> None:
    """A form was consent enough."""


def _act(
    verb: str,
    target: Target,
    unseen: Unseen,
    send: Callable[[Progress], Awaitable[object]],
    *,
    ask: Ask,
    edits: tuple[Change, ...] = (),
) -> Act[object]:
    shown = gone if verb == "delete" else lambda *_: False
    return Act(f"material.{verb}", verb, target, False, unseen.look, lambda *_: (), ask, send, shown, edits)
