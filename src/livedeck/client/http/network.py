"""TCP and TLS connections for httpcore, over asyncio's own transports.

httpcore's own streams do not read while they write. So they lose a reply that comes while a body is sent (413, 401), if
the platform then closes the connection. The streams of this module always read, so an upload ends when it is refused.
They also see which bytes belong to which request, so bytes without a request never count as a reply.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from ipaddress import ip_address
from socket import AI_NUMERICHOST, SOCK_STREAM, socket
from typing import Any

import httpcore

from livedeck.client.http.reach import allowed_addresses

_MAX_BUFFERED = 512 * 2**10

_READ_SIZE = 64 * 2**10

_STAGGER = 0.25
"""Seconds between the tries of two addresses of the same host."""

_MAX_CONTINUE_WAIT = 1.0
"""Maximum seconds that a body waits for `100 Continue`; some platforms never send it."""

_MAX_INTERIM = 100
"""Maximum number of interim responses (`1xx`) to one request; usual platforms send one every few seconds at most."""

_INTERIM = re.compile(rb"HTTP/1\.\d 1(?!01)[^\n]*\n(?:[^\r\n][^\n]*\n)*\r?\n")
"""Pattern of a whole interim response. `101` is not one, because another protocol follows it."""

_INTERIM_LINE = re.compile(rb"HTTP/1\.\d 1(?!01)")
_STATUS_LINE = re.compile(rb"HTTP/1\.\d \d\d\d")
_SHORTEST_LINE = len(b"HTTP/1.1 200")
_MAX_HEAD = 100 * 2**10


class Violation(httpcore.RemoteProtocolError):
    """The other side broke a rule of HTTP, so its reply is worthless.

    The message continues after the name of a host: `sent ...`.
    """


class SpokeFirst(Violation):
    """Bytes came before the request, so the request was not sent."""


class KeptSilence(httpcore.ReadTimeout):
    """No byte of a reply came on a connection that earlier requests had used, so the network may be gone."""


class HandshakeSilence(httpcore.ConnectTimeout):
    """TLS did not begin in time, although the other side accepted the connection."""


class _AtEnd(Exception):  # noqa: N818  expected
    """Tells `close_if_surplus` that httpcore has used every received byte, so that there are no surplus bytes."""


@dataclass(slots=True)
class Upload:
    """State of an upload whose body can be stopped.

    `is_head_sent`: the head is sent, so further writes are the body. `is_cut`: a part of the body was not sent.
    """

    expects_continue: bool
    is_head_sent: bool = False
    is_cut: bool = False


_upload: ContextVar[Upload | None] = ContextVar("upload", default=None)


@asynccontextmanager
async def stopping_at_refusal(*, expects_continue: bool) -> AsyncIterator[Upload]:
    """Send a request in the `async with` block, and stop sending its body when the platform refuses (HTTP/1.1 only).

    After an early success the body is sent to its end, because the platform may still be reading. `expects_continue`:
    wait for `100 Continue` or a reply before sending the body, but at most for a second.
    """
    upload = Upload(expects_continue)
    token = _upload.set(upload)
    try:
        yield upload
    finally:
        _upload.reset(token)


async def close_if_surplus(response: httpcore.Response) -> bool:
    """Close the connection if bytes follow a reply that was read to its end.

    httpcore would take surplus bytes for the next reply. Returns True if the bytes contain another reply, and False for
    a mere line break, which some platforms send.

    To find the bytes, httpcore is asked to read on. It reads from the connection only if it has no surplus bytes.
    """
    stream = response.extensions.get("network_stream")
    if not isinstance(stream, _AsyncioStream) or not stream.can_probe:
        return False
    assert isinstance(response.stream, AsyncIterable)
    is_surplus = stream.has_unread
    stream.is_probed = True
    try:
        async for _ in response.stream:
            pass
        is_surplus = True
    except _AtEnd:
        pass
    except httpcore.RemoteProtocolError:  # bytes behind a response that should have ended the connection
        is_surplus = True
    finally:
        stream.is_probed = False
    if is_surplus:
        await stream.aclose()
    return is_surplus and stream.has_second_response


class AsyncioBackend(httpcore.AsyncNetworkBackend):
    """Maker of TCP connections for httpcore."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  httpcore's own
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to a host. Raises httpcore.ConnectError, ConnectTimeout, or Misconfigured if the guard forbids it."""
        stream = _AsyncioStream()
        local = None if local_address is None else (local_address, 0)
        try:
            async with asyncio.timeout(timeout):
                await _connect(stream, await allowed_addresses(host, port), port, local)
        except TimeoutError as error:
            raise httpcore.ConnectTimeout(str(error)) from error
        except OSError as error:
            raise httpcore.ConnectError(str(error)) from error
        for option in socket_options or ():
            stream.get_extra_info("socket").setsockopt(*option)
        return stream

    async def sleep(self, seconds: float) -> None:
        """Sleep between two tries of httpcore."""
        await asyncio.sleep(seconds)


async def _connect(stream: _AsyncioStream, addresses: Sequence[str], port: int, local: tuple[str, int] | None) -> None:
    """Connect to the first address that responds. Raises the OSError of the last one."""
    loop = asyncio.get_running_loop()
    if len(addresses) > 1:
        await loop.create_connection(lambda: stream, sock=await _first_connected(addresses, port, local))
        return
    (address,) = addresses
    await loop.create_connection(
        lambda: stream,
        address,
        port,
        local_addr=local,
        happy_eyeballs_delay=None if _is_numeric(address) else _STAGGER,  # a cancelled race drops a socket
    )


async def _first_connected(addresses: Sequence[str], port: int, local: tuple[str, int] | None) -> socket:
    """Return a socket that is connected to the first IP address to respond. Closes the connections to the others.

    asyncio can do this only for a name, and would look up the name again. Raises the OSError of the last address.
    """
    waiting, tries = deque(addresses), list[asyncio.Task[socket]]()
    try:
        while True:
            if waiting:
                tries.append(asyncio.create_task(_open(waiting.popleft(), port, local)))
            running = [task for task in tries if not task.done()]
            if running:
                delay = _STAGGER if waiting else None
                await asyncio.wait(running, timeout=delay, return_when=asyncio.FIRST_COMPLETED)
            for task in tries:
                if task.done() and not task.exception():
                    tries.remove(task)
                    return task.result()
            if not waiting and all(task.done() for task in tries):
                return tries[-1].result()  # raises its OSError
    finally:
        for task in tries:
            task.cancel()
        for opened in await asyncio.gather(*tries, return_exceptions=True):
            if isinstance(opened, socket):
                opened.close()


async def _open(address: str, port: int, local: tuple[str, int] | None) -> socket:
    """Return a socket connected to an IP address. Raises OSError."""
    loop = asyncio.get_running_loop()
    ((family, *_, destination),) = await loop.getaddrinfo(address, port, type=SOCK_STREAM, flags=AI_NUMERICHOST)
    opened = socket(family, SOCK_STREAM)
    try:
        opened.setblocking(False)
        if local:
            opened.bind(local)
        await loop.sock_connect(opened, destination)
    except BaseException:
        opened.close()
        raise
    return opened


def _is_numeric(address: str) -> bool:
    """Return whether a host is an IP address, and not a name."""
    try:
        ip_address(address.strip("[]"))
    except ValueError:
        return False
    return True


class _AsyncioStream(asyncio.Protocol, httpcore.AsyncNetworkStream):
    """Connection that buffers up to half a mebibyte of received bytes until httpcore reads them."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport
        self._received: deque[bytes] = deque()
        self._received_size = 0
        self._is_eof = False
        self._error: Exception | None = None
        self._is_write_paused = False
        self._waiters: list[asyncio.Future[None]] = []
        self._closed: asyncio.Future[None]
        self._is_idle = True  # the next write begins a request
        self._awaits_response = False  # only interim responses have come
        self._request_count = 0
        self._interim_count = 0
        self._has_read_eof = False
        self._newest = b""
        self.is_probed = False

    @property
    def can_probe(self) -> bool:
        """True if `close_if_surplus` can find surplus bytes: the connection is not at its end, and is not HTTP/2."""
        return not (self._has_read_eof or self._is_http2())

    @property
    def has_unread(self) -> bool:
        """True if bytes have arrived that httpcore has not read."""
        return bool(self._received)

    @property
    def has_second_response(self) -> bool:
        """True if the newest bytes contain a status line after their start."""
        return bool(_STATUS_LINE.search(b"".join([self._newest, *self._received]), 1))

    # Called by the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._closed = asyncio.get_running_loop().create_future()

    def data_received(self, data: bytes) -> None:
        self._received.append(data)
        self._received_size += len(data)
        if self._received_size >= _MAX_BUFFERED:
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> bool:
        self._is_eof = True
        self._wake()
        return self.get_extra_info("ssl_object") is None  # without TLS, sending may go on

    def pause_writing(self) -> None:
        self._is_write_paused = True

    def resume_writing(self) -> None:
        self._is_write_paused = False
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        if exc is not None and self.get_extra_info("ssl_object") is None:
            self._receive_rest()
        self._is_eof, self._error = True, exc
        self._wake()
        if not self._closed.done():
            self._closed.set_result(None)

    def _receive_rest(self) -> None:
        """Read the bytes that arrived before a reset, because asyncio closes the socket after a failed write."""
        with suppress(OSError), self._transport.get_extra_info("socket").dup() as rest:
            while self._received_size < _MAX_BUFFERED and (data := rest.recv(_READ_SIZE)):
                self._received.append(data)
                self._received_size += len(data)

    # Called by httpcore

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002, ASYNC109
        """Return received bytes; empty at the end of the connection. Raises httpcore.ReadTimeout, ReadError.

        Ignores `max_bytes`, because the parser takes any size. An export is a third faster than in pieces of 64 KiB.
        """
        if self.is_probed:
            self.is_probed = False
            raise _AtEnd
        self._is_idle = True
        while (self._awaits_response and not self._skip_interim()) or not (self._received or self._is_eof):
            try:
                async with asyncio.timeout(timeout):
                    await self._changed()
            except TimeoutError as error:
                is_kept = self._awaits_response and self._request_count > 1
                raise (KeptSilence if is_kept else httpcore.ReadTimeout)(str(error)) from error
        self._awaits_response = False
        if self._received:
            self._newest = self._received.popleft()
            self._take(len(self._newest))
            return self._newest
        if self._error is not None:
            fault = httpcore.ReadError(str(self._error))
            fault.__context__ = self._error  # httpcore's pool removes a __cause__
            raise fault
        self._has_read_eof = True
        return b""

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        """Send bytes, and return once most of them have left the buffers. Raises httpcore.WriteTimeout, WriteError.

        A refused upload also raises WriteError; httpcore then reads the reply. Bytes that came before the request raise
        SpokeFirst.
        """
        is_http2 = self._is_http2()
        upload = None if is_http2 else _upload.get()
        if buffer:
            if self._is_idle and not is_http2:
                self._begin_request()
            self._check_writable(upload)
            self._transport.write(buffer)
        try:
            async with asyncio.timeout(timeout):
                while self._is_write_paused:
                    self._check_writable(upload)
                    await self._changed()
        except TimeoutError as error:
            raise httpcore.WriteTimeout(str(error)) from error
        if upload and not upload.is_head_sent:
            upload.is_head_sent = True
            if upload.expects_continue:
                await self._wait_continue()

    async def aclose(self) -> None:
        """Close the connection at once, dropping unsent bytes."""
        self._transport.abort()
        await asyncio.shield(self._closed)

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> httpcore.AsyncNetworkStream:
        """Start TLS on this connection and return it. Raises httpcore.ConnectError, ConnectTimeout."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(timeout):
                transport = await loop.start_tls(self._transport, self, ssl_context, server_hostname=server_hostname)
        except TimeoutError as error:
            self._transport.abort()
            raise HandshakeSilence(str(error)) from error
        except OSError as error:
            self._transport.abort()
            raise httpcore.ConnectError(str(error)) from error
        assert transport is not None
        self._transport = transport
        return self

    def get_extra_info(self, info: str) -> Any:
        """Return a fact of the connection. `is_readable`: the other side closed it, or sent unexpected bytes."""
        if info == "is_readable":
            return bool(self._received) or self._is_eof
        names = {"client_addr": "sockname", "server_addr": "peername"}
        return self._transport.get_extra_info(names.get(info, info))

    # Inside

    def _is_http2(self) -> bool:
        ssl_object = self.get_extra_info("ssl_object")
        return ssl_object is not None and ssl_object.selected_alpn_protocol() == "h2"

    def _begin_request(self) -> None:
        if self._received:
            raise SpokeFirst("responded before a request was sent")
        self._is_idle, self._awaits_response, self._interim_count = False, True, 0
        self._request_count += 1

    def _check_writable(self, upload: Upload | None) -> None:
        if upload and upload.is_head_sent and self._is_refused():
            upload.is_cut = True
            raise httpcore.WriteError("the refusal came before the body was sent")
        if self._transport.is_closing():
            if upload:
                upload.is_cut = True
            raise httpcore.WriteError(str(self._error or "the connection is closed"))

    def _is_refused(self) -> bool:
        """Return whether a reply has arrived whose status is not 2xx."""
        return bool(self._received) and self._skip_interim() and self._received[0][9:10] != b"2"

    def _skip_interim(self) -> bool:
        """Drop interim responses (`1xx`) from the received bytes, and return whether the reply itself has begun.

        httpcore would drop them without a limit, each in 50 us. Raises Violation for too many.
        """
        received = b"".join(self._received)
        start = 0
        while interim := _INTERIM.match(received, start):
            start = interim.end()
            self._interim_count += 1
            if self._interim_count > _MAX_INTERIM:
                raise Violation(f"sent more than {_MAX_INTERIM} interim responses")
        rest = received[start:]
        self._received = deque([rest] if rest else [])
        self._take(start)
        if self._is_eof:
            return True
        is_begun = len(rest) >= _SHORTEST_LINE or b"\n" in rest
        return is_begun and (len(rest) > _MAX_HEAD or not _INTERIM_LINE.match(rest))

    def _take(self, size: int) -> None:
        """Remove `size` bytes from the count of buffered bytes, and resume reading if the buffer was full."""
        was_full = self._received_size >= _MAX_BUFFERED
        self._received_size -= size
        if was_full and self._received_size < _MAX_BUFFERED and not self._is_eof:
            self._transport.resume_reading()

    async def _wait_continue(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_MAX_CONTINUE_WAIT):
                while not self._received and not self._is_eof:
                    await self._changed()

    async def _changed(self) -> None:
        """Wait until data arrives, writing may continue, or the connection ends."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        await waiter

    def _wake(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)
