"""Wall that is served as a page, with models from the test."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from http.client import HTTPConnection, HTTPResponse
from typing import Any

from livedeck.cli.exposure import Exposure
from livedeck.cli.screenshots import EVENING
from livedeck.cli.wall.page import PagePublisher, serve_wall
from livedeck.cli.wall.posters import Fetch, Posters
from livedeck.client import Poster, Secret, Unreachable
from livedeck.monitor import EventState, Snapshot
from livedeck.presentation.render_time import RenderTime
from livedeck.ui.wallboard.layout import Wall
from livedeck.ui.wallboard.model import WallModel, wall_model
from ui.wall_stage import STILL


async def unreachable(_link: Secret | str, _most: int, summary: str) -> bytes:
    """Raise the error of a picture that cannot be fetched."""
    raise Unreachable(f"{summary}: refused", "refused")


def model_of(snapshot: Snapshot, seconds: float = 0.0, fault: str = "") -> WallModel:
    """Return what a wall shows `seconds` after `EVENING`."""
    render_time = RenderTime.from_snapshot(snapshot, EVENING + timedelta(seconds=seconds), watched=not fault)
    return wall_model(snapshot, render_time, fault=fault)


def with_poster(state: EventState, address: str) -> EventState:
    """Return the event with a poster of its own at an address."""
    poster = Poster.model_validate({"id": "p1", "media_id": "m1", "md": address})
    return replace(state, event=state.event.model_copy(update={"poster": poster}))


class Outlet:
    """Page of a wall on a free port, and its replies."""

    def __init__(self, address: str, publisher: PagePublisher) -> None:
        self.address, self.publisher = address, publisher
        self.port = int(address.rstrip("/").rpartition(":")[2])

    async def ask(self, method: str, path: str, **headers: str) -> tuple[HTTPResponse, bytes]:
        """Send one request from another thread; the loop serves it meanwhile."""
        return await asyncio.to_thread(self._ask, method, path, headers)

    def _ask(self, method: str, path: str, headers: dict[str, str]) -> tuple[HTTPResponse, bytes]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer, body

    @asynccontextmanager
    async def updates(self) -> AsyncIterator[AsyncGenerator[bytes, None]]:
        """Yield the server-sent events as bytes, one after another, after the head of the reply."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(f"GET /updates HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n\r\n".encode())

        async def blocks() -> AsyncGenerator[bytes, None]:
            yield await reader.readuntil(b"\r\n\r\n")
            while True:
                size = int(await reader.readuntil(b"\r\n"), 16)
                yield await reader.readexactly(size)
                await reader.readexactly(2)

        received = blocks()
        try:
            async with asyncio.timeout(30):
                yield received
        finally:
            await received.aclose()
            writer.close()


@asynccontextmanager
async def served(
    *models: WallModel,
    fetch: Fetch = unreachable,
    exposure: Exposure | None = None,
    wall: Wall = STILL,
    viewer_picture: Callable[[str], Awaitable[bytes]] | None = None,
) -> AsyncIterator[Outlet]:
    """Yield a wall that shows the last of these models. `fetch`, `viewer_picture`: sources of posters and pictures."""
    exposure = exposure or Exposure(0)
    publisher = PagePublisher(wall)
    for model in models:
        publisher.publish(model)
    with exposure.listen() as listener:
        posters = Posters(fetch, asyncio.get_running_loop().time, viewer_picture)
        async with serve_wall(listener, publisher, posters, exposure, theme="dark") as address:
            yield Outlet(address, publisher)


def data_of(block: bytes) -> dict[str, Any]:
    """Return the data of a server-sent event, by the rules of its format alone."""
    text = block.decode()
    assert text.endswith("\n\n")
    fields = dict(line.split(": ", 1) for line in text.rstrip("\n").split("\n"))
    assert set(fields) == {"id", "data"}
    data: dict[str, Any] = json.loads(fields["data"])
    return data
