"""Sends requests to the platform and receives the responses. Only this file and `outgoing.py` import httpx.

This file alone handles the bearer token, timeouts, size limit, rate limit, retries and the read-only check. It turns
errors of the network and the platform into ApiErrors. Redirects are not followed, so the token goes only to the two
configured addresses. Only reads are retried, because a change must never be sent twice.
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
from errno import ECONNREFUSED
from functools import cache, partial
from http.cookiejar import CookieJar, DefaultCookiePolicy
from importlib.util import find_spec
from socket import gaierror
from typing import Any, Protocol, TypeVar

import httpcore
import httpx

from livedeck import __version__
from livedeck.client.http.encoding import bearer, httpx_content, query
from livedeck.client.http.error_mapping import proves_refusal, request_id, seconds_cached, server_date
from livedeck.client.http.errors import (
    LOST_RESPONSE,
    ApiError,
    Cause,
    Misconfigured,
    NotFound,
    RateLimited,
    ReadOnly,
    Rejected,
    Unauthorized,
    Unknown,
    Unreachable,
    Unreadable,
)
from livedeck.client.http.hooks import NO_HOOKS, Hooks
from livedeck.client.http.network import (
    AsyncioBackend,
    HandshakeSilence,
    KeptSilence,
    SpokeFirst,
    Violation,
    close_if_surplus,
    stopping_at_refusal,
)
from livedeck.client.http.quoting import quoted_body, quoted_headers
from livedeck.client.http.reach import LinkGuard, check_tunnel, guarding
from livedeck.client.http.renewal import TokenRenewal, TokenSource
from livedeck.client.http.request import (
    BaseUrl,
    Request,
    ResponseTiming,
    StreamedResponse,
    is_https_or_loopback,
    record_timing,
)
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
"""ASGI app that replaces the platform, without a socket."""

HttpTransport = httpx.AsyncBaseTransport
"""Transport of httpx that sends the requests in place of the client's own connections."""

T = TypeVar("T")


class RunInThread(Protocol):
    """Function that calls another function without blocking the event loop, like `asyncio.to_thread`."""

    async def __call__(self, function: Callable[[], T], /) -> T:
        """Call `function` and return its result."""


LOST = (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError, httpcore.UnsupportedProtocol)

# httpcore's own errors, and those of a transport of httpx that a program passed in
_PROXY_FAILED = (httpcore.ProxyError, httpx.ProxyError)
_TIMED_OUT = (httpcore.TimeoutException, httpx.TimeoutException, TimeoutError)
_REFUSED = (httpcore.ConnectError, httpx.ConnectError)
_NOT_CONNECTED = (*_REFUSED, httpcore.ConnectTimeout, httpx.ConnectTimeout)

_NEVER_SENT = (
    *_NOT_CONNECTED,
    *_PROXY_FAILED,
    SpokeFirst,
    httpcore.PoolTimeout,
    httpx.PoolTimeout,
    httpcore.UnsupportedProtocol,
    httpx.UnsupportedProtocol,
)

_HEADERS = {"User-Agent": f"livedeck/{__version__}", "Accept": "application/json", "Accept-Encoding": "gzip, deflate"}

_TRANSIENT_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504, *range(520, 530)})
"""Statuses after which a read may soon succeed. Gateways send 520 to 529 for a platform that they cannot reach."""

_MAX_BODY = 64 * 2**20

_SMALL_UPLOAD = 2**20

_EXPECTATION_FAILED = 417

_LONG_REST = 2**20
"""Minimum number of remaining bytes for reading a body directly, which makes the connection unusable afterwards."""

_MAX_LOGGED = 1000

_MAX_REDIRECTS = 5

_UNKNOWN_ADVICE = "the change may or may not have been made: read the object again"

_LIMITS: Mapping[str, Any] = {
    "max_connections": MAX_CONNECTIONS,
    "max_keepalive_connections": 8,
    "keepalive_expiry": 4.0,  # servers close idle connections after 5 s
}


