"""The schemas of printed JSON follow from the types in documents.py."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from typing_extensions import get_type_hints

from livedeck.presentation.documents import DOCUMENTS, Fault
from livedeck.presentation.json_schema import FAULTS, document_schema


def parts(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield every schema within a schema, without the names of fields."""
    if isinstance(schema, list):
        for item in schema:
            yield from parts(item)
    if isinstance(schema, dict):
        yield schema
        for key, value in schema.items():
            yield from parts([*value.values()] if key == "properties" else value)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_schema_has_no_references_and_requires_what_the_type_requires(name: str) -> None:
    schema = document_schema(DOCUMENTS[name])
    assert {*schema["properties"]} == DOCUMENTS[name].__annotations__.keys()
    hints = get_type_hints(DOCUMENTS[name], include_extras=True)
    assert {*schema["required"]} == {key for key, hint in hints.items() if "NotRequired[" not in str(hint)}
    assert not [part for part in parts(schema) if {"$ref", "$defs", "title", "description"} & part.keys()]
    assert not [part for part in parts(schema) if part.get("additionalProperties") is False]


def test_a_field_may_be_called_title() -> None:
    """The titles that pydantic adds are dropped, and no field with them."""
    assert document_schema(DOCUMENTS["past report"])["properties"]["title"] == {"type": "string"}


def test_the_schema_of_faults_is_that_of_their_type() -> None:
    schema = document_schema(Fault)
    assert (FAULTS["items"]["properties"], FAULTS["items"]["required"]) == (schema["properties"], schema["required"])  # type: ignore[index]
