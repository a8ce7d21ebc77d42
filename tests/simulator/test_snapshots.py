"""A snapshot has the whole state; a tar that is no snapshot is refused, and nothing of it is written."""

from __future__ import annotations

import asyncio
import io
import json
import tarfile
from collections.abc import AsyncIterator, Callable
from hashlib import sha256
from pathlib import Path
from threading import current_thread, main_thread

import httpx
import pytest

from livedeck.simulator import Simulator, SimulatorClock, SimulatorError
from livedeck.simulator.engine.encoder import MEASURED
from livedeck.simulator.engine.measured import Sample
from livedeck.simulator.engine.store import State, Store
from livedeck.simulator.rehearsal import snapshots
from livedeck.simulator.rehearsal.commands import change_encoder
from simulator.conftest import START
from simulator.http_client import client_for, data
from simulator.test_equal_bytes import answers
from simulator.test_posted_tables import HOUSE

Patch = pytest.MonkeyPatch

TAR = {"Content-Type": "application/x-tar"}
SNAPSHOTS = "/_control/snapshots"


async def state(simulator: Simulator) -> list[object]:
    """Return documents, files and clock."""
    world = simulator._world
    rows = world.store._db.execute("SELECT * FROM document WHERE id NOT IN ('clock', 'control') ORDER BY kind, id")
    files = {name: world.files.path(name).read_bytes() for name in world.files.names()}
    return [*rows, files, world.clock.now(), world.clock.paused]


@pytest.mark.parametrize("kept", [False, True])
async def test_a_snapshot_brings_everything_back(tmp_path: Path, kept: bool) -> None:
    simulator = Simulator(clock=SimulatorClock(START, paused=True), data=tmp_path / "a.db" if kept else None)
    async with client_for(simulator, simulator.control_token) as admin:
        await answers(simulator)
        await admin.post("/_control/scenario", json={"name": "warm-up", "force": True})
        await admin.post("/_control/faults", json={"kind": "latency", "seconds": 0})
        await admin.post("/_control/clock", json={"step": 100})
        progress = (await admin.get("/_control/scenario")).content
        taken = await state(simulator)
        assert data(await admin.put(f"{SNAPSHOTS}/one"))["name"] == "one"
        tar = (await admin.get(f"{SNAPSHOTS}/one")).content
        await admin.delete("/_control/faults")
        await admin.post("/_control/reset", json={"force": True})
        await answers(simulator)
        assert await state(simulator) != taken
        assert data(await admin.put(f"{SNAPSHOTS}/two", content=tar, headers=TAR))["name"] == "two"
        assert (await admin.post(f"{SNAPSHOTS}/two/restore", json={"force": True})).status_code == 200
        assert (await state(simulator), (await admin.get("/_control/scenario")).content) == (taken, progress)
        assert [row["name"] for row in data(await admin.get(SNAPSHOTS))] == ["one", "two"]
        assert (await admin.delete(f"{SNAPSHOTS}/one")).status_code == 200
        assert (await admin.get(f"{SNAPSHOTS}/one")).status_code == 404
    simulator.close()
    (tmp_path / "two.tar").write_bytes(tar)
    served = Simulator(snapshot=tmp_path / "two.tar")
    assert await state(served) == taken


async def test_a_reset_is_as_the_start_after_a_restart_too(tmp_path: Path) -> None:
    def made() -> Simulator:
        return Simulator(clock=None, data=tmp_path / "a.db", control_token="c")

    first = Simulator(seed=5, clock=SimulatorClock(START, paused=True), data=tmp_path / "a.db")
    start, before = await state(first), await answers(first)
    first.close()
    again = made()
    async with client_for(again, again.control_token) as admin:
        await admin.post("/_control/clock", json={"speed": 9})
        await admin.post("/_control/reset", json={"force": True})
    assert await state(again) == start
    assert again.clock.speed == 1
    assert await answers(again) == before
    again.close()


async def test_a_restore_reads_the_tar_beside_the_requests(admin: httpx.AsyncClient, monkeypatch: Patch) -> None:
    """The tar of a large simulator takes seconds to read."""
    await admin.put(f"{SNAPSHOTS}/one")
    threads: list[object] = []
    read = snapshots._read_tar

    def noting(path: Path, folder: Path) -> State:
        threads.append(current_thread())
        return read(path, folder)

    monkeypatch.setattr(snapshots, "_read_tar", noting)
    assert (await admin.post(f"{SNAPSHOTS}/one/restore")).status_code == 200
    assert (len(threads), main_thread() in threads) == (1, False)


async def test_a_reset_keeps_what_it_is_told_to(admin: httpx.AsyncClient) -> None:
    await admin.post("/_control/faults", json={"kind": "latency", "seconds": 0})
    moved = data(await admin.post("/_control/clock", json={"step": 60, "speed": 2}))
    await admin.post("/_control/reset", json={"keep": ["clock", "faults"]})
    assert data(await admin.get("/_control/clock")) == moved | {"epoch": moved["epoch"] + 1}
    assert len(data(await admin.get("/_control/faults"))) == 1
    await admin.post("/_control/reset")
    assert data(await admin.get("/_control/clock"))["now"] == "2026-11-21T09:00:00.500Z"
    assert data(await admin.get("/_control/faults")) == []


