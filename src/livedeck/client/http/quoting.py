"""Quotes of headers and bodies for errors and hooks, without secrets and of limited length. Pure.

No list of secret fields is ever complete. So a text in JSON is quoted only if its name cannot stand for a secret; every
other text is masked.

The register cannot know a key whose reply is still on its way, and a refusal may repeat that key. So words that look
like keys are masked in every text that describes a fault (trust.md, "The register").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from livedeck.text.outside import Shown
from livedeck.text.secrets import is_public, masked, masked_line
from livedeck.text.values import MASK, mask, safe

MAX_BODY = 2000
"""Maximum number of quoted characters of a body."""

_MAX_HEADERS = 50
_MAX_HEADER = 200
_SEARCHED = 2 * MAX_BODY
_MAX_TEXT = 10_000  # a text is cut here before its keys are masked, and at its limit afterwards

_SECRET_HEADER = re.compile(r"auth|cookie|token|secret|key|sign|session|credential|password", re.IGNORECASE)
_MIN_KEY = 8
"""Minimum length of a word that may be a key."""

_IS_JSON = re.compile(r"\s*[\[{\"]")
_JSON_PART = re.compile(r'(?P<text>"(?:[^"\\]|\\.)*+"?)(?P<is_name>\s*:)?|[}\]]', re.DOTALL)

_READABLE = frozenset(
    {"code", "description", "detail", "details", "error", "errors", "field", "hint", "id", "invalid_params", "message"}
    | {"name", "param", "reason", "request_id", "status", "success", "title", "trace_id", "type"}
)
"""Names of members with quoted texts: they describe a fault or name an object."""

_IDS = frozenset({"request_id", "trace_id"})
"""Names of members of `_READABLE` that hold ids of requests, which may look like keys."""

_WORD = re.compile(r"""[^\s"'`*<>«»,;!()\[\]{}|&?#=]{8,}""")
_LOOKS_LIKE_KEY = re.compile(r"(?=.*[^\W\d_])(?=.*\d)|\d{15,}", re.DOTALL)
_UUID = r"[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}"
_SEGMENT = rf"(?:{_UUID}|[a-z_-]+\d{{0,2}}|\d{{1,3}})"
_PLAIN = re.compile(
    rf"{_UUID}"
    r"|\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?"  # a date or a time
    rf"|/?{_SEGMENT}(?:[./]{_SEGMENT})+(?::\d{{1,5}})?"  # path of fields, of an address or of a file, or a host
    r"|\d{2,5}x\d{2,5}"  # a picture size
    r"|[\d.]{1,6}(?:[kMG]?(?:bit|bps|B|Hz)(?:/s)?|fps|px|min|bytes|seconds|characters)"
    rf"|{MASK}.*",
    re.IGNORECASE,
)
"""Pattern of words with letters and digits that are no keys."""


def quoted_text(text: str, limit: int) -> Shown:
    """Return the platform's words about a fault as one line of at most `limit` characters, without secrets.

    A word that looks like a key is masked, whether the register knows it or not.
    """
    return safe(hide_keys(str(masked_line(text, _MAX_TEXT))), limit)


def hide_keys(text: str) -> str:
    """Mask the registered secrets in a text, and each word that looks like a key (trust.md, "The register")."""
    return "".join(
        part if "://" in part else _WORD.sub(lambda found: _hidden(found[0]), part)
        for part in re.split(r"(\s+)", masked(text))
    )


def _hidden(word: str) -> str:
    core = word.rstrip(".:")
    if len(core) < _MIN_KEY or not _LOOKS_LIKE_KEY.match(core) or _PLAIN.fullmatch(core) or is_public(core):
        return word
    return f"{mask(core)}{word[len(core) :]}"


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
    else:
        if len(body) > _SEARCHED:  # the last word may be the first half of a secret, which no mask finds
            text = " ".join(text.rsplit(None, 1)[:-1])
        text = hide_keys(text)
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
            return hide_keys(found[0])
        if name in _READABLE:
            return text if name in _IDS else hide_keys(text)
        return f'"{MASK}"'

    return _JSON_PART.sub(part, json)
