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
from livedeck.ui.videos.actions import changed, filled, perform, selected, video_of

if TYPE_CHECKING:
    from livedeck.ui.app import Deck


def new(deck: Deck, _: str) -> Awaitable[Any]:
    """Lay one over the video."""
    api, video, sheet = deck.desk.api, video_of(deck), video_forms.NEW_NOTE
    initial = sheet.blank() | {"type": "text"}

    def act(form: FormResult) -> Operation[object]:
        names = {*form.changed, "type"}
        values: dict[str, Any] = sheet.values(form.entries, names, deck.desk.present())
        return acts.new(
            api, video, AnnotationDraft(**values), edits(sheet, sheet.blank(), form.entries, names, deck.desk.present())
        )

    return filled(deck, FormState(f"Annotation of {video.title}", sheet, initial, save="Create"), act)


def edit(deck: Deck, _: str) -> Awaitable[Any] | None:
    """Change any field but its type."""
    one = selected(deck, Annotation, "annotation")
    if one is None:
        return None
    act = partial(acts.edit, deck.desk.api, video_of(deck), one)
    return changed(deck, f"Edit {one.title or one.id}", video_forms.NOTE, video_forms.note_entries(one), act)


def delete(deck: Deck, _: str) -> Awaitable[Any] | None:
    """Delete it for good."""
    one = selected(deck, Annotation, "annotation")
    return perform(deck, acts.delete(deck.desk.api, video_of(deck), one)) if one else None
