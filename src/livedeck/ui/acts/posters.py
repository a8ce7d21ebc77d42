"""What can be done with the posters of a video."""

from __future__ import annotations

from livedeck import wording
from livedeck.client import Api, Poster
from livedeck.ui.acts.act import Act, Target
from livedeck.ui.acts.extras import Seen, asking, changing, deleting, making
from livedeck.ui.library import Video, posters
from livedeck.ui.renderables.extra_rows import position


def seen(api: Api, video: Video, one: Poster) -> Seen:
    """That poster as it is shown. One without an id is the default picture, and nothing can be done with it."""
    identity = one.id or ""
    state = "shown in the player and in lists" if one.active else "kept, not shown"
    target = Target("poster", identity, f"{position(one.from_time)} of {wording.safe(video.title, 40)}", state)
    return Seen(target, one, lambda: api.posters.get(video.id, identity), {"active": "shown"})


def make(api: Api, video: Video, at: float) -> Act[object]:
    """A poster of the frame at that time in seconds."""
    target = Target("poster", "", f"{position(at)} of {wording.safe(video.title, 40)}")

    def like(one: Poster) -> bool:
        return one.from_time is not None and abs(one.from_time - at) < 1

    return making(
        "poster.make", target, lambda: posters(api, video.id), lambda: api.posters.create(video.id, at), like=like
    )


def upload(api: Api, video: Video, url: str) -> Act[object]:
    """A poster from the picture at that address."""
    target = Target("poster", "", f"{wording.link(url)} for {wording.safe(video.title, 40)}")
    return making(
        "poster.upload",
        target,
        lambda: posters(api, video.id),
        lambda: api.posters.upload_for_video(video.id, url),
        like=lambda _: True,
    )


def activate(api: Api, video: Video, one: Poster) -> Act[object]:
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


def delete(api: Api, video: Video, one: Poster) -> Act[object]:
    """Delete it for good."""
    it = seen(api, video, one)
    effect = (
        "It is deleted for good. The platform shows another one in its place."
        if one.active
        else "It is deleted for good."
    )
    return deleting(it, lambda: api.posters.delete(video.id, it.target.id), effect)
