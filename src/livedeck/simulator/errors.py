"""What goes wrong: an `ApiError` is an answer of the API, a `SimulatorError` keeps the simulator from starting.

Codes and their meaning: platform-api.md, "Error codes".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starlette.responses import JSONResponse, Response


class SimulatorError(Exception):
    """The simulator cannot start or cannot use its data file; the message says why and is fit for an operator."""


class ApiError(Exception):
    """A request that the document forbids. `invalid_params` holds (name, reason) pairs."""

    def __init__(self, status: int, code: int, message: str, invalid_params: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.invalid_params = tuple(invalid_params)

    def response(self, headers: Mapping[str, str] | None = None) -> Response:
        """The documented error object."""
        error: dict[str, object] = {"code": self.code, "message": self.message}
        if self.invalid_params:
            error["invalid_params"] = [{"name": name, "reason": reason} for name, reason in self.invalid_params]
        return JSONResponse({"error": error}, self.status, headers)


def invalid(*parameters: tuple[str, str]) -> ApiError:
    """Validation failed: each parameter that is wrong, and the reason."""
    return ApiError(400, 400400, "invalid parameters", parameters)


def malformed_id() -> ApiError:
    """An identifier in the path is not a UUID."""
    return ApiError(400, 400301, "invalid uuid format")


def event_not_found() -> ApiError:
    """Posters and live events that are not there answer 400, as documented; everything else answers 404."""
    return ApiError(400, 400404, "not found")


def not_found() -> ApiError:
    """There is nothing at this address."""
    return ApiError(404, 404404, "not found")


def conflict(message: str) -> ApiError:
    """The state does not allow this transition."""
    return ApiError(409, 409409, message)


def unauthorized() -> ApiError:
    """The bearer token is missing or wrong."""
    return ApiError(401, 401401, "unauthorized")


def forbidden() -> ApiError:
    """The token is good, but not for this address."""
    return ApiError(403, 403403, "forbidden")


def too_large() -> ApiError:
    """The body is over the limit."""
    return ApiError(413, 413413, "body too large")


def disk_full() -> ApiError:
    """The disk takes no more: nothing of the change was stored."""
    return ApiError(507, 507507, "the disk is full, nothing was stored")


def internal() -> ApiError:
    """Our own fault; the log knows more than the caller may."""
    return ApiError(500, 500500, "internal error")


def of_status(status: int, message: str) -> ApiError:
    """What the router itself or a simulated fault answers: the code repeats the status, as in 404404 and 405405."""
    return ApiError(status, status * 1001, message.lower())
