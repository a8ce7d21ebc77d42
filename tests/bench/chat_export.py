"""A chat export of 250 MB against `curl -o` of the same address (performance.md, 12): speed, and growth of memory.

Run as `python tests/bench/chat_export.py [megabytes]`: prints both figures, and fails where the export is slower than
half of curl or grows by 40 MB. Best of five turns each, taken in turns and into a new file: the machine's other work
hits both. The export's time includes its fsync, which curl does not do.
"""

from __future__ import annotations

import asyncio
import os
import resource
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from livedeck.client import Api

_MESSAGE = (
    b'{"id":"4d2c2f2e-6f53-4a3e-9b7d-0d8d1c1c7a10","username":"someone","external_id":"u-1","is_admin":"false",'
    b'"message":"Good evening, everyone","created_at":"2026-11-21T18:00:00.123456Z",'
    b'"cteated_at_local":"2026-11-21T18:00:00.123456Z"}'
)
_TURNS = 5


def write_log(path: Path, size: int) -> None:
    """A log in JSON of about that many bytes."""
    batch = b",".join([_MESSAGE] * 4000)
    with path.open("wb") as file:
        file.write(b'{"data":[' + batch)
        while file.tell() < size:
            file.write(b"," + batch)
        file.write(b"]}")


@contextmanager
def served(path: Path) -> Iterator[str]:
    """The address of a process that answers every request with that file, and does nothing else."""
    listener = socket.create_server(("127.0.0.1", 0))
    child = os.fork()
    if child == 0:
        _serve(listener, path)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
        listener.close()


def _serve(listener: socket.socket, path: Path) -> None:
    while True:
        peer, _ = listener.accept()
        threading.Thread(target=_answer, args=(peer, path)).start()


def _answer(peer: socket.socket, path: Path) -> None:
    with peer, path.open("rb") as file:
        peer.recv(65_536)
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {path.stat().st_size}\r\n\r\n"
        peer.sendall(head.encode())
        peer.sendfile(file)


def by_curl(address: str, to: Path) -> float:
    """Seconds that curl takes."""
    to.unlink(missing_ok=True)
    began = time.perf_counter()
    subprocess.run(["curl", "-s", "-o", str(to), f"{address}/chat.json"], check=True)
    return time.perf_counter() - began


async def by_export(address: str, to: Path) -> float:
    """Seconds that the export takes."""
    async with Api(base_url=address, token="bench") as api:
        began = time.perf_counter()
        await api.chat.export("event", "stream", "json", to)
        return time.perf_counter() - began


def turn(address: str, to: Path) -> tuple[float, float]:
    """Seconds that each takes, into a new file."""
    curl = by_curl(address, to)
    to.unlink()
    return curl, asyncio.run(by_export(address, to))


async def by_message(address: str) -> tuple[int, float]:
    """How many messages are read, and in how many seconds."""
    async with Api(base_url=address, token="bench") as api:
        began, count = time.perf_counter(), 0
        async for _ in api.chat.messages("event", "stream"):
            count += 1
        return count, time.perf_counter() - began


def peak() -> float:
    """The most memory that this process has held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(megabytes: int) -> int:
    """Measure, print, and answer 0 where both budgets are kept."""
    with TemporaryDirectory() as folder:
        log, target = Path(folder, "log.json"), Path(folder, "got.json")
        write_log(log, megabytes * 10**6)
        with served(log) as address:
            before = peak()
            turns = [turn(address, target) for _ in range(_TURNS)]
            grown = peak() - before
            same = target.stat().st_size == log.stat().st_size
            count, seconds = asyncio.run(by_message(address))
            whole = peak() - before
    curl, export = (min(times) for times in zip(*turns, strict=True))
    sys.stdout.write(
        f"curl {curl:.2f} s, export {export:.2f} s: {curl / export:.2f} of its speed, {grown:.1f} MB of growth\n"
        f"read {count:,} messages in {seconds:.1f} s, {whole:.1f} MB of growth in all\n"
    )
    return 0 if same and curl / export >= 0.5 and whole < 40 else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 250))
