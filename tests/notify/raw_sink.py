"""Receiver of raw bytes: a process of the standard library alone, without code of livedeck.

Its argument is JSON: for each socket the host, the port (0: a free one) and its reply to each request, in which `{0}`,
`{1}` are the ports of the sockets. It prints the ports as JSON. For each line on its standard input it prints the
connections and bytes of each socket so far. It ends with its standard input.
"""

from __future__ import annotations

import json
import selectors
import socket
import sys
from functools import partial


class Sink:
    """Listening socket with its connections and received bytes."""

    def __init__(self, selector: selectors.BaseSelector, host: str, port: int, answer: str) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._selector, self.answer = selector, answer
        self._listener = socket.create_server((host, port), family=family)
        self.port = self._listener.getsockname()[1]
        self.connections = self.size = 0
        selector.register(self._listener, selectors.EVENT_READ, self._accept)

    def _accept(self) -> None:
        self.connections += 1
        connection, _ = self._listener.accept()
        self._selector.register(connection, selectors.EVENT_READ, partial(self._receive, connection, bytearray()))

    def _receive(self, connection: socket.socket, received: bytearray) -> None:
        try:
            data = connection.recv(65_536)
        except ConnectionError:
            data = b""
        self.size += len(data)
        received += data
        if not data:
            self._close(connection)
        elif _is_whole(received):
            connection.sendall(self.answer.encode())
            self._close(connection)

    def _close(self, connection: socket.socket) -> None:
        self._selector.unregister(connection)
        connection.close()


def _is_whole(received: bytearray) -> bool:
    """Return whether the bytes are a whole HTTP request, or the first message of a TLS handshake."""
    if received.startswith(b"\x16"):
        return True
    head, end, body = received.partition(b"\r\n\r\n")
    sizes = [line.partition(b":")[2] for line in head.lower().splitlines() if line.startswith(b"content-length:")]
    return bool(end) and len(body) >= int(bytes(sizes[0]) if sizes else 0)


def main() -> None:
    """Serve until standard input ends."""
    selector = selectors.DefaultSelector()
    sinks = [Sink(selector, *wanted) for wanted in json.loads(sys.argv[1])]
    for sink in sinks:
        sink.answer = sink.answer.replace("\n", "\r\n")
        for number, other in enumerate(sinks):
            sink.answer = sink.answer.replace(f"{{{number}}}", str(other.port))
    selector.register(sys.stdin, selectors.EVENT_READ)
    _say([sink.port for sink in sinks])
    while True:
        keys = [key for key, _ in selector.select()]
        for key in keys:
            if key.data:
                key.data()
        if all(key.data is None for key in keys):  # all that has come is counted
            if not sys.stdin.readline():
                return
            _say([[sink.connections, sink.size] for sink in sinks])


def _say(value: object) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
