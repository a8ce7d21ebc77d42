"""The wall besides the terminal: a picture file, and a page on loopback that asks for the picture every second."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from hashlib import blake2b, sha256
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import structlog
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from livedeck.atomic_file import replace_file
from livedeck.ui.wallboard.app import Picture

_log: Any = structlog.get_logger("livedeck.wallboard")


class SvgPublisher:
    """Takes each picture as it is made; draws it when somebody asks for it, once, and in a thread."""

    def __init__(self) -> None:
        self._picture: Picture | None = None
        self._drawn: tuple[Picture, bytes] | None = None
        self._drawing = asyncio.Lock()
        self._changed, self._is_ending = asyncio.Event(), False

    def publish(self, picture: Picture) -> None:
        """This is on the wall now."""
        self._picture = picture
        self._changed.set()

    async def svg(self) -> bytes | None:
        """The newest picture; None before the first."""
        async with self._drawing:
            picture = self._picture
            if picture and (self._drawn is None or self._drawn[0] is not picture):
                self._drawn = picture, (await asyncio.to_thread(picture.svg)).encode()
        return self._drawn[1] if self._drawn else None

    @asynccontextmanager
    async def write_to(self, target: Path) -> AsyncIterator[None]:
        """Write each picture to that file while the block runs, and the last one at its end; whole or not at all."""
        task = asyncio.create_task(self._write_each(target))
        try:
            yield
        finally:
            self._is_ending = True
            self._changed.set()
            await task

    async def _write_each(self, target: Path) -> None:
        last_error = ""
        while self._changed.is_set() or not self._is_ending:
            await self._changed.wait()
            self._changed.clear()
            last_error = await self._write(target, last_error)

    async def _write(self, target: Path, last_error: str) -> str:
        """Write the newest picture. Returns why it could not be, or nothing; `last_error`: what that was last time."""
        try:
            svg = await self.svg()
            if svg:
                await asyncio.to_thread(replace_file, target, svg)
            reason = ""
        except Exception as error:  # noqa: BLE001  the top of a task; logged once, not at every picture
            reason = getattr(error, "strerror", None) or repr(error)
            if reason != last_error:
                _log.warning("the picture cannot be written", path=str(target), reason=reason, exc_info=True)
        if last_error and not reason:
            _log.info("the picture is written again", path=str(target))
        return reason


def check_folder(target: Path) -> None:
    """Raises OSError where no file can be made beside that one."""
    with TemporaryFile(dir=target.resolve().parent):
        pass


LOOPBACK = "127.0.0.1"

_SCRIPT = """
const wall = document.getElementById("wall"), lost = document.getElementById("lost");
let last = "", seen = Date.now();
async function look() {
  try {
    const answer = await fetch("wall.svg", {cache: "no-cache", signal: AbortSignal.timeout(4000)});
    const text = answer.ok ? await answer.text() : "";
    if (text) { seen = Date.now(); if (text !== last) { wall.innerHTML = last = text; } }
  } catch (none) {}
  const away = Math.floor((Date.now() - seen) / 1000);
  lost.hidden = away < 5;
  wall.className = away < 5 ? "" : "old";
  lost.textContent = "\\u2716 NO PICTURE for " + away + " s: the wallboard does not answer";
  setTimeout(look, 1000);
}
look();
"""

_STYLE = """
html, body { margin: 0; height: 100%; background: #0e1216; overflow: hidden; cursor: none; }
#wall, #wall svg { width: 100%; height: 100%; display: block; overflow: visible; }
#wall.old { opacity: 0.3; }
#lost { position: fixed; top: 40%; left: 0; right: 0; padding: 0.5em; text-align: center;
        font: bold 4vw monospace; color: #000; background: #d55e00; }
"""

PAGE = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>livedeck wallboard</title>
<style>{_STYLE}</style></head>
<body><div id="wall"></div><div id="lost" hidden></div>
<noscript><meta http-equiv="refresh" content="2"><img src="wall.svg" width="100%" height="100%" alt=""></noscript>
<script>{_SCRIPT}</script></body></html>
"""


def _csp_hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


_CONTENT_SECURITY_POLICY = (
    f"default-src 'none'; script-src {_csp_hash(_SCRIPT)}; style-src {_csp_hash(_STYLE)}; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

_HEADERS = {
    "Content-Security-Policy": _CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def wall_app(svg: Callable[[], Awaitable[bytes | None]]) -> Starlette:
    """The app: `/` and `/wall.svg`, to be read and nothing else, and under no other name than this machine's."""

    async def page(request: Request) -> Response:
        return _tagged(request, PAGE.encode(), "text/html; charset=utf-8")

    async def picture(request: Request) -> Response:
        content = await svg()
        if content is None:
            return Response("no picture yet\n", 503, {**_HEADERS, "Retry-After": "1"}, "text/plain")
        return _tagged(request, content, "image/svg+xml")

    this_machine = Middleware(TrustedHostMiddleware, allowed_hosts=[LOOPBACK, "localhost"])
    return Starlette(routes=[Route("/", page), Route("/wall.svg", picture)], middleware=[this_machine])


def _tagged(request: Request, content: bytes, media_type: str) -> Response:
    """The content, or 304 to whoever has it already."""
    tag = f'"{blake2b(content, digest_size=12).hexdigest()}"'
    headers = {**_HEADERS, "ETag": tag}
    cached = {item.strip().removeprefix("W/") for item in request.headers.get("if-none-match", "").split(",")}
    if tag in cached or "*" in cached:
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type=media_type)


def listen(port: int) -> socket.socket:
    """A listening socket on loopback; port 0 takes any free one. Raises OSError for one that is taken."""
    return socket.create_server((LOOPBACK, port))


@asynccontextmanager
async def serve_wall(listener: socket.socket, svg: Callable[[], Awaitable[bytes | None]]) -> AsyncIterator[str]:
    """Serve the page there while the block runs; its address."""
    server = _Server(
        uvicorn.Config(
            wall_app(svg),
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
    )
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield f"http://{LOOPBACK}:{listener.getsockname()[1]}/"
    finally:
        server.should_exit = True
        await task


class _Server(uvicorn.Server):
    """uvicorn that takes no signals: the wall ends it."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
