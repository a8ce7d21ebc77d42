"""Troubles between a deck and its platform, on real sockets: each begins at a moment, and may end at another."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections import deque
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from enum import StrEnum
from math import inf
from pathlib import Path
from random import Random
from typing import Any

from golden.warp import Warp
from monitor.wire import PORTAL, Platform

LOGIN = b'{"login": "https://gateway.example/login"}'


class Trouble(StrEnum):
    """Kind of trouble. The values name tests."""

    NAME = "the name has no address"
    REFUSED = "nothing listens at the port"
    DROPPED = "packets to the port vanish"
    CERTIFICATE = "another certificate is shown"
    HANDSHAKE = "TLS never begins"
    STATUS = "503 as the API says it"
    GATEWAY = "503 as a gateway says it"
    PAGE = "200 with a page"
    SHAPE = "200 with JSON of another shape"
    REDIRECT = "a redirect to a login"
    PACE = "429 for every call"
    PACE_AFTER = "429 for every call, with Retry-After"
    SILENCE = "calls are taken and not answered"


TLS_TROUBLES = frozenset({Trouble.CERTIFICATE, Trouble.HANDSHAKE})


class Names(Warp):
    """Event loop whose resolver can be made to know no name."""

    knows_names = True

    async def getaddrinfo(self, *arguments: Any, **options: Any) -> Any:
        """Ask the system, or fail like the system for a name that does not exist."""
        if not self.knows_names:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return await super().getaddrinfo(*arguments, **options)


class TroubledPlatform(Platform):
    """Platform behind a port that may be refused, silent, or taken over by another server.

    `refused`: share of calls with the reply 429; `retry_after`: its Retry-After; `most`: calls a second, over ten
    seconds, above which calls get 429. `failed`: share of calls that fail like the trouble `failing`. `well`, `wrong`:
    TLS of the platform, and of the server in its place.
    """

    def __init__(
        self, *events: dict[str, Any], well: ssl.SSLContext | None = None, wrong: ssl.SSLContext | None = None
    ) -> None:
        super().__init__(*events)
        self.trouble: Trouble | None = None
        self.refused, self.retry_after = 0.0, ""
        self.most = inf
        self.failed, self.failing = 0.0, Trouble.STATUS
        self.refused_at: list[float] = []
        self._taken = deque[float]()
        self._chance = Random(7)
        self._well, self._wrong, self._port = well, wrong, 0
        self._stack = AsyncExitStack()

    @asynccontextmanager
    async def serve(self) -> AsyncIterator[str]:
        """Yield the platform's address, with a host name."""
        try:
            await self._listen(self._well)
            yield f"{'https' if self._well else 'http'}://localhost:{self._port}"
        finally:
            await self._hang_up()

    async def begin(self, trouble: Trouble) -> None:
        """Begin a trouble: open connections break."""
        await self._hang_up()
        self.trouble = trouble
        loop = asyncio.get_running_loop()
        if trouble is Trouble.NAME:
            assert isinstance(loop, Names)
            loop.knows_names = False
        elif trouble is Trouble.DROPPED:
            await self._drop()
        elif trouble is not Trouble.REFUSED:
            tls = {Trouble.CERTIFICATE: self._wrong, Trouble.HANDSHAKE: None}.get(trouble, self._well)
            await self._listen(tls)

    async def end(self) -> None:
        """End the trouble."""
        await self._hang_up()
        self.trouble = None
        loop = asyncio.get_running_loop()
        if isinstance(loop, Names):
            loop.knows_names = True
        await self._listen(self._well)

    async def _listen(self, tls: ssl.SSLContext | None) -> None:
        server = await asyncio.start_server(self._connected, "127.0.0.1", self._port, ssl=tls, reuse_address=True)
        self._port = server.sockets[0].getsockname()[1]
        self._stack.callback(server.close)

    async def _drop(self) -> None:
        """Fill the queue of a port without a server, so that the kernel drops further connections."""
        listening = self._stack.enter_context(socket.socket())
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", self._port))
        listening.listen(0)
        for _ in range(4):
            filler = self._stack.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex(("127.0.0.1", self._port))

    async def _hang_up(self) -> None:
        await self._stack.aclose()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _respond(self, target: bytes, writer: asyncio.StreamWriter) -> bool:
        answer = _ANSWERS.get(self.trouble) if self.trouble else None
        if self.trouble in {Trouble.SILENCE, Trouble.HANDSHAKE}:
            await asyncio.Event().wait()
        if self._chance.random() < self.failed:
            answer = _ANSWERS[self.failing]
        if self._chance.random() < self.refused or not self._takes():
            self.refused_at.append(self.true_clock.monotonic())
            answer = _refusal(self.retry_after)
        if answer is None:
            return await super()._respond(target, writer)
        writer.write(answer)
        await writer.drain()
        return True

    @property
    def refusals(self) -> int:
        """Number of calls that were answered 429."""
        return len(self.refused_at)

    def _takes(self) -> bool:
        now, window = self.true_clock.monotonic(), 10.0
        while self._taken and self._taken[0] < now - window:
            self._taken.popleft()
        if len(self._taken) >= self.most * window:
            return False
        self._taken.append(now)
        return True


def _answer(status: str, media_type: str, body: bytes, *more: str) -> bytes:
    head = [f"HTTP/1.1 {status}", f"Content-Type: {media_type}", f"Content-Length: {len(body)}", *more]
    return "\r\n".join([*head, "", ""]).encode() + body


def _error(status: int, words: str, *more: str) -> bytes:
    body = b'{"error": {"code": %d, "message": "%s"}}' % (status * 1001, words.encode())
    return _answer(f"{status} {words}", "application/json", body, *more)


def _refusal(retry_after: str = "") -> bytes:
    return _error(429, "too many requests", *([f"Retry-After: {retry_after}"] if retry_after else []))


_ANSWERS = {
    Trouble.STATUS: _error(503, "maintenance"),
    Trouble.GATEWAY: _answer("503 Service Unavailable", "text/html", b"<h1>503 Service Unavailable</h1>"),
    Trouble.PAGE: _answer("200 OK", "text/html", PORTAL),
    Trouble.SHAPE: _answer("200 OK", "application/json", LOGIN),
    Trouble.REDIRECT: _answer("302 Found", "text/html", b"", "Location: http://login.example.com/"),
    Trouble.PACE: _refusal(),
    Trouble.PACE_AFTER: _refusal("20"),
}


def contexts(folder: Path) -> tuple[Path, ssl.SSLContext, ssl.SSLContext]:
    """Return the authority that a deck trusts, TLS that it signed, and TLS that it did not sign."""
    from client.certificates import make_certificates, server_context

    for name in ("well", "wrong"):
        (folder / name).mkdir()
    well = make_certificates(folder / "well")
    return well.authority, server_context(well), server_context(make_certificates(folder / "wrong"))
