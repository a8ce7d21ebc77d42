"""Annotations of a video (platform-api.md, "Annotations")."""

from __future__ import annotations

from typing import Annotated, Any

from starlette.responses import Response
from typing_extensions import TypeAliasType

from livedeck.simulator.api.videos import find_extra, find_video
from livedeck.simulator.engine.store import Document
from livedeck.simulator.errors import invalid
from livedeck.simulator.http import ApiRequest, Endpoint, data, page, select, success
from livedeck.simulator.models import (
    UNSET,
    ApiObject,
    Data,
    ListQuery,
    OptionalTimestamp,
    OptionalUuid,
    Order,
    Page,
    RequestBody,
    Success,
    Timestamp,
    Uuid,
    integer,
    one_of,
    ordering,
    text,
)

AnnotationType = TypeAliasType("AnnotationType", Annotated[str, one_of("text", "video")])
Offset = Annotated[int, integer(0, 2**31 - 1)]


class Annotation(ApiObject):
    """Annotation in the API's form."""

    id: Uuid
    media_id: Uuid
    video_id: OptionalUuid
    annotation_type: AnnotationType
    title: str
    link: str
    start_time: int
    end_time: int
    annotation_poster_id: OptionalUuid
    created_at: Timestamp
    updated_at: OptionalTimestamp


class AnnotationUpdate(RequestBody):
    """Changes of an annotation; an absent field stays as it is."""

    of = Annotation
    video_id: OptionalUuid = UNSET
    annotation_poster_id: OptionalUuid = UNSET
    title: Annotated[str, text(0, 255)] = UNSET
    link: Annotated[str, text(0, 2048)] = UNSET
    start_time: Offset = UNSET
    end_time: Offset = UNSET


class AnnotationCreate(AnnotationUpdate):
    """New annotation."""

    of = Annotation
    type: AnnotationType
    title: Annotated[str, text(0, 255)]
    start_time: Offset
    end_time: Offset


class AnnotationList(ListQuery):
    """Query of the list of annotations."""

    order: Annotated[Order, ordering("start_time", "end_time", "title", "created_at", "updated_at")] = (
        ("start_time", "asc"),
    )


def new_annotation(annotation_id: str, media_id: str, created_at: str, draft: Document) -> Document:
    """Return the stored form of an annotation.

    `media_id`: id of the video that shows it. The field `video_id` of `draft` is another video, which the annotation
    leads to.
    """
    empty = {"video_id": None, "link": "", "annotation_poster_id": None, "updated_at": None}
    fixed = {"id": annotation_id, "media_id": media_id, "of_video": media_id, "created_at": created_at}
    fields = {name: value for name, value in draft.items() if name != "type"}
    return empty | fields | fixed | {"annotation_type": draft["type"]}


async def list_annotations(request: ApiRequest[AnnotationList]) -> Response:
    """List the annotations of a video, one page at a time."""
    query = select(request, "annotation", [("of_video", find_video(request)["id"])])
    annotations, total = request.world.store.find(query)
    return page(query, total, [Annotation.show(annotation) for annotation in annotations])


async def read_annotation(request: ApiRequest[None]) -> Response:
    """Return one annotation."""
    return data(Annotation.show(find_extra(request, "annotation")))


async def create_annotation(request: ApiRequest[AnnotationCreate]) -> Response:
    """Add an annotation to a video."""
    video, draft, world = find_video(request), (await request.body()).given(), request.world
    _check(request, draft, draft)
    with world.store.transaction():
        annotation = new_annotation(world.new_id(), video["id"], world.timestamp(), draft)
        world.store.insert("annotation", request.workspace_id, annotation)
    return data(Annotation.show(annotation))


async def update_annotation(request: ApiRequest[AnnotationUpdate]) -> Response:
    """Change an annotation; an absent field stays as it is."""
    annotation, draft = find_extra(request, "annotation"), (await request.body()).given()
    changed = annotation | draft | {"updated_at": request.world.timestamp()}
    _check(request, changed, {name: value for name, value in draft.items() if value != annotation[name]})
    request.world.store.update("annotation", changed)
    return data(Annotation.show(changed))


async def delete_annotation(request: ApiRequest[None]) -> Response:
    """Delete the annotation for good."""
    request.world.store.delete("annotation", find_extra(request, "annotation")["id"])
    return success()


def _check(request: ApiRequest[Any], annotation: Document, changes: Document) -> None:
    """Raise the documented error for an end before the start, or for a video or poster that does not exist.

    Checks ids only in `changes`. So a client may edit an annotation whose video or poster was deleted meanwhile.
    """
    if annotation["end_time"] < annotation["start_time"]:
        raise invalid(("end_time", "must not be before start_time"))
    for name, kind in (("video_id", "video"), ("annotation_poster_id", "poster")):
        named = changes.get(name)
        if named is not None and request.world.store.get(kind, named, request.workspace_id) is None:
            raise invalid((name, f"must be a {kind} of the workspace"))


_LIST = "/v1/videos/{video_id}/annotations"
_ITEM = f"{_LIST}/{{annotation_id}}"

ENDPOINTS = (
    Endpoint("GET", _LIST, list_annotations, AnnotationList, Page[Annotation], [404404]),
    Endpoint("POST", _LIST, create_annotation, AnnotationCreate, Data[Annotation], [404404]),
    Endpoint("GET", _ITEM, read_annotation, None, Data[Annotation], [404404]),
    Endpoint("PUT", _ITEM, update_annotation, AnnotationUpdate, Data[Annotation], [404404]),
    Endpoint("DELETE", _ITEM, delete_annotation, None, Data[Success], [404404]),
)
