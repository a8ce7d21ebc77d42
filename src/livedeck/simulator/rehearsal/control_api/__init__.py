"""Control API: rehearsal functions that participants do not have. Never part of the documented API."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from livedeck.simulator.http import ApiRequest, Endpoint, data
from livedeck.simulator.rehearsal.control_api import clock, faults, objects, scenarios, snapshots, workspace


async def describe(_: ApiRequest[None]) -> Response:
    """List the routes of the control API."""
    return data({"routes": [_describe(endpoint) for endpoint in ENDPOINTS]})


def _describe(endpoint: Endpoint[Any]) -> dict[str, object]:
    fields = endpoint.takes.model_json_schema()["properties"] if endpoint.takes else {}
    return {
        "method": endpoint.method,
        "path": endpoint.path,
        "does": (endpoint.handler.__doc__ or "").strip(),
        "parameters": {name: schema["description"] for name, schema in fields.items()},
    }


ENDPOINTS: tuple[Endpoint[Any], ...] = (
    Endpoint("GET", "/_control", describe),
    Endpoint("GET", "/_control/", describe),
    *clock.ENDPOINTS,
    *objects.ENDPOINTS,
    *faults.ENDPOINTS,
    *scenarios.ENDPOINTS,
    *snapshots.ENDPOINTS,
    *workspace.ENDPOINTS,
)

OPEN_ENDPOINTS = clock.OPEN_ENDPOINTS
"""Endpoints that need no token."""