class Transport:
    """Sender of requests with the token, which also parses the responses.

    Args:
        base_urls: Addresses of the API and of uploads.
        token: The token.
        read_only: Raise ReadOnly for every change.
        timing: Time limits and clocks.
        route: Proxy and certificates.
        token_source: Source to read again after the platform refused the token.
        mount: ASGI app that replaces the platform.
        http_transport: Transport that replaces the client's own connections.
        hooks: Functions that see each request and response.
        http2: Offer HTTP/2, which needs the package h2.
        run_in_thread: Runs the decoding of long bodies.

    Raises:
        Misconfigured: An argument cannot be used.
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
        http_transport: HttpTransport | None = None,
        hooks: Hooks = NO_HOOKS,
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
        self._loops: list[asyncio.AbstractEventLoop] = []  # the loop of the connections, shared by all copies
        self._hooks = hooks
        self._connections = http_transport or _make_connections(mount, route, http2=http2)
        self._renewal = TokenRenewal(token_source, token, timing.timer)
        self._client = _make_client(token, timing.timeout, self._connections)

    def without_retry(self) -> Transport:
        """Return a copy that tries each read once, with the same connections, token and rate limit."""
        transport = copy.copy(self)
        transport._retry_seconds = 0.0  # noqa: SLF001  its own class
        return transport

    def with_timeout(self, seconds: float) -> Transport:
        """Return a copy with another timeout, and the same connections, token and rate limit."""
        transport = copy.copy(self)
        transport.timing = replace(self.timing, timeout=seconds)
        return transport

    async def send(
        self, request: Request, parse: Callable[[object], T], parse_body: Callable[[bytes], T | None] | None = None
    ) -> T:
        """Send a request and return the result of `parse` for its JSON, or for None if the body is empty.

        `parse_body` gets the body of a success first; `parse` is called if it returns None.

        Connecting and each silence may take `timeout` seconds, and a whole exchange twice as long. An upload may take
        any time as long as it progresses. A read that fails temporarily is retried for `retry` seconds in total.

        Raises:
            ApiError: Anything that goes wrong.
        """

        async def attempt(limit: asyncio.Timeout) -> T:
            response, body = await self._open(request), bytearray()
            with _described_errors(response, body):
                try:
                    received = await self._receive(request, response, body)
                finally:
                    await response.aclose()
                limit.reschedule(None)  # decoding takes this machine's time, and the platform has responded
                self._note_timing(response)
                return await self.parse(received, parse, parse_body)

        return await self._with_retry(request, attempt)

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[StreamedResponse]:
        """Send a read, and yield its response, which may have any length. Its chunks are read as they arrive.

        A redirect of a signed link is followed to an https address, or from loopback to loopback. Raises ApiError, also
        while the chunks are read.
        """

        async def attempt(_limit: asyncio.Timeout) -> httpx.Response:
            response = await self._open_link(request) if request.signed_link else await self._open(request)
            body = bytearray()
            try:
                with _described_errors(response, body):
                    rejected = None if response.is_success else await self._receive(request, response, body)
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
            with _described_errors(response, bytearray()):
                async with aclosing(self._chunks(request, response, _sent_chunks(response))) as chunks:
                    media_type = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
                    yield StreamedResponse(_stated_size(response.headers), media_type, _is_delimited(response), chunks)
        finally:
            await response.aclose()

    async def parse(
        self, response: Response, parse: Callable[[object], T], parse_body: Callable[[bytes], T | None] | None = None
    ) -> T:
        """Return the result of `parse` for a complete response. Raises Rejected, or Unreadable if it is not JSON.

        Only one response is parsed at a time, because several together would block the event loop for too long.
        """

        def parse_value() -> T:
            parsed = parse_body(bytes(response.body)) if parse_body and response.is_success else None
            return parse(response.value(self.timing.now())) if parsed is None else parsed

        async with self._decoding:
            if len(response.body) > LONG_BODY:
                return await self._run_in_thread(parse_value)
            await asyncio.sleep(0)
            return parse_value()

    async def check_uploads(self) -> None:
        """Check the connection to the upload address, if it differs from the address of the API. Raises ApiError."""
        if self._base_urls["upload"] != self._base_urls["api"]:
            request = Request("HEAD", "", "reach the upload address", base_url="upload")
            response = await self._with_retry(request, lambda _: self._open(request))
            await response.aclose()

    def check_may_change(self, summary: str) -> None:
        """Raise ReadOnly if this client is read-only."""
        if self.read_only:
            raise ReadOnly(f"{summary}: not sent, livedeck is read-only")

    def log_faults(self, subject: str, faults: Sequence[object]) -> None:
        """Log each unreadable field once, because a poller receives the same fields every few seconds."""
        for fault in faults:
            key = subject, getattr(fault, "field", str(fault))
            if key not in self._logged and len(self._logged) < _MAX_LOGGED:
                self._logged.add(key)
                _log.warning("%s: %s", subject, fault)

    def set_token(self, token: Secret) -> None:
        """Use another token from now on. Raises Misconfigured if a header cannot carry it."""
        self._client.headers["Authorization"] = f"Bearer {bearer(token)}"
        self._renewal.token = token

    def url(self, request: Request) -> str:
        """Return the full address of a request."""
        if request.signed_link:
            return request.signed_link.reveal()
        base = self._base_urls[request.base_url]
        return str(base.copy_with(raw_path=base.raw_path.rstrip(b"/") + b"/" + request.path.encode()))

    async def close(self) -> None:
        """Close the connections. Does nothing in another event loop: the end of their own loop has closed them."""
        if not self._loops or self._loops[0] is asyncio.get_running_loop():
            await self._client.aclose()

    async def _with_retry(self, request: Request, attempt: Callable[[asyncio.Timeout], Awaitable[T]]) -> T:
        """Send a request with retries. After a refused token, renew the token and send a read (not a change) again."""
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

    async def _with_passing_retry(self, request: Request, attempt: Callable[[asyncio.Timeout], Awaitable[T]]) -> T:
        if not request.is_read:
            self.check_may_change(request.summary)
        self._check_loop(request.summary)
        policy = RetryPolicy(self.timing, self._retry_seconds if request.is_read else 0.0)
        while True:
            started_at = self.timing.timer()
            # a request with a single try does not wait: a user expects a change at once, and a poller has its own pace
            turn = self._cooldown.turn(policy.seconds_left) if policy.seconds_left > 0 else nullcontext()
            try:
                async with turn:
                    return await self._attempt(request, attempt, policy)
            except CoolingDown as pause:
                text = f"not sent, because a reply demanded a pause; try again in {pause.seconds:.0f} s"
                raise RateLimited(f"{request.summary}: {text}", status=429, retry_after=pause.seconds) from None
            except ApiError as error:
                delay = policy.next_delay(self.timing.timer() - started_at, self._note_cooldown(error))
                if unknown := _unknown_outcome(request, error):
                    raise unknown from error
                if delay is None or not _is_transient(error):
                    raise
            await self.timing.sleep(delay)

    async def _attempt(
        self, request: Request, attempt: Callable[[asyncio.Timeout], Awaitable[T]], policy: RetryPolicy
    ) -> T:
        await self._rate_limiter.acquire()
        if self._client.is_closed:
            raise Misconfigured(f"{request.summary}: not sent, the client is closed")
        with self.request_counts.counting(request.operation, self.timing), self._mapped_errors(request):
            seconds = None if request.upload_size else self.timing.machine_seconds(policy.timeout)
            async with asyncio.timeout(seconds) as limit:
                result = await attempt(limit)
        self._cooldown.end()
        return result

    def _note_cooldown(self, error: ApiError) -> float:
        """Begin or end the cool-down after an error. Returns the seconds that every read must wait, or 0."""
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
            raise Misconfigured(f"{summary}: not sent, this Api belongs to another event loop; create one in each loop")

    async def _open(self, request: Request, *, is_expectation_refused: bool = False) -> httpx.Response:
        """Send a request and return the response as soon as its head has arrived.

        An upload that expects `100 Continue` and gets 417 is sent again without this header, because the platform has
        not taken the body.
        """
        content = httpx_content(request)
        sent = self._client.build_request(
            request.method,
            self.url(request),
            params=query(request),
            timeout=self.timing.machine_seconds(self.timing.timeout),
            **content,
        )
        if request.signed_link:
            request.signed_link.register()
            del sent.headers["Authorization"]  # only the configured addresses receive it (trust.md, "Secrets")
        sent.extensions["started_at"] = self.timing.timer()
        if not request.upload_size:
            guard = LinkGuard(request.summary, self._platform_hosts()) if request.signed_link else None
            with guarding(guard):
                response = await self._send(request, sent)
            self._log_response(request, response)
            return response
        sent.extensions["timeout"]["read"] = self.timing.machine_seconds(self.timing.upload_timeout)
        expects_continue = request.upload_size > _SMALL_UPLOAD and not is_expectation_refused
        if expects_continue:  # a smaller body is sent before the platform has read the head
            sent.headers["Expect"] = "100-continue"
        async with stopping_at_refusal(expects_continue=expects_continue) as upload:
            response = await self._send(request, sent)
        self._log_response(request, response)
        if upload.is_cut and response.is_success:
            await response.aclose()
            raise Violation("reported success, but closed the connection before the file was complete")
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

    async def _receive(self, request: Request, response: httpx.Response, body: bytearray) -> Response:
        """Read the whole response into `body`, which is empty at first."""
        async with aclosing(self._chunks(request, response, response.aiter_raw())) as chunks:
            async for chunk in chunks:
                body += chunk
                if len(body) > _MAX_BODY:
                    raise Unreadable(f"{request.summary}: the response is larger than {_MAX_BODY >> 20} MiB")
        return Response(request.summary, response.status_code, response.headers, body, not request.is_read)

    async def _chunks(
        self, request: Request, response: httpx.Response, raw: AsyncIterator[bytes]
    ) -> AsyncGenerator[bytes, None]:
        has_body = request.method != "HEAD"  # the headers for HEAD describe the body of a GET
        coding = response.headers.get("Content-Encoding", "").strip().lower() if has_body else ""
        with self._mapped_errors(request):
            try:
                async for chunk in unpack(raw, coding) if coding not in {"", "identity"} else raw:
                    yield chunk
            except ValueError:
                raise Unreadable(f"{request.summary}: the response cannot be decompressed") from None

    def _note_timing(self, response: httpx.Response) -> None:
        round_trip = self.timing.timer() - response.request.extensions["started_at"]
        request_id = safe(response.headers.get("X-Request-ID", ""), 80)
        date = server_date(response.headers)
        age = seconds_cached(response.headers)
        timing = ResponseTiming(self.timing.now(), round_trip, date, response.status_code, request_id, age)
        self.timings.append(timing)
        record_timing(timing)

    async def _send(self, request: Request, sent: httpx.Request) -> httpx.Response:
        """Send without httpx's own `send`, which logs whole addresses with their signatures at INFO."""
        seen = self._hooks.begin(request.operation, sent.method, _shown_path(request), sent.headers.multi_items())

        def took() -> float:
            return self.timing.timer() - float(sent.extensions["started_at"])

        try:
            response = await self._connections.handle_async_request(sent)
        except BaseException as error:
            fault = (lost_cause(error) or "not HTTP") if isinstance(error, Exception) else "cancelled"
            self._hooks.end(seen, took, fault=fault)
            raise
        self._hooks.end(
            seen,
            took,
            status=response.status_code,
            request_id=request_id(response.headers),
            headers=response.headers.multi_items(),
        )
        if response.is_stream_consumed:  # the response of a mock was read already; its stream can be read again
            response = httpx.Response(
                response.status_code, headers=response.headers, stream=response.stream, extensions=response.extensions
            )
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
        """Turn every error of httpx, httpcore and the network into an ApiError."""
        try:
            yield
        except (httpx.InvalidURL, UnicodeError) as error:
            raise Misconfigured(f"{request.summary}: {self.host} and the id do not form a URL") from error
        except (httpx.HTTPError, httpcore.ProxyError, *LOST, OSError) as error:  # OSError: a broken TLS record
            raise self._lost(request, error) from error

    def _lost(self, request: Request, error: Exception) -> ApiError:
        cause = lost_cause(error)
        _log.debug("%s %s: no response (%s)", request.method, _shown_path(request), cause or "it was not HTTP")
        if not request.is_read and not isinstance(error, _NEVER_SENT):
            reason = f"the response was lost ({cause or 'it was not HTTP'})"
            if isinstance(error, Violation):
                reason = f"the platform {error}"
            return Unknown(f"{request.summary}: {reason}; {_UNKNOWN_ADVICE}", reason)
        url = httpx.URL(self.url(request))
        host = url.netloc.decode("ascii")
        not_sent = "" if request.is_read else "; nothing was sent"
        if isinstance(error, SpokeFirst):
            return Unreachable(f"{request.summary}: {host} {error}{not_sent}", "refused", is_connected=True)
        if isinstance(error, Violation):
            return Unreadable(f"{request.summary}: {host} {error}")
        if proxy := self._failed_proxy(url, error):
            fault = f"refuses ({safe(str(error), 80)})" if cause == "proxy" else "cannot be reached"
            text = LOST_RESPONSE["proxy"].format(proxy=proxy.address, reason=fault)
            return Unreachable(f"{request.summary}: {text}", "proxy", is_connected=False)
        if cause is None:
            return Unreadable(f"{request.summary}: {host} does not speak HTTP; check the address", is_foreign=True)
        text = LOST_RESPONSE[cause].format(host=host, timeout=self.timing.timeout)
        is_connected = None if self._route.proxy_for(url.scheme, url.host) else _is_connected(error)
        return Unreachable(f"{request.summary}: {text}{not_sent}", cause, is_connected=is_connected)

    def _failed_proxy(self, url: httpx.URL, error: Exception) -> Proxy | None:
        """Return the proxy if it caused the error (unreachable, or opened no tunnel); None if it did not."""
        is_before_tunnel = isinstance(error, (*_PROXY_FAILED, *_NOT_CONNECTED)) and lost_cause(error) != "tls"
        return self._route.proxy_for(url.scheme, url.host) if is_before_tunnel else None


