"""Requests to addresses that the user chose and that are no platform's: webhooks, collectors and the like.

They know neither the platform's token nor its rate limit. Each is one try: who sends decides about the next. Redirects
are not followed, and an address is https, or http to loopback: it is a secret itself, or one goes with it. Where
notifications may lead is a rule of its own (`Egress`); the link to a collector has none.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

import httpcore
import httpx

from livedeck import __version__
from livedeck.client.http.error_mapping import retry_after
from livedeck.client.http.errors import Misconfigured, Unreachable, Unreadable
from livedeck.client.http.reach import EgressGuard, guarding
from livedeck.client.http.request import is_https_or_loopback
from livedeck.client.http.route import Route
from livedeck.client.http.secrets import Secret
from livedeck.client.http.transport import LOST, Connections, lost_cause
from livedeck.egress import Egress, literal_addresses
from livedeck.text.secrets import masked_line

_MAX_ANSWER = 2000
"""Bytes of an answer that are read: words for a person."""

_MAX_WORDS = 120
"""Letters of it that are shown: a line."""

_MAX_FAULT = 300
"""Letters of our own words for why nothing was sent."""

_TIMEOUT = 10.0
"""Seconds for the whole of it."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back. `status`: 0 where no answer came, and `text` says why. `retry_after`: seconds, if it says so."""

    status: int
    text: str = ""
    retry_after: float | None = None


class Outgoing:
    """Sends them through the proxy and with the certificates of the platform. As a context manager it closes.

    `egress`: where they may lead, checked by the address that is connected to; None: anywhere.
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
        self._client = httpx.AsyncClient(
            transport=Connections(self._route, http2=False), trust_env=False, timeout=_TIMEOUT, follow_redirects=False
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.aclose()

    async def send(self, method: str, address: str, headers: Mapping[str, str], body: bytes) -> Reply:
        """One try. No failure of the network or the receiver is raised. A status counts, though its words never end."""
        sent = {"Accept-Encoding": "identity", **headers}
        reply = Reply(0, "no answer (timeout)")
        try:
            async with asyncio.timeout(_TIMEOUT), self.open(method, address, sent, body) as incoming:
                reply = Reply(incoming.status, "", retry_after(incoming.headers, datetime.now(UTC)))
                text = await _beginning(incoming)
                reply = replace(reply, text=masked_line(text.decode(errors="replace"), _MAX_WORDS))
        except (Misconfigured, Unreachable, Unreadable) as error:
            return reply if reply.status else Reply(0, masked_line(error, _MAX_FAULT))
        except TimeoutError:
            pass
        return reply

    @asynccontextmanager
    async def open(
        self, method: str, address: str, headers: Mapping[str, str], body: bytes = b"", *, silence: float = _TIMEOUT
    ) -> AsyncIterator[Incoming]:
        """One try, its answer as it comes. `silence`: seconds without a byte that end it.

        Raises Misconfigured, Unreachable, Unreadable; so does reading the answer.
        """
        check_outgoing(address)
        try:
            request = self._client.build_request(
                method,
                address,
                headers={"User-Agent": f"livedeck/{__version__}", **headers},
                content=body,
                timeout=httpx.Timeout(_TIMEOUT, read=silence),
            )
            with guarding(self._guard(request.url.scheme)):
                response = await self._client.send(request, stream=True)
            async with aclosing(response):
                yield Incoming(response)
        except (httpx.InvalidURL, UnicodeError) as error:
            raise Misconfigured(masked_line(error, 300)) from None
        except httpx.DecodingError:
            raise Unreadable("no answer (it cannot be unpacked)") from None
        except (httpx.HTTPError, httpcore.ProxyError, *LOST, OSError) as error:
            if cause := lost_cause(error):
                raise Unreachable(f"no answer ({cause})", cause) from error
            raise Unreadable("no answer (it was not HTTP)") from error

    def _guard(self, scheme: str) -> EgressGuard | None:
        return EgressGuard(self._egress, is_clear=scheme == "http") if self._egress is not None else None

    def proxy_variables(self) -> dict[str, str]:
        """Return the variables by which a program takes the same proxy, or none. Raises Misconfigured."""
        return self._route.variables()

    async def refusal(self, address: str, *, looks_up: bool) -> str:
        """Return why nothing would be sent to that address, by where it leads now; empty if something would, or if
        nobody can say. Nothing is sent. `looks_up`: ask for the addresses of a name, too."""
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
    """An answer that is being received. `headers`: names of any case."""

    def __init__(self, response: httpx.Response) -> None:
        self.status: int = response.status_code
        self.headers: Mapping[str, str] = response.headers
        self._response = response

    def chunks(self) -> AsyncIterator[bytes]:
        """Its body as it comes, unpacked."""
        return self._response.aiter_bytes()


def check_outgoing(address: str) -> None:
    """Raise Misconfigured for an address that others could read on the way."""
    if not is_https_or_loopback(address):
        raise Misconfigured("the address should be https, or http to loopback: whoever reads it could use it")


async def _beginning(incoming: Incoming) -> bytes:
    content = b""
    async for chunk in incoming.chunks():
        content += chunk
        if len(content) >= _MAX_ANSWER:
            break
    return content[:_MAX_ANSWER]
