"""Measure the cost of hostile and large transfers for the client: memory, and holds of the event loop.

Run as `PYTHONPATH=src python tests/bench/bounds.py`: each transfer has a process of its own, and this process has the
server. Prints the most memory that the process held, and the longest hold of its loop: by the clock on the wall, where
the neighbours of a shared machine count too, and in processor time of the loop's thread, which the budget judges
(performance.md, "Budgets"). Fails if an answer takes more than 64 MiB besides the limit of its body, if the loop is
held for 16 ms, or if a large file takes more memory than a small one.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import resource
import sys
import time
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from livedeck.client import Api, ApiError, ChatExport

BODY_LIMIT, MEMORY, HOLD, FLAT = 64.0, 64.0, 16.0, 8.0
"""MiB of one answer, MiB besides it, ms of a hold, and MiB that a large file may take more than a small one."""

_MB = 10**6
_EVENT = {"name": "Evening show", "type": "one-time", "reconnect_window": 600, "subtitle": "x" * 900}
_MESSAGE = {"username": "Ada", "is_admin": "false", "message": "Hello " * 20, "created_at": "2026-11-21T12:00:00.5Z"}


def _rows(row: Mapping[str, object], size: int) -> AsyncIterator[bytes]:
    """Yield a list of copies of `row` in the platform's envelope, `size` bytes long or a little more."""

    async def chunks() -> AsyncIterator[bytes]:
        yield b'{"data":['
        sent, separator = 0, b""
        while sent < size:
            packed = separator + b",".join(json.dumps({"id": f"{sent}-{n}", **row}).encode() for n in range(100))
            yield packed
            sent, separator = sent + len(packed), b","
        yield b"]}"

    return chunks()


async def _whole(body: bytes) -> AsyncIterator[bytes]:
    yield body


async def _endless() -> AsyncIterator[bytes]:
    while True:
        yield b" " * 65_536


def _bomb(times: int) -> bytes:
    """Return a GiB of zeros, packed `times` times."""
    packer = zlib.compressobj(9, wbits=31)
    packed = b"".join(packer.compress(bytes(2**20)) for _ in range(1024)) + packer.flush()
    for _ in range(times - 1):
        packed = gzip.compress(packed)
    return packed


_BOMBS = {"gzip": _bomb(1), "gzip, gzip": _bomb(2)} if __name__ == "__main__" and len(sys.argv) == 1 else {}


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer a request with the body that its path names: `/bomb`, `/nested`, `/rows-10`, `/endless`, `/export-200`."""
    with suppress(ConnectionError, asyncio.IncompleteReadError):
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        kind, _, megabytes = head.split("/")[1].partition("-")
        coding = {"bomb": "gzip", "nested": "gzip, gzip"}.get(kind, "identity")
        bodies: dict[str, Callable[[], AsyncIterator[bytes]]] = {
            "rows": lambda: _rows(_EVENT, int(megabytes) * _MB),
            "export": lambda: _rows(_MESSAGE, int(megabytes) * _MB),
            "endless": _endless,
            "upload": lambda: _whole(b'{"data": {"id": "m1"}}'),
        }
        if kind == "upload":
            await _take_body(reader, writer, head)
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        async for chunk in bodies[kind]() if kind in bodies else _whole(_BOMBS[coding]):
            writer.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            await writer.drain()
        writer.write(b"0\r\n\r\n")
        await writer.drain()
    writer.close()


async def _take_body(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: str) -> None:
    if "Expect:" in head:
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    left = int(head.partition("Content-Length: ")[2].partition("\r\n")[0])
    while left:
        left -= len(await reader.read(min(left, 2**20)))


async def _list(api: Api, folder: Path) -> object:
    del folder
    return await api.events.list()


async def _upload(api: Api, folder: Path) -> object:
    return await api.materials.upload("v", folder / "file", "a", "b")


async def _export(api: Api, folder: Path) -> object:
    return await api.chat.export(ChatExport("e", "s"), folder / "chat.json")


def _call(kind: str) -> Callable[[Api, Path], Awaitable[object]]:
    return {"upload": _upload, "export": _export}.get(kind.partition("-")[0], _list)


async def _transfer(address: str, kind: str) -> tuple[float, float, str]:
    """Do a transfer. Return the longest hold (ms) on the wall and in processor time, and its result in words."""
    wall = processor = 0.0

    async def tick() -> None:
        nonlocal wall, processor
        while True:
            wall_from, processor_from = time.perf_counter(), time.thread_time()
            await asyncio.sleep(0.001)
            wall = max(wall, (time.perf_counter() - wall_from) * 1000 - 1)
            processor = max(processor, (time.thread_time() - processor_from) * 1000)

    with TemporaryDirectory() as name:
        folder = Path(name)
        if kind.startswith("upload"):
            with (folder / "file").open("wb") as sparse:
                sparse.truncate(int(kind.partition("-")[2]) * _MB)
        async with Api(base_url=f"{address}/rows-0", token="token-of-bench") as first:
            await first.events.list()  # work done once, such as imports, is not measured
        async with Api(base_url=f"{address}/{kind}", token="token-of-bench", timeout=60.0) as api:
            ticking = asyncio.create_task(tick())
            await asyncio.sleep(0.01)
            try:
                await _call(kind)(api, folder)
                outcome = "done"
            except ApiError as error:
                outcome = str(error)
            ticking.cancel()
    return wall, processor, outcome


async def _measure(address: str, kind: str) -> tuple[float, float, float, str]:
    """Do a transfer in a process of its own. Return the most memory that it held (MiB), then as `_transfer` does."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, __file__, address, kind, stdout=asyncio.subprocess.PIPE
    )
    printed, _ = await process.communicate()
    peak, wall, processor, outcome = printed.decode().split(" ", 3)
    return float(peak), float(wall), float(processor), outcome.strip()


async def main() -> int:
    """Measure all transfers and print the figures. Return 0 if every budget is kept, else 1."""
    kept, peaks = True, dict[str, float]()
    async with await asyncio.start_server(_answer, "127.0.0.1", 0, limit=2**20) as server:
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        for kind in ("bomb", "nested", "rows-10", "endless", "upload-8", "upload-300", "export-8", "export-200"):
            peaks[kind], wall, processor, outcome = await _measure(address, kind)
            is_good = peaks[kind] <= BODY_LIMIT + MEMORY and processor < HOLD
            kept = kept and is_good
            sys.stdout.write(
                f"{kind:10} peak {peaks[kind]:6.1f} MiB, longest hold {processor:5.1f} ms of processor time "
                f"({wall:.1f} ms on the wall): {outcome}{'' if is_good else '  MISSED'}\n"
            )
    for large, small in (("upload-300", "upload-8"), ("export-200", "export-8")):
        more = peaks[large] - peaks[small]
        kept = kept and more <= FLAT
        sys.stdout.write(f"{large} takes {more:.1f} MiB more than {small}{'' if more <= FLAT else '  MISSED'}\n")
    return 0 if kept else 1


if __name__ == "__main__":
    if len(sys.argv) == 1:
        sys.exit(asyncio.run(main()))
    held = asyncio.run(_transfer(sys.argv[1], sys.argv[2]))
    sys.stdout.write(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024} {held[0]} {held[1]} {held[2]}\n")
