"""How a deck asks a collector: one of its addresses, the token, and words for what went wrong."""

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
"""Seconds without a byte after which a collector that is listened to is gone: it speaks every 5 s."""

_MAX_BODY = 64 * 2**20
"""Bytes that an answer, or one line of a stream, may come to."""

_MAX_SAID = 300
"""Characters of what somebody else says."""

_NEVER_SENT = frozenset({"refused", "dns", "tls"})

_CAUSES: Mapping[str, str] = {
    "refused": "{host} cannot be reached; see that the collector runs, and the address in collector_url",
    "dns": "{host} has no address; see the name in collector_url, and the network",
    "tls": "no trusted connection to {host}; see its certificate, and ca_file",
    "timeout": "{host} does not answer in time",
    "reset": "the connection to {host} broke",
    "proxy": "the proxy opens no connection to {host}",
}


class CollectorError(Exception):
    """What was asked of a collector did not come about; the text says why, to a person."""

    def __init__(self, text: str) -> None:
        super().__init__(masked_line(text))


class CollectorAwayError(CollectorError):
    """Nothing came that a collector says. `was_sent`: whether the request may have reached one."""

    def __init__(self, text: str, *, was_sent: bool = True) -> None:
        super().__init__(text)
        self.was_sent = was_sent


class CollectorRefusedError(CollectorError):
    """A collector said no. `status`: of HTTP; `code`: its word for the reason; `body`: all of its answer."""

    def __init__(self, text: str, status: int, body: Mapping[str, Any]) -> None:
        super().__init__(text)
        self.status, self.body = status, body
        self.code = str(body.get("error", ""))

    @property
    def is_of_token(self) -> bool:
        """Whether it is the token that is not taken."""
        return self.status in {401, 403}


class ServerEvent(NamedTuple):
    """One event of a stream, or (`data` is None) a comment line in it."""

    data: str | None
    name: str = "message"
    id: str = ""
    comment: str = ""


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes


