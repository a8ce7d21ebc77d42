"""A full disk: every change is refused with a message, none is stored in part, and reads continue.

The limit of a file's size stands for a full disk, because a process can set and lift it.
"""

from __future__ import annotations

import resource
import subprocess
from pathlib import Path

import httpx
import pytest

from cli.commands import TIMEOUT, environment, served
from cli.starts import LIVEDECK
from simulator.http_client import Row

ROOM = {"name": "r", "restreams": [{"name": "p", "url": "rtmp://x.example/a", "stream_key": "k" * 500}] * 15}


def limit_files(pid: int, size: int) -> None:
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def client(simulator: Row) -> httpx.Client:
    return httpx.Client(
        base_url=simulator["base_url"], headers={"Authorization": f"Bearer {simulator['token']}"}, timeout=30
    )


def rooms_of(api: httpx.Client) -> set[str]:
    """Return the ids of the rooms that this test created."""
    pages = [api.get("/v1/meet/rooms", params={"per_page": 100, "page": page}) for page in range(1, 6)]
    rooms = [room for page in pages for room in page.raise_for_status().json()["data"] if room["name"] == "r"]
    assert {len(room["restreams"]) for room in rooms} <= {15}
    return {room["id"] for room in rooms}


def recording(api: httpx.Client) -> str:
    events = api.get("/v2/live/events", params={"per_page": 100}).json()["data"]
    event = next(event["id"] for event in events if event["name"] == "Rehearsal Tuesday")
    return str(api.get(f"/v2/live/events/{event}/videos").json()["data"][0]["id"])


def test_a_full_disk_refuses_changes_in_words_and_room_ends_that(tmp_path: Path) -> None:
    data, said = tmp_path / "deck.db", tmp_path / "stderr"
    with said.open("w+") as stderr, served(tmp_path, "--data", str(data), stderr=stderr) as (process, simulator):
        limit_files(process.pid, max(file.stat().st_size for file in tmp_path.glob("deck.db*")) + 500_000)
        with client(simulator) as api:
            room, made, refused = ROOM | {"owner_id": simulator["user_id"]}, set[str](), 0
            for _ in range(500):
                answer = api.post("/v1/meet/rooms", json=room)
                if answer.status_code == 200:
                    assert not refused
                    made.add(answer.json()["data"]["id"])
                else:
                    assert answer.status_code == 507
                    assert answer.json() == {
                        "error": {"code": 507507, "message": "the disk is full, nothing was stored"}
                    }
                    refused += 1
                if refused == 20:
                    break
            assert made
            assert refused == 20
            upload = {"X-Video-ID": recording(api), "X-File-Name": "a.bin"}
            assert api.post("/upload/additional-material", content=bytes(3_000_000), headers=upload).status_code == 507
            assert list((tmp_path / "deck.db.files").glob("*.part")) == []
            control = {"Authorization": f"Bearer {simulator['control_token']}"}
            clock = api.get("/_control/clock", headers=control).json()["data"]
            for path, body in (("clock", {"speed": 7}), ("faults", {"kind": "html"}), ("reset", {"force": True})):
                assert api.post(f"/_control/{path}", json=body, headers=control).status_code == 507, path
            assert api.get("/_control/clock", headers=control).json()["data"]["speed"] == clock["speed"]
            assert api.get("/_control/faults", headers=control).json()["data"] == []
            assert rooms_of(api) == made
            assert said.read_text().count("\n") == 1
            limit_files(process.pid, resource.RLIM_INFINITY)
            made.add(api.post("/v1/meet/rooms", json=room).raise_for_status().json()["data"]["id"])
            assert rooms_of(api) == made
            process.kill()
            process.wait()
    lines = said.read_text().splitlines()
    assert lines[0].startswith("livedeck serve: the disk is full: changes are refused until there is room (")
    assert lines[1:] == ["livedeck serve: the disk has room again: changes are stored"]
    with served(tmp_path, "--data", str(data)) as (_, simulator), client(simulator) as api:
        assert rooms_of(api) == made
    assert "a request failed" not in "".join(path.read_text("utf-8") for path in tmp_path.rglob("*.log"))


def test_a_scenario_waits_for_room(tmp_path: Path) -> None:
    """Steps fall due while nothing can be written: reads go on, and the steps run later."""
    data = tmp_path / "deck.db"
    with served(tmp_path, "--data", str(data), "--scenario", "ended-remotely") as (process, simulator):
        with client(simulator) as api:
            control = {"Authorization": f"Bearer {simulator['control_token']}"}
            api.post("/_control/clock", json={"paused": True}, headers=control).raise_for_status()
            api.post("/_control/clock", json={"step": 50}, headers=control).raise_for_status()
            api.post("/_control/clock", json={"paused": False, "speed": 1000}, headers=control).raise_for_status()
            limit_files(process.pid, 1)
            while True:
                progress = api.get("/_control/scenario", headers=control).json()["data"]
                if progress["elapsed"] > 100:
                    break
            assert progress["next"] == "complete Main stage"
            limit_files(process.pid, resource.RLIM_INFINITY)
            progress = api.get("/_control/scenario", headers=control).json()["data"]
            assert progress["next"] is None
        process.kill()


@pytest.mark.parametrize("blocks", [0, 8, 64])
def test_a_start_without_room_is_refused_in_a_line(tmp_path: Path, blocks: int) -> None:
    serve = [*LIVEDECK, "serve", "--port", "0", "--data", str(tmp_path / "deck.db")]
    limited = ["sh", "-c", f'ulimit -f {blocks}; exec "$@"', "sh", *serve]
    done = subprocess.run(
        limited, env=environment(tmp_path), capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("livedeck serve: ")
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
