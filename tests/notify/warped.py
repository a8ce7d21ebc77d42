"""A receiver of raw HTTP and a notifier with virtual time: an hour passes in seconds (`golden.warp`)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

from golden.player import Clock
from livedeck.client import Outgoing
from livedeck.monitor import Alarm, ConnectionState, ConnectionStatus, Snapshot
from livedeck.notify import Message, Notifier, Plan, Route, Spool, Target, Webhook
from livedeck.notify import Post as Sender
from notify.test_egress import EVERYWHERE


@dataclass(frozen=True)
class Post:
    """Request: its time on the loop, its headers, its body, the status of the reply, and its path."""

    at: float
    headers: Mapping[str, str]
    body: str
    status: int
    path: str = "/"

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
    """Receiver of raw HTTP. `answer`: body -> status and `Retry-After` (or nothing) of the reply.

    `is_hanging`: it reads requests and replies to none.
    """

    answer: Callable[[str], tuple[int, str]] = lambda _: (200, "")
    address: str = ""
    posts: list[Post] = field(default_factory=list)
    is_hanging: bool = False

    def respond(self, path: str, headers: Mapping[str, str], body: str) -> tuple[int, str, str]:
        """Return status, `Retry-After` and body of the answer to a request."""
        del path, headers
        return (*self.answer(body), "")

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer each request until the peer closes the connection."""
        while head := await _until_blank(reader):
            first, *rest = head.decode().splitlines()
            path, lines = first.split()[1], [line.partition(":") for line in rest]
            headers = {name.lower(): value.strip() for name, _, value in lines}
            body = (await reader.readexactly(int(headers["content-length"]))).decode()
            if self.is_hanging:
                self.posts.append(Post(Clock().monotonic(), headers, body, 0, path))
                continue
            status, asked, reply = self.respond(path, headers, body)
            self.posts.append(Post(Clock().monotonic(), headers, body, status, path))
            wait = f"Retry-After: {asked}\r\n" if asked else ""
            writer.write(f"HTTP/1.1 {status} Said\r\n{wait}Content-Length: {len(reply)}\r\n\r\n{reply}".encode())
            await writer.drain()
        writer.close()

    @property
    def taken(self) -> list[str]:
        """Titles of the accepted messages."""
        return [post.title for post in self.posts if post.status == 200]


async def _until_blank(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""


@asynccontextmanager
async def notifying(
    path: Path,
    sinks: Mapping[str, Sink],
    *routes: Route,
    spool: Callable[[Path], Spool] = Spool,
    make: Callable[[Sender, str], Target] = Webhook,
    plan: Plan | None = None,
    link: Callable[[Alarm, str], str] | None = None,
) -> AsyncIterator[Notifier]:
    """Run a notifier with a target for each sink and these routes; by default, with a route to each target.

    `make`: makes a target that sends by a `Post` to an address. `plan`: plan without its routes. `link`: makes links.
    """
    async with Outgoing(egress=EVERYWHERE) as way:
        servers, targets = [], dict[str, Target]()
        for name, sink in sinks.items():
            server = await asyncio.start_server(sink.serve, "127.0.0.1", 0)
            host, port = server.sockets[0].getsockname()
            sink.address = f"http://{host}:{port}/"
            targets[name] = make(way.send, sink.address)
            servers.append(server)
        all_routes = routes or tuple(Route(name, name) for name in sinks)
        whole = replace(plan or Plan(), routes=all_routes)
        notifier = Notifier(whole, targets, spool(path), Clock(), Random(1), link=link)
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
