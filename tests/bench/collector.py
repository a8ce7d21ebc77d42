"""Measure a collector for many decks, and as events grow (performance.md, "Collector").

    PYTHONPATH=src:tests python tests/bench/collector.py [--events 200] [--decks 0,1,5,20] [--seconds 30]
    PYTHONPATH=src:tests python tests/bench/collector.py --events 10,100,1000,3000 --collectors 1,2,4 --decks 1

Platform, collector and decks are processes of their own on this machine and share its cores: compare the rows of one
run. A platform of literal JSON counts the requests that reach it. A deck is a raw socket that reads the stream of
changes and keeps nothing. The delay lasts from the time of a sample, when the platform first has it, to the reader; its
least is half the pause between two requests for an event. Several collectors need redis-server. The table has the
processor time of each collector and, last, of the platform. If not all events are known after `--settle` seconds, the
cost of each collector until then replaces the row.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from time import monotonic, time
from typing import Any

from click import echo

from bench.loop_held import World

TICKS = os.sysconf("SC_CLK_TCK")
A_TOKEN = 6
"""Decks that share a token, fewer than the collector allows."""


class Platform(World):
    """World behind a socket that counts requests. Its first event has packet loss, so that there is an alarm."""

    def __init__(self, events: int) -> None:
        super().__init__(events, 60, ("clean",))
        self._rows |= {"event-0": World(1, 60, ("packet-loss",))._rows["event-0"]}
        self.requests = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection until it is closed."""
        while head := await _head(reader):
            target = head.split(b" ", 2)[1].decode()
            path, _, query = target.partition("?")
            if path == "/counted":
                body = str(self.requests).encode()
            else:
                self.requests += 1
                body = self._qos(path.split("/")[-2]) if path.endswith("/qos") else self._page(query)
            kind = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
            writer.write(kind % len(body) + body)
            await writer.drain()
        writer.close()


async def _head(reader: asyncio.StreamReader) -> bytes:
    """Return the head of a message; empty if the other side has closed the connection."""
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""


async def serve_platform(events: int) -> None:
    """Serve the platform until cancelled. Prints its port."""
    platform = Platform(events)
    async with await asyncio.start_server(platform.answer, "127.0.0.1", 0) as server:
        sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
        sys.stdout.flush()
        await server.serve_forever()


async def get(port: int, path: str, token: str = "", body: bytes | None = None) -> bytes:
    """Return the body of one answer, over a socket of its own."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**26)
    method = "GET" if body is None else "POST"
    writer.write(
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n"
        f"Content-Length: {len(body or b'')}\r\nContent-Type: application/json\r\n\r\n".encode()
        + (body or b"")
    )
    try:
        head = await _head(reader)
        length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        return await reader.readexactly(length)
    finally:
        writer.close()


@dataclass
class Reader:
    """Deck that is a raw socket.

    `delays`: delays of the new samples (s). `heard`: whether the acknowledgement of an alarm arrived, at `heard_at`
    (monotonic s). `missed`: number of changes that were left out.
    """

    times_delays: bool
    received: int = 0
    changes: int = 0
    missed: int = 0
    delays: list[float] = field(default_factory=list)
    heard: asyncio.Event = field(default_factory=asyncio.Event)
    heard_at: float = 0.0

    async def read(self, port: int, token: str, after: str) -> None:
        """Read the stream of changes until cancelled."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**26)
        writer.write(
            f"GET /v1/changes HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
            f"Last-Event-ID: {after}\r\n\r\n".encode()
        )
        status = (await _head(reader))[9:12]
        assert status == b"200", status
        seq = int(after.rpartition("-")[2])
        try:
            while line := await reader.readline():
                self.received += len(line)
                if line.startswith(b"id: "):
                    number = int(line.rpartition(b"-")[2])
                    self.missed += number - seq - 1
                    seq, self.changes = number, self.changes + 1
                elif line.startswith(b"data: "):
                    self._hear(line[6:])
        finally:
            writer.close()

    def _hear(self, data: bytes) -> None:
        if not self.heard.is_set() and b'"acknowledged"' in data:
            self.heard_at = monotonic()
            self.heard.set()
        if self.times_delays:
            now = time()
            for columns in json.loads(data)["samples"].values():
                at = columns["t0"] or 0
                for step in (0, *columns["dt"]):
                    at += step
                    if columns["after"] and at > columns["after"]:
                        self.delays.append(now - at / 1000)