async def test_a_reset_empties_the_journal_and_keeps_counts_with_their_faults(
    admin: httpx.AsyncClient, api: httpx.AsyncClient
) -> None:
    await admin.post("/_control/faults", json={"kind": "latency", "seconds": 0, "times": 3})
    await api.get("/v2/live/events")
    await admin.post("/_control/reset", json={"keep": ["journal", "faults"], "seed": 8})
    assert len(data(await admin.get("/_control/requests"))) == 1
    assert data(await admin.get("/_control/faults"))[0]["left"] == 2
    await admin.post("/_control/reset")
    assert data(await admin.get("/_control/requests")) == []


async def test_a_reset_restores_a_workspace_of_ones_own_and_the_posted_tables_of_the_start(tmp_path: Path) -> None:
    (tmp_path / "house.toml").write_text(HOUSE, encoding="utf-8")
    simulator = Simulator(workspace=tmp_path / "house.toml", clock=SimulatorClock(START, paused=True))
    start = await state(simulator)
    async with client_for(simulator, simulator.control_token) as admin:
        await admin.put("/_control/workspaces/mine", content=HOUSE, headers={"Content-Type": "application/toml"})
        await admin.post("/_control/workspace", json={"name": "mine"})
        await admin.post("/_control/reset")
        assert await state(simulator) == start
        await admin.post("/_control/reset", json={"seed": 9})
        events = simulator._world.store.find_all("event", simulator.workspace_id)
        assert (simulator.seed, {event["name"] for event in events}) == (9, {"Gala", "Encore"})


