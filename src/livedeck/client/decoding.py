"""Bytes made into JSON values, forgiving of broken text and of nothing else. Pure."""

from __future__ import annotations

import json
import re

from pydantic_core import from_json

from livedeck.slices import Slices

# Half of a character outside the basic plane, escaped: what is left where a platform cut a name inside an emoji.
# Group 1 is what must stay: whole pairs, and any other escape (a backslash before `ud83d` may itself be escaped).
_HALF = re.compile(r"(\\(?:u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w|[^u]))|\\u[dD][89a-fA-F]\w\w")


_LIST = re.compile(r'\s*\{\s*"data"\s*:\s*\[')
_PIECE = 32 * 2**10
"""Characters that are decoded at once: half a millisecond."""


class NotJson(ValueError):  # noqa: N818  read after `except`, as the tree in errors.py
    """A text that no more of it can make JSON."""


def decode(body: bytes) -> object:
    """The JSON value in `body`, which is UTF-8 (RFC 8259); broken characters become U+FFFD.

    Raises ValueError for what is no JSON, NaN and Infinity included, and for what is nested too deep.
    """
    try:
        return json.loads(mend(body.decode("utf-8-sig", errors="replace")), parse_constant=_refuse)
    except RecursionError:
        raise NotJson("nested too deep") from None


def decode_long(body: bytes) -> Slices[object]:
    """The same as `decode`; where it is a long list of objects in `{"data": [`, with a pause after each piece of it."""
    text = mend(body.decode("utf-8-sig", errors="replace"))
    opened = _LIST.match(text)
    if opened is None or len(text) <= _PIECE:
        return decode(body)
    rows: list[object] = []
    begin = at = opened.end()
    try:
        while (end := text.find("},", at + _PIECE)) >= 0:
            rows += decode_run(text[at : end + 1])
            at = end + 2
            yield
        last, end = decode_first(f"[{text[at:]}", 0)
        rest = text[at + end - 2 :]
        envelope = json.loads(text[:begin] + rest, parse_constant=_refuse)
    except (ValueError, RecursionError):  # no such list, or cut where a comma stands inside a text or an object
        return decode(body)
    if not (isinstance(last, list) and last) or '"data"' in rest:  # a comma before nothing, or a second list
        return decode(body)
    envelope["data"] = [*rows, *last]
    return envelope


def decode_first(text: str, start: int) -> tuple[object, int]:
    """The JSON value that begins at `start`, and where it ends.

    Raises NotJson for what no more text can mend, and any other ValueError where the text may merely be cut short.
    """
    try:
        value, end = _DECODER.raw_decode(text, start)
    except RecursionError:
        raise NotJson("nested too deep") from None
    piece = text[start:end]
    return (json.loads(mend(piece)) if mend(piece) is not piece else value), end


def decode_run(text: str) -> list[object]:
    """The JSON values in a text that has a comma between each two.

    Much quicker than `decode_first`, and stricter. Raises ValueError for anything else, and for values nested deep.
    """
    values: list[object] = from_json(f"[{mend(text)}]", allow_inf_nan=False, cache_strings="keys")
    return values


def mend(text: str) -> str:
    """JSON text in which every escaped half of a character is U+FFFD."""
    if "\\" not in text or (
        "\\ud" not in text and "\\uD" not in text
    ):  # one character is found much quicker than three
        return text
    return _HALF.sub(lambda match: match[1] or "\\ufffd", text)


def _refuse(name: str) -> object:
    raise NotJson(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)
