"""The journal: what came is listed, found, counted and verified; secrets are in no entry."""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import suppress
from typing import Any

import httpx
import pytest

from livedeck.simulator import Simulator, SimulatorClock, recorder, serve
from livedeck.simulator.engine.journal import Entry
from livedeck.simulator.rehearsal.control_api import requests
from livedeck.simulator.rehearsal.har import show_entry
from simulator.conftest import START
from simulator.http_client import FindEvent, Row, client_for, data, error_of, in_halves, invalid_names

EVENTS = "/v2/live/events"
REQUESTS = "/_control/requests"
FAULTS = "/_control/faults"


async def entries(admin: httpx.AsyncClient) -> list[Row]:
    rows: list[Row] = data(await admin.get(REQUESTS))
    return rows


async def count(admin: httpx.AsyncClient, **pattern: Any) -> int:
    counted: Row = data(await admin.post(f"{REQUESTS}/count", json={"pattern": pattern}))
    return int(counted["count"])


async def verify(admin: httpx.AsyncClient, **expectation: Any) -> Row:
    verdict: Row = data(await admin.post(f"{REQUESTS}/verify", json=expectation))
    return verdict


async def test_an_entry_says_what_came_and_what_was_answered(
    api: httpx.AsyncClient, admin: httpx.AsyncClient, find_event: FindEvent
) -> None:
    event = await find_event("Lecture 7")
    await admin.delete(REQUESTS)
    await api.put(f"{EVENTS}/{event['id']}?why=1", json={"name": "Lecture 8"})
    (entry,) = await entries(admin)
    assert {name: entry[name] for name in ("method", "path", "operation", "names", "token", "query", "status")} == {
        "method": "PUT",
        "path": f"{EVENTS}/{event['id']}",
        "operation": "update_event",
        "names": {"event": "Lecture 7"},
        "token": "served",
        "query": {"why": "1"},
        "status": 200,
    }
    assert (entry["at"], entry["outcome"], entry["faults"]) == ("2026-11-21T09:00:00.500Z", "answered", [])
    assert entry["body"] == {"text": '{"name":"Lecture 8"}', "bytes": 20, "cut": False}
    assert json.loads(entry["answer"]["text"])["data"]["name"] == "Lecture 8"
    assert ["authorization", "Bearer [REDACTED]"] in entry["headers"]


async def test_the_control_api_is_no_part_of_it_and_a_foreign_token_is_named(
    simulator: Simulator, other: httpx.AsyncClient, admin: httpx.AsyncClient
) -> None:
    await other.get(EVENTS)
    for token in ("", "wrong"):
        async with client_for(simulator, token) as stranger:
            stranger.headers.update({"Authorization": f"Bearer {token}"} if token else {})
            await stranger.get(EVENTS)
    assert [entry["token"] for entry in await entries(admin)] == ["other", "wrong", "wrong"]


async def test_only_the_control_api_and_the_clock_are_left_out(
    api: httpx.AsyncClient, admin: httpx.AsyncClient
) -> None:
    for path in ("/_control", "/_control/clock", "/_clock", "/_controlled", "/_clocks/a"):
        await api.get(path)
    assert [entry["path"] for entry in await entries(admin)] == ["/_controlled", "/_clocks/a"]


PATTERNS: list[tuple[Row, int]] = [
    ({}, 3),
    ({"method": "POST"}, 1),
    ({"method": {"any_of": ["POST", "DELETE"]}}, 1),
    ({"path": "/v2/live/*"}, 3),
    ({"path": "/v2/*"}, 0),
    ({"path": "/v2/**"}, 3),
    ({"path": "**/events"}, 3),
    ({"operation": {"glob": "*_event*"}}, 3),
    ({"operation": "create_event"}, 1),
    ({"query.page": 2}, 1),
    ({"query.page": "2"}, 1),
    ({"query.page": {"at_least": 2}}, 1),
    ({"query.page": {"absent": True}}, 2),
    ({"header.X-Trace": "abc"}, 1),
    ({"header.x-trace": {"contains": "b"}}, 1),
    ({"header.authorization": {"contains": "livedeck-demo"}}, 3),
    ({"json.name": "Gala"}, 1),
    ({"json.scheduled.time": {"glob": "2026-*"}}, 1),
    ({"json.restreams.0.name": "A"}, 1),
    ({"json.restreams.1": {"absent": True}, "method": "POST"}, 1),
    ({"json.name": {"absent": False}}, 1),
    ({"json.name": True}, 0),
    ({"body": {"contains": '"Gala"'}}, 1),
    ({"token": "other"}, 0),
    ({"status": {"at_most": 299}}, 3),
    ({"outcome": "cut"}, 0),
    ({"since": "2026-11-21T09:00:00Z"}, 3),
    ({"until": "2026-11-21T09:00:00Z"}, 0),
]


