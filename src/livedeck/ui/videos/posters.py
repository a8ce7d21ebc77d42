"""What changes the posters of a video."""

from __future__ import annotations

from collections.abc import Awaitable
from functools import partial
from typing import TYPE_CHECKING, Any

from livedeck.client import Poster
from livedeck.monitor import Severity
from livedeck.operations.schema import FormState
from livedeck.ui.shell.action import Action
from livedeck.ui.videos.extras import needs_video, run, run_form, selected, typed_entries, video_of

if TYPE_CHECKING:
    from livedeck.ui.shell.context import Context


def make(ctx: Context, argument: str) -> Awaitable[Any]:
    """A poster of the frame at a time."""
    from livedeck.operations.posters import CreatePoster, frame_form

    video = video_of(ctx)
    schema = frame_form(video.duration)
    entered = typed_entries(schema, argument)
    state = FormState(f"Poster of {video.title}", schema, schema.empty(), entered, button="Make")
    return run_form(ctx, state, lambda form: CreatePoster(video, form.draft))


def upload(ctx: Context, argument: str) -> Awaitable[Any]:
    """The picture at an address."""
    from livedeck.operations.posters import PICTURE_FORM, UploadPoster

    video = video_of(ctx)
    entered = typed_entries(PICTURE_FORM, argument)
    state = FormState(f"Poster of {video.title}", PICTURE_FORM, PICTURE_FORM.empty(), entered, button="Take it")
    return run_form(ctx, state, lambda form: UploadPoster(video, form.draft))


def activate(ctx: Context, _: str) -> Awaitable[Any] | None:
    """Show it in the player."""
    from livedeck.operations.posters import ActivatePoster

    poster = _selected(ctx)
    return run(ctx, ActivatePoster(video_of(ctx), poster)) if poster else None


def delete(ctx: Context, _: str) -> Awaitable[Any] | None:
    """Delete it for good."""
    from livedeck.operations.posters import DeletePoster

    poster = _selected(ctx)
    return run(ctx, DeletePoster(video_of(ctx), poster)) if poster else None


def _selected(ctx: Context) -> Poster | None:
    """The poster under the cursor; said where there is none, or nothing can be done with it."""
    poster = selected(ctx, Poster, "poster")
    if poster is None or poster.id:
        return poster
    ctx.announce("this is the default picture: it has no id, and nothing can be done with it", Severity.WARNING)
    return None


_poster = partial(Action, screens=("posters",), blocked=needs_video)


ACTIONS = (
    _poster(
        "poster.make", ("n",), "new", "Make a poster of the frame at a time", make, writes=True, takes="[TIME]", rank=11
    ),
    _poster(
        "poster.upload",
        ("i",),
        "picture",
        "Give the video the picture at an address",
        upload,
        writes=True,
        takes="[ADDRESS]",
        rank=12,
    ),
    _poster(
        "poster.activate", ("s",), "show", "Show this poster in the player and in lists", activate, writes=True, rank=13
    ),
    _poster("poster.delete", ("D",), "delete", "Delete the poster for good", delete, writes=True, rank=14),
)
