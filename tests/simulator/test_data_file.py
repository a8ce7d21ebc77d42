"""What a data file keeps, and the files that are refused."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

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
    again = Simulator(seed=99, clock=clock(), data=tmp_path / "deck.db")
    assert kept == (
        *(await events(again), again.token, again.seed),
        *(again.workspace_id, again.user_id, again.other_workspace),
    )
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
        assert (await admin.post("/_control/reset", json={"seed": 42})).status_code == 200
    first.close()
    again = Simulator(clock=clock(), data=tmp_path / "deck.db")
    assert again.seed == 42
    again.close()


async def test_a_token_that_is_given_replaces_the_kept_one(tmp_path: Path) -> None:
    Simulator(clock=clock(), data=tmp_path / "deck.db").close()
    again = Simulator(clock=clock(), data=tmp_path / "deck.db", token="given")
    assert again.token == "given"
    again.close()


async def test_what_a_scenario_did_is_kept_and_a_restart_ends_it(tmp_path: Path) -> None:
    first = Simulator(clock=clock(), data=tmp_path / "deck.db", scenario="ended-remotely")
    first.clock.step(200)
    kept = await events(first)
    first.close()
    again = Simulator(clock=clock(START.replace(hour=10)), data=tmp_path / "deck.db")
    assert await events(again) == kept
    assert b'"finished"' in kept
    headers = {"Authorization": f"Bearer {again.control_token}"}
    transport = httpx.ASGITransport(app=again.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://platform.test", headers=headers) as admin:
        assert (await admin.get("/_control/scenario")).json()["data"]["scenario"] is None
    again.close()


def test_a_data_file_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    Simulator(clock=clock(), data=tmp_path / "deck.db").close()
    assert (tmp_path / "deck.db").stat().st_mode & 0o077 == 0


def test_the_default_token_is_what_it_says_and_the_others_are_not_to_be_guessed() -> None:
    first, second = Simulator(clock=clock()), Simulator(clock=clock())
    assert first.token == second.token == DEFAULT_TOKEN
    assert first.control_token != second.control_token
    assert first.other_workspace.token != second.other_workspace.token


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
    """By a link to it too; and once the first is killed, the file is free."""
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
                "end that one, or give another file\n"
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