async def test_a_pattern_matches_what_it_says(api: httpx.AsyncClient, admin: httpx.AsyncClient) -> None:
    restream = {"name": "A", "url": "rtmp://a.example/live", "key": "k"}
    draft = {"name": "Gala", "type": "one-time", "scheduled": {"time": "2026-12-01T10:00:00Z"}, "restreams": [restream]}
    await api.get(EVENTS, params={"page": 2})
    await api.get(EVENTS, headers={"X-Trace": "abc"})
    data(await api.post(EVENTS, json=draft))
    for pattern, met in PATTERNS:
        assert (pattern, await count(admin, **pattern)) == (pattern, met)
        found = data(await admin.post(f"{REQUESTS}/find", json={"pattern": pattern}))
        assert len(found) == met


WRONG: list[tuple[Row, list[str]]] = [
    ({"pattern": {"state": 1}, "exactly": 1}, ["pattern.state"]),
    ({"pattern": {"path": {"like": "x"}}, "exactly": 1}, ["pattern.path"]),
    ({"pattern": {"since": "soon", "json.a": {"at_least": "x"}}, "exactly": 1}, ["pattern.since", "pattern.json.a"]),
    ({"pattern": {}}, ["exactly"]),
    ({"exactly": 1, "at_most": 2}, ["exactly"]),
    ({"in_order": [{}], "at_least": 1}, ["in_order"]),
    ({"in_order": []}, ["in_order"]),
]


async def test_a_wrong_expectation_is_named(admin: httpx.AsyncClient) -> None:
    for expectation, names in WRONG:
        assert invalid_names(await admin.post(f"{REQUESTS}/verify", json=expectation)) == names


async def test_a_near_miss_names_what_differs(
    api: httpx.AsyncClient, admin: httpx.AsyncClient, find_event: FindEvent
) -> None:
    event = await find_event("Lecture 7")
    await api.put(f"{EVENTS}/{event['id']}", json={"name": "Lecture 8"})
    pattern = {"operation": "update_event", "method": "PUT", "json.name": "Lecture 9"}
    verdict = await verify(admin, pattern=pattern, exactly=1)
    assert (verdict["verified"], verdict["count"]) == (False, 0)
    nearest = verdict["near_misses"][0]
    assert (nearest["distance"], nearest["differs"]) == (
        0.333,
        [{"field": "json.name", "expected": "Lecture 9", "actual": "Lecture 8"}],
    )
    assert await verify(admin, pattern=pattern, at_most=0) == {
        "verified": True,
        "count": 0,
        "dropped": 0,
        "near_misses": [],
    }


async def test_an_order_is_verified_and_its_first_gap_named(api: httpx.AsyncClient, admin: httpx.AsyncClient) -> None:
    for page in (1, 2, 3):
        await api.get(EVENTS, params={"page": page})
    assert (await verify(admin, in_order=[{"query.page": 1}, {"query.page": 3}]))["verified"]
    verdict = await verify(admin, in_order=[{"query.page": 3}, {"query.page": 1}])
    assert (verdict["verified"], verdict["count"]) == (False, 1)
    assert [(miss["n"], miss["differs"]) for miss in verdict["near_misses"]] == [(1, [])]


async def test_who_waits_gets_the_entry_that_comes(api: httpx.AsyncClient, admin: httpx.AsyncClient) -> None:
    await api.get(EVENTS)
    waiting = asyncio.create_task(admin.get(REQUESTS, params={"after": 1, "wait": 25}))
    verifying = asyncio.create_task(verify(admin, pattern={"operation": "list_events"}, at_least=2, within=25))
    for _ in range(20):
        await asyncio.sleep(0)
    assert not waiting.done()
    await api.get(EVENTS)
    assert [entry["n"] for entry in data(await waiting)] == [2]
    assert (await verifying)["verified"]


