"""A refusal that comes while a body is being sent, from servers that others wrote: aiohttp, node and nginx.

Each closes its connection behind the answer, or leaves it open; each refuses at once, or only after it asked for the
body with `100 Continue`. The path says with which status. What is not installed is skipped; an interpreter that has
aiohttp is named by the environment, for it is none of the packages that the tests need:

    AIOHTTP_PYTHON=/path/to/venv/bin/python pytest tests/client/test_refusing_servers.py -m "slow or not slow"
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from client.test_early_refusals import refusing, sparse
from client.test_faults import error
from client.test_transport import api_at
from livedeck.client import ApiError, Rejected, Unknown

STATUSES = (413, 401, 400)
SIZES = [
    pytest.param(1000, id="small"),
    pytest.param(2 * 2**20, id="2 MiB"),
    pytest.param(300 * 2**20, id="300 MiB", marks=pytest.mark.slow),
]

_NODE = """
const closes = process.argv[1] === "closes";
const server = require("http").createServer((request, response) => {
  const status = Number(request.url.split("/")[1]);
  response.writeHead(status, closes ? {Connection: "close"} : {});
  response.end(JSON.stringify({error: {code: status * 1001, message: "no"}}));
});
server.on("checkContinue", (request, response) => {
  if (request.url.includes("/later/")) response.writeContinue();
  server.emit("request", request, response);
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
"""

_AIOHTTP = """
import asyncio, sys
from aiohttp import web

closes = sys.argv[1] == "closes"

async def refuse(request):
    status = int(request.path.split("/")[1])
    answer = web.json_response({"error": {"code": status * 1001, "message": "no"}}, status=status)
    if closes:
        answer.force_close()
    return answer

async def ask_for_body(request):
    if "/later/" not in request.path:
        return await refuse(request)
    await request.writer.write(b"HTTP/1.1 100 Continue\\r\\n\\r\\n")

async def main():
    app = web.Application()
    app.router.add_post("/{path:.*}", refuse, expect_handler=ask_for_body)
    runner = web.AppRunner(app, **({"lingering_time": 0} if closes else {}))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""

NGINX = shutil.which("nginx")
COMMANDS = {"aiohttp": [os.environ.get("AIOHTTP_PYTHON"), "-c", _AIOHTTP], "node": [shutil.which("node"), "-e", _NODE]}
SERVERS = [
    pytest.param(name, marks=pytest.mark.skipif(not command[0], reason=f"{name} is not installed"))
    for name, command in COMMANDS.items()
]
CLOSING = pytest.mark.parametrize("closes", [True, False], ids=["closes", "stays open"])
needs_nginx = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")


@contextmanager
def running(server: str, *, closes: bool) -> Iterator[str]:
    """Yield the address of a server in a process of its own."""
    command = [*map(str, COMMANDS[server]), "closes" if closes else "stays open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.terminate()


@contextmanager
def nginx(folder: Path, server: str) -> Iterator[str]:
    """Yield the address of an nginx with these directives in its only server."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    paths = "".join(f"{name}_temp_path {folder};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    config = folder / "nginx.conf"
    config.write_text(
        f"error_log {folder}/error.log; pid {folder}/nginx.pid; master_process off; events {{}}"
        f"http {{ access_log off; {paths} server {{ listen 127.0.0.1:{port}; {server} }} }}"
    )
    command = [str(NGINX), "-c", str(config)]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)  # returns once it listens
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        subprocess.run([*command, "-s", "stop"], check=True, stderr=subprocess.DEVNULL)


async def answered(address: str, size: int, folder: Path) -> ApiError:
    """Return the error of an upload of that size."""
    async with api_at(address) as api:
        with pytest.raises(ApiError) as caught:
            await api.materials.upload("v", sparse(folder, size), "slides.pdf", "Slides")
    return caught.value


async def statuses(address: str, size: int, folder: Path, moment: str = "") -> list[int]:
    """Return the statuses of uploads that the server refuses with each status."""
    errors = [await answered(f"{address}/{status}{moment}", size, folder) for status in STATUSES]
    return [error.status if isinstance(error, Rejected) else 0 for error in errors]


@pytest.mark.parametrize("size", SIZES)
@CLOSING
@pytest.mark.parametrize("server", SERVERS)
async def test_an_upload_ends_at_its_refusal(server: str, closes: bool, size: int, tmp_path: Path) -> None:
    with running(server, closes=closes) as address:
        for moment in ("/at-once", "/later"):
            assert await statuses(address, size, tmp_path, moment) == [*STATUSES]


@needs_nginx
@pytest.mark.parametrize("size", SIZES)
@CLOSING
async def test_an_upload_ends_at_the_refusal_of_nginx(closes: bool, size: int, tmp_path: Path) -> None:
    """Its pages are not the platform's: 413 judges the request alone; after 401 and 400 the outcome is unknown."""
    closing = "keepalive_timeout 0; lingering_close off;" if closes else "lingering_close always;"
    limit = "client_max_body_size 0; location /413 { client_max_body_size 100; return 204; }"
    others = "location /401 { return 401; } location /400 { return 400; }"
    with nginx(tmp_path, closing + limit + others) as address:
        assert await statuses(address, size, tmp_path) == [413, 0, 0]


def proxied(address: str, buffering: str) -> str:
    """Return directives that pass everything on to an address."""
    return (
        f"client_max_body_size 0; location / {{ proxy_pass {address}; proxy_http_version 1.1; "
        f'proxy_set_header Connection ""; proxy_request_buffering {buffering}; }}'
    )


@needs_nginx
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("buffering", ["on", "off"])
@pytest.mark.parametrize("server", SERVERS)
async def test_an_upload_through_nginx_ends_at_the_refusal_of_a_server_that_stays(
    server: str, buffering: str, size: int, tmp_path: Path
) -> None:
    with running(server, closes=False) as behind, nginx(tmp_path, proxied(behind, buffering)) as address:
        for moment in ("/at-once", "/later"):
            assert await statuses(address, size, tmp_path, moment) == [*STATUSES]


@needs_nginx
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("buffering", ["on", "off"])
@CLOSING
async def test_what_nginx_makes_of_a_platform_that_hangs_up_is_never_taken_for_a_yes_or_a_no(
    closes: bool, buffering: str, size: int, tmp_path: Path
) -> None:
    """nginx cannot write the body to a connection that is closed, and answers 502: nobody knows whether it was done."""
    async with refusing(error(413, 413413), closes=closes) as behind:
        with nginx(tmp_path, proxied(behind, buffering)) as address:
            caught = await answered(address, size, tmp_path)
    if closes and isinstance(caught, Unknown):
        assert "the response is 502" in str(caught)
    else:
        assert isinstance(caught, Rejected)
        assert caught.status == 413
