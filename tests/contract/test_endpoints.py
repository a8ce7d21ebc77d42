"""The client and the simulator against one table of the document: neither lacks an endpoint or has one of its own."""

import re
from contextlib import suppress
from pathlib import Path

import pytest

from client.answers import api_of, saying
from client.calls import bound, names, result
from contract.endpoints import BY_WAY_OF, ROWS, Row, shape
from livedeck.client import Api, ApiError, Misconfigured, NotFound
from livedeck.simulator import Simulator, SimulatorError
from livedeck.simulator import api as simulator_api
from livedeck.ui.features import FEATURES
from livedeck.ui.shell.context import ActionRegistry


def row_of(name: str) -> Row:
    wanted = BY_WAY_OF.get(name, name)
    return next(row for row in ROWS if row.client == wanted)


def test_the_document_has_43_endpoints() -> None:
    """platform-api.md, "Operations"; the poster upload counts for a video and for an event."""
    assert len({row.client for row in ROWS}) == len(ROWS) == 43
    assert len({row.shape for row in ROWS}) == 42


def test_every_endpoint_has_its_place_on_a_screen() -> None:
    """The action that reaches it is there, and it may write where the endpoint does."""
    registry = ActionRegistry(FEATURES)
    for row in ROWS:
        action = registry.by_name[row.action]
        assert row.method == "GET" or action.writes, row.client
        assert not row.operation or action.operation in {"", row.operation}


def test_every_row_has_a_client_method_and_every_client_method_a_row() -> None:
    assert {*names()} == {row.client for row in ROWS} | BY_WAY_OF.keys()


@pytest.mark.parametrize("name", names())
async def test_a_client_method_sends_its_row_and_nothing_else(name: str, tmp_path: Path) -> None:
    row = row_of(name)
    platform = saying({"data": {"id": "x"}})
    async with api_of(platform) as api:
        with suppress(ApiError):  # the answer fits some of the calls; here only the question counts
            await result(bound(api, name, tmp_path))
    sent = [(request["method"], request["path"]) for request in platform.requests]
    assert sent == [(row.method, re.sub(r":(\w+)|\{(\w+)\}", lambda match: match[1] or match[2], row.path))]


@pytest.mark.parametrize("row", [row for row in ROWS if "/meet/" in row.path], ids=lambda row: row.client)
async def test_the_meeting_segment_is_a_setting(row: Row, tmp_path: Path) -> None:
    """platform-api.md, "Addresses": deployments differ."""
    platform = saying({"data": {"id": "x"}})
    async with api_of(platform, meet_segment="conference") as api:
        with suppress(ApiError):
            await result(bound(api, row.client, tmp_path))
    assert platform.requests[0]["path"].startswith("/v1/conference/rooms")


def test_every_row_is_a_route_of_the_service_and_it_has_no_other() -> None:
    """The service has its {upload_url} under /upload of its one address."""
    served = {(endpoint.method, shape(endpoint.path.removeprefix("/upload"))) for endpoint in simulator_api.ENDPOINTS}
    assert served == {row.shape for row in ROWS}


async def test_the_service_has_its_rooms_under_the_segment_that_the_client_asks_for() -> None:
    simulator = Simulator(meet_segment="conference")
    async with Api(
        base_url="http://127.0.0.1", token=simulator.token, mount=simulator.app, meet_segment="conference"
    ) as api:
        rooms = await api.rooms.list()
        assert rooms.items
        assert (await api.rooms.get(rooms.items[0].id)).id == rooms.items[0].id
    async with Api(base_url="http://127.0.0.1", token=simulator.token, mount=simulator.app) as api:
        with pytest.raises(NotFound):
            await api.rooms.list()
    simulator.close()


@pytest.mark.parametrize("segment", ["", "a/b", "..", "{id}", "a b", "\u0101"])
def test_what_is_no_segment_is_refused_by_both(segment: str) -> None:
    with pytest.raises(SimulatorError, match="path segment"):
        Simulator(meet_segment=segment)
    with pytest.raises(Misconfigured):
        Api(base_url="http://127.0.0.1", token="t", meet_segment=segment)
