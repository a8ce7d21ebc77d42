"""Requests of the probe: limits of size, time and number, and `Retry-After` of each host.

No request has a token, a cookie or credentials. Each address is judged before its request (`Outgoing.open_public`),
because a playlist, a redirect or the platform may have named it.
"""

from __future__ import annotations

import asyncio
import zlib
from asyncio import Semaphore
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from enum import Enum
from time import monotonic
from typing import Protocol
from urllib.parse import urlsplit

from livedeck import __version__
from livedeck.client import Incoming, Misconfigured, Unreachable, Unreadable
from livedeck.probe.playlist import BEGINNING, Part
from livedeck.record import Record
from livedeck.text.secrets import masked_line

REQUEST_SECONDS, ROUND_SECONDS = 5.0, 8.0
"""Maximum duration of a request, and of all requests of a round together."""

AT_ONCE, AT_ONCE_OF_HOST = 4, 2
"""Maximum number of requests under way, and of requests under way to one host."""

REQUEST_WEIGHT = 600
"""Bytes of a request and its reply without the body: headers, TCP acknowledgements and packets."""

_LAG = 1.0
"""Seconds after its timeout by which a request must end. A later end shows that this machine was too slow."""

_MAX_HOSTS = 500
"""Number of hosts that are remembered."""

_MAX_WAIT = 600.0
"""Longest `Retry-After` that is obeyed, in seconds."""

_MAX_WORDS = 160
"""Maximum number of characters of a reason."""


class Want(Enum):
    """Kind of a request: maximum size of its body, and its `Accept-Encoding`."""

    PLAYLIST = (2**20, "gzip")
    SEGMENT = (8 * 2**20, "identity")
    INIT = (2**20, "identity")
    PRESENCE = (2**10, "identity")

    def __init__(self, limit: int, encoding: str) -> None:
        self.limit, self.encoding = limit, encoding


class Answer(Record):
    """Outcome of a request.

    `status`: HTTP status; 0 if no reply came. `address`: address of the reply, after redirects. `seconds`: duration.
    `size`: bytes of the complete body, as announced; None if unknown. `error`: reason of a failure; empty if the body
    is complete. `is_late`: the request timed out. `is_held`: nothing is proven, because the host wants a pause, the
    round is over, or this machine was too slow. `is_refused`: nothing is proven about viewers, because the probe may
    not use this address, or the body is too large. `is_reset`: the connection was closed before a reply.
    """

    status: int = 0
    body: bytes = b""
    address: str = ""
    seconds: float = 0.0
    size: int | None = None
    error: str = ""
    is_late: bool = False
    is_held: bool = False
    is_refused: bool = False
    is_reset: bool = False


class Opens(Protocol):
    """Sender of requests: `Outgoing`."""

    def open_public(
        self, address: str, headers: Mapping[str, str], *, home: str
    ) -> AbstractAsyncContextManager[Incoming]:
        """Open the reply of an address. Raises Misconfigured, Unreachable or Unreadable, even while it is read."""


class Fetcher:
    """Sender of all requests of a probe.

    `weights`: host of a configured address -> bytes so far, with an estimate of the packet headers.
    `session`: value of the header `CMCD-Session`; empty for none. `timer`: seconds of this machine.
    """

    def __init__(self, opens: Opens, *, session: str = "", timer: Callable[[], float] = monotonic) -> None:
        self.weights: Counter[str] = Counter()
        self._opens, self._timer = opens, timer
        self._all = Semaphore(AT_ONCE)
        self._of_host: defaultdict[str, Semaphore] = defaultdict(lambda: Semaphore(AT_ONCE_OF_HOST))
        self._held_until: dict[str, float] = {}
        self._headers = {"User-Agent": f"livedeck-probe/{__version__}"} | ({"CMCD-Session": session} if session else {})

    def round(self, home: str) -> Round:
        """Begin a round of requests. `home`: configured address of the playlist."""
        return Round(self, home)

    async def get(self, part: Part, want: Want, *, home: str, seconds: float) -> Answer:
        """Send a request once and return its outcome. `seconds`: maximum duration, without the wait for its turn."""
        host = host_of(part.address)
        if len(self._of_host) > _MAX_HOSTS:  # a playlist may name a new host each time
            self._of_host.clear()
            self._held_until.clear()
        async with self._of_host[host], self._all:
            begin = self._timer()
            if (wait := self._held_until.get(host, begin) - begin) > 0:
                return Answer(error=f"{host} wants a pause of {wait:.0f} s", is_held=True)
            answer = await self._ask(part, want, home, seconds, begin)
            if answer.is_reset and answer.seconds < seconds:  # a host may close a kept connection at that moment
                answer = await self._ask(part, want, home, seconds - answer.seconds, begin)
            self.weights[host_of(home)] += REQUEST_WEIGHT + len(answer.body)
            return answer

    async def _ask(self, part: Part, want: Want, home: str, seconds: float, begin: float) -> Answer:
        headers = {**self._headers, "Accept-Encoding": want.encoding, **_range(part, want)}
        status, address, size, body, error = 0, part.address, None, bytearray(), ""
        is_late = is_refused = is_reset = False
        try:
            async with asyncio.timeout(seconds), self._opens.open_public(part.address, headers, home=home) as incoming:
                status, address, size = incoming.status, incoming.address, _announced(incoming)
                if want is Want.PRESENCE and status == 200:  # a host without ranges would send it whole
                    error = ""
                elif status in {200, 206}:
                    error = await _read(incoming, want, body, size or 0)
                    is_refused = bool(error)
                else:
                    self._hold(host_of(part.address), incoming.retry_after())
                    error = f"HTTP {status}"
        except TimeoutError:
            error, is_late = f"no complete reply in {seconds:.0f} s ({len(body)} bytes came)", True
        except Misconfigured as reason:
            error, is_refused = str(masked_line(reason, _MAX_WORDS)), True
        except (Unreachable, Unreadable) as reason:
            error = f"cut off after {len(body)} bytes" if status else str(masked_line(reason, _MAX_WORDS))
            is_reset = not status and isinstance(reason, Unreachable) and reason.cause == "reset"
        except zlib.error:
            error = "it cannot be decompressed"
        took = self._timer() - begin
        is_held = is_late and took > seconds + _LAG
        return Answer(status, bytes(body), address, took, size, error, is_late, is_held, is_refused, is_reset)

    def _hold(self, host: str, seconds: float | None) -> None:
        if seconds:
            self._held_until[host] = self._timer() + min(seconds, _MAX_WAIT)


