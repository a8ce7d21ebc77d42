"""Actions that change the posters of a video."""

from __future__ import annotations

from collections.abc import Awaitable
from functools import partial
from typing import TYPE_CHECKING, Any

from livedeck.client import Poster
from livedeck.monitor import Severity
from livedeck.ui.shell.context import change
from livedeck.ui.videos.extras import empty_form, needs_video, run, run_form, selected, video_of

if TYPE_CHECKING:
    from livedeck.ui.shell.context import Context


def make(ctx: Context, argument: str) -> Awaitable[Any]:
    """Make a poster from the video's frame at a time."""
    from livedeck.operations.posters import CreatePoster, frame_form

    video = video_of(ctx)
    state = empty_form(f"Poster of {video.title}", frame_form(video.duration), "Make", argument)
    return run_form(ctx, state, lambda form: CreatePoster(video, form.draft))


def upload(ctx: Context, argument: str) -> Awaitable[Any]:
    """Make a poster from the picture at an address."""
    from livedeck.operations.posters import PICTURE_FORM, UploadPoster

    video = video_of(ctx)
    state = empty_form(f"Poster of {video.title}", PICTURE_FORM, "Upload", argument)
    return run_form(ctx, state, lambda form: UploadPoster(video, form.draft))


def activate(ctx: Context, _: str) -> Awaitable[Any] | None:
    """Show the poster in the player."""
    from livedeck.operations.posters import ActivatePoster

    poster = _selected(ctx)
    return run(ctx, ActivatePoster(video_of(ctx), poster)) if poster else None


def delete(ctx: Context, _: str) -> Awaitable[Any] | None:
    """Delete the poster for good."""
    from livedeck.operations.posters import DeletePoster

    poster = _selected(ctx)
    return run(ctx, DeletePoster(video_of(ctx), poster)) if poster else None


def _selected(ctx: Context) -> Poster | None:
    """Return the poster under the cursor. Without one, or if it cannot be changed, announce this and return None."""
    poster = selected(ctx, Poster, "poster")
    if poster is None or poster.id:
        return poster
    ctx.announce("this is the default picture: it has no id and cannot be changed", Severity.WARNING)
    return None


_poster = partial(change, screens=("posters",), blocked=needs_video)

ACTIONS = (
    _poster("poster.create", ("n",), "new", make, takes="[TIME]", rank=11),
    _poster("poster.import", ("i",), "picture", upload, takes="[ADDRESS]", rank=12),
    _poster("poster.activate", ("s",), "show", activate, rank=13),
    _poster("poster.delete", ("D",), "delete", delete, rank=14),
)
