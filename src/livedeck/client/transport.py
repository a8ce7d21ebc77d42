"""The road to the platform, and the only file that knows httpx.

Here and nowhere else: bearer token, time limits, the size limit, the read-only gate, and the making of ApiErrors out of
whatever the network or the platform does. Redirects are not followed: the token stays with the configured address.
Nothing is retried: the caller paces itself, and a change must never be sent twice.
"""

from __future__ import annotations

import asyncio
import ssl
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from ipaddress import ip_address
from socket import gaierror
from time import perf_counter
from typing import Any

from livedeck import wording
from livedeck.client.decoding import decode
from livedeck.client.errors import ApiError, Cause, Misconfigured, ReadOnly, Unknown, Unreachable, Unreadable
from livedeck.client.refusals import refusal, retry_after, server_date
from livedeck.client.secret import Secret

sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]  # its command line costs click, rich and 50 ms
import httpx  # noqa: E402

_Message = MutableMapping[str, Any]
Mount = Callable[[_Message, Callable[[], Awaitable[_Message]], Callable[[_Message], Awaitable[None]]], Awaitable[None]]
"""An ASGI app."""

_READS = frozenset({"GET", "HEAD"})
_UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_LARGEST_ANSWER = 64 * 2**20
_LIMITS = httpx.Limits(max_connections=10, max_keepalive_connections=8, keepalive_expiry=4.0)  # servers hang up at 5 s
_WORDS: Mapping[Cause, str] = {
    "refused": "{host} cannot be reached; check the address and that the platform is up",
    "dns": "{host} has no address; check its name and the network",
    "tls": "no trusted connection to {host}; check its certificate and the address",
    "timeout": "{host} did not answer in time ({timeout:g} s)",
    "reset": "{host} broke the connection before its answer was complete",
}


