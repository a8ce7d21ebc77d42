"""Errors: access by tokens, borders of workspaces, and the documented error object for everything else."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator

import httpx
import pytest

from livedeck.simulator import Simulator
from simulator.http_client import UNKNOWN_ID, FindEvent

EVENTS = "/v2/live/events"
MEBIBYTE = 1024 * 1024


def error(answer: httpx.Response) -> tuple[int, int, str]:
    """Return the status and the error object of a reply that is only that object."""
    body = answer.json()
    assert list(body) == ["error"]
    return answer.status_code, body["error"]["code"], body["error"]["message"]


@pytest.mark.parametrize("path", [EVENTS, f"{EVENTS}/{UNKNOWN_ID}", f"{EVENTS}/{UNKNOWN_ID}/qos"])
@pytest.mark.parametrize("header", ["", "Bearer", "Bearer ", "Bearer wrong", "Basic wrong", "Bearer \xfc"])
async def test_without_its_token_every_api_route_is_shut(api: httpx.AsyncClient, path: str, header: str) -> None:
    answer = await api.get(path, headers={b"Authorization": header.encode("latin-1")})
    assert error(answer) == (401, 401401, "unauthorized")
    assert answer.headers["www-authenticate"] == "Bearer"


async def test_the_scheme_of_the_token_is_read_in_either_case(simulator: Simulator, api: httpx.AsyncClient) -> None:
    answer = await api.get(EVENTS, headers={"Authorization": f"bearer {simulator.token}"})
    assert answer.status_code == 200


async def test_nothing_crosses_between_workspaces(
    api: httpx.AsyncClient, other: httpx.AsyncClient, simulator: Simulator
) -> None:
    ours = (await api.get(EVENTS)).json()["data"]
    theirs = (await other.get(EVENTS)).json()["data"]
    assert len(theirs) == 1
    assert {event["workspace_id"] for event in theirs} == {simulator.other_workspace.workspace_id}
    assert {event["workspace_id"] for event in ours} == {simulator.workspace_id}
    for path in (f"{EVENTS}/{theirs[0]['id']}", f"{EVENTS}/{theirs[0]['id']}/qos"):
        assert error(await api.get(path)) == (400, 400404, "not found")
        assert (await other.get(path)).status_code == 200


@pytest.mark.parametrize("suffix", ["", "/qos"])
async def test_an_unknown_event_is_400404(api: httpx.AsyncClient, suffix: str) -> None:
    assert error(await api.get(f"{EVENTS}/{UNKNOWN_ID}{suffix}")) == (400, 400404, "not found")


@pytest.mark.parametrize(
    "identity", ["7", "not-a-uuid", UNKNOWN_ID.replace("-", ""), f"{UNKNOWN_ID}%0A", "%F0%9F%8E%A5", "'%20OR%201=1"]
)
@pytest.mark.parametrize("suffix", ["", "/qos"])
async def test_an_id_that_is_no_uuid_is_400301(api: httpx.AsyncClient, identity: str, suffix: str) -> None:
    assert error(await api.get(f"{EVENTS}/{identity}{suffix}")) == (400, 400301, "invalid uuid format")


@pytest.mark.parametrize("path", ["/", "/v1", "/v2/live", f"{EVENTS}/", "/v3/live/events", "/_control/no", "/cdn/no"])
async def test_an_unknown_route_is_404404(api: httpx.AsyncClient, path: str) -> None:
    assert error(await api.get(path)) == (404, 404404, "not found")


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        (f"{EVENTS}/x/qos", "GET, HEAD"),
        (f"{EVENTS}/x", "DELETE, GET, HEAD, PUT"),
        ("/openapi.json", "GET, HEAD"),
        ("/_control/faults", "DELETE, GET, HEAD, POST"),
        ("/_control/reset", "POST"),
    ],
)
async def test_a_wrong_method_is_405405_and_told_the_right_ones_always_in_one_order(
    api: httpx.AsyncClient, path: str, allowed: str
) -> None:
    answer = await api.request("PATCH", path)
    assert error(answer) == (405, 405405, "method not allowed")
    assert answer.headers["allow"] == allowed


async def test_head_answers_as_get_without_the_body(api: httpx.AsyncClient, find_event: FindEvent) -> None:
    path = f"{EVENTS}/{(await find_event('Choir, hall B'))['id']}/qos"
    got, head = await api.get(path), await api.head(path)
    assert head.status_code == 200
    assert head.headers == got.headers
    assert head.content == b""


async def test_a_body_over_the_limit_is_413413_by_what_it_declares(api: httpx.AsyncClient) -> None:
    assert error(await api.request("GET", EVENTS, content=b" " * (8 * MEBIBYTE + 1))) == (413, 413413, "body too large")


async def test_a_body_over_the_limit_is_413413_by_what_has_come(admin: httpx.AsyncClient) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(9):
            yield b" " * MEBIBYTE

    assert error(await admin.post("/_control/reset", content=endless())) == (413, 413413, "body too large")


async def test_what_nobody_foresaw_is_500500_without_details_and_logged(
    api: httpx.AsyncClient, simulator: Simulator, caplog: pytest.LogCaptureFixture
) -> None:
    simulator.close()
    with caplog.at_level(logging.ERROR):
        answer = await api.get(EVENTS)
        await api.get(f"{EVENTS}/%0Aforged")
    assert error(answer) == (500, 500500, "internal error")
    assert "GET '/v2/live/events'" in caplog.text
    assert "\nforged" not in caplog.text
    assert simulator.control_token not in caplog.text


async def test_every_answer_is_dated_by_the_clock_of_the_simulator(api: httpx.AsyncClient) -> None:
    for path in (EVENTS, "/nothing", f"{EVENTS}/x"):
        assert (await api.get(path)).headers.get_list("date") == ["Sat, 21 Nov 2026 09:00:00 GMT"]
    assert (await api.get(EVENTS, headers={"Authorization": ""})).headers["date"] == "Sat, 21 Nov 2026 09:00:00 GMT"


@pytest.mark.parametrize("host", ["[", "a b", "x" * 3000])
async def test_a_strange_host_is_no_reason_to_fail(api: httpx.AsyncClient, host: str) -> None:
    assert (await api.get(EVENTS, headers={"Host": host})).status_code == 200


async def test_secrets_stay_out_of_representations(simulator: Simulator) -> None:
    assert simulator.other_workspace.token not in repr(simulator.other_workspace)
    assert simulator.control_token not in repr(simulator)
