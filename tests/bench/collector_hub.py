"""Measure the cost of a collector's readers: processor time with 1, 20 and 200, memory with 200 that never read, bytes.

    PYTHONPATH=src:tests python tests/bench/collector_hub.py [--seconds 10]

A process of its own serves a made-up fleet of 200 events on air, 54 of which have a new sample in each of 4 changes a
second. Readers are sockets, so none of our code reads. Every reader must be sent every change. The figures are those of
/proc. Fails over the budgets of performance.md, "Budgets".
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import os
import re
import resource
import socket
import subprocess
import sys
import time
from contextlib import suppress
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import NamedTuple
from urllib.request import Request, urlopen

from click import echo

from livedeck.cli.exposure import Exposure
from livedeck.cli.wiring import SystemClock
from livedeck.client import Api
from livedeck.collector.serving.access import Access
from livedeck.collector.serving.app import collector_app
from livedeck.collector.serving.hub import Hub
from livedeck.http_server import serve_app
from livedeck.monitor import (
    BroadcastState,
    ConnectionState,
    ConnectionStatus,
    EventState,
    Freshness,
    Grade,
    Health,
    HealthAssessment,
    Monitor,
    Phase,
    QosState,
    Reading,
    Readings,
    Snapshot,
)
from livedeck.presentation.metrics import Counted
from livedeck.settings import CollectorTokenSettings
from monitor.recordings import NOW, readings, ticking
from monitor.stage import model

EVENTS, NEWS, EACH = 200, 54, 0.25
CROWDS = (1, 20, 200)
BOUNDS = {20: 3.0, 200: 16.0}
"""Number of readers -> the processor time that they may take, as a multiple of that with one reader."""
STUCK, STUCK_GROWTH = 200, 1.15
MAX_LISTING, MAX_CHANGE = 120_000, 8_000
OF_A_TOKEN = 8
MEBIBYTE = 2**20


async def serve() -> None:
    """Serve the fleet by a collector. Prints its address."""
    clock = SystemClock()
    api = Api(base_url="http://127.0.0.1:9", token="none")
    hub = Hub(clock, "bench")
    tokens = {
        str(number): CollectorTokenSettings(sha256=sha256(f"t{number}".encode()).hexdigest()) for number in range(60)
    }
    access = Access(lambda: tokens, clock)
    with Exposure(0).listen() as listener:
        app = collector_app(hub, Monitor(api, clock), None, access, Counted)
        async with serve_app(listener, app, max_connections=600) as url:
            fleet = Fleet()
            await hub.publish(fleet.snapshot())
            echo(url)
            due = time.monotonic()
            while True:
                await hub.publish(fleet.snapshot())
                due += EACH
                await asyncio.sleep(max(0.0, due - time.monotonic()))


class Fleet:
    """Events on air with half an hour of noisy samples. Some events have a new sample in each snapshot."""

    def __init__(self) -> None:
        self.random, self.now, self.seq = Random(1), NOW, 0
        self.rows: list[list[Reading]] = [
            [
                row._replace(
                    video=4.5e6 + self.random.randint(-99_999, 99_999), fps=round(29.9 + self.random.random() / 9, 2)
                )
                for row in ticking(900, start=-1800)
            ]
            for _ in range(EVENTS)
        ]
        self.states = [self._state(index, readings(self.rows[index])) for index in range(EVENTS)]

    def _noisy(self, row: Reading) -> Reading:
        video, fps = self.random.randint(4_400_000, 4_600_000), self.random.uniform(29.9, 30.0)
        return row._replace(video=float(video), fps=round(fps, 2))

    def _state(self, index: int, known: Readings) -> EventState:
        event = model(event_id=f"4d2c2f2e-6f53-4f0e-9a53-{index:012d}", name=f"Show number {index}")
        qos = QosState(known, self.now, Freshness.FRESH, 2.0)
        return EventState(
            event,
            self.now,
            Phase(BroadcastState.ON_AIR, self.now),
            qos,
            HealthAssessment(Health(100, Grade.GOOD), (), 29.97, 4.5e6, 3e6),
        )

    def snapshot(self) -> Snapshot:
        """Return the next snapshot."""
        self.seq += 1
        at = self.now + timedelta(seconds=EACH * self.seq)
        for index in self.random.sample(range(EVENTS), NEWS):
            rows = self.rows[index]
            rows.append(self._noisy(rows[-1]._replace(time=rows[-1].time + 2.0)))
            self.states[index] = self._state(index, readings(rows))
        link = ConnectionStatus(ConnectionState.OK, self.now, as_of=at)
        return Snapshot(self.seq, at, link, tuple(self.states))


class Usage(NamedTuple):
    """Usage of a process: processor seconds so far, and resident bytes."""

    seconds: float
    bytes: int


def usage(pid: int) -> Usage:
    """Return the present usage of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    ticks = int(fields[11]) + int(fields[12])
    return Usage(ticks / os.sysconf("SC_CLK_TCK"), int(fields[21]) * resource.getpagesize())


def head(path: str, number: int, *lines: str) -> bytes:
    """Return the head of a request with the token of reader `number`."""
    token = f"Authorization: Bearer t{number // OF_A_TOKEN}"
    return "\r\n".join([f"GET {path} HTTP/1.1", "Host: localhost", token, *lines, "", ""]).encode()