def processor(pid: int) -> float:
    """Return the processor seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory(pid: int) -> float:
    """Return the resident memory of a process in MB."""
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


@asynccontextmanager
async def redis_server(folder: Path) -> AsyncIterator[str]:
    """Start a Redis and yield its address."""
    command = (
        "redis-server",
        "--port",
        "0",
        "--unixsocket",
        str(folder / "r.sock"),
        "--save",
        "",
        "--dir",
        str(folder),
    )
    process = await asyncio.create_subprocess_exec(*command, "--appendonly", "yes", stdout=asyncio.subprocess.DEVNULL)
    try:
        yield f"unix://{folder}/r.sock"
    finally:
        process.terminate()
        await process.wait()


@asynccontextmanager
async def program(*arguments: str, home: Path, out: Any = None) -> AsyncIterator[asyncio.subprocess.Process]:
    """Start a process of this Python, and end it with the block."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.environ.get("PYTHONPATH", ""), "HOME": str(home)}
    environment["LIVEDECK_CONFIG"] = str(home / "config.toml")
    process = await asyncio.create_subprocess_exec(sys.executable, *arguments, env=environment, stdout=out, stderr=out)
    try:
        yield process
    finally:
        process.terminate()
        await process.wait()


TOKENS = tuple(f"deck-{number}-{'x' * 30}" for number in range(40))


def write_settings(home: Path, platform: int, listen: int, budget: float, redis: str = "") -> None:
    """Write the settings of a collector for that platform. `redis`: address if it is one of several collectors."""
    home.mkdir(exist_ok=True)
    (home / "redis").write_text(redis)
    (home / "redis").chmod(0o600)
    engine = f'[engine]\nredis_url_file = "{home}/redis"\nname = "{home.name}"\n' if redis else ""
    (home / "token").write_text("token-of-bench")
    (home / "token").chmod(0o600)
    tokens = "".join(
        f'[collector.tokens.deck{number}]\nsha256 = "{sha256(token.encode()).hexdigest()}"\nmay = "act"\n'
        for number, token in enumerate(TOKENS)
    )
    (home / "config.toml").write_text(
        f'base_url = "http://127.0.0.1:{platform}"\ntoken_file = "{home}/token"\nhistory = "{home}/history.sqlite"\n'
        f"[cadence]\nbudget = {budget}\nat_once = 32\n{engine}"
        f'[collector]\nlisten = "127.0.0.1:{listen}"\n{tokens}'
    )
    (home / "config.toml").chmod(0o600)


async def settled(port: int, events: int, seconds: float = 10.0) -> dict[str, Any]:
    """Return the collector's listing with samples of every event.

    Raises TimeoutError with the number of such events.
    """
    until, samples = monotonic() + seconds, []
    while monotonic() < until:
        try:
            listing = json.loads(await get(port, "/v1/snapshot?samples=1", TOKENS[0]))
        except (OSError, StopIteration, asyncio.IncompleteReadError, RuntimeError):
            listing = {}
        samples = [columns for columns in listing.get("samples", {}).values() if columns["t0"]]
        if len(samples) >= events and listing["values"]["alarms"]:
            return dict(listing)
        await asyncio.sleep(1 + events / 300)  # a listing of thousands takes long too
    raise TimeoutError(f"{len(samples)} of {events} events known after {seconds:.0f} s")


async def acknowledge(port: int, alarm: dict[str, Any], readers: Sequence[Reader]) -> float:
    """Acknowledge an alarm. Return the seconds until the last of the readers received it.

    If the alarm has changed meanwhile, acknowledges the one that the refusal names.
    """
    key = json.dumps([alarm["event_id"], alarm["kind"], alarm.get("target", "")]).encode()
    path = f"/v1/alarms/{urlsafe_b64encode(key).decode().rstrip('=')}/acknowledge"
    answer: dict[str, Any] = {"error": "", "alarm": alarm}
    while "error" in answer:
        alarm = answer["alarm"]
        seen = {"since": alarm["since"], "severity": alarm["severity"], "stage": alarm.get("stage", 0)}
        for reader in readers:
            reader.heard.clear()
        began = monotonic()
        answer = json.loads(await get(port, path, TOKENS[0], json.dumps(seen).encode()))
    for reader in readers:
        await asyncio.wait_for(reader.heard.wait(), 60)
    return max(reader.heard_at for reader in readers) - began