async def test_a_snapshot_brings_the_samples_of_real_encoders_and_ends_their_open_turns() -> None:
    simulator = Simulator(clock=SimulatorClock(START, paused=True))
    world = simulator._world
    events = world.store.find_all("event", simulator.workspace_id)
    event = next(event for event in events if event["name"] == simulator.on_air()[0])
    tick = int(world.now() // world.encoders.cadence)
    change_encoder(world, world.now() - 8, event, {"sending": True, "shape": MEASURED})
    for number in range(3):
        world.encoders.measured.add(event["stream"]["id"], tick - 3 + number, Sample(1000 + number, 1, 25, 0))
    path = f"/v2/live/events/{event['id']}/qos"
    async with client_for(simulator, simulator.control_token) as admin, client_for(simulator, simulator.token) as api:
        before = data(await api.get(path))
        await admin.put(f"{SNAPSHOTS}/real")
        await admin.post("/_control/reset")
        assert data(await api.get(path)) != before
        await admin.post(f"{SNAPSHOTS}/real/restore")
        assert data(await api.get(path)) == before
        assert event["name"] not in simulator.on_air()


def everything(folder: Path) -> list[Path]:
    """Return every file and folder in `folder`."""
    return sorted(folder.rglob("*"))


def members(tar: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(tar)) as opened:
        return {info.name: opened.extractfile(info).read() for info in opened}  # type: ignore[union-attr]


def packed(members: dict[str, bytes], **changes: object) -> bytes:
    """Return a tar; `changes` are fields of its last member."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for index, (name, content) in enumerate(members.items(), 1):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            for field, value in changes.items() if index == len(members) else ():
                setattr(info, field, value)
            tar.addfile(info, io.BytesIO(content) if info.isreg() else None)
    return file.getvalue()


def manifest(good: dict[str, bytes], change: Callable[[dict[str, object]], object]) -> dict[str, bytes]:
    """Return the members with a changed manifest."""
    content = json.loads(good["manifest.json"])
    change(content)
    return good | {"manifest.json": json.dumps(content).encode()}


def without_workspaces(good: dict[str, bytes]) -> dict[str, bytes]:
    """Return the members with a world without workspaces, correctly declared."""
    store = Store.load(good["world.sqlite"])
    for row in store.find_all("workspace", ""):
        store.delete("workspace", row["id"])
    world = store.dump()
    row = {"size": len(world), "sha256": sha256(world).hexdigest()}
    return manifest(good, lambda m: m.update(world=row)) | {"world.sqlite": world}


HOSTILE: dict[str, Callable[[dict[str, bytes]], bytes]] = {
    "no tar": lambda _: b"x" * 5000,
    "cut": lambda good: packed(good)[:20_000],
    "a name that climbs": lambda good: packed(good | {"files/../../evil": b"x"}),
    "an absolute name": lambda good: packed(good | {"/tmp/evil": b"x"}),
    "a declared name that climbs": lambda good: packed(
        manifest(good, lambda m: m["files"].update({"../evil": {"size": 1, "sha256": ""}})) | {"files/../evil": b"x"}  # type: ignore[attr-defined]
    ),
    "a link": lambda good: packed(good | {"files/evil": b""}, type=tarfile.SYMTYPE, linkname="/etc/passwd"),
    "a hard link": lambda good: packed(good | {"files/evil": b""}, type=tarfile.LNKTYPE, linkname="/etc/passwd"),
    "a device": lambda good: packed(good | {"files/evil": b""}, type=tarfile.CHRTYPE),
    "more than declared": lambda good: packed(good | {"world.sqlite": good["world.sqlite"] + b"\0" * 512}),
    "a bomb": lambda good: packed(manifest(good, lambda m: m["world"].update(size=10**15))),  # type: ignore[attr-defined]
    "another content": lambda good: packed(good | {"world.sqlite": good["world.sqlite"][::-1]}),
    "another format": lambda good: packed(manifest(good, lambda m: m.update(format=2))),
    "no manifest": lambda good: packed({name: good[name] for name in good if name != "manifest.json"}),
    "no world": lambda good: packed({name: good[name] for name in good if name != "world.sqlite"}),
    "no workspaces": lambda good: packed(without_workspaces(good)),
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_a_tar_that_is_no_snapshot_is_refused_with_nothing_written(tmp_path: Path, name: str) -> None:
    simulator = Simulator(clock=SimulatorClock(START, paused=True), data=tmp_path / "a.db")
    async with client_for(simulator, simulator.control_token) as admin:
        await admin.put(f"{SNAPSHOTS}/good")
        good = members((await admin.get(f"{SNAPSHOTS}/good")).content)
        assert list(good)[:2] == ["manifest.json", "world.sqlite"]
        before, files = await state(simulator), everything(tmp_path)
        hostile = HOSTILE[name](good)
        answer = await admin.put(f"{SNAPSHOTS}/bad", content=hostile, headers=TAR)
        assert (answer.status_code, answer.json()["error"]["invalid_params"][0]["name"]) == (400, "body")
        assert (await state(simulator), everything(tmp_path)) == (before, files)
    simulator.close()
    (tmp_path / "bad.tar").write_bytes(hostile)
    with pytest.raises(SimulatorError, match=r"bad\.tar is no snapshot"):
        Simulator(snapshot=tmp_path / "bad.tar")


async def test_there_may_be_twenty_snapshots(admin: httpx.AsyncClient) -> None:
    for number in range(20):
        assert (await admin.put(f"{SNAPSHOTS}/s{number}")).status_code == 200
    assert (await admin.put(f"{SNAPSHOTS}/more")).json()["error"]["code"] == 409409
    assert (await admin.put(f"{SNAPSHOTS}/s0")).status_code == 200
    assert (await admin.put(f"{SNAPSHOTS}/..%2Fevil")).status_code in {400, 404}
    assert (await admin.put(f"{SNAPSHOTS}/s1", content=b"x")).json()["error"]["code"] == 400400


async def test_snapshots_that_come_at_once_keep_to_the_limits(
    admin: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "MOST_SNAPSHOTS", 2)
    taken = await asyncio.gather(*(admin.put(f"{SNAPSHOTS}/s{number}") for number in range(4)))
    assert sorted(answer.status_code for answer in taken) == [200, 200, 409, 409]
    assert len(data(await admin.get(SNAPSHOTS))) == 2


async def test_a_file_that_is_no_snapshot_is_listed_without_a_claim(
    simulator: Simulator, admin: httpx.AsyncClient
) -> None:
    simulator._world.archive.path("stray.tar").write_bytes(b"x" * 5000)
    simulator._world.archive.path("empty.tar").write_bytes(b"")
    await admin.put(f"{SNAPSHOTS}/good")
    rows = data(await admin.get(SNAPSHOTS))
    assert [(row["name"], row["seed"]) for row in rows] == [("empty", None), ("good", 7), ("stray", None)]
    assert (await admin.post(f"{SNAPSHOTS}/stray/restore")).status_code == 409


@pytest.mark.parametrize("change", ["snapshot", "reset"])
async def test_an_upload_in_progress_is_no_part_of_a_snapshot_and_ends_with_a_reset(
    simulator: Simulator, api: httpx.AsyncClient, admin: httpx.AsyncClient, video: str, change: str
) -> None:
    async def body() -> AsyncIterator[bytes]:
        yield b"first half, "
        if change == "reset":
            await admin.post("/_control/reset")
        else:
            await admin.put(f"{SNAPSHOTS}/meanwhile")
        yield b"second half"

    files = simulator._world.files.names()
    headers = {"X-Video-ID": video.rpartition("/")[2], "X-File-Name": "a.txt"}
    answer = await api.post("/upload/additional-material", headers=headers, content=body())
    assert answer.status_code == (404 if change == "reset" else 200)
    if change == "snapshot":
        await admin.post(f"{SNAPSHOTS}/meanwhile/restore")
    assert simulator._world.files.names() == files
