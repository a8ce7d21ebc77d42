"""`--strictness`, `--cors` and `--gzip`: form of requests and responses, the same for every endpoint."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email.utils import parsedate_to_datetime

import httpx
import pytest

from livedeck.simulator import PROFILES, Simulator, SimulatorClock, SimulatorError, Wire
from livedeck.simulator.engine.faults import Fault
from simulator.conftest import START
from simulator.http_client import client_for, data, error_of, invalid_names

EVENTS, ROOMS = "/v2/live/events", "/v1/meet/rooms"
PAGE = "http://localhost:5173"
PREFLIGHT = {"Origin": PAGE, "Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "authorization"}


@asynccontextmanager
async def serving(wire: Wire, *faults: Fault) -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client of a simulator with that wire and those faults."""
    simulator = Simulator(seed=7, clock=SimulatorClock(START, paused=True), wire=wire)
    for fault in faults:
        simulator._world.faults.add(fault)
    async with client_for(simulator, simulator.token) as client:
        yield client
    simulator.close()


@pytest.mark.parametrize("profile", PROFILES)
async def test_a_documented_request_succeeds_under_every_profile(profile: str) -> None:
    async with serving(Wire(profile)) as api:  # type: ignore[arg-type]
        assert len(data(await api.get(EVENTS, params={"per_page": 3, "without_folder": "true"}))) == 3
        assert data(await api.post(EVENTS, json={"name": "Gala", "type": "one-time"}))["name"] == "Gala"
        headers = {"X-Video-ID": "8fc41891-3b0a-4f7e-a4a9-543473195914", "X-File-Name": "a.txt"}
        upload = await api.post("/upload/additional-material", content=b"x", headers={**headers, "Content-Type": "a/b"})
        assert upload.status_code in {200, 404}


async def test_strict_refuses_unknown_names_and_a_body_of_no_type() -> None:
    async with serving(Wire("strict")) as api:
        assert invalid_names(await api.get(EVENTS, params={"per_pag": 3})) == ["per_pag"]
        assert invalid_names(await api.get(EVENTS, headers={"X-Titel": "Gala"})) == ["x-titel"]
        body = b'{"name": "Gala", "type": "one-time"}'
        assert invalid_names(await api.post(EVENTS, content=body)) == ["Content-Type"]
        assert error_of(await api.get(EVENTS, params={"a": 1}, headers={"Authorization": ""})) == (401, 401401)


async def test_documented_ignores_what_strict_refuses() -> None:
    async with serving(Wire()) as api:
        assert (await api.get(EVENTS, params={"per_pag": 3}, headers={"X-Titel": "Gala"})).status_code == 200
        assert (await api.post(EVENTS, content=b'{"name": "Gala", "type": "one-time"}')).status_code == 200


async def test_lenient_drops_unknown_fields_at_any_depth_and_moves_per_page_into_its_range() -> None:
    restream = {"name": "City", "url": "rtmp://live.example.org/app", "key": "k", "colour": "red"}
    draft = {"name": "Gala", "type": "one-time", "mood": "good", "restreams": [restream], "video": {"codec": "av1"}}
    async with serving(Wire("lenient")) as api:
        created = data(await api.post(EVENTS, json=draft))
        assert (created["name"], created["restreams"][0]["name"]) == ("Gala", "City")
        for per_page, shown in (("0", 1), ("1000", 100), ("9" * 40, 100), ("7", 7)):
            answer = await api.get(EVENTS, params={"per_page": per_page})
            assert answer.json()["meta"]["pagination"]["per_page"] == shown
        assert invalid_names(await api.get(EVENTS, params={"per_page": "many"})) == ["per_page"]
        assert invalid_names(await api.post(EVENTS, json=draft | {"type": "weekly"})) == ["type"]
    async with serving(Wire()) as api:
        assert invalid_names(await api.post(EVENTS, json=draft)) == ["video.codec", "restreams[0].colour", "mood"]


async def test_a_page_of_the_origin_may_call_everything_but_the_control_api() -> None:
    async with serving(Wire(cors=[PAGE])) as api:
        asked = await api.options(f"{EVENTS}/1", headers=PREFLIGHT)
        assert asked.status_code == 200
        assert asked.headers["access-control-allow-origin"] == PAGE
        for path in (EVENTS, "/nothing", "/cdn/posters/default/xs.png", "/openapi.json"):
            answer = await api.get(path, headers={"Origin": PAGE})
            assert answer.headers["access-control-allow-origin"] == PAGE
            assert parsedate_to_datetime(answer.headers["date"]) == START.replace(microsecond=0)
        assert parsedate_to_datetime(asked.headers["date"]) == START.replace(microsecond=0)


@pytest.mark.parametrize("path", ["/_control/clock", "/_control", "/%5Fcontrol/clock", "/_clock"])
async def test_cors_never_covers_the_control_api(path: str) -> None:
    async with serving(Wire(cors=[PAGE])) as api:
        asked, read = await api.options(path, headers=PREFLIGHT), await api.get(path, headers={"Origin": PAGE})
        assert asked.status_code >= 400
        for answer in (asked, read):
            assert not [name for name in answer.headers if name.startswith("access-control")]


async def test_another_origin_gets_no_permission() -> None:
    async with serving(Wire(cors=[PAGE])) as api:
        assert "access-control-allow-origin" not in (await api.get(EVENTS, headers={"Origin": "http://e.x"})).headers
    async with serving(Wire()) as api:
        assert "access-control-allow-origin" not in (await api.get(EVENTS, headers={"Origin": PAGE})).headers


async def test_a_page_sees_the_status_of_a_fault() -> None:
    async with serving(Wire(cors=[PAGE]), Fault("f", "status")) as api:
        answer = await api.get(EVENTS, headers={"Origin": PAGE})
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (503, PAGE)


@pytest.mark.parametrize("origin", ["*", "null", "localhost:5173", "http://a.example/", "http://a.example/x", ""])
def test_what_is_no_origin_is_refused(origin: str) -> None:
    with pytest.raises(SimulatorError, match="origin"):
        Simulator(wire=Wire(cors=[origin]))


async def test_gzip_compresses_for_those_who_ask_and_changes_no_content() -> None:
    async with serving(Wire(gzip=True)) as api:
        packed = await api.get(EVENTS)
        assert packed.headers["content-encoding"] == "gzip"
        plain = await api.get(EVENTS, headers={"Accept-Encoding": "identity"})
        assert "content-encoding" not in plain.headers
        assert packed.json() == plain.json()
        picture = await api.get("/cdn/posters/default/original.png")
        assert "content-encoding" not in picture.headers
    async with serving(Wire()) as api:
        assert "content-encoding" not in (await api.get(EVENTS)).headers


async def test_a_fault_of_the_content_is_inside_the_compression() -> None:
    async with serving(Wire(gzip=True), Fault("f", "extra-fields"), Fault("g", "skew", seconds=60)) as api:
        api.event_hooks = {}  # these answers are not documented
        answer = await api.get(EVENTS)
        assert answer.headers["content-encoding"] == "gzip"
        assert all("x_extra" in event for event in answer.json()["data"])
        assert (parsedate_to_datetime(answer.headers["date"]) - START.replace(microsecond=0)).total_seconds() == 60
