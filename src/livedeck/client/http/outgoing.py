"""Requests to addresses that the user configured besides the platform, such as webhooks and collectors.

These requests have neither the platform's token nor its rate limit. Each is tried once, and the caller decides about a
retry. Only `open_public`, which reads addresses that anyone may have named, follows redirects. Other addresses must be
https, or http to loopback, because the address may contain a secret. `Egress` limits the hosts of notifications, but
not the link to a collector.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import httpcore
import httpx

from livedeck import __version__
from livedeck.client.http.error_mapping import retry_after
from livedeck.client.http.errors import Misconfigured, Unreachable, Unreadable
from livedeck.client.http.reach import EgressGuard, Guard, LinkGuard, guarding
from livedeck.client.http.request import is_https_or_loopback
from livedeck.client.http.route import Route
from livedeck.client.http.secrets import Secret
from livedeck.client.http.transport import LOST, Connections, lost_cause
from livedeck.egress import Egress, literal_addresses
from livedeck.record import Record
from livedeck.text.secrets import masked_line

_MAX_ANSWER = 16_384
"""Maximum number of bytes to read from a reply."""

_MAX_SHOWN = 2000
"""Number of bytes at the beginning of a reply that become its text."""

_MAX_WORDS = 120
"""Maximum number of characters of the text of a reply."""

_MAX_FAULT = 300
"""Maximum number of characters of a reason for not sending."""

_TIMEOUT = 10.0
"""Seconds for a whole exchange."""

_MAX_REDIRECTS = 3
"""Maximum number of redirects of a public address; a CDN needs one or two."""


class Reply(Record):
    """Reply of a receiver.

    `status`: HTTP status; 0 if no reply came. `text`: the reply, or the reason why none came. `retry_after`: seconds to
    wait; None if the receiver did not state a time. `body`: beginning of the reply, for programs: nothing is masked.
    """

    status: int
    text: str = ""
    retry_after: float | None = None
    body: bytes = b""


class Outgoing:
    """Sender of requests through the platform's proxy and TLS settings. As a context manager it closes its connections.

    `egress`: rule for the allowed hosts, checked by the address of each connection; None for every host.
    """

    def __init__(
        self,
        *,
        proxy: str | None = None,
        ca_file: Path | None = None,
        use_environment: bool = False,
        egress: Egress | None = None,
    ) -> None:
        self._route = Route(Secret(proxy) if proxy else None, ca_file, None, use_environment)
        self._egress = egress
        self._client = self._make_client()
        self._public_clients: dict[str, httpx.AsyncClient] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for client in (self._client, *self._public_clients.values()):
            await client.aclose()

    def _make_client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            transport=Connections(self._route, http2=False),
            trust_env=False,
            timeout=_TIMEOUT,
            follow_redirects=False,
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        )

    async def send(self, method: str, address: str, headers: Mapping[str, str], body: bytes) -> Reply:
        """Send a request once and return the reply. A failure of the network is returned as a reply, and not raised.

        A reply whose status came in time counts, even if its body never ends.
        """
        sent = {"Accept-Encoding": "identity", **headers}
        reply = Reply(0, "no reply (timeout)")
        try:
            async with asyncio.timeout(_TIMEOUT), self.open(method, address, sent, body) as incoming:
                reply = Reply(incoming.status, "", retry_after(incoming.headers, datetime.now(UTC)))
                body = await _beginning(incoming)
                text = masked_line(body[:_MAX_SHOWN].decode(errors="replace"), _MAX_WORDS)
                reply = replace(reply, text=text, body=body)
        except (Misconfigured, Unreachable, Unreadable) as error:
            return reply if reply.status else Reply(0, masked_line(error, _MAX_FAULT))
        except TimeoutError:
            pass
        return reply

    @asynccontextmanager
    async def open(
        self, method: str, address: str, headers: Mapping[str, str], body: bytes = b"", *, silence: float = _TIMEOUT
    ) -> AsyncIterator[Incoming]:
        """Send a request once and open its reply for reading.

        `silence`: seconds without a byte after which reading fails.

        Raises Misconfigured, Unreachable or Unreadable, even while the reply is read.
        """
        check_outgoing(address)
        guard = self._guard(urlsplit(address).scheme)
        async with self._opened(
            self._client, guard, method, address, headers=headers, body=body, silence=silence
        ) as incoming:
            yield incoming

    @asynccontextmanager
    async def open_public(self, address: str, headers: Mapping[str, str], *, home: str) -> AsyncIterator[Incoming]:
        """Read an address that anyone may have named, such as one in a playlist, and follow up to 3 redirects.

        `home`: configured address that led to `address`. Allowed are public networks and the network of `home`. Plain
        http is allowed only if `home` is http. Neither cookies nor credentials are sent.

        Raises Misconfigured, Unreachable or Unreadable, even while the reply is read.
        """
        host = urlsplit(home).hostname or ""
        if host not in self._public_clients:  # one for each host, since a reused connection is not judged again
            self._public_clients[host] = self._make_client()
        client, guard = self._public_clients[host], LinkGuard("playlist", [host], host)
        for _ in range(_MAX_REDIRECTS + 1):
            check_public(address, home)
            async with self._opened(client, guard, "GET", address, headers=headers) as incoming:
                target = incoming.redirect
                if target is None:
                    yield incoming
                    return
            address = target
        raise Misconfigured(f"not followed: more than {_MAX_REDIRECTS} redirects")

    @asynccontextmanager
    async def _opened(
        self,
        client: httpx.AsyncClient,
        guard: Guard | None,
        method: str,
        address: str,
        *,
        headers: Mapping[str, str],
        body: bytes = b"",
        silence: float = _TIMEOUT,
    ) -> AsyncIterator[Incoming]:
        try:
            request = client.build_request(
                method,
                address,
                headers={"User-Agent": f"livedeck/{__version__}", **headers},
                content=body,
                timeout=httpx.Timeout(_TIMEOUT, read=silence),
            )
            with guarding(guard):
                response = await client.send(request, stream=True)
            async with aclosing(response):
                yield Incoming(response)
        except (httpx.InvalidURL, UnicodeError) as error:
            raise Misconfigured(masked_line(error, 300)) from None
        except httpx.DecodingError:
            raise Unreadable("the reply cannot be decompressed") from None
        except (httpx.HTTPError, httpcore.ProxyError, *LOST, OSError) as error:
            if cause := lost_cause(error):
                raise Unreachable(f"no reply ({cause})", cause) from error
            if "in location header" in str(error):  # httpx reads that header even though it follows no redirect
                raise Unreadable("the reply redirects to no address") from error
            raise Unreadable("the reply was not HTTP") from error

    def _guard(self, scheme: str) -> EgressGuard | None:
        return EgressGuard(self._egress, is_clear=scheme == "http") if self._egress is not None else None

    def proxy_variables(self) -> dict[str, str]:
        """Return the environment variables that make another program use the same proxy. Raises Misconfigured."""
        return self._route.variables()

    async def refusal(self, address: str, *, looks_up: bool) -> str:
        """Return the reason why requests to an address are not allowed; empty if they are allowed, or that is unknown.

        Sends no request. `looks_up`: look up the addresses of a name, too.
        """
        try:
            check_outgoing(address)
            url = httpx.URL(address)
            guard = self._guard(url.scheme)
            is_judged = bool(literal_addresses(url.host))
            is_judged = is_judged or (looks_up and self._route.proxy_for(url.scheme, url.host) is None)
            if guard and is_judged:
                async with asyncio.timeout(_TIMEOUT):
                    await guard.resolve(url.host, url.port or 443)
        except (Misconfigured, httpx.InvalidURL) as error:
            return masked_line(error, _MAX_FAULT)
        except (OSError, UnicodeError):
            pass
        return ""


class Incoming:
    """Reply that is being received. `headers`: by name, ignoring case. `address`: of the reply, after redirects."""

    def __init__(self, response: httpx.Response) -> None:
        self.status: int = response.status_code
        self.headers: Mapping[str, str] = response.headers
        self.address = str(response.url)
        self._response = response

    @property
    def redirect(self) -> str | None:
        """Address that the reply redirects to; None if it is no redirect. Raises httpx.InvalidURL."""
        response = self._response
        return str(response.url.join(response.headers["Location"])) if response.has_redirect_location else None

    def retry_after(self) -> float | None:
        """Return the seconds of `Retry-After`; None without one."""
        return retry_after(self.headers, datetime.now(UTC))

    def chunks(self) -> AsyncIterator[bytes]:
        """Return the chunks of the body as they arrive, decompressed."""
        return self._response.aiter_bytes()

    def packed_chunks(self) -> AsyncIterator[bytes]:
        """Return the chunks of the body as they arrive, in its `Content-Encoding`."""
        return self._response.aiter_raw()


def check_outgoing(address: str) -> None:
    """Raise Misconfigured unless the address is https, or http to loopback."""
    if not is_https_or_loopback(address):
        raise Misconfigured("the address should be https, or http to loopback: over http others could read and use it")


def check_public(address: str, home: str) -> None:
    """Raise Misconfigured unless the address is https (or http if `home` is http) and has no user name or password."""
    try:
        parts, own = urlsplit(address), urlsplit(home)
        is_usable = bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_usable = False
    if not is_usable or parts.scheme not in {"http", "https"}:
        raise Misconfigured("not sent: not an http or https address")
    if parts.username is not None or parts.password is not None:
        raise Misconfigured("not sent: the address has a user name or a password")
    if parts.scheme == "http" and own.scheme != "http":
        raise Misconfigured("not sent: the address is http, and the playlist is https")


async def _beginning(incoming: Incoming) -> bytes:
    content = b""
    async for chunk in incoming.chunks():
        content += chunk
        if len(content) >= _MAX_ANSWER:
            break
    return content[:_MAX_ANSWER]
