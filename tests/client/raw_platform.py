"""A platform of raw sockets in threads of its own: each request gets the bytes that a function returns for it."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

Reply = Callable[[str, str], bytes]
"""Bytes of the answer by method and path without the query; empty hangs up. The connection stays open otherwise."""


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    reply: Reply


class _Talk(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        assert isinstance(self.server, _Server)
        with suppress(ConnectionError):
            while request := self.rfile.readline().split():
                size = 0
                while (line := self.rfile.readline().strip()) != b"":
                    name, _, value = line.partition(b":")
                    size = int(value) if name.lower() == b"content-length" else size
                self.rfile.read(size)
                sent = self.server.reply(request[0].decode(), request[1].decode().partition("?")[0])
                if not sent:
                    return
                self.wfile.write(sent)


@contextmanager
def raw_platform(reply: Reply) -> Iterator[str]:
    """Serve these answers. Yields the address."""
    with _Server(("127.0.0.1", 0), _Talk) as server:
        server.reply = reply
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
