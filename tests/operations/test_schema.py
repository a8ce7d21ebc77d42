"""Laws of forms: secrets stay hidden, ids are shown by name, and refused entries are not safe to keep."""

from __future__ import annotations

import pytest

from livedeck.client import Secret
from livedeck.operations.schema import (
    Field,
    FieldErrors,
    FieldKind,
    FormSchema,
    FormState,
    Referent,
    Suggestion,
    format_entry,
    suggested,
)

HALLS = (Suggestion("a-0001", "Hall"), Suggestion("b-0002", "Hall"), Suggestion("c-0003", "Studio"), Suggestion("d-4"))


def test_a_hidden_entry_shows_whether_there_is_one_and_nothing_of_it() -> None:
    field = Field("key", "Key", FieldKind.HIDDEN)
    texts = {format_entry(field, entry) for entry in ("k3y-5be1", Secret("k3y-5be1"), "longer-k3y", Secret("x"))}
    assert not any("k3y" in text or "5be1" in text for text in texts)
    assert "none" not in texts
    assert format_entry(field, "") == "none"
    assert format_entry(field, "k3y-5be1") == format_entry(field, Secret("k3y-5be1"))


def test_an_id_is_shown_by_its_name_in_references_alone() -> None:
    reference = Field("parent_id", "Folder", FieldKind.REFERENCE, referent=Referent.FOLDER)
    assert "Studio" in format_entry(reference, "c-0003", HALLS)
    assert format_entry(reference, "unknown", HALLS) == "unknown"
    assert format_entry(Field("name", "Name"), "c-0003", HALLS) == "c-0003"


@pytest.mark.parametrize("suggestion", HALLS, ids=lambda suggestion: suggestion.id)
def test_a_label_leads_back_to_its_id(suggestion: Suggestion) -> None:
    assert suggested(f" {suggestion.label.upper()} ", HALLS) == suggestion.id


def test_a_name_leads_to_an_id_if_it_is_the_only_one() -> None:
    assert [suggested(text, HALLS) for text in ("studio", "hall", "")] == ["c-0003", "hall", ""]


@pytest.mark.parametrize(
    ("entered", "errors", "note", "saved"),
    [
        (None, FieldErrors(), "", "first"),
        ("typed", FieldErrors(), "", "typed"),
        ("typed", FieldErrors(rest=("too long",)), "", "first"),
        ("typed", FieldErrors(by_field={"name": "too long"}), "", "first"),
        ("typed", FieldErrors(), "not sent", "first"),
    ],
)
def test_entries_are_safe_to_keep_unless_they_were_refused(
    entered: str | None, errors: FieldErrors, note: str, saved: str
) -> None:
    schema: FormSchema[None] = FormSchema((Field("name", "Name"),), lambda _: None)
    typed = None if entered is None else {"name": entered}
    assert FormState("Event", schema, {"name": "first"}, typed, errors, note=note).saved == {"name": saved}
