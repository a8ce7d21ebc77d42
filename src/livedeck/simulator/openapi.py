"""The OpenAPI document of the service, made from the objects that serve: it cannot say anything else than they do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from livedeck.simulator import schema
from livedeck.simulator.http import Endpoint
from livedeck.simulator.rules import Rule, Rules, described
from livedeck.simulator.schema import Schema

_INVALID, _MALFORMED, _UNAUTHORISED, _TOO_LARGE, _UNFORESEEN = 400400, 400301, 401401, 413413, 500500

_PLACE = re.compile(r"\{(\w+)\}")


def document(endpoints: Sequence[Endpoint], version: str) -> Schema:
    """Those endpoints as an OpenAPI 3.1 document."""
    paths: dict[str, Schema] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint)
    return {
        "openapi": "3.1.0",
        "info": {"title": "livedeck local service", "version": version},
        "paths": paths,
        "security": [{"token": []}],
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Error": schema.ERROR},
        },
    }


def _operation(endpoint: Endpoint) -> Schema:
    does = (endpoint.handler.__doc__ or "").strip()
    told = {
        "operationId": f"{endpoint.method.lower()}_{endpoint.handler.__name__}",
        "summary": does.partition("\n")[0],
        "parameters": [*_places(endpoint), *_given("header", endpoint.headers), *_queries(endpoint)],
        "responses": {"200": _success(endpoint), **dict(_refusals(codes(endpoint)))},
    }
    return told | ({"requestBody": _body(endpoint)} if endpoint.takes_body else {})


def codes(endpoint: Endpoint) -> list[int]:
    """Every code that it may refuse with."""
    found = {_UNAUTHORISED, _TOO_LARGE, _UNFORESEEN, *endpoint.refuses}
    if any(name != "material_id" for name in _PLACE.findall(endpoint.path)):
        found.add(_MALFORMED)
    if endpoint.parameters or endpoint.headers:
        found.add(_INVALID)
    return sorted(found)


def _places(endpoint: Endpoint) -> Iterable[Schema]:
    for name in _PLACE.findall(endpoint.path):
        kind = schema.TEXT if name == "material_id" else schema.UUID
        yield {"name": name, "in": "path", "required": True, "schema": kind}


def _queries(endpoint: Endpoint) -> Iterable[Schema]:
    return _given("query", endpoint.named) if endpoint.method == "GET" else ()


def _given(place: str, rules: Rules) -> Iterable[Schema]:
    for name, rule in rules.items():
        yield {"name": name, "in": place, "required": rule.needed, "schema": rule.schema, "description": rule.says}


def _body(endpoint: Endpoint) -> Schema:
    if endpoint.body == "file":
        return {"content": {"application/octet-stream": {"schema": schema.BYTES}}}
    media = "multipart/form-data" if endpoint.body == "form" else "application/json"
    rules = endpoint.parameters
    shape = rules.schema if isinstance(rules, Rule) else described(rules)
    needed = isinstance(rules, Rule) or any(rule.needed for rule in rules.values())
    return {"required": needed, "content": {media: {"schema": shape}}}


def _success(endpoint: Endpoint) -> Schema:
    return {"description": "done", "content": {endpoint.media: {"schema": endpoint.answer}}}


def _refusals(refused: Sequence[int]) -> Iterable[tuple[str, Schema]]:
    error = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    by_status: dict[str, list[int]] = {}
    for code in refused:
        by_status.setdefault(str(code)[:3], []).append(code)
    for status, some in by_status.items():
        yield status, {"description": ", ".join(map(str, some)), "content": error}
