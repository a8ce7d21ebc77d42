"""Measure the cost of 500 idle and 50 slow connections for working ones, at a limit of 600 descriptors.

`PYTHONPATH=tests python tests/bench/simulator_crowd.py` prints the medians without and with them. Fails if the second
is half as long again, if a request is not answered, or if one of the 550 is still there after its time. Linux only: the
limit is set from outside.
"""

from __future__ import annotations

import resource
import socket
import statistics
import sys
import time
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory

from cli.commands import served
from simulator.http_client import Row

IDLE, SLOW, LIMIT, REQUESTS = 500, 50, 600, 1000


def main() -> int:
    """Measure, and return the exit code."""
    with TemporaryDirectory() as home, served(Path(home)) as (process, simulator), ExitStack() as crowd:
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (LIMIT, LIMIT))
        address = "127.0.0.1", int(simulator["base_url"].rpartition(":")[2])
        alone = median_of(address, simulator)
        waiting = [crowd.enter_context(socket.create_connection(address, 30)) for _ in range(IDLE + SLOW)]
        for slow in waiting[IDLE:]:
            slow.sendall(b"GET / HTTP/1.1\r\nHost: ")
        crowded = median_of(address, simulator)
        ends = [connection.recv(12) for connection in waiting]
    gone = ends == [b""] * IDLE + [b"HTTP/1.1 408"] * SLOW
    sys.stdout.write(f"median without {alone * 1000:.2f} ms, with {crowded * 1000:.2f} ms; all gone: {gone}\n")
    return int(crowded > 1.5 * alone or not gone)


def median_of(address: tuple[str, int], simulator: Row) -> float:
    """Return the median seconds of a request, on a kept connection and on a new one for each."""
    seconds: list[float] = []
    kept = HTTPConnection(*address, timeout=30)
    for number in range(REQUESTS):
        connection = kept if number % 2 else HTTPConnection(*address, timeout=30)
        began = time.perf_counter()
        connection.request("GET", "/v1/meet/rooms", headers={"Authorization": f"Bearer {simulator['token']}"})
        answer = connection.getresponse()
        content = answer.read()
        seconds.append(time.perf_counter() - began)
        if answer.status != 200:
            raise SystemExit(f"a request was answered {answer.status}: {content[:200]!r}")
        if connection is not kept:
            connection.close()
    kept.close()
    return statistics.median(seconds)


if __name__ == "__main__":
    sys.exit(main())
