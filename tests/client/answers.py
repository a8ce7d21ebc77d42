"""Small platforms for the tests of the client: ASGI apps in process, or raw bytes on a loopback socket."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from livedeck.client import Api
from livedeck.client.http.transport import TransportFactory

TOKEN = "token-of-the-workspace-5a1e"  # made up, and searched for in every text the client makes
EMPTY_LIST = b'HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{"data":[]}'


class Platform:
    """ASGI app that sends the result of `reply(path, query)`: status, body, headers."""

    def __init__(self, reply: Callable[[str, str], tuple[int, bytes, Mapping[str, str]]]) -> None:
        self.reply = reply
        self.requests: list[dict[str, Any]] = []

    async def __call__(self, scope: Any, _receive: Any, send: Any) -> None:
        self.requests.append(dict(scope))
        status, body, headers = self.reply(scope["path"], scope["query_string"].decode())
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": status, "headers": raw})
        await send({"type": "http.response.body", "body": body})


def saying(body: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Platform:
    """Return a platform that always sends the same reply. Bytes are sent unchanged, anything else as JSON."""
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Platform(lambda _path, _query: (status, sent, headers or {}))


def api_of(mount: TransportFactory, **options: Any) -> Api:
    """Return an Api that calls the app in process, and tries each read once."""
    return Api(
        base_url="http://127.0.0.1:8787", token=TOKEN, mount=mount, **({"retry": 0.0, "timeout": 60.0} | options)
    )


@asynccontextmanager
async def listening(*answers: bytes | None) -> AsyncIterator[tuple[str, list[bytes]]]:
    """Yield the address of a loopback socket, and the heads of the requests that it gets.

    Each connection gets the next of `answers`, and further ones the last. The socket hangs up after an answer; for None
    it never sends one.
    """
    heads: list[bytes] = []
    left = list(answers)
    talks: set[asyncio.Task[None] | None] = set()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talks.add(asyncio.current_task())
        with suppress(ConnectionError):
            heads.append(await reader.read(65_536))
            answer = left.pop(0) if len(left) > 1 else left[0]
            await (reader.read() if answer is None else _say(writer, answer))
        with suppress(ConnectionError):
            writer.close()
            await writer.wait_closed()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}", heads
    await asyncio.gather(*(talk for talk in talks if talk))


async def _say(writer: asyncio.StreamWriter, answer: bytes) -> None:
    writer.write(answer)
    await writer.drain()


class Recorder(Platform):
    """Platform that always sends the same reply and stores the requests.

    `chunks`: sizes of the pieces of a request body.
    """

    def __init__(self, body: object, status: int = 200) -> None:
        super().__init__(saying(body, status).reply)
        self.bodies: list[bytes] = []
        self.chunks: list[int] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            self.chunks.append(len(message.get("body", b"")))
            more = message.get("more_body", False)
        self.bodies.append(body)
        await super().__call__(scope, receive, send)

    def header(self, name: str) -> str | None:
        """Return a header of the last request."""
        return dict(self.requests[-1]["headers"]).get(name.encode(), b"").decode() or None
