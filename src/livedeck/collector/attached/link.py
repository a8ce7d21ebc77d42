"""Requests of a deck to a collector: its addresses, the token, and errors in words."""

from __future__ import annotations

import asyncio
import json
import re
from codecs import BOM_UTF8
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from livedeck.client import Incoming, Misconfigured, Outgoing, Secret, Unreachable, Unreadable, check_outgoing
from livedeck.collector.protocol.wire import EXPIRED, REPLACED
from livedeck.text.secrets import masked_line

T = TypeVar("T")

SILENCE = 12.0
"""Seconds without a byte after which a stream counts as broken; the collector sends a comment every 5 s."""

_MAX_BODY = 64 * 2**20
"""Maximum number of bytes of a reply, or of a line of a stream."""

_MAX_SAY = 300
"""Maximum number of characters of the reason in a collector's refusal."""

_NEVER_SENT = frozenset({"refused", "route", "dns", "tls"})

_CAUSES: Mapping[str, str] = {
    "refused": "{host} refuses connections; check that the collector runs, and the address in collector_url",
    "route": "{host} cannot be reached from this machine; check its network, and the address in collector_url",
    "dns": "{host} does not resolve; check the name in collector_url, and the network",
    "tls": "no trusted connection to {host}; check its certificate, and ca_file",
    "timeout": "{host} does not respond in time",
    "reset": "the connection to {host} broke",
    "proxy": "the proxy did not connect to {host}",
}


class CollectorError(Exception):
    """A request to a collector failed. The message has the reason, in words for a person."""

    def __init__(self, text: str) -> None:
        super().__init__(masked_line(text))


class CollectorAwayError(CollectorError):
    """No reply of a collector arrived. `was_sent`: the request may have reached a collector."""

    def __init__(self, text: str, *, was_sent: bool = True) -> None:
        super().__init__(text)
        self.was_sent = was_sent


class CollectorRefusedError(CollectorError):
    """The collector refused a request. `status`: HTTP status. `code`: reason for programs. `body`: the whole reply."""

    def __init__(self, text: str, status: int, body: Mapping[str, Any]) -> None:
        super().__init__(text)
        self.status, self.body = status, body
        self.code = str(body.get("error", ""))

    @property
    def is_of_token(self) -> bool:
        """True if the token was refused."""
        return self.status in {401, 403}


class ServerEvent(NamedTuple):
    """Event or comment line of a `text/event-stream`. `data`: None for a comment."""

    data: str | None
    name: str = "message"
    id: str = ""
    comment: str = ""


@dataclass(frozen=True, slots=True)
class _Response:
    status: int
    headers: Mapping[str, str]
    body: bytes


