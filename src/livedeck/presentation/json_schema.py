"""What the JSON of a model looks like, as JSON Schema. Pure."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel

_PLAIN = {bool: "boolean", int: "integer", float: "number", str: "string", NoneType: "null"}


def model_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Its documented fields; those that nobody documents are there too, without their values."""
    return object_schema(model_fields(model), additional=True)


def object_schema(fields: dict[str, Any], *, additional: bool = False) -> dict[str, Any]:
    """An object that has all of these fields."""
    return {"type": "object", "properties": fields, "required": [*fields], "additionalProperties": additional}


_TEXT = {"type": "string"}

FAULTS = {"type": "array", "items": object_schema({"field": _TEXT, "expected": _TEXT, "came": _TEXT})}
"""What could not be read, each as `serialization.fault_object` writes it."""


def nullable(schema: dict[str, Any]) -> dict[str, Any]:
    """That, or null."""
    return {"anyOf": [schema, {"type": "null"}]}


def model_fields(model: type[BaseModel]) -> dict[str, Any]:
    """The documented fields of a model, each with its schema."""
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
    return {"type": _PLAIN.get(annotation, "string")}  # a moment, an address, or a secret in its masked form