@contextmanager
def _described_errors(response: httpx.Response, body: bytearray) -> Iterator[None]:
    """Add a description of the response to errors of the block. `body`: bytes that have been received."""
    try:
        yield
    except (Rejected, Unreadable, Unreachable, Unknown) as error:
        headers = response.headers
        quoted = quoted_headers(headers.multi_items())
        error.describe_response(response.status_code, request_id(headers), quoted, quoted_body(body))
        raise


def _shown_path(request: Request) -> str:
    """Return the path for a log, without the query, which may hold a signature."""
    return safe(str(request.signed_link or f"/{request.path}"), 200)


def _parse_url(name: BaseUrl, address: str) -> httpx.URL:
    try:
        return httpx.URL(address)
    except httpx.InvalidURL as error:
        raise Misconfigured(f"{'base' if name == 'api' else name}_url is not a URL: {error}") from None


def _make_connections(mount: TransportFactory | None, route: Route, *, http2: bool) -> httpx.AsyncBaseTransport:
    if mount is None:
        return Connections(route, http2=http2)
    return httpx.ASGITransport(mount, raise_app_exceptions=False)


def _make_client(token: Secret, timeout: float, transport: httpx.AsyncBaseTransport) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        headers=_HEADERS | {"Authorization": f"Bearer {bearer(token)}"},
        timeout=timeout,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),  # none, because a broken one would fail requests
        trust_env=False,  # the route reads the environment
        transport=transport,
    )


