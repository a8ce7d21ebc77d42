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
from livedeck.ui.videos.actions import changed, filled, perform, selected, video_of
from livedeck.ui.videos.actions import download as save
from livedeck.ui.videos.screen import SubtitlesScreen

if TYPE_CHECKING:
    from livedeck.ui.app import Deck


def read(deck: Deck, _: str) -> None:
    """What it says."""
    if selected(deck, Subtitle, "subtitle track"):
        deck.screen_of(SubtitlesScreen).open()


def upload(deck: Deck, argument: str) -> Awaitable[Any]:
    """A file, checked before it leaves."""
    api, video = deck.desk.api, video_of(deck)

    async def act(form: FormResult) -> Operation[object]:
        file = await subtitle_file(video_forms.path_of(form.entries["file"]))
        return acts.upload(api, video, str(form.entries["language"]), str(form.entries["description"]), file)

    sheet = video_forms.TRACK_FILE
    entered = {"file": argument} if argument else None
    blank = FormState(f"Subtitles of {video.title}", sheet, sheet.blank(), entered, save="Upload")
    return filled(deck, blank, act)


def recognise(deck: Deck, argument: str) -> Awaitable[Any]:
    """Have speech recognised."""
    api, video = deck.desk.api, video_of(deck)
    entered = {"languages": argument} if argument else None
    blank = FormState(
        f"Recognise the speech of {video.title}", video_forms.SPEECH, {"languages": ""}, entered, save="Order"
    )
    return filled(
        deck, blank, lambda form: acts.recognise(api, video, video_forms.languages(str(form.entries["languages"])))
    )


def edit(deck: Deck, _: str) -> Awaitable[Any] | None:
    """Its language and description."""
    one = selected(deck, Subtitle, "subtitle track")
    if one is None:
        return None
    act = partial(acts.edit, deck.desk.api, video_of(deck), one)
    return changed(deck, f"Edit {acts.named(one)}", video_forms.TRACK, video_forms.track_entries(one), act)


def copy(deck: Deck, _: str) -> Awaitable[Any] | None:
    """A second one like it."""
    return _done(deck, acts.copy)


def delete(deck: Deck, _: str) -> Awaitable[Any] | None:
    """Delete it for good."""
    return _done(deck, acts.delete)


def download(deck: Deck, argument: str) -> Awaitable[Any] | None:
    """Its file."""
    one = selected(deck, Subtitle, "subtitle track")
    if one is None:
        return None
    api, video = deck.desk.api, video_of(deck)
    target = acts.seen(api, video, one).target

    async def link() -> Secret:
        track = await api.subtitles.get(video.id, one.id)  # its address is good for a short while
        if not track.url or not track.url.reveal():
            raise Incomplete(f"download {target.name}: it has no file yet")
        return track.url

    return save(deck, target, one.file_name or f"{one.language or 'track'}.vtt", link, typed=argument)


def _done(deck: Deck, act: Callable[[Api, Video, Subtitle], Operation[object]]) -> Awaitable[Any] | None:
    one = selected(deck, Subtitle, "subtitle track")
    return perform(deck, act(deck.desk.api, video_of(deck), one)) if one else None
