# ruff: noqa: N818  after `except`, "Unauthorized" says all that "UnauthorizedError" does
"""Errors of the client, as one tree.

    ApiError                     base class; the text says what was tried, what happened and what to do
    ├── Misconfigured            an address, token or id cannot be used; nothing was sent (also a ValueError)
    ├── Invalid                  a value breaks a rule of the document; nothing was sent (also a ValueError)
    ├── FileFault                a file of this machine could not be read or written
    ├── Incomplete               the result does not exist yet, or did not appear in time
    ├── ReadOnly                 a change was requested in read-only mode; nothing was sent
    ├── Unreachable              no complete response came: refused, route, dns, tls, timeout, reset or proxy
    ├── Unreadable               a response came that does not match the document
    │   └── Unproved             a download may not be the requested content; no file was written or replaced
    ├── Unknown                  a change was sent, and no response proves whether it was made
    └── Rejected                 an error or a redirect came
        ├── Redirected           3xx; not followed: the network may require a login first
        ├── Unauthorized         401
        ├── PaymentRequired      402
        ├── Forbidden            403
        ├── NotFound             404, 410, and 400 with code 400404; after a change it is no proof of a refusal
        ├── Validation           any other 400, 413, 422
        │   └── TooManyProfiles  400 with code 400289
        ├── Conflict             409
        │   └── RelayRunning     409 with code 409298
        ├── RateLimited          429
        └── ServerFault          5xx

The codes are those of platform-api.md, "Error codes". The client raises no other exception, whatever happens on the
network and the platform.
"""

from __future__ import annotations

import copyreg
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Literal, Self

from livedeck.text.secrets import masked

Cause = Literal["refused", "route", "dns", "tls", "timeout", "reset", "proxy"]

LOST_RESPONSE: Mapping[Cause, str] = {
    "refused": "{host} refuses connections: nothing listens there, or a firewall refuses; check the address and port",
    "route": "{host} cannot be reached from this machine; check the address and this machine's network",
    "dns": "no address found for {host}; check its name and the network",
    "tls": "no trusted connection to {host}; check the address, its certificate, ca_file and client_cert",
    "timeout": "no complete response from {host} in time (setting timeout: {timeout:g} s)",
    "reset": "the connection to {host} broke before its response was complete",
    "proxy": "the proxy {proxy} {reason}; check the setting proxy, or HTTPS_PROXY",
}
"""Cause why no response came -> its text, with the fields `host`, `timeout` (seconds), `proxy` and `reason`."""

STAND_IN = "something that answers for the platform (a gateway or proxy?)"
"""Words for the sender of an error reply that lacks the platform's error body."""


def numbers_text(status: int, code: int | None) -> str:
    """Return status and code in words. A code that begins with the status stands for both: `code 409409`."""
    if code is None:
        return f"status {status}"
    return f"code {code}" if code // 1000 == status else f"status {status}, code {code}"


class ApiError(Exception):
    """Base class of the client's errors. The text is safe to show: one line, of limited length, without secrets.

    An error can be copied and pickled. Its attributes describe the reply behind the error, and are safe to show, too.

    Attributes:
        status: HTTP status; None if no response came.
        request_id: The platform's id of the request; empty if no response came, or if it has none.
        headers: Headers of the response by lower-case name, at most 50; values that may grant access are masked.
        body: Start of the body in one line of at most 2000 characters; empty if it was not received. Texts of JSON are
            masked unless their name cannot stand for a secret, such as `message` or `reason`.
    """

    status: int | None = None
    request_id: str = ""
    headers: Mapping[str, str] = MappingProxyType({})
    body: str = ""

    def __reduce__(self) -> tuple[object, ...]:
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]  # as of pickle

    def __init__(self, text: str) -> None:
        super().__init__(masked(text))

    def describe_response(self, status: int, request_id: str, headers: Mapping[str, str], body: str) -> None:
        """Set the attributes of the reply. The caller must have masked the secrets."""
        self.status, self.request_id, self.headers, self.body = status, request_id, headers, body

    def with_response_of(self, other: ApiError) -> Self:
        """Copy the attributes of the reply from `other`, and return this error."""
        self.status, self.request_id = other.status, other.request_id
        self.headers, self.body = other.headers, other.body
        return self


class Misconfigured(ApiError, ValueError):
    """An argument or setting of the client cannot be used. Nothing was sent."""


class Invalid(ApiError, ValueError):
    """A value to send breaks a rule of the document. Nothing was sent.

    `field`: the wrong part, such as `restreams[2].stream_key`. `limit`: the broken rule, such as `should have 1 to 512
    characters`.
    """

    def __init__(self, summary: str, field: str, limit: str) -> None:
        super().__init__(f"{summary}: {field} {limit}")
        self.field = field
        self.limit = limit


class FileFault(ApiError):
    """A file of this machine could not be read or written, or exists already. Nothing changed on the platform."""


class Incomplete(ApiError):
    """The result does not exist yet, or did not appear within the time limit. It may still appear."""


class ReadOnly(ApiError):
    """The client is read-only and cannot make a change. No connection was opened."""


