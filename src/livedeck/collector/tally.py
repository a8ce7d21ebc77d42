"""Sender of tally messages to multiviewers and switchers (tally.md).

A receiver keeps the last message of a display. So the sender repeats each display every few seconds, and sends an event
without fresh data as unknown. When it ends, it sends every display as unknown.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Literal

from livedeck.egress import Egress
from livedeck.monitor import Clock, Snapshot
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.tally import Display, Version, displays, framed, message
from livedeck.record import Record
from livedeck.text.secrets import masked_line

TICK_SECONDS = 1.0
"""Seconds between two checks of the snapshot for changed displays."""

REPEAT_SECONDS = 5.0
"""Seconds after which a display is sent again although nothing has changed."""

RETRY_SECONDS = 10.0
"""Seconds from a failure to the next try."""

IO_SECONDS = 3.0
"""Maximum seconds to find an address, to connect, and to write."""

Transport = Literal["udp", "tcp"]


class Receiver(Record):
    """Receiver of tally messages.

    `numbers`: event id -> number of its display. `screen`: number of the receiver's screen (version 5.0).
    """

    name: str
    host: str
    port: int
    version: Version
    transport: Transport
    screen: int
    numbers: Mapping[str, int]


class TallySender:
    """Sends the displays of one receiver.

    `published`: returns the newest snapshot, or None. `report`: takes a line when sending begins to fail or works
    again.
    """

    def __init__(
        self,
        receiver: Receiver,
        egress: Egress,
        published: Callable[[], Snapshot | None],
        clock: Clock,
        report: Callable[[str], object],
    ) -> None:
        self._receiver, self._egress, self._published, self._clock = receiver, egress, published, clock
        self._report, self._fault = report, ""
        self._connection: _Udp | _Tcp | None = None
        self._sent: dict[int, tuple[Display, float]] = {}

    async def run(self) -> None:
        """Send until cancelled; then send every display as unknown."""
        try:
            while True:
                await self._clock.sleep(TICK_SECONDS if await self._try() else RETRY_SECONDS)
        finally:
            if self._connection:
                unknown = displays(self._receiver.numbers, self._published(), None)
                with suppress(OSError):
                    await self._connection.write([self._bytes(display) for display in unknown])
                self._connection.close()

    async def _try(self) -> bool:
        """Send the new, changed and repeated displays. Returns False after a failure."""
        is_new = self._connection is None
        try:
            await self._send()
        except OSError as error:
            if self._connection:
                self._connection.close()
            self._connection, self._sent = None, {}
            why = f"no reply in {IO_SECONDS:g} s" if isinstance(error, TimeoutError) else error.strerror or error
            self._note(masked_line(why, 200))
            return False
        if not is_new:  # a datagram is refused after it was sent
            self._note("")
        return True

    async def _send(self) -> None:
        """Send the new and changed displays, and those last sent `REPEAT_SECONDS` ago. Raises OSError."""
        if self._connection is None:
            self._connection = await self._open()
        snapshot, now = self._published(), self._clock.monotonic()
        render_time = RenderTime.from_snapshot(snapshot, self._clock.now()) if snapshot else None
        due = [
            display
            for display in displays(self._receiver.numbers, snapshot, render_time)
            if (sent := self._sent.get(display.number)) is None or sent[0] != display or now - sent[1] >= REPEAT_SECONDS
        ]
        await self._connection.write([self._bytes(display) for display in due])
        self._sent |= {display.number: (display, now) for display in due}

    def _bytes(self, display: Display) -> bytes:
        return message(display, self._receiver.version, self._receiver.screen)

    async def _open(self) -> _Udp | _Tcp:
        """Connect to the receiver, at an address that the rule for private networks allows. Raises OSError."""
        host, port = self._receiver.host, self._receiver.port
        kind = socket.SOCK_DGRAM if self._receiver.transport == "udp" else socket.SOCK_STREAM
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(IO_SECONDS):
            family, _, _, _, address = (await loop.getaddrinfo(host, port, type=kind))[0]
            if refusal := self._egress.refusal(host, str(address[0])):
                raise OSError(refusal)
            if kind is socket.SOCK_STREAM:
                return _Tcp(*await asyncio.open_connection(str(address[0]), port, family=family))
            transport, errors = await loop.create_datagram_endpoint(
                _Errors, remote_addr=(str(address[0]), port), family=family
            )
            return _Udp(transport, errors)

    def _note(self, fault: str) -> None:
        """Report the first failure and the first success after it."""
        was_failing, self._fault = self._fault, fault
        if fault and not was_failing:
            self._report(f"tally {self._receiver.name}: {fault}")
        elif was_failing and not fault:
            self._report(f"tally {self._receiver.name}: sends again")


class _Tcp:
    """Messages in a TCP connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def write(self, messages: list[bytes]) -> None:
        """Write messages. Raises OSError if the receiver has closed, or does not take them in time."""
        if self._reader.at_eof():
            raise ConnectionError("the receiver closed the connection")
        self._writer.write(b"".join(map(framed, messages)))
        async with asyncio.timeout(IO_SECONDS):
            await self._writer.drain()

    def close(self) -> None:
        """Close the connection; unsent bytes are sent if the receiver takes them."""
        self._writer.close()


class _Errors(asyncio.DatagramProtocol):
    """Refusals of datagrams. `last`: the newest refusal, or None."""

    last: Exception | None = None

    def error_received(self, exc: Exception) -> None:
        self.last = exc


class _Udp:
    """Messages as datagrams. The next write reports a refused datagram."""

    def __init__(self, transport: asyncio.DatagramTransport, errors: _Errors) -> None:
        self._transport, self._errors = transport, errors

    async def write(self, messages: list[bytes]) -> None:
        """Send messages. Raises OSError if the receiver refused an earlier message."""
        if self._errors.last:
            raise self._errors.last
        for content in messages:
            self._transport.sendto(content)

    def close(self) -> None:
        """Close the socket."""
        self._transport.close()
