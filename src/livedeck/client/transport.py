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
from typing import Any, TypeVar

from livedeck import __version__
from livedeck.client.answer import Answer
from livedeck.client.call import Call, Chunk, Door, Exchange, Flow, Incoming, Json
from livedeck.client.encoding import bearer, body, params, secrets_in
from livedeck.client.errors import (
    LOST,
    ApiError,
    Cause,
    Misconfigured,
    ReadOnly,
    Rejected,
    Unknown,
    Unreachable,
    Unreadable,
)
from livedeck.client.pace import Budget, Pace, Patience
from livedeck.client.refusals import server_date
from livedeck.client.secret import Secret
from livedeck.client.wire import plain_body, stated_size
from livedeck.slices import Slices, in_turns

sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]  # its command line costs click, rich and 50 ms
find_spec("sniffio") or sys.modules.setdefault("sniffio", None)  # type: ignore[arg-type]  # else sought at each call
import httpcore  # noqa: E402
import httpx  # noqa: E402

# What the event loop reads at once; in pieces of 64 KiB, as httpcore has it, an export takes half as long again.
httpcore.AsyncHTTP11Connection.READ_NUM_BYTES = 256 * 2**10
for _chatty in ("httpcore", "hpack"):  # at DEBUG they write headers: a signed redirect, and over HTTP/2 the token
    logging.getLogger(_chatty).setLevel(logging.INFO)
logging.getLogger("httpx").setLevel(logging.WARNING)  # at INFO it writes addresses: signed ones too

_Message = MutableMapping[str, Any]
Mount = Callable[[_Message, Callable[[], Awaitable[_Message]], Callable[[_Message], Awaitable[None]]], Awaitable[None]]
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
        doors: Mapping[Door, str],
        token: Secret,
        *,
        read_only: bool,
        pace: Pace,
        mount: Mount | None = None,
        http2: bool = False,
    ) -> None:
        self.read_only = read_only
        self.pace = pace
        self._doors = {door: _url(door, address) for door, address in doors.items()}
        self.host = self._doors["api"].netloc.decode("ascii")
        self.exchanges: deque[Exchange] = deque(maxlen=5)
        self._token = token
        self._budget = Budget(pace)
        self._turn = asyncio.Lock()
        self._client = _client(token, pace.timeout, mount, http2=http2)

    async def send(self, call: Call) -> object:
        """The JSON that answers the call; None where the body is empty. Raises ApiError and nothing else.

        Connecting and every silence may take `timeout` seconds, a whole exchange twice that; an upload as long as it
        moves. A read that fails in passing is tried again for `retry` seconds in all.
        """
        return await self._tried(call, self._exchange)

    @asynccontextmanager
    async def stream(self, call: Call) -> AsyncIterator[Incoming]:
        """The answer to a read while it comes, of any length. Raises as `send` does; so do its chunks."""
        response = await self._tried(call, self._opened)
        size = stated_size(response.headers)
        try:
            async with aclosing(self._chunks(call, response, size)) as chunks:
                kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
                yield Incoming(size, kind, chunks)
        finally:
            await response.aclose()

    async def verdict(self, call: Call, answer: Answer) -> object:
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

    async def _tried(self, call: Call, attempt: Callable[[Call], Awaitable[T]]) -> T:
        if self.read_only and call.method not in _READS:
            raise ReadOnly(f"{call.what}: not sent, the deck is read-only")
        patience = Patience(self.pace)
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
    async def _limited(self, call: Call, seconds: float) -> AsyncIterator[None]:
        """Bound the time, and let nothing out but ApiErrors."""
        with self._mapped(call):
            async with asyncio.timeout(None if isinstance(call.body, Flow) else seconds):
                yield

    async def _exchange(self, call: Call) -> object:
        response = await self._head(call)
        try:
            answer = await self._whole(call, response)
        finally:
            await response.aclose()
        self._note(response)
        return await self.verdict(call, answer)

    def address(self, call: Call) -> str:
        """Where that call goes."""
        if call.link:
            return call.link.reveal()
        door = self._doors[call.door]
        return str(door.copy_with(raw_path=door.raw_path.rstrip(b"/") + b"/" + call.path.encode()))

    async def _opened(self, call: Call) -> httpx.Response:
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

    async def _head(self, call: Call) -> httpx.Response:
        request = self._client.build_request(call.method, self.address(call), params=params(call), **body(call))
        if call.link:
            del request.headers["Authorization"]  # it goes to the configured addresses only (trust.md, "Secrets")
        request.extensions["began"] = self.pace.timer()
        return await self._client.send(request, stream=True)

    async def _whole(self, call: Call, response: httpx.Response) -> Answer:
        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > _LARGEST_ANSWER:
                raise Unreadable(f"{call.what}: the answer is larger than {_LARGEST_ANSWER >> 20} MiB")
        return Answer(call.what, response.status_code, response.headers, bytes(body))

    async def _chunks(self, call: Call, response: httpx.Response, size: int | None) -> AsyncGenerator[Chunk, None]:
        wire = response.extensions.get("network_stream")
        body: AsyncIterator[Chunk] = response.aiter_bytes()
        if wire and size and response.http_version == "HTTP/1.1":
            body = plain_body(body, wire, size, self.pace.timeout)
        with self._mapped(call):
            async for chunk in body:
                yield chunk

    def _note(self, response: httpx.Response) -> None:
        took = self.pace.timer() - response.request.extensions["began"]
        self.exchanges.append(Exchange(self.pace.now(), took, server_date(response.headers)))

    def _host(self, call: Call) -> str:
        return httpx.URL(self.address(call)).netloc.decode("ascii")

    def _secrets(self, call: Call) -> list[Secret]:
        sent = call.body.value if isinstance(call.body, Json) else None
        return [self._token, *secrets_in([sent, call.link])]

    @contextmanager
    def _mapped(self, call: Call) -> Iterator[None]:
        try:
            yield
        except (httpx.InvalidURL, UnicodeError) as error:
            raise Misconfigured(f"{call.what}: {self.host} or what was asked for makes no URL") from error
        except (httpx.HTTPError, *_OFF_THE_WIRE, OSError) as error:  # a broken TLS record passes httpx as it is
            raise self._lost(call, error) from error

    def _lost(self, call: Call, error: Exception) -> ApiError:
        if isinstance(error, httpx.DecodingError):
            return Unreadable(f"{call.what}: the answer is packed in a way that cannot be unpacked")
        cause = _cause(error)
        host = self._host(call)
        if call.method not in _READS and not isinstance(error, _UNSENT):
            why = cause or "it was not HTTP"
            return Unknown(f"{call.what}: the answer was lost ({why}); it may have happened or not: read it again")
        if cause is None:
            return Unreadable(f"{call.what}: {host} does not speak HTTP; check the address")
        return Unreachable(f"{call.what}: {LOST[cause].format(host=host, timeout=self.pace.timeout)}", cause)


def _url(door: Door, address: str) -> httpx.URL:
    try:
        return httpx.URL(address)
    except httpx.InvalidURL as error:
        raise Misconfigured(f"{'base' if door == 'api' else door}_url is no URL: {error}") from None


def _client(token: Secret, timeout: float, mount: Mount | None, *, http2: bool) -> httpx.AsyncClient:
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
