"""Errors of the simulator: an `ApiError` is a response of the API, a `SimulatorError` prevents the start.

Codes and their meaning: platform-api.md, "Error codes".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starlette.responses import JSONResponse, Response


class SimulatorError(Exception):
    """The simulator cannot start or cannot use its data file; the message names the reason for an operator."""


class IngestError(SimulatorError):
    """The ingest cannot listen at its address."""


class ApiError(Exception):
    """Request that the document forbids. `invalid_params` holds (name, reason) pairs."""

    def __init__(self, status: int, code: int, message: str, invalid_params: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.invalid_params = tuple(invalid_params)

    def response(self, headers: Mapping[str, str] | None = None) -> Response:
        """Return the documented error object."""
        error: dict[str, object] = {"code": self.code, "message": self.message}
        if self.invalid_params:
            error["invalid_params"] = [{"name": name, "reason": reason} for name, reason in self.invalid_params]
        return JSONResponse({"error": error}, self.status, headers)


def invalid(*parameters: tuple[str, str]) -> ApiError:
    """Return the validation error, with a (name, reason) pair for each wrong parameter."""
    return ApiError(400, 400400, "invalid parameters", parameters)


def malformed_id() -> ApiError:
    """Return the error for an identifier in the path that is not a UUID."""
    return ApiError(400, 400301, "invalid uuid format")


def event_not_found() -> ApiError:
    """Return the 400 for a missing poster or live event. Any other missing object gets a 404, as documented."""
    return ApiError(400, 400404, "not found")


def not_found() -> ApiError:
    """Return the error for an address without an object."""
    return ApiError(404, 404404, "not found")


def conflict(message: str) -> ApiError:
    """Return the error for a change that the state does not allow."""
    return ApiError(409, 409409, message)


def unauthorized() -> ApiError:
    """Return the error for a missing or wrong bearer token."""
    return ApiError(401, 401401, "unauthorized")


def forbidden() -> ApiError:
    """Return the error for a valid token without access to this address."""
    return ApiError(403, 403403, "forbidden")


def too_large() -> ApiError:
    """Return the error for a body over the limit."""
    return ApiError(413, 413413, "body too large")


def disk_full() -> ApiError:
    """Return the error for a change that the full disk did not store."""
    return ApiError(507, 507507, "the disk is full, nothing was stored")


def internal() -> ApiError:
    """Return the error for a failure of the simulator itself; only the log has the details."""
    return ApiError(500, 500500, "internal error")


def of_status(status: int, message: str) -> ApiError:
    """Return the error of the router or of a simulated fault; the code repeats the status, as in 404404 and 405405."""
    return ApiError(status, status * 1001, message.lower())
