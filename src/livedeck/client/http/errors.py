# ruff: noqa: N818  these names are read after `except`: "Unauthorized" says all that "UnauthorizedError" does
"""Everything that can go wrong in the client, as one tree.

    ApiError                     whatever went wrong; its text says what was tried, what happened and what to do
    ├── Misconfigured            an address, token or id that cannot be used; nothing was sent (also a ValueError)
    ├── Invalid                  what was to be sent breaks a rule of the document; nothing was sent (also a ValueError)
    ├── FileFault                a file of this machine could not be read or written
    ├── Incomplete               what was waited for did not happen in the time given
    ├── ReadOnly                 a change was asked for in read-only mode; nothing was sent
    ├── Unreachable              no complete answer came: refused, dns, tls, timeout, reset or proxy
    ├── Unreadable               an answer came, and it is not what the document describes
    ├── Unknown                  a change was sent and its answer was lost: done or not done
    └── Rejected                 the platform said no, or pointed elsewhere
        ├── Redirected           3xx; not followed: it may be a network that wants a login first
        ├── Unauthorized         401
        ├── Forbidden            403
        ├── NotFound             404, and 400 with code 400404
        ├── Validation           any other 400, 413, 422
        │   └── TooManyProfiles  400 with code 400289
        ├── Conflict             409
        │   └── RelayRunning     409 with code 409298
        ├── RateLimited          429
        └── ServerFault          5xx

Source of the codes: platform-api.md, "Error codes". No other exception leaves the client for
anything that the network or the platform does.
"""

from __future__ import annotations

import copyreg
from collections.abc import Mapping
from typing import ClassVar, Literal

from livedeck.text.secrets import masked

Cause = Literal["refused", "dns", "tls", "timeout", "reset", "proxy"]

LOST_RESPONSE: Mapping[Cause, str] = {
    "refused": "{host} cannot be reached; check the address and that the platform is up",
    "dns": "{host} has no address; check its name and the network",
    "tls": "no trusted connection to {host}; check the address, its certificate, ca_file and client_cert",
    "timeout": "{host} did not answer in time ({timeout:g} s)",
    "reset": "{host} broke the connection before its answer was complete",
    "proxy": "the proxy {proxy} {reason}; check the setting proxy, or HTTPS_PROXY",
}
"""The text of each cause; `host`, `timeout` (seconds), `proxy` and `reason` are to be filled in."""


class ApiError(Exception):
    """Whatever went wrong between us and the platform. Its text is safe to show: one line, bounded, no secret.

    It can be copied and pickled.
    """

    def __reduce__(self) -> tuple[object, ...]:
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]  # as of pickle

    def __init__(self, text: str) -> None:
        super().__init__(masked(text))


class Misconfigured(ApiError, ValueError):
    """What the client was given cannot be used. Refused before anything was sent."""


class Invalid(ApiError, ValueError):
    """What was to be sent breaks a rule of the document. Refused before anything was sent.

    `field`: which part, as `restreams[2].stream_key`. `limit`: what it should be, as `should have 1 to 512 characters`.
    """

    def __init__(self, summary: str, field: str, limit: str) -> None:
        super().__init__(f"{summary}: {field} {limit}")
        self.field = field
        self.limit = limit


class FileFault(ApiError):
    """A file of this machine could not be read or written, or is there already. The platform was not changed."""


class Incomplete(ApiError):
    """What was waited for did not happen in the time given. It may happen yet."""


class ReadOnly(ApiError):
    """The client is read-only and was asked to change something. No socket was opened."""


class Unreachable(ApiError):
    """No complete answer came, and nothing was changed.

    `cause`: `refused` (no connection could be made), `dns` (the name has no address), `tls` (the certificate or the
    handshake failed), `timeout`, `reset` (the connection broke before the answer was whole), `proxy` (it cannot be
    reached, or opens no connection to the platform).
    """

    def __init__(self, text: str, cause: Cause) -> None:
        super().__init__(text)
        self.cause: Cause = cause


class Unreadable(ApiError):
    """An answer came and is not what the document describes: no JSON, a field of a wrong type, too long."""


class Unknown(ApiError):
    """A change was sent and no answer says what became of it: it may or may not have happened, read the object again.

    `reason`: what came instead, in words, as `the platform failed (500), which does not say what became of it`.
    """

    def __init__(self, text: str, reason: str = "no answer came") -> None:
        super().__init__(text)
        self.args = (text,)
        self.reason = masked(reason)


class Rejected(ApiError):
    """The platform answered with an error (platform-api.md, "Error codes") or a redirect.

    `status`: of HTTP. `code`, `message`, `detail`: of the error body, safe to show; None and empty where it had none.
    `invalid_params`: of any shape, fit to be shown too. `retry_after`: seconds to wait, where the platform said so.
    """

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


class Redirected(Rejected):
    """The answer points to another address, which is not followed: the token is not that one's business."""

    advice = "check the address, and whether this network wants a login first"


class Unauthorized(Rejected):
    """The token is missing, wrong or withdrawn."""

    happened = "the platform refused the token"
    advice = "check the token"


class Forbidden(Rejected):
    """The token is good and may not do this."""

    happened = "the platform does not allow this"
    advice = "check the rights of the token"


class NotFound(Rejected):
    """There is no such object in the workspace; also HTTP 400 with code 400404 (posters, live events)."""

    happened = "not found"
    advice = "it may have been deleted, or belong to another workspace"


class Validation(Rejected):
    """The platform does not accept what was sent; `invalid_params` may say which part."""

    happened = "the platform does not accept the request"


class TooManyProfiles(Validation):
    """A room takes at most 15 relay profiles (platform-api.md, "Limits")."""

    happened = "too many relay profiles"
    advice = "a room takes 15"


class Conflict(Rejected):
    """The state of the object does not allow this now."""

    happened = "its state does not allow this now"
    advice = "read it again"


class RelayRunning(Conflict):
    """The relay profile is broadcasting and cannot be changed."""

    happened = "the relay is broadcasting and cannot be changed"
    advice = "stop it inside the room first"


class RateLimited(Rejected):
    """Too many requests; `retry_after` says how many seconds to wait, None where the platform did not."""

    happened = "too many requests"
    advice = "ask less often"


class ServerFault(Rejected):
    """The platform failed on its side."""

    happened = "the platform failed"
    advice = "try again later"
