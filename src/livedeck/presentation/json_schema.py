"""JSON Schemas of the platform's models, and of the documents that commands print. Pure."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter

_PLAIN = {bool: "boolean", int: "integer", float: "number", str: "string", NoneType: "null"}


def document_schema(document: Any) -> dict[str, Any]:
    """Return the JSON Schema of a typed dictionary, without references and titles."""
    schema = TypeAdapter(document).json_schema()
    definitions = schema.pop("$defs", {})
    return dict(_resolved(schema, definitions))


def _resolved(schema: Any, definitions: dict[str, Any]) -> Any:
    """Return a schema with definitions in place of references.

    Drops titles and docstrings, which are for developers.
    """
    if isinstance(schema, list):
        return [_resolved(item, definitions) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _resolved(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    found = {key: value for key, value in schema.items() if key not in {"title", "description"}}
    fields = found.pop("properties", None)
    resolved = {key: _resolved(value, definitions) for key, value in found.items()}
    if fields is not None:  # the keys are names of fields, and a field may be called `title`
        resolved["properties"] = {name: _resolved(field, definitions) for name, field in fields.items()}
    return resolved


def model_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of a model with its documented fields. It allows undocumented fields."""
    return object_schema(model_fields(model), additional=True)


def object_schema(fields: dict[str, Any], *, additional: bool = False) -> dict[str, Any]:
    """Return the schema of an object that has all of these fields."""
    return {"type": "object", "properties": fields, "required": [*fields], "additionalProperties": additional}


_TEXT = {"type": "string"}

FAULTS = {
    "type": "array",
    "items": object_schema({"field": _TEXT, "expected": _TEXT, "actual": _TEXT}, additional=True),
}
"""Schema of the fields that could not be read, as `documents.Fault`.

It is a constant, because commands that print a list need it at their start.
"""


_COUNT = {"anyOf": [{"type": "integer"}, {"type": "null"}]}

SHORTFALL = {"anyOf": [object_schema({"missing": _COUNT, "announced": _COUNT}), {"type": "null"}]}
"""Schema of the rows of a list that were not received, as `documents.Shortfall`."""


def model_fields(model: type[BaseModel]) -> dict[str, Any]:
    """Return the documented fields of a model, each with its schema."""
    return {name: _type_schema(field.annotation) for name, field in model.model_fields.items()}


def _type_schema(annotation: Any) -> dict[str, Any]:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if hasattr(annotation, "__metadata__"):
        return _type_schema(arguments[0])
    if origin in {Union, UnionType}:
        return {"anyOf": [_type_schema(argument) for argument in arguments]}
    if origin is tuple:
        return {"type": "array", "items": _type_schema(arguments[0])}
    return _class_schema(annotation)


def _class_schema(annotation: Any) -> dict[str, Any]:
    if annotation is Any:
        return {}
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return model_schema(annotation)
    return {"type": _PLAIN.get(annotation, "string")}  # a time, an address, or a masked secret
