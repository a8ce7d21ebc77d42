"""Meeting rooms and their relay profiles (platform-api.md, "Meeting rooms and relay profiles")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NotRequired, TypedDict, Unpack, overload

from pydantic import AfterValidator, Field

from livedeck.client.http.errors import Invalid
from livedeck.client.http.request import Identifier, JsonBody, describe_call, make_request
from livedeck.client.http.secrets import Address, IngestAddress, PublicName, Secret
from livedeck.client.http.transport import Transport
from livedeck.client.resources.base import (
    UNSET,
    Draft,
    Id,
    IdText,
    Model,
    Resource,
    draft_of,
    length_between,
    query_params,
)
from livedeck.client.resources.fields import RtmpUrl, Timestamp
from livedeck.client.resources.pages import MAX_PER_PAGE, Page, PagedItems

MAX_PROFILES = 15  # platform-api.md, "Limits"


class RelayProfile(Model):
    """Relay destination of a room. `url`: RTMP address without the key. `service`: the platform of the url."""

    id: Id
    room_id: str | None = None
    name: PublicName | None = None
    url: IngestAddress | None = None
    stream_key: Secret | None = None
    service: str | None = None
    created_at: Timestamp | None = None
    updated_at: Timestamp | None = None


class Room(Model):
    """Meeting room. `code`: code that a guest types. `link`: address for guests to join.

    `restreams`: oldest first.

    `type`: `permanent_meeting` or any other word. `status`: `pending` or any other word.
    """

    id: Annotated[PublicName, Field(min_length=1)]
    name: PublicName | None = None
    type: str | None = None
    code: str | None = None
    link: Address | None = None
    status: str | None = None
    restreams: tuple[RelayProfile, ...] | None = None
    created_at: Timestamp | None = None


def _check_key(secret: Secret) -> Secret:
    if not 1 <= len(secret.reveal()) <= 512:
        raise ValueError(f"should have 1 to 512 characters, not {len(secret.reveal())}")
    return secret


class RelayDraft(Draft):
    """Fields of a relay profile (platform-api.md, "Limits"). A new profile needs all three.

    `name`: 1 to 128 characters. `url`: rtmp or rtmps, without the key; spaces and trailing slashes are removed.
    `stream_key`: 1 to 512 characters. The platform derives `service` itself.
    """

    name: Annotated[str, length_between(1, 128)] = UNSET
    url: RtmpUrl = UNSET
    stream_key: Annotated[Secret, AfterValidator(_check_key)] = UNSET


class RoomDraft(Draft):
    """Fields of a new room. Its profiles (at most 15) are created with it; none can be added later.

    `owner_id`: a user of the workspace.
    """

    owner_id: IdText
    name: str
    type: str = "permanent_meeting"
    restreams: tuple[RelayDraft, ...] = ()


class RelayFields(TypedDict, total=False):
    """Fields of RelayDraft."""

    name: str
    url: str
    stream_key: str | Secret


class NewRelayFields(TypedDict):
    """Fields of RelayDraft for a new profile."""

    name: str
    url: str
    stream_key: str | Secret


class NewRoomFields(TypedDict):
    """Fields of RoomDraft."""

    owner_id: Identifier
    name: str
    type: NotRequired[str]
    restreams: NotRequired[Sequence[RelayDraft | NewRelayFields]]


class Rooms(Resource):
    """Meeting rooms of the workspace."""

    def __init__(self, transport: Transport, meet_segment: str) -> None:
        super().__init__(transport)
        self._rooms = ("v1", meet_segment, "rooms")

    async def list(
        self,
        *,
        page: int = 1,
        per_page: int = 20,
        order: str | None = None,
        status: tuple[str, ...] = (),
        type: tuple[str, ...] = (),  # noqa: A002  the name of the filter
        code: tuple[str, ...] = (),
        q: str | None = None,
    ) -> Page[Room]:
        """Return one page of rooms with any of these statuses, types and codes. `q`: part of the name.

        `order` by name, code, type, status, created_at, updated_at (platform-api.md, "Meeting rooms and relay
        profiles"). Raises ApiError.

        >>> page = await api.rooms.list(q="council")
        >>> [room.name for room in page]
        ['Council, hybrid session']
        """
        filters = query_params(q=q) | query_params(**{"status[]": status, "type[]": type, "code[]": code})
        params = query_params(page=page, per_page=per_page, order=order) | filters
        return await self._page(Room, make_request("GET", "list rooms", *self._rooms, params=params))

    def iterate(
        self,
        *,
        order: str | None = None,
        status: tuple[str, ...] = (),
        type: tuple[str, ...] = (),  # noqa: A002  the name of the filter
        code: tuple[str, ...] = (),
        q: str | None = None,
    ) -> PagedItems[Room]:
        """Iterate over the matching rooms, each once even if they move between pages meanwhile. Raises ApiError.

        >>> codes = [room.code async for room in api.rooms.iterate(order="name.asc")]
        """
        return PagedItems(
            lambda page: self.list(
                page=page, per_page=MAX_PER_PAGE, order=order, status=status, type=type, code=code, q=q
            )
        )

    async def get(self, room_id: Identifier) -> Room:
        """Return one room. Raises NotFound if it does not exist, and any other ApiError.

        >>> room = await api.rooms.get(room_id)
        >>> room.restreams[0].stream_key.reveal() == str(room.restreams[0].stream_key)
        False
        """
        return await self._named(Room, make_request("GET", describe_call("get room", room_id), *self._rooms, room_id))

    @overload
    async def create(self, draft: RoomDraft) -> Room: ...

    @overload
    async def create(self, **fields: Unpack[NewRoomFields]) -> Room: ...

    async def create(self, draft: RoomDraft | None = None, **fields: Any) -> Room:
        """Create a room with its relay profiles, all or nothing. `fields`: those of RoomDraft, instead of a draft.

        Raises Invalid for a profile that lacks a field, TooManyProfiles, Validation and any other ApiError.

        >>> relay = RelayDraft(name="CDN", url="rtmp://live.example/app", stream_key=Secret("a key"))
        >>> room = await api.rooms.create(owner_id=owner_id, name="Studio", restreams=[relay])
        >>> room.restreams[0].service
        'custom'
        """
        draft = draft_of(RoomDraft, draft, fields)
        summary = describe_call("create room", draft.name)
        _check_profiles(draft.restreams, summary)
        body = {"type": draft.type, "restreams": ()} | draft.body()
        return await self._object(Room, make_request("POST", summary, *self._rooms, body=JsonBody(body)))

    async def delete(self, room_id: Identifier) -> None:
        """End the room: everyone is disconnected, relays stop, its profiles are removed. May be repeated.

        Raises NotFound for a room that never existed, and any other ApiError.

        >>> await api.rooms.delete(room_id)
        """
        await self._success(make_request("DELETE", describe_call("delete room", room_id), *self._rooms, room_id))


class Relays(Resource):
    """Relay profiles of rooms. The API can change them; only participants start and stop a relay."""

    def __init__(self, transport: Transport, meet_segment: str) -> None:
        super().__init__(transport)
        self._rooms = ("v1", meet_segment, "rooms")

    async def update(
        self,
        room_id: Identifier,
        restream_id: Identifier,
        draft: RelayDraft | None = None,
        **fields: Unpack[RelayFields],
    ) -> RelayProfile:
        """Change the fields that `draft` or `fields` sets. The relay uses them from its next start on.

        Raises RelayRunning while the relay runs, NotFound also if the profile belongs to another room, and any other
        ApiError.

        >>> (await api.relays.update(room_id, restream_id, name="Backup")).name
        'Backup'
        """
        draft = draft_of(RelayDraft, draft, fields)
        summary = describe_call("update relay profile", restream_id)
        path = (*self._rooms, room_id, "restreams", restream_id)
        return await self._object(RelayProfile, make_request("PATCH", summary, *path, body=JsonBody(draft.body())))


def _check_profiles(restreams: tuple[RelayDraft, ...], summary: str) -> None:
    if len(restreams) > MAX_PROFILES:
        raise Invalid(summary, "restreams", f"should be at most {MAX_PROFILES}, not {len(restreams)}")
    for number, draft in enumerate(restreams):
        draft.require("name", "url", "stream_key", prefix=f"restreams[{number}].")
