"""Bytes unpacked, decoded to JSON, and taken out of the platform's envelope, or mapped to the error that they are."""

from __future__ import annotations

import asyncio
import json
import re
import zlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import datetime

import msgspec

from livedeck.client.http.error_mapping import error_from_response, retry_after
from livedeck.client.http.errors import Rejected, Unreadable
from livedeck.text import values

# Half of a character outside the basic plane, escaped: what is left where a platform cut a name inside an emoji.
# Group 1 is what must stay: whole pairs, and any other escape (a backslash before `ud83d` may itself be escaped).
_LONE_SURROGATE = re.compile(r"(\\(?:u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w|[^u]))|\\u[dD][89a-fA-F]\w\w")

LONG_BODY = 256 * 2**10
"""Bytes; decoding and reading more of them takes several ms, for which a thread is worth while."""


class NotJson(ValueError):  # noqa: N818  read after `except`, as the tree in errors.py
    """A text that no more of it can make JSON."""


_UNPACKED_SIZE = 256 * 2**10

_WINDOW_BITS: Mapping[str, int] = {"gzip": 31, "x-gzip": 31, "deflate": 15}


async def unpack(chunks: AsyncIterator[bytes], coding: str) -> AsyncIterator[bytes]:
    """The body of one content coding, in chunks of 256 KiB at most. Raises ValueError for others and broken ones.

    Each takes a millisecond, after which others have their turn: little data may unpack to very much.
    """
    if coding not in _WINDOW_BITS:
        raise ValueError("no content coding that was asked for")
    decoder, is_first = zlib.decompressobj(_WINDOW_BITS[coding]), True
    async for packed in chunks:
        data = packed
        while data and not decoder.eof:
            try:
                unpacked = decoder.decompress(data, _UNPACKED_SIZE)
            except zlib.error as error:
                if not (is_first and coding == "deflate"):
                    raise ValueError(str(error)) from None
                decoder, is_first = zlib.decompressobj(-15), False  # some platforms leave its header out
                continue
            data, is_first = decoder.unconsumed_tail, False
            if unpacked:
                yield unpacked
                await asyncio.sleep(0)
    if not decoder.eof:
        raise ValueError("it ends half way")


_decode = msgspec.json.Decoder().decode
_decode_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_rows = msgspec.json.Decoder(list[msgspec.Raw]).decode
_MALFORMED = (msgspec.MsgspecError, ValueError, RecursionError)


def decode(body: bytes | bytearray | msgspec.Raw) -> object:
    """The JSON value in `body`, which is UTF-8 (RFC 8259); broken characters become U+FFFD.

    Raises ValueError for what is no JSON, NaN and Infinity included, and for what is nested too deep.
    """
    try:
        return _decode(body)
    except _MALFORMED:
        return decode_text(bytes(body).decode("utf-8-sig", errors="replace"))


def decode_long(body: bytes | bytearray) -> object:
    """The same as `decode`; a list in `data` row by row, so that the interpreter can leave the thread that does it."""
    try:
        members = _decode_members(body)
        rows = _decode_rows(members.pop("data"))
    except (*_MALFORMED, KeyError):
        return decode(body)
    return {**{name: decode(value) for name, value in members.items()}, "data": [decode(row) for row in rows]}


def decode_text(text: str) -> object:
    """The JSON value in `text`, escaped halves of characters repaired. Raises ValueError as `decode` does; slow."""
    try:
        return json.loads(repair_utf8(text), parse_constant=_refuse)
    except RecursionError:
        raise NotJson("nested too deep") from None


def decode_first(text: str, start: int) -> tuple[object, int]:
    """The JSON value that begins at `start`, and where it ends.

    Raises NotJson for what no more text can mend, and any other ValueError where the text may merely be cut short.
    """
    try:
        value, end = _DECODER.raw_decode(text, start)
    except RecursionError:
        raise NotJson("nested too deep") from None
    part = text[start:end]
    return (json.loads(repair_utf8(part)) if repair_utf8(part) is not part else value), end


def decode_run(text: str) -> list[object]:
    """The JSON values in a text that has a comma between each two.

    Much quicker than `decode_first`, and stricter. Raises ValueError for anything else, and for values nested deep.
    """
    try:
        items: list[object] = _decode(f"[{repair_utf8(text)}]")
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ValueError(str(error)) from None
    return items


def repair_utf8(text: str) -> str:
    """JSON text in which every escaped half of a character is U+FFFD."""
    # One character is found much quicker than three.
    if "\\" not in text or ("\\ud" not in text and "\\uD" not in text):
        return text
    return _LONE_SURROGATE.sub(lambda match: match[1] or "\\ufffd", text)


def _refuse(name: str) -> object:
    raise NotJson(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)

_TYPE_NAMES: Mapping[type, str] = {
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "a list",
    tuple: "a list",
    dict: "an object",
    type(None): "null",
}


def data(answer: object, summary: str) -> object:
    """What is inside the envelope `{data: ...}`. Raises Unreadable where there is none."""
    if isinstance(answer, dict) and "data" in answer:
        return answer["data"]
    raise Unreadable(f"{summary}: the answer is not as documented: {type_name(answer)} without data")


def rows(answer: object, summary: str) -> list[object]:
    """The list inside the envelope; null is an empty one (platform-api.md, "Error body")."""
    value = data(answer, summary)
    if value is None:
        return []
    if isinstance(value, list):
        return value
    raise Unreadable(f"{summary}: the answer is not as documented: data should be a list, not {type_name(value)}")


def type_name(value: object) -> str:
    """What JSON calls it: `a number`, `null`."""
    return _TYPE_NAMES.get(type(value), "something else")


@dataclass(frozen=True, slots=True, repr=False)
class Response:
    """A complete answer to a request. `headers` find a name in any case. `is_to_change`: the request is no read."""

    summary: str
    status: int
    headers: Mapping[str, str]
    body: bytes | bytearray
    is_to_change: bool = False

    def value(self, now: datetime) -> object:
        """Its JSON, None where the body is empty. Raises Rejected where it says no, Unreadable for no JSON."""
        if not 200 <= self.status < 300:
            raise self._rejected(self._error_body(), now)
        value = self._json()
        if isinstance(value, dict) and "data" not in value and value.get("error") not in (None, False):
            raise self._rejected(value, now)
        return value

    def _rejected(self, body: object, now: datetime) -> Rejected:
        return error_from_response(
            self.summary,
            status=self.status,
            body=body,
            location=self.headers.get("Location", ""),
            retry_after=retry_after(self.headers, now),
            is_to_change=self.is_to_change,
        )

    def _json(self) -> object:
        if not self.body.strip():
            return None
        try:
            return decode_long(self.body) if len(self.body) > LONG_BODY else decode(self.body)
        except ValueError:  # raised below, outside, so that no traceback quotes the body
            media_type = values.safe(self.headers.get("Content-Type", "of no stated type").partition(";")[0], 60)
        raise Unreadable(f"{self.summary}: the answer ({media_type}) is no JSON; check the address")

    def _error_body(self) -> object:
        try:
            return decode(self.body)
        except ValueError:  # a proxy's page: the status has to do
            return None
