"""What goes wrong: a `Refusal` is an answer of the API, a `ServiceError` keeps the service from starting.

Codes and their meaning: platform-api.md, 7 and decisions.md, "Codes not shown".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starlette.responses import JSONResponse, Response


class SimulatorError(Exception):
    """The service cannot start or cannot use its data file; the message says why and is fit for an operator."""


class Refusal(Exception):  # noqa: N818  it is an answer as good as any other
    """A request that the document forbids. `invalid` holds (parameter, reason) pairs."""

    def __init__(self, status: int, code: int, message: str, invalid: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.invalid = tuple(invalid)

    def response(self, headers: Mapping[str, str] | None = None) -> Response:
        """The documented error object."""
        error: dict[str, object] = {"code": self.code, "message": self.message}
        if self.invalid:
            error["invalid_params"] = [{"name": name, "reason": reason} for name, reason in self.invalid]
        return JSONResponse({"error": error}, self.status, headers)


def invalid(*faults: tuple[str, str]) -> Refusal:
    """Validation failed: each fault is a parameter and the reason."""
    return Refusal(400, 400400, "invalid parameters", faults)


def malformed_id() -> Refusal:
    """An identifier in the path is not a UUID."""
    return Refusal(400, 400301, "invalid uuid format")


def no_event() -> Refusal:
    """Posters and live events that are not there answer 400, as documented; everything else answers 404."""
    return Refusal(400, 400404, "not found")


def unknown() -> Refusal:
    """There is nothing at this address."""
    return Refusal(404, 404404, "not found")


def conflict(message: str) -> Refusal:
    """The state does not allow this transition."""
    return Refusal(409, 409409, message)


def unauthorised() -> Refusal:
    """The bearer token is missing or wrong."""
    return Refusal(401, 401401, "unauthorized")


def forbidden() -> Refusal:
    """The token is good, but not for this door."""
    return Refusal(403, 403403, "forbidden")


def too_large() -> Refusal:
    """The body is over the limit."""
    return Refusal(413, 413413, "body too large")


def unforeseen() -> Refusal:
    """Our own fault; the log knows more than the caller may."""
    return Refusal(500, 500500, "internal error")


def plain(status: int, message: str) -> Refusal:
    """What the router itself refuses: the code repeats the status, as in 404404 and 405405."""
    return Refusal(status, status * 1001, message.lower())
