"""OpenAPI documents of the API and of the control API, derived from their endpoints and models."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, models_json_schema
from pydantic_core import core_schema

from livedeck.simulator.engine.reference import DATA
from livedeck.simulator.http import Endpoint
from livedeck.simulator.models import BYTES, UUID_PATTERN, Error, Schema

_ANY_CODES = 401401, 413413, 500500, 507507
_PATH_NAME = re.compile(r"\{(\w+)\}")
_REFERENCE = "#/components/schemas/{model}"


def openapi_document(
    endpoints: Sequence[Endpoint[Any]], *, title: str = "livedeck simulator", server: str = "/"
) -> Schema:
    """Return the endpoints as an OpenAPI 3.1 document. `server`: scheme and host of the addresses."""
    endpoints = [endpoint for endpoint in endpoints if not endpoint.path.endswith("/")]  # the same without the slash
    schemas, definitions = _schemas(endpoints)
    paths: dict[str, Schema] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint, schemas, definitions)
    inputs = {endpoint.parameters.__name__ for endpoint in endpoints if endpoint.parameters}
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": "1"},
        "servers": [{"url": server}],
        "tags": [*_tags(endpoints)],
        "paths": paths,
        "security": [{"token": []}],
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {name: schema for name, schema in definitions.items() if name not in inputs},
        },
    }


def _schemas(endpoints: Sequence[Endpoint[Any]]) -> tuple[dict[Any, Schema], dict[str, Schema]]:
    """Return the reference of each model, and the definitions by name."""
    models: list[type[BaseModel]] = [Error]
    for endpoint in endpoints:
        models += [model for model in (endpoint.answer, endpoint.takes) if isinstance(model, type)]
    references, definitions = models_json_schema(
        [(model, "validation") for model in dict.fromkeys(models)],
        ref_template=_REFERENCE,
        schema_generator=_SchemaGenerator,
    )
    return {model: schema for (model, _), schema in references.items()}, definitions["$defs"]


class _SchemaGenerator(GenerateJsonSchema):
    """Schemas without titles of fields, and with defaults only for numbers in a query."""

    def field_title_should_be_set(self, schema: object) -> bool:  # noqa: ARG002  pydantic's signature
        return False

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> Schema:
        is_number = isinstance(schema.get("default"), int)
        return super().default_schema(schema) if is_number else self.generate_inner(schema["schema"])


def _tags(endpoints: Sequence[Endpoint[Any]]) -> Iterator[Schema]:
    """Yield each tag once, described by the first line of its module."""
    modules = {_tag(endpoint): endpoint.handler.__module__ for endpoint in reversed(endpoints)}
    for tag in dict.fromkeys(map(_tag, endpoints)):
        yield {"name": tag, "description": (sys.modules[modules[tag]].__doc__ or "").partition("\n")[0]}


def _tag(endpoint: Endpoint[Any]) -> str:
    module = endpoint.handler.__module__.rpartition(".")[2]
    return {"event_changes": "events"}.get(module, module)


def _operation(endpoint: Endpoint[Any], schemas: Mapping[Any, Schema], definitions: Mapping[str, Schema]) -> Schema:
    example = _examples().get(endpoint.operation, {})
    answer = schemas[endpoint.answer] if isinstance(endpoint.answer, type) else endpoint.answer
    content = {"schema": answer or {"type": "object"}} | _example(example, "answer")
    operation = {
        "operationId": endpoint.operation,
        "tags": [_tag(endpoint)],
        "summary": summary(endpoint),
        "parameters": [*_parameters(endpoint, definitions, example.get("parameters", {}))],
        "responses": {
            "200": {"description": "done", "content": {endpoint.media: content}},
            **dict(_error_responses(endpoint, schemas[Error])),
        },
    }
    return operation | ({"requestBody": _request_body(endpoint, schemas, example)} if endpoint.takes_body else {})


def summary(endpoint: Endpoint[Any]) -> str:
    """Return the first line of the handler's docstring: the purpose of the endpoint."""
    return (endpoint.handler.__doc__ or "").strip().partition("\n")[0]


@cache
def _examples() -> dict[str, Schema]:
    """Return example parameters, body and reply of each operation, in the demo workspace of seed 1."""
    examples: dict[str, Schema] = json.loads((DATA / "examples.json").read_text(encoding="utf-8"))
    return examples


def _example(values: Mapping[str, Any], name: str) -> Schema:
    return {"example": values[name]} if name in values else {}


def _parameters(
    endpoint: Endpoint[Any], definitions: Mapping[str, Schema], example: Mapping[str, Any]
) -> Iterator[Schema]:
    for name in _PATH_NAME.findall(endpoint.path):
        schema = {"type": "string", "format": "uuid"} if _is_uuid(endpoint, name) else {"type": "string"}
        yield {"name": name, "in": "path", "required": True, "schema": schema} | _example(example, name)
    model = endpoint.parameters
    if model is None:
        return
    described = definitions[model.__name__]
    for name, schema in described["properties"].items():
        required = name in described.get("required", ())
        yield (
            {"name": name, "in": "header" if endpoint.takes_body else "query", "required": required}
            | {"schema": _as_text(schema) if endpoint.takes_body else schema, "description": schema["description"]}
            | _example(example, name)
        )


def _as_text(schema: Schema) -> Schema:
    """Return the schema of a header as text: openapi-python-client sends a `uuid` there as an object and fails."""
    if schema.get("format") != "uuid":
        return schema
    return {name: value for name, value in schema.items() if name != "format"} | {"pattern": UUID_PATTERN}


def _is_uuid(endpoint: Endpoint[Any], name: str) -> bool:
    """Return whether a path parameter must be a UUID. Ids of materials are short, and the control API takes names."""
    return name != "material_id" and not endpoint.is_control


def _request_body(endpoint: Endpoint[Any], schemas: Mapping[Any, Schema], example: Mapping[str, Any]) -> Schema:
    sample = _example(example, "body")
    if endpoint.body == "file":
        return {"content": {"application/octet-stream": {"schema": BYTES} | sample}}
    media = "multipart/form-data" if endpoint.body == "form" else "application/json"
    model: Any = endpoint.takes
    required = any(field.is_required() for field in model.model_fields.values())
    return {"required": required, "content": {media: {"schema": schemas[model]} | sample}}


def _error_responses(endpoint: Endpoint[Any], error: Schema) -> Iterator[tuple[str, Schema]]:
    """Yield the reply of each error status; a conflict is described with its reasons."""
    names = _PATH_NAME.findall(endpoint.path)
    codes = {*_ANY_CODES, *endpoint.errors, *endpoint.conflicts}
    codes |= {400301} if any(_is_uuid(endpoint, name) for name in names) else set()
    codes |= {400400} if endpoint.takes else set()
    codes |= {403403} if endpoint.is_control else set()
    for status, group in groupby(sorted(codes), key=lambda code: str(code)[:3]):
        words = [f"{code}: {endpoint.conflicts[code]}" if code in endpoint.conflicts else f"{code}" for code in group]
        yield status, {"description": ", ".join(words), "content": {"application/json": {"schema": error}}}