async def read_all(port: int, number: int, last_id: str, told: dict[int, list[int]]) -> None:
    """Follow the changes until cancelled, and add the number of each change to `told[number]`."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(head("/v1/changes", number, f"Last-Event-ID: {last_id}"))
        while line := await reader.readline():
            if found := re.match(rb"id: bench-(\d+)", line):
                told.setdefault(number, []).append(int(found[1]))
    finally:
        writer.close()


def listing(url: str) -> tuple[str, int]:
    """Return the id of the collector's listing, and its packed size in bytes."""
    request = Request(f"{url}v1/snapshot", headers={"Authorization": "Bearer t59", "Accept-Encoding": "gzip"})
    with urlopen(request) as answer:
        body = answer.read()
    found = re.search(rb'"id":"(bench-\d+)"', gzip.decompress(body)[:200])
    assert found
    return found[1].decode(), len(body)


async def crowd(url: str, pid: int, count: int, seconds: float) -> float:
    """Return the processor seconds a second with `count` readers, after a check that each was sent every change."""
    port, told = int(url.rstrip("/").rpartition(":")[2]), dict[int, list[int]]()
    last_id, _ = await asyncio.to_thread(listing, url)
    readers = [asyncio.create_task(read_all(port, number, last_id, told)) for number in range(count)]
    await asyncio.sleep(2)
    before, began = usage(pid), time.monotonic()
    await asyncio.sleep(seconds)
    share = (usage(pid).seconds - before.seconds) / (time.monotonic() - began)
    for task in readers:
        task.cancel()
    await asyncio.gather(*readers, return_exceptions=True)
    first = int(last_id.rpartition("-")[2]) + 1
    assert len(told) == count
    assert all(numbers == [*range(first, first + len(numbers))] for numbers in told.values()), "a change was missed"
    assert min(map(len, told.values())) >= max(map(len, told.values())) - 2
    return share


async def stuck(url: str, pid: int, seconds: float) -> tuple[Usage, Usage]:
    """Return the usage before and with readers that never read."""
    port = int(url.rstrip("/").rpartition(":")[2])
    last_id, _ = await asyncio.to_thread(listing, url)
    before, sockets = usage(pid), []
    for number in range(STUCK):
        deaf = socket.socket()
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(("127.0.0.1", port))
        deaf.sendall(head("/v1/changes", number, f"Last-Event-ID: {last_id}"))
        sockets.append(deaf)
    await asyncio.sleep(seconds)
    after = usage(pid)
    for deaf in sockets:
        deaf.close()
    return before, after


async def change_sizes(url: str) -> tuple[int, int]:
    """Return the mean bytes of a change over ten, plain and packed."""
    port, sizes = int(url.rstrip("/").rpartition(":")[2]), []
    last_id, _ = await asyncio.to_thread(listing, url)
    for lines in ([], ["Accept-Encoding: gzip"]):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head("/v1/changes", 470, f"Last-Event-ID: {last_id}", *lines))
        await reader.readuntil(b"\r\n\r\n")
        chunks: list[int] = []
        while len(chunks) < 14:
            size = int(await reader.readuntil(b"\r\n"), 16)
            await reader.readexactly(size + 2)
            chunks.append(size)
        changes = sorted(chunks)[-10:]  # comments are small
        sizes.append(sum(changes) // len(changes))
        writer.close()
    return sizes[0], sizes[1]


def main(seconds: float) -> int:
    """Start a server and measure it. Return the exit code."""
    server = subprocess.Popen([sys.executable, __file__, "--serve"], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout
        return asyncio.run(measure(server.stdout.readline().strip(), server.pid, seconds))
    finally:
        server.terminate()
        with suppress(subprocess.TimeoutExpired):
            server.wait(5)


async def measure(url: str, pid: int, seconds: float) -> int:
    """Print the figures. Return 1 if one is over its budget, else 0."""
    _, size = listing(url)
    plain, packed = await change_sizes(url)
    echo(f"listing of {EVENTS} events, 60 samples each, packed: {size:,} bytes (budget {MAX_LISTING:,})")
    echo(f"a change with {NEWS} new samples: {plain:,} bytes, packed {packed:,} (budget {MAX_CHANGE:,})")
    shares = {count: await crowd(url, pid, count, seconds) for count in CROWDS}
    for count, share in shares.items():
        times, bound = share / shares[1], BOUNDS.get(count)
        budget = f" = {times:.1f} x (budget {bound:g} x)" if bound else ""
        echo(f"{count:>3} readers, {1 / EACH:g} changes/s: {share:.1%} of a core{budget}")
    before, after = await stuck(url, pid, 2 * seconds)
    growth = after.bytes / before.bytes
    echo(
        f"{STUCK} that never read, {2 * seconds:g} s: {before.bytes / MEBIBYTE:.0f} -> {after.bytes / MEBIBYTE:.0f}"
        f" MiB = {growth:.2f} x (budget {STUCK_GROWTH} x)"
    )
    is_over = any(shares[count] / shares[1] > bound for count, bound in BOUNDS.items())
    return int(is_over or growth > STUCK_GROWTH or size > MAX_LISTING or packed > MAX_CHANGE)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--serve", action="store_true")
    given = parser.parse_args()
    if given.serve:
        asyncio.run(serve())
    else:
        sys.exit(main(given.seconds))
