"""Contents of a data file, and files that are refused."""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from cli.commands import livedeck, served
from livedeck.simulator import DEFAULT_TOKEN, Simulator, SimulatorClock, SimulatorError

START = datetime(2026, 11, 21, 9, tzinfo=UTC)


def clock(at: datetime = START) -> SimulatorClock:
    return SimulatorClock(at, paused=True)


async def events(simulator: Simulator) -> bytes:
    headers = {"Authorization": f"Bearer {simulator.token}"}
    transport = httpx.ASGITransport(app=simulator.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://platform.test", headers=headers) as api:
        return (await api.get("/v2/live/events")).content


async def test_a_data_file_keeps_everything_over_restarts(tmp_path: Path) -> None:
    first = Simulator(seed=3, clock=clock(), data=tmp_path / "deck.db", token="given")
    kept = await events(first), first.token, first.seed, first.workspace_id, first.user_id, first.other_workspace
    first.close()
    again = Simulator(clock=clock(), data=tmp_path / "deck.db")
    assert kept == (
        *(await events(again), again.token, again.seed),
        *(again.workspace_id, again.user_id, again.other_workspace),
    )
    again.close()


async def test_a_change_after_a_refused_one_is_kept(tmp_path: Path) -> None:
    """A change that is refused halfway leaves no open transaction that would lose later changes."""
    first = Simulator(clock=clock(), data=tmp_path / "deck.db")
    headers = {"Authorization": f"Bearer {first.token}"}
    transport = httpx.ASGITransport(app=first.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://platform.test", headers=headers) as api:
        draft = {"name": "Refused", "type": "one-time", "parent_id": first.workspace_id}
        assert (await api.post("/v2/live/events", json=draft)).status_code == 400
        assert (await api.post("/v2/live/events", json={"name": "Kept", "type": "one-time"})).status_code == 200
    first.close()
    again = Simulator(clock=clock(), data=tmp_path / "deck.db")
    kept = await events(again)
    assert b'"Kept"' in kept
    assert b'"Refused"' not in kept
    again.close()


async def test_times_are_those_of_the_first_start(tmp_path: Path) -> None:
    first = Simulator(clock=clock(), data=tmp_path / "deck.db")
    before = await events(first)
    first.close()
    later = Simulator(clock=clock(START.replace(minute=10)), data=tmp_path / "deck.db")
    assert await events(later) == before
    later.close()


async def test_a_command_outlives_the_simulator(tmp_path: Path) -> None:
    first = Simulator(clock=clock(), data=tmp_path / "deck.db")
    headers = {"Authorization": f"Bearer {first.control_token}"}
    transport = httpx.ASGITransport(app=first.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://platform.test", headers=headers) as admin:
        assert (await admin.post("/_control/reset", json={"seed": 42, "force": True})).status_code == 200
    first.close()
    again = Simulator(clock=clock(), data=tmp_path / "deck.db")
    assert again.seed == 42
    again.close()


async def test_a_token_that_is_given_replaces_the_kept_one(tmp_path: Path) -> None:
    Simulator(clock=clock(), data=tmp_path / "deck.db").close()
    again = Simulator(clock=clock(), data=tmp_path / "deck.db", token="given")
    assert again.token == "given"
    again.close()


def test_a_seed_that_is_not_the_kept_one_is_refused(tmp_path: Path) -> None:
    Simulator(seed=3, clock=clock(), data=tmp_path / "deck.db").close()
    with pytest.raises(SimulatorError, match="made from the seed 3, not 99"):
        Simulator(seed=99, clock=clock(), data=tmp_path / "deck.db")
    Simulator(seed=3, clock=clock(), data=tmp_path / "deck.db").close()


async def test_a_scenario_goes_on_after_a_restart_where_it_would_be_without_one(tmp_path: Path) -> None:
    """A file of one's own too, which may be gone by then; and what it has done already, it does not do again."""
    path = tmp_path / "mine.toml"
    path.write_text(
        'title = "Mine"\nlasts = "+00:10:00"\n'
        '[[steps]]\nat = "+00:01:00"\ndo = "fault"\nkind = "latency"\nseconds = 0\n'
        '[[steps]]\nat = "+00:02:00"\ndo = "complete"\nevent = "Main stage"\n'
        '[[steps]]\nat = "+00:03:00"\ndo = "fault"\nkind = "nulls"\n'
    )
    whole = Simulator(clock=clock(), scenario=path)
    first = Simulator(clock=clock(), data=tmp_path / "deck.db", scenario=path)
    path.unlink()
    for seconds in (90, 60, 60):
        whole.clock.step(seconds)
        first.clock.step(seconds)
        assert await snapshot(first) == await snapshot(whole)
        first.close()
        first = Simulator(data=tmp_path / "deck.db")
        assert first.clock.now() == whole.clock.now()
        assert await snapshot(first) == await snapshot(whole)
    assert len((await control(first, "GET", "faults"))["data"]) == 2
    assert (await control(first, "GET", "scenario"))["data"]["done"] == 3
    first.close()


async def control(simulator: Simulator, method: str, path: str, /, **body: object) -> Any:
    """Return the answer of the control API."""
    headers = {"Authorization": f"Bearer {simulator.control_token}"}
    transport = httpx.ASGITransport(app=simulator.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://platform.test", headers=headers) as admin:
        return (await admin.request(method, f"/_control/{path}", json=body or None)).json()


async def snapshot(simulator: Simulator) -> list[object]:
    """Return every readable object without its signatures, the clock, and the positions of faults and scenario."""
    answers: list[object] = []
    for token in (simulator.token, simulator.other_workspace.token):
        headers = {"Authorization": f"Bearer {token}"}
        transport = httpx.ASGITransport(app=simulator.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://platform.test", headers=headers) as api:
            for path in await paths(api):
                answer = await api.get(path)
                answers.append((path, answer.status_code, re.sub(rb"sign=[0-9a-f]{64}", b"", answer.content)))
    clock = (await control(simulator, "GET", "clock"))["data"] | {"epoch": 0}  # it grows with each change
    return [*answers, clock, *[await control(simulator, "GET", path) for path in ("faults", "scenario")]]


async def paths(api: httpx.AsyncClient) -> list[str]:
    """Return the address of every existing object."""
    events = (await api.get("/v2/live/events?per_page=100")).json().get("data", [])
    found = ["/v2/live/events?per_page=100", "/v1/meet/rooms?per_page=100"]
    for event in events:
        item = f"/v2/live/events/{event['id']}"
        found += [item, f"{item}/qos", f"{item}/videos"]
        if event.get("stream"):
            found += [f"{item}/stream/{event['stream']['id']}/chat.{suffix}" for suffix in ("json", "csv", "txt")]
        for video in (await api.get(f"{item}/videos")).json().get("data", []):
            found += [f"/v1/videos/{video['id']}/{kind}" for kind in ("posters", "subtitles", "annotations")]
    return found


@pytest.mark.parametrize("data", [False, True])
async def test_a_reset_brings_back_what_it_began_with(tmp_path: Path, data: bool) -> None:
    """After a scenario with another seed, changes, uploads and faults."""
    simulator = Simulator(seed=3, clock=clock(), data=tmp_path / "deck.db" if data else None)
    before = await snapshot(simulator)
    assert "error" not in await control(simulator, "POST", "scenario", name="warm-up", seed=9, force=True)
    await control(simulator, "POST", "faults", kind="status", chance=0.5)
    simulator.clock.step(300)
    assert await snapshot(simulator) != before
    simulator.clock.step(-300)
    assert "error" not in await control(simulator, "POST", "reset", force=True)
    assert await snapshot(simulator) == before
    simulator.close()


@pytest.mark.parametrize(("path", "body"), [("reset", {}), ("reset", {"seed": 4}), ("scenario", {"name": "warm-up"})])
async def test_what_destroys_a_kept_workspace_needs_a_yes(tmp_path: Path, path: str, body: dict[str, object]) -> None:
    simulator = Simulator(clock=clock(), data=tmp_path / "deck.db")
    before = await events(simulator)
    for force in ({}, {"force": False}):
        refusal = await control(simulator, "POST", path, **body, **force)
        assert refusal["error"]["code"] == 409409
        assert '"force": true' in refusal["error"]["message"]
    assert await events(simulator) == before
    assert "data" in await control(simulator, "POST", path, **body, force=True)
    simulator.close()
    in_memory = Simulator(clock=clock())
    assert "data" in await control(in_memory, "POST", path, **body)
    in_memory.close()


async def test_faults_outlive_a_restart_and_given_ones_take_their_place(tmp_path: Path) -> None:
    first = Simulator(clock=clock(), data=tmp_path / "deck.db")
    await control(first, "POST", "faults", kind="latency", seconds=0, lasts=60, path="*/qos")
    await control(first, "POST", "faults", kind="status", chance=0)
    kept = await control(first, "GET", "faults")
    first.close()
    second = Simulator(data=tmp_path / "deck.db")
    assert await control(second, "GET", "faults") == kept
    second.close()
    third = Simulator(data=tmp_path / "deck.db", faults="dead")
    assert [fault["kind"] for fault in (await control(third, "GET", "faults"))["data"]] == ["status"]
    await control(third, "DELETE", "faults")
    third.close()
    fourth = Simulator(data=tmp_path / "deck.db")
    assert await control(fourth, "GET", "faults") == {"data": []}
    fourth.close()


def test_the_clock_outlives_a_killed_process(tmp_path: Path) -> None:
    """A paused one stands where it stood, and a running one has gone on at its pace."""

    def ask(simulator: dict[str, Any], **body: object) -> Any:
        headers = {"Authorization": f"Bearer {simulator['control_token']}"}
        with httpx.Client(base_url=simulator["control_url"], headers=headers) as api:
            answer = api.post("/clock", json=body) if body else api.get("/clock")
            return answer.raise_for_status().json()["data"]

    data = str(tmp_path / "deck.db")
    with served(tmp_path, "--data", data) as (process, simulator):
        ask(simulator, paused=True)
        paused = ask(simulator, jump="2031-05-01T12:00:00.000Z", speed=50)
        process.kill()
        process.wait()
    with served(tmp_path, "--data", data) as (process, simulator):
        assert ask(simulator) == paused == {"now": "2031-05-01T12:00:00.000Z", "speed": 50, "paused": True, "epoch": 2}
        running = ask(simulator, paused=False)
        process.kill()
        process.wait()
    with served(tmp_path, "--data", data, "--speed", "2") as (_, simulator):
        later = ask(simulator)
        assert (later["speed"], later["paused"]) == (2, False)
        assert "2031-05-01T12:" in later["now"] > running["now"]


def test_a_data_file_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    Simulator(clock=clock(), data=tmp_path / "deck.db").close()
    assert (tmp_path / "deck.db").stat().st_mode & 0o077 == 0


def test_the_default_token_is_what_it_says_and_that_of_the_control_api_is_not_to_be_guessed() -> None:
    first, second = Simulator(clock=clock()), Simulator(clock=clock())
    assert first.token == second.token == DEFAULT_TOKEN
    assert first.control_token != second.control_token


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("these are my notes, and they are long enough to be taken for a header" * 20)
    before = path.read_bytes()
    with pytest.raises(SimulatorError, match=r"notes\.txt.*not a database"):
        Simulator(data=path)
    assert path.read_bytes() == before


def test_the_database_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "theirs.db")) as db:
        db.execute("CREATE TABLE document (title TEXT)")
    before = (tmp_path / "theirs.db").read_bytes()
    with pytest.raises(SimulatorError, match="another program"):
        Simulator(data=tmp_path / "theirs.db")
    assert (tmp_path / "theirs.db").read_bytes() == before


@pytest.mark.parametrize("name", [".", "missing/deck.db"])
def test_a_place_that_cannot_hold_the_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SimulatorError, match="cannot use the data file"):
        Simulator(data=tmp_path / name)


def test_an_unknown_workspace_and_a_cadence_of_nothing_are_refused() -> None:
    with pytest.raises(SimulatorError, match=r"choose from .*demo"):
        Simulator(workspace="../demo")
    with pytest.raises(SimulatorError, match="cadence"):
        Simulator(cadence=0)


def test_a_second_process_on_a_data_file_is_refused_and_told_who_has_it(tmp_path: Path) -> None:
    """A link to the file is refused too; once the first process is killed, the file is free."""
    data = tmp_path / "deck.db"
    link = tmp_path / "link.db"
    link.symlink_to(data)
    with served(tmp_path, "--data", str(data)) as (process, _):
        for path in (data, link):
            second = livedeck(tmp_path, "serve", "--port", "0", "--data", str(path))
            assert second.returncode == 1
            assert second.stdout == ""
            assert second.stderr == (
                f"livedeck serve: cannot use the data file {data}: process {process.pid} uses it; "
                "end that process, or give another file\n"
            )
        process.kill()
        process.wait()
    with served(tmp_path, "--data", str(link)) as (_, simulator):
        assert simulator["workspace_id"]


def test_a_data_file_is_one_simulators_within_a_process_too(tmp_path: Path) -> None:
    first = Simulator(clock=clock(), data=tmp_path / "deck.db")
    with pytest.raises(SimulatorError, match=f"process {os.getpid()} uses it"):
        Simulator(clock=clock(), data=tmp_path / "deck.db")
    first.close()
    Simulator(clock=clock(), data=tmp_path / "deck.db").close()
