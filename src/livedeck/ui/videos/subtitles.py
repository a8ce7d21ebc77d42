"""Actions on the subtitle tracks of a video."""

from __future__ import annotations

from collections.abc import Awaitable
from functools import partial
from typing import TYPE_CHECKING, Any

from livedeck.client import Incomplete, Secret, Subtitle, subtitle_file
from livedeck.operations.schema import FormState, parse_path
from livedeck.ui.shell.context import Action, change
from livedeck.ui.videos.extras import download as save
from livedeck.ui.videos.extras import empty_form, needs_video, run, run_form, selected, video_of

if TYPE_CHECKING:
    from livedeck.operations.diff import ParsedForm
    from livedeck.operations.subtitles import UploadSubtitle
    from livedeck.ui.shell.context import Context


def read(ctx: Context, _: str) -> None:
    """Show the cues of the track under the cursor."""
    from livedeck.ui.videos.screen import SubtitlesScreen

    if selected(ctx, Subtitle, "subtitle track"):
        ctx.screen_of(SubtitlesScreen).open()


def upload(ctx: Context, argument: str) -> Awaitable[Any]:
    """Upload a subtitle file as a track, after a check of its content."""
    from livedeck.operations.subtitles import UPLOAD_FORM, UploadSubtitle

    video = video_of(ctx)

    async def make(form: ParsedForm[Any]) -> UploadSubtitle:
        file = await subtitle_file(parse_path(form.entries["file"]))
        return UploadSubtitle(video, str(form.entries["language"]), str(form.entries["description"]), file)

    return run_form(ctx, empty_form(f"Subtitles of {video.title}", UPLOAD_FORM, "Upload", argument), make)


def recognise(ctx: Context, argument: str) -> Awaitable[Any]:
    """Request a track from speech recognition."""
    from livedeck.operations.subtitles import RECOGNISE_FORM, RecogniseSpeech

    video = video_of(ctx)
    state = empty_form(f"Recognise the speech of {video.title}", RECOGNISE_FORM, "Recognise", argument)
    return run_form(ctx, state, lambda form: RecogniseSpeech(video, form.draft))


def edit(ctx: Context, _: str) -> Awaitable[Any] | None:
    """Change the language and description of the track."""
    from livedeck.operations.subtitles import EDIT_FORM, EditSubtitle, edit_entries, track_name

    track = selected(ctx, Subtitle, "subtitle track")
    if track is None:
        return None
    state = FormState(f"Edit {track_name(track)}", EDIT_FORM, edit_entries(track))
    return run_form(ctx, state, partial(EditSubtitle, video_of(ctx), track))


def copy(ctx: Context, _: str) -> Awaitable[Any] | None:
    """Copy the track as a new track."""
    from livedeck.operations.subtitles import CopySubtitle

    track = selected(ctx, Subtitle, "subtitle track")
    return run(ctx, CopySubtitle(video_of(ctx), track)) if track else None


def delete(ctx: Context, _: str) -> Awaitable[Any] | None:
    """Delete the track for good."""
    from livedeck.operations.subtitles import DeleteSubtitle

    track = selected(ctx, Subtitle, "subtitle track")
    return run(ctx, DeleteSubtitle(video_of(ctx), track)) if track else None


def download(ctx: Context, argument: str) -> Awaitable[Any] | None:
    """Download the file of the track."""
    from livedeck.operations.subtitles import track_target

    track = selected(ctx, Subtitle, "subtitle track")
    if track is None:
        return None
    api, video = ctx.confirmer.api, video_of(ctx)
    target = track_target(video, track)

    async def link() -> Secret:
        current = await api.subtitles.get(video.id, track.id)  # its link is valid only for a short time
        if not current.url or not current.url.reveal():
            raise Incomplete(f"download {target.name}: it has no file yet")
        return current.url

    name = track.file_name or f"{track.language or 'track'}.vtt"
    return save(ctx, target, name, link, typed=argument, kind="subtitles")


_on_track = partial(Action, screens=("subtitles",), blocked=needs_video, is_for_now=True)
_subtitle = partial(change, screens=("subtitles",), blocked=needs_video)

ACTIONS = (
    _on_track("subtitle.read", ("enter",), "read", "Show the cues of the track", read, rank=10),
    _subtitle("subtitle.upload", ("n",), "upload", upload, takes="[FILE]", rank=11),
    _subtitle("subtitle.recognise", ("v",), "recognise", recognise, takes="[LANGUAGES]", rank=12),
    _subtitle("subtitle.edit", ("e",), "edit", edit, rank=13),
    _subtitle("subtitle.copy", ("c",), "copy", copy, rank=16),
    _on_track("subtitle.download", ("g",), "get", "Download the file of the track", download, takes="[FILE]", rank=17),
    _subtitle("subtitle.delete", ("D",), "delete", delete, rank=18),
)
