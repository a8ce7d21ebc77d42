"""The control API, the clock behind it, and what an encoder does on command."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import httpx
import pytest

from livedeck.simulator import Simulator, SimulatorClock
from simulator.http_client import FindEvent, Row, Samples

EVENTS = "/v2/live/events"


async def command(admin: httpx.AsyncClient, path: str, **body: object) -> Row:
    answer = await admin.post(f"/_control/{path}", json=body)
    assert answer.status_code == 200, answer.text
    data: Row = answer.json()["data"]
    return data


@pytest.mark.parametrize("path", ["/_control", "/_control/", "/_control/clock"])
async def test_the_control_api_takes_its_own_token_alone(
    admin: httpx.AsyncClient, api: httpx.AsyncClient, path: str
) -> None:
    assert (await admin.get(path)).status_code == 200
    assert (await api.get(path)).json()["error"]["code"] == 403403
    assert (await api.get(path, headers={"Authorization": "Bearer wrong"})).json()["error"]["code"] == 401401
    assert (await api.get(path, headers={"Authorization": ""})).json()["error"]["code"] == 401401


async def test_the_token_of_the_control_api_opens_no_other(admin: httpx.AsyncClient) -> None:
    assert (await admin.get(EVENTS)).status_code == 401


async def test_the_control_api_describes_itself_truly(admin: httpx.AsyncClient) -> None:
    """Every route that it names answers, and takes just the parameters that it names."""
    for route in (await admin.get("/_control/")).json()["data"]["routes"]:
        path = re.sub(r"\{\w+\}", "00000000-0000-4000-8000-000000000000", route["path"])
        answer = await admin.request(route["method"], path, json={})
        assert answer.status_code == 200 or answer.json()["error"]["code"] in {400400, 404404, 409409}
        assert route["does"]
        if route["parameters"]:
            assert set(route) == {"method", "path", "does", "parameters"}


async def test_the_clock_is_read_and_moved(admin: httpx.AsyncClient, simulator: Simulator) -> None:
    assert (await admin.get("/_control/clock")).json() == {
        "data": {"now": "2026-11-21T09:00:00.500Z", "speed": 1.0, "paused": True, "epoch": 0}
    }
    assert (await command(admin, "clock", step=90.5))["now"] == "2026-11-21T09:01:31.000Z"
    assert (await command(admin, "clock", step=-1))["now"] == "2026-11-21T09:01:30.000Z"
    assert (await command(admin, "clock", jump="2027-01-01T01:00:00+01:00", step=1))[
        "now"
    ] == "2027-01-01T00:00:01.000Z"
    running = await command(admin, "clock", speed=20, paused=False)
    assert running | {"now": ""} == {"now": "", "speed": 20, "paused": False, "epoch": 4}
    stopped = await command(admin, "clock", paused=True)
    assert stopped | {"now": ""} == {"now": "", "speed": 20, "paused": True, "epoch": 5}
    assert simulator.clock.now().year == 2027


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ('{"step": "1"}', "step"),
        ('{"step": true}', "step"),
        ('{"step": 1e400}', "step"),
        ('{"step": NaN}', "body"),
        ('{"speed": 0}', "speed"),
        ('{"speed": 1e6}', "speed"),
        ('{"paused": 1}', "paused"),
        ('{"jump": "tomorrow"}', "jump"),
        ('{"jump": "2026-11-21T09:00:00"}', "jump"),
        ('{"jump": "0001-01-01T00:00:00+14:00"}', "jump"),
        ('{"pause": true}', "pause"),
        ("[]", "body"),
        ("{", "body"),
        ("[" * 100_000, "body"),
        ('"\\udc00', "body"),
        ("\udce9", "body"),
    ],
)
async def test_a_bad_command_is_named_and_changes_nothing(admin: httpx.AsyncClient, body: str, name: str) -> None:
    answer = await admin.post("/_control/clock", content=body.encode(errors="surrogateescape"))
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (400, 400400)
    assert [fault["name"] for fault in error["invalid_params"]] == [name]
    assert (await admin.get("/_control/clock")).json()["data"]["now"] == "2026-11-21T09:00:00.500Z"


async def test_time_stays_between_1970_and_2200(admin: httpx.AsyncClient, simulator: Simulator) -> None:
    simulator.clock.change(jump=datetime(2199, 12, 31, tzinfo=UTC))
    answer = await admin.post("/_control/clock", json={"step": 1e9})
    assert answer.json()["error"]["invalid_params"][0]["name"] == "step"
    with pytest.raises(ValueError, match="1970"):
        simulator.clock.step(1e300)
    with pytest.raises(ValueError, match="1970"):
        SimulatorClock(datetime(2026, 1, 1))  # noqa: DTZ001  naive is the point
    with pytest.raises(ValueError, match="above 0"):
        SimulatorClock(speed=0)


async def test_a_running_clock_moves_and_a_paused_one_does_not() -> None:
    clock = SimulatorClock(datetime(2026, 1, 1, tzinfo=UTC), speed=1000)
    first = clock.now()
    while clock.now() == first:
        pass
    clock.change(paused=True)
    stopped = clock.now()
    assert stopped > first
    assert clock.now() == stopped


async def test_a_stopped_encoder_sends_nothing_more_and_keeps_its_past(
    admin: httpx.AsyncClient, simulator: Simulator, find_event: FindEvent, samples: Samples
) -> None:
    before = await samples("Choir, hall B")
    await command(admin, f"encoders/{(await find_event('Choir, hall B'))['id']}", sending=False)
    simulator.clock.step(60)
    assert await samples("Choir, hall B") == before
    assert (await find_event("Choir, hall B"))["stream"]["status"] == "live"
    await command(admin, f"encoders/{(await find_event('Choir, hall B'))['id']}", sending=True)
    simulator.clock.step(60)
    after = await samples("Choir, hall B")
    assert after[: len(before)] == before
    assert len(after) == len(before) + 30


async def test_another_shape_holds_from_now_on(
    admin: httpx.AsyncClient, simulator: Simulator, find_event: FindEvent, samples: Samples
) -> None:
    before = await samples("City council")
    answer = await command(admin, f"encoders/{(await find_event('City council'))['id']}", shape="encoder-overload")
    assert (answer["sending"], answer["shape"]) == (True, "encoder-overload")
    simulator.clock.step(600)
    after = await samples("City council")
    assert after[: len(before)] == before
    assert {row["frame_rate"] for row in after[len(before) :]} <= {22, 23, 24}


async def test_a_command_overrides_what_was_planned(
    admin: httpx.AsyncClient, simulator: Simulator, find_event: FindEvent, samples: Samples
) -> None:
    await command(admin, f"encoders/{(await find_event('Evening news'))['id']}", sending=False)
    simulator.clock.step(3600)
    assert await samples("Evening news") == []


async def test_a_late_encoder_puts_the_stream_on_air(admin: httpx.AsyncClient, find_event: FindEvent) -> None:
    await command(admin, f"encoders/{(await find_event('Lecture 7'))['id']}", sending=True, shape="warm-up")
    stream = (await find_event("Lecture 7"))["stream"]
    assert (stream["status"], stream["started_at"]) == ("live", "2026-11-21T09:00:00.500Z")


@pytest.mark.parametrize("name", ["Untitled event", "Concert, open air", "Rehearsal Tuesday"])
async def test_an_event_without_an_open_stream_refuses_an_encoder(
    admin: httpx.AsyncClient, find_event: FindEvent, name: str
) -> None:
    answer = await admin.post(f"/_control/encoders/{(await find_event(name))['id']}", json={"sending": True})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, 409409)


async def test_an_empty_command_to_an_encoder_is_refused(admin: httpx.AsyncClient, find_event: FindEvent) -> None:
    answer = await admin.post(f"/_control/encoders/{(await find_event('Lecture 7'))['id']}")
    assert answer.json()["error"]["code"] == 400400


async def test_a_reset_makes_everything_anew_and_keeps_the_tokens(
    admin: httpx.AsyncClient, api: httpx.AsyncClient, simulator: Simulator, find_event: FindEvent
) -> None:
    before, workspace, others = await find_event("Choir, hall B"), simulator.workspace_id, simulator.other_workspace
    await command(admin, f"encoders/{before['id']}", sending=False)
    simulator.clock.step(86_400)
    assert await command(admin, "reset") == {"seed": 7, "start": "2026-11-21T09:00:00.500Z"}
    assert await find_event("Choir, hall B") == before
    assert (await command(admin, "reset", seed=8))["seed"] == simulator.seed == 8
    assert (await find_event("Choir, hall B"))["id"] != before["id"]
    assert (simulator.workspace_id, simulator.other_workspace) == (workspace, others)
    assert (await api.get(f"{EVENTS}/{before['id']}")).json()["error"]["code"] == 400404
