"""Platform of raw sockets in a thread: each test gives the bytes of the replies."""

from __future__ import annotations

import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from urllib.parse import parse_qs, urlsplit

Body = Callable[[int, int], bytes]
"""Function that returns the body of a list's page.

Its arguments: number of the page, number of earlier requests for it.
"""


def http(body: bytes, status: int = 200, *headers: str) -> bytes:
    """Return a reply that closes the connection."""
    head = (f"HTTP/1.1 {status} So", "Connection: close", f"Content-Length: {len(body)}", *headers, "", "")
    return "\r\n".join(head).encode() + body


class RawPlatform:
    """Platform that replies to any GET with the page of a list from `body`.

    `asked`: path and page of the requests, in order.
    """

    def __init__(self, listener: socket.socket, body: Body) -> None:
        self.address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        self.asked: list[tuple[str, int]] = []
        self._listener, self._body, self._counts = listener, body, Counter[tuple[str, int]]()

    def serve(self) -> None:
        """Answer one connection after the other, until the listener is closed."""
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                with connection, suppress(OSError):
                    self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            if not (part := connection.recv(65536)):
                return
            head += part
        target = urlsplit(head.split(b" ")[1].decode())
        page = int(parse_qs(target.query).get("page", ["1"])[0])
        self.asked.append((target.path, page))
        count = self._counts[target.path, page]
        self._counts[target.path, page] += 1
        connection.sendall(http(self._body(page, count)))


@contextmanager
def raw_platform(body: Body) -> Iterator[RawPlatform]:
    """A platform that listens on a loopback port until the block ends."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        platform = RawPlatform(listener, body)
        thread = threading.Thread(target=platform.serve, daemon=True)
        thread.start()
        yield platform
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
    thread.join()
