"""One request in values: its path, its body, and the addresses to which a token may go."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from ipaddress import ip_address
from typing import Any, Literal, Self
from urllib.parse import quote, urlsplit
from uuid import UUID

from livedeck.client.http.errors import Misconfigured
from livedeck.client.http.secrets import Secret
from livedeck.text import values

BaseUrl = Literal["api", "upload"]
"""The two addresses of the platform: {base_url} and {upload_url} (platform-api.md, "Addresses")."""

Progress = Callable[[int, int | None], None]
"""Called with the bytes that have passed, and how many there are: None where nobody knows."""


@dataclass(frozen=True, slots=True, repr=False)
class JsonBody:
    """A body of JSON. Secrets in it go out in clear, datetimes as timestamps."""

    value: object


@dataclass(frozen=True, slots=True, repr=False)
class MultipartBody:
    """A multipart body: text fields, and one file in the field `file`."""

    fields: Mapping[str, str]
    file_name: str
    content: bytes


@dataclass(frozen=True, slots=True, repr=False)
class StreamBody:
    """A body that is sent as it is read: `size` bytes; `chunks` begins with the first of them whenever it is called."""

    size: int
    chunks: Callable[[], AsyncIterator[bytes]]


@dataclass(frozen=True, slots=True)
class Request:
    """One request. `path` is below the base URL, without a leading slash; `summary` says what it does, for error texts.

    `signed_link`: in place of both, an address that needs no token, and gets none.
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
        """What it does, without to what."""
        return "read link" if self.signed_link else getattr(self.summary, "operation", self.summary)

    @property
    def is_read(self) -> bool:
        """Whether it changes nothing, so that it may be sent in read-only mode and sent again."""
        return self.method in {"GET", "HEAD"}

    @property
    def upload_size(self) -> int:
        """Bytes of the file that it carries, which may take its time as long as it moves; 0 where it carries none."""
        match self.body:
            case StreamBody(size):
                return max(1, size)
            case MultipartBody(content=content):
                return max(1, len(content))
        return 0


@dataclass(frozen=True, slots=True)
class ResponseTiming:
    """One response, good or bad: when it was complete (our clock), seconds since its request began, its `Date`.

    `status`: of HTTP. `request_id`: what its `X-Request-ID` says, empty where it has none. Of a streamed response: when
    its head came.
    """

    at: datetime
    round_trip: float
    server_date: datetime | None
    status: int = 200
    request_id: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class StreamedResponse:
    """A response while it comes: `size` bytes, None where nobody says. `media_type`: lower case, or empty.

    `is_delimited`: its end can be told from a connection that broke, by its length, its chunks or its coding.
    """

    size: int | None
    media_type: str
    is_delimited: bool
    chunks: AsyncIterator[bytes]


Identifier = str | int | UUID
"""What names an object of the platform: any text but none; a number and a UUID are written as text."""


def id_text(identifier: object, summary: str) -> str:
    """The id as it is sent. Raises Misconfigured for what is none."""
    if isinstance(identifier, UUID) or type(identifier) is int:
        return str(identifier)
    if not isinstance(identifier, str):
        raise Misconfigured(f"{summary}: an id should be text, a number or a UUID, not {type(identifier).__name__}")
    if not identifier.strip() or identifier in {".", ".."}:
        raise Misconfigured(f"{summary}: {identifier!r} is no id")
    return identifier


def make_request(method: str, summary: str, *parts: Identifier, **fields: Any) -> Request:
    """The request for a path of these parts, ids among them. Raises Misconfigured for one that makes another path."""
    return Request(method, "/".join(_segment(part, summary) for part in parts), summary, **fields)


def _segment(part: Identifier, summary: str) -> str:
    return quote(id_text(part, summary), safe="", errors="replace")


class Summary(str):
    """What is done to what, in words that are safe to show. `operation`: the same without to what."""

    __slots__ = ("operation",)
    operation: str

    def __new__(cls, operation: str, subject: object) -> Self:
        """The operation, and the beginning of its subject."""
        summary = super().__new__(cls, f"{operation} {values.safe(str(subject), 40)}")
        summary.operation = operation
        return summary


def describe_call(operation: str, subject: object) -> Summary:
    """What is done to what: `get event 4d2c2f2e-6f53`."""
    return Summary(operation, subject)


# Narrower than what a URL may be, so that no two readers of it can disagree on its host.
_ADDRESS = re.compile(r"https?://(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?(?:/[\w.~%/-]*)?", re.IGNORECASE)


def check_base_url(name: str, address: str) -> str:
    """The address, without a slash at its end. Raises Misconfigured, naming the setting, where no token may go."""
    if not re.match(r"https?://[^/]", address, re.IGNORECASE):
        raise Misconfigured(f"{name} should begin with https:// and a host")
    if any(char in address for char in "@?#"):
        raise Misconfigured(f"{name} should hold no user name, no query and no fragment")
    if not _ADDRESS.fullmatch(address):
        raise Misconfigured(f"{name} is no URL")
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        port = 0
    if port == 0:
        raise Misconfigured(f"{name} should have a port from 1 to 65535")
    if parts.scheme == "http" and not _is_loopback(parts.hostname or ""):
        raise Misconfigured(f"{name} should be https: over http the token would travel in clear")
    return address.rstrip("/")


def is_https_or_loopback(address: str) -> bool:
    """Whether nobody on the way can read what is asked there."""
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
