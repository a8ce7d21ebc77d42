"""Requests to addresses that the user chose and that are no platform's: webhooks, collectors and the like.

They know neither the platform's token nor its rate limit. Each is one try: who sends decides about the next. Redirects
are not followed, and an address is https, or http to loopback: it is a secret itself, or one goes with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
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
from livedeck.client.http.request import is_https_or_loopback
from livedeck.client.http.route import Route
from livedeck.client.http.secrets import Secret
from livedeck.client.http.transport import LOST, Connections, lost_cause
from livedeck.text.secrets import masked_line

_MAX_ANSWER = 2000
"""Bytes of an answer that are read: words for a person."""

_MAX_WORDS = 120
"""Letters of it that are shown: a line."""

_TIMEOUT = 10.0
"""Seconds for the whole of it."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back. `status`: 0 where no answer came, and `text` says why. `retry_after`: seconds, if it says so."""

    status: int
    text: str = ""
    retry_after: float | None = None


class Outgoing:
    """Sends them, by the proxy and the certificates that the platform is reached by. As a context manager it closes."""

    def __init__(self, *, proxy: str | None = None, ca_file: Path | None = None, use_environment: bool = False) -> None:
        route = Route(Secret(proxy) if proxy else None, ca_file, None, use_environment)
        self._client = httpx.AsyncClient(
            transport=Connections(route, http2=False), trust_env=False, timeout=_TIMEOUT, follow_redirects=False
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
            return reply if reply.status else Reply(0, masked_line(error, _MAX_WORDS))
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
            async with self._client.stream(
                method,
                address,
                headers={"User-Agent": f"livedeck/{__version__}", **headers},
                content=body,
                timeout=httpx.Timeout(_TIMEOUT, read=silence),
            ) as response:
                yield Incoming(response)
        except (httpx.InvalidURL, UnicodeError) as error:
            raise Misconfigured(masked_line(error, 300)) from None
        except httpx.DecodingError:
            raise Unreadable("no answer (it cannot be unpacked)") from None
        except (httpx.HTTPError, httpcore.ProxyError, *LOST, OSError) as error:
            if cause := lost_cause(error):
                raise Unreachable(f"no answer ({cause})", cause) from error
            raise Unreadable("no answer (it was not HTTP)") from error


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
