"""Operations on the posters of a video, and their forms."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from livedeck.client import Poster
from livedeck.monitor import Video
from livedeck.operations.operation import (
    CreateOperation,
    DeleteOperation,
    FieldOperation,
    Platform,
    SendContext,
    Target,
    all_rows,
)
from livedeck.operations.schema import Field, FormSchema
from livedeck.operations.videos import ExtraOperation, video_title
from livedeck.text import addresses, values

_POSITION = re.compile(r"(?:(?:(\d{1,3}):)?([0-5]?\d):)?(\d{1,6}(?:\.\d{1,3})?)")


def parse_position(text: str) -> float:
    """Return a position in a video in seconds, from a text like `1:02:03.5`, `62:03` or `3723.5`. Raises ValueError."""
    found = _POSITION.fullmatch(text.strip())
    if found is None or (found[2] and float(found[3]) >= 60):
        raise ValueError("should be seconds, or H:MM:SS")
    return int(found[1] or 0) * 3600 + int(found[2] or 0) * 60 + float(found[3])


def frame_form(duration: float | None) -> FormSchema[float]:
    """Return the form for the frame of a poster. `duration`: length of the video in seconds; None if unknown."""

    def parse(fields: Mapping[str, Any]) -> float:
        position = parse_position(str(fields["from_time"]))
        if duration is not None and position > duration:
            raise ValueError(f"is after the end of the video ({duration:g} s)")
        return position

    return FormSchema((Field("from_time", "Time", hint="seconds, or H:MM:SS", required=True),), parse)


def _parse_url(fields: Mapping[str, Any]) -> str:
    url = str(fields["poster_url"]).strip()
    if not url.startswith(("https://", "http://")):
        raise ValueError("should begin with https://")
    return url


NOT_TOLD = "the platform does not show the address that a poster comes from"
"""Reason why no read proves that the platform has copied a picture."""

PICTURE_FORM = FormSchema(
    (Field("poster_url", "Picture", hint="https:// address of the image", required=True, is_long=True),), _parse_url
)


@dataclass(frozen=True, slots=True)
class _PosterCreation(CreateOperation[Poster]):
    kind = "poster"

    video: Video

    async def read(self, platform: Platform) -> tuple[Poster, ...]:
        return await all_rows(platform.api.posters.iterate(self.video.id))


@dataclass(frozen=True, slots=True)
class CreatePoster(_PosterCreation):
    """Make a poster from the frame at a position in seconds."""

    name = "poster.create"
    audit_name = "poster.make"
    verb = "make"
    past = "made"
    help = "Make a poster from the video's frame at a time"
    schema = frame_form(None)

    position: float

    @property
    def target(self) -> Target:
        return Target("poster", "", f"{values.position(self.position)} of {video_title(self.video)}")

    async def send(self, context: SendContext[tuple[Poster, ...]], /) -> object:
        return await context.api.posters.create(self.video.id, self.position)

    def is_like(self, item: Poster, /) -> bool:
        return item.from_time is not None and abs(item.from_time - self.position) < 0.001  # the form's last digit


@dataclass(frozen=True, slots=True)
class UploadPoster(_PosterCreation):
    """Make a poster from the picture at an address."""

    name = "poster.import"
    audit_name = "poster.upload"
    verb = "upload"
    past = "uploaded"
    help = "Make a poster from a picture on the web; the platform takes no files"
    evidence = ""
    no_evidence = NOT_TOLD
    may_conflict = False
    schema = PICTURE_FORM

    url: str

    @property
    def target(self) -> Target:
        return Target("poster", "", f"{addresses.show(self.url)} for {video_title(self.video)}")

    async def send(self, context: SendContext[tuple[Poster, ...]], /) -> object:
        return await context.api.posters.upload_for_video(self.video.id, self.url)

    def is_like(self, _item: Poster, /) -> bool:
        return False


class PosterOperation(ExtraOperation[Poster]):
    """Change of a poster with an id. A poster without an id is the default picture, which cannot be changed."""

    kind = "poster"
    facts = {"active": "shown"}  # noqa: RUF012  constant

    @property
    def target(self) -> Target:
        state = "shown in the player and in lists" if self.extra.active else "kept, not shown"
        name = f"{values.position(self.extra.from_time)} of {video_title(self.video)}"
        return Target("poster", self.extra.id or "", name, state)

    async def read(self, platform: Platform) -> Poster:
        return await platform.api.posters.get(self.video.id, self.target.id)


class ActivatePoster(FieldOperation[Poster], PosterOperation):
    """Show a poster in the player and in lists."""

    name = "poster.activate"
    verb = "activate"
    past = "shown"
    button = "show"
    help = "Show this poster in the player and in lists"
    evidence = "the shown poster has changed to this one"
    shows_values = True

    def effect(self, _current: Poster, /) -> str:
        return "Viewers see this poster in the player and in lists from now on, in place of the current one."

    async def send(self, context: SendContext[Poster], /) -> None:
        await context.api.posters.set_active(self.video.id, self.target.id)

    def is_so(self, current: Poster, /) -> bool:
        return current.active is True

    def other_values(self, current: Poster, /) -> tuple[str, ...]:
        return () if self.is_so(current) else ("another poster in its place",)


class DeletePoster(DeleteOperation[Poster], PosterOperation):
    """Delete a poster for good."""

    name = "poster.delete"
    help = "Delete the poster for good"

    def effect(self, _current: Poster, /) -> str:
        another = " The platform shows another one in its place." if self.extra.active else ""
        return f"The poster is deleted for good.{another}"

    async def send(self, context: SendContext[Poster], /) -> None:
        await context.api.posters.delete(self.video.id, self.target.id)


OPERATIONS = (CreatePoster, UploadPoster, ActivatePoster, DeletePoster)