class Round:
    """Requests of one round of an event, together at most `ROUND_SECONDS` long.

    `sent`: number of requests. `weight`: their estimated bytes.
    """

    def __init__(self, fetcher: Fetcher, home: str) -> None:
        self._fetcher, self._home = fetcher, home
        self.sent = self.weight = 0
        self._left = ROUND_SECONDS

    async def get(self, part: Part, want: Want) -> Answer:
        """Send a request and return its outcome."""
        if self._left <= 0:
            return Answer(error=f"not asked: the round took {ROUND_SECONDS:.0f} s", is_held=True)
        limit = min(REQUEST_SECONDS, self._left)
        answer = await self._fetcher.get(part, want, home=self._home, seconds=limit)
        if answer.is_late and limit < REQUEST_SECONDS and not (want is Want.SEGMENT and answer.body):
            answer = replace(answer, is_held=True)  # the round had less time left than a request may take
        self._left -= answer.seconds
        if not answer.is_held:
            self.sent += 1
            self.weight += REQUEST_WEIGHT + len(answer.body)
        return answer


def host_of(address: str) -> str:
    """Return host and port of an address as text; empty if it has none."""
    try:
        parts = urlsplit(address)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return ""
    return f"{parts.hostname or ''}{port}"


def _range(part: Part, want: Want) -> dict[str, str]:
    if want is Want.PRESENCE:
        first = part.first or 0
        return {"Range": f"bytes={first}-{first}"}
    return {} if part.first is None else {"Range": f"bytes={part.first}-{part.last}"}


def _announced(incoming: Incoming) -> int | None:
    text = incoming.headers.get("Content-Length", "")
    return int(text) if text.isascii() and text.isdecimal() else None


async def _read(incoming: Incoming, want: Want, body: bytearray, size: int) -> str:
    """Read the needed part of the reply into `body`. Returns a reason if the reply is not read, else an empty text.

    `size`: announced bytes; 0 if unknown.
    """
    too_large = f"not read: larger than {want.limit >> 20} MiB"
    if want is not Want.PLAYLIST and size > want.limit:
        return too_large
    async for chunk in _unpacked(incoming, want.limit):
        body += chunk
        is_page = want is Want.PLAYLIST and len(body) > BEGINNING and b"#EXTM3U" not in body[:BEGINNING]
        if is_page:
            return ""
        if len(body) > want.limit:
            return too_large
    return ""


async def _unpacked(incoming: Incoming, limit: int) -> AsyncIterator[bytes]:
    """Yield the body, unpacked in steps of at most `limit` bytes, because a small reply may unpack to a huge one."""
    if incoming.headers.get("Content-Encoding", "").strip().lower() != "gzip":
        async for chunk in incoming.packed_chunks():
            yield chunk
        return
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    async for chunk in incoming.packed_chunks():
        yield unpacker.decompress(chunk, limit + 1)
        while unpacker.unconsumed_tail:
            yield unpacker.decompress(unpacker.unconsumed_tail, limit + 1)
    if not unpacker.eof:
        raise zlib.error("incomplete")
