"""Compare a chat export with `curl -o` and with ijson in the same run (performance.md, "Budgets"): speed and memory.

Run as `python tests/bench/chat_export.py [megabytes] [xlsx]`; 250 MB are a million messages. Prints the figures. Fails
if a verbatim export is slower than 0.7 of curl, if CSV from JSON is slower than three times ijson, or if a process
takes more than 48 MiB. Each export is a process of its own and writes a new file. The ways take turns, best of five and
three, so that the machine's other work hits all of them. Processor time (user and system) is judged, because that work
leaves it alone; the time by the clock is printed beside it. By the clock, exports also wait for their fsync, which the
other ways do not do.
"""

from __future__ import annotations

import asyncio
import csv
import os
import resource
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from livedeck.client import Api, ChatExport, MessageFilter
from livedeck.client.chat_export.formats import FIELDS

_MESSAGE = (
    b'{"id":"4d2c2f2e-6f53-4a3e-9b7d-0d8d1c1c7a10","username":"someone","external_id":"u-1","is_admin":"false",'
    b'"message":"Good evening, everyone","created_at":"2026-11-21T18:00:00.123456Z",'
    b'"cteated_at_local":"2026-11-21T18:00:00.123456Z"}'
)
_SOUGHT = "evening"
_BUDGETS = {"curl": 0.7, "ijson": 3.0, "MiB": 48.0}


def write_log(path: Path, size: int) -> None:
    """Write a log in JSON of about `size` bytes."""
    batch = b",".join([_MESSAGE] * 4000)
    with path.open("wb") as file:
        file.write(b'{"data":[' + batch)
        while file.tell() < size:
            file.write(b"," + batch)
        file.write(b"]}")


@contextmanager
def served(path: Path) -> Iterator[str]:
    """Serve the file at `path` from a process that answers every request with it. Yield the address."""
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


class Cost(NamedTuple):
    """Cost of a turn in seconds: by the clock, and of the processor."""

    clock: float
    processor: float

    @staticmethod
    def now() -> Cost:
        """Return the cost of this process so far, with the child processes that it waited for."""
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        return Cost(time.perf_counter(), time.process_time() + ended.ru_utime + ended.ru_stime)

    def since(self) -> Cost:
        """Return the cost since this one was taken."""
        now = Cost.now()
        return Cost(now.clock - self.clock, now.processor - self.processor)


def by_curl(address: str, to: Path) -> Cost:
    """Fetch the log unchanged with curl. Return the cost."""
    began = Cost.now()
    subprocess.run(["curl", "-s", "-o", str(to), f"{address}/chat.json"], check=True)
    return began.since()


def by_ijson(address: str, to: Path) -> Cost:
    """Write CSV of the messages that hold a word with ijson, as a script would. Return the cost."""
    import ijson

    began = Cost.now()
    with urllib.request.urlopen(f"{address}/chat.json") as log, to.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(FIELDS)
        for message in ijson.items(log, "data.item"):
            if _SOUGHT in message["message"].casefold():
                writer.writerow([message[field] for field in FIELDS])
    return began.since()


def by_export(wanted: ChatExport) -> Callable[[str, Path], Cost]:
    """Return a function that exports with livedeck's client. The client exists before, as on a screen."""

    async def export(address: str, to: Path) -> Cost:
        async with Api(base_url=address, token="bench") as api:
            began = Cost.now()
            await api.chat.export(wanted, to)
            return began.since()

    return lambda address, to: asyncio.run(export(address, to))


def by_messages(address: str, _to: Path) -> Cost:
    """Read every message as a model, as a screen does. Return the cost."""

    async def read() -> Cost:
        async with Api(base_url=address, token="bench") as api:
            began = Cost.now()
            async for _ in api.chat.messages("event", "stream"):
                pass
            return began.since()

    return asyncio.run(read())


WAYS: dict[str, Callable[[str, Path], Cost]] = {
    "curl": by_curl,
    "verbatim": by_export(ChatExport("event", "stream")),
    "ijson": by_ijson,
    "csv": by_export(ChatExport("event", "stream", "csv", MessageFilter(search=_SOUGHT))),
    "ndjson": by_export(ChatExport("event", "stream", "ndjson")),
    "xlsx": by_export(ChatExport("event", "stream", "xlsx")),
    "messages": by_messages,
}


def turn(way: str, address: str, to: Path) -> tuple[Cost, float]:
    """Run a way in a process of its own.

    Return its cost without the start of the process, and its peak memory (MiB).
    """
    to.unlink(missing_ok=True)
    command = [sys.executable, __file__, way, address, str(to)]
    clock, processor, peak = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return Cost(float(clock), float(processor)), float(peak)


def alone(way: str, address: str, to: Path) -> None:
    """Run a way in this process, and print what `turn` reads."""
    clock, processor = WAYS[way](address, to)
    sys.stdout.write(f"{clock} {processor} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}\n")


def measured(megabytes: int, plan: dict[str, int]) -> dict[str, tuple[Cost, float]]:
    """Return the least cost and the peak memory (MiB) of each way. `plan`: number of turns by way."""
    taken: dict[str, list[tuple[Cost, float]]] = {way: [] for way in plan}
    with TemporaryDirectory() as folder:
        log, target = Path(folder, "log.json"), Path(folder, "got")
        write_log(log, megabytes * 10**6)
        with served(log) as address:
            for number in range(max(plan.values())):
                for way in [way for way, turns in plan.items() if number < turns]:
                    taken[way].append(turn(way, address, target))
    return {
        way: (Cost(*map(min, zip(*(cost for cost, _ in turns), strict=True))), max(held for _, held in turns))
        for way, turns in taken.items()
    }


def main(megabytes: int, further: list[str]) -> int:
    """Measure and print. Return 0 if every budget is kept, else 1."""
    plan = {"curl": 5, "verbatim": 5, "ijson": 3, "csv": 3, "ndjson": 1, "messages": 1} | dict.fromkeys(further, 1)
    found = measured(megabytes, plan)
    for way, (cost, peak) in found.items():
        sys.stdout.write(f"{way:9} {cost.processor:7.2f} s of processor {cost.clock:7.2f} s {peak:7.1f} MiB\n")
    kept = max(peak for way, (_, peak) in found.items() if way not in {"curl", "ijson"}) <= _BUDGETS["MiB"]
    for ours, theirs in (("verbatim", "curl"), ("csv", "ijson")):
        by_clock, ratio = (other / own for own, other in zip(found[ours][0], found[theirs][0], strict=True))
        sys.stdout.write(f"{ours}: {ratio:.2f} of {theirs}, {by_clock:.2f} by the clock\n")
        kept = kept and ratio >= _BUDGETS[theirs]
    return 0 if kept else 1


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in WAYS:
        alone(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
    else:
        sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 250, sys.argv[2:]))
