"""One request in values, and the addresses to which a token may go."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from ipaddress import ip_address
from typing import Literal
from urllib.parse import urlsplit

from livedeck.client.http.errors import Misconfigured
from livedeck.client.http.secrets import Secret

BaseUrl = Literal["api", "upload"]

"""The two addresses of the platform: {base_url} and {upload_url} (platform-api.md, conventions)."""


Progress = Callable[[int, int | None], None]

"""Told how many bytes have passed, and of how many: None where nobody knows."""


@dataclass(frozen=True, slots=True, repr=False)
class JsonBody:
    """A body of JSON. Secrets in it go out in clear, moments as timestamps."""

    value: object


@dataclass(frozen=True, slots=True, repr=False)
class MultipartBody:
    """A multipart body: text fields, and one file in the field `file`."""

    fields: Mapping[str, str]
    file_name: str
    content: bytes


@dataclass(frozen=True, slots=True, repr=False)
class StreamBody:
    """A body that is sent as it is read: `size` bytes in chunks."""

    size: int
    chunks: AsyncIterator[Chunk]


@dataclass(frozen=True, slots=True)
class Request:
    """One request. `path` is below the address of the door, without a leading slash; `what` says it for errors.

    `link`: in place of both, an address that needs no token, and gets none.
    """

    method: str
    path: str
    what: str
    params: Mapping[str, str | int | bool | Sequence[str]] = field(default_factory=dict)
    body: JsonBody | MultipartBody | StreamBody | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    door: BaseUrl = "api"
    link: Secret | None = None


@dataclass(frozen=True, slots=True)
class ResponseTiming:
    """One answer, good or bad: when it was complete (our clock), seconds since its request began, its `Date`.

    Of an answer that is streamed: when its head came.
    """

    at: datetime
    round_trip: float
    server_date: datetime | None


Chunk = bytes | memoryview

"""Some bytes of an answer, that need not be kept."""


@dataclass(frozen=True, slots=True, repr=False)
class StreamedResponse:
    """An answer while it comes: `size` bytes, None where nobody says. `kind`: its media type, or empty.

    A chunk is good until the next one is asked for.
    """

    size: int | None
    kind: str
    chunks: AsyncIterator[Chunk]


# Narrower than what a URL may be, so that no two readers of it can disagree on its host.
_ADDRESS = re.compile(r"https?://(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?(?:/[\w.~%/-]*)?", re.IGNORECASE)


def origin(name: str, address: str) -> str:
    """The address, without a slash at its end. Raises Misconfigured, naming the setting, where no token may go."""
    if not re.match(r"https?://[^/]", address, re.IGNORECASE):
        raise Misconfigured(f"{name} should begin with https:// and a host")
    if any(char in address for char in "@?#"):
        raise Misconfigured(f"{name} should hold no user name, no query and no fragment")
    if not _ADDRESS.fullmatch(address):
        raise Misconfigured(f"{name} is no URL")
    _check(name, address)
    return address.rstrip("/")


def _check(name: str, address: str) -> None:
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        port = 0
    if port == 0:
        raise Misconfigured(f"{name} should have a port from 1 to 65535")
    if parts.scheme == "http" and not _loopback(parts.hostname or ""):
        raise Misconfigured(f"{name} should be https: over http the token would travel in clear")


def loopback_or_https(address: str) -> bool:
    """Whether nobody on the way can read what is asked there."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return bool(parts.hostname) and (
        parts.scheme == "https" or (parts.scheme == "http" and _loopback(parts.hostname or ""))
    )


def _loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
