"""kill -9 in the middle of writes: acknowledged changes are there after the restart, and no change is there in part."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from breadth import slow
from cli.commands import served
from simulator.http_client import Row

PROFILES = [{"name": f"p{index}", "url": "rtmp://x.example/a", "stream_key": "k"} for index in range(15)]


class Writers:
    """Clients that write until the simulator is gone, and record the acknowledged changes."""

    def __init__(self, simulator: Row, video: str) -> None:
        self._simulator = simulator
        self._video = video
        self.rooms: set[str] = set()
        self.files: dict[str, int] = {}

    async def until_killed(self, kill: asyncio.Event, acknowledged: int) -> None:
        """Write, and ask for the kill after `acknowledged` changes. Writes continue until it comes."""
        async with client(self._simulator) as api, asyncio.TaskGroup() as group:
            for writer in (self._make_rooms, self._make_rooms, self._upload):
                group.create_task(writer(api, kill, acknowledged))

    async def _make_rooms(self, api: httpx.AsyncClient, kill: asyncio.Event, acknowledged: int) -> None:
        room = {"owner_id": self._simulator["user_id"], "name": "r", "restreams": PROFILES}
        with suppress(httpx.TransportError):
            while True:
                answer = await api.post("/v1/meet/rooms", json=room)
                self.rooms.add(answer.json()["data"]["id"])
                if len(self.rooms) >= acknowledged:
                    kill.set()

    async def _upload(self, api: httpx.AsyncClient, kill: asyncio.Event, acknowledged: int) -> None:
        headers = {"X-Video-ID": self._video, "X-File-Name": "a.bin"}
        with suppress(httpx.TransportError):
            while len(self.rooms) < acknowledged or not kill.is_set():
                answer = await api.post("/upload/additional-material", content=bytes(100_000), headers=headers)
                self.files[answer.json()["data"]["id"]] = 100_000


def client(simulator: Row) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=simulator["base_url"], headers={"Authorization": f"Bearer {simulator['token']}"})


async def rooms_of(api: httpx.AsyncClient) -> list[Row]:
    """Return every room except those of the demo."""
    rooms: list[Row] = []
    for page in range(1, 100):
        query: Row = {"q": "r", "per_page": 100, "page": page}
        rows = (await api.get("/v1/meet/rooms", params=query)).json()["data"]
        rooms += [room for room in rows if room["name"] == "r"]
        if not rows:
            break
    return rooms


async def recording(api: httpx.AsyncClient) -> str:
    events = (await api.get("/v2/live/events", params={"per_page": 100})).json()["data"]
    event = next(event["id"] for event in events if event["name"] == "Rehearsal Tuesday")
    return str((await api.get(f"/v2/live/events/{event}/videos")).json()["data"][0]["id"])


@pytest.mark.parametrize("rounds", [7, *slow(50)])
async def test_every_acknowledged_write_outlives_a_kill(tmp_path: Path, rounds: int) -> None:
    rooms: set[str] = set()
    files: dict[str, int] = {}
    for number in range(rounds):
        with served(tmp_path, "--data", str(tmp_path / "deck.db")) as (process, simulator):
            async with client(simulator) as api:
                there = await rooms_of(api)
                assert rooms <= {room["id"] for room in there}
                assert {len(room["restreams"]) for room in there} <= {15}
                await check_files(api, files)
                writers = Writers(simulator, await recording(api))
            kill = asyncio.Event()
            writing = asyncio.create_task(writers.until_killed(kill, 1 + number % 7))
            await kill.wait()
            process.kill()
            await writing
        rooms |= writers.rooms
        files = writers.files
    assert len(rooms) >= rounds


async def check_files(api: httpx.AsyncClient, files: dict[str, int]) -> None:
    """Check that every file of the last round downloads whole."""
    for identity, size in files.items():
        link = (await api.get(f"/v1/additional-materials/{identity}/link")).json()["data"]["link"]
        assert len((await api.get(link)).content) == size
