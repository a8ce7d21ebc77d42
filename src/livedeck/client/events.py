"""Live events (platform-api.md, 2 and 4): what an event is, and everything that can be done with it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from pydantic import StrictBool, StrictFloat, StrictInt

from livedeck.client.base import LARGEST_PAGE, Id, Model, Page, Resource, call, given, named, walk
from livedeck.client.call import Call, Json
from livedeck.client.event_draft import EventDraft
from livedeck.client.moments import Timestamp
from livedeck.client.posters import Poster
from livedeck.client.secret import Secret, SecretLink
from livedeck.client.streams import Stream

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


def _get(event_id: str) -> Call:
    return call("GET", named("get event", event_id), *_EVENTS, event_id)


class Events(Resource):
    """The live events of the workspace."""

    async def get(self, event_id: str) -> Event:
        """One event. Raises NotFound where there is none of that id, and any other ApiError."""
        return await self._one(Event, _get(event_id))

    def address(self, event_id: str) -> str:
        """Where one event is asked for: what another program needs beside the token."""
        return self._transport.address(_get(event_id))

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
        filters = given(project_id=project_id, folder_id=folder_id, without_folder=without_folder)
        params = given(page=page, per_page=per_page, order=order) | filters
        return await self._page(Event, call("GET", "list events", *_EVENTS, params=params))

    def iterate(
        self,
        *,
        order: str | None = None,
        project_id: str | None = None,
        folder_id: str | None = None,
        without_folder: bool | None = None,
    ) -> AsyncIterator[Event]:
        """Every such event, each once though they move between the pages meanwhile. Raises ApiError."""
        filters = given(order=order, project_id=project_id, folder_id=folder_id, without_folder=without_folder)
        return walk(lambda page: self.list(page=page, per_page=LARGEST_PAGE, **filters))

    async def create(self, draft: EventDraft) -> Event:
        """Make an event, as a draft until it is scheduled and enabled. Raises Invalid without `name` or `type`."""
        draft.need("name", "type")
        body = Json(draft.body())
        return await self._one(Event, call("POST", named("create event", draft.name), *_EVENTS, body=body))

    async def update(self, event_id: str, draft: EventDraft) -> Event:
        """Change what the draft sets and nothing else. Raises Invalid for a `type`, and any ApiError."""
        draft.deny("type", "cannot be changed")
        what = named("update event", event_id)
        return await self._one(Event, call("PUT", what, *_EVENTS, event_id, body=Json(draft.body())))

    async def enable(self, event_id: str) -> None:
        """Let streams be ingested and played. Raises ApiError."""
        await self._done(call("PUT", named("enable event", event_id), *_EVENTS, event_id, "enable"))

    async def complete(self, event_id: str) -> None:
        """Finish the event: ingest accepts no more streams (platform-api.md, 3). Raises ApiError."""
        await self._done(call("PUT", named("complete event", event_id), *_EVENTS, event_id, "complete"))

    async def move(self, event_id: str, parent_id: str) -> Event:
        """Put it into another project or folder. Raises ApiError."""
        what = named("move event", event_id)
        body = Json({"parent_id": parent_id})
        return await self._one(Event, call("PUT", what, *_EVENTS, event_id, "move", body=body))

    async def delete(self, event_id: str) -> None:
        """Delete it for good. Raises ApiError."""
        await self._done(call("DELETE", named("delete event", event_id), *_EVENTS, event_id))

    async def videos(
        self, event_id: str, *, page: int = 1, per_page: int = 20, order: str | None = None
    ) -> Page[Recording]:
        """One page of the recordings of an event, oldest first by default. Raises ApiError."""
        what = named("list recordings of event", event_id)
        params = given(page=page, per_page=per_page, order=order)
        return await self._page(Recording, call("GET", what, *_EVENTS, event_id, "videos", params=params))

    def iterate_videos(self, event_id: str, *, order: str | None = None) -> AsyncIterator[Recording]:
        """Every recording of an event, each once though they move between the pages meanwhile. Raises ApiError."""
        return walk(lambda page: self.videos(event_id, page=page, per_page=LARGEST_PAGE, order=order))