@dataclass(frozen=True, slots=True)
class Call:
    """One request. `path` is below the base address, without a leading slash; `what` says it in words for errors."""

    method: str
    path: str
    what: str
    params: Mapping[str, str | int | bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One answer, good or bad: when it was complete (our clock), seconds since its request began, its `Date`."""

    at: datetime
    round_trip: float
    server_date: datetime | None


@dataclass(frozen=True, slots=True, repr=False)
class _Answer:
    status: int
    headers: httpx.Headers
    body: bytes


def origin(name: str, address: str) -> httpx.URL:
    """The address as one to which a token may go. Raises Misconfigured, naming the setting, for any other."""
    try:
        url = httpx.URL(address)
    except (httpx.InvalidURL, UnicodeError):
        raise Misconfigured(f"{name} is no URL") from None
    if url.scheme not in {"http", "https"} or not url.host:
        raise Misconfigured(f"{name} should begin with https:// and a host")
    if url.port is not None and not 0 < url.port < 65_536:
        raise Misconfigured(f"{name} should have a port from 1 to 65535")
    if url.userinfo or url.query or url.fragment:
        raise Misconfigured(f"{name} should hold no user name, no query and no fragment")
    if url.scheme == "http" and not _loopback(url.host):
        raise Misconfigured(f"{name} should be https: over http the token would travel in clear")
    return url


class Transport:
    """Sends calls with the token and gives back what JSON they answer."""

    def __init__(
        self,
        base: httpx.URL,
        token: Secret,
        *,
        read_only: bool,
        timeout: float,
        now: Callable[[], datetime],
        mount: Mount | None,
    ) -> None:
        self.read_only = read_only
        self.host = base.netloc.decode("ascii")
        self.exchanges: deque[Exchange] = deque(maxlen=5)
        self._token = token
        self._timeout = timeout
        self._now = now
        self._client = httpx.AsyncClient(
            base_url=base,
            headers={"Authorization": f"Bearer {_bearer(token)}", "User-Agent": _agent(), "Accept": "application/json"},
            timeout=timeout,
            limits=_LIMITS,
            trust_env=False,  # a proxy from the environment would see the token of a plain loopback address
            transport=None if mount is None else httpx.ASGITransport(mount, raise_app_exceptions=False),
        )

    async def send(self, call: Call) -> object:
        """The JSON that answers the call; None where the body is empty. Raises ApiError and nothing else.

        Connecting and every silence may take `timeout` seconds, the whole exchange twice that.
        """
        if self.read_only and call.method not in _READS:
            raise ReadOnly(f"{call.what}: not sent, the deck is read-only")
        answer = await self._exchange(call)
        if not 200 <= answer.status < 300:
            raise self._refused(call, answer, _error_body(answer))
        decoded = _decoded(answer, call.what)
        if isinstance(decoded, dict) and "error" in decoded and "data" not in decoded:
            raise self._refused(call, answer, decoded)
        return decoded

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.aclose()

    async def _exchange(self, call: Call) -> _Answer:
        began = perf_counter()
        try:
            async with asyncio.timeout(2 * self._timeout):
                answer = await self._answer(call)
        except (httpx.InvalidURL, UnicodeError) as error:
            raise Misconfigured(f"{call.what}: {self.host} or what was asked for makes no URL") from error
        except (httpx.HTTPError, OSError) as error:  # a broken TLS record passes httpx as it is
            raise self._lost(call, error) from error
        self.exchanges.append(Exchange(self._now(), perf_counter() - began, server_date(answer.headers)))
        return answer

    async def _answer(self, call: Call) -> _Answer:
        body = bytearray()
        async with self._client.stream(call.method, call.path, params=dict(call.params) or None) as response:
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > _LARGEST_ANSWER:
                    raise Unreadable(f"{call.what}: the answer is larger than {_LARGEST_ANSWER >> 20} MiB")
        return _Answer(response.status_code, response.headers, bytes(body))

    def _refused(self, call: Call, answer: _Answer, decoded: object) -> ApiError:
        return refusal(
            call.what,
            status=answer.status,
            body=decoded,
            location=answer.headers.get("Location", ""),
            retry_after=retry_after(answer.headers, self._now()),
            secrets=(self._token,),
        )

    def _lost(self, call: Call, error: Exception) -> ApiError:
        if isinstance(error, httpx.DecodingError):
            return Unreadable(f"{call.what}: the answer is packed in a way that cannot be unpacked")
        cause = _cause(error)
        if call.method not in _READS and not isinstance(error, _UNSENT):
            why = cause or "it was not HTTP"
            return Unknown(f"{call.what}: the answer was lost ({why}); it may have happened or not: read it again")
        if cause is None:
            return Unreadable(f"{call.what}: {self.host} does not speak HTTP; check the address")
        return Unreachable(f"{call.what}: {_WORDS[cause].format(host=self.host, timeout=self._timeout)}", cause)


def _loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _bearer(token: Secret) -> str:
    text = token.reveal()
    if not text:
        raise Misconfigured("the token is empty")
    if not text.isascii() or not text.isprintable() or " " in text:
        raise Misconfigured("the token holds characters that cannot be sent")
    return text


def _agent() -> str:
    try:
        return f"livedeck/{version('livedeck')}"
    except PackageNotFoundError:  # run from a checkout
        return "livedeck"


def _decoded(answer: _Answer, what: str) -> object:
    if not answer.body.strip():
        return None
    try:
        return decode(answer.body)
    except ValueError:  # raised below, outside, so that no traceback quotes the body
        sent = wording.safe(answer.headers.get("Content-Type", "of no stated type").partition(";")[0], 60)
    raise Unreadable(f"{what}: the answer ({sent}) is no JSON; check the address")


def _error_body(answer: _Answer) -> object:
    try:
        return decode(answer.body)
    except ValueError:  # a proxy's page: the status has to do
        return None


def _cause(error: Exception) -> Cause | None:
    """Why no answer came; None where one came that is not HTTP."""
    if isinstance(error, httpx.TimeoutException | TimeoutError):
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