class Connections(httpx.AsyncBaseTransport):
    """httpcore's connection pools over `network.py`: one for reads and one for changes, for each scheme and proxy.

    Each change gets a new connection, so that a late or surplus response to another request is never taken for its own.

    Making the TLS context takes 20 ms, so the context is made when an address first needs it. If the route names
    certificates, the context is made at once, so that faults of the certificates show early. Raises Misconfigured for
    an unusable route, and for HTTP/2 without the package h2.
    """

    def __init__(self, route: Route, *, http2: bool) -> None:
        if http2 and not find_spec("h2"):
            raise Misconfigured("HTTP/2 needs the package h2")
        route.check()
        self._route, self._http2 = route, http2
        make_default = partial(httpx.create_ssl_context, trust_env=route.use_environment)
        self._ssl_context = cache(partial(route.ssl_context, make_default))
        self._pools: dict[tuple[str, Proxy | None, bool], httpcore.AsyncConnectionPool] = {}
        if route.names_certificates:
            self._ssl_context()

    def _pool(self, url: httpx.URL, *, is_read: bool) -> httpcore.AsyncConnectionPool:
        """Return the pool of connections for a scheme and proxy. Reads and changes have different pools."""
        proxy = self._route.proxy_for(url.scheme, url.host)
        if (url.scheme, proxy, is_read) not in self._pools:
            ssl_context = self._ssl_context() if url.scheme == "https" else None
            self._pools[url.scheme, proxy, is_read] = httpcore.AsyncConnectionPool(
                ssl_context=ssl_context,
                proxy=_httpcore_proxy(proxy, ssl_context) if proxy else None,
                http2=self._http2,
                network_backend=AsyncioBackend(),
                **{**_LIMITS, **({} if is_read else {"max_keepalive_connections": 0})},
            )
        return self._pools[url.scheme, proxy, is_read]

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request. Raises errors of httpcore, not of httpx."""
        assert isinstance(request.stream, httpx.AsyncByteStream)
        target = httpcore.URL(
            scheme=request.url.raw_scheme, host=request.url.raw_host, port=request.url.port, target=request.url.raw_path
        )
        sent = httpcore.Request(
            request.method, target, headers=request.headers.raw, content=request.stream, extensions=request.extensions
        )
        is_read = request.method in {"GET", "HEAD"}
        pool = self._pool(request.url, is_read=is_read)
        if self._route.proxy_for(request.url.scheme, request.url.host) is None:
            response = await pool.handle_async_request(sent)
        else:
            await check_tunnel(request.url.host, request.url.port or 443)
            with guarding(None):  # the proxy itself may be anywhere
                response = await pool.handle_async_request(sent)
        assert isinstance(response.stream, AsyncIterable)
        body = _Body(response, is_read=is_read)
        return httpx.Response(response.status, headers=response.headers, stream=body, extensions=response.extensions)

    async def aclose(self) -> None:
        for pool in self._pools.values():
            await pool.aclose()


def _httpcore_proxy(proxy: Proxy, ssl_context: ssl.SSLContext | None) -> httpcore.Proxy:
    user, password = proxy.credentials or (None, None)
    return httpcore.Proxy(
        proxy.address,
        auth=(user.reveal(), password.reveal()) if user and password else None,
        ssl_context=ssl_context if proxy.address.startswith("https:") else None,
    )


class _Body(httpx.AsyncByteStream):
    """Body of a response of httpcore, for httpx.

    `is_read`: the request was a read, so that a second response does no harm.
    """

    def __init__(self, response: httpcore.Response, *, is_read: bool) -> None:
        self._response = response
        self._is_read = is_read

    async def __aiter__(self) -> AsyncIterator[bytes]:
        assert isinstance(self._response.stream, AsyncIterable)
        async for chunk in self._response.stream:
            yield chunk
        if await close_if_surplus(self._response) and not self._is_read:
            raise Violation("sent more than one response to the same change")

    async def aclose(self) -> None:
        """Return the connection to the pool, or close it."""
        await self._response.aclose()


def _stated_size(headers: Mapping[str, str]) -> int | None:
    """Return the number of bytes of the body; None if it is unknown or the body is compressed."""
    return None if "content-encoding" in headers else _sent_size(headers)


def _sent_size(headers: Mapping[str, str]) -> int | None:
    """Return the number of bytes of the body as sent, possibly compressed; None if it is unknown."""
    length = headers.get("content-length", "")
    return int(length) if length.isdecimal() and "transfer-encoding" not in headers else None


async def _sent_chunks(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    """Yield the body as sent. Raises errors of httpcore.

    Reads the rest of a long body with a stated length straight from the connection, because httpcore and h11 copy each
    byte four times. At that time, httpcore and h11 hold no unread bytes. The connection is closed with the response.
    """
    rest = _sent_size(response.headers) or 0
    connection = response.extensions.get("network_stream") if response.http_version == "HTTP/1.1" else None
    async for chunk in response.aiter_raw():
        yield chunk
        rest -= len(chunk)
        if connection is None or rest < _LONG_REST:
            continue
        while rest:
            part = (await connection.read(rest, response.request.extensions["timeout"]["read"]))[:rest]
            if not part:
                raise httpcore.RemoteProtocolError("peer closed connection without sending complete message body")
            yield part
            rest -= len(part)
        await response.aclose()
        return


def _is_delimited(response: httpx.Response) -> bool:
    """Return whether a broken connection in the middle of the body is noticed, because the body's end is marked."""
    is_in_process = "network_stream" not in response.extensions
    names = {"content-length", "transfer-encoding", "content-encoding"}
    return is_in_process or response.http_version == "HTTP/2" or bool(names & {*response.headers})