class Link:
    """Requests of one deck to one of several equivalent collectors.

    Args:
        outgoing: HTTP client; its creator closes it.
        addresses: URLs of the collectors. If one does not respond, the next is used.
        token: Access token of the deck.
        silence: Seconds without a byte after which a stream counts as broken.

    Raises:
        Misconfigured: An address is neither https nor loopback, or the token does not fit into a header.
    """

    def __init__(
        self, outgoing: Outgoing, addresses: Sequence[str], token: Secret, *, silence: float = SILENCE
    ) -> None:
        for address in addresses:
            _check_address(address)
        token.register()
        text = token.reveal()
        if not text or not text.isascii() or not text.isprintable() or " " in text:
            raise Misconfigured("the collector's token is empty, or has characters that cannot be sent")
        self._outgoing, self._token, self._silence = outgoing, token, silence
        self._addresses = tuple(address.rstrip("/") for address in addresses)
        self._index = 0

    @property
    def host(self) -> str:
        """Host and port of the current address."""
        return urlsplit(self._addresses[self._index]).netloc

    async def get(self, path: str, query: str = "") -> dict[str, Any]:
        """Send a GET request and return the JSON object of the reply. Raises CollectorError."""
        return await self._ask("GET", f"{path}?{query}" if query else path, {})

    async def get_text(self, path: str) -> str:
        """Send a GET request and return the plain text of the reply. Raises CollectorError."""
        return await self._exchange("GET", path, {"Accept": "text/plain, application/json"}, self._read_text)

    async def get_picture(self, path: str, tag: str = "") -> tuple[str, bytes] | None:
        """Send a GET request and return the ETag and the JPEG of the reply; None if `tag` is the picture's ETag.

        Raises CollectorError.
        """
        headers = {"Accept": "image/jpeg, application/json", **({"If-None-Match": tag} if tag else {})}
        return await self._exchange("GET", path, headers, self._read_picture)

    async def post(self, path: str, body: Mapping[str, Any], *, idempotency_key: str = "") -> dict[str, Any]:
        """Send a POST request and return the JSON object of the reply. Raises CollectorError.

        The collector carries out requests with the same idempotency key only once.
        """
        return await self._ask("POST", path, {"Idempotency-Key": idempotency_key} if idempotency_key else {}, body)

    async def put(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Send a PUT request and return the JSON object of the reply. Raises CollectorError."""
        return await self._ask("PUT", path, {}, body)

    async def delete(self, path: str, *, idempotency_key: str = "") -> dict[str, Any]:
        """Send a DELETE request and return the JSON object of the reply. Raises CollectorError."""
        return await self._ask("DELETE", path, {"Idempotency-Key": idempotency_key} if idempotency_key else {})

    @asynccontextmanager
    async def stream(self, path: str, last_id: str = "") -> AsyncIterator[AsyncIterator[ServerEvent]]:
        """Open the stream of events and comments after the event `last_id`.

        Raises CollectorError; CollectorAwayError if the stream ends or is silent for too long.
        """
        headers = {"Accept": "text/event-stream", "Accept-Encoding": "gzip"}
        if last_id:
            headers["Last-Event-ID"] = last_id
        host = self.host
        try:
            async with self._open("GET", path, headers, b"", self._silence) as incoming:
                await self._check_stream(incoming, host)
                async with aclosing(_events(incoming.chunks(), host)) as events:
                    yield events
        except CollectorAwayError:
            self._leave(host)
            raise

    async def _check_stream(self, incoming: Incoming, host: str) -> None:
        """Raise CollectorError unless the reply is a stream of events."""
        if incoming.status != 200 or _media_type(incoming.headers) != "text/event-stream":
            self._read(await _received(incoming), host)
            raise CollectorAwayError(f"{host} sent something other than a collector's stream")

    async def _ask(
        self, method: str, path: str, headers: Mapping[str, str], body: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        content = b"" if body is None else json.dumps(body, separators=(",", ":")).encode()
        all_headers = {"Accept": "application/json", **headers}
        if body is not None:
            all_headers["Content-Type"] = "application/json"
        return await self._exchange(method, path, all_headers, self._read, content)

    async def _exchange(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        read: Callable[[_Response, str], T],
        content: bytes = b"",
    ) -> T:
        """Send a request, and return the result of `read(response, host)`. Raises CollectorError.

        Without a reply, tries the next address. A POST is sent again only if no collector can have received it.
        """
        all_headers = {"Accept-Encoding": "gzip", **headers}
        tries = len(self._addresses)
        while True:
            host, tries = self.host, tries - 1
            try:
                async with asyncio.timeout(self._silence):
                    async with self._open(method, path, all_headers, content, self._silence) as incoming:
                        response = await _received(incoming)
                return read(response, host)
            except TimeoutError:
                error = CollectorAwayError(f"{host} does not respond in time")
            except CollectorAwayError as away:
                error = away
            self._leave(host)
            if not tries or (method == "POST" and error.was_sent):
                raise error

    @asynccontextmanager
    async def _open(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes, silence: float
    ) -> AsyncIterator[Incoming]:
        address, host = self._addresses[self._index], self.host
        all_headers = {"Authorization": f"Bearer {self._token.reveal()}", **headers}
        try:
            async with self._outgoing.open(method, address + path, all_headers, body, silence=silence) as incoming:
                yield incoming
        except Unreachable as error:
            text = _CAUSES[error.cause].format(host=host)
            raise CollectorAwayError(text, was_sent=error.cause not in _NEVER_SENT) from None
        except Unreadable:
            raise CollectorAwayError(f"{host} responds, but not in HTTP; check the address in collector_url") from None

    def _leave(self, host: str) -> None:
        """Switch from `host` to the next address. Does nothing if another request has switched already."""
        if host == self.host:
            self._index = (self._index + 1) % len(self._addresses)

    def _read_picture(self, response: _Response, host: str) -> tuple[str, bytes] | None:
        """Return the picture of a reply; None for 304. Raises CollectorError for anything else."""
        if response.status == 304:
            return None
        if response.status == 200 and _media_type(response.headers) == "image/jpeg":
            return response.headers.get("etag", ""), response.body
        self._read(response, host)
        raise CollectorAwayError(f"{host} did not send a picture as a collector does; check collector_url")

    def _read_text(self, response: _Response, host: str) -> str:
        """Return the text of a reply. Raises CollectorError for a refusal, or a reply that is not a collector's."""
        if response.status == 200 and _media_type(response.headers) == "text/plain":
            return response.body.decode(errors="replace")
        self._read(response, host)
        raise CollectorAwayError(f"{host} did not send plain text as a collector does; check collector_url")

    def _read(self, response: _Response, host: str) -> dict[str, Any]:
        """Return the object of a reply. Raises CollectorError for a refusal, or a reply that is not a collector's."""
        values = _object(response)
        if response.status in {200, 202, 204} and (values is not None or not response.body):
            return values or {}
        if 300 <= response.status < 400:
            raise CollectorAwayError(
                f"{host} redirects ({response.status}), and the token is not sent on; put the target into "
                "collector_url, or log in to the network first"
            )
        say = masked_line(values["say"], _MAX_SAY) if values and isinstance(values.get("say"), str) else ""
        if values is not None and say and values.get("error") in {EXPIRED, REPLACED}:  # a banner has little room
            raise CollectorRefusedError(f"{say} ({host})", response.status, values)
        if values is not None and say and response.status in {401, 403}:
            verb = (
                "refuses this deck's token" if response.status == 401 else "does not allow this with this deck's token"
            )
            raise CollectorRefusedError(
                f"the collector at {host} {verb} ({response.status}): {say}", response.status, values
            )
        if values is not None and say:
            raise CollectorRefusedError(say, response.status, values)
        if response.status >= 500:
            raise CollectorAwayError(f"{host} responds {response.status}: the collector or its proxy has failed")
        kind = _media_type(response.headers) or "no media type"
        raise CollectorAwayError(
            f"{host} responds {response.status} with {masked_line(kind, 60)}, unlike a collector; check the address in "
            "collector_url, and any proxy in front of it"
        )


def _check_address(address: str) -> None:
    """Raise Misconfigured if an address cannot be used."""
    try:
        parts = urlsplit(address)
        is_plain = not (parts.query or parts.fragment or "@" in parts.netloc)
        check_outgoing(address)
    except ValueError as error:  # Misconfigured is a ValueError, too
        raise Misconfigured(f"collector_url {masked_line(address, 200)}: {error}") from None
    if not is_plain:
        raise Misconfigured("collector_url: give scheme, host, port and path only; the token has settings of its own")


async def _received(incoming: Incoming) -> _Response:
    """Return the whole reply. Raises CollectorAwayError if it is too long."""
    parts, size = [], 0
    async for chunk in incoming.chunks():
        parts.append(chunk)
        size += len(chunk)
        if size > _MAX_BODY:
            raise CollectorAwayError(f"the response exceeds {_MAX_BODY >> 20} MiB, unlike a collector's")
    return _Response(incoming.status, incoming.headers, b"".join(parts))


def _object(response: _Response) -> dict[str, Any] | None:
    """Return the JSON object of a reply; None if the body is not a JSON object."""
    try:
        values = json.loads(response.body)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def _media_type(headers: Mapping[str, str]) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


async def _events(chunks: AsyncIterator[bytes], host: str) -> AsyncGenerator[ServerEvent, None]:
    """Yield the events of a stream. Raises CollectorAwayError at its end, because a collector never ends a stream."""
    parser = EventParser()
    async for chunk in chunks:
        for event in parser.feed(chunk):
            yield event
    raise CollectorAwayError(f"the connection to {host} broke")


@dataclass(slots=True)
class EventParser:
    """Parser of `text/event-stream` in chunks of any size (WHATWG HTML, "Parsing an event stream").

    An event without an empty line after it is dropped.
    """

    _rest: list[bytes] = field(default_factory=list)
    _size: int = 0
    _is_after_return: bool = False
    _is_begun: bool = False
    _data: list[str] = field(default_factory=list)
    _name: str = ""
    _id: str = ""

    def feed(self, chunk: bytes) -> Iterator[ServerEvent]:
        """Yield the events and comments that a chunk completes. Raises CollectorAwayError for an endless line."""
        for line in self._lines(chunk):
            if line.startswith(":"):
                yield ServerEvent(None, comment=line[1:].strip())
            elif line:
                self._take(*line.partition(":"))
            else:
                if self._data:
                    yield ServerEvent("\n".join(self._data), self._name or "message", self._id)
                self._data, self._name = [], ""

    def _take(self, name: str, _colon: str, value: str) -> None:
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._name = value
        elif name == "id" and "\0" not in value:
            self._id = value

    def _lines(self, chunk: bytes) -> list[str]:
        if not chunk:
            return []
        ends_on_return = chunk.endswith(b"\r")
        chunk = chunk.removeprefix(b"\n") if self._is_after_return else chunk
        self._is_after_return = ends_on_return
        *whole, rest = _LINE_END.split(chunk)
        if not whole:
            self._keep(rest)
            return []
        first = b"".join([*self._rest, whole[0]])
        self._rest, self._size = [], 0
        self._keep(rest)
        if not self._is_begun:
            self._is_begun, first = True, first.removeprefix(BOM_UTF8)
        return [line.decode(errors="replace") for line in (first, *whole[1:])]

    def _keep(self, rest: bytes) -> None:
        self._rest.append(rest)
        self._size += len(rest)
        if self._size > _MAX_BODY:
            raise CollectorAwayError(f"a line exceeds {_MAX_BODY >> 20} MiB, unlike a collector's")


_LINE_END = re.compile(rb"\r\n|\r|\n")