class Unreachable(ApiError):
    """No complete reply came, and nothing was changed.

    Causes:
    - `refused`: The other side refused the connection.
    - `route`: No connection could be made for another reason, such as a missing route.
    - `dns`: The host name does not resolve.
    - `tls`: The certificate or the handshake failed.
    - `timeout`: No complete reply came in time.
    - `reset`: The connection broke before the response was complete.
    - `proxy`: The proxy cannot be reached, or does not connect to the platform.

    Attributes:
        cause: One of these causes.
        is_connected: True if a new connection was made before the failure. False if no connection could be made. None
            if an older connection was reused, which does not show whether the address can be reached.
    """

    def __init__(self, text: str, cause: Cause, *, is_connected: bool | None = None) -> None:
        super().__init__(text)
        self.cause: Cause = cause
        self.is_connected = is_connected


class Unreadable(ApiError):
    """A reply does not match the document: it is not JSON, has a field of a wrong type, or is too long.

    `is_foreign`: the reply does not even claim to be JSON, such as the page of a portal, a login or a gateway.
    """

    def __init__(self, text: str, *, is_foreign: bool = False) -> None:
        super().__init__(text)
        self.is_foreign = is_foreign


class Unproved(Unreadable):
    """Complete download that may be another file than the expected one. No file was written or replaced.

    The message describes the download. With `unchecked=True` the method that raised this error accepts the download.
    """


class Unknown(ApiError):
    """A change was sent, and no reply proves whether it was made. The caller must read the object again.

    `reason`: the cause in words, such as `the platform failed (500), which leaves the outcome open`.
    """

    def __init__(self, text: str, reason: str = "no response came") -> None:
        super().__init__(text)
        self.args = (text,)
        self.reason = masked(reason)


class Rejected(ApiError):
    """An error (platform-api.md, "Error codes") or a redirect came. All parts are safe to show.

    Only the platform's error body, which has a code, proves that the platform itself responded.

    Attributes:
        status: HTTP status.
        code: Code of the error body; None if it has none.
        message: Message of the error body, or empty.
        detail: Detail of the error body, or empty.
        invalid_params: Invalid parameters in the error body, of any shape.
        retry_after: Seconds to wait; None if the platform did not state a time.
    """

    status: int
    happened: ClassVar[str] = "the platform refused"
    advice: ClassVar[str] = ""

    def __init__(
        self,
        text: str,
        *,
        status: int,
        code: int | None = None,
        message: str = "",
        detail: str = "",
        invalid_params: object = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(text)
        self.status = status
        self.code = code
        self.message = message
        self.detail = detail
        self.invalid_params = invalid_params
        self.retry_after = retry_after

    @property
    def numbers(self) -> str:
        """Status and code in words: `code 409409`; `status 502` without a code."""
        return numbers_text(self.status, self.code)

    @property
    def is_documented(self) -> bool:
        """True if the reply has the platform's error body. If False, a proxy or another server may have sent it."""
        return self.code is not None

    @property
    def sender(self) -> str:
        """Sender of the reply in words: the platform, or something that answers for it."""
        return "the platform" if self.is_documented else STAND_IN


class Redirected(Rejected):
    """The reply redirects to another address. The client does not follow, to keep the token to itself."""

    advice = "check the address, and whether this network requires a login first"


class Unauthorized(Rejected):
    """The token is missing, wrong or withdrawn."""

    happened = "the platform refused the token"
    advice = "check the token"


class PaymentRequired(Rejected):
    """The platform asks for a payment first, or the plan of the workspace does not cover this."""

    happened = "the platform asks for a payment first"
    advice = "check the plan and the balance of the workspace"


class Forbidden(Rejected):
    """The token is valid but has no right to do this."""

    happened = "the platform does not allow this"
    advice = "check the rights of the token"


class NotFound(Rejected):
    """The workspace has no such object. HTTP 404 or 410, or 400 with code 400404 (posters, live events).

    After a change this leaves open whether the change was made, because a network may deliver a DELETE twice.
    """

    happened = "not found"
    advice = "it may have been deleted, or belong to another workspace"


class Validation(Rejected):
    """The platform does not accept the request; `invalid_params` may name the wrong part."""

    happened = "the platform does not accept the request"
    advice = "check the values that were sent"


class TooManyProfiles(Validation):
    """The room already has 15 relay profiles (platform-api.md, "Limits")."""

    happened = "too many relay profiles"
    advice = "a room can have 15: delete one first"


class Conflict(Rejected):
    """The state of the object does not allow this now."""

    happened = "its state does not allow this now"
    advice = "read it again"


class RelayRunning(Conflict):
    """The relay profile is broadcasting and cannot be changed."""

    happened = "the relay is broadcasting and cannot be changed"
    advice = "stop it inside the room first"


class RateLimited(Rejected):
    """Too many requests. `retry_after`: seconds to wait; None if the platform did not state a time."""

    happened = "too many requests"
    advice = "send fewer requests"


class ServerFault(Rejected):
    """The platform failed on its side."""

    happened = "the platform failed"
    advice = "try again later"
