"""Malformed requests as bytes on a socket: each gets one whole reply, and no hidden request is ever read.

A refusal has the documented error object.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
import socket
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from http.client import parse_headers
from io import BytesIO

import pytest

from breadth import slow
from livedeck.simulator import Simulator, SimulatorClock, Timeouts, serve

START = datetime(2026, 11, 21, 9, tzinfo=UTC)
SOON = Timeouts(head=0.2, body=0.2, idle=0.2)
SECRET = b"GET /v2/live/events HTTP/1.1\r\nHost: x\r\n\r\n"
"""Smuggled request. A server that reads it as a request replies 401."""

EXPECTING = (
    b"POST /_control/clock HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer CONTROL\r\nExpect: 100-continue\r\n"
    b"Content-Length: 2\r\n\r\n"
)

REQUESTS: dict[str, tuple[bytes, list[int]]] = {
    "length, then chunks": (
        b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + SECRET,
        [400],
    ),
    "chunks, then length": (
        b"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 90\r\n\r\n0\r\n\r\n" + SECRET,
        [400],
    ),
    "two lengths": (b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 9\r\n\r\n" + SECRET, [400]),
    "a list of lengths": (b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 0, 9\r\n\r\n" + SECRET, [400]),
    "a signed length": (b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: +0\r\n\r\n" + SECRET, [400]),
    "a negative length": (b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n" + SECRET, [400]),
    "a length in hexadecimal": (b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 0x0\r\n\r\n" + SECRET, [400]),
    "an unknown coding": (
        b"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + SECRET,
        [400],
    ),
    "a space before the colon": (b"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n" + SECRET, [400]),
    "chunked twice": (
        b"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + SECRET,
        [400],
    ),
    "a chunk of no size": (
        b"POST /v2/live/events HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" + SECRET,
        [400],
    ),
    "a chunk of a huge size": (
        b"POST /v2/live/events HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + b"F" * 21 + b"\r\n",
        [400],
    ),
    "a chunk of a negative size": (
        b"POST /v2/live/events HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n" + SECRET,
        [400],
    ),
    "NUL in the path": (b"GET /\0 HTTP/1.1\r\nHost: x\r\n\r\n" + SECRET, [400]),
    "NUL in a header": (b"GET / HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n" + SECRET, [400]),
    "CR in a header": (b"GET / HTTP/1.1\r\nHost: x\r\nX: a\rb\r\n\r\n" + SECRET, [400]),
    "an escaped NUL": (b"GET /%00 HTTP/1.1\r\nHost: x\r\n\r\n" + SECRET, [404, 401]),
    "two hosts": (b"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n" + SECRET, [400]),
    "no host": (b"GET / HTTP/1.1\r\n\r\n" + SECRET, [400]),
    "a huge header": (b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 70_000, [400]),
    "the absolute form": (
        b"GET http://other.example/v1/meet/rooms?a=b HTTP/1.1\r\nHost: x\r\n\r\n" + SECRET,
        [401, 401],
    ),
    "the absolute form of nothing": (b"GET HTTPS://other.example HTTP/1.1\r\nHost: x\r\n\r\n" + SECRET, [404, 401]),
    "a tunnel": (b"CONNECT other.example:443 HTTP/1.1\r\nHost: x\r\n\r\n", [404]),
    "the asterisk form": (b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n" + SECRET, [404, 401]),
    "an unknown method": (b"PURGE /v2/live/events HTTP/1.1\r\nHost: x\r\n\r\n" + SECRET, [405, 401]),
    "HTTP/1.0": (b"GET /v2/live/events HTTP/1.0\r\n\r\n" + SECRET, [401]),
    "HTTP/1.0 with keep-alive": (b"GET /v2/live/events HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + SECRET, [401]),
    "HTTP/2.0": (b"GET /v2/live/events HTTP/2.0\r\nHost: x\r\n\r\n" + SECRET, [505]),
    "the preface of HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [505]),
    "a handshake of TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(50) + b"\r\n", [400]),
    "an upgrade": (
        b"GET /v2/live/events HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n" + SECRET,
        [401, 401],
    ),
    "a pipeline": (
        b"GET /a HTTP/1.1\r\nHost: x\r\n\r\nPOST /_control/reset HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"
        + SECRET,
        [404, 401, 401],
    ),
    "a body where none is due": (
        b"GET /v2/live/events HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nabcd" + SECRET,
        [401, 401],
    ),
    "an expectation that is refused": (
        b"POST /v2/live/events HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n",
        [401],
    ),
    "an expectation whose body never comes": (EXPECTING, [100, 408]),
    "an expectation whose body comes": (EXPECTING + b"{}", [100, 200]),
    "a token that is no text": (
        b"GET /v2/live/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \xff\xfe\r\n\r\n" + SECRET,
        [401, 401],
    ),
    "the way up": (b"GET /cdn/posters/../../../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n" + SECRET, [404, 401]),
}


class Wire:
    """Simulator on a socket."""

    def __init__(self, simulator: Simulator, port: int) -> None:
        self._control_token, self._port = simulator.control_token.encode(), port

    def ask(self, sent: bytes) -> bytes:
        """Return all bytes received until the server closes."""
        with socket.create_connection(("127.0.0.1", self._port), timeout=30) as connection:
            received = b""
            try:
                connection.sendall(sent.replace(b"CONTROL", self._control_token))
                while part := connection.recv(65_536):
                    received += part
            except ConnectionError:
                pass  # it closed before it had read everything
            return received


def answers_in(received: bytes) -> list[int]:
    """Return the status of each reply, parsed by `http.client`. Checks that refusals are error objects."""
    statuses, stream = list[int](), BytesIO(received)
    while line := stream.readline():
        version, status, _ = line.split(b" ", 2)
        assert version == b"HTTP/1.1"
        length = int(parse_headers(stream).get("content-length", 0))
        body = stream.read(length)
        assert len(body) == length
        statuses.append(int(status))
        if statuses[-1] >= 400:
            error = json.loads(body)["error"]
            assert error["code"] // 1000 == statuses[-1]
            assert error["message"]
    return statuses


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    simulator = Simulator(clock=SimulatorClock(START, paused=True))
    async with serve(simulator, timeouts=SOON) as addresses:
        yield Wire(simulator, int(addresses.base_url.rpartition(":")[2]))
    simulator.close()


@pytest.fixture
def lines(wire: Wire) -> Iterator[list[str]]:  # noqa: ARG001  the lines of its start are its own
    """List that gets the lines of a command's log file: those of the root logger, from INFO on."""
    found: list[str] = []
    root, handler = logging.getLogger(), logging.Handler()
    handler.emit = lambda record: found.append(record.getMessage())  # type: ignore[method-assign]
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    yield found
    root.removeHandler(handler)
    root.setLevel(level)