def _redirect_target(response: httpx.Response) -> str | None:
    """Return the target of a signed link's redirect; None without one, or if others could read the signature."""
    if not response.has_redirect_location:
        return None
    try:
        target = str(response.url.join(response.headers["Location"]))
    except httpx.InvalidURL:
        return None
    is_allowed = is_https_or_loopback(target) and (target.startswith("https:") or response.url.scheme == "http")
    return target if is_allowed else None


def _unknown_outcome(request: Request, error: ApiError) -> Unknown | None:
    """Return Unknown if the error leaves open whether a change was made, else None.

    Returns None for NotFound, because callers handle NotFound themselves.
    """
    if request.is_read:
        return None
    if isinstance(error, Unreadable):
        cause = reason = str(error).removeprefix(f"{request.summary}: ")
    elif isinstance(error, Rejected) and not isinstance(error, NotFound) and not proves_refusal(error):
        facts = " ".join(str(fact) for fact in (error.status, error.code, error.message) if fact)
        cause = f"the response is {error.status}"
        verb = "failed" if error.status >= 500 else "responded"
        if error.status < 300:
            cause, verb = f"the response reports an error ({facts})", "reported an error"
        reason = (
            f"{error.sender} {verb} ({error.status if error.status >= 300 else facts}), which leaves the outcome open"
        )
    else:
        return None
    return Unknown(f"{request.summary}: {cause}; {_UNKNOWN_ADVICE}", reason).with_response_of(error)


