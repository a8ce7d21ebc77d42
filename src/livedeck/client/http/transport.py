"""Requests sent and answers received: with `outgoing.py`, which knows no platform, the only file that imports httpx.

Here and nowhere else: bearer token, timeouts, size limit, rate limit, retry of reads, the read-only gate, and the
mapping of whatever the network or the platform does to ApiErrors. Redirects are not followed: the token stays with the
two configured addresses. Only reads are retried: a change must never be sent twice.
"""

from __future__ import annotations

import asyncio
import copy
import logging
import ssl
from collections import deque
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
)
from contextlib import aclosing, asynccontextmanager, contextmanager, nullcontext
from dataclasses import replace
from http.cookiejar import CookieJar, DefaultCookiePolicy
from importlib.util import find_spec
from socket import gaierror
from typing import Any, Protocol, TypeVar

import httpcore
import httpx

from livedeck import __version__
from livedeck.client.http.encoding import bearer, httpx_content, query
from livedeck.client.http.error_mapping import proves_refusal, request_id, server_date
from livedeck.client.http.errors import (
    LOST_RESPONSE,
    ApiError,
    Cause,
    Misconfigured,
    RateLimited,
    ReadOnly,
    Rejected,
    Unauthorized,
    Unknown,
    Unreachable,
    Unreadable,
)
from livedeck.client.http.network import AsyncioBackend, stopping_at_answer
from livedeck.client.http.reach import LinkGuard, check_tunnel, guarding
from livedeck.client.http.renewal import TokenRenewal, TokenSource
from livedeck.client.http.request import BaseUrl, Request, ResponseTiming, StreamedResponse, is_https_or_loopback
from livedeck.client.http.request_counts import RequestCounts
from livedeck.client.http.response import LONG_BODY, Response, unpack
from livedeck.client.http.route import Proxy, Route
from livedeck.client.http.secrets import Secret, SignedLink
from livedeck.client.http.timing import MAX_CONNECTIONS, ClientTiming, Cooldown, CoolingDown, RateLimiter, RetryPolicy
from livedeck.text.values import safe

_log = logging.getLogger("livedeck.client")

_Message = MutableMapping[str, Any]

TransportFactory = Callable[
    [_Message, Callable[[], Awaitable[_Message]], Callable[[_Message], Awaitable[None]]], Awaitable[None]
]
"""An ASGI app."""

T = TypeVar("T")


class RunInThread(Protocol):
    """Calls a function without blocking the event loop, as `asyncio.to_thread` does."""

    async def __call__(self, function: Callable[[], T], /) -> T:
        """What the function returns."""


LOST = (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError, httpcore.UnsupportedProtocol)

_NOT_CONNECTED = (httpcore.ConnectError, httpcore.ConnectTimeout)

_NEVER_SENT = (*_NOT_CONNECTED, httpcore.PoolTimeout, httpcore.ProxyError, httpcore.UnsupportedProtocol)

_HEADERS = {"User-Agent": f"livedeck/{__version__}", "Accept": "application/json", "Accept-Encoding": "gzip, deflate"}

_TRANSIENT_STATUS = frozenset({429, 502, 503, 504})
_MAX_BODY = 64 * 2**20

_SMALL_UPLOAD = 2**20

_EXPECTATION_FAILED = 417

_MAX_LOGGED = 1000

_MAX_REDIRECTS = 5

_LIMITS: Mapping[str, Any] = {
    "max_connections": MAX_CONNECTIONS,
    "max_keepalive_connections": 8,
    "keepalive_expiry": 4.0,  # servers hang up at 5 s
}


