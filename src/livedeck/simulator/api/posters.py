"""Posters of a video, and the upload of a custom one (platform-api.md, 4, "Posters of a video").

Of the posters of a video just one is active, as long as it has any.
"""

from __future__ import annotations

from starlette.responses import Response

from livedeck.simulator import schema
from livedeck.simulator.api.events import event_of
from livedeck.simulator.api.images import POSTER, shown_poster
from livedeck.simulator.api.videos import find_extra, find_video
from livedeck.simulator.engine.store import Document, Store
from livedeck.simulator.errors import invalid, no_event
from livedeck.simulator.http import PAGING, Call, Endpoint, done, one, page
from livedeck.simulator.rules import UUID, Rule, needed, number, ordering, text


def new_poster(identity: str, video: str, from_time: float, created_at: str, *, active: bool) -> Document:
    """A poster of a video as it is stored. `from_time`: seconds into the video."""
    times = {"from_time": from_time, "to_time": from_time, "created_at": created_at}
    return {"id": identity, "media_id": video, "of_video": video, "active": active} | times


async def list_posters(call: Call) -> Response:
    """The posters of a video, a page of them."""
    query = call.search("poster", [("created_at", "asc")], [("of_video", find_video(call)["id"])])
    posters, total = call.world.store.find(query)
    return page(query, total, [shown_poster(poster, call.origin) for poster in posters])


async def make_poster(call: Call) -> Response:
    """Make a poster of the frame at that time."""
    video, asked = find_video(call), await call.body()
    if asked["from_time"] > video["duration"]:
        raise invalid(("from_time", f"must be within the video, which lasts {video['duration']:g} s"))
    return one(_add(call, video["id"], asked["from_time"], {}))


def _add(call: Call, video: str, from_time: float, more: Document, *, active: bool = False) -> Document:
    store = call.world.store
    with store.transaction():
        first = not _posters(store, call.workspace, video)
        poster = new_poster(call.world.new_id(), video, from_time, call.world.stamp(), active=first) | more
        store.create("poster", call.workspace, poster)
        if active:
            poster = activate(store, call.workspace, poster)
    return shown_poster(poster, call.origin)


async def read_poster(call: Call) -> Response:
    """One poster."""
    return one(shown_poster(_find(call), call.origin))


async def activate_poster(call: Call) -> Response:
    """Show this poster in the player and in lists, and no other."""
    poster = _find(call)
    with call.world.store.transaction():
        activate(call.world.store, call.workspace, poster)
    return done()


def activate(store: Store, workspace: str, poster: Document) -> Document:
    """The poster, active; every other one of its video is not."""
    for other in _posters(store, workspace, poster["of_video"]):
        if other["active"] != (other["id"] == poster["id"]):
            store.change("poster", other | {"active": not other["active"]})
    return poster | {"active": True}


async def delete_poster(call: Call) -> Response:
    """Delete the poster for good; the oldest that is left takes the place of an active one."""
    poster, store = _find(call), call.world.store
    with store.transaction():
        store.delete("poster", poster["id"])
        left = _posters(store, call.workspace, poster["of_video"])
        if poster["active"] and left:
            activate(store, call.workspace, left[0])
    return done()


async def upload_poster(call: Call) -> Response:
    """Give a video or an event a poster of its own. Its address is recorded and never fetched (decisions.md)."""
    asked = call.headers()
    if ("X-Video-ID" in asked) == ("X-Event-ID" in asked):
        raise invalid(("X-Video-ID", "must be given, or else X-Event-ID"))
    source = {"source": asked["X-Poster-URL"]}
    if "X-Event-ID" in asked:
        return one(_adorn(call, asked["X-Event-ID"], source))
    return one(_add(call, find_video(call, asked["X-Video-ID"])["id"], 0, source, active=True))


def _adorn(call: Call, identity: str, source: Document) -> Document:
    event, world = event_of(call, identity), call.world
    with world.store.transaction():
        poster = new_poster(world.new_id(), event["id"], 0, world.stamp(), active=True) | source
        if event["poster"]:
            world.store.delete("poster", event["poster"]["id"])
        world.store.create("poster", call.workspace, poster)
        world.store.change("event", event | {"poster": poster, "updated_at": world.stamp()})
    return shown_poster(poster, call.origin)


def _posters(store: Store, workspace: str, video: str) -> list[Document]:
    return store.every("poster", workspace, [("of_video", video)], [("created_at", "asc")])


def _find(call: Call) -> Document:
    poster = find_extra(call, "poster")
    if poster is None:
        raise no_event()
    return poster


def _web(value: str) -> str:
    if not value.startswith(("http://", "https://")) or not value.isprintable():
        raise ValueError
    return text(1, 2048).take(value)  # type: ignore[no-any-return]


_PATH = "/v1/videos/{video_id}/posters"

_ONE = f"{_PATH}/{{poster_id}}"

_SHAPE = schema.record(POSTER)

_LIST = PAGING | {"order": ordering("created_at", "from_time")}

_CODES = [400404, 404404]

_UPLOAD = {
    "X-Poster-URL": needed(Rule("an http or https address", _web, schema.TEXT | {"pattern": "^https?://[!-~]+$"})),
    "X-Video-ID": UUID,
    "X-Event-ID": UUID,
}


ENDPOINTS = (
    Endpoint("GET", _PATH, list_posters, _LIST, schema.paged(_SHAPE), [404404]),
    Endpoint("POST", _PATH, make_poster, {"from_time": needed(number(0, 1e6))}, schema.data(_SHAPE), [404404]),
    Endpoint("GET", _ONE, read_poster, answer=schema.data(_SHAPE), refuses=_CODES),
    Endpoint("POST", f"{_ONE}/active", activate_poster, answer=schema.DONE, refuses=_CODES),
    Endpoint("DELETE", _ONE, delete_poster, answer=schema.DONE, refuses=_CODES),
    Endpoint(
        *("POST", "/upload/v2/poster", upload_poster),
        answer=schema.data(_SHAPE),
        refuses=_CODES,
        headers=_UPLOAD,
        body="file",
    ),
)
