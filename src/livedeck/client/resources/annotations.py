"""Annotations, shown over a video for a time (platform-api.md, "Annotations")."""

from __future__ import annotations

from typing import Any, Required, TypedDict, Unpack, overload

from pydantic import StrictInt

from livedeck.client.http.request import Identifier, JsonBody, describe_call, id_text, make_request
from livedeck.client.http.secrets import Address
from livedeck.client.resources.base import UNSET, Draft, Id, IdText, Model, Resource, draft_of, query_params
from livedeck.client.resources.fields import Timestamp
from livedeck.client.resources.pages import MAX_PER_PAGE, Page, PagedItems


class Annotation(Model):
    """Annotation. `start_time`, `end_time`: in an undocumented unit. `link` may be empty.

    `annotation_type`: `text`, `video` or any other word.
    """

    id: Id
    media_id: str | None = None
    video_id: str | None = None
    annotation_type: str | None = None
    title: str | None = None
    link: Address | None = None
    start_time: StrictInt | None = None
    end_time: StrictInt | None = None
    annotation_poster_id: str | None = None
    created_at: Timestamp | None = None
    updated_at: Timestamp | None = None


class AnnotationDraft(Draft):
    """Fields of an annotation. A new one needs `type`, which cannot be changed later."""

    video_id: IdText | None = UNSET
    annotation_poster_id: IdText | None = UNSET
    type: str = UNSET
    title: str = UNSET
    link: Address | None = UNSET
    start_time: StrictInt = UNSET
    end_time: StrictInt = UNSET


class AnnotationFields(TypedDict, total=False):
    """Fields of AnnotationDraft for a change. To change the `video_id`, pass a draft."""

    annotation_poster_id: Identifier | None
    title: str
    link: str | None
    start_time: int
    end_time: int


class NewAnnotationFields(AnnotationFields):
    """Fields of AnnotationDraft for a new annotation."""

    type: Required[str]


class Annotations(Resource):
    """Annotations of videos."""

    async def list(
        self, video_id: Identifier, *, page: int = 1, per_page: int = 20, order: str | None = None
    ) -> Page[Annotation]:
        """Return one page of the annotations of a video (platform-api.md, "Lists"). Raises ApiError.

        >>> page = await api.annotations.list(video_id, per_page=50)
        >>> [annotation.title for annotation in page]
        ['Bar 64: start here on Thursday', 'The same passage in spring']
        """
        summary = describe_call("list annotations of video", video_id)
        params = query_params(page=page, per_page=per_page, order=order)
        return await self._page(Annotation, make_request("GET", summary, *_annotations(video_id), params=params))

    def iterate(self, video_id: Identifier, *, order: str | None = None) -> PagedItems[Annotation]:
        """Iterate over the annotations of a video, each once even if they move between pages meanwhile.

        Raises ApiError.

        >>> titles = [annotation.title async for annotation in api.annotations.iterate(video_id)]
        """
        return PagedItems(lambda page: self.list(video_id, page=page, per_page=MAX_PER_PAGE, order=order))

    async def get(self, video_id: Identifier, annotation_id: Identifier) -> Annotation:
        """Return one annotation. Raises NotFound if it does not exist, and any other ApiError.

        >>> (await api.annotations.get(video_id, annotation_id)).annotation_type
        'text'
        """
        summary = describe_call("get annotation", annotation_id)
        return await self._named(Annotation, make_request("GET", summary, *_annotations(video_id), annotation_id))

    @overload
    async def create(self, video_id: Identifier, draft: AnnotationDraft) -> Annotation: ...

    @overload
    async def create(self, video_id: Identifier, **fields: Unpack[NewAnnotationFields]) -> Annotation: ...

    async def create(self, video_id: Identifier, draft: AnnotationDraft | None = None, **fields: Any) -> Annotation:
        """Add an annotation to a video. `fields`: those of AnnotationDraft, instead of a draft.

        Raises Invalid without a `type`, and any ApiError.

        >>> made = await api.annotations.create(video_id, type="text", title="Look", start_time=5, end_time=9)
        >>> made.title
        'Look'
        """
        draft = draft_of(AnnotationDraft, draft, fields)
        draft.require("type")
        summary = describe_call("create annotation of video", video_id)
        body = JsonBody({"video_id": id_text(video_id, summary)} | draft.body())
        return await self._object(Annotation, make_request("POST", summary, *_annotations(video_id), body=body))

    async def update(
        self,
        video_id: Identifier,
        annotation_id: Identifier,
        draft: AnnotationDraft | None = None,
        **fields: Unpack[AnnotationFields],
    ) -> Annotation:
        """Change the fields that `draft` or `fields` sets. Raises Invalid if `type` is set, and any ApiError.

        >>> (await api.annotations.update(video_id, annotation_id, title="Look again")).title
        'Look again'
        """
        draft = draft_of(AnnotationDraft, draft, fields)
        draft.forbid("type", "cannot be changed")
        summary = describe_call("update annotation", annotation_id)
        path = (*_annotations(video_id), annotation_id)
        return await self._object(Annotation, make_request("PUT", summary, *path, body=JsonBody(draft.body())))

    async def delete(self, video_id: Identifier, annotation_id: Identifier) -> None:
        """Delete the annotation for good. Raises ApiError.

        >>> await api.annotations.delete(video_id, annotation_id)
        """
        summary = describe_call("delete annotation", annotation_id)
        await self._confirmed(make_request("DELETE", summary, *_annotations(video_id), annotation_id))


def _annotations(video_id: Identifier) -> tuple[Identifier, ...]:
    return "v1", "videos", video_id, "annotations"
