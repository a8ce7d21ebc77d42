"""No client input causes a 500: random bodies, headers, paths and queries."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from livedeck.simulator import Simulator, SimulatorClock, api
from livedeck.simulator.rehearsal import control_api
from simulator.http_client import UNKNOWN_ID, client_for, data
from trials import trials

API = [(endpoint.method, endpoint.path) for endpoint in api.ENDPOINTS]
CONTROL = [
    (endpoint.method, endpoint.path) for endpoint in control_api.ENDPOINTS if endpoint.path != "/_control/faults"
]
FUZZ = trials(250, derandomize=True, suppress_health_check=[*HealthCheck])
START = datetime(2026, 11, 21, 9, tzinfo=UTC)
ODD = ["", "\x00", "en", UNKNOWN_ID, "2026-11-21T10:00:00Z", "rtmp://x.example", "rtmp://[", "\ud800", "9" * 5000]
MODELS = {endpoint.takes for endpoint in (*api.ENDPOINTS, *control_api.ENDPOINTS) if endpoint.takes}
NAMES = sorted({field.alias or name for model in MODELS for name, field in model.model_fields.items()})
SEGMENTS = ["{}", "{}", "{}", UNKNOWN_ID, "7", "reorder", "..", "%00", "%ff", "%2e%2e", "a" * 300]
HEADERS = ["X-Video-ID", "X-Event-ID", "X-File-Name", "X-Title", "X-Poster-URL", "Content-Type", "Range"]
MEDIA = [b"%ff", b"bytes=0-", b"bytes=9-1", b"multipart/form-data; boundary=x", UNKNOWN_ID.encode()]
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.sampled_from(ODD)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=8,
)
bodies = st.binary(max_size=200) | values.map(lambda value: json.dumps(value).encode())
segments = st.sampled_from(SEGMENTS) | st.text(min_size=1, max_size=8).map(lambda text: quote(text, errors="replace"))
headers = st.dictionaries(
    st.sampled_from(HEADERS),
    st.binary(max_size=30).filter(lambda value: not {*value} & {0, 10, 13}) | st.sampled_from(MEDIA),
    max_size=3,
)
queries = st.dictionaries(st.sampled_from(NAMES), st.text(max_size=12).map(lambda text: quote(text, errors="replace")))


@pytest.fixture
async def known_ids() -> dict[str, str]:
    """Return existing ids by their name in a path; the same in every simulator of that seed."""
    simulator = Simulator(clock=SimulatorClock(START, paused=True))
    async with client_for(simulator, simulator.token) as client:
        events = {event["name"]: event for event in data(await client.get("/v2/live/events"))}
        choir, past = events["Choir, hall B"], events["Rehearsal Tuesday"]
        video = data(await client.get(f"/v2/live/events/{past['id']}/videos"))[0]["id"]
        room = data(await client.get("/v1/meet/rooms"))[0]
        ids = {"event_id": choir["id"], "stream_id": choir["stream"]["id"], "video_id": video, "room_id": room["id"]}
        for kind in ("poster", "subtitle", "annotation"):
            ids[f"{kind}_id"] = data(await client.get(f"/v1/videos/{video}/{kind}s"))[0]["id"]
    return ids


@pytest.mark.parametrize("control", [False, True])
@FUZZ
@given(index=st.integers(0, 200), parts=st.lists(segments, max_size=3), body=bodies, query=queries, extra=headers)
async def test_no_request_is_a_500(known_ids: dict[str, str], control: bool, index: int, **sent: Any) -> None:
    method, path = (CONTROL if control else API)[index % len(CONTROL if control else API)]
    parts = iter([*sent["parts"]])

    def filled(name: re.Match[str]) -> str:
        return next(parts, "{}").replace("{}", known_ids.get(name[1], "x"))

    query = "&".join(f"{name}={value}" for name, value in sent["query"].items())
    address = re.sub(r"\{(\w+)\}", filled, path)
    simulator = Simulator(clock=SimulatorClock(START, paused=True))
    async with client_for(simulator, simulator.control_token if control else simulator.token) as client:
        answer = await client.request(
            method,
            f"{address}?{query}",
            content=sent["body"],
            headers=[(name.encode(), value) for name, value in sent["extra"].items()],
        )
    assert answer.status_code < 500, answer.request.url
    simulator.close()
