"""Live events and their streams: models, drafts, and every operation on them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, NotRequired, Required, TypedDict, Unpack, overload

from pydantic import Field, StrictBool, StrictFloat, StrictInt

from livedeck.client.http.errors import Invalid
from livedeck.client.http.request import Identifier, JsonBody, Request, describe_call, id_text, make_request
from livedeck.client.http.secrets import Address, IngestAddress, PublicName, Secret, SecretLink
from livedeck.client.resources.base import UNSET, Draft, Id, IdText, Model, Resource, draft_of, query_params
from livedeck.client.resources.fields import DateTimeField, RtmpUrl, Timestamp
from livedeck.client.resources.pages import MAX_PER_PAGE, Page, PagedItems
from livedeck.client.resources.posters import Poster

Preset = Literal["360p", "480p", "720p", "1080p", "1440p", "2160p"]


class ScheduleDraft(Draft):
    """`time`: planned start of the event; None removes it."""

    time: DateTimeField | None = UNSET


class RecordDraft(Draft):
    """`parent_id`: the project or folder of the recording."""

    parent_id: IdText | None = UNSET


class VideoDraft(Draft):
    """Video qualities of an event. `presets`: None lets the platform choose."""

    presets: tuple[Preset, ...] | None = UNSET


class EventRestreamDraft(Draft):
    """Further platform that receives the stream. `url`: rtmp or rtmps. `key`: the stream key there."""

    name: str
    url: RtmpUrl
    key: Secret
    description: str = UNSET
    enabled: StrictBool = UNSET


class EventDraft(Draft):
    """Fields of an event. A new one needs `name` and `type`; `type` cannot be changed later.

    `reconnect_window`: seconds, default 600. `restreams`: replaces all existing ones.
    """

    name: Annotated[str, Field(min_length=1)] = UNSET
    type: Literal["recurring", "one-time"] = UNSET
    parent_id: IdText | None = UNSET
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


class ScheduleFields(TypedDict):
    """Fields of ScheduleDraft."""

    time: datetime | str | None


class RecordFields(TypedDict):
    """Fields of RecordDraft."""

    parent_id: Identifier | None


class VideoFields(TypedDict):
    """Fields of VideoDraft."""

    presets: Sequence[Preset] | None


class EventRestreamFields(TypedDict):
    """Fields of EventRestreamDraft."""

    name: str
    url: str
    key: str | Secret
    description: NotRequired[str]
    enabled: NotRequired[bool]


class _EventOptions(TypedDict, total=False):
    parent_id: Identifier | None
    auto_start: bool
    protected: bool
    time_shift: bool
    reconnect_window: int
    scheduled: ScheduleDraft | ScheduleFields | None
    record: RecordDraft | RecordFields | None
    video: VideoDraft | VideoFields | None
    restreams: Sequence[EventRestreamDraft | EventRestreamFields]
    latency_mode: Literal["standard", "reduced"]
    show_members: bool
    chat_active: bool
    chat_after_stream: bool
    chat_preview: bool


class EventFields(_EventOptions, total=False):
    """Fields of EventDraft that a change may have."""

    name: str


class NewEventFields(_EventOptions):
    """Fields of EventDraft for a new event."""

    name: Required[str]
    type: Required[Literal["recurring", "one-time"]]


class Stream(Model):
    """Ingest of an event. `status`: `pending`, `live`, `finished` or any other word."""

    id: str | None = None
    event_id: str | None = None
    status: str | None = None
    started_at: Timestamp | None = None
    finished_at: Timestamp | None = None


class Streams(Resource):
    """Schedule of an event's stream."""

    async def schedule(self, event_id: Identifier, started_at: datetime) -> Stream:
        """Schedule a stream at a time with a time zone. Raises Invalid without a zone, and any ApiError.

        >>> start = datetime(2026, 11, 21, 18, tzinfo=UTC)
        >>> (await api.streams.schedule(draft_id, start)).started_at == start
        True
        """
        return await self._schedule("POST", event_id, started_at, describe_call("schedule stream of event", event_id))

    async def reschedule(self, event_id: Identifier, started_at: datetime) -> Stream:
        """Move the stream to another time with a time zone. Raises Invalid without a zone, and any ApiError.

        >>> stream = await api.streams.schedule(draft_id, datetime(2026, 11, 21, 18, tzinfo=UTC))
        >>> stream = await api.streams.reschedule(draft_id, datetime(2026, 11, 21, 19, tzinfo=UTC))
        >>> stream.started_at.hour
        19
        """
        return await self._schedule("PUT", event_id, started_at, describe_call("reschedule stream of event", event_id))

    async def _schedule(self, method: str, event_id: Identifier, started_at: datetime, summary: str) -> Stream:
        if started_at.tzinfo is None:
            raise Invalid(summary, "started_at", "should have a time zone")
        body = JsonBody({"started_at": started_at})
        return await self._object(
            Stream, make_request(method, summary, "v2", "live", "events", event_id, "stream", body=body)
        )


