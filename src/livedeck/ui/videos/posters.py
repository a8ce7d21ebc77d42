"""What changes the posters of a video."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from livedeck.client import Api, Poster
from livedeck.monitor import Severity, Video
from livedeck.operations import posters as acts
from livedeck.operations import video_forms
from livedeck.operations.operation import Operation
from livedeck.ui.kit.dialogs.form import FormState
from livedeck.ui.shell.action import Action, ConfirmLevel
from livedeck.ui.videos.extras import filled, needs_video, perform, selected, video_of

if TYPE_CHECKING:
    from livedeck.ui.shell.context import Context


def make(ctx: Context, argument: str) -> Awaitable[Any]:
    """A poster of the frame at a time."""
    api, video = ctx.desk.api, video_of(ctx)
    sheet = video_forms.frame(video.duration)
    entered = {"from_time": argument} if argument else None
    blank = FormState(f"Poster of {video.title}", sheet, {"from_time": ""}, entered, save="Make")
    return filled(ctx, blank, lambda form: acts.make(api, video, video_forms.seconds(str(form.entries["from_time"]))))


def upload(ctx: Context, argument: str) -> Awaitable[Any]:
    """The picture at an address."""
    api, video = ctx.desk.api, video_of(ctx)
    entered = {"poster_url": argument} if argument else None
    blank = FormState(f"Poster of {video.title}", video_forms.PICTURE, {"poster_url": ""}, entered, save="Take it")
    return filled(ctx, blank, lambda form: acts.upload(api, video, str(form.entries["poster_url"]).strip()))


def activate(ctx: Context, _: str) -> Awaitable[Any] | None:
    """Show it in the player."""
    return _done(ctx, acts.activate)


def delete(ctx: Context, _: str) -> Awaitable[Any] | None:
    """Delete it for good."""
    return _done(ctx, acts.delete)


def _done(ctx: Context, act: Callable[[Api, Video, Poster], Operation[object]]) -> Awaitable[Any] | None:
    one = selected(ctx, Poster, "poster")
    if one is None:
        return None
    if not one.id:
        ctx.announce("this is the default picture: it has no id, and nothing can be done with it", Severity.WARNING)
        return None
    return perform(ctx, act(ctx.desk.api, video_of(ctx), one))


_poster = partial(Action, screens=("posters",), blocked=needs_video)


ACTIONS = (
    _poster(
        "poster.make",
        ("n",),
        "new",
        "Make a poster of the frame at a time",
        make,
        confirm=ConfirmLevel.FORM,
        takes="[TIME]",
        rank=11,
    ),
    _poster(
        "poster.upload",
        ("i",),
        "picture",
        "Give the video the picture at an address",
        upload,
        confirm=ConfirmLevel.FORM,
        takes="[ADDRESS]",
        rank=12,
    ),
    _poster(
        "poster.activate",
        ("s",),
        "show",
        "Show this poster in the player and in lists",
        activate,
        confirm=ConfirmLevel.CONFIRM,
        rank=13,
    ),
    _poster(
        "poster.delete", ("D",), "delete", "Delete the poster for good", delete, confirm=ConfirmLevel.CONFIRM, rank=14
    ),
)