def _is_transient(error: ApiError) -> bool:
    """Return whether a retry of the read may soon succeed."""
    if isinstance(error, Rejected):
        return error.status in _TRANSIENT_STATUS
    if not isinstance(error, Unreachable) or error.cause == "tls":
        return False
    return error.cause in {"timeout", "reset"} or isinstance(error.__cause__, _NOT_CONNECTED)


def lost_cause(error: Exception) -> Cause | None:
    """Return the cause why no response came; None if the other side sent something that is not HTTP."""
    if isinstance(error, _PROXY_FAILED):
        return "proxy"
    if isinstance(error, _TIMED_OUT):
        return "timeout"
    for link in _causes(error):
        if isinstance(link, gaierror):
            return "dns"
        if isinstance(link, ssl.SSLError):
            return "tls"
    if isinstance(error, _REFUSED):
        return "refused" if _is_refused(error) else "route"
    is_broken = "disconnected" in str(error) or "closed" in str(error)
    return "reset" if is_broken or not isinstance(error, httpcore.ProtocolError | httpx.ProtocolError) else None


def _is_refused(error: Exception) -> bool:
    """Return whether the connection was refused: by the host at the address, or by a firewall on the way.

    asyncio joins the errors of several addresses into one text, so their error numbers are only in that text.
    """
    mark = f"[Errno {ECONNREFUSED}]"
    return any(isinstance(link, ConnectionRefusedError) or mark in str(link) for link in _causes(error))


def _is_connected(error: Exception) -> bool | None:
    """Return whether a new connection was made before the failure; None if an older one was used."""
    if any(isinstance(link, KeptSilence) for link in _causes(error)):
        return None
    is_answered = any(isinstance(link, HandshakeSilence) for link in _causes(error))
    return is_answered or not isinstance(error, _NEVER_SENT)


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__
