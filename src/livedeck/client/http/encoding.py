"""Requests made into what is sent, secrets in clear: the one place where they are revealed for that. Pure."""

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


def encode(value: object) -> bytes:
    """The JSON text of `value`, which may hold Secrets and aware datetimes."""
    return json.dumps(value, default=_json_text, separators=(",", ":")).encode()


def bearer(token: Secret) -> str:
    """The token as a header carries it. Raises Misconfigured for one that none can carry."""
    token.register()
    text = token.reveal()
    if not text:
        raise Misconfigured("the token is empty")
    if not text.isascii() or not text.isprintable() or " " in text:
        raise Misconfigured("the token holds characters that cannot be sent")
    return text


def header_text(text: str, summary: str) -> str:
    """A name or title as the value of a header: plain ASCII as it is, any other as percent-encoded UTF-8 as a whole.

    (platform-api.md, "Upload headers".) Spaces at its ends, which no header can carry, are left out. Raises Invalid
    for control characters.
    """
    _check_printable(text, summary)
    return text.strip(" ") if text.isascii() else quote(text, safe="", errors="replace")


def header_url(url: str, summary: str) -> str:
    """An address as the value of a header: what is not ASCII is percent-encoded UTF-8, all else stays as it is.

    (platform-api.md, "Upload headers".) Raises Invalid for control characters.
    """
    _check_printable(url, summary)
    return quote(url.strip(" "), safe=_ASCII, errors="replace")


def _check_printable(text: str, summary: str) -> None:
    if _CONTROL.search(text):
        raise Invalid(summary, "header", "should hold no control characters")


def query(request: Request) -> dict[str, Any] | None:
    """The query, as httpx takes it."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in request.params.items()} or None


def httpx_content(request: Request) -> dict[str, Any]:
    """The body and the headers, as httpx takes them."""
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
        value.register()  # the refusal may repeat it
        return value.reveal()
    if isinstance(value, datetime):
        return format_timestamp(value)
    raise TypeError(f"{type(value).__name__} is not JSON")
