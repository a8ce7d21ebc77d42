"""Encodes requests for sending. Only this module reveals secrets for that. Pure."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any
from urllib.parse import quote

from livedeck.client.http.errors import Invalid, Misconfigured
from livedeck.client.http.request import JsonBody, MultipartBody, Request, StreamBody
from livedeck.client.http.secrets import Secret
from livedeck.text.times import format_timestamp

_ASCII = "".join(map(chr, range(0x20, 0x7F)))

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def encode(value: object, *, is_strict: bool = False) -> bytes:
    """Return `value` as JSON in UTF-8. The value may hold Secrets and datetimes with a time zone.

    `is_strict`: raise ValueError for NaN and infinity, which are not JSON.
    """
    return json.dumps(value, default=_json_text, separators=(",", ":"), allow_nan=not is_strict).encode()


def bearer(token: Secret) -> str:
    """Return the token in clear, for a header. Raises Misconfigured if a header cannot carry it."""
    token.register()
    text = token.reveal()
    if not text:
        raise Misconfigured("the token is empty")
    if not text.isascii() or not text.isprintable() or " " in text:
        raise Misconfigured("the token has characters that cannot be sent: use printable ASCII without spaces")
    return text


def header_text(text: str, summary: str) -> str:
    """Return a name or title as the value of a header (platform-api.md, "Upload headers").

    ASCII text stays unchanged except for spaces at its ends. Other text is percent-encoded UTF-8 as a whole. Raises
    Invalid for control characters.
    """
    _check_printable(text, summary)
    return text.strip(" ") if text.isascii() else quote(text, safe="", errors="replace")


def header_url(url: str, summary: str) -> str:
    """Return an address as the value of a header, with only its non-ASCII characters percent-encoded (UTF-8).

    See platform-api.md, "Upload headers". Raises Invalid for control characters.
    """
    _check_printable(url, summary)
    return quote(url.strip(" "), safe=_ASCII, errors="replace")


def _check_printable(text: str, summary: str) -> None:
    if _CONTROL.search(text):
        raise Invalid(summary, "header", "should have no control characters")


def query(request: Request) -> dict[str, Any] | None:
    """Return the query of a request in httpx's form; None if it is empty."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in request.params.items()} or None


def httpx_content(request: Request) -> dict[str, Any]:
    """Return body and headers of a request as keyword arguments of httpx."""
    headers = dict(request.headers)
    match request.body:
        case JsonBody(value):
            return {"content": encode(value), "headers": {"Content-Type": "application/json"} | headers}
        case MultipartBody(fields, file_name, content):
            return {"data": dict(fields), "files": {"file": (file_name, content)}, "headers": headers}
        case StreamBody(size, chunks):
            sized = {"Content-Type": "application/octet-stream", "Content-Length": str(size)}
            return {"content": chunks(), "headers": sized | headers}
        case None:
            return {"headers": headers}


def _json_text(value: object) -> str:
    if isinstance(value, Secret):
        value.register()  # the platform's refusal may repeat it
        return value.reveal()
    if isinstance(value, datetime):
        return format_timestamp(value)
    raise TypeError(f"{type(value).__name__} is not JSON")
