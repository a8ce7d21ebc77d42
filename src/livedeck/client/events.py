"""Live events (platform-api.md, 2 and 4): what an event is, and how to read them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from pydantic import Field, StrictBool, StrictFloat, StrictInt

from livedeck import wording
from livedeck.client.base import Model, Page, Resource, Timestamp, segment
from livedeck.client.secret import Secret, SecretLink
from livedeck.client.transport import Call

_EVENTS = "v2/live/events"
_LARGEST_PAGE = 100  # decisions.md, "Requests"


class Record(Model):
    """Where the finished recording is placed: a project or a folder."""

    parent_id: str | None = None


class VideoSettings(Model):
    """`presets`: names of the qualities, `360p` to `2160p`."""

    presets: tuple[str, ...] | None = None


class AudioSettings(Model):
    """`channel_mapping`: not described by the document, kept as it came."""

    channel_mapping: Any = None


class Scheduled(Model):
    """`time`: when the event is to start."""

    time: Timestamp | None = None


class EventRestream(Model):
    """A copy of the event's stream, sent to another platform. `url`: RTMP address. `status`: `disconnected`, ..."""

    id: str | None = None
    event_id: str | None = None
    name: str | None = None
    url: str | None = None
    key: Secret | None = None
    status: str | None = None
    enabled: StrictBool | None = None
    description: str | None = None
    created_at: Timestamp | None = None
    updated_at: Timestamp | None = None


class Stream(Model):
    """One ingest of an event. `status`: `pending`, `live`, `finished` or any other word."""

    id: str | None = None
    event_id: str | None = None
    status: str | None = None
    started_at: Timestamp | None = None
    finished_at: Timestamp | None = None


class Poster(Model):
    """A frame or a picture in four sizes. `from_time`, `to_time`: seconds. The default poster has no id."""

    id: str | None = None
    media_id: str | None = None
    type: str | None = None
    from_time: StrictFloat | None = None
    to_time: StrictFloat | None = None
    status: str | None = None
    active: StrictBool | None = None
    original: str | None = None
    md: str | None = None
    sm: str | None = None
    xs: str | None = None


class Event(Model):
    """A live event. Not every field comes with every answer, so each but the id may be None.

    `reconnect_window`: seconds. `type`: `one-time` or `recurring`; `latency_mode`: `standard` or `reduced`; a word that
    the document does not name stays as it came. `stream`: the current one.
    """

    id: str = Field(min_length=1)
    workspace_id: str | None = None
    parent_id: str | None = None
    name: str | None = None
    subtitle: str | None = None
    type: str | None = None
    streamkey: Secret | None = None
    auto_start: StrictBool | None = None
    protected: StrictBool | None = None
    time_shift: StrictBool | None = None
    reconnect_window: StrictInt | None = None
    record: Record | None = None
    video: VideoSettings | None = None
    audio: AudioSettings | None = None
    restreams: tuple[EventRestream, ...] | None = None
    play_link: str | None = None
    rtmp_link: SecretLink | None = None
    scheduled: Scheduled | None = None
    stream: Stream | None = None
    latency_mode: str | None = None
    show_members: StrictBool | None = None
    chat_active: StrictBool | None = None
    chat_after_stream: StrictBool | None = None
    chat_preview: StrictBool | None = None
    allow_chat_links: StrictBool | None = None
    moderators: Any = None
    poster: Poster | None = None
    created_at: Timestamp | None = None
    updated_at: Timestamp | None = None


class Events(Resource):
    """The live events of the workspace."""

    async def get(self, event_id: str) -> Event:
        """One event. Raises NotFound where there is none of that id, and any other ApiError."""
        what = f"get event {wording.safe(event_id, 40)}"
        return await self._one(Event, Call("GET", f"{_EVENTS}/{segment(event_id, what)}", what))

    async def list(
        self,
        *,
        page: int = 1,
        per_page: int = 20,
        order: str | None = None,
        project_id: str | None = None,
        folder_id: str | None = None,
        without_folder: bool | None = None,
    ) -> Page[Event]:
        """One page of events; by default newest first, then by name. `order`: `created_at.desc,name.asc`.

        `page` counts from 1, `per_page` is 1 to 100 (decisions.md, "Requests"). Raises ApiError.
        """
        asked = {
            "page": page,
            "per_page": per_page,
            "order": order,
            "project_id": project_id,
            "folder_id": folder_id,
            "without_folder": without_folder,
        }
        params = {name: value for name, value in asked.items() if value is not None}
        return await self._page(Event, Call("GET", _EVENTS, "list events", params), page=page, per_page=per_page)

    async def iterate(
        self,
        *,
        order: str | None = None,
        project_id: str | None = None,
        folder_id: str | None = None,
        without_folder: bool | None = None,
    ) -> AsyncIterator[Event]:
        """Every event, page after page, each id once though events move between the pages meanwhile.

        An event that moves to a page already read is missed; the next walk finds it. Raises ApiError.
        """
        seen: set[str] = set()
        number, more = 1, True
        while more:
            page = await self.list(
                page=number,
                per_page=_LARGEST_PAGE,
                order=order,
                project_id=project_id,
                folder_id=folder_id,
                without_folder=without_folder,
            )
            fresh = [event for event in page.items if event.id not in seen]
            for event in fresh:
                seen.add(event.id)
                yield event
            # A platform that ignores `page` would be walked for ever: a page without news is the last.
            more = bool(fresh) and (page.total is None or number * page.per_page < page.total)
            number += 1
