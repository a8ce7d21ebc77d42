"""What changes the posters of a video."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from livedeck.client import Api, Poster
from livedeck.monitor import Severity, Video
from livedeck.operations import posters as acts
from livedeck.operations import video_forms
from livedeck.operations.operation import Operation
from livedeck.ui.kit.dialogs.form import FormState
from livedeck.ui.videos.actions import filled, perform, selected, video_of

if TYPE_CHECKING:
    from livedeck.ui.app import Deck


def make(deck: Deck, argument: str) -> Awaitable[Any]:
    """A poster of the frame at a time."""
    api, video = deck.desk.api, video_of(deck)
    sheet = video_forms.frame(video.duration)
    entered = {"from_time": argument} if argument else None
    blank = FormState(f"Poster of {video.title}", sheet, {"from_time": ""}, entered, save="Make")
    return filled(deck, blank, lambda form: acts.make(api, video, video_forms.seconds(str(form.entries["from_time"]))))


def upload(deck: Deck, argument: str) -> Awaitable[Any]:
    """The picture at an address."""
    api, video = deck.desk.api, video_of(deck)
    entered = {"poster_url": argument} if argument else None
    blank = FormState(f"Poster of {video.title}", video_forms.PICTURE, {"poster_url": ""}, entered, save="Take it")
    return filled(deck, blank, lambda form: acts.upload(api, video, str(form.entries["poster_url"]).strip()))


def activate(deck: Deck, _: str) -> Awaitable[Any] | None:
    """Show it in the player."""
    return _done(deck, acts.activate)


def delete(deck: Deck, _: str) -> Awaitable[Any] | None:
    """Delete it for good."""
    return _done(deck, acts.delete)


def _done(deck: Deck, act: Callable[[Api, Video, Poster], Operation[object]]) -> Awaitable[Any] | None:
    one = selected(deck, Poster, "poster")
    if one is None:
        return None
    if not one.id:
        deck.tell("this is the default picture: it has no id, and nothing can be done with it", Severity.WARNING)
        return None
    return perform(deck, act(deck.desk.api, video_of(deck), one))
