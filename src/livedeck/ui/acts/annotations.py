"""What can be done with the annotations of a video."""

from __future__ import annotations

from livedeck import wording
from livedeck.client import Annotation, AnnotationDraft, Api
from livedeck.ui.acts.act import Act, Target
from livedeck.ui.acts.extras import Seen, asking, changing, gone, making, saving
from livedeck.ui.dialogs.edits import Change
from livedeck.ui.library import Video, notes

FACTS = {
    "annotation_type": "type",
    "title": "title",
    "link": "link",
    "start_time": "beginning",
    "end_time": "end",
    "annotation_poster_id": "poster",
}


def seen(api: Api, video: Video, one: Annotation) -> Seen:
    """That annotation as it is shown."""
    state = f"shown from {one.start_time} to {one.end_time} in {wording.safe(video.title, 40)}"
    target = Target("annotation", one.id, wording.safe(one.title or one.id, 60), state)
    return Seen(target, one, lambda: api.annotations.get(video.id, one.id), FACTS)


def new(api: Api, video: Video, draft: AnnotationDraft, edits: tuple[Change, ...]) -> Act[object]:
    """Lay one over the video."""
    target = Target("annotation", "", wording.safe(draft.title, 60))
    return making(
        "annotation.new",
        target,
        lambda: notes(api, video.id),
        lambda: api.annotations.create(video.id, draft),
        like=lambda one: one.title == draft.title,
        edits=edits,
    )


def edit(api: Api, video: Video, one: Annotation, draft: AnnotationDraft, edits: tuple[Change, ...]) -> Act[object]:
    """Change what the draft sets."""
    it = seen(api, video, one)
    wanted = draft.body()

    def stands(_: Annotation, after: Annotation | None) -> bool:
        return after is not None and all(getattr(after, name) == value for name, value in wanted.items())

    call = lambda: api.annotations.update(video.id, one.id, draft)  # noqa: E731
    return changing(it, "edit", call, shown=stands, ask=saving(it.target, edits), edits=edits)


def delete(api: Api, video: Video, one: Annotation) -> Act[object]:
    """Delete it for good."""
    it = seen(api, video, one)
    effect = "It is deleted for good. Viewers see it no more."
    return changing(
        it,
        "delete",
        lambda: api.annotations.delete(video.id, one.id),
        shown=gone,
        ask=asking(it.target, "delete", effect),
    )
