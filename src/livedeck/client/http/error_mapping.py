"""Which error a response is that says no: by its status and its code. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from itertools import islice
from math import isfinite
from urllib.parse import urlsplit

from livedeck.client.http.errors import (
    Conflict,
    Forbidden,
    NotFound,
    RateLimited,
    Redirected,
    Rejected,
    RelayRunning,
    ServerFault,
    TooManyProfiles,
    Unauthorized,
    Validation,
)
from livedeck.text import values
from livedeck.text.secrets import mask_value, masked_line

_PROVE_REFUSAL = frozenset(HTTPStatus(status) for status in HTTPStatus if 400 <= status < 500) - {
    HTTPStatus.REQUEST_TIMEOUT
}
_MAX_ITEMS = 100  # complaints in a response that are kept
_BY_CODE: Mapping[int, type[Rejected]] = {400404: NotFound, 400289: TooManyProfiles, 409298: RelayRunning}

_BY_STATUS: Mapping[int, type[Rejected]] = {
    400: Validation,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: Validation,
    422: Validation,
    429: RateLimited,
}


def error_from_response(
    summary: str, *, status: int, body: object, location: str, retry_after: float | None, is_to_change: bool = False
) -> Rejected:
    """The error for an answer of that status and (perhaps) error body: platform-api.md, "Error codes" and "Error body".

    Secrets are masked wherever the platform repeats them. `location`: where a redirect points, or empty.
    """
    document = body if isinstance(body, dict) else {}
    error = document.get("error")
    fields = error if isinstance(error, dict) else {"message": error}
    code = _code(fields.get("code"))
    message, detail = (_quoted(fields.get(name)) for name in ("message", "detail"))
    # The document does not say whether it stands in the error or beside it.
    invalid = _mask_value(fields.get("invalid_params", document.get("invalid_params")))
    error_type = _error_type(status, code)
    happened = _redirect(_quoted(location)) if 300 <= status < 400 else error_type.happened
    facts = " ".join(part for part in (str(status), str(code or ""), message, detail) if part)
    advice = _wait(retry_after) or "; ".join(part for part in (_complaints(invalid), error_type.advice) if part)
    if is_to_change and issubclass(error_type, RateLimited):
        advice = f"nothing was changed; {advice}"
    return error_type(
        f"{summary}: {happened} ({facts})" + (f"; {advice}" if advice else ""),
        status=status,
        code=code,
        message=message,
        detail=detail,
        invalid_params=invalid,
        retry_after=retry_after,
    )


def proves_refusal(error: Rejected) -> bool:
    """Whether that answer to a change says that it was not made.

    The registered 4xx do, but 408: whoever says that may have given up on a platform which goes on. 5xx, redirects and
    what no register names prove nothing: a proxy says them of changes that land (trust.md, "Verdicts").
    """
    return _implied_status(error.status, error.code) in _PROVE_REFUSAL


def server_date(headers: Mapping[str, str]) -> datetime | None:
    """The `Date` of an answer; None where it has none that can be read."""
    return _http_date(headers.get("Date", ""))


def request_id(headers: Mapping[str, str]) -> str:
    """What the platform calls the request that it answers, fit to be shown; empty where it does not say."""
    return _quoted(headers.get("X-Request-ID", ""))[:80]


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds to wait, of `Retry-After`: a number, or a date counted from the answer's own `Date`, else from `now`."""
    text = headers.get("Retry-After", "").strip()
    date = _http_date(text)
    if date is not None:
        return max(0.0, (date - (server_date(headers) or now)).total_seconds())
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if isfinite(seconds) and seconds >= 0 else None


def _error_type(status: int, code: int | None) -> type[Rejected]:
    implied = _implied_status(status, code)
    if code is not None and code in _BY_CODE:
        return _BY_CODE[code]
    if 300 <= implied < 400:
        return Redirected
    return ServerFault if 500 <= implied < 600 else _BY_STATUS.get(implied, Rejected)


def _implied_status(status: int, code: int | None) -> int:
    """An error body under 200 has only its code to go by; the platform's codes begin with the status."""
    return code // 1000 if status < 300 and code is not None else status


def _code(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < 10**9 else None


def _redirect(location: str) -> str:
    # Scheme and host only: the rest may carry a signature.
    try:
        parts = urlsplit(location)
    except ValueError:
        parts = urlsplit("")
    host = parts.netloc.rpartition("@")[2]
    target = f"{parts.scheme}://{host}" if host else "another path"
    return f"the platform points to {target}, which is not followed"


def _wait(seconds: float | None) -> str:
    return "" if seconds is None else f"try again in {seconds:.0f} s"


def _quoted(text: object) -> str:
    return masked_line(text, 200) if isinstance(text, str) else ""


def _mask_value(value: object, depth: int = 5) -> object:
    """A JSON value with the secrets in all its texts masked; what is nested deeper than `depth` is left out."""
    if isinstance(value, list):
        value = value[:_MAX_ITEMS]
    elif isinstance(value, dict):
        value = dict(islice(value.items(), _MAX_ITEMS))
    return mask_value(value, depth)


def _complaints(invalid: object) -> str:
    """`invalid_params` in words. The document leaves its items open: objects, strings and mappings are all met."""
    if isinstance(invalid, dict):
        invalid = [{"name": name, "reason": reason} for name, reason in invalid.items()]
    if not isinstance(invalid, list):
        return ""
    complaints = (_complaint(item) for item in invalid[:5])
    return values.safe(", ".join(complaint for complaint in complaints if complaint), 200)


def _complaint(item: object) -> str:
    if isinstance(item, dict):
        return ": ".join(str(item[key]) for key in ("name", "reason") if isinstance(item.get(key), str))
    return item if isinstance(item, str) else ""


def _http_date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
