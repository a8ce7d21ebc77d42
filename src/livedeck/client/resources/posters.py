"""Posters, the still pictures of a video or an event (platform-api.md, "Posters of a video")."""

from __future__ import annotations

from math import isfinite

from pydantic import StrictBool, StrictFloat

from livedeck.client.http.encoding import header_url
from livedeck.client.http.errors import Invalid
from livedeck.client.http.request import Identifier, JsonBody, describe_call, make_request
from livedeck.client.http.secrets import Address
from livedeck.client.resources.base import Model, Resource, id_header, query_params
from livedeck.client.resources.pages import MAX_PER_PAGE, Page, PagedItems


class Poster(Model):
    """Frame or picture in four sizes. `from_time`, `to_time`: seconds (platform-api.md, "Units").

    `type`: `image` or any other word. `status`: `done` or any other word. `active`: shown in the player and in lists.
    `original`, `md`, `sm`, `xs`: URLs, which need no token. The default poster may have no id; a stored poster of an
    event has a `media_id`.
    """

    id: str | None = None
    media_id: str | None = None
    type: str | None = None
    from_time: StrictFloat | None = None
    to_time: StrictFloat | None = None
    status: str | None = None
    active: StrictBool | None = None
    original: Address | None = None
    md: Address | None = None
    sm: Address | None = None
    xs: Address | None = None


class Posters(Resource):
    """Calls for the posters of videos. A poster can also be uploaded for an event."""

    async def list(
        self, video_id: Identifier, *, page: int = 1, per_page: int = 20, order: str | None = None
    ) -> Page[Poster]:
        """Return one page of the posters of a video.

        `order`: `from_time.asc` (platform-api.md, "Upload headers"). Raises ApiError.

        >>> page = await api.posters.list(video_id)
        >>> [poster.active for poster in page].count(True)
        1
        """
        summary = describe_call("list posters of video", video_id)
        params = query_params(page=page, per_page=per_page, order=order)
        return await self._page(Poster, make_request("GET", summary, *_posters(video_id), params=params))

    def iterate(self, video_id: Identifier, *, order: str | None = None) -> PagedItems[Poster]:
        """Iterate over the posters of a video, each once even if they move between pages meanwhile. Raises ApiError.

        >>> posters = [poster.original async for poster in api.posters.iterate(video_id)]
        """
        return PagedItems(lambda page: self.list(video_id, page=page, per_page=MAX_PER_PAGE, order=order))

    async def get(self, video_id: Identifier, poster_id: Identifier) -> Poster:
        """Return one poster. Raises NotFound if it does not exist, and any other ApiError.

        >>> (await api.posters.get(video_id, poster_id)).type
        'image'
        """
        summary = describe_call("get poster", poster_id)
        return await self._named(Poster, make_request("GET", summary, *_posters(video_id), poster_id))

    async def create(self, video_id: Identifier, from_time: float) -> Poster | None:
        """Create a poster from the frame at `from_time` seconds. Returns None if the reply lacks the poster.

        Raises Invalid for a time that is not a number, and any other ApiError.

        >>> poster = await api.posters.create(video_id, 12.5)
        """
        summary = describe_call("create poster of video", video_id)
        if not isfinite(from_time):
            raise Invalid(summary, "from_time", "should be a number of seconds")
        body = JsonBody({"from_time": from_time})
        return await self._optional(Poster, make_request("POST", summary, *_posters(video_id), body=body))

    async def set_active(self, video_id: Identifier, poster_id: Identifier) -> None:
        """Show this poster in the player and in lists. Raises ApiError.

        >>> await api.posters.set_active(video_id, poster_id)
        """
        summary = describe_call("set active poster", poster_id)
        await self._success(make_request("POST", summary, *_posters(video_id), poster_id, "active"))

    async def delete(self, video_id: Identifier, poster_id: Identifier) -> None:
        """Delete the poster for good. Raises ApiError.

        >>> await api.posters.delete(video_id, poster_id)
        """
        summary = describe_call("delete poster", poster_id)
        await self._success(make_request("DELETE", summary, *_posters(video_id), poster_id))

    async def upload_for_video(self, video_id: Identifier, poster_url: str) -> Poster | None:
        """Set the picture at `poster_url` as a video's poster. Returns None if the reply lacks the poster.

        Raises ApiError.

        >>> poster = await api.posters.upload_for_video(video_id, "https://pictures.example/choir.png")
        """
        return await self._upload("X-Video-ID", video_id, poster_url, describe_call("upload poster of video", video_id))

    async def upload_for_event(self, event_id: Identifier, poster_url: str) -> Poster | None:
        """Set the picture at `poster_url` as an event's poster. Returns None if the reply lacks the poster.

        Raises ApiError.

        >>> poster = await api.posters.upload_for_event(event_id, "https://pictures.example/choir.png")
        """
        return await self._upload("X-Event-ID", event_id, poster_url, describe_call("upload poster of event", event_id))

    async def _upload(self, name: str, identifier: Identifier, poster_url: str, summary: str) -> Poster | None:
        headers = {name: id_header(identifier, summary), "X-Poster-URL": header_url(poster_url, summary)}
        return await self._optional(
            Poster, make_request("POST", summary, "v2", "poster", headers=headers, base_url="upload")
        )


def _posters(video_id: Identifier) -> tuple[Identifier, ...]:
    return "v1", "videos", video_id, "posters"
