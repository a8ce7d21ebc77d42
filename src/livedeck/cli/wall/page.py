"""Wall as a web page: its files, updates and posters, and the host names under which it may be read."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from hashlib import blake2b
from importlib.resources import files

from msgspec import json
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from livedeck.cli.exposure import Exposure, OwnName
from livedeck.cli.wall.posters import Posters
from livedeck.http_server import serve_app
from livedeck.ui.wallboard.cache import DrawCache
from livedeck.ui.wallboard.layout import Wall
from livedeck.ui.wallboard.model import WallModel
from livedeck.ui.wallboard.page import Page, Update, page, update_since
from livedeck.ui.wallboard.page_style import page_stylesheet

MAX_VIEWERS = 32
"""Maximum number of browsers that receive updates at a time."""

SILENT_SECONDS = 5.0
"""Seconds without an update until a comment is sent. Sending the comment fails if the browser has left."""

_ASSETS = {
    "": ("index.html", "text/html"),
    "wall.css": ("wall.css", "text/css"),
    "wall.js": ("wall.js", "text/javascript"),
    "icon.svg": ("icon.svg", "image/svg+xml"),
}
"""Path of a request -> file and media type."""


class PagePublisher:
    """Takes the models of the wall. At a browser's request, draws the newest one in a thread, once for all browsers."""

    def __init__(self, wall: Wall) -> None:
        self._wall, self._cache = wall, DrawCache()
        self._published: tuple[int, WallModel | None] = 0, None
        self._made: tuple[int, Page | None] = 0, None
        self._making = asyncio.Lock()
        self._changed, self._is_ended = asyncio.Event(), False

    def publish(self, model: WallModel) -> None:
        """Set the model that the page shows from now on."""
        self._published = self._published[0] + 1, model
        self._wake()

    def end(self) -> None:
        """End all update streams."""
        self._is_ended = True
        self._wake()

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def page(self) -> tuple[int, Page | None]:
        """Return the number and the newest page. The number grows with each page; the page is None before the first."""
        async with self._making:
            number, model = self._published
            if model and self._made[0] != number:
                self._made = number, await asyncio.to_thread(page, model, self._wall, self._cache)
        return self._made

    async def updates(self) -> AsyncGenerator[tuple[int, Update] | None, None]:
        """Yield the newest page with its number, then each change with its page number, until `end` is called.

        Yields None after SILENT_SECONDS without a change. A slow reader skips to the newest page.
        """
        shown: Page | None = None
        while True:
            changed, (number, newest) = self._changed, await self.page()
            if newest is not None and newest is not shown:
                yield number, update_since(shown, newest)
                shown = newest
            if self._is_ended:
                return
            try:
                await asyncio.wait_for(changed.wait(), SILENT_SECONDS)
            except TimeoutError:
                yield None


class WallPages:
    """Responses to requests for the wall. `theme`: colours of the page, unless the browser chooses others."""

    def __init__(self, publisher: PagePublisher, posters: Posters, exposure: Exposure, theme: str) -> None:
        self._publisher, self._posters = publisher, posters
        self._viewers = 0
        assets = files("livedeck.ui.wallboard") / "assets"
        self._files = {path: ((assets / name).read_bytes(), kind) for path, (name, kind) in _ASSETS.items()}
        self._files["colours.css"] = page_stylesheet(theme).encode(), "text/css"
        self._version = _digest(b"".join(content for content, _ in self._files.values()))
        ancestors = " ".join(exposure.frame_ancestors) or "'none'"
        self._headers = {
            "Content-Security-Policy": f"{_POLICY}; frame-ancestors {ancestors}",
            "Cross-Origin-Resource-Policy": "same-origin",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-cache",
        }

    def app(self, exposure: Exposure) -> ASGIApp:
        """Return the read-only app. It refuses foreign host names."""
        routes = [
            *(Route(f"/{path}", self._file) for path in self._files),
            Route("/updates", self._updates),
            Route("/posters/{key}", self._poster),
            Route("/picture/{event_id}/{image}.jpg", self._viewer_picture),
        ]
        advice = "start with --http HOST:PORT, or let the proxy send the address of this server as Host"
        refusal = f"this host name is not allowed; {advice}\n"
        return OwnName(Starlette(routes=routes), exposure, PlainTextResponse(refusal, 400))

    async def _file(self, request: Request) -> Response:
        """Return a file of the page, or 304 if the browser has it already."""
        content, media_type = self._files[request.url.path.rpartition("/")[2]]
        tag = f'"{_digest(content)}"'
        headers = {**self._headers, "ETag": tag}
        cached = {item.strip().removeprefix("W/") for item in request.headers.get("if-none-match", "").split(",")}
        if tag in cached or "*" in cached:
            return Response(status_code=304, headers=headers)
        return Response(content, headers=headers, media_type=media_type)

    async def _updates(self, request: Request) -> Response:
        """Return the stream of updates as server-sent events; 503 if too many browsers read one."""
        headers = {**self._headers, "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        if request.method == "HEAD":
            return Response(headers=headers, media_type="text/event-stream")
        if self._viewers >= MAX_VIEWERS:
            text = f"{MAX_VIEWERS} browsers already show this wall\n"
            return PlainTextResponse(text, 503, {**headers, "Retry-After": "10"})
        return StreamingResponse(self._stream(), headers=headers, media_type="text/event-stream")

    async def _stream(self) -> AsyncGenerator[bytes, None]:
        self._viewers += 1
        try:
            yield b"retry: 2000\n\n"
            async with contextlib.aclosing(self._publisher.updates()) as updates:
                async for numbered in updates:
                    yield self._event(*numbered) if numbered else b": nothing new\n\n"
        finally:
            self._viewers -= 1

    def _event(self, number: int, update: Update) -> bytes:
        """Return an update as a server-sent event. Its id holds the version of the script and the page number."""
        return f"id: {self._version}-{number}\ndata: ".encode() + json.encode(update) + b"\n\n"

    async def _poster(self, request: Request) -> Response:
        """Return the poster of an event on the wall, or 404."""
        key = f"posters/{request.path_params['key']}"
        _, newest = await self._publisher.page()
        link = newest.posters.get(key) if newest else None
        picture = await self._posters.get(key, link) if link else None
        if picture is None:
            return PlainTextResponse("no picture\n", 404, {**self._headers, "Cache-Control": "no-store"})
        headers = {**self._headers, "Cache-Control": "private, max-age=3600"}
        return Response(picture.content, headers=headers, media_type=picture.media_type)

    async def _viewer_picture(self, request: Request) -> Response:
        """Return the picture that viewers of an event on the wall get, or 404."""
        event_id, image = request.path_params["event_id"], request.path_params["image"]
        _, newest = await self._publisher.page()
        is_shown = newest is not None and (event_id, image) in newest.pictures.values()
        content = await self._posters.viewer(event_id, image) if is_shown else None
        if content is None:
            return PlainTextResponse("no picture\n", 404, {**self._headers, "Cache-Control": "no-store"})
        headers = {**self._headers, "Cache-Control": "private, max-age=60"}
        return Response(content, headers=headers, media_type="image/jpeg")


_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'"
)


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=12).hexdigest()


@asynccontextmanager
async def serve_wall(
    listener: socket.socket, publisher: PagePublisher, posters: Posters, exposure: Exposure, *, theme: str = ""
) -> AsyncIterator[str]:
    """Serve the page while the block runs. Yields its address."""
    app = WallPages(publisher, posters, exposure, theme).app(exposure)
    async with serve_app(listener, app, max_connections=4 * MAX_VIEWERS) as address:
        try:
            yield address
        finally:
            publisher.end()
