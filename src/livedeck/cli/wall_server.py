"""The wall as a page on loopback: it looks for a new picture every second, and says so when none comes."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from hashlib import blake2b, sha256

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

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


def _hashed(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


_POLICY = (
    f"default-src 'none'; script-src {_hashed(_SCRIPT)}; style-src {_hashed(_STYLE)}; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def page(svg: Callable[[], Awaitable[bytes | None]]) -> Starlette:
    """The app: `/` and `/wall.svg`, to be read and nothing else, and under no other name than this machine's."""

    async def whole(request: Request) -> Response:
        return _tagged(request, PAGE.encode(), "text/html; charset=utf-8")

    async def picture(request: Request) -> Response:
        drawn = await svg()
        if drawn is None:
            return Response("no picture yet\n", 503, {**_HEADERS, "Retry-After": "1"}, "text/plain")
        return _tagged(request, drawn, "image/svg+xml")

    names = TrustedHostMiddleware
    return Starlette(
        routes=[Route("/", whole), Route("/wall.svg", picture)],
        middleware=[Middleware(names, allowed_hosts=[LOOPBACK, "localhost"])],  # no foreign name may point here
    )


def _tagged(request: Request, content: bytes, kind: str) -> Response:
    """The content, or 304 to whoever has it already."""
    tag = f'"{blake2b(content, digest_size=12).hexdigest()}"'
    headers = {**_HEADERS, "ETag": tag}
    known = {one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")}
    if tag in known or "*" in known:
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type=kind)


def bound(port: int) -> socket.socket:
    """A listener on loopback; port 0 takes any free one. Raises OSError for one that is taken."""
    return socket.create_server((LOOPBACK, port))


@asynccontextmanager
async def shown_at(listener: socket.socket, svg: Callable[[], Awaitable[bytes | None]]) -> AsyncIterator[str]:
    """Serve the page there while the block runs; its address."""
    server = _Server(
        uvicorn.Config(
            page(svg),
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


# Without a handler of its own a library's warnings go to stderr, into the middle of a full-screen terminal.
logging.getLogger("uvicorn").addHandler(logging.NullHandler())


class _Server(uvicorn.Server):
    """uvicorn that takes no signals: the wall ends it."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
