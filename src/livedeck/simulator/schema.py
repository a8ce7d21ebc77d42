"""JSON Schema in few words: what the OpenAPI document says of parameters and answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Schema: TypeAlias = dict[str, Any]


TEXT: Schema = {"type": "string"}

UUID: Schema = {"type": "string", "format": "uuid"}

MOMENT: Schema = {"type": "string", "format": "date-time"}

NUMBER: Schema = {"type": "number"}

INTEGER: Schema = {"type": "integer"}

BOOLEAN: Schema = {"type": "boolean"}

OBJECT: Schema = {"type": "object"}

ANY: Schema = {}

BYTES: Schema = {"type": "string", "format": "binary"}


def words(*names: str) -> Schema:
    """One of these strings."""
    return {"type": "string", "enum": [*names]}


def maybe(schema: Schema) -> Schema:
    """That, or null."""
    return {"anyOf": [schema, {"type": "null"}]}


def many(schema: Schema) -> Schema:
    """A list of that."""
    return {"type": "array", "items": schema}


def record(fields: Mapping[str, Schema], *, needed: tuple[str, ...] | None = None) -> Schema:
    """An object of just these fields, all of them there unless `needed` says which."""
    required = [*fields] if needed is None else [*needed]
    whole = {"type": "object", "properties": dict(fields), "additionalProperties": False}
    return whole | {"required": required} if required else whole


def data(schema: Schema) -> Schema:
    """The envelope of a single object (platform-api.md, 1)."""
    return record({"data": schema})


def paged(schema: Schema) -> Schema:
    """The envelope of a list (platform-api.md, 1)."""
    pagination = record({"page": INTEGER, "per_page": INTEGER, "total": INTEGER})
    order = OBJECT | {"additionalProperties": words("asc", "desc")}
    return record({"meta": record({"pagination": pagination, "order": order}), "data": many(schema)})


DONE = data(record({"success": {"const": True}}))

"""What answers where there is no object to show (decisions.md, "Responses not shown")."""


ERROR = record(
    {
        "error": record(
            {
                "code": INTEGER,
                "message": TEXT,
                "invalid_params": many(record({"name": TEXT, "reason": TEXT})),
            },
            needed=("code", "message"),
        )
    }
)

"""The error object (platform-api.md, 7)."""