async def test_no_secret_is_in_any_entry_and_patterns_see_them_all(
    simulator: Simulator, api: httpx.AsyncClient, admin: httpx.AsyncClient
) -> None:
    restream = {"name": "A", "url": "rtmp://a.example/live", "key": "CANARY-1"}
    event = data(await api.post(EVENTS, json={"name": "Gala", "type": "one-time", "restreams": [restream]}))
    await api.get(EVENTS, params={"token": "CANARY-2", "sign": "CANARY-3"}, headers={"Cookie": "CANARY-4"})
    await api.post(
        EVENTS, content='{"streamkey": "CANARY-5", "note": "CANARY-5 again", ', headers={"X-Api-Key": "CANARY-6"}
    )
    await api.get("/cdn/materials/x?expires=1&sign=CANARY-7", headers={"Referer": "http://x.example/?sign=CANARY-8"})
    await api.get(f"{EVENTS}?per_page=100")
    await api.post(EVENTS, json={"name": f"{simulator.control_token} {simulator.other_workspace.token}"})
    nested = {"token": {"value": "CANARY-10"}, "keys": [{"key": ["CANARY-11"]}], "note": "CANARY-10 and CANARY-11"}
    await api.post(EVENTS, json=nested)
    shown = (await admin.get(REQUESTS)).text + (await admin.get(f"{REQUESTS}.har")).text
    pattern = {"header.cookie": "CANARY-9", "method": "GET", "path": EVENTS, "json.streamkey": {"absent": True}}
    shown += json.dumps(await verify(admin, pattern=pattern, exactly=1))
    assert "CANARY" not in shown
    for token in (simulator.token, simulator.control_token, simulator.other_workspace.token):
        assert token not in shown
    assert event["streamkey"] not in shown
    assert await count(admin, **{"json.restreams.0.key": "CANARY-1"}) == 1
    assert await count(admin, **{"query.sign": "CANARY-3", "header.cookie": "CANARY-4"}) == 1


async def test_long_bodies_are_cut_and_uploads_keep_their_size_alone(
    api: httpx.AsyncClient, admin: httpx.AsyncClient
) -> None:
    await api.post(EVENTS, json={"name": "x" * 100_000})
    await api.post("/upload/v2/poster", content=b"\x89PNG" * 100)
    long, upload = await entries(admin)
    assert (len(long["body"]["text"]), long["body"]["bytes"], long["body"]["cut"]) == (65536, 100_011, True)
    assert (upload["body"]["text"], upload["body"]["bytes"] <= 400) == ("", True)


async def test_the_journal_forgets_the_oldest_and_can_be_off() -> None:
    clock = SimulatorClock(START, paused=True)
    few, off = Simulator(clock=clock, journal=2), Simulator(clock=clock, journal=0)
    for simulator in (few, off):
        async with client_for(simulator, simulator.token) as api:
            for _ in range(3):
                await api.get(EVENTS)
    async with client_for(few, few.control_token) as admin:
        assert [entry["n"] for entry in await entries(admin)] == [2, 3]
    async with client_for(off, off.control_token) as admin:
        assert error_of(await admin.get(REQUESTS)) == (409, 409409)


async def test_the_outcome_says_how_a_request_ended(simulator: Simulator, admin: httpx.AsyncClient) -> None:
    async with (
        serve(simulator) as addresses,
        httpx.AsyncClient(base_url=addresses.base_url, headers={"Authorization": f"Bearer {simulator.token}"}) as wire,
    ):
        for kind in ("drop", "truncate", "status"):
            fault = {"id": kind, "kind": kind, "times": 1, "match": {"header.x-hit": kind}}
            data(await admin.post(FAULTS, json=fault))
            with suppress(httpx.RemoteProtocolError):
                await wire.get(EVENTS, headers={"X-Hit": kind})
        data(await admin.post(FAULTS, json={"id": "hang", "kind": "hang"}))
        waiting = asyncio.create_task(wire.get(EVENTS))
        last = data(await admin.get(REQUESTS, params={"after": 3, "wait": 10}))
        waiting.cancel()
    met = [(entry["outcome"], entry["status"], entry["faults"]) for entry in [*await entries(admin)][:3] + last]
    assert met == [
        ("cut", 0, ["drop"]),
        ("cut", 200, ["truncate"]),
        ("answered", 503, ["status"]),
        ("hung", 0, ["hang"]),
    ]


DROPPED: list[tuple[Row, bool | None]] = [
    ({"pattern": {"query.page": 1}, "exactly": 0}, None),
    ({"pattern": {"query.page": 3}, "exactly": 1}, None),
    ({"pattern": {}, "exactly": 1}, False),
    ({"pattern": {}, "at_most": 2}, None),
    ({"pattern": {}, "at_most": 1}, False),
    ({"pattern": {}, "at_least": 2}, True),
    ({"pattern": {}, "at_least": 3}, None),
    ({"in_order": [{"query.page": 2}, {"query.page": 3}]}, True),
    ({"in_order": [{"query.page": 1}, {"query.page": 3}]}, None),
    ({"pattern": {"since": "2026-11-21T09:00:00.500Z"}, "exactly": 2}, None),
    ({"pattern": {"since": "2026-11-21T09:00:00.501Z"}, "exactly": 1}, True),
    ({"pattern": {"since": "2026-11-21T09:00:00.501Z"}, "exactly": 2}, False),
]


