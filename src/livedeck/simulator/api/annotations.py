"""Annotations of a video (platform-api.md, 2 and 4, "Annotations")."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from livedeck.simulator import schema
from livedeck.simulator.api.videos import find_extra, find_video
from livedeck.simulator.engine.store import Document
from livedeck.simulator.errors import invalid, unknown
from livedeck.simulator.http import PAGING, Call, Endpoint, done, one, page
from livedeck.simulator.rules import UUID, choice, integer, maybe, needed, ordering, text

FIELDS = {
    "id": schema.UUID,
    "media_id": schema.UUID,
    "video_id": schema.maybe(schema.UUID),
    "annotation_type": schema.words("text", "video"),
    "title": schema.TEXT,
    "link": schema.TEXT,
    "start_time": schema.INTEGER,
    "end_time": schema.INTEGER,
    "annotation_poster_id": schema.maybe(schema.UUID),
    "created_at": schema.MOMENT,
    "updated_at": schema.maybe(schema.MOMENT),
}

"""What the API shows of an annotation, with its types."""


def new_annotation(identity: str, media: str, created_at: str, asked: Document) -> Document:
    """An annotation as it is stored. `media` is the video that carries it, `video_id` the one that it points to."""
    empty = {"video_id": None, "link": "", "annotation_poster_id": None, "updated_at": None}
    named = {"id": identity, "media_id": media, "of_video": media, "created_at": created_at}
    rest = {name: value for name, value in asked.items() if name != "type"}
    return empty | rest | named | {"annotation_type": asked["type"]}


async def list_annotations(call: Call) -> Response:
    """The annotations of a video, a page of them."""
    query = call.search("annotation", [("start_time", "asc")], [("of_video", find_video(call)["id"])])
    annotations, total = call.world.store.find(query)
    return page(query, total, [_shown(annotation) for annotation in annotations])


async def read_annotation(call: Call) -> Response:
    """One annotation."""
    return one(_shown(_find(call)))


async def create_annotation(call: Call) -> Response:
    """Add an annotation to a video."""
    video, asked, world = find_video(call), await call.body(), call.world
    _check(call, asked, asked)
    with world.store.transaction():
        annotation = new_annotation(world.new_id(), video["id"], world.stamp(), asked)
        world.store.create("annotation", call.workspace, annotation)
    return one(_shown(annotation))


async def change_annotation(call: Call) -> Response:
    """Change an annotation; an absent field stays."""
    annotation, asked = _find(call), await call.body()
    changed = annotation | asked | {"updated_at": call.world.stamp()}
    _check(call, changed, asked)
    call.world.store.change("annotation", changed)
    return one(_shown(changed))


async def delete_annotation(call: Call) -> Response:
    """Delete the annotation for good."""
    call.world.store.delete("annotation", _find(call)["id"])
    return done()


def _check(call: Call, whole: dict[str, Any], asked: dict[str, Any]) -> None:
    """Raises the refusal for an end before the start, and for a video that is not there."""
    if whole["end_time"] < whole["start_time"]:
        raise invalid(("end_time", "must not be before start_time"))
    target = asked.get("video_id")
    if target is not None and call.world.store.get("video", target, call.workspace) is None:
        raise invalid(("video_id", "must be a video of the workspace"))


def _shown(annotation: Document) -> Document:
    return {name: annotation[name] for name in FIELDS}


def _find(call: Call) -> Document:
    annotation = find_extra(call, "annotation")
    if annotation is None:
        raise unknown()
    return annotation


_PATH = "/v1/videos/{video_id}/annotations"

_ONE = f"{_PATH}/{{annotation_id}}"

_ANNOTATION = schema.record(FIELDS)

_LIST = PAGING | {"order": ordering("start_time", "end_time", "title", "created_at", "updated_at")}

_CHANGES = {
    "video_id": maybe(UUID),
    "annotation_poster_id": maybe(UUID),
    "title": text(0, 255),
    "link": text(0, 2048),
    "start_time": integer(0, 2**31 - 1),
    "end_time": integer(0, 2**31 - 1),
}

_CREATE = _CHANGES | {"type": needed(choice("text", "video"))}

_CREATE |= {name: needed(_CHANGES[name]) for name in ("title", "start_time", "end_time")}


ENDPOINTS = (
    Endpoint("GET", _PATH, list_annotations, _LIST, schema.paged(_ANNOTATION), [404404]),
    Endpoint("POST", _PATH, create_annotation, _CREATE, schema.data(_ANNOTATION), [404404]),
    Endpoint("GET", _ONE, read_annotation, answer=schema.data(_ANNOTATION), refuses=[404404]),
    Endpoint("PUT", _ONE, change_annotation, _CHANGES, schema.data(_ANNOTATION), [404404]),
    Endpoint("DELETE", _ONE, delete_annotation, answer=schema.DONE, refuses=[404404]),
)
