"""Quotes of headers and bodies for errors and hooks, without secrets and of limited length. Pure.

No list of secret fields is ever complete. So a text in JSON is quoted only if its name cannot stand for a secret; every
other text is masked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from livedeck.text.secrets import masked_line
from livedeck.text.values import MASK

MAX_BODY = 2000
"""Maximum number of quoted characters of a body."""

_MAX_HEADERS = 50
_MAX_HEADER = 200
_SEARCHED = 2 * MAX_BODY

_SECRET_HEADER = re.compile(r"auth|cookie|token|secret|key|sign|session|credential|password", re.IGNORECASE)
_IS_JSON = re.compile(r"\s*[\[{\"]")
_JSON_PART = re.compile(r'(?P<text>"(?:[^"\\]|\\.)*+"?)(?P<is_name>\s*:)?|[}\]]', re.DOTALL)

_READABLE = frozenset(
    {"code", "description", "detail", "details", "error", "errors", "field", "hint", "id", "invalid_params", "message"}
    | {"name", "param", "reason", "request_id", "status", "success", "title", "trace_id", "type"}
)
"""Names of members with quoted texts: they describe a fault or name an object."""


def quoted_headers(headers: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """Return headers by lower-case name. Values that may grant access are masked, and repeated names are joined."""
    quoted: dict[str, str] = {}
    for name, value in headers:
        key = str(masked_line(name, 80)).lower()
        if len(quoted) == _MAX_HEADERS and key not in quoted:
            break
        shown = MASK if _SECRET_HEADER.search(name) else str(masked_line(value, _MAX_HEADER))
        quoted[key] = f"{quoted[key]}, {shown}"[:_MAX_HEADER] if key in quoted else shown
    return quoted


def quoted_body(body: bytes | bytearray) -> str:
    """Return the start of a body in one line of at most `MAX_BODY` characters."""
    text = bytes(body[:_SEARCHED]).decode("utf-8-sig", errors="replace")
    if _IS_JSON.match(text):
        text = _hide_texts(text)
    elif len(body) > _SEARCHED:  # the last word may be the first half of a secret, which no mask finds
        text = " ".join(text.rsplit(None, 1)[:-1])
    return str(masked_line(text, MAX_BODY))


def _hide_texts(json: str) -> str:
    """Return JSON (which may be incomplete or broken) with masked texts, except under the names of `_READABLE`."""
    name = ""

    def part(found: re.Match[str]) -> str:
        nonlocal name
        text = found["text"]
        if text is None:  # the end of an object or a list
            name = ""
            return found[0]
        if found["is_name"]:
            name = text.strip('"').lower()
            return found[0]
        return text if name in _READABLE else f'"{MASK}"'

    return _JSON_PART.sub(part, json)
