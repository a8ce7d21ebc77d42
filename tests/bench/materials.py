"""Send an additional material of half a gigabyte to the simulator and fetch it again: peak memory and time.

Run as `python tests/bench/materials.py [megabytes]`. Each size is a process of its own against the same platform, in a
third one. Prints the figures. Fails if the large size needs over 16 MiB more than the small one, because memory may not
grow with the file.
"""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from livedeck.client import Api
from livedeck.simulator import Simulator, serve

SMALL = 8
GROWTH_MIB = 16.0


async def _platform(folder: Path) -> None:
    simulator = Simulator(data=folder / "platform.db")
    async with serve(simulator) as addresses:
        _say(f"{addresses.base_url} {addresses.upload_url} {simulator.token}")
        await asyncio.to_thread(sys.stdin.read)  # until the parent is done
    simulator.close()


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


async def _video(api: Api) -> str:
    async for event in api.events.iterate():
        for one in (await api.events.videos(event.id)).items:
            return one.id
    raise LookupError("the workspace has no recording")


async def _turn(base: str, upload: str, token: str, folder: Path, size: int) -> None:
    file, got = folder / f"{size}.bin", folder / f"{size}.got"
    with file.open("wb") as sparse:
        sparse.truncate(size * 2**20)
    steps = 0

    def count(_: int, __: int | None) -> None:
        nonlocal steps
        steps += 1

    async with Api(base_url=base, upload_url=upload, token=token) as api:
        video = await _video(api)
        began = time.perf_counter()
        made = await api.materials.upload(video, file, file.name, "Bench", progress=count)
        assert made is not None
        sent = time.perf_counter()
        await api.cdn.save(await api.materials.link(made.id), got, "download", progress=count)
        done = time.perf_counter()
    assert got.stat().st_size == file.stat().st_size
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    _say(f"{peak:.1f} {sent - began:.2f} {done - sent:.2f} {steps}")
    file.unlink()
    got.unlink()


def _child(*arguments: str) -> str:
    command = [sys.executable, __file__, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ).stdout


def main(size: int) -> int:
    """Run both sizes one after the other."""
    with TemporaryDirectory() as name:
        command = [sys.executable, __file__, "platform", name]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as platform:
            assert platform.stdout is not None
            address = platform.stdout.readline().split()
            peaks = []
            for each in (SMALL, size):
                peak, sent, came, steps = _child("turn", *address, name, str(each)).split()
                _say(f"{each:4} MiB: peak {peak} MiB, up {sent} s, down {came} s, {steps} steps of progress")
                peaks.append(float(peak))
            platform.terminate()
    grown = peaks[1] - peaks[0]
    _say(f"grown by {grown:.1f} MiB, of {GROWTH_MIB} that are allowed")
    return int(grown > GROWTH_MIB)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["platform", folder]:
            asyncio.run(_platform(Path(folder)))
        case ["turn", base, upload, token, folder, size]:
            asyncio.run(_turn(base, upload, token, Path(folder), int(size)))
        case [size]:
            sys.exit(main(int(size)))
        case _:
            sys.exit(main(512))
