"""What changes the annotations of a video."""

from __future__ import annotations

from collections.abc import Awaitable
from functools import partial
from typing import TYPE_CHECKING, Any

from livedeck.client import Annotation, AnnotationDraft
from livedeck.operations import annotations as acts
from livedeck.operations import video_forms
from livedeck.operations.diff import edits
from livedeck.operations.operation import Operation
from livedeck.ui.kit.dialogs.form import FormResult, FormState
from livedeck.ui.shell.action import Action, ConfirmLevel
from livedeck.ui.videos.extras import changed, filled, needs_video, perform, selected, video_of

if TYPE_CHECKING:
    from livedeck.ui.shell.context import Context


def new(ctx: Context, _: str) -> Awaitable[Any]:
    """Lay one over the video."""
    api, video, sheet = ctx.desk.api, video_of(ctx), video_forms.NEW_NOTE
    initial = sheet.blank() | {"type": "text"}

    def act(form: FormResult) -> Operation[object]:
        names = {*form.changed, "type"}
        values: dict[str, Any] = sheet.values(form.entries, names, ctx.desk.present())
        return acts.new(
            api, video, AnnotationDraft(**values), edits(sheet, sheet.blank(), form.entries, names, ctx.desk.present())
        )

    return filled(ctx, FormState(f"Annotation of {video.title}", sheet, initial, save="Create"), act)


def edit(ctx: Context, _: str) -> Awaitable[Any] | None:
    """Change any field but its type."""
    one = selected(ctx, Annotation, "annotation")
    if one is None:
        return None
    act = partial(acts.edit, ctx.desk.api, video_of(ctx), one)
    return changed(ctx, f"Edit {one.title or one.id}", video_forms.NOTE, video_forms.note_entries(one), act)


def delete(ctx: Context, _: str) -> Awaitable[Any] | None:
    """Delete it for good."""
    one = selected(ctx, Annotation, "annotation")
    return perform(ctx, acts.delete(ctx.desk.api, video_of(ctx), one)) if one else None


_annotation = partial(Action, screens=("annotations",), blocked=needs_video)


ACTIONS = (
    _annotation(
        "annotation.new", ("n",), "new", "Lay an annotation over the video", new, confirm=ConfirmLevel.FORM, rank=11
    ),
    _annotation("annotation.edit", ("e",), "edit", "Change the annotation", edit, confirm=ConfirmLevel.FORM, rank=12),
    _annotation(
        "annotation.delete",
        ("D",),
        "delete",
        "Delete the annotation for good",
        delete,
        confirm=ConfirmLevel.CONFIRM,
        rank=13,
    ),
)
