"""The road to the platform, and the only file that knows httpx.

Here and nowhere else: bearer token, time limits, size limit, retry, request budget, the read-only gate, and the making
of ApiErrors out of whatever the network or the platform does. Redirects are not followed: the token stays with the two
configured addresses. Only reads are tried again: a change must never be sent twice.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import sys
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping, MutableMapping
from contextlib import aclosing, asynccontextmanager, contextmanager
from http.cookiejar import CookieJar, DefaultCookiePolicy
from importlib.util import find_spec
from socket import gaierror
from typing import Any, Protocol, TypeVar

import httpcore
import httpx

from livedeck import __version__
from livedeck.client.http.encoding import bearer, body, params, secrets_in
from livedeck.client.http.error_mapping import server_date
from livedeck.client.http.errors import (
    LOST_RESPONSE,
    ApiError,
    Cause,
    Misconfigured,
    ReadOnly,
    Rejected,
    Unknown,
    Unreachable,
    Unreadable,
)
from livedeck.client.http.request import BaseUrl, Chunk, JsonBody, Request, ResponseTiming, StreamBody, StreamedResponse
from livedeck.client.http.response import Response
from livedeck.client.http.secrets import Secret
from livedeck.client.http.timing import ClientTiming, RateLimiter, RetryPolicy
from livedeck.slices import Slices, in_turns

_PIECE = 512 * 2**10


class Wire(Protocol):
    """A connection: `read` gives what came, at most so many bytes, and nothing when the other side hung up."""

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109  httpcore's own
        """Raises where nothing comes for so many seconds."""
        ...

    def get_extra_info(self, info: str) -> Any:
        """What it is made of: its `socket`, its `ssl_object` where it is encrypted."""
        ...


def stated_size(headers: Mapping[str, str]) -> int | None:
    """How many bytes the body will have; None where nobody says, and where it comes packed."""
    said = headers.get("content-length", "")
    return int(said) if said.isdecimal() and not {"content-encoding", "transfer-encoding"} & {*headers} else None


async def plain_body(parsed: AsyncIterator[Chunk], wire: Wire, size: int, patience: float) -> AsyncIterator[Chunk]:
    """A body of `size` bytes that came neither packed nor in chunks. `patience`: seconds of silence.

    The parser of HTTP copies every piece four times, which is half the time of an export, and such a body needs none:
    its first piece is all that the parser holds, the rest is read off the wire. The connection is then not used again.
    Raises ConnectionResetError where it breaks, and what the wire raises.
    """
    left = size - len(first := await anext(parsed, b""))
    yield first
    if left <= 0:
        async for piece in parsed:  # to its end, so that the connection can be used again
            yield piece
        return
    pieces: Callable[[Wire, int, float], AsyncIterator[Chunk]] = (
        _encrypted if wire.get_extra_info("ssl_object") else _bare
    )
    async for chunk in pieces(wire, left, patience):
        yield chunk


async def _encrypted(wire: Wire, left: int, patience: float) -> AsyncIterator[bytes]:
    while left > 0:
        piece = await wire.read(min(left, _PIECE), patience)
        if not piece:
            raise ConnectionResetError
        left -= len(piece)
        yield piece


async def _bare(wire: Wire, left: int, patience: float) -> AsyncIterator[memoryview]:
    """Each is good until the next one is asked for: one buffer holds them all, as fresh memory is slow."""
    loop, buffer = asyncio.get_running_loop(), memoryview(bytearray(_PIECE))
    with wire.get_extra_info("socket").dup() as own:  # the loop lets nobody else read from what a connection reads from
        while left > 0:
            async with asyncio.timeout(patience):
                came = await loop.sock_recv_into(own, buffer[:left])
            if not came:
                raise ConnectionResetError
            left -= came
            yield buffer[:came]
            await asyncio.sleep(0)  # where more is here already, nothing else would get its turn


sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]  # its command line costs click, rich and 50 ms

find_spec("sniffio") or sys.modules.setdefault("sniffio", None)  # type: ignore[arg-type]  # else sought at each call


# What the event loop reads at once; in pieces of 64 KiB, as httpcore has it, an export takes half as long again.
httpcore.AsyncHTTP11Connection.READ_NUM_BYTES = 256 * 2**10

for _chatty in ("httpcore", "hpack"):  # at DEBUG they write headers: a signed redirect, and over HTTP/2 the token
    logging.getLogger(_chatty).setLevel(logging.INFO)

logging.getLogger("httpx").setLevel(logging.WARNING)  # at INFO it writes addresses: signed ones too


_Message = MutableMapping[str, Any]

TransportFactory = Callable[
    [_Message, Callable[[], Awaitable[_Message]], Callable[[_Message], Awaitable[None]]], Awaitable[None]
]

"""An ASGI app."""


T = TypeVar("T")


_READS = frozenset({"GET", "HEAD"})

_UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)

_HEADERS = {"User-Agent": f"livedeck/{__version__}", "Accept": "application/json"}

_OFF_THE_WIRE = (httpcore.NetworkError, httpcore.TimeoutException)

_PASSING = frozenset({429, 502, 503, 504})

_LARGEST_ANSWER = 64 * 2**20

_LIMITS = httpx.Limits(max_connections=10, max_keepalive_connections=8, keepalive_expiry=4.0)  # servers hang up at 5 s


class Transport:
    """Sends calls with the token and gives back what they are answered with.

    `doors`: where each door is. `http2`: offer HTTP/2, which needs the package h2.
    """

    def __init__(
        self,
        doors: Mapping[BaseUrl, str],
        token: Secret,
        *,
        read_only: bool,
        pace: ClientTiming,
        mount: TransportFactory | None = None,
        http2: bool = False,
    ) -> None:
        self.read_only = read_only
        self.pace = pace
        self._doors = {door: _url(door, address) for door, address in doors.items()}
        self.host = self._doors["api"].netloc.decode("ascii")
        self.exchanges: deque[ResponseTiming] = deque(maxlen=5)
        self._token = token
        self._budget = RateLimiter(pace)
        self._turn = asyncio.Lock()
        self._client = _client(token, pace.timeout, mount, http2=http2)

    async def send(self, call: Request) -> object:
        """The JSON that answers the call; None where the body is empty. Raises ApiError and nothing else.

        Connecting and every silence may take `timeout` seconds, a whole exchange twice that; an upload as long as it
        moves. A read that fails in passing is tried again for `retry` seconds in all.
        """
        return await self._tried(call, self._exchange)

    @asynccontextmanager
    async def stream(self, call: Request) -> AsyncIterator[StreamedResponse]:
        """The answer to a read while it comes, of any length. Raises as `send` does; so do its chunks."""
        response = await self._tried(call, self._opened)
        size = stated_size(response.headers)
        try:
            async with aclosing(self._chunks(call, response, size)) as chunks:
                kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
                yield StreamedResponse(size, kind, chunks)
        finally:
            await response.aclose()

    async def verdict(self, call: Request, answer: Response) -> object:
        """The JSON that a whole answer brings. Raises Rejected where it says no, Unreadable for no JSON."""
        return await self.in_turn(answer.accepted(self.pace.now(), self._secrets(call)))

    async def in_turn(self, work: Slices[T]) -> T:
        """The result of `work` on an answer. One at a time: answers that come together would hold the event loop."""
        async with self._turn:
            await asyncio.sleep(0)
            return await in_turns(work)

    def renew(self, token: Secret) -> None:
        """Send that token from now on. Raises Misconfigured for one that no header can carry."""
        self._client.headers["Authorization"] = f"Bearer {bearer(token)}"
        self._token = token

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.aclose()

    async def _tried(self, call: Request, attempt: Callable[[Request], Awaitable[T]]) -> T:
        if self.read_only and call.method not in _READS:
            raise ReadOnly(f"{call.what}: not sent, the deck is read-only")
        patience = RetryPolicy(self.pace)
        while True:
            await self._budget.spend()
            if self._client.is_closed:
                raise Misconfigured(f"{call.what}: not sent, the client is closed")
            began = self.pace.timer()
            try:
                async with self._limited(call, patience.limit):
                    return await attempt(call)
            except ApiError as error:
                pause = patience.pause(self.pace.timer() - began, getattr(error, "retry_after", None))
                if pause is None or call.method not in _READS or not _passing(error):
                    raise
            await self.pace.sleep(pause)

    @asynccontextmanager
    async def _limited(self, call: Request, seconds: float) -> AsyncIterator[None]:
        """Bound the time, and let nothing out but ApiErrors."""
        with self._mapped(call):
            async with asyncio.timeout(None if isinstance(call.body, StreamBody) else seconds):
                yield

    async def _exchange(self, call: Request) -> object:
        response = await self._head(call)
        try:
            answer = await self._whole(call, response)
        finally:
            await response.aclose()
        self._note(response)
        return await self.verdict(call, answer)

    def address(self, call: Request) -> str:
        """Where that call goes."""
        if call.link:
            return call.link.reveal()
        door = self._doors[call.door]
        return str(door.copy_with(raw_path=door.raw_path.rstrip(b"/") + b"/" + call.path.encode()))

    async def _opened(self, call: Request) -> httpx.Response:
        """The answer with its body still to come, once its status is a good one."""
        response = await self._head(call)
        try:
            refused = None if response.is_success else await self._whole(call, response)
            if call.link is None:
                self._note(response)
            if refused:
                await self.verdict(call, refused)
        except BaseException:
            await response.aclose()
            raise
        return response

    async def _head(self, call: Request) -> httpx.Response:
        request = self._client.build_request(call.method, self.address(call), params=params(call), **body(call))
        if call.link:
            del request.headers["Authorization"]  # it goes to the configured addresses only (trust.md, "Secrets")
        request.extensions["began"] = self.pace.timer()
        return await self._client.send(request, stream=True)

    async def _whole(self, call: Request, response: httpx.Response) -> Response:
        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > _LARGEST_ANSWER:
                raise Unreadable(f"{call.what}: the answer is larger than {_LARGEST_ANSWER >> 20} MiB")
        return Response(call.what, response.status_code, response.headers, bytes(body))

    async def _chunks(self, call: Request, response: httpx.Response, size: int | None) -> AsyncGenerator[Chunk, None]:
        wire = response.extensions.get("network_stream")
        body: AsyncIterator[Chunk] = response.aiter_bytes()
        if wire and size and response.http_version == "HTTP/1.1":
            body = plain_body(body, wire, size, self.pace.timeout)
        with self._mapped(call):
            async for chunk in body:
                yield chunk

    def _note(self, response: httpx.Response) -> None:
        took = self.pace.timer() - response.request.extensions["began"]
        self.exchanges.append(ResponseTiming(self.pace.now(), took, server_date(response.headers)))

    def _host(self, call: Request) -> str:
        return httpx.URL(self.address(call)).netloc.decode("ascii")

    def _secrets(self, call: Request) -> list[Secret]:
        sent = call.body.value if isinstance(call.body, JsonBody) else None
        return [self._token, *secrets_in([sent, call.link])]

    @contextmanager
    def _mapped(self, call: Request) -> Iterator[None]:
        try:
            yield
        except (httpx.InvalidURL, UnicodeError) as error:
            raise Misconfigured(f"{call.what}: {self.host} or what was asked for makes no URL") from error
        except (httpx.HTTPError, *_OFF_THE_WIRE, OSError) as error:  # a broken TLS record passes httpx as it is
            raise self._lost(call, error) from error

    def _lost(self, call: Request, error: Exception) -> ApiError:
        if isinstance(error, httpx.DecodingError):
            return Unreadable(f"{call.what}: the answer is packed in a way that cannot be unpacked")
        cause = _cause(error)
        host = self._host(call)
        if call.method not in _READS and not isinstance(error, _UNSENT):
            why = cause or "it was not HTTP"
            return Unknown(f"{call.what}: the answer was lost ({why}); it may have happened or not: read it again")
        if cause is None:
            return Unreadable(f"{call.what}: {host} does not speak HTTP; check the address")
        return Unreachable(f"{call.what}: {LOST_RESPONSE[cause].format(host=host, timeout=self.pace.timeout)}", cause)


def _url(door: BaseUrl, address: str) -> httpx.URL:
    try:
        return httpx.URL(address)
    except httpx.InvalidURL as error:
        raise Misconfigured(f"{'base' if door == 'api' else door}_url is no URL: {error}") from None


def _client(token: Secret, timeout: float, mount: TransportFactory | None, *, http2: bool) -> httpx.AsyncClient:
    try:
        return httpx.AsyncClient(
            headers=_HEADERS | {"Authorization": f"Bearer {bearer(token)}"},
            timeout=timeout,
            limits=_LIMITS,
            http2=http2,
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),  # none: a broken one would spoil every request
            trust_env=False,  # a proxy from the environment would see the token of a plain loopback address
            transport=None if mount is None else httpx.ASGITransport(mount, raise_app_exceptions=False),
        )
    except ImportError:
        raise Misconfigured("HTTP/2 needs the package h2") from None


def _passing(error: ApiError) -> bool:
    """Whether the same read may well be answered a moment later."""
    if isinstance(error, Rejected):
        return error.status in _PASSING
    unconnected = isinstance(error.__cause__, httpx.ConnectError | httpx.ConnectTimeout)
    return isinstance(error, Unreachable) and unconnected and error.cause != "tls"


def _cause(error: Exception) -> Cause | None:
    """Why no answer came; None where one came that is not HTTP."""
    if isinstance(error, httpx.TimeoutException | httpcore.TimeoutException | TimeoutError):
        return "timeout"
    for link in _chain(error):
        if isinstance(link, gaierror):
            return "dns"
        if isinstance(link, ssl.SSLError):
            return "tls"
    if isinstance(error, httpx.ConnectError):
        return "refused"
    broken = "disconnected" in str(error) or "closed" in str(error)
    return "reset" if broken or not isinstance(error, httpx.ProtocolError) else None


def _chain(error: BaseException) -> Iterator[BaseException]:
    link: BaseException | None = error
    while link is not None:
        yield link
        link = link.__cause__ or link.__context__
