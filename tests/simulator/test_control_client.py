"""`Platform`, against a simulator in a thread of its own."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection

import httpx
import pytest

from livedeck.simulator import ControlError, Platform, Simulator, SimulatorClock, SimulatorError, ThreadedSimulator

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def server() -> Iterator[ThreadedSimulator]:
    with ThreadedSimulator(lambda: Simulator(workspace="stage", clock=SimulatorClock(START, paused=True))) as server:
        yield server


@pytest.fixture
def platform(server: ThreadedSimulator) -> Platform:
    server.platform.reset()
    return server.platform


def status_of(platform: Platform, path: str, token: str) -> int:
    """Return the status that a client gets which knows only the addresses and the token."""
    connection = HTTPConnection(platform.base_url.removeprefix("http://"), timeout=30)
    try:
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
        return connection.getresponse().status
    finally:
        connection.close()


def test_it_says_what_a_client_is_configured_with(platform: Platform) -> None:
    event = f"/v2/live/events/{platform.event('Tomorrow').id}"
    assert status_of(platform, event, platform.token) == 200
    assert status_of(platform, event, platform.other_token) == 400, "the other workspace has no such event"
    assert platform.upload_url == f"{platform.base_url}/upload"
    assert platform.event("Tomorrow").fields["workspace_id"] == platform.workspace_id


def test_an_attached_platform_equals_the_first(platform: Platform) -> None:
    connection = platform.connection
    again = Platform.attach(f"{connection.control_url}/", connection.control_token)
    assert again.token == platform.token
    assert again.base_url == platform.base_url
    with pytest.raises(RuntimeError, match="base_url"):
        _ = again.app


async def test_the_app_answers_in_the_loop_of_the_caller(platform: Platform) -> None:
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app=platform.app),
        base_url="http://platform.test",
        headers={"Authorization": f"Bearer {platform.token}"},
    ) as client:
        name = (await client.get(f"/v2/live/events/{platform.event('Tomorrow').id}")).json()["data"]["name"]
    assert name == "Tomorrow"


def test_no_token_is_shown(platform: Platform) -> None:
    shown = repr(platform) + repr(platform.clock) + repr(platform.requests) + str(platform)
    for token in (platform.token, platform.other_token, platform.connection.control_token):
        assert token not in shown


def test_the_clock_moves_and_stops(platform: Platform) -> None:
    clock = platform.clock
    assert clock.jump(START) == START
    assert clock.step(90.5) == clock.now == START + timedelta(seconds=90.5)
    assert clock.jump("2027-01-01T01:00:00+01:00") == datetime(2027, 1, 1, tzinfo=UTC)
    clock.run(20)
    assert (clock.paused, clock.speed) == (False, 20)
    clock.pause()
    assert clock.paused
    clock.run()
    assert clock.speed == 1
    clock.pause()
    clock.jump(START)


def test_names_and_ids_find_events_and_rooms(platform: Platform) -> None:
    event, room = platform.event("Tomorrow"), platform.room("Green room")
    assert platform.event(event.id) == event
    assert platform.room(room.id) == room
    with pytest.raises(ControlError, match=r"Yesterday.*Main stage, Second stage, Small hall.* Tomorrow") as refusal:
        platform.event("Yesterday")
    assert refusal.value.status == 404


def test_a_fault_hits_the_client_alone(platform: Platform) -> None:
    platform.faults.add("status", status=503)
    assert status_of(platform, "/v2/live/events", platform.token) == 503
    assert platform.event("Tomorrow").name == "Tomorrow"
    assert [fault["kind"] for fault in platform.faults.active()] == ["status"]
    platform.faults.clear()
    assert status_of(platform, "/v2/live/events", platform.token) == 200


def test_an_encoder_stops_on_command(platform: Platform) -> None:
    assert platform.encoder("Main stage", sending=False)["sending"] is False
    assert platform.encoder("Main stage", sending=True, shape="loss-bursts")["shape"] == "loss-bursts"


def test_a_scenario_plays(platform: Platform) -> None:
    assert platform.scenario.play("bad-night")["scenario"] == "bad-night"
    assert platform.scenario.progress()["scenario"] == "bad-night"


def test_a_refusal_names_every_parameter(platform: Platform) -> None:
    with pytest.raises(ControlError) as refusal:
        platform.faults.add("status", status=7, chance=2)
    assert [problem.name for problem in refusal.value.problems] == ["chance", "status"]
    assert "chance: must be a number from 0 to 1" in str(refusal.value)


def test_a_wrong_token_and_a_closed_port_are_control_errors(platform: Platform) -> None:
    with pytest.raises(ControlError) as refusal:
        Platform.attach(platform.connection.control_url, "wrong")
    assert refusal.value.status == 401
    with ThreadedSimulator() as ended:
        gone = ended.platform
    with pytest.raises(ControlError, match="no answer from the simulator") as silence:
        gone.reset()
    assert silence.value.status == 0


def test_what_prevents_the_start_is_raised_to_the_caller() -> None:
    with pytest.raises(SimulatorError, match="no workspace is called 'nowhere'"):
        ThreadedSimulator(lambda: Simulator(workspace="nowhere"))


def test_a_check_that_a_dropped_request_may_change_fails_as_unknown() -> None:
    with ThreadedSimulator(lambda: Simulator(journal=1)) as server:
        platform = server.platform
        for _ in range(2):
            status_of(platform, "/v2/live/events", platform.token)
        platform.requests.verify(operation="list_events")
        with pytest.raises(AssertionError, match=r"unknown: dropped requests \(1\) may match"):
            platform.requests.verify(operation="list_events", exactly=1)
        with pytest.raises(AssertionError, match="unknown"):
            platform.requests.verify_in_order({"operation": "list_events"}, {"operation": "list_events"})
        platform.requests.clear()
        platform.requests.verify(operation="list_events", exactly=0)
