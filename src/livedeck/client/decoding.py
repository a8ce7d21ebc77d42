"""Bytes made into JSON values, forgiving of broken text and of nothing else. Pure."""

from __future__ import annotations

import json
import re

# Half of a character outside the basic plane, escaped: what is left where a platform cut a name inside an emoji.
# Group 1 is what must stay: whole pairs, and any other escape (a backslash before `ud83d` may itself be escaped).
_HALF = re.compile(r"(\\(?:u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w|[^u]))|\\u[dD][89a-fA-F]\w\w")


def decode(body: bytes) -> object:
    """The JSON value in `body`, which is UTF-8 (RFC 8259); broken characters become U+FFFD.

    Raises ValueError for what is no JSON, NaN and Infinity included, and for what is nested too deep.
    """
    text = body.decode("utf-8-sig", errors="replace")
    if "\\ud" in text or "\\uD" in text:
        text = _HALF.sub(lambda match: match[1] or "\\ufffd", text)
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deep") from None


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is not JSON")
