"""Operations on the annotations of a video, and their forms."""

from __future__ import annotations

from dataclasses import dataclass

from livedeck.client import Annotation, AnnotationDraft
from livedeck.monitor import Video
from livedeck.operations.diff import ParsedForm
from livedeck.operations.operation import CreateFromForm, DeleteOperation, Platform, SendContext, Target, all_rows
from livedeck.operations.schema import Field, FieldKind, FieldValues, FormSchema, draft_maker
from livedeck.operations.videos import EditExtra, ExtraOperation, video_title
from livedeck.text import values

_TYPE = Field(
    "type", "Type", FieldKind.CHOICE, choices=("text", "video"), required=True, hint="cannot be changed later"
)

_FIELDS = (
    Field("title", "Title", required=True),
    Field("start_time", "From", FieldKind.NUMBER, hint="whole number", required=True),
    Field("end_time", "To", FieldKind.NUMBER, hint="whole number", required=True),
    Field("link", "Link", hint="target of a click", is_long=True),
    Field("annotation_poster_id", "Poster", hint="id of a picture; empty for none", nullable=True),
)

CREATE_FORM = FormSchema((_TYPE, *_FIELDS), draft_maker(AnnotationDraft))

EDIT_FORM = FormSchema(_FIELDS, draft_maker(AnnotationDraft))
"""Form to edit an annotation. It lacks the type, because the type cannot change (platform-api.md, "Annotations")."""


def edit_entries(annotation: Annotation) -> FieldValues:
    """Return an annotation as entries of its form."""
    return {
        "title": annotation.title or "",
        "start_time": "" if annotation.start_time is None else str(annotation.start_time),
        "end_time": "" if annotation.end_time is None else str(annotation.end_time),
        "link": annotation.link or "",
        "annotation_poster_id": annotation.annotation_poster_id or "",
    }


@dataclass(frozen=True, slots=True)
class CreateAnnotation(CreateFromForm[Annotation]):
    """Add an annotation to a video."""

    name = "annotation.create"
    audit_name = "annotation.new"
    verb = "create"
    past = "created"
    kind = "annotation"
    help = "Add an annotation to the video"
    schema = CREATE_FORM
    name_field = "title"

    video: Video
    form: ParsedForm[AnnotationDraft]

    async def read(self, platform: Platform) -> tuple[Annotation, ...]:
        return await all_rows(platform.api.annotations.iterate(self.video.id))

    async def send(self, context: SendContext[tuple[Annotation, ...]], /) -> object:
        return await context.api.annotations.create(self.video.id, self.form.draft)

    def is_like(self, item: Annotation, /) -> bool:
        fields = self.form.draft.body()
        is_of_type = item.annotation_type == fields.pop("type")
        return is_of_type and all(getattr(item, name) == value for name, value in fields.items())


class AnnotationOperation(ExtraOperation[Annotation]):
    """Change of an existing annotation."""

    kind = "annotation"
    facts = {  # noqa: RUF012  constant
        "annotation_type": "type",
        "title": "title",
        "link": "link",
        "start_time": "beginning",
        "end_time": "end",
        "annotation_poster_id": "poster",
    }

    @property
    def target(self) -> Target:
        extra = self.extra
        state = f"shown from {extra.start_time} to {extra.end_time} in {video_title(self.video)}"
        return Target("annotation", extra.id, values.safe(extra.title or extra.id, 60), state)

    async def read(self, platform: Platform) -> Annotation:
        return await platform.api.annotations.get(self.video.id, self.extra.id)


class EditAnnotation(AnnotationOperation, EditExtra[Annotation]):
    """Change fields of an annotation."""

    name = "annotation.edit"
    help = "Change the annotation"
    schema = EDIT_FORM

    def entries(self, current: Annotation, /) -> FieldValues:
        return edit_entries(current)

    async def send(self, context: SendContext[Annotation], /) -> object:
        return await context.api.annotations.update(self.video.id, self.extra.id, self.form.draft)


class DeleteAnnotation(DeleteOperation[Annotation], AnnotationOperation):
    """Delete an annotation for good."""

    name = "annotation.delete"
    help = "Delete the annotation for good"

    def effect(self, _current: Annotation, /) -> str:
        return "The annotation is deleted for good. Viewers no longer see it."

    async def send(self, context: SendContext[Annotation], /) -> None:
        await context.api.annotations.delete(self.video.id, self.extra.id)


OPERATIONS = (CreateAnnotation, EditAnnotation, DeleteAnnotation)
