"""Requests and their bodies as values, and checks of ids and addresses."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from ipaddress import ip_address
from typing import Any, Literal, Self
from urllib.parse import quote, urlsplit
from uuid import UUID

from livedeck.client.http.errors import Misconfigured
from livedeck.client.http.secrets import Secret
from livedeck.record import Record
from livedeck.text import values

BaseUrl = Literal["api", "upload"]
"""Two base addresses of the platform, {base_url} and {upload_url} (platform-api.md, "Addresses")."""

Progress = Callable[[int, int | None], object]
"""Callback with the number of transferred bytes and the total (None if unknown). Its result is ignored."""

UploadProgress = Callable[[int, int], object]
"""Callback with the number of sent bytes and the size of the file. Its result is ignored."""


@dataclass(frozen=True, slots=True, repr=False)
class JsonBody:
    """JSON body. Secrets in it are sent in clear, datetimes as timestamps."""

    value: object


@dataclass(frozen=True, slots=True, repr=False)
class MultipartBody:
    """Multipart body: text fields, and a file in the field `file`."""

    fields: Mapping[str, str]
    file_name: str
    content: bytes


@dataclass(frozen=True, slots=True, repr=False)
class StreamBody:
    """Body of `size` bytes that is read while it is sent. Each call of `chunks` starts at the first byte."""

    size: int
    chunks: Callable[[], AsyncIterator[bytes]]


@dataclass(frozen=True, slots=True)
class Request:
    """Request to the platform.

    `path`: path below the base URL, without a leading slash. `summary`: words for the request in errors. `signed_link`:
    full address in place of base URL and path; the token is not sent to it.
    """

    method: str
    path: str
    summary: str
    params: Mapping[str, str | int | bool | Sequence[str]] = field(default_factory=dict)
    body: JsonBody | MultipartBody | StreamBody | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    base_url: BaseUrl = "api"
    signed_link: Secret | None = None

    @property
    def operation(self) -> str:
        """Operation in words, without its object."""
        return "read link" if self.signed_link else getattr(self.summary, "operation", self.summary)

    @property
    def is_read(self) -> bool:
        """True if the request changes nothing, so that it is allowed in read-only mode and may be retried."""
        return self.method in {"GET", "HEAD"}

    @property
    def upload_size(self) -> int:
        """Bytes of the uploaded file; 0 without a file."""
        match self.body:
            case StreamBody(size):
                return max(1, size)
            case MultipartBody(content=content):
                return max(1, len(content))
        return 0


class ResponseTiming(Record):
    """Times and id of a response, successful or not; for a streamed response, of its head.

    Attributes:
        at: Time of this machine at which the response was complete.
        round_trip: Seconds since the request began.
        server_date: `Date` of the response; None if it has none.
        status: HTTP status.
        request_id: `X-Request-ID` of the response; empty if it has none.
        age: Seconds that a cache held the response (`Age`); 0 without the header.
    """

    at: datetime
    round_trip: float
    server_date: datetime | None
    status: int = 200
    request_id: str = ""
    age: float = 0.0


_recorder: ContextVar[list[ResponseTiming] | None] = ContextVar("recorder", default=None)


@contextmanager
def recording_timings() -> Iterator[list[ResponseTiming]]:
    """Yield a list to which the timing of each response in this block is added. Calls of other tasks do not count."""
    timings: list[ResponseTiming] = []
    before = _recorder.set(timings)
    try:
        yield timings
    finally:
        _recorder.reset(before)


def record_timing(timing: ResponseTiming) -> None:
    """Add the timing of a response to the list of the current `recording_timings` block, if any."""
    timings = _recorder.get()
    if timings is not None:
        timings.append(timing)


@dataclass(frozen=True, slots=True, repr=False)
class StreamedResponse:
    """Response while it arrives. `size`: bytes; None if unknown. `media_type`: in lower case, or empty.

    `is_delimited`: length, chunks or content coding mark the end of the body, so a broken connection is noticed.
    """

    size: int | None
    media_type: str
    is_delimited: bool
    chunks: AsyncIterator[bytes]


Identifier = str | int | UUID
"""Id of an object of the platform: a text that is not empty; a number or UUID is converted to text."""


def id_text(identifier: object, summary: str) -> str:
    """Return an id as text. Raises Misconfigured for anything that is not an id."""
    if isinstance(identifier, UUID) or type(identifier) is int:
        return str(identifier)
    if not isinstance(identifier, str):
        raise Misconfigured(f"{summary}: an id should be text, a number or a UUID, not {type(identifier).__name__}")
    if not identifier.strip() or identifier in {".", ".."}:
        raise Misconfigured(f"{summary}: {identifier!r} is not an id")
    return identifier


def make_request(method: str, summary: str, *parts: Identifier, **fields: Any) -> Request:
    """Return a request for the path made of `parts`. Raises Misconfigured for an id that would change the path."""
    return Request(method, "/".join(_segment(part, summary) for part in parts), summary, **fields)


def _segment(part: Identifier, summary: str) -> str:
    return quote(id_text(part, summary), safe="", errors="replace")


class Summary(str):
    """Words for a request (operation and object) that are safe to show. `operation`: the operation alone."""

    __slots__ = ("operation",)
    operation: str

    def __new__(cls, operation: str, subject: object) -> Self:
        """Join the operation and the first 40 characters of its object."""
        summary = super().__new__(cls, f"{operation} {values.safe(str(subject), 40)}")
        summary.operation = operation
        return summary


def describe_call(operation: str, subject: object) -> Summary:
    """Return words for a request, such as `get event 4d2c2f2e-6f53`."""
    return Summary(operation, subject)


# narrower than the URL standard, so that every parser finds the same host
_ADDRESS = re.compile(r"https?://(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?(?:/[\w.~%/-]*)?", re.IGNORECASE)


def check_base_url(name: str, address: str) -> str:
    """Return an address without a slash at its end. Raises Misconfigured if the token must not be sent there.

    `name`: setting of the address, for the error.
    """
    if not re.match(r"https?://[^/]", address, re.IGNORECASE):
        raise Misconfigured(f"{name} should begin with https:// and a host")
    if any(char in address for char in "@?#"):
        raise Misconfigured(f"{name} should have no user name, no query and no fragment")
    if not _ADDRESS.fullmatch(address):
        raise Misconfigured(f"{name} is not a URL")
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        port = 0
    if port == 0:
        raise Misconfigured(f"{name} should have a port from 1 to 65535")
    if parts.scheme == "http" and not _is_loopback(parts.hostname or ""):
        raise Misconfigured(f"{name} should be https: over http others could read the token")
    return address.rstrip("/")


def is_https_or_loopback(address: str) -> bool:
    """Return whether others on the network cannot read a request to the address."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return bool(parts.hostname) and (
        parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(parts.hostname or ""))
    )


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
