"""Requests to addresses that the user chose and that are no platform's: webhooks and the like.

They know neither the platform's token nor its rate limit. Each is one try: who sends decides about the next. Redirects
are not followed, and an address is https, or http to loopback, for it is a secret itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

import httpcore
import httpx

from livedeck import __version__
from livedeck.client.http.error_mapping import retry_after
from livedeck.client.http.errors import Misconfigured
from livedeck.client.http.request import is_https_or_loopback
from livedeck.client.http.route import Route
from livedeck.client.http.secrets import Secret
from livedeck.client.http.transport import LOST, Connections, lost_cause
from livedeck.text.secrets import masked_line

_MAX_ANSWER = 2000
"""Bytes of an answer that are read: words for a person."""

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
        """One try. No failure of the network or the receiver is raised."""
        sent = {"User-Agent": f"livedeck/{__version__}", "Accept-Encoding": "identity", **headers}
        try:
            check_outgoing(address)
            async with (
                asyncio.timeout(_TIMEOUT),
                self._client.stream(method, address, headers=sent, content=body) as response,
            ):
                text = await _beginning(response)
                wait = retry_after(response.headers, datetime.now(UTC))
                return Reply(response.status_code, masked_line(text.decode(errors="replace"), 300), wait)
        except (httpx.InvalidURL, UnicodeError, Misconfigured) as error:
            return Reply(0, masked_line(error, 300))
        except (httpx.HTTPError, httpcore.ProxyError, *LOST, OSError) as error:
            return Reply(0, f"no answer ({lost_cause(error) or 'it was not HTTP'})")


def check_outgoing(address: str) -> None:
    """Raise Misconfigured for an address that others could read on the way."""
    if not is_https_or_loopback(address):
        raise Misconfigured("the address should be https, or http to loopback: whoever reads it could use it")


async def _beginning(response: httpx.Response) -> bytes:
    content = b""
    async for chunk in response.aiter_raw():
        content += chunk
        if len(content) >= _MAX_ANSWER:
            break
    return content[:_MAX_ANSWER]
