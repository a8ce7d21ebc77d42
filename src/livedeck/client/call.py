"""One request and one answer, in values."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from livedeck.client.secret import Secret

Door = Literal["api", "upload"]
"""The two addresses of the platform: {base_url} and {upload_url} (platform-api.md, conventions)."""

Progress = Callable[[int, int | None], None]
"""Told how many bytes have passed, and of how many: None where nobody knows."""


@dataclass(frozen=True, slots=True, repr=False)
class Json:
    """A body of JSON. Secrets in it go out in clear, moments as timestamps."""

    value: object


@dataclass(frozen=True, slots=True, repr=False)
class Form:
    """A multipart body: text fields, and one file in the field `file`."""

    fields: Mapping[str, str]
    file_name: str
    content: bytes


@dataclass(frozen=True, slots=True, repr=False)
class Flow:
    """A body that is sent as it is read: `size` bytes in chunks."""

    size: int
    chunks: AsyncIterator[Chunk]


@dataclass(frozen=True, slots=True)
class Call:
    """One request. `path` is below the address of the door, without a leading slash; `what` says it for errors.

    `link`: in place of both, an address that needs no token, and gets none.
    """

    method: str
    path: str
    what: str
    params: Mapping[str, str | int | bool | Sequence[str]] = field(default_factory=dict)
    body: Json | Form | Flow | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    door: Door = "api"
    link: Secret | None = None


@dataclass(frozen=True, slots=True)
class Exchange:
    """One answer, good or bad: when it was complete (our clock), seconds since its request began, its `Date`.

    Of an answer that is streamed: when its head came.
    """

    at: datetime
    round_trip: float
    server_date: datetime | None


Chunk = bytes | memoryview
"""Some bytes of an answer, that need not be kept."""


@dataclass(frozen=True, slots=True, repr=False)
class Incoming:
    """An answer while it comes: `size` bytes, None where nobody says. `kind`: its media type, or empty.

    A chunk is good until the next one is asked for.
    """

    size: int | None
    kind: str
    chunks: AsyncIterator[Chunk]