async def test_every_hostile_request_gets_its_answer_and_no_other_request_is_made_of_it(
    wire: Wire, lines: list[str]
) -> None:
    received = await asyncio.gather(*(asyncio.to_thread(wire.ask, sent) for sent, _ in REQUESTS.values()))
    answers = {name: answers_in(answer) for name, answer in zip(REQUESTS, received, strict=True)}
    assert answers == {name: statuses for name, (_, statuses) in REQUESTS.items()}
    assert lines == [], "strangers must not fill the log"


PIECES = [
    *(b"GET / HTTP/1.1\r\n", b"POST /v2/live/events HTTP/1.1\r\n", b"Host: x\r\n", b"\r\n", b"\n", b"\r", b" ", b"\0"),
    *(
        b"Content-Length: 5\r\n",
        b"Content-Length: 0\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"Expect: 100-continue\r\n",
    ),
    *(b"Authorization: Bearer CONTROL\r\n", b"Authorization: Bearer livedeck-demo\r\n", b"Connection: close\r\n"),
    *(b"0\r\n\r\n", b"5\r\nhello\r\n", b"hello", b"{}", b"\xff\xfe", b": ", b"HTTP/1.0\r\n", b"X: " + b"x" * 70_000),
]


@pytest.mark.parametrize("rounds", [1, *slow(20)])
async def test_whatever_is_put_together_of_such_pieces_is_answered_whole_or_not_at_all(
    wire: Wire, rounds: int, lines: list[str]
) -> None:
    chance = random.Random(7)
    for _ in range(rounds):
        jumbled = [b"".join(chance.choices(PIECES, k=chance.randint(1, 12))) for _ in range(50)]
        begun = [b"".join(PIECES[:3]) + sent for sent in jumbled]
        for received in await asyncio.gather(*(asyncio.to_thread(wire.ask, sent) for sent in [*jumbled, *begun])):
            assert {status for status in answers_in(received) if status >= 500} <= {505}
    assert answers_in(await asyncio.to_thread(wire.ask, SECRET)) == [401]
    assert lines == []
