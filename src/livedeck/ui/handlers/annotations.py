"""What changes the annotations of a video."""

from __future__ import annotations

from collections.abc import Awaitable
from functools import partial
from typing import TYPE_CHECKING, Any

from livedeck.client import Annotation, AnnotationDraft
from livedeck.ui.acts import annotations as acts
from livedeck.ui.acts.act import Act
from livedeck.ui.dialogs import extra_sheets
from livedeck.ui.dialogs.edits import edits
from livedeck.ui.dialogs.form import Blank, Filled
from livedeck.ui.handlers.extras import changed, filled, perform, selected, video_of

if TYPE_CHECKING:
    from livedeck.ui.app import Deck


def new(deck: Deck, _: str) -> Awaitable[Any]:
    """Lay one over the video."""
    api, video, sheet = deck.desk.api, video_of(deck), extra_sheets.NEW_NOTE
    initial = sheet.blank() | {"type": "text"}

    def act(form: Filled) -> Act[object]:
        names = {*form.changed, "type"}
        values: dict[str, Any] = sheet.values(form.entries, names, deck.desk.present())
        return acts.new(
            api, video, AnnotationDraft(**values), edits(sheet, sheet.blank(), form.entries, names, deck.desk.present())
        )

    return filled(deck, Blank(f"Annotation of {video.title}", sheet, initial, save="Create"), act)


def edit(deck: Deck, _: str) -> Awaitable[Any] | None:
    """Change any field but its type."""
    one = selected(deck, Annotation, "annotation")
    if one is None:
        return None
    act = partial(acts.edit, deck.desk.api, video_of(deck), one)
    return changed(deck, f"Edit {one.title or one.id}", extra_sheets.NOTE, extra_sheets.note_entries(one), act)


def delete(deck: Deck, _: str) -> Awaitable[Any] | None:
    """Delete it for good."""
    one = selected(deck, Annotation, "annotation")
    return perform(deck, acts.delete(deck.desk.api, video_of(deck), one)) if one else None
