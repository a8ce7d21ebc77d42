"""Live events and their streams: models, drafts, and every operation on them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, StrictFloat, StrictInt

from livedeck.client.http.errors import Invalid
from livedeck.client.http.request import JsonBody, Request, describe_call, make_request
from livedeck.client.http.secrets import Secret, SecretLink
from livedeck.client.resources.base import UNSET, Draft, Id, Model, Resource, query_params
from livedeck.client.resources.fields import DateTimeField, RtmpUrl, Timestamp
from livedeck.client.resources.pages import MAX_PER_PAGE, Page, PagedItems
from livedeck.client.resources.posters import Poster

Preset = Literal["360p", "480p", "720p", "1080p", "1440p", "2160p"]


class ScheduleDraft(Draft):
    """`time`: when the event is to start; None takes it back."""

    time: DateTimeField | None = UNSET


class RecordDraft(Draft):
    """`parent_id`: the project or folder that the recording goes to."""

    parent_id: str | None = UNSET


class VideoDraft(Draft):
    """`presets`: the qualities; None leaves them to the platform."""

    presets: tuple[Preset, ...] | None = UNSET


class EventRestreamDraft(Draft):
    """Another platform to send the stream to. `url`: rtmp or rtmps; `key`: the stream key there."""

    name: str
    url: RtmpUrl
    key: Secret
    description: str = UNSET
    enabled: StrictBool = UNSET


class EventDraft(Draft):
    """What to make of an event. A new one needs `name` and `type`; `type` cannot be changed later.

    `reconnect_window`: seconds, 600 where it is not set. `restreams`: all of them, in place of those there were.
    """

    name: Annotated[str, Field(min_length=1)] = UNSET
    type: Literal["recurring", "one-time"] = UNSET
    parent_id: str | None = UNSET
    auto_start: StrictBool = UNSET
    protected: StrictBool = UNSET
    time_shift: StrictBool = UNSET
    reconnect_window: Annotated[StrictInt, Field(ge=0)] = UNSET
    scheduled: ScheduleDraft | None = UNSET
    record: RecordDraft | None = UNSET
    video: VideoDraft | None = UNSET
    restreams: tuple[EventRestreamDraft, ...] = UNSET
    latency_mode: Literal["standard", "reduced"] = UNSET
    show_members: StrictBool = UNSET
    chat_active: StrictBool = UNSET
    chat_after_stream: StrictBool = UNSET
    chat_preview: StrictBool = UNSET


class Stream(Model):
    """One ingest of an event. `status`: `pending`, `live`, `finished` or any other word."""

    id: str | None = None
    event_id: str | None = None
    status: str | None = None
    started_at: Timestamp | None = None
    finished_at: Timestamp | None = None


class Streams(Resource):
    """When the stream of an event is to begin."""

    async def schedule(self, event_id: str, started_at: datetime) -> Stream:
        """Schedule a stream, at an aware time. Raises Invalid for one without a time zone, and any ApiError."""
        return await self._schedule("POST", event_id, started_at, describe_call("schedule stream of event", event_id))

    async def reschedule(self, event_id: str, started_at: datetime) -> Stream:
        """Move the stream to another aware time. Raises Invalid for one without a time zone, and any ApiError."""
        return await self._schedule("PUT", event_id, started_at, describe_call("reschedule stream of event", event_id))

    async def _schedule(self, method: str, event_id: str, started_at: datetime, summary: str) -> Stream:
        if started_at.tzinfo is None:
            raise Invalid(summary, "started_at", "should carry a time zone")
        body = JsonBody({"started_at": started_at})
        return await self._object(
            Stream, make_request(method, summary, "v2", "live", "events", event_id, "stream", body=body)
        )


_EVENTS = ("v2", "live", "events")


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


class Recording(Model):
    """A video that was recorded of an event. `duration`: seconds. The document shows no field; these are met."""

    id: Id
    title: str | None = None
    status: str | None = None
    duration: StrictFloat | None = None
    created_at: Timestamp | None = None


class Event(Model):
    """A live event. Not every field comes with every answer, so each but the id may be None.

    `reconnect_window`: seconds. `type`: `one-time` or `recurring`; `latency_mode`: `standard` or `reduced`; a word that
    the document does not name stays as it came. `stream`: the current one.
    """

    id: Id
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


def _get(event_id: str) -> Request:
    return make_request("GET", describe_call("get event", event_id), *_EVENTS, event_id)


class Events(Resource):
    """The live events of the workspace."""

    async def get(self, event_id: str) -> Event:
        """One event. Raises NotFound where there is none of that id, and any other ApiError."""
        return await self._object(Event, _get(event_id))

    def address(self, event_id: str) -> str:
        """Where one event is asked for: what another program needs beside the token."""
        return self._transport.url(_get(event_id))

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

        `page` counts from 1, `per_page` is 1 to 100 (platform-api.md, "Lists"). Raises ApiError.
        """
        filters = query_params(project_id=project_id, folder_id=folder_id, without_folder=without_folder)
        params = query_params(page=page, per_page=per_page, order=order) | filters
        return await self._page(Event, make_request("GET", "list events", *_EVENTS, params=params))

    def iterate(
        self,
        *,
        order: str | None = None,
        project_id: str | None = None,
        folder_id: str | None = None,
        without_folder: bool | None = None,
    ) -> PagedItems[Event]:
        """Every such event, each once though they move between the pages meanwhile. Raises ApiError."""
        filters = query_params(order=order, project_id=project_id, folder_id=folder_id, without_folder=without_folder)
        return PagedItems(lambda page: self.list(page=page, per_page=MAX_PER_PAGE, **filters))

    async def create(self, draft: EventDraft) -> Event:
        """Make an event, as a draft until it is scheduled and enabled. Raises Invalid without `name` or `type`."""
        draft.require("name", "type")
        body = JsonBody(draft.body())
        return await self._object(
            Event, make_request("POST", describe_call("create event", draft.name), *_EVENTS, body=body)
        )

    async def update(self, event_id: str, draft: EventDraft) -> Event:
        """Change what the draft sets and nothing else. Raises Invalid for a `type`, and any ApiError."""
        draft.forbid("type", "cannot be changed")
        summary = describe_call("update event", event_id)
        return await self._object(Event, make_request("PUT", summary, *_EVENTS, event_id, body=JsonBody(draft.body())))

    async def enable(self, event_id: str) -> None:
        """Let streams be ingested and played. Raises ApiError."""
        await self._success(make_request("PUT", describe_call("enable event", event_id), *_EVENTS, event_id, "enable"))

    async def complete(self, event_id: str) -> None:
        """Finish the event: ingest accepts no more streams (platform-api.md, "Live events"). Raises ApiError."""
        await self._success(
            make_request("PUT", describe_call("complete event", event_id), *_EVENTS, event_id, "complete")
        )

    async def move(self, event_id: str, parent_id: str) -> Event:
        """Put it into another project or folder. Raises ApiError."""
        summary = describe_call("move event", event_id)
        body = JsonBody({"parent_id": parent_id})
        return await self._object(Event, make_request("PUT", summary, *_EVENTS, event_id, "move", body=body))

    async def delete(self, event_id: str) -> None:
        """Delete it for good. Raises ApiError."""
        await self._success(make_request("DELETE", describe_call("delete event", event_id), *_EVENTS, event_id))

    async def videos(
        self, event_id: str, *, page: int = 1, per_page: int = 20, order: str | None = None
    ) -> Page[Recording]:
        """One page of the recordings of an event, oldest first by default. Raises ApiError."""
        summary = describe_call("list recordings of event", event_id)
        params = query_params(page=page, per_page=per_page, order=order)
        return await self._page(Recording, make_request("GET", summary, *_EVENTS, event_id, "videos", params=params))

    def iterate_videos(self, event_id: str, *, order: str | None = None) -> AsyncIterator[Recording]:
        """Every recording of an event, each once though they move between the pages meanwhile. Raises ApiError."""
        return PagedItems(lambda page: self.videos(event_id, page=page, per_page=MAX_PER_PAGE, order=order))
