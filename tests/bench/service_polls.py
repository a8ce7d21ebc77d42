"""200 events on air, each asked for its QoS every 2 s: the share of a core that the service takes (performance.md, 13).

Run as `python tests/bench/service_polls.py [seconds]`: prints the share and the latency of an answer, and fails where
the service takes half a core or more. The service is a process of its own, so that its CPU time is its alone.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from os import sysconf
from pathlib import Path
from statistics import quantiles
from time import perf_counter
from typing import Any

import httpx

EVENTS, PERIOD = 200, 2.0
SERVE = [sys.executable, "-m", "livedeck", "serve", "--json", "--port", "0"]


@contextmanager
def serving() -> Iterator[tuple[int, dict[str, Any]]]:
    """The id of the service's process, and what it said of itself."""
    with subprocess.Popen(SERVE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.pid, json.loads(process.stdout.readline())
        finally:
            process.terminate()


def cpu_seconds(pid: int) -> float:
    """User and system time of that process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / sysconf("SC_CLK_TCK")


async def put_on_air(http: httpx.AsyncClient, service: dict[str, Any], number: int) -> str:
    """A new event with a running encoder; its QoS address."""
    control = {"Authorization": f"Bearer {service['control_token']}"}
    events = f"{service['base_url']}/v2/live/events"
    made = await http.post(events, json={"name": f"Show {number}", "type": "one-time"})
    event_id = made.raise_for_status().json()["data"]["id"]
    (await http.put(f"{events}/{event_id}/enable")).raise_for_status()
    now = (await http.get(f"{service['control_url']}/clock", headers=control)).raise_for_status().json()["data"]["now"]
    (await http.post(f"{events}/{event_id}/stream", json={"started_at": now})).raise_for_status()
    started = await http.post(f"{service['control_url']}/encoders/{event_id}", headers=control, json={"sending": True})
    started.raise_for_status()
    return f"{events}/{event_id}/qos"


async def poll(http: httpx.AsyncClient, address: str, delay: float, rounds: int, took: list[float]) -> None:
    """Ask every period, at a place of its own in it."""
    await asyncio.sleep(delay)
    for _ in range(rounds):
        began = perf_counter()
        (await http.get(address)).raise_for_status()
        took.append(perf_counter() - began)
        await asyncio.sleep(max(0.0, PERIOD - (perf_counter() - began)))


async def measure(seconds: float) -> float:
    """The share of a core; everything else is printed."""
    with serving() as (pid, service):
        headers = {"Authorization": f"Bearer {service['token']}"}
        limits = httpx.Limits(max_connections=16)
        async with httpx.AsyncClient(headers=headers, limits=limits, timeout=30) as http:
            addresses = [await put_on_air(http, service, number) for number in range(EVENTS)]
            control = {"Authorization": f"Bearer {service['control_token']}"}
            (
                await http.post(f"{service['control_url']}/clock", headers=control, json={"step": 3600})
            ).raise_for_status()
            for address in addresses:  # an hour of samples is made once
                (await http.get(address)).raise_for_status()
            took: list[float] = []
            rounds, spread = int(seconds / PERIOD), PERIOD / EVENTS
            before, began = cpu_seconds(pid), perf_counter()
            polls = [poll(http, address, at * spread, rounds, took) for at, address in enumerate(addresses)]
            await asyncio.gather(*polls)
            share = (cpu_seconds(pid) - before) / (perf_counter() - began)
    middle, worst = quantiles(took, n=100)[49], quantiles(took, n=100)[98]
    sys.stdout.write(f"{EVENTS} events every {PERIOD:g} s, an hour of samples each: {share:.2f} of a core; ")
    sys.stdout.write(f"an answer {middle * 1000:.0f} ms, p99 {worst * 1000:.0f} ms, {len(took)} answers\n")
    return share


if __name__ == "__main__":
    sys.exit(asyncio.run(measure(float(sys.argv[1]) if len(sys.argv) > 1 else 20.0)) >= 0.5)