class Link:
    """The requests of one deck. `addresses`: of collectors of which any will do; one that does not answer is left for
    the next. `silence`: seconds, as `SILENCE`. Whoever made `outgoing` closes it. Raises Misconfigured for an address
    that others could read on the way, and for a token that no header carries.
    """

    def __init__(
        self, outgoing: Outgoing, addresses: Sequence[str], token: Secret, *, silence: float = SILENCE
    ) -> None:
        for address in addresses:
            _check_address(address)
        token.register()
        text = token.reveal()
        if not text or not text.isascii() or not text.isprintable() or " " in text:
            raise Misconfigured("the collector's token holds characters that cannot be sent, or none")
        self._outgoing, self._token, self._silence = outgoing, token, silence
        self._addresses = tuple(address.rstrip("/") for address in addresses)
        self._index = 0

    @property
    def host(self) -> str:
        """Of the address that is asked now."""
        return urlsplit(self._addresses[self._index]).netloc

    async def get(self, path: str, query: str = "") -> dict[str, Any]:
        """The object that it answers. Raises CollectorError."""
        return await self._ask("GET", f"{path}?{query}" if query else path, {})

    async def get_text(self, path: str) -> str:
        """The plain text that it answers. Raises CollectorError."""
        return await self._exchange("GET", path, {"Accept": "text/plain, application/json"}, self._read_text)

    async def post(self, path: str, body: Mapping[str, Any], *, idempotency_key: str = "") -> dict[str, Any]:
        """Likewise. What is sent twice with one key is done once. Raises CollectorError."""
        return await self._ask("POST", path, {"Idempotency-Key": idempotency_key} if idempotency_key else {}, body)

    async def put(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Likewise. Raises CollectorError."""
        return await self._ask("PUT", path, {}, body)

    @asynccontextmanager
    async def stream(self, path: str, last_id: str = "") -> AsyncIterator[AsyncIterator[ServerEvent]]:
        """The events and comments that it sends from that id on. Raises CollectorError, CollectorAwayError too where
        it falls silent or ends."""
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
        """Raises CollectorError."""
        if incoming.status != 200 or _media_type(incoming.headers) != "text/event-stream":
            self._read(await _received(incoming), host)
            raise CollectorAwayError(f"{host} answers with what is no stream of a collector")

    async def _ask(
        self, method: str, path: str, headers: Mapping[str, str], body: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        content = b"" if body is None else json.dumps(body, separators=(",", ":")).encode()
        sent = {"Accept": "application/json", **headers}
        if body is not None:
            sent["Content-Type"] = "application/json"
        return await self._exchange(method, path, sent, self._read, content)

    async def _exchange(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        read: Callable[[_Answer, str], T],
        content: bytes = b"",
    ) -> T:
        """Asked at the next address where the first is away; a change only where it cannot have arrived. `read`: makes
        something of the answer of that host. Raises CollectorError."""
        sent = {"Accept-Encoding": "gzip", **headers}
        tries = len(self._addresses)
        while True:
            host, tries = self.host, tries - 1
            try:
                async with asyncio.timeout(self._silence):
                    async with self._open(method, path, sent, content, self._silence) as incoming:
                        answer = await _received(incoming)
                return read(answer, host)
            except TimeoutError:
                error = CollectorAwayError(f"{host} does not answer in time")
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
        sent = {"Authorization": f"Bearer {self._token.reveal()}", **headers}
        try:
            async with self._outgoing.open(method, address + path, sent, body, silence=silence) as incoming:
                yield incoming
        except Unreachable as error:
            text = _CAUSES[error.cause].format(host=host)
            raise CollectorAwayError(text, was_sent=error.cause not in _NEVER_SENT) from None
        except Unreadable:
            raise CollectorAwayError(
                f"{host} answers, but not as HTTP does; see the address in collector_url"
            ) from None

    def _leave(self, host: str) -> None:
        """The next request goes to the next address, unless another request has seen to that."""
        if host == self.host:
            self._index = (self._index + 1) % len(self._addresses)

    def _read_text(self, answer: _Answer, host: str) -> str:
        """Raises CollectorError for an answer that is a refusal, or no collector's."""
        if answer.status == 200 and _media_type(answer.headers) == "text/plain":
            return answer.body.decode(errors="replace")
        self._read(answer, host)
        raise CollectorAwayError(f"{host} answers with what is no text of a collector")

    def _read(self, answer: _Answer, host: str) -> dict[str, Any]:
        """The object of that answer. Raises CollectorError for one that is a refusal, or no collector's."""
        values = _object(answer)
        if answer.status in {200, 202, 204} and (values is not None or not answer.body):
            return values or {}
        if 300 <= answer.status < 400:
            raise CollectorAwayError(
                f"{host} sends elsewhere ({answer.status}), where no token goes; name that address in collector_url, "
                "or log in to the network first"
            )
        said = masked_line(values["say"], _MAX_SAID) if values and isinstance(values.get("say"), str) else ""
        if values is not None and said and values.get("error") in {EXPIRED, REPLACED}:  # a banner has little room
            raise CollectorRefusedError(f"{said} ({host})", answer.status, values)
        if answer.status in {401, 403}:
            reason = f": {said}" if said else ""
            verb = "refuses this deck's token" if answer.status == 401 else "does not allow this with this deck's token"
            raise CollectorRefusedError(
                f"the collector at {host} {verb} ({answer.status}){reason}", answer.status, values or {}
            )
        if values is not None and said:
            raise CollectorRefusedError(said, answer.status, values)
        if answer.status >= 500:
            raise CollectorAwayError(
                f"{host} answers {answer.status}: a proxy before it fails, or the collector itself"
            )
        kind = _media_type(answer.headers) or "nothing that is named"
        raise CollectorAwayError(
            f"{host} answers {answer.status} with {masked_line(kind, 60)}, as no collector does; see the address in "
            "collector_url, and what stands before it"
        )


def _check_address(address: str) -> None:
    """Raises Misconfigured."""
    try:
        parts = urlsplit(address)
        is_plain = not (parts.query or parts.fragment or "@" in parts.netloc)
        check_outgoing(address)
    except ValueError as error:  # Misconfigured is one, too
        raise Misconfigured(f"collector_url {masked_line(address, 200)}: {error}") from None
    if not is_plain:
        raise Misconfigured(
            "collector_url should be scheme, host, port and path alone: a token has settings of its own"
        )


async def _received(incoming: Incoming) -> _Answer:
    """All of it. Raises CollectorAwayError for what is too long."""
    parts, size = [], 0
    async for chunk in incoming.chunks():
        parts.append(chunk)
        size += len(chunk)
        if size > _MAX_BODY:
            raise CollectorAwayError(f"an answer of more than {_MAX_BODY >> 20} MiB came, as no collector sends")
    return _Answer(incoming.status, incoming.headers, b"".join(parts))


def _object(answer: _Answer) -> dict[str, Any] | None:
    """What it says as JSON; None where it is none."""
    try:
        values = json.loads(answer.body)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def _media_type(headers: Mapping[str, str]) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


async def _events(chunks: AsyncIterator[bytes], host: str) -> AsyncGenerator[ServerEvent, None]:
    """Raises CollectorAwayError at its end: a collector that goes on never ends it."""
    parser = EventParser()
    async for chunk in chunks:
        for event in parser.feed(chunk):
            yield event
    raise CollectorAwayError(f"the connection to {host} broke")


@dataclass(slots=True)
class EventParser:
    """Bytes of `text/event-stream` made into events, wherever they are cut (WHATWG HTML, "Parsing an event stream").

    What is not ended by an empty line was never sent.
    """

    _rest: list[bytes] = field(default_factory=list)
    _size: int = 0
    _is_after_return: bool = False
    _is_begun: bool = False
    _data: list[str] = field(default_factory=list)
    _name: str = ""
    _id: str = ""

    def feed(self, chunk: bytes) -> Iterator[ServerEvent]:
        """What has become whole. Raises CollectorAwayError for a line that never ends."""
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
            raise CollectorAwayError(f"a line of more than {_MAX_BODY >> 20} MiB came, as no collector sends")


_LINE_END = re.compile(rb"\r\n|\r|\n")
