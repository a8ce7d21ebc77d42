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
_IS_JSON = re.compile(r"\s*[\[{\"]")
_JSON_PART = re.compile(r'(?P<text>"(?:[^"\\]|\\.)*+"?)(?P<is_name>\s*:)?|[}\]]', re.DOTALL)

_READABLE = frozenset(
    {"code", "description", "detail", "details", "error", "errors", "field", "hint", "id", "invalid_params", "message"}
    | {"name", "param", "reason", "request_id", "status", "success", "title", "trace_id", "type"}
)
"""Names of members with quoted texts: they describe a fault or name an object."""

_IDS = frozenset({"id", "request_id", "trace_id"})
"""Names of members of `_READABLE` that hold an id, which may look like a key."""

_WORD = re.compile(r"""[^\s"'<>,;:()\[\]{}|&?#=]{8,}""")
_LOOKS_LIKE_KEY = re.compile(r"(?=.*[^\W\d_])(?=.*\d)", re.DOTALL)
_PLAIN = re.compile(
    r"[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}"  # a UUID
    r"|\d{4}-\d\d-\d\dT\d\d"  # a time up to its first colon
    r"|[a-z_]+(?:\.\d+|\.[a-z_]+)+"  # a path of fields: `restreams.2.name`
    r"|\d+x\d+|[\d.]+[a-z/]{1,7}"  # a picture size, and a quantity with its unit
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
    """Mask the registered secrets in a text, and each word of at least eight characters that looks like a key.

    Such a word has both letters and digits, and is no UUID, time, path of fields, quantity, address or public name.
    """
    return "".join(
        part if "://" in part else _WORD.sub(lambda found: _hidden(found[0]), part)
        for part in re.split(r"(\s+)", masked(text))
    )


def _hidden(word: str) -> str:
    is_key = _LOOKS_LIKE_KEY.match(word) and not _PLAIN.fullmatch(word) and not is_public(word)
    return mask(word) if is_key else word


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
            return hide_keys(found[0])
        if name in _READABLE:
            return text if name in _IDS else hide_keys(text)
        return f'"{MASK}"'

    return _JSON_PART.sub(part, json)
