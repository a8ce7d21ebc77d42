"""What is done with the subtitle tracks of a video."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from livedeck.client import Api, Incomplete, Secret, Subtitle, subtitle_file
from livedeck.monitor import Video
from livedeck.operations import subtitles as acts
from livedeck.operations import video_forms
from livedeck.operations.operation import Operation
from livedeck.ui.kit.dialogs.form import FormResult, FormState
from livedeck.ui.shell.action import Action, ConfirmLevel
from livedeck.ui.videos.extras import changed, filled, needs_video, perform, selected, video_of
from livedeck.ui.videos.extras import download as save

if TYPE_CHECKING:
    from livedeck.ui.shell.context import Context


def read(ctx: Context, _: str) -> None:
    """What it says."""
    from livedeck.ui.videos.screen import SubtitlesScreen

    if selected(ctx, Subtitle, "subtitle track"):
        ctx.screen_of(SubtitlesScreen).open()


def upload(ctx: Context, argument: str) -> Awaitable[Any]:
    """A file, checked before it leaves."""
    api, video = ctx.desk.api, video_of(ctx)

    async def act(form: FormResult) -> Operation[object]:
        file = await subtitle_file(video_forms.path_of(form.entries["file"]))
        return acts.upload(api, video, str(form.entries["language"]), str(form.entries["description"]), file)

    sheet = video_forms.TRACK_FILE
    entered = {"file": argument} if argument else None
    blank = FormState(f"Subtitles of {video.title}", sheet, sheet.blank(), entered, save="Upload")
    return filled(ctx, blank, act)


def recognise(ctx: Context, argument: str) -> Awaitable[Any]:
    """Have speech recognised."""
    api, video = ctx.desk.api, video_of(ctx)
    entered = {"languages": argument} if argument else None
    blank = FormState(
        f"Recognise the speech of {video.title}", video_forms.SPEECH, {"languages": ""}, entered, save="Order"
    )
    return filled(
        ctx, blank, lambda form: acts.recognise(api, video, video_forms.languages(str(form.entries["languages"])))
    )


def edit(ctx: Context, _: str) -> Awaitable[Any] | None:
    """Its language and description."""
    one = selected(ctx, Subtitle, "subtitle track")
    if one is None:
        return None
    act = partial(acts.edit, ctx.desk.api, video_of(ctx), one)
    return changed(ctx, f"Edit {acts.named(one)}", video_forms.TRACK, video_forms.track_entries(one), act)


def copy(ctx: Context, _: str) -> Awaitable[Any] | None:
    """A second one like it."""
    return _done(ctx, acts.copy)


def delete(ctx: Context, _: str) -> Awaitable[Any] | None:
    """Delete it for good."""
    return _done(ctx, acts.delete)


def download(ctx: Context, argument: str) -> Awaitable[Any] | None:
    """Its file."""
    one = selected(ctx, Subtitle, "subtitle track")
    if one is None:
        return None
    api, video = ctx.desk.api, video_of(ctx)
    target = acts.seen(api, video, one).target

    async def link() -> Secret:
        track = await api.subtitles.get(video.id, one.id)  # its address is good for a short while
        if not track.url or not track.url.reveal():
            raise Incomplete(f"download {target.name}: it has no file yet")
        return track.url

    return save(ctx, target, one.file_name or f"{one.language or 'track'}.vtt", link, typed=argument)


def _done(ctx: Context, act: Callable[[Api, Video, Subtitle], Operation[object]]) -> Awaitable[Any] | None:
    one = selected(ctx, Subtitle, "subtitle track")
    return perform(ctx, act(ctx.desk.api, video_of(ctx), one)) if one else None


_subtitle = partial(Action, screens=("subtitles",), blocked=needs_video)


ACTIONS = (
    _subtitle("subtitle.read", ("enter",), "read", "Read what the track says", read, rank=10),
    _subtitle(
        "subtitle.upload",
        ("n",),
        "upload",
        "Upload a WebVTT or SRT file, checked before it leaves",
        upload,
        confirm=ConfirmLevel.FORM,
        takes="[FILE]",
        rank=11,
    ),
    _subtitle(
        "subtitle.recognise",
        ("v",),
        "recognise",
        "Have the speech recognised, a track for each language",
        recognise,
        confirm=ConfirmLevel.FORM,
        takes="[LANGUAGES]",
        rank=12,
    ),
    _subtitle(
        "subtitle.edit",
        ("e",),
        "edit",
        "Change language or description of the track",
        edit,
        confirm=ConfirmLevel.FORM,
        rank=13,
    ),
    _subtitle(
        "subtitle.copy",
        ("c",),
        "copy",
        "Make a second track like this one",
        copy,
        confirm=ConfirmLevel.CONFIRM,
        rank=16,
    ),
    _subtitle("subtitle.download", ("g",), "get", "Download the file of the track", download, takes="[FILE]", rank=17),
    _subtitle(
        "subtitle.delete", ("D",), "delete", "Delete the track for good", delete, confirm=ConfirmLevel.CONFIRM, rank=18
    ),
)
