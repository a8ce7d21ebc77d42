"""OpenAPI document of the collector, made from its endpoints (collector.md, "OpenAPI")."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, get_type_hints

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode
from starlette.responses import Response

from livedeck.collector.protocol.questions import QUESTIONS
from livedeck.collector.protocol.wire import SCHEMA
from livedeck.collector.serving import past
from livedeck.collector.serving.acts import ACTS
from livedeck.collector.serving.app import PAGES
from livedeck.collector.serving.calendar import CALENDAR
from livedeck.collector.serving.endpoints import Endpoint
from livedeck.collector.serving.hooks import HOOKS
from livedeck.collector.serving.link_pages import LINKS
from livedeck.collector.serving.outbox import UNSENT

Schema = dict[str, Any]

_PATH_NAME = re.compile(r"\{(\w+)(?::path)?\}")

_PATH_WORDS = {
    "id": "Id, percent-encoded",
    "key": "Alarm, as the base64url of the JSON [EVENT, KIND, TARGET] without `=`; or id of a notification",
    "name": "Name of a token",
    "signature": "Last part of a calendar's address",
    "ticket": "Last part of a link",
}

_REFUSAL: Schema = {
    "type": "object",
    "description": "Code for programs, and sentence for people.",
    "properties": {"error": {"type": "string"}, "say": {"type": "string"}},
    "required": ["error", "say"],
}


def endpoints() -> tuple[Endpoint[Any], ...]:
    """Return all endpoints of a collector."""
    return *PAGES, *CALENDAR, *LINKS, *HOOKS, *ACTS, *UNSENT, *map(past.described, QUESTIONS.values())


def openapi_text() -> str:
    """Return the document as JSON."""
    return json.dumps(openapi_document(), indent=2)


def openapi_document() -> Schema:
    """Return the requests of a collector as an OpenAPI 3.1 document."""
    found = endpoints()
    references, definitions = _schemas(found)
    paths: dict[str, Schema] = {}
    for endpoint in found:
        path = _PATH_NAME.sub(r"{\1}", endpoint.path)
        paths.setdefault(path, {})[endpoint.method.lower()] = _operation(endpoint, references)
    return {
        "openapi": "3.1.0",
        "info": {"title": "livedeck collector", "version": str(SCHEMA)},
        "servers": [{"url": "http://127.0.0.1:8710"}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {**definitions, "Refusal": _REFUSAL},
        },
    }


def _schemas(found: tuple[Endpoint[Any], ...]) -> tuple[Mapping[tuple[str, JsonSchemaMode], Schema], Schema]:
    """Return (handler, mode) -> schema of the body or of the reply, and the definitions that these refer to."""
    bodies: list[tuple[str, JsonSchemaMode, TypeAdapter[Any]]] = []
    replies: list[tuple[str, JsonSchemaMode, TypeAdapter[Any]]] = []
    for endpoint in found:
        if endpoint.takes:
            bodies.append((_name(endpoint), "validation", TypeAdapter(endpoint.takes)))
        reply = endpoint.reply or get_type_hints(endpoint.handler)["return"]
        if reply is not Response:
            replies.append((_name(endpoint), "serialization", TypeAdapter(reply)))
    references, shared = TypeAdapter.json_schemas(replies, ref_template="#/components/schemas/{model}")
    taken, parts = TypeAdapter.json_schemas(bodies, ref_template="#/components/schemas/{model}-Input")
    closed = {  # a request with an unknown field is refused; a reply may have new fields
        f"{name}-Input": {**schema, "additionalProperties": False} if "properties" in schema else schema
        for name, schema in parts.get("$defs", {}).items()
    }
    return references | taken, shared.get("$defs", {}) | closed


def _name(endpoint: Endpoint[Any]) -> str:
    return str(endpoint.handler.__name__).strip("_")


def _operation(endpoint: Endpoint[Any], references: Mapping[tuple[str, JsonSchemaMode], Schema]) -> Schema:
    summary, _, more = (endpoint.handler.__doc__ or "").strip().partition("\n")
    schema = references.get((_name(endpoint), "serialization"), {"type": "string"})
    operation: Schema = {
        "operationId": _name(endpoint),
        "summary": summary,
        "parameters": [*_parameters(endpoint)],
        "responses": {
            "200": {"description": "done", "content": {endpoint.media: {"schema": schema}}},
            **dict(_refusals(endpoint)),
        },
        "security": [{"token": [endpoint.needs]}] if endpoint.needs else [],
    }
    if more.strip():
        operation["description"] = " ".join(more.split())
    if endpoint.takes:
        is_required = any(field.is_required() for field in endpoint.takes.model_fields.values())
        body = {"application/json": {"schema": references[_name(endpoint), "validation"]}}
        operation["requestBody"] = {"required": is_required, "content": body}
    return operation


def _parameters(endpoint: Endpoint[Any]) -> Iterator[Schema]:
    for name in _PATH_NAME.findall(endpoint.path):
        text = {"type": "string", "minLength": 1}
        yield {"name": name, "in": "path", "required": True, "schema": text, "description": _PATH_WORDS[name]}
    for parameter in endpoint.parameters:
        schema = {"schema": parameter.schema}
        yield {
            "name": parameter.name,
            "in": parameter.place,
            "required": parameter.is_required,
            "description": parameter.words,
            **({"content": {"application/json": schema}} if parameter.is_json else schema),
        }


def _refusals(endpoint: Endpoint[Any]) -> Iterator[tuple[str, Schema]]:
    """Yield each status other than 200 with its reply: JSON, or text if the endpoint is a page for people."""
    statuses = {400, *endpoint.refuses}
    statuses |= {401, 403, 429} if endpoint.needs else set()
    statuses |= {404} if "{" in endpoint.path else set()
    statuses |= {413, 422} if endpoint.takes else set()
    statuses |= {422} if endpoint.parameters else set()
    for status in sorted(statuses):
        reply: Schema = {"description": HTTPStatus(status).phrase.lower()}
        if status != 304:
            refusal = {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}}
            is_page = not endpoint.needs and endpoint.media in {"text/html", "text/plain"}
            reply["content"] = {endpoint.media: {"schema": {"type": "string"}}} if is_page else refusal
        yield str(status), reply
