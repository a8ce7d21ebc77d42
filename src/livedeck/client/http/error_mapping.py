"""Maps an error response to an exception by its status and code. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from itertools import islice
from math import isfinite
from urllib.parse import urlsplit

from livedeck.client.http.errors import (
    STAND_IN,
    Conflict,
    Forbidden,
    NotFound,
    PaymentRequired,
    RateLimited,
    Redirected,
    Rejected,
    RelayRunning,
    ServerFault,
    TooManyProfiles,
    Unauthorized,
    Validation,
    numbers_text,
)
from livedeck.client.http.quoting import hide_keys, quoted_text
from livedeck.text import values
from livedeck.text.secrets import mask_value, masked_line

_PROVE_REFUSAL = frozenset(HTTPStatus(status) for status in HTTPStatus if 400 <= status < 500) - {
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.NOT_FOUND,
    HTTPStatus.GONE,
}
_JUDGE_THE_REQUEST = frozenset(HTTPStatus(status) for status in (405, 407, 411, 413, 414, 415, 417, 421, 425, 431))
"""Statuses about the head or the size of a request. A gateway that sends them has not passed the request on."""
_MAX_ITEMS = 100  # maximum number of complaints in an error
_MAX_AGE_DIGITS = 9  # maximum number of digits of an `Age` header; more are no number of seconds
_BY_CODE: Mapping[int, type[Rejected]] = {400404: NotFound, 400289: TooManyProfiles, 409298: RelayRunning}

_BY_STATUS: Mapping[int, type[Rejected]] = {
    400: Validation,
    401: Unauthorized,
    402: PaymentRequired,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: NotFound,
    413: Validation,
    422: Validation,
    429: RateLimited,
}


def error_from_response(
    summary: str, *, status: int, body: object, location: str, retry_after: float | None, is_to_change: bool = False
) -> Rejected:
    """Return the exception for a response (platform-api.md, "Error codes" and "Error body"), with secrets masked.

    Args:
        summary: Words for the request, such as `get event 4d2c2f2e`.
        status: HTTP status.
        body: Decoded JSON body; None if there is none.
        location: Target of a redirect, or empty.
        retry_after: Seconds to wait, if the platform said so.
        is_to_change: The request was a change.
    """
    document = body if isinstance(body, dict) else {}
    error = document.get("error")
    fields = error if isinstance(error, dict) else {"message": error}
    code = _code(fields.get("code"))
    message, detail = (_quoted_field(fields.get(name)) for name in ("message", "detail"))
    # the document does not say whether this stands inside the error or beside it
    invalid = _mask_value(fields.get("invalid_params", document.get("invalid_params")))
    complaints = _complaints(invalid)
    error_type = _error_type(status, code)
    happened, usual_advice = error_type.happened, error_type.advice
    if complaints and error_type is Validation:
        usual_advice = ""  # the complaints name the values
    if 300 <= status < 400:
        happened = _redirect(masked_line(location, 200))
    elif code is None:
        happened = f"{STAND_IN} answers {status}, not in the platform's error format"
        is_usual = issubclass(error_type, RateLimited | ServerFault)
        usual_advice = usual_advice if is_usual else "check the address, and any proxy on the way"
    numbers = "" if code is None and status >= 400 else numbers_text(status, code)
    facts = "; ".join(part for part in (f"{message} {detail}".strip(), numbers) if part)
    advice = _wait(retry_after) or "; ".join(part for part in (complaints, usual_advice) if part)
    if is_to_change and issubclass(error_type, RateLimited) and code is not None:
        advice = f"nothing was changed; {advice}"
    if is_to_change and issubclass(error_type, NotFound):
        advice = "this does not prove that nothing was changed: read the object again"
    return error_type(
        f"{summary}: {happened}" + (f" ({facts})" if facts else "") + (f"; {advice}" if advice else ""),
        status=status,
        code=code,
        message=message,
        detail=detail,
        invalid_params=invalid,
        retry_after=retry_after,
    )


def proves_refusal(error: Rejected) -> bool:
    """Return whether an error reply proves that a change was not made (trust.md, "Verdicts").

    An error body with a 4xx code is proof; its status must not say otherwise. Without the platform's error body, only a
    status that judges the request itself is proof: a gateway may send any other after the platform made the change.
    These are no proof:
    - 408, because a proxy may send it while the platform goes on.
    - 404 and 410, because a DELETE that a network delivers twice ends in 404.
    - 5xx, redirects and unregistered statuses, because a proxy may send them for a change that succeeds.
    """
    statuses = {error.status} if error.status >= 300 else set()
    if error.code is not None and 200 <= error.code // 1000 < 600:
        statuses.add(error.code // 1000)
    proof = _PROVE_REFUSAL if error.is_documented else _JUDGE_THE_REQUEST
    return bool(statuses) and statuses <= proof and not isinstance(error, NotFound)


def server_date(headers: Mapping[str, str]) -> datetime | None:
    """Return the `Date` of a response; None if it is missing or unreadable."""
    return _http_date(headers.get("Date", ""))


def seconds_cached(headers: Mapping[str, str]) -> float:
    """Return the seconds that a cache held the reply (`Age`); 0 if the header is missing or unreadable."""
    text = headers.get("Age", "").strip()
    return float(text) if text.isascii() and text.isdigit() and len(text) <= _MAX_AGE_DIGITS else 0.0


def request_id(headers: Mapping[str, str]) -> str:
    """Return the platform's id of the request, safe to show; empty if the response has none."""
    return masked_line(headers.get("X-Request-ID", ""), 200)[:80]


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds of `Retry-After`, or None if it is missing or unreadable.

    A date counts from the `Date` of the response, or from `now` if that is missing.
    """
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
    """Return the status that a reply means. In an error body with status 2xx, the code contains the status.

    Code 400404 means status 400.
    """
    return code // 1000 if status < 300 and code is not None else status


def _code(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < 10**9 else None


def _redirect(location: str) -> str:
    # only scheme and host, because the rest may hold a signature
    try:
        parts = urlsplit(location)
    except ValueError:
        parts = urlsplit("")
    host = parts.netloc.rpartition("@")[2]
    target = f"{parts.scheme}://{host}" if host else "another path"
    return f"a redirect to {target}, which is not followed"


def _wait(seconds: float | None) -> str:
    return "" if seconds is None else f"try again in {seconds:.0f} s"


def _quoted_field(text: object) -> str:
    return quoted_text(text, 200) if isinstance(text, str) else ""


def _mask_value(value: object, depth: int = 5) -> object:
    """Return a JSON value with masked secrets, cut to `_MAX_ITEMS` items and `depth` levels."""
    if isinstance(value, list):
        value = value[:_MAX_ITEMS]
    elif isinstance(value, dict):
        value = dict(islice(value.items(), _MAX_ITEMS))
    return mask_value(value, depth, hide_keys)


def _complaints(invalid: object) -> str:
    """Return `invalid_params` in words. The document does not define its items: they are objects, texts or mappings."""
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
