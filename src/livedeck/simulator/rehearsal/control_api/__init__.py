"""Control API: functions for rehearsals. Never part of the documented API."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import Response

from livedeck.simulator.http import ApiRequest, Endpoint, data, json_response
from livedeck.simulator.openapi import openapi_document, summary
from livedeck.simulator.rehearsal.control_api import (
    clock,
    faults,
    ingest,
    objects,
    platform,
    requests,
    reset,
    scenarios,
    snapshots,
    workspaces,
)


async def list_routes(_: ApiRequest[None]) -> Response:
    """List the routes of the control API."""
    return data({"routes": [_describe(endpoint) for endpoint in ENDPOINTS]})


async def describe_control_api(request: ApiRequest[None]) -> Response:
    """Return the OpenAPI document of the control API."""
    document = openapi_document(ENDPOINTS, title="livedeck simulator: control API", server=request.origin)
    return json_response(json.dumps(document).encode())


def control_table() -> str:
    """Return the routes as a table in Markdown."""
    rows = [
        f"| {endpoint.method} | `{endpoint.path}` | {summary(endpoint)} |"
        for endpoint in ENDPOINTS
        if endpoint.path != "/_control/"
    ]
    return "\n".join(["| Method | Path | Function |", "|---|---|---|", *rows])


def _describe(endpoint: Endpoint[Any]) -> dict[str, object]:
    fields = endpoint.takes.model_json_schema().get("properties", {}) if endpoint.takes else {}
    return {
        "method": endpoint.method,
        "path": endpoint.path,
        "does": (endpoint.handler.__doc__ or "").strip(),
        "parameters": {name: schema.get("description", "") for name, schema in fields.items()},
    }


ENDPOINTS: tuple[Endpoint[Any], ...] = (
    Endpoint("GET", "/_control", list_routes),
    Endpoint("GET", "/_control/", list_routes),
    Endpoint("GET", "/_control/openapi.json", describe_control_api),
    *clock.ENDPOINTS,
    *objects.ENDPOINTS,
    *platform.ENDPOINTS,
    *faults.ENDPOINTS,
    *requests.ENDPOINTS,
    *scenarios.ENDPOINTS,
    *snapshots.ENDPOINTS,
    *reset.ENDPOINTS,
    *workspaces.ENDPOINTS,
    *ingest.ENDPOINTS,
)

OPEN_ENDPOINTS = clock.OPEN_ENDPOINTS
"""Endpoints that need no token."""