class Transport:
    """Sends requests with the token and gives back what they are answered with.

    `base_urls`: where each of the two is; `route`: how they are reached. `http2`: offer HTTP/2, which needs the package
    h2. `run_in_thread`: for bodies that take long to decode.
    """

    def __init__(
        self,
        base_urls: Mapping[BaseUrl, str],
        token: Secret,
        *,
        read_only: bool,
        timing: ClientTiming,
        route: Route,
        token_source: TokenSource | None = None,
        mount: TransportFactory | None = None,
        http2: bool = False,
        run_in_thread: RunInThread = asyncio.to_thread,
    ) -> None:
        self.read_only = read_only
        self.timing = timing
        self.timings: deque[ResponseTiming] = deque(maxlen=5)
        self.request_counts = RequestCounts()
        self._base_urls = {name: _parse_url(name, address) for name, address in base_urls.items()}
        self.host = self._base_urls["api"].netloc.decode("ascii")
        self._retry_seconds = timing.retry
        self._rate_limiter = RateLimiter(timing)
        self._cooldown = Cooldown(timing)
        self._decoding = asyncio.Lock()
        self._logged = set[tuple[str, str]]()
        self._run_in_thread = run_in_thread
        self._route = route
        self._loops: list[asyncio.AbstractEventLoop] = []  # where the connections live: one for all that share them
        self._connections = _make_connections(mount, route, http2=http2)
        self._renewal = TokenRenewal(token_source, token, timing.timer)
        self._client = _make_client(token, timing.timeout, self._connections)

    def without_retry(self) -> Transport:
        """The same connections, token and rate limit, but a read is tried once."""
        transport = copy.copy(self)
        transport._retry_seconds = 0.0  # noqa: SLF001  its own class
        return transport

    def with_timeout(self, seconds: float) -> Transport:
        """The same connections, token and rate limit, but another timeout."""
        transport = copy.copy(self)
        transport.timing = replace(self.timing, timeout=seconds)
        return transport

    async def send(self, request: Request, parse: Callable[[object], T]) -> T:
        """What `parse` makes of the JSON that answers the request; None is parsed where the body is empty.

        Raises ApiError and nothing else. Connecting and every silence may take `timeout` seconds, a whole exchange
        twice that; an upload as long as it moves. A read that fails in passing is retried for `retry` seconds in all.
        """

        async def attempt() -> T:
            response = await self._open(request)
            try:
                answer = await self._receive(request, response)
            finally:
                await response.aclose()
            self._note_timing(response)
            return await self.parse(answer, parse)

        return await self._with_retry(request, attempt)

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[StreamedResponse]:
        """The answer to a read while it comes, of any length. Raises as `send` does; so do its chunks.

        A redirect of a signed link is followed to another address that nobody can read on the way.
        """

        async def attempt() -> httpx.Response:
            response = await self._open_link(request) if request.signed_link else await self._open(request)
            try:
                rejected = None if response.is_success else await self._receive(request, response)
                if request.signed_link is None:
                    self._note_timing(response)
                if rejected:
                    await self.parse(rejected, lambda _: None)
            except BaseException:
                await response.aclose()
                raise
            return response

        response = await self._with_retry(request, attempt)
        try:
            async with aclosing(self._chunks(request, response)) as chunks:
                media_type = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
                yield StreamedResponse(_stated_size(response.headers), media_type, _is_delimited(response), chunks)
        finally:
            await response.aclose()

    async def parse(self, response: Response, parse: Callable[[object], T]) -> T:
        """What `parse` makes of a complete response. Raises Rejected where it says no, Unreadable for no JSON.

        One at a time: responses that come together would hold the event loop, or all threads the interpreter's lock.
        """

        def parse_value() -> T:
            return parse(response.value(self.timing.now()))

        async with self._decoding:
            if len(response.body) > LONG_BODY:
                return await self._run_in_thread(parse_value)
            await asyncio.sleep(0)
            return parse_value()

    async def check_uploads(self) -> None:
        """Ask the upload address, where it is another: whatever it answers, uploads reach it. Raises ApiError."""
        if self._base_urls["upload"] != self._base_urls["api"]:
            request = Request("HEAD", "", "reach the upload address", base_url="upload")
            response = await self._with_retry(request, lambda: self._open(request))
            await response.aclose()

    def check_may_change(self, summary: str) -> None:
        """Raise ReadOnly where changes are not sent."""
        if self.read_only:
            raise ReadOnly(f"{summary}: not sent, the deck is read-only")

    def log_faults(self, subject: str, faults: Sequence[object]) -> None:
        """Warn once of each field that could not be read: a poller meets it every few seconds."""
        for fault in faults:
            key = subject, getattr(fault, "field", str(fault))
            if key not in self._logged and len(self._logged) < _MAX_LOGGED:
                self._logged.add(key)
                _log.warning("%s: %s", subject, fault)

    def set_token(self, token: Secret) -> None:
        """Send that token from now on. Raises Misconfigured for one that no header can carry."""
        self._client.headers["Authorization"] = f"Bearer {bearer(token)}"
        self._renewal.token = token

    def url(self, request: Request) -> str:
        """Where that request goes."""
        if request.signed_link:
            return request.signed_link.reveal()
        base = self._base_urls[request.base_url]
        return str(base.copy_with(raw_path=base.raw_path.rstrip(b"/") + b"/" + request.path.encode()))

    async def close(self) -> None:
        """Close the connections; those of another event loop have ended with it."""
        if not self._loops or self._loops[0] is asyncio.get_running_loop():
            await self._client.aclose()

    async def _with_retry(self, request: Request, attempt: Callable[[], Awaitable[T]]) -> T:
        """A refused token is read again from its source; a read then has another try, a change the next person's."""
        token = self._renewal.token
        try:
            return await self._with_passing_retry(request, attempt)
        except Unauthorized as error:
            if request.signed_link:
                raise
            if not await self._renewal.renew(token):
                raise self._renewal.explain(error) from error
            self.set_token(self._renewal.token)
            if not request.is_read:
                raise
        return await self._with_passing_retry(request, attempt)

    async def _with_passing_retry(self, request: Request, attempt: Callable[[], Awaitable[T]]) -> T:
        if not request.is_read:
            self.check_may_change(request.summary)
        self._check_loop(request.summary)
        policy = RetryPolicy(self.timing, self._retry_seconds if request.is_read else 0.0)
        while True:
            started_at = self.timing.timer()
            # What is tried once does not wait: a change is a person's, and a poller has its own pace.
            turn = self._cooldown.turn(policy.seconds_left) if policy.seconds_left > 0 else nullcontext()
            try:
                async with turn:
                    return await self._attempt(request, attempt, policy)
            except CoolingDown as pause:
                text = f"not sent, the platform asked for a pause; try again in {pause.seconds:.0f} s"
                raise RateLimited(f"{request.summary}: {text}", status=429, retry_after=pause.seconds) from None
            except ApiError as error:
                delay = policy.next_delay(self.timing.timer() - started_at, self._note_cooldown(error))
                if unknown := _unknown_outcome(request, error):
                    raise unknown from error
                if delay is None or not _is_transient(error):
                    raise
            await self.timing.sleep(delay)

    async def _attempt(self, request: Request, attempt: Callable[[], Awaitable[T]], policy: RetryPolicy) -> T:
        await self._rate_limiter.acquire()
        if self._client.is_closed:
            raise Misconfigured(f"{request.summary}: not sent, the client is closed")
        with self.request_counts.counting(request.operation, self.timing), self._mapped_errors(request):
            async with asyncio.timeout(None if request.upload_size else policy.timeout):
                answer = await attempt()
        self._cooldown.end()
        return answer

    def _note_cooldown(self, error: ApiError) -> float:
        """The seconds that all have to wait after such an answer, if any."""
        if isinstance(error, Rejected):
            if isinstance(error, RateLimited) or error.retry_after is not None:
                return self._cooldown.begin(error.retry_after)
            self._cooldown.end()
        return 0.0

    def _check_loop(self, summary: str) -> None:
        loop = asyncio.get_running_loop()
        if not self._loops:
            self._loops.append(loop)
        if self._loops[0] is not loop:
            raise Misconfigured(f"{summary}: not sent, this Api belongs to another event loop; make one in each")

    async def _open(self, request: Request, *, is_expectation_refused: bool = False) -> httpx.Response:
        """The head of the answer; its body is still to come.

        An upload that waits for `100 Continue` and is answered 417 is sent again without, for nothing was done with it.
        """
        content = httpx_content(request)
        sent = self._client.build_request(
            request.method, self.url(request), params=query(request), timeout=self.timing.timeout, **content
        )
        if request.signed_link:
            request.signed_link.register()
            del sent.headers["Authorization"]  # it goes to the configured addresses only (trust.md, "Secrets")
        sent.extensions["started_at"] = self.timing.timer()
        if not request.upload_size:
            guard = LinkGuard(request.summary, self._platform_hosts()) if request.signed_link else None
            with guarding(guard):
                response = await self._send(sent)
            self._log_response(request, response)
            return response
        sent.extensions["timeout"]["read"] = self.timing.upload_timeout
        expects_continue = request.upload_size > _SMALL_UPLOAD and not is_expectation_refused
        if expects_continue:  # a smaller one is sent before anyone has read its head
            sent.headers["Expect"] = "100-continue"
        async with stopping_at_answer(expects_continue=expects_continue):
            response = await self._send(sent)
        self._log_response(request, response)
        if expects_continue and response.status_code == _EXPECTATION_FAILED:
            await response.aclose()
            return await self._open(request, is_expectation_refused=True)
        return response

    def _platform_hosts(self) -> list[str]:
        return [url.host for url in self._base_urls.values()]

    async def _open_link(self, request: Request) -> httpx.Response:
        response = await self._open(request)
        for _ in range(_MAX_REDIRECTS):
            target = _redirect_target(response)
            if target is None:
                break
            await response.aclose()
            response = await self._open(replace(request, signed_link=SignedLink(target)))
        return response

    async def _receive(self, request: Request, response: httpx.Response) -> Response:
        body = bytearray()
        async with aclosing(self._chunks(request, response)) as chunks:
            async for chunk in chunks:
                body += chunk
                if len(body) > _MAX_BODY:
                    raise Unreadable(f"{request.summary}: the answer is larger than {_MAX_BODY >> 20} MiB")
        return Response(request.summary, response.status_code, response.headers, body, not request.is_read)

    async def _chunks(self, request: Request, response: httpx.Response) -> AsyncGenerator[bytes, None]:
        coding = response.headers.get("Content-Encoding", "").strip().lower()
        with self._mapped_errors(request):
            raw = response.aiter_raw()
            try:
                async for chunk in unpack(raw, coding) if coding not in {"", "identity"} else raw:
                    yield chunk
            except ValueError:
                raise Unreadable(f"{request.summary}: the answer is packed in a way that cannot be unpacked") from None

    def _note_timing(self, response: httpx.Response) -> None:
        round_trip = self.timing.timer() - response.request.extensions["started_at"]
        request_id = safe(response.headers.get("X-Request-ID", ""), 80)
        date = server_date(response.headers)
        self.timings.append(ResponseTiming(self.timing.now(), round_trip, date, response.status_code, request_id))

    async def _send(self, sent: httpx.Request) -> httpx.Response:
        """Past the client's own `send`, which logs whole addresses, signatures too, where the host logs at INFO."""
        response = await self._connections.handle_async_request(sent)
        response.request = sent
        return response

    def _log_response(self, request: Request, response: httpx.Response) -> None:
        if not _log.isEnabledFor(logging.DEBUG):
            return
        took = self.timing.timer() - response.request.extensions["started_at"]
        named = request_id(response.headers) or "none"
        call = f"{request.method} {_shown_path(request)}"
        _log.debug("%s: %d after %.0f ms, request id %s", call, response.status_code, took * 1000, named)

    @contextmanager
    def _mapped_errors(self, request: Request) -> Iterator[None]:
        """Let nothing out but ApiErrors."""
        try:
            yield
        except (httpx.InvalidURL, UnicodeError) as error:
            raise Misconfigured(f"{request.summary}: {self.host} or what was asked for makes no URL") from error
        except (
            httpx.HTTPError,
            httpcore.ProxyError,
            *LOST,
            OSError,
        ) as error:  # a broken TLS record passes httpcore as it is
            raise self._lost(request, error) from error

    def _lost(self, request: Request, error: Exception) -> ApiError:
        cause = lost_cause(error)
        _log.debug("%s %s: no answer (%s)", request.method, _shown_path(request), cause or "it was not HTTP")
        if not request.is_read and not isinstance(error, _NEVER_SENT):
            reason = cause or "it was not HTTP"
            return Unknown(
                f"{request.summary}: the answer was lost ({reason}); it may have happened or not: read it again",
                f"the answer was lost ({reason})",
            )
        url = httpx.URL(self.url(request))
        host = url.netloc.decode("ascii")
        if proxy := self._failed_proxy(url, error):
            fault = f"refuses ({safe(str(error), 80)})" if cause == "proxy" else "cannot be reached"
            text = LOST_RESPONSE["proxy"].format(proxy=proxy.address, reason=fault)
            return Unreachable(f"{request.summary}: {text}", "proxy")
        if cause is None:
            return Unreadable(f"{request.summary}: {host} does not speak HTTP; check the address")
        text = LOST_RESPONSE[cause].format(host=host, timeout=self.timing.timeout)
        not_sent = "" if request.is_read else "; nothing was sent"
        return Unreachable(f"{request.summary}: {text}{not_sent}", cause)

    def _failed_proxy(self, url: httpx.URL, error: Exception) -> Proxy | None:
        """The proxy that could not be reached, or that opened no tunnel."""
        is_before_tunnel = isinstance(error, (httpcore.ProxyError, *_NOT_CONNECTED)) and lost_cause(error) != "tls"
        return self._route.proxy_for(url.scheme, url.host) if is_before_tunnel else None


