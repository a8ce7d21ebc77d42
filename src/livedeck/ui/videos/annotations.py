"""Actions that change the annotations of a video."""

from __future__ import annotations

from collections.abc import Awaitable
from functools import partial
from typing import TYPE_CHECKING, Any

from livedeck.client import Annotation
from livedeck.operations.schema import FormState
from livedeck.ui.shell.context import change
from livedeck.ui.videos.extras import needs_video, run, run_form, selected, video_of

if TYPE_CHECKING:
    from livedeck.ui.shell.context import Context


def new(ctx: Context, _: str) -> Awaitable[Any]:
    """Add an annotation to the video."""
    from livedeck.operations.annotations import CREATE_FORM, CreateAnnotation

    video, empty = video_of(ctx), CREATE_FORM.empty()
    state = FormState(f"Annotation of {video.title}", CREATE_FORM, {**empty, "type": "text"}, button="Create")
    return run_form(ctx, state, partial(CreateAnnotation, video), before=empty, always=("type",))


def edit(ctx: Context, _: str) -> Awaitable[Any] | None:
    """Change any field of the annotation except its type."""
    from livedeck.operations.annotations import EDIT_FORM, EditAnnotation, edit_entries

    annotation = selected(ctx, Annotation, "annotation")
    if annotation is None:
        return None
    state = FormState(f"Edit {annotation.title or annotation.id}", EDIT_FORM, edit_entries(annotation))
    return run_form(ctx, state, partial(EditAnnotation, video_of(ctx), annotation))


def delete(ctx: Context, _: str) -> Awaitable[Any] | None:
    """Delete the annotation for good."""
    from livedeck.operations.annotations import DeleteAnnotation

    annotation = selected(ctx, Annotation, "annotation")
    return run(ctx, DeleteAnnotation(video_of(ctx), annotation)) if annotation else None


_annotation = partial(change, screens=("annotations",), blocked=needs_video)

ACTIONS = (
    _annotation("annotation.create", ("n",), "new", new, rank=11),
    _annotation("annotation.edit", ("e",), "edit", edit, rank=12),
    _annotation("annotation.delete", ("D",), "delete", delete, rank=13),
)