async def test_a_result_that_dropped_entries_may_change_is_unknown() -> None:
    clock = SimulatorClock(START, paused=True)
    simulator = Simulator(clock=clock, journal=2)
    async with client_for(simulator, simulator.token) as api, client_for(simulator, simulator.control_token) as admin:
        for page in (1, 2, 3):
            await api.get(EVENTS, params={"page": page})
            clock.step(0.5 if page == 2 else 0)
        for expectation, verified in DROPPED:
            verdict = await verify(admin, **expectation)
            assert (expectation, verdict["verified"], verdict["dropped"]) == (expectation, verified, 1)
        assert data(await admin.post(f"{REQUESTS}/count", json={})) == {"count": 2, "dropped": 1}
        assert (await admin.get(f"{REQUESTS}.har")).json()["log"]["comment"] == "dropped requests: 1"
        await admin.delete(REQUESTS)
        assert await verify(admin, pattern={}, exactly=0) == {
            "verified": True,
            "count": 0,
            "dropped": 0,
            "near_misses": [],
        }


async def test_a_request_that_could_not_be_recorded_is_answered_and_counts_as_dropped(
    api: httpx.AsyncClient, admin: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(recorder, "parse_qsl", None)
        assert (await api.get(EVENTS)).status_code == 200
    verdict = await verify(admin, pattern={}, exactly=0)
    assert (verdict["verified"], verdict["dropped"]) == (None, 1)


async def test_a_stop_ends_a_verification_without_a_result(
    simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal, headers = simulator._world.journal, {"Authorization": f"Bearer {simulator.control_token}"}
    wait_after, waits = journal.wait_after, asyncio.Event()

    async def announced(n: int, seconds: float) -> None:
        waits.set()
        await wait_after(n, seconds)

    monkeypatch.setattr(journal, "wait_after", announced)
    async with httpx.AsyncClient(headers=headers, timeout=60) as client:
        async with serve(simulator) as addresses:
            expectation = {"pattern": {}, "at_most": 3, "within": 60}
            asked = client.post(f"{addresses.control_url}/requests/verify", json=expectation)
            verifying = asyncio.create_task(asked)
            await waits.wait()
        with pytest.raises(httpx.TransportError):
            await verifying


async def test_a_request_that_began_before_the_journal_was_cleared_has_no_entry(
    api: httpx.AsyncClient, admin: httpx.AsyncClient
) -> None:
    body = in_halves(b'{"name": "Gala", "type": "one-time"}', admin.delete(REQUESTS))
    assert (await api.post(EVENTS, content=body)).status_code == 200
    assert await entries(admin) == []


async def test_a_near_miss_shows_times_as_the_pattern_does(api: httpx.AsyncClient, admin: httpx.AsyncClient) -> None:
    await api.get(EVENTS)
    late = {"since": "2026-11-21T10:00:00Z", "method": "GET"}
    verdict = await verify(admin, pattern=late, exactly=1)
    assert verdict["near_misses"][0]["differs"] == [
        {"field": "since", "expected": "2026-11-21T10:00:00Z", "actual": "2026-11-21T09:00:00.500Z"}
    ]


async def test_an_address_in_the_archive_is_one(api: httpx.AsyncClient, admin: httpx.AsyncClient) -> None:
    await api.get("/v2/live/a%20b%3Fc%23d")
    url = (await admin.get(f"{REQUESTS}.har")).json()["log"]["entries"][0]["request"]["url"]
    assert url == "http://platform.test/v2/live/a%20b%3Fc%23d"


@pytest.mark.parametrize(
    "text", ["x" * 65_536, '"' + '\\"' * 32_700, f'{{"{"_t" * 30_000}": 1}}', '"' + "_a" * 32_000 + '": "v"']
)
async def test_the_secrets_of_a_long_body_are_sought_in_one_pass(
    api: httpx.AsyncClient, admin: httpx.AsyncClient, text: str
) -> None:
    """An expression that begins anew at each letter needs a minute for it, and nobody is answered meanwhile."""
    await api.post(EVENTS, content=text)
    assert (await entries(admin))[0]["body"]["text"] == text


async def test_other_requests_are_answered_while_a_long_journal_is_shown(
    api: httpx.AsyncClient, admin: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, answered = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def show(entry: Entry, secrets: list[str]) -> Row:
        loop.call_soon_threadsafe(begun.set)
        assert answered.wait(20)
        return show_entry(entry, secrets)

    await api.get(EVENTS)
    monkeypatch.setattr(requests, "show_entry", show)
    shown = asyncio.create_task(entries(admin))
    await begun.wait()
    assert (await api.get(EVENTS)).status_code == 200
    answered.set()
    assert [entry["n"] for entry in await shown] == [1]