async def measure(
    events: int, collectors: int, decks: int, *, seconds: float, budget: float, settle: float = 240.0
) -> None:
    """Return a line of the table, with a platform and collectors of its own."""
    async with AsyncExitStack() as stack:
        home = Path(stack.enter_context(TemporaryDirectory()))
        made = program(__file__, "--platform", str(events), home=home, out=asyncio.subprocess.PIPE)
        platform = await stack.enter_async_context(made)
        assert platform.stdout is not None
        platform_port = int(await platform.stdout.readline())
        with_listen = 20_000 + os.getpid() % 20_000
        redis = await stack.enter_async_context(redis_server(home)) if collectors > 1 else ""
        running = []
        for number in range(collectors):
            place = home / f"collector-{number}"
            write_settings(place, platform_port, with_listen + number, budget, redis)
            run = program("-m", "livedeck", "collector", "run", home=place, out=(place / "log").open("wb"))
            running.append(await stack.enter_async_context(run))
        pids = [*(process.pid for process in running), platform.pid]
        began = monotonic()
        try:
            await settled(with_listen, events, settle)
        except TimeoutError as error:
            took = [processor(pid) / (monotonic() - began) for pid in pids]
            echo(f"{events:>6} {collectors:>10} {decks:>5} not settled: {error}; {_cores(took)} of a core")
            return
        took_seconds = monotonic() - began
        size = len(await get(with_listen, "/v1/snapshot", TOKENS[0]))
        row = await watch(pids, platform_port, with_listen, decks, seconds)
        echo(f"{events:>6} {collectors:>10} {row} {size / 1024:>9.0f} {took_seconds:>8.0f}")


def _cores(shares: Sequence[float]) -> str:
    return " ".join(f"{100 * share:.0f}" for share in shares[:-1]) + f" + {100 * shares[-1]:.0f} %"


async def watch(pids: Sequence[int], platform: int, port: int, decks: int, seconds: float) -> str:
    """Return the cost of `decks` decks in those seconds as text. The last of `pids` is the platform."""
    listing = await settled(port, 0, 60.0)
    readers = [Reader(times_delays=number == 0) for number in range(max(decks, 1))]
    used = readers if decks else readers[:1]
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(reader.read(port, TOKENS[number // A_TOKEN], listing["id"]))
            for number, reader in enumerate(used[:decks])
        ]
        asked, before, began = int(await get(platform, "/counted")), [*map(processor, pids)], monotonic()
        for reader in used:
            reader.received = 0
        await asyncio.sleep(seconds)
        passed = monotonic() - began
        asked = int(await get(platform, "/counted")) - asked
        shares = [(processor(pid) - was) / passed for pid, was in zip(pids, before, strict=True)]
        received = max(reader.received for reader in used)
        alarms = [alarm for alarm in listing["values"]["alarms"].values() if alarm.get("needs_ack", True)]
        told = await acknowledge(port, alarms[0], readers[:decks]) if alarms and decks else 0.0
        for task in tasks:
            task.cancel()
    delays = readers[0].delays
    p50, p99 = (quantiles(delays, n=100)[at] for at in (49, 98)) if len(delays) > 1 else (0.0, 0.0)
    missed = sum(reader.missed for reader in readers)
    held = sum(map(memory, pids[:-1]))
    return (
        f"{decks:>5} {asked / passed:>10.1f} {_cores(shares):>20} {held:>6.0f} {p50:>7.2f} {p99:>7.2f}"
        f" {told:>7.2f} {received / passed / 1024:>8.1f} {missed:>6}"
    )


def main() -> None:
    """Parse the command line and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--events", default="200")
    parser.add_argument("--collectors", default="1")
    parser.add_argument("--decks", default="0,1,5,20")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--budget", type=float, default=50.0, help="requests a second; 50 is that of the settings")
    parser.add_argument("--settle", type=float, default=240.0, help="seconds until all events are to be known")
    parser.add_argument("--platform", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.platform:
        asyncio.run(serve_platform(options.platform))
        return
    head = "events collectors decks requests/s  % of a core, platform   MB   p50 s   p99 s   ack s   kB/s/d missed"
    echo(f"{head} listing kB settled")
    for events in map(int, options.events.split(",")):
        for collectors in map(int, options.collectors.split(",")):
            for decks in map(int, options.decks.split(",")):
                asyncio.run(
                    measure(
                        events, collectors, decks, seconds=options.seconds, budget=options.budget, settle=options.settle
                    )
                )


if __name__ == "__main__":
    main()
