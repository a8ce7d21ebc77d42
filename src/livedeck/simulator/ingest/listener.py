"""RTMP server in the caller's event loop: sockets, time limits and read limits of publishers."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import cast

from livedeck.simulator.errors import IngestError
from livedeck.simulator.ingest.errors import ProtocolError
from livedeck.simulator.ingest.meter import AHEAD
from livedeck.simulator.ingest.publishers import Publisher, Publishers, RefusedError
from livedeck.simulator.ingest.session import APPLICATION, Ended, Media, Publish, Reply, Session

MAX_CONNECTIONS = 64
HANDSHAKE_SECONDS, PUBLISH_SECONDS = 5.0, 10.0
"""Seconds from the connection to the end of the handshake, and to a publication."""

PEER_BITS, ALL_BITS = 60_000_000, 200_000_000
"""Maximum bits a second of a connection, and of all together. A faster one is read with a delay."""

MAX_REFUSALS, REFUSAL_SECONDS = 20, 60.0
"""Maximum number of refusals with a reply to a peer in that time. Further connections are closed without a reply."""

_MAX_PEERS = 1000
"""Maximum number of peers whose refusals the listener counts."""

_log = logging.getLogger("livedeck.simulator")


@asynccontextmanager
async def listen(publishers: Publishers, host: str, port: int) -> AsyncIterator[str]:
    """Receive encoders while the block runs, and yield the address before the stream key. Port 0: any free port.

    Raises IngestError if the address is in use.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        bound = socket.create_server((host, port), family=family)
    except OSError as error:
        reason = (error.strerror or "unknown reason").partition(" (")[0]  # the address is named already
        raise IngestError(f"cannot take RTMP at {host} port {port}: {reason}. Choose another port.") from error
    listener = _Listener(publishers)
    server = await asyncio.get_running_loop().create_server(lambda: _Connection(listener), sock=bound)
    beat = asyncio.create_task(listener.beat())
    shown, port = bound.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(shown, shown)  # noqa: S104  encoders cannot reach the wildcard
    address = f"rtmp://[{shown}]:{port}/{APPLICATION}" if ":" in shown else f"rtmp://{shown}:{port}/{APPLICATION}"
    publishers.open(address)
    try:
        yield address
    finally:
        publishers.open(None)
        beat.cancel()
        server.close()
        publishers.close()
        listener.abort()
        with suppress(asyncio.CancelledError):
            await beat
        await asyncio.sleep(0)  # the loop closes the aborted sockets in its next pass


class _Listener:
    """Connections and their shared state."""

    def __init__(self, publishers: Publishers) -> None:
        self.publishers = publishers
        self.connections = set[_Connection]()
        self.received = 0
        self._refusals: dict[str, deque[float]] = {}

    async def beat(self) -> None:
        """Measure the publishers at each multiple of the cadence."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(self.publishers.seconds_to_beat())
            self.received = 0
            for connection in self.connections:
                connection.received = 0
            self.publishers.beat(loop.time())

    def budget(self, bits: int) -> float:
        """Return the number of bytes of one beat at the rate `bits` (bit/s)."""
        return bits / 8 * self.publishers.cadence

    def may_reply(self, host: str, now: float) -> bool:
        """Record a refusal. Returns False if the peer has reached its limit of replies."""
        if host not in self._refusals and len(self._refusals) >= _MAX_PEERS:
            self._refusals.pop(next(iter(self._refusals)))
        times = self._refusals.setdefault(host, deque(maxlen=MAX_REFUSALS))
        if len(times) == MAX_REFUSALS and now - times[0] < REFUSAL_SECONDS:
            return False
        times.append(now)
        return True

    def abort(self) -> None:
        """Cut every connection."""
        for connection in self.connections:
            connection.transport.abort()


class _Connection(asyncio.Protocol):
    """Connection of an encoder."""

    transport: asyncio.Transport

    def __init__(self, listener: _Listener) -> None:
        self.received = 0
        self._listener = listener
        self._loop = asyncio.get_running_loop()
        self._session = Session()
        self._publisher: Publisher | None = None
        self._timers: list[asyncio.TimerHandle] = []
        self._host = self._peer = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        if len(self._listener.connections) >= MAX_CONNECTIONS:
            self.transport.abort()
            return
        self._listener.connections.add(self)
        self._host, port = (transport.get_extra_info("peername") or ("unknown", 0))[:2]
        self._peer = f"[{self._host}]:{port}" if ":" in self._host else f"{self._host}:{port}"
        self._timers = [
            self._loop.call_later(HANDSHAKE_SECONDS, self._end_unless, lambda: self._session.is_greeted),
            self._loop.call_later(PUBLISH_SECONDS, self._end_unless, lambda: self._publisher is not None),
        ]

    def data_received(self, data: bytes) -> None:
        now = self._loop.time()
        self.received += len(data)
        self._listener.received += len(data)
        if self._publisher is not None:
            self._publisher.meter.arrive(now, is_within_message=self._session.is_within_message)
            if (reason := self._listener.publishers.objection(self._publisher)) is not None:
                self._cut(reason)
        try:
            for event in self._session.feed(data):
                if self.transport.is_closing():
                    return
                self._take(event, now)
        except ProtocolError as error:
            _log.debug("a connection to the ingest was closed: %s", error)
            self.transport.close()
            return
        self._pause_if_needed(now)

    def _take(self, event: Reply | Publish | Media | Ended, now: float) -> None:
        match event:
            case Media():
                if self._publisher is not None:
                    self._publisher.meter.add(event, now)
            case Reply():
                self.transport.write(event.data)
            case Publish():
                self._publish(event.key, now)
            case Ended():
                self.transport.close()

    def _publish(self, key: str, now: float) -> None:
        try:
            self._publisher = self._listener.publishers.publish(key, self._peer, self._cut, now)
        except RefusedError as error:
            if self._listener.may_reply(self._host, now):
                _log.info("a publisher from %s was refused: %s", self._host, error)
                self.transport.write(self._session.refuse(str(error)).data)
            self.transport.close()
        else:
            self.transport.write(self._session.accept().data)

    def _cut(self, reason: str) -> None:
        """Close the connection of a publisher. Send the reason first, because some encoders show it."""
        _log.info("a publisher from %s was cut: %s", self._host, reason)
        if not self.transport.is_closing():
            self.transport.write(self._session.refuse(reason).data)
            self.transport.close()

    def _pause_if_needed(self, now: float) -> None:
        """Pause reading while media is over `AHEAD` seconds ahead of the wall clock.

        Pause until the next beat if this peer, or all peers together, exceed their bits a second.
        """
        listener = self._listener
        delay = 0.0 if self._publisher is None else self._publisher.meter.ahead(now) - AHEAD
        if self.received > listener.budget(PEER_BITS) or listener.received > listener.budget(ALL_BITS):
            delay = max(delay, listener.publishers.seconds_to_beat())
        if delay > 0 and self.transport.is_reading():
            self.transport.pause_reading()
            self._timers.append(self._loop.call_later(delay, self._resume))

    def _resume(self) -> None:
        self._timers = [timer for timer in self._timers if timer.when() > self._loop.time()]
        if not self.transport.is_closing():
            self.transport.resume_reading()

    def _end_unless(self, has_happened: Callable[[], bool]) -> None:
        if not has_happened():
            self.transport.abort()

    def connection_lost(self, _: Exception | None) -> None:
        self._listener.connections.discard(self)
        for timer in self._timers:
            timer.cancel()
        if self._publisher is not None:
            self._listener.publishers.end(self._publisher)
