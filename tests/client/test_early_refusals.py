"""A refusal that comes while a body is being sent is that refusal: from servers that close, stay open, and nginx."""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from client.test_faults import error
from client.test_transport import api_at
from livedeck.client import Api, Rejected

NGINX = shutil.which("nginx")


@asynccontextmanager
async def refusing(answer: bytes, *, closes: bool) -> AsyncIterator[str]:
    """A platform that answers as soon as it has the head of a request, and reads no body."""
    gone = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            await writer.drain()
            if not closes:
                await gone.wait()
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        gone.set()


def sparse(folder: Path, size: int) -> Path:
    """A file of so many bytes that takes no room."""
    file = folder / "slides.pdf"
    with file.open("wb") as sparse_file:
        sparse_file.truncate(size)
    return file


async def refused(api: Api, file: Path) -> Rejected:
    with pytest.raises(Rejected) as caught:
        await api.materials.upload("v", file, file.name, "Slides")
    return caught.value


@pytest.mark.parametrize("size", [1000, 300 * 2**20], ids=["small", "300 MiB"])
@pytest.mark.parametrize("closes", [True, False], ids=["closes", "stays open"])
@pytest.mark.parametrize(("status", "code"), [(413, 413413), (401, 401401), (400, 400400)])
async def test_an_upload_ends_at_its_refusal(status: int, code: int, closes: bool, size: int, tmp_path: Path) -> None:
    async with refusing(error(status, code), closes=closes) as address, api_at(address) as api:
        assert (await refused(api, sparse(tmp_path, size))).status == status


@pytest.mark.skipif(NGINX is None, reason="nginx is not installed")
@pytest.mark.parametrize("size", [2 * 2**20, 300 * 2**20])
async def test_an_upload_ends_at_the_refusal_of_a_proxy(size: int, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    logs = f"error_log {tmp_path}/error.log; pid {tmp_path}/nginx.pid; daemon off;"
    paths = "".join(f"{name}_temp_path {tmp_path};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    server = f"server {{ listen 127.0.0.1:{port}; client_max_body_size 1m; location / {{ return 204; }} }}"
    config = tmp_path / "nginx.conf"
    config.write_text(f"{logs} events {{}} http {{ access_log off; {paths} {server} }}")
    with subprocess.Popen(  # noqa: ASYNC220  it starts at once
        [str(NGINX), "-c", str(config)], stderr=subprocess.DEVNULL
    ) as process:
        try:
            async with api_at(f"http://127.0.0.1:{port}") as api:
                async with asyncio.timeout(10):
                    while True:
                        with suppress(OSError):
                            _, writer = await asyncio.open_connection("127.0.0.1", port)
                            writer.close()
                            break
                        await asyncio.sleep(0)
                assert (await refused(api, sparse(tmp_path, size))).status == 413
        finally:
            process.terminate()