_EVENTS = ("v2", "live", "events")


class Record(Model):
    """Place of the finished recording: a project or a folder."""

    parent_id: str | None = None


class VideoSettings(Model):
    """`presets`: names of the qualities, `360p` to `2160p`."""

    presets: tuple[str, ...] | None = None


class AudioSettings(Model):
    """`channel_mapping`: undocumented, kept unchanged."""

    channel_mapping: Any = None


class Scheduled(Model):
    """`time`: planned start of the event."""

    time: Timestamp | None = None


class EventRestream(Model):
    """Copy of the event's stream on another platform. `url`: RTMP address. `status`: `disconnected`, ..."""

    id: str | None = None
    event_id: str | None = None
    name: PublicName | None = None
    url: IngestAddress | None = None
    key: Secret | None = None
    status: str | None = None
    enabled: StrictBool | None = None
    description: str | None = None
    created_at: Timestamp | None = None
    updated_at: Timestamp | None = None


class Recording(Model):
    """Recorded video of an event. `duration`: seconds. The document shows no fields; these occur."""

    id: Id
    title: PublicName | None = None
    status: str | None = None
    duration: StrictFloat | None = None
    created_at: Timestamp | None = None


class Event(Model):
    """Live event. A reply may lack any field except the id; a missing field is None.

    `reconnect_window`: seconds. `type`: `one-time` or `recurring`. `latency_mode`: `standard` or `reduced`;
    undocumented words are kept unchanged. `stream`: the current one.
    """

    id: Annotated[PublicName, Field(min_length=1)]
    workspace_id: str | None = None
    parent_id: str | None = None
    name: PublicName | None = None
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
    play_link: Address | None = None
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


def _get(event_id: Identifier) -> Request:
    return make_request("GET", describe_call("get event", event_id), *_EVENTS, event_id)


def _event_filters(
    project_id: Identifier | None, folder_id: Identifier | None, without_folder: bool | None
) -> dict[str, Any]:
    ids = {"project_id": project_id, "folder_id": folder_id}
    texts = {name: id_text(identifier, "list events") for name, identifier in ids.items() if identifier is not None}
    return texts | query_params(without_folder=without_folder)


