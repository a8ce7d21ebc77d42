"""Subtitle tracks of videos (platform-api.md, "Subtitles")."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

from pydantic import StrictBool, StrictInt

from livedeck.client.http.errors import Incomplete, Invalid, Unreadable
from livedeck.client.http.files import FileSource, file_name, read_file
from livedeck.client.http.request import Identifier, JsonBody, MultipartBody, describe_call, make_request
from livedeck.client.http.secrets import Address, SignedLink
from livedeck.client.resources import cues
from livedeck.client.resources.base import UNSET, Draft, Id, Model, Resource, complete_order, draft_of, query_params
from livedeck.client.resources.cues import Cue
from livedeck.client.resources.fields import Language, Timestamp, language
from livedeck.client.resources.pages import MAX_PER_PAGE, Page, PagedItems

_MAX_FILE = 16 * 2**20  # hours of speech need some hundred kilobytes


class Subtitle(Model):
    """Track. `language`: ISO 639-1. `data`: recognised cues, empty while pending; their shape is undocumented.

    `status`: `pending`, `done` or any other word; None on an uploaded or copied track. `url`: signed, empty while
    pending.
    """

    id: Id
    video_id: str | None = None
    language: str | None = None
    description: str | None = None
    file: Address | None = None
    file_name: str | None = None
    hls_file: Address | None = None
    url: SignedLink | None = None
    status: str | None = None
    position: StrictInt | None = None
    data: Any = None
    active: StrictBool | None = None
    updated_at: Timestamp | None = None


@dataclass(frozen=True, slots=True, repr=False)
class SubtitleFile:
    """WebVTT or SRT file, read and checked; the upload sends the checked bytes."""

    name: str
    content: bytes
    cues: tuple[Cue, ...]


class SubtitleDraft(Draft):
    """Changes of a track. `language`: ISO 639-1."""

    language: Language = UNSET
    description: str = UNSET


class SubtitleFields(TypedDict, total=False):
    """Fields of SubtitleDraft."""

    language: str
    description: str


class Subtitles(Resource):
    """Subtitle tracks of videos, uploaded or recognised."""

    async def list(
        self, video_id: Identifier, *, page: int = 1, per_page: int = 20, order: str | None = None
    ) -> Page[Subtitle]:
        """Return one page of the tracks of a video.

        `order`: `position.asc` (platform-api.md, "Upload headers"). Raises ApiError.

        >>> page = await api.subtitles.list(video_id, order="position.asc")
        >>> [track.position for track in page]
        [1, 2]
        """
        summary = describe_call("list subtitles of video", video_id)
        params = query_params(page=page, per_page=per_page, order=order)
        return await self._page(Subtitle, make_request("GET", summary, *_tracks(video_id), params=params))

    def iterate(self, video_id: Identifier, *, order: str | None = None) -> PagedItems[Subtitle]:
        """Iterate over the tracks of a video, each once even if they move between pages meanwhile. Raises ApiError.

        >>> languages = [track.language async for track in api.subtitles.iterate(video_id)]
        """
        return PagedItems(lambda page: self.list(video_id, page=page, per_page=MAX_PER_PAGE, order=order))

    async def get(self, video_id: Identifier, subtitle_id: Identifier) -> Subtitle:
        """Return one track. Raises NotFound if it does not exist, and any other ApiError.

        >>> track = await api.subtitles.get(video_id, subtitle_id)
        """
        return await self._named(
            Subtitle, make_request("GET", describe_call("get subtitle", subtitle_id), *_tracks(video_id), subtitle_id)
        )

    async def upload(
        self, video_id: Identifier, language: str, description: str, file: FileSource | SubtitleFile
    ) -> Subtitle:
        r"""Create a track from a WebVTT or SRT file in UTF-8, at most 16 MiB: a path, bytes, or an open file.

        Raises Invalid for an unknown language and for a file that does not parse, naming the line; FileFault; any other
        ApiError.

        >>> content = b"WEBVTT" + 2 * b"\n" + b"00:01.000 --> 00:02.500" + b"\n" + b"Hello"
        >>> (await api.subtitles.upload(video_id, "en", "Spoken", content)).language
        'en'
        """
        summary = describe_call("upload subtitle of video", video_id)
        fields = SubtitleDraft(language=language, description=description).body()
        subtitle = file if isinstance(file, SubtitleFile) else await subtitle_file(file, summary)
        body = MultipartBody(fields, subtitle.name, subtitle.content)
        return await self._object(Subtitle, make_request("POST", summary, *_tracks(video_id), body=body))

    async def generate(self, video_id: Identifier, languages: Sequence[str]) -> tuple[Subtitle, ...]:
        """Start speech recognition: one pending track for each ISO 639-1 code, all or none.

        Raises Invalid, ApiError.

        >>> [track.status for track in await api.subtitles.generate(video_id, ["en", "de"])]
        ['pending', 'pending']
        """
        summary = describe_call("generate subtitles of video", video_id)
        body = JsonBody({"languages": _check_languages(languages, summary)})
        request = make_request("POST", summary, *_tracks(video_id), "auto", body=body)

        def parse(answer: object) -> tuple[Subtitle, ...]:
            tracks, unreadable = self._read_rows(Subtitle, answer, request)
            if len(tracks) + len(unreadable) < len(languages):
                raise Unreadable(f"{summary}: the response lacks a track for each language")
            return tracks

        return await self._transport.send(request, parse)

    async def wait_done(
        self, video_id: Identifier, subtitle_id: Identifier, *, poll_interval: float = 3.0, max_wait: float = 600.0
    ) -> Subtitle:
        """Poll the track every `poll_interval` seconds until it is no longer pending, and return it.

        See platform-api.md, "Subtitles". Raises Incomplete after `max_wait` seconds, and any other ApiError.

        >>> (await api.subtitles.wait_done(video_id, subtitle_id, poll_interval=1)).id == subtitle_id
        True
        """
        waited = 0.0
        while (track := await self.get(video_id, subtitle_id)).status == "pending":
            if waited >= max_wait:
                raise Incomplete(
                    f"{describe_call('wait for subtitle', subtitle_id)}: still pending after {waited:.0f} s"
                )
            await self._transport.timing.sleep(poll_interval)
            waited += poll_interval
        return track

    async def update(
        self,
        video_id: Identifier,
        subtitle_id: Identifier,
        draft: SubtitleDraft | None = None,
        *,
        before: Subtitle | None = None,
        **changes: Unpack[SubtitleFields],
    ) -> Subtitle:
        """Change the fields that `draft` or `changes` sets. Raises ApiError.

        The request always has language and description. `before`: track as last read, for a field that is not set;
        None reads the track if needed.

        >>> (await api.subtitles.update(video_id, subtitle_id, description="As spoken")).description
        'As spoken'
        """
        fields = draft_of(SubtitleDraft, draft, changes).body()
        if fields.keys() < SubtitleDraft.model_fields.keys():
            self._transport.check_may_change(describe_call("update subtitle", subtitle_id))
            before = before or await self.get(video_id, subtitle_id)
            unchanged = {"language": before.language, "description": before.description}
            fields = {name: value for name, value in unchanged.items() if value is not None} | fields
        summary = describe_call("update subtitle", subtitle_id)
        return await self._object(
            Subtitle, make_request("PATCH", summary, *_tracks(video_id), subtitle_id, body=JsonBody(fields))
        )

    async def copy(self, video_id: Identifier, subtitle_id: Identifier) -> Subtitle:
        """Duplicate a track. Raises ApiError.

        >>> (await api.subtitles.copy(video_id, subtitle_id)).id == subtitle_id
        False
        """
        summary = describe_call("copy subtitle", subtitle_id)
        return await self._object(Subtitle, make_request("POST", summary, *_tracks(video_id), subtitle_id, "copy"))

    async def reorder(self, video_id: Identifier, subtitle_ids: Sequence[Identifier]) -> Subtitle:
        """Put the tracks in this order, which must name every track; returns one of them. Raises Invalid, ApiError.

        >>> ids = [track.id async for track in api.subtitles.iterate(video_id, order="position.asc")]
        >>> track = await api.subtitles.reorder(video_id, ids[::-1])
        """
        summary = describe_call("reorder subtitles of video", video_id)
        body = JsonBody(complete_order(subtitle_ids, summary))
        return await self._object(Subtitle, make_request("PATCH", summary, *_tracks(video_id), "reorder", body=body))

    async def delete(self, video_id: Identifier, subtitle_id: Identifier) -> None:
        """Delete the track for good. Raises ApiError.

        >>> await api.subtitles.delete(video_id, subtitle_id)
        """
        await self._confirmed(
            make_request("DELETE", describe_call("delete subtitle", subtitle_id), *_tracks(video_id), subtitle_id)
        )


async def subtitle_file(file: FileSource, summary: str = "check subtitle file") -> SubtitleFile:
    """Read a file of at most 16 MiB and check each line. Raises Invalid, naming the line, and FileFault."""
    content = await read_file(file, _MAX_FILE, summary)
    name = file_name(file) or ("subtitles.vtt" if content.startswith(b"WEBVTT") else "subtitles.srt")
    return SubtitleFile(name, content, await asyncio.to_thread(checked_cues, content, summary))


def checked_cues(content: bytes, summary: str) -> tuple[Cue, ...]:
    """Return the cues of a file. Raises Invalid, naming the line."""
    try:
        return cues.parse(content)
    except cues.CueSyntaxError as error:
        raise Invalid(summary, "file", str(error)) from None


def _tracks(video_id: Identifier) -> tuple[Identifier, ...]:
    return "v1", "videos", video_id, "subtitles"


def _check_languages(languages: Sequence[str], summary: str) -> list[str]:
    if not languages:
        raise Invalid(summary, "languages", "should name at least one")
    for number, code in enumerate(languages):
        try:
            language(code)
        except ValueError as error:
            raise Invalid(summary, f"languages[{number}]", str(error)) from None
    return list(languages)
