"""Measure the simulator: memory for a million messages and 512 MiB of upload, and time for 200 events on air.

`PYTHONPATH=tests python tests/bench/simulator_load.py` prints the figures and fails over 150 MB or half a core.
Linux only: the figures are those of /proc.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import httpx

from cli.commands import served
from simulator.http_client import Row, data

ON_AIR, SECONDS, EVERY = 200, 20, 2.0
MEBIBYTE = 1024 * 1024
TICKS = 100
T = TypeVar("T")


async def main() -> int:
    """Measure each figure with a simulator of its own. Return the exit code."""
    with TemporaryDirectory() as home:
        core, slowest = await with_simulator(Path(home), poll_all)
        peak = await with_simulator(Path(home), exhaust_memory)
    report(f"{ON_AIR} events, full QoS every {EVERY:g} s: {core:.0%} of a core, p99 {slowest * 1000:.0f} ms")
    report(f"peak memory {peak:.0f} MB")
    return int(core > 0.5 or peak > 150)


async def with_simulator(home: Path, work: Callable[[httpx.AsyncClient, Row, int], Awaitable[T]]) -> T:
    """Return the result of `work` on a simulator of its own: its API, the head of its control API, its process."""
    with served(home) as (process, simulator):
        headers = {"Authorization": f"Bearer {simulator['token']}"}
        control = {"Authorization": f"Bearer {simulator['control_token']}"}
        async with httpx.AsyncClient(base_url=simulator["base_url"], headers=headers, timeout=120) as api:
            return await work(api, control, process.pid)


async def poll_all(api: httpx.AsyncClient, control: Row, pid: int) -> tuple[float, float]:
    """Return the share of a core, and the 99th percentile in seconds, with 3600 samples in every answer."""
    paths = [await on_air(api, control) for _ in range(ON_AIR)]
    data(await api.post("/_control/clock", json={"step": 7300}, headers=control))
    for path in paths:
        data(await api.get(f"{path}/qos"))
    return await poll(api, paths, pid)


async def exhaust_memory(api: httpx.AsyncClient, control: Row, pid: int) -> float:
    """Return the peak of memory in MB after the long log and the large file."""
    await chat(api, control)
    await upload(api)
    return peak_of(pid)


def report(line: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{line}\n")


async def on_air(api: httpx.AsyncClient, control: Row) -> str:
    """Put a new event on air. Return its path."""
    path = f"/v2/live/events/{data(await api.post('/v2/live/events', json={'name': 'x', 'type': 'one-time'}))['id']}"
    data(await api.put(f"{path}/enable"))
    data(await api.post(f"{path}/stream", json={"started_at": "2026-01-01T00:00:00Z"}))
    data(await api.post(path.replace("/v2/live/events", "/_control/encoders"), json={"sending": True}, headers=control))
    return path


async def poll(api: httpx.AsyncClient, paths: list[str], pid: int) -> tuple[float, float]:
    """Poll all events in turn, spread over the interval, by bare sockets: a client would be slower than that."""
    durations: list[float] = []
    url, token = api.base_url, api.headers["authorization"]

    async def ask(path: str, delay: float) -> None:
        reader, writer = await asyncio.open_connection(url.host, url.port)
        await asyncio.sleep(delay)
        for _ in range(int(SECONDS / EVERY)):
            began = time.perf_counter()
            writer.write(f"GET {path}/qos HTTP/1.1\r\nHost: x\r\nAuthorization: {token}\r\n\r\n".encode())
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            await reader.readexactly(int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0]))
            durations.append(time.perf_counter() - began)
            await asyncio.sleep(max(0.0, EVERY - durations[-1]))
        writer.close()

    before, began = cpu_seconds(pid), time.perf_counter()
    await asyncio.gather(*(ask(path, index * EVERY / len(paths)) for index, path in enumerate(paths)))
    share = (cpu_seconds(pid) - before) / (time.perf_counter() - began)
    return share, sorted(durations)[int(len(durations) * 0.99)]


async def chat(api: httpx.AsyncClient, control: Row) -> None:
    """Read a log of a million messages to its end."""
    events = data(await api.get("/v2/live/events", params={"per_page": 100, "order": "created_at.asc"}))
    event = next(event for event in events if event["name"] == "Choir, hall B")
    data(await api.post(f"/_control/chats/{event['id']}", json={"rate": 10_000}, headers=control))
    data(await api.post("/_control/clock", json={"step": 100}, headers=control))
    lines, began = 0, time.perf_counter()
    async with api.stream("GET", f"/v2/live/events/{event['id']}/stream/{event['stream']['id']}/chat.csv") as answer:
        async for chunk in answer.aiter_bytes():
            lines += chunk.count(b"\n")
    report(f"{lines:,} lines of chat in {time.perf_counter() - began:.0f} s")


async def upload(api: httpx.AsyncClient) -> None:
    """Upload the largest file that the platform takes."""
    events = data(await api.get("/v2/live/events", params={"per_page": 100, "order": "created_at.asc"}))
    past = next(event["id"] for event in events if event["name"] == "Rehearsal Tuesday")
    video = data(await api.get(f"/v2/live/events/{past}/videos"))[0]["id"]

    async def half_a_gibibyte() -> AsyncIterator[bytes]:
        for _ in range(512):
            yield bytes(MEBIBYTE)

    headers = {"X-Video-ID": video, "X-File-Name": "large.bin", "Content-Length": str(512 * MEBIBYTE)}
    began = time.perf_counter()
    material = data(await api.post("/upload/additional-material", content=half_a_gibibyte(), headers=headers))
    report(f"{material['size']:,} bytes uploaded in {time.perf_counter() - began:.0f} s")


def cpu_seconds(pid: int) -> float:
    """Return the processor seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def peak_of(pid: int) -> float:
    """Return the peak of a process's resident memory in MB."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1000


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
