"""Fault layer: each kind has the effect of its name, on the requests that it is meant for and on no others."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import httpx
import pytest

from livedeck.simulator import Simulator, SimulatorError, serve
from livedeck.simulator.engine.faults import FAULT_EFFECTS, effects
from livedeck.simulator.engine.faults.matching import HLS_KINDS
from simulator.http_client import FindEvent, Row, client_for, data, error_of, in_halves, invalid_names

EVENTS = "/v2/live/events"
FAULTS = "/_control/faults"
TOGETHER = ["status", "drop", "truncate", "drip", "skew", "broken-json", "nulls"]


@pytest.fixture
async def wire(simulator: Simulator) -> AsyncIterator[httpx.AsyncClient]:
    """Client over a real socket, with the token of the API. No reply is checked against the OpenAPI document."""
    headers = {"Authorization": f"Bearer {simulator.token}"}
    async with serve(simulator) as addresses, httpx.AsyncClient(base_url=addresses.base_url, headers=headers) as client:
        yield client


async def add_fault(admin: httpx.AsyncClient, kind: str, **arguments: object) -> Row:
    match = {name: arguments.pop(name) for name in ("method", "path") if name in arguments}
    fault: Row = data(await admin.post(FAULTS, json={"kind": kind, "match": match} | arguments))
    return fault


async def samples(wire: httpx.AsyncClient) -> httpx.Response:
    events = (await wire.get(EVENTS)).json()["data"]
    choir = next(event["id"] for event in events if event["name"] == "Choir, hall B")
    return await wire.get(f"{EVENTS}/{choir}/qos")


@pytest.mark.parametrize("status", [500, 502, 503, 401, 403, 404, 418])
async def test_a_status_comes_with_the_documented_error_object(
    wire: httpx.AsyncClient, admin: httpx.AsyncClient, status: int
) -> None:
    await add_fault(admin, "status", status=status)
    assert error_of(await wire.get(EVENTS)) == (status, status * 1001)


@pytest.mark.parametrize(
    ("arguments", "header"),
    [
        ({"retry_after": "seconds", "seconds": 20}, "20"),
        ({"retry_after": "date", "seconds": 20}, "Sat, 21 Nov 2026 09:00:20 GMT"),
        ({"retry_after": "none"}, None),
    ],
)
async def test_a_rate_limit_says_when_in_each_way(
    wire: httpx.AsyncClient, admin: httpx.AsyncClient, arguments: Row, header: str | None
) -> None:
    await add_fault(admin, "rate-limit", **arguments)
    answer = await wire.get(EVENTS)
    assert error_of(answer) == (429, 429429)
    assert answer.headers.get("retry-after") == header


async def test_the_control_api_answers_whatever_hits_the_rest(wire: httpx.AsyncClient, simulator: Simulator) -> None:
    control = {"Authorization": f"Bearer {simulator.control_token}"}
    assert (await wire.post(FAULTS, json={"kind": "drop"}, headers=control)).status_code == 200
    with pytest.raises(httpx.RemoteProtocolError):
        await wire.get(EVENTS)
    assert data(await wire.delete(FAULTS, headers=control)) == {"faults": 0}
    assert (await wire.get(EVENTS)).status_code == 200


@pytest.mark.parametrize(
    ("arguments", "is_hit"),
    [
        ({"method": "PUT"}, False),
        ({"method": "GET"}, True),
        ({"path": "**/qos"}, False),
        ({"path": "/v2/*"}, False),
        ({"path": "/v2/**"}, True),
        ({"chance": 0}, False),
        ({"chance": 1}, True),
        ({"lasts": 0}, False),
    ],
)
async def test_a_fault_hits_what_it_is_meant_for(
    wire: httpx.AsyncClient, admin: httpx.AsyncClient, arguments: Row, is_hit: bool
) -> None:
    await add_fault(admin, "status", **arguments)
    assert (await wire.get(EVENTS)).status_code == (503 if is_hit else 200)


async def test_a_fault_ends_with_its_time_and_is_listed_with_it(
    wire: httpx.AsyncClient, admin: httpx.AsyncClient, simulator: Simulator
) -> None:
    fault = await add_fault(admin, "status", lasts=60)
    assert (fault["since"], fault["until"]) == ("2026-11-21T09:00:00.500Z", "2026-11-21T09:01:00.500Z")
    assert data(await admin.get(FAULTS)) == [fault]
    assert (await wire.get(EVENTS)).status_code == 503
    simulator.clock.step(60)
    assert (await wire.get(EVENTS)).status_code == 200
    assert data(await admin.get(FAULTS)) == []


async def test_chance_is_the_same_for_the_same_seed(simulator: Simulator, tmp_path: Path) -> None:
    faults = tmp_path / "half.toml"
    faults.write_text('[[faults]]\nkind = "status"\nstatus = 502\nchance = 0.5\n')

    async def met(seed: int) -> list[int]:
        same = Simulator(seed=seed, clock=simulator.clock, faults=faults)
        async with client_for(same, same.token) as api:
            return [(await api.get(EVENTS)).status_code for _ in range(12)]

    first = await met(7)
    assert first == await met(7)
    assert first != await met(8)
    assert {*first} == {200, 502}


async def test_a_dropped_request_is_not_done_and_a_lost_one_is(
    wire: httpx.AsyncClient, admin: httpx.AsyncClient, find_event: FindEvent
) -> None:
    path = f"{EVENTS}/{(await find_event('Lecture 7'))['id']}"
    for kind, name in (("drop", "Lecture 7"), ("lose", "Lecture 8")):
        await add_fault(admin, kind, method="PUT")
        with pytest.raises(httpx.RemoteProtocolError):
            await wire.put(path, json={"name": "Lecture 8"})
        await admin.delete(FAULTS)
        assert (await wire.get(path)).json()["data"]["name"] == name


LATE_NAMES = {"at-once": ["Lecture 8"] * 3, "late": ["Lecture 7", "Lecture 7", "Lecture 8"], "never": ["Lecture 7"] * 3}


@pytest.mark.parametrize("answer", ["status", "lost", "hang", "broken-json"])
@pytest.mark.parametrize("lands", LATE_NAMES)
async def test_a_late_change_is_answered_now_and_lands_when_it_says(
    *,
    wire: httpx.AsyncClient,
    admin: httpx.AsyncClient,
    simulator: Simulator,
    find_event: FindEvent,
    answer: str,
    lands: str,
) -> None:
    """Names at once, 11.9 s and 12 s later. The fault is over by then: what is on its way lands all the same."""
    path = f"{EVENTS}/{(await find_event('Lecture 7'))['id']}"
    await add_fault(admin, "late-apply", method="PUT", lands=lands, answer=answer, seconds=12, status=504)
    change = asyncio.create_task(wire.put(path, json={"name": "Lecture 8"}))
    if answer == "lost":
        with pytest.raises(httpx.RemoteProtocolError):
            await change
    elif answer == "hang":
        for _ in range(20):
            await wire.get(EVENTS)
        assert not change.done()
        change.cancel()
    else:
        response = await change
        assert (response.status_code, "Lecture" in response.text) == (504 if answer == "status" else 200, False)
    await admin.delete(FAULTS)
    met = []
    for seconds in (0, 11.9, 0.1):
        simulator.clock.step(seconds)
        met.append((await wire.get(path)).json()["data"]["name"])
    assert met == LATE_NAMES[lands]


async def test_a_late_redirect_points_elsewhere(
    wire: httpx.AsyncClient, admin: httpx.AsyncClient, find_event: FindEvent
) -> None:
    path = f"{EVENTS}/{(await find_event('Lecture 7'))['id']}/enable"
    await add_fault(admin, "late-apply", method="PUT", status=303)
    answer = await wire.put(path)
    assert (answer.status_code, answer.headers["location"]) == (303, "https://elsewhere.example/")


async def test_a_late_change_is_refused_like_any_other_and_one_of_a_workspace_that_was_is_dropped(
    wire: httpx.AsyncClient, admin: httpx.AsyncClient, simulator: Simulator, find_event: FindEvent
) -> None:
    path = f"{EVENTS}/{(await find_event('Lecture 7'))['id']}"
    await add_fault(admin, "late-apply", method="PUT", seconds=12)
    await wire.put(f"{path}/enable")
    assert (await wire.delete(path)).status_code == 200
    simulator.clock.step(12)
    assert error_of(await wire.get(path)) == (400, 400404)
    path = f"{EVENTS}/{(await find_event('Choir, hall B'))['id']}"
    await wire.put(path, json={"name": "Late"})
    data(await admin.post("/_control/reset", json={}))
    simulator.clock.step(12)
    assert (await wire.get(path)).json()["data"]["name"] == "Choir, hall B"


async def test_a_late_change_whose_body_arrives_after_a_reset_changes_nothing(
    wire: httpx.AsyncClient, admin: httpx.AsyncClient, simulator: Simulator, find_event: FindEvent
) -> None:
    path = f"{EVENTS}/{(await find_event('Choir, hall B'))['id']}"
    await add_fault(admin, "late-apply", method="PUT", seconds=12)

    async def reset_once_hit() -> None:
        while not data(await admin.get(FAULTS))[0]["hits"]:
            await wire.get(EVENTS)
        data(await admin.post("/_control/reset", json={}))

    with pytest.raises(httpx.HTTPError):
        await wire.put(path, content=in_halves(b'{"name": "Late"}', reset_once_hit()))
    simulator.clock.step(12)
    assert (await wire.get(path)).json()["data"]["name"] == "Choir, hall B"


async def test_a_hanging_answer_never_comes_and_does_not_keep_the_simulator(
    wire: httpx.AsyncClient, admin: httpx.AsyncClient
) -> None:
    await add_fault(admin, "hang", path="**/qos")
    waiting = asyncio.create_task(samples(wire))
    for _ in range(20):
        assert (await wire.get(EVENTS)).status_code == 200
    assert not waiting.done()
    waiting.cancel()


async def test_a_truncated_answer_breaks_off(wire: httpx.AsyncClient, admin: httpx.AsyncClient) -> None:
    await add_fault(admin, "truncate")
    with pytest.raises(httpx.RemoteProtocolError):
        await wire.get(EVENTS)


async def test_latency_and_a_dripping_body_end_in_the_same_answer(
    wire: httpx.AsyncClient, admin: httpx.AsyncClient
) -> None:
    before = (await wire.get(EVENTS)).content
    await add_fault(admin, "latency", seconds=0.01)
    await add_fault(admin, "drip", size=4096, pause=0.005)
    began = time.monotonic()
    assert (await wire.get(EVENTS)).content == before
    assert time.monotonic() - began > 0.025


async def test_a_skewed_date_is_off_by_that_much(wire: httpx.AsyncClient, admin: httpx.AsyncClient) -> None:
    await add_fault(admin, "skew", seconds=-30)
    assert (await wire.get(EVENTS)).headers["date"] == "Sat, 21 Nov 2026 08:59:30 GMT"


async def test_a_skewed_platform_stamps_samples_by_the_same_clock(
    wire: httpx.AsyncClient, admin: httpx.AsyncClient
) -> None:
    before = (await samples(wire)).json()["data"][-1]
    await add_fault(admin, "skew", seconds=30)
    after = (await samples(wire)).json()["data"][-1]
    assert (before["time"], after["time"]) == ("2026-11-21T09:00:00.000Z", "2026-11-21T09:00:30.000Z")
    assert after | {"time": ""} == before | {"time": ""}


async def test_a_redirect_and_a_page_are_no_answers(wire: httpx.AsyncClient, admin: httpx.AsyncClient) -> None:
    await add_fault(admin, "redirect", status=307, path="**/qos")
    answer = await samples(wire)
    assert (answer.status_code, answer.headers["location"]) == (307, "https://elsewhere.example/")
    await add_fault(admin, "html", path=EVENTS)
    answer = await wire.get(EVENTS)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")


async def test_broken_json_says_that_it_is_json(wire: httpx.AsyncClient, admin: httpx.AsyncClient) -> None:
    await add_fault(admin, "broken-json")
    answer = await wire.get(EVENTS)
    assert answer.headers["content-type"] == "application/json"
    with pytest.raises(ValueError, match="Expecting"):
        answer.json()


async def test_each_distortion_does_what_it_says(wire: httpx.AsyncClient, admin: httpx.AsyncClient) -> None:
    sound = (await samples(wire)).json()["data"]

    async def distorted(kind: str) -> list[Row]:
        await add_fault(admin, kind, path="**/qos")
        answer = await samples(wire)
        await admin.delete(FAULTS)
        rows: list[Row] = answer.json()["data"]
        return rows

    assert (await distorted("wrong-types"))[0] == {name: str(value) for name, value in sound[0].items()}
    assert (await distorted("nulls"))[0] == dict.fromkeys(sound[0]) | {"time": sound[0]["time"]}
    assert [*(await distorted("missing-fields"))[0]] == ["bitrate_video", "frame_rate", "status"]
    assert {*(await distorted("extra-fields"))[0]} - {*sound[0]} == {"x_extra", "x_version"}
    assert await distorted("duplicates") == [row for row in sound for _ in range(2)]
    shuffled = await distorted("reordered")
    assert shuffled != sound
    assert sorted(shuffled, key=lambda row: row["time"]) == sound


@pytest.mark.parametrize("first", TOGETHER)
@pytest.mark.parametrize("second", TOGETHER)
async def test_faults_that_hit_together_do_not_break_the_simulator(
    wire: httpx.AsyncClient, admin: httpx.AsyncClient, caplog: pytest.LogCaptureFixture, first: str, second: str
) -> None:
    for kind in (first, second):
        await add_fault(admin, kind, path=EVENTS)
    with suppress(httpx.RemoteProtocolError):
        assert (await wire.get(EVENTS)).status_code == (503 if "status" in {first, second} else 200)
    assert [record for record in caplog.records if record.name == "livedeck.simulator"] == []


async def test_frozen_samples_grow_in_number_and_not_in_time(
    wire: httpx.AsyncClient, admin: httpx.AsyncClient, simulator: Simulator
) -> None:
    before = (await samples(wire)).json()["data"]
    await add_fault(admin, "frozen", path="**/qos")
    simulator.clock.step(60)
    after = (await samples(wire)).json()["data"]
    assert len(after) == len(before) + 30
    assert after[: len(before)] == before
    assert {row["time"] for row in after[len(before) :]} == {"2026-11-21T09:00:00.500Z"}


async def test_every_fifth_sample_is_dated_an_hour_ahead(wire: httpx.AsyncClient, admin: httpx.AsyncClient) -> None:
    before = (await samples(wire)).json()["data"]
    await add_fault(admin, "future", path="**/qos")
    after = (await samples(wire)).json()["data"]
    ahead = [
        (datetime.fromisoformat(late["time"]) - datetime.fromisoformat(row["time"])).total_seconds()
        for row, late in zip(before, after, strict=True)
    ]
    assert ahead == [3600 if index % 5 == 4 else 0 for index in range(len(before))]
    assert [row | {"time": ""} for row in after] == [row | {"time": ""} for row in before]


async def test_late_samples_are_the_same_samples_later(
    wire: httpx.AsyncClient, admin: httpx.AsyncClient, simulator: Simulator
) -> None:
    before = (await samples(wire)).json()["data"]
    await add_fault(admin, "late-samples", path="**/qos", seconds=60)
    late = (await samples(wire)).json()["data"]
    assert len(before) - len(late) == 30
    assert before[: len(late)] == late
    simulator.clock.step(60)
    assert (await samples(wire)).json()["data"] == before


async def test_a_huge_answer_is_ten_megabytes_and_sound(wire: httpx.AsyncClient, admin: httpx.AsyncClient) -> None:
    await add_fault(admin, "huge", path=EVENTS)
    answer = await wire.get(EVENTS)
    assert len(answer.content) > 10 * 1024 * 1024
    assert len(answer.json()["data"]) == 12


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({}, ["kind"]),
        ({"kind": "gremlin"}, ["kind"]),
        ({"kind": "status", "chance": 2}, ["chance"]),
        ({"kind": "status", "status": 200}, ["status"]),
        ({"kind": "rate-limit", "retry_after": "soon"}, ["retry_after"]),
        ({"kind": "status", "method": "PUT"}, ["method"]),
        ({"kind": "status", "match": {"stats": 3}}, ["match.stats"]),
        ({"kind": "status", "match": {"status": 200}}, ["match.status"]),
        ({"kind": "status", "match": {"path": {"regex": "x"}, "json.name": []}}, ["match.path", "match.json.name"]),
        ({"kind": "status", "seconds": 3, "jitter": 1}, ["jitter", "seconds"]),
        ({"kind": "bandwidth"}, ["kbit_per_s"]),
        ({"kind": "status", "nth": [1], "times": 2}, ["times"]),
        ({"kind": "answer", "json": {}, "body": "x"}, ["body"]),
        ({"kind": "answer", "headers": {"content-length": "3"}}, ["headers.content-length"]),
        ({"kind": "late-apply", "lands": "soon"}, ["lands"]),
        ({"kind": "late-apply", "answer": "joke"}, ["answer"]),
    ],
)
async def test_a_bad_fault_is_named(admin: httpx.AsyncClient, arguments: Row, names: list[str]) -> None:
    assert invalid_names(await admin.post(FAULTS, json=arguments)) == names
    assert data(await admin.get(FAULTS)) == []


@pytest.mark.parametrize("name", ["flaky", "odd", "dead", "late"])
def test_the_faults_that_come_with_the_simulator_are_sound(name: str) -> None:
    Simulator(faults=name).close()


def test_unsound_faults_are_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(SimulatorError, match="flaky"):
        Simulator(faults="calm")
    path = tmp_path / "mine.toml"
    path.write_text('[[faults]]\nkind = "gremlin"\n')
    with pytest.raises(SimulatorError, match="kind must be one of"):
        Simulator(faults=path)
    path.write_text("not toml")
    with pytest.raises(SimulatorError, match="cannot read"):
        Simulator(faults=path)


@pytest.mark.parametrize(
    ("arguments", "statuses"),
    [
        ({"nth": [1, 3]}, [503, 200, 503, 200]),
        ({"times": 2}, [503, 503, 200, 200]),
        ({"skip": 1, "times": 2}, [200, 503, 503, 200]),
        ({"skip": 3}, [200, 200, 200, 503]),
    ],
)
async def test_a_fault_counts_the_requests_that_match(
    api: httpx.AsyncClient, admin: httpx.AsyncClient, arguments: Row, statuses: list[int]
) -> None:
    await add_fault(admin, "status", path=EVENTS, **arguments)
    met = []
    for _ in statuses:
        met.append((await api.get(EVENTS)).status_code)
        await api.get(f"{EVENTS}/{'0' * 8}-0000-4000-8000-000000000000")
    assert met == statuses
    (fault,) = data(await admin.get(FAULTS))
    assert (fault["seen"], fault["hits"]) == (4, met.count(503))


async def test_counts_outlive_a_restart(tmp_path: Path) -> None:
    met: list[int] = []
    for _ in range(3):
        simulator = Simulator(data=tmp_path / "deck.db")
        async with client_for(simulator, simulator.control_token) as admin:
            if not met:
                await add_fault(admin, "status", times=2, id="twice")
        async with client_for(simulator, simulator.token) as api:
            met.append((await api.get(EVENTS)).status_code)
        simulator.close()
    assert met == [503, 503, 200]


@pytest.mark.parametrize(
    ("match", "is_hit"),
    [
        ({"header.x-who": "me"}, True),
        ({"header.x-who": "you"}, False),
        ({"json.name": "Gala"}, True),
        ({"json.name": {"contains": "x"}}, False),
        ({"token": "served"}, True),
        ({"token": "other"}, False),
        ({"event": "Lecture 7"}, True),
        ({"event": "Lecture 8"}, False),
        ({"operation": "update_event"}, True),
    ],
)
async def test_a_fault_matches_more_than_method_and_path(
    api: httpx.AsyncClient, admin: httpx.AsyncClient, find_event: FindEvent, match: Row, is_hit: bool
) -> None:
    """And the request that it reads ahead arrives whole."""
    path = f"{EVENTS}/{(await find_event('Lecture 7'))['id']}"
    await add_fault(admin, "status", match=match)
    answer = await api.put(path, json={"name": "Gala"}, headers={"X-Who": "me"})
    assert answer.status_code == (503 if is_hit else 200)
    if not is_hit:
        assert answer.json()["data"]["name"] == "Gala"


async def test_a_fault_is_changed_and_ended_by_its_id(api: httpx.AsyncClient, admin: httpx.AsyncClient) -> None:
    await add_fault(admin, "status", id="mine")
    assert error_of(await admin.post(FAULTS, json={"id": "mine", "kind": "html"})) == (409, 409409)
    assert data(await admin.put(f"{FAULTS}/mine", json={"kind": "status", "status": 500}))["status"] == 500
    assert (await api.get(EVENTS)).status_code == 500
    answer = await admin.put(f"{FAULTS}/yours", json={"kind": "html"})
    assert (answer.status_code, "there are mine" in answer.text) == (404, True)
    assert data(await admin.delete(f"{FAULTS}/mine"))["hits"] == 1
    assert data(await admin.get(FAULTS)) == []
    assert [(await add_fault(admin, "html"))["id"] for _ in range(2)] == ["fault-1", "fault-2"]


async def test_a_canned_answer_comes_in_place_of_the_change(
    wire: httpx.AsyncClient, admin: httpx.AsyncClient, find_event: FindEvent
) -> None:
    path = f"{EVENTS}/{(await find_event('Lecture 7'))['id']}"
    await add_fault(admin, "answer", method="PUT", status=202, headers={"X-Job": "9"}, json={"data": {"queued": True}})
    answer = await wire.put(path, json={"name": "Gala"})
    assert (answer.status_code, answer.headers["x-job"], answer.json()) == (202, "9", {"data": {"queued": True}})
    assert (await wire.get(path)).json()["data"]["name"] == "Lecture 7"


@pytest.mark.parametrize(
    ("kind", "arguments", "error"),
    [
        ("reset-peer", {}, httpx.ReadError),
        ("reset-peer", {"after": 20}, httpx.ReadError),
        ("limit-data", {"bytes": 20}, httpx.RemoteProtocolError),
    ],
)
async def test_a_connection_breaks_the_way_it_says(
    *, wire: httpx.AsyncClient, admin: httpx.AsyncClient, kind: str, arguments: Row, error: type[Exception]
) -> None:
    await add_fault(admin, kind, times=1, **arguments)
    with pytest.raises(error):
        await wire.get(EVENTS)
    assert (await wire.get(EVENTS)).status_code == 200


async def test_a_slow_close_sends_everything_first(wire: httpx.AsyncClient, admin: httpx.AsyncClient) -> None:
    before = (await wire.get(EVENTS)).content
    await add_fault(admin, "slow-close", seconds=0.01)
    answer = await wire.get(EVENTS)
    assert (answer.content, answer.headers["connection"]) == (before, "close")


async def test_seconds_count_on_the_clock_of_the_simulator_while_it_runs(
    wire: httpx.AsyncClient, admin: httpx.AsyncClient, simulator: Simulator
) -> None:
    simulator.clock.change(speed=1000, paused=False)
    for kind, arguments in (("latency", {"seconds": 60, "jitter": 10}), ("bandwidth", {"kbit_per_s": 1})):
        await add_fault(admin, kind, **arguments)
    async with asyncio.timeout(30):
        assert (await wire.get(EVENTS)).status_code == 200


@pytest.mark.parametrize("kind", ["latency", "bandwidth"])
async def test_a_reset_drops_a_change_that_a_fault_delays(
    *,
    wire: httpx.AsyncClient,
    admin: httpx.AsyncClient,
    find_event: FindEvent,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
) -> None:
    path = f"{EVENTS}/{(await find_event('Lecture 7'))['id']}"
    reached, released = asyncio.Event(), asyncio.Event()

    async def wait(*_: object) -> None:
        reached.set()
        await released.wait()

    monkeypatch.setattr(effects.Strike, "wait", wait)
    monkeypatch.setattr(effects.Allowance, "spend", wait)
    await add_fault(admin, kind, method="PUT", **({"kbit_per_s": 8} if kind == "bandwidth" else {"seconds": 5}))
    change = asyncio.create_task(wire.put(path, json={"name": "Lecture 8"}))
    await reached.wait()
    data(await admin.post("/_control/reset", json={}))
    released.set()
    with pytest.raises(httpx.RemoteProtocolError):
        await change
    assert data(await admin.get("/_control/requests")) == []
    assert (await wire.get(path)).json()["data"]["name"] == "Lecture 7"


def test_every_kind_of_fault_has_a_test_here() -> None:
    """But for those of HLS, which test_hls.py has."""
    tests = Path(__file__).read_text(encoding="utf-8")
    assert [kind for kind in FAULT_EFFECTS if kind not in HLS_KINDS and f'"{kind}"' not in tests] == []
