"""The description at /openapi.json. Every answer of every other test is checked against it (openapi_checker.py)."""

from __future__ import annotations

import httpx
import pytest

from livedeck.simulator.api import ENDPOINTS
from simulator.http_client import openapi_checker


async def test_it_needs_no_token_and_names_every_endpoint(api: httpx.AsyncClient) -> None:
    answer = await api.get("/openapi.json", headers={"Authorization": ""})
    document = answer.json()
    assert document["openapi"] == "3.1.0"
    described = {(verb.upper(), path) for path, verbs in document["paths"].items() for verb in verbs}
    assert described == {(endpoint.method, endpoint.path) for endpoint in ENDPOINTS}
    assert len(described) == 44


async def test_every_operation_has_a_name_of_its_own_and_says_what_it_does(api: httpx.AsyncClient) -> None:
    document = (await api.get("/openapi.json")).json()
    operations = [operation for verbs in document["paths"].values() for operation in verbs.values()]
    assert len({operation["operationId"] for operation in operations}) == len(operations)
    assert all(operation["summary"].endswith(".") for operation in operations)


async def test_an_undocumented_answer_would_be_seen(api: httpx.AsyncClient) -> None:
    """The check itself: a field too few, a wrong type and an unknown code are noticed."""
    events = (await api.get("/v2/live/events")).json()
    event = events["data"][0]
    request = httpx.Request("GET", f"http://platform.test/v2/live/events/{event['id']}")
    for status, body in (
        (200, {"data": {name: event[name] for name in event if name != "name"}}),
        (200, {"data": event | {"extra": 1}}),
        (200, {"data": event | {"reconnect_window": "600"}}),
        (200, {"data": event | {"created_at": "yesterday"}}),
        (400, {"error": {"code": 400289, "message": "no"}}),
        (418, {}),
    ):
        with pytest.raises(AssertionError):
            openapi_checker().check(httpx.Response(status, json=body, request=request))
