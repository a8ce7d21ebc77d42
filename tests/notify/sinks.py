"""Receivers of other makers: an HTTP server of the standard library, and the SMTP server of aiosmtpd."""

from __future__ import annotations

import asyncio
import socket
import socketserver
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage as Mail
from email.policy import default
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import SimpleQueue
from ssl import SSLContext
from threading import Event, Thread

from aiosmtpd.smtp import SMTP, Envelope, Session

from livedeck.egress import Egress

LOOPBACK = Egress.of(["127.0.0.1", "::1"])
"""Settings that allow receivers on this machine."""


@dataclass(frozen=True)
class Received:
    """Received request."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Sink:
    """Received requests, and the reply to each: `status`, headers and body."""

    address: str = ""
    received: list[Received] = field(default_factory=list)
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    answer: bytes = b"thanks"
    came: Event = field(default_factory=Event)


@contextmanager
def http_sink(host: str = "127.0.0.1", tls: SSLContext | None = None) -> Iterator[Sink]:
    """Yield a receiver on a free port of loopback, behind TLS if a context is given."""
    sink = Sink()

    class Server(ThreadingHTTPServer):
        address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length)
            if len(body) < length:  # its sender was killed
                return
            names = {name.lower(): value for name, value in self.headers.items()}
            sink.received.append(Received(self.command, self.path, names, body))
            sink.came.set()
            self.send_response(sink.status)
            for name, value in sink.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(sink.answer)))
            self.end_headers()
            with suppress(BrokenPipeError):
                self.wfile.write(sink.answer)

        do_GET = do_POST = answer  # noqa: N815  the names that http.server calls

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    with Server((host, 0), Handler) as server:
        if tls:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        name = f"[{host}]" if ":" in host else host
        sink.address = f"{'https' if tls else 'http'}://{name}:{server.server_port}"
        with _serving(server):
            yield sink


@dataclass
class Mailbox:
    """Mail server: received mails with their readers, and its next replies to a reader and at the end of a mail.

    Without a next reply, it accepts.
    """

    port: int = 0
    mails: list[Mail] = field(default_factory=list)
    readers: list[list[str]] = field(default_factory=list)
    to_readers: list[str] = field(default_factory=list)
    to_mails: list[str] = field(default_factory=list)

    async def handle_RCPT(  # noqa: N802  the name that aiosmtpd calls
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        """Reply to the name of a reader."""
        envelope.rcpt_tos.append(address)
        return self.to_readers.pop(0) if self.to_readers else "250 yes"

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802
        """Reply at the end of a mail."""
        if self.to_mails:
            return self.to_mails.pop(0)
        self.mails.append(message_from_bytes(envelope.original_content or b"", policy=default))
        self.readers.append([*envelope.rcpt_tos])
        return "250 yes"


@contextmanager
def smtp_sink(port: int = 0) -> Iterator[Mailbox]:
    """Yield a server of aiosmtpd on a port of loopback; 0: a free port."""
    box, begun = Mailbox(), SimpleQueue[tuple[int, Callable[[], object]]]()

    async def serve() -> None:
        loop, ending = asyncio.get_running_loop(), asyncio.Event()
        server = await loop.create_server(lambda: SMTP(box, hostname="sink", loop=loop), "127.0.0.1", port)
        begun.put((server.sockets[0].getsockname()[1], partial(loop.call_soon_threadsafe, ending.set)))
        async with server:
            await ending.wait()

    thread = Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    box.port, end = begun.get(timeout=10)
    try:
        yield box
    finally:
        end()
        thread.join()


@contextmanager
def _serving(server: socketserver.BaseServer) -> Iterator[None]:
    thread = Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
