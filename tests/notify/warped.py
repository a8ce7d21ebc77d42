"""A receiver of raw HTTP and a notifier with virtual time: an hour passes in seconds (`golden.warp`)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from golden.player import Clock
from livedeck.client import Outgoing
from livedeck.monitor import Alarm, ConnectionState, ConnectionStatus, Snapshot
from livedeck.notify import Message, Notifier, Plan, Route, Spool, Target, Webhook
from notify.test_egress import EVERYWHERE


@dataclass(frozen=True)
class Post:
    """A request: when it came by the loop, its headers, its body, and the status of the answer."""

    at: float
    headers: Mapping[str, str]
    body: str
    status: int

    @property
    def json(self) -> dict[str, Any]:
        """The body as JSON; empty if it is plain text."""
        is_json = self.headers["content-type"] == "application/json"
        return dict(json.loads(self.body)) if is_json else {}

    @property
    def title(self) -> str:
        """The title of the message."""
        return str(self.json["title"]) if self.json else self.body.partition("\n")[0]


@dataclass
class Sink:
    """A receiver of raw HTTP. `answer`: returns status and `Retry-After` (or nothing) of the answer to a body."""

    answer: Callable[[str], tuple[int, str]] = lambda _: (200, "")
    address: str = ""
    posts: list[Post] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer each request until the peer closes the connection."""
        while head := await _until_blank(reader):
            lines = [line.partition(":") for line in head.decode().splitlines()[1:]]
            headers = {name.lower(): value.strip() for name, _, value in lines}
            body = (await reader.readexactly(int(headers["content-length"]))).decode()
            status, asked = self.answer(body)
            self.posts.append(Post(Clock().monotonic(), headers, body, status))
            wait = f"Retry-After: {asked}\r\n" if asked else ""
            writer.write(f"HTTP/1.1 {status} Said\r\n{wait}Content-Length: 0\r\n\r\n".encode())
            await writer.drain()
        writer.close()

    @property
    def taken(self) -> list[str]:
        """The titles of the messages that it took."""
        return [post.title for post in self.posts if post.status == 200]


async def _until_blank(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""


@asynccontextmanager
async def notifying(
    path: Path, sinks: Mapping[str, Sink], *routes: Route, spool: Callable[[Path], Spool] = Spool
) -> AsyncIterator[Notifier]:
    """Run a notifier with a target for each sink, and a route to each unless there are others."""
    async with Outgoing(egress=EVERYWHERE) as way:
        servers, targets = [], dict[str, Target]()
        for name, sink in sinks.items():
            server = await asyncio.start_server(sink.serve, "127.0.0.1", 0)
            host, port = server.sockets[0].getsockname()
            sink.address = f"http://{host}:{port}/"
            targets[name] = Webhook(way.send, sink.address)
            servers.append(server)
        plan = Plan(routes or tuple(Route(name, name) for name in sinks))
        notifier = Notifier(plan, targets, spool(path), Clock(), Random(1))
        await notifier.open()
        sending = asyncio.create_task(notifier.run())
        try:
            yield notifier
        finally:
            sending.cancel()
            await notifier.close()
            for server in servers:
                server.close()


async def watch(notifier: Notifier, alarms: Mapping[Any, Alarm], seconds: int) -> list[Message]:
    """Let the notifier look at these alarms each second, and return its messages."""
    made = list[Message]()
    for _ in range(seconds):
        now = Clock().now()
        link = ConnectionStatus(ConnectionState.OK, now, as_of=now)
        made += await notifier.take(Snapshot(1, now, link, alarms=tuple(alarms.values())))
        await asyncio.sleep(1)
    return made