class Events(Resource):
    """Live events of the workspace."""

    async def get(self, event_id: Identifier) -> Event:
        """Return one event. Raises NotFound if it does not exist, and any other ApiError.

        >>> event = await api.events.get(event_id)
        >>> event.name, event.stream.status
        ('Town hall, main', 'live')
        """
        return await self._named(Event, _get(event_id))

    def address(self, event_id: Identifier) -> str:
        """Return the URL of the event, which another program needs in addition to the token.

        >>> api.events.address("4d2c2f2e")
        'http://127.0.0.1:.../v2/live/events/4d2c2f2e'
        """
        return self._transport.url(_get(event_id))

    async def list(
        self,
        *,
        page: int = 1,
        per_page: int = 20,
        order: str | None = None,
        project_id: Identifier | None = None,
        folder_id: Identifier | None = None,
        without_folder: bool | None = None,
    ) -> Page[Event]:
        """Return one page of events; by default newest first, then by name. `order`: `created_at.desc,name.asc`.

        `page` counts from 1, `per_page` is 1 to 100 (platform-api.md, "Lists"). Raises ApiError.

        >>> page = await api.events.list(per_page=5, order="name.asc")
        >>> len(page), page.total, page[0].name
        (5, 12, 'Abendmusik 東京')
        """
        filters = _event_filters(project_id, folder_id, without_folder)
        params = query_params(page=page, per_page=per_page, order=order) | filters
        return await self._page(Event, make_request("GET", "list events", *_EVENTS, params=params))

    def iterate(
        self,
        *,
        order: str | None = None,
        project_id: Identifier | None = None,
        folder_id: Identifier | None = None,
        without_folder: bool | None = None,
    ) -> PagedItems[Event]:
        """Iterate over the matching events, each once even if they move between pages meanwhile. Raises ApiError.

        >>> live = [event.name async for event in api.events.iterate() if event.stream]
        """
        filters = query_params(order=order, project_id=project_id, folder_id=folder_id, without_folder=without_folder)
        return PagedItems(lambda page: self.list(page=page, per_page=MAX_PER_PAGE, **filters))

    @overload
    async def create(self, draft: EventDraft) -> Event: ...

    @overload
    async def create(self, **fields: Unpack[NewEventFields]) -> Event: ...

    async def create(self, draft: EventDraft | None = None, **fields: Any) -> Event:
        """Create an event: a draft until it is scheduled and enabled.

        `fields`: the fields of EventDraft, instead of a draft.

        Raises Invalid without `name` or `type`, and any ApiError.

        >>> event = await api.events.create(name="Evening show", type="one-time", reconnect_window=300)
        >>> event.reconnect_window
        300
        """
        draft = draft_of(EventDraft, draft, fields)
        draft.require("name", "type")
        body = JsonBody(draft.body())
        return await self._object(
            Event, make_request("POST", describe_call("create event", draft.name), *_EVENTS, body=body)
        )

    async def update(
        self, event_id: Identifier, draft: EventDraft | None = None, **fields: Unpack[EventFields]
    ) -> Event:
        """Change the fields that `draft` or `fields` sets. Raises Invalid if `type` is set, and any ApiError.

        >>> event = await api.events.update(event_id, name="Town hall")
        >>> event.name
        'Town hall'
        """
        draft = draft_of(EventDraft, draft, fields)
        draft.forbid("type", "cannot be changed")
        summary = describe_call("update event", event_id)
        return await self._object(Event, make_request("PUT", summary, *_EVENTS, event_id, body=JsonBody(draft.body())))

    async def enable(self, event_id: Identifier) -> None:
        """Allow ingest and playback. Raises ApiError.

        >>> await api.events.enable(event_id)
        """
        await self._success(make_request("PUT", describe_call("enable event", event_id), *_EVENTS, event_id, "enable"))

    async def complete(self, event_id: Identifier) -> None:
        """Finish the event: ingest accepts no more streams (platform-api.md, "Live events"). Raises ApiError.

        >>> await api.events.complete(event_id)
        """
        await self._success(
            make_request("PUT", describe_call("complete event", event_id), *_EVENTS, event_id, "complete")
        )

    async def move(self, event_id: Identifier, parent_id: Identifier) -> Event:
        """Move the event to another project or folder. Raises ApiError.

        >>> (await api.events.move(event_id, parent_id)).parent_id == parent_id
        True
        """
        summary = describe_call("move event", event_id)
        body = JsonBody({"parent_id": id_text(parent_id, summary)})
        return await self._object(Event, make_request("PUT", summary, *_EVENTS, event_id, "move", body=body))

    async def delete(self, event_id: Identifier) -> None:
        """Delete the event for good. Raises ApiError.

        >>> await api.events.delete(draft_id)
        """
        await self._success(make_request("DELETE", describe_call("delete event", event_id), *_EVENTS, event_id))

    async def videos(
        self, event_id: Identifier, *, page: int = 1, per_page: int = 20, order: str | None = None
    ) -> Page[Recording]:
        """Return one page of the recordings of an event, oldest first by default. Raises ApiError.

        >>> page = await api.events.videos(recorded_id)
        >>> page[0].title
        'Rehearsal Tuesday'
        """
        summary = describe_call("list recordings of event", event_id)
        params = query_params(page=page, per_page=per_page, order=order)
        return await self._page(Recording, make_request("GET", summary, *_EVENTS, event_id, "videos", params=params))

    def iterate_videos(self, event_id: Identifier, *, order: str | None = None) -> PagedItems[Recording]:
        """Iterate over the recordings of an event, each once even if they move between pages meanwhile.

        Raises ApiError.

        >>> ids = [recording.id async for recording in api.events.iterate_videos(recorded_id)]
        """
        return PagedItems(lambda page: self.videos(event_id, page=page, per_page=MAX_PER_PAGE, order=order))