def _shown_path(request: Request) -> str:
    """Without a query, which may sign a link."""
    return safe(str(request.signed_link or f"/{request.path}"), 200)


def _parse_url(name: BaseUrl, address: str) -> httpx.URL:
    try:
        return httpx.URL(address)
    except httpx.InvalidURL as error:
        raise Misconfigured(f"{'base' if name == 'api' else name}_url is no URL: {error}") from None


def _make_connections(mount: TransportFactory | None, route: Route, *, http2: bool) -> httpx.AsyncBaseTransport:
    if mount is None:
        return Connections(route, http2=http2)
    return httpx.ASGITransport(mount, raise_app_exceptions=False)


def _make_client(token: Secret, timeout: float, transport: httpx.AsyncBaseTransport) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        headers=_HEADERS | {"Authorization": f"Bearer {bearer(token)}"},
        timeout=timeout,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),  # none: a broken one would spoil every request
        trust_env=False,  # the route says what is heeded of the environment
        transport=transport,
    )


class Connections(httpx.AsyncBaseTransport):
    """httpcore's pool over connections that read while they write. Raises Misconfigured for HTTP/2 without h2."""

    def __init__(self, route: Route, *, http2: bool) -> None:
        if http2 and not find_spec("h2"):
            raise Misconfigured("HTTP/2 needs the package h2")
        route.check()
        self._route, self._http2 = route, http2
        self._ssl_context = route.ssl_context(lambda: httpx.create_ssl_context(trust_env=route.use_environment))
        self._pools: dict[Proxy | None, httpcore.AsyncConnectionPool] = {}

    def _pool(self, url: httpx.URL) -> httpcore.AsyncConnectionPool:
        """The connections that take the same way."""
        proxy = self._route.proxy_for(url.scheme, url.host)
        if proxy not in self._pools:
            self._pools[proxy] = httpcore.AsyncConnectionPool(
                ssl_context=self._ssl_context,
                proxy=_httpcore_proxy(proxy, self._ssl_context) if proxy else None,
                http2=self._http2,
                network_backend=AsyncioBackend(),
                **_LIMITS,
            )
        return self._pools[proxy]

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Raises errors of httpcore."""
        assert isinstance(request.stream, httpx.AsyncByteStream)
        target = httpcore.URL(
            scheme=request.url.raw_scheme, host=request.url.raw_host, port=request.url.port, target=request.url.raw_path
        )
        sent = httpcore.Request(
            request.method, target, headers=request.headers.raw, content=request.stream, extensions=request.extensions
        )
        if self._route.proxy_for(request.url.scheme, request.url.host) is None:
            response = await self._pool(request.url).handle_async_request(sent)
        else:
            await check_tunnel(request.url.host, request.url.port or 443)
            with guarding(None):  # the proxy itself may be anywhere
                response = await self._pool(request.url).handle_async_request(sent)
        assert isinstance(response.stream, AsyncIterable)
        return httpx.Response(
            response.status, headers=response.headers, stream=_Body(response), extensions=response.extensions
        )

    async def aclose(self) -> None:
        """Close all connections."""
        for pool in self._pools.values():
            await pool.aclose()


def _httpcore_proxy(proxy: Proxy, ssl_context: ssl.SSLContext) -> httpcore.Proxy:
    user, password = proxy.credentials or (None, None)
    return httpcore.Proxy(
        proxy.address,
        auth=(user.reveal(), password.reveal()) if user and password else None,
        ssl_context=ssl_context if proxy.address.startswith("https:") else None,
    )


class _Body(httpx.AsyncByteStream):
    """The body of a response of httpcore."""

    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    def __aiter__(self) -> AsyncIterator[bytes]:
        assert isinstance(self._response.stream, AsyncIterable)
        return aiter(self._response.stream)

    async def aclose(self) -> None:
        """Give the connection back to the pool, or close it."""
        await self._response.aclose()


def _stated_size(headers: Mapping[str, str]) -> int | None:
    """How many bytes the body will have; None where nobody says, and where it comes packed."""
    length = headers.get("content-length", "")
    return int(length) if length.isdecimal() and not {"content-encoding", "transfer-encoding"} & {*headers} else None


def _is_delimited(response: httpx.Response) -> bool:
    """Whether the end of the body differs from a connection that broke: HTTP/1 allows a body that ends with it."""
    is_in_process = "network_stream" not in response.extensions
    names = {"content-length", "transfer-encoding", "content-encoding"}
    return is_in_process or response.http_version == "HTTP/2" or bool(names & {*response.headers})


def _redirect_target(response: httpx.Response) -> str | None:
    """Where a signed link is redirected to; None: nowhere, or to where others could read its signature on the way."""
    if not response.has_redirect_location:
        return None
    try:
        target = str(response.url.join(response.headers["Location"]))
    except httpx.InvalidURL:
        return None
    is_allowed = is_https_or_loopback(target) and (target.startswith("https:") or response.url.scheme == "http")
    return target if is_allowed else None


def _unknown_outcome(request: Request, error: ApiError) -> Unknown | None:
    """What an answer to a change means that does not say whether it was made; None where it says so."""
    if request.is_read:
        return None
    if isinstance(error, Unreadable):
        reason = told = str(error).removeprefix(f"{request.summary}: ")
    elif isinstance(error, Rejected) and not proves_refusal(error):
        reason = f"the answer is {error.status}"
        failed = "failed" if error.status >= 500 else "answered"
        told = f"the platform {failed} ({error.status}), which does not say what became of it"
    else:
        return None
    return Unknown(f"{request.summary}: {reason}; it may have happened or not: read it again", told)


def _is_transient(error: ApiError) -> bool:
    """Whether the same read may well be answered a moment later."""
    if isinstance(error, Rejected):
        return error.status in _TRANSIENT_STATUS
    return isinstance(error, Unreachable) and isinstance(error.__cause__, _NOT_CONNECTED) and error.cause != "tls"


def lost_cause(error: Exception) -> Cause | None:
    """Why no answer came; None where one came that is not HTTP."""
    if isinstance(error, httpcore.ProxyError):
        return "proxy"
    if isinstance(error, httpcore.TimeoutException | TimeoutError):
        return "timeout"
    for link in _causes(error):
        if isinstance(link, gaierror):
            return "dns"
        if isinstance(link, ssl.SSLError):
            return "tls"
    if isinstance(error, httpcore.ConnectError):
        return "refused"
    is_broken = "disconnected" in str(error) or "closed" in str(error)
    return "reset" if is_broken or not isinstance(error, httpcore.ProtocolError) else None


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__
