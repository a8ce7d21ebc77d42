"""Receivers of other make than ours: an HTTP server of the standard library, and an SMTP server of raw sockets."""

from __future__ import annotations

import socketserver
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.message import Message as Mail
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


@dataclass(frozen=True)
class Received:
    """A request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Sink:
    """What came, and what is answered: `status`, headers and body."""

    address: str = ""
    received: list[Received] = field(default_factory=list)
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    answer: bytes = b"thanks"


@contextmanager
def http_sink() -> Iterator[Sink]:
    """One on a free port of loopback."""
    sink = Sink()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length)
            if len(body) < length:  # its sender was killed
                return
            names = {name.lower(): value for name, value in self.headers.items()}
            sink.received.append(Received(self.command, self.path, names, body))
            self.send_response(sink.status)
            for name, value in sink.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(sink.answer)))
            self.end_headers()
            with suppress(BrokenPipeError):
                self.wfile.write(sink.answer)

        do_GET = do_POST = answer  # noqa: N815  the names that http.server calls

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        sink.address = f"http://127.0.0.1:{server.server_port}"
        with _serving(server):
            yield sink


class _Smtp(socketserver.StreamRequestHandler):
    """RFC 5321, as little of it as a sender needs."""

    def handle(self) -> None:
        self.wfile.write(b"220 sink\r\n")
        while line := self.rfile.readline():
            word = line[:4].upper()
            if word == b"DATA":
                self.wfile.write(b"354 go on\r\n")
                lines = iter(self.rfile.readline, b".\r\n")
                self.server.mails.append(BytesParser().parsebytes(b"".join(lines)))  # type: ignore[attr-defined]
            self.wfile.write(b"221 bye\r\n" if word == b"QUIT" else b"250 yes\r\n")
            if word == b"QUIT":
                return


@contextmanager
def smtp_sink() -> Iterator[tuple[int, list[Mail]]]:
    """The port of one on loopback, and the mails that came."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Smtp) as server:
        mails: list[Mail] = []
        server.mails = mails  # type: ignore[attr-defined]
        with _serving(server):
            yield server.server_address[1], mails


@contextmanager
def _serving(server: socketserver.BaseServer) -> Iterator[None]:
    thread = Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
