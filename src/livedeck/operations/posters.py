"""What can be done with the posters of a video."""

from __future__ import annotations

from livedeck.client import Api, Poster, collect
from livedeck.monitor import Video
from livedeck.operations.operation import Operation, Target
from livedeck.operations.videos import ObjectTarget, asking, changing, deleting, making
from livedeck.text import values
from livedeck.ui.videos.view import position


def seen(api: Api, video: Video, one: Poster) -> ObjectTarget:
    """That poster as it is shown. One without an id is the default picture, and nothing can be done with it."""
    identity = one.id or ""
    state = "shown in the player and in lists" if one.active else "kept, not shown"
    target = Target("poster", identity, f"{position(one.from_time)} of {values.safe(video.title, 40)}", state)
    return ObjectTarget(target, one, lambda: api.posters.get(video.id, identity), {"active": "shown"})


def make(api: Api, video: Video, at: float) -> Operation[object]:
    """A poster of the frame at that time in seconds."""
    target = Target("poster", "", f"{position(at)} of {values.safe(video.title, 40)}")

    def like(one: Poster) -> bool:
        return one.from_time is not None and abs(one.from_time - at) < 1

    return making(
        "poster.make",
        target,
        lambda: collect(api.posters.iterate(video.id)),
        lambda: api.posters.create(video.id, at),
        like=like,
    )


def upload(api: Api, video: Video, url: str) -> Operation[object]:
    """A poster from the picture at that address."""
    target = Target("poster", "", f"{values.link(url)} for {values.safe(video.title, 40)}")
    return making(
        "poster.upload",
        target,
        lambda: collect(api.posters.iterate(video.id)),
        lambda: api.posters.upload_for_video(video.id, url),
        like=lambda _: True,
    )


def activate(api: Api, video: Video, one: Poster) -> Operation[object]:
    """Show it."""
    it = seen(api, video, one)
    effect = "Viewers see it from now on in the player and in lists, in place of the present one."

    def shown(_: Poster, after: Poster | None) -> bool:
        return after is not None and after.active is True

    return changing(
        it,
        "activate",
        lambda: api.posters.set_active(video.id, it.target.id),
        shown=shown,
        ask=asking(it.target, "show", effect),
    )


def delete(api: Api, video: Video, one: Poster) -> Operation[object]:
    """Delete it for good."""
    it = seen(api, video, one)
    effect = (
        "It is deleted for good. The platform shows another one in its place."
        if one.active
        else "It is deleted for good."
    )
    return deleting(it, lambda: api.posters.delete(video.id, it.target.id), effect)
