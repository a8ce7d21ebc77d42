"""What can be done with the annotations of a video."""

from __future__ import annotations

from livedeck.client import Annotation, AnnotationDraft, Api, collect
from livedeck.monitor import Video
from livedeck.operations.diff import Change
from livedeck.operations.operation import Operation, Target
from livedeck.operations.videos import ObjectTarget, deleting, editing, making
from livedeck.text import values

FACTS = {
    "annotation_type": "type",
    "title": "title",
    "link": "link",
    "start_time": "beginning",
    "end_time": "end",
    "annotation_poster_id": "poster",
}


def seen(api: Api, video: Video, one: Annotation) -> ObjectTarget:
    """That annotation as it is shown."""
    state = f"shown from {one.start_time} to {one.end_time} in {values.safe(video.title, 40)}"
    target = Target("annotation", one.id, values.safe(one.title or one.id, 60), state)
    return ObjectTarget(target, one, lambda: api.annotations.get(video.id, one.id), FACTS)


def new(api: Api, video: Video, draft: AnnotationDraft, edits: tuple[Change, ...]) -> Operation[object]:
    """Lay one over the video."""
    target = Target("annotation", "", values.safe(draft.title, 60))
    return making(
        "annotation.new",
        target,
        lambda: collect(api.annotations.iterate(video.id)),
        lambda: api.annotations.create(video.id, draft),
        like=lambda one: one.title == draft.title,
        edits=edits,
    )


def edit(
    api: Api, video: Video, one: Annotation, draft: AnnotationDraft, edits: tuple[Change, ...]
) -> Operation[object]:
    """Change what the draft sets."""
    call = lambda: api.annotations.update(video.id, one.id, draft)  # noqa: E731
    return editing(seen(api, video, one), call, draft.body(), edits)


def delete(api: Api, video: Video, one: Annotation) -> Operation[object]:
    """Delete it for good."""
    effect = "It is deleted for good. Viewers see it no more."
    return deleting(seen(api, video, one), lambda: api.annotations.delete(video.id, one.id), effect)
