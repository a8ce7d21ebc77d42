"""Annotations: what is laid over a video for a while (platform-api.md, "Annotations")."""

from __future__ import annotations

from collections.abc import AsyncIterator

from pydantic import StrictInt

from livedeck.client.http.request import JsonBody, describe_call, make_request
from livedeck.client.resources.base import UNSET, Draft, Id, Model, Resource, query_params
from livedeck.client.resources.fields import Timestamp
from livedeck.client.resources.pages import MAX_PER_PAGE, Page, PagedItems


class Annotation(Model):
    """`annotation_type`: `text`, `video` or any other word. `start_time`, `end_time`: in a unit that nobody names.

    `link` may be empty.
    """

    id: Id
    media_id: str | None = None
    video_id: str | None = None
    annotation_type: str | None = None
    title: str | None = None
    link: str | None = None
    start_time: StrictInt | None = None
    end_time: StrictInt | None = None
    annotation_poster_id: str | None = None
    created_at: Timestamp | None = None
    updated_at: Timestamp | None = None


class AnnotationDraft(Draft):
    """What to make of an annotation. `type` is needed to make one, and cannot be changed."""

    video_id: str | None = UNSET
    annotation_poster_id: str | None = UNSET
    type: str = UNSET
    title: str = UNSET
    link: str | None = UNSET
    start_time: StrictInt = UNSET
    end_time: StrictInt = UNSET


class Annotations(Resource):
    """The annotations of videos."""

    async def list(
        self, video_id: str, *, page: int = 1, per_page: int = 20, order: str | None = None
    ) -> Page[Annotation]:
        """One page of the annotations of a video (platform-api.md, "Lists": paginated like the others). Raises
        ApiError."""
        summary = describe_call("list annotations of video", video_id)
        params = query_params(page=page, per_page=per_page, order=order)
        return await self._page(Annotation, make_request("GET", summary, *_annotations(video_id), params=params))

    def iterate(self, video_id: str, *, order: str | None = None) -> AsyncIterator[Annotation]:
        """Every annotation of a video, each once though they move between the pages meanwhile. Raises ApiError."""
        return PagedItems(lambda page: self.list(video_id, page=page, per_page=MAX_PER_PAGE, order=order))

    async def get(self, video_id: str, annotation_id: str) -> Annotation:
        """One annotation. Raises NotFound where there is none of that id, and any other ApiError."""
        summary = describe_call("get annotation", annotation_id)
        return await self._object(Annotation, make_request("GET", summary, *_annotations(video_id), annotation_id))

    async def create(self, video_id: str, draft: AnnotationDraft) -> Annotation:
        """Lay a new annotation over a video. Raises Invalid without a `type`, and any ApiError."""
        draft.require("type")
        summary = describe_call("create annotation of video", video_id)
        body = JsonBody({"video_id": video_id} | draft.body())
        return await self._object(Annotation, make_request("POST", summary, *_annotations(video_id), body=body))

    async def update(self, video_id: str, annotation_id: str, draft: AnnotationDraft) -> Annotation:
        """Change what the draft sets and nothing else. Raises Invalid for a `type`, and any ApiError."""
        draft.forbid("type", "cannot be changed")
        summary = describe_call("update annotation", annotation_id)
        path = (*_annotations(video_id), annotation_id)
        return await self._object(Annotation, make_request("PUT", summary, *path, body=JsonBody(draft.body())))

    async def delete(self, video_id: str, annotation_id: str) -> None:
        """Delete it for good. Raises ApiError."""
        summary = describe_call("delete annotation", annotation_id)
        await self._success(make_request("DELETE", summary, *_annotations(video_id), annotation_id))


def _annotations(video_id: str) -> tuple[str, ...]:
    return "v1", "videos", video_id, "annotations"
