"""Decompresses and decodes responses, removes the platform's envelope, and raises the error that a response reports."""

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
from livedeck.client.http.lenient import Broken, LenientObject, read_lenient
from livedeck.client.http.success import Decision, decide
from livedeck.text import values

# An escaped half of a surrogate pair, as in a name that the platform has cut inside an emoji. Group 1 is not replaced:
# whole pairs, and any other escape (a backslash before `ud83d` may itself be escaped).
_LONE_SURROGATE = re.compile(r"(\\(?:u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w|[^u]))|\\u[dD][89a-fA-F]\w\w")

LONG_BODY = 64 * 2**10
"""Minimum bytes of a body that is decoded in a thread, because decoding takes several ms."""


_MAX_VALUES = 2_000_000
"""Maximum number of commas in a body, which is about the number of its values; more values fill the memory."""


class NotJson(ValueError):  # noqa: N818  named like the errors in errors.py
    """The text is not JSON, and no further text can complete it."""


_UNPACKED_SIZE = 256 * 2**10

_WINDOW_BITS: Mapping[str, int] = {"gzip": 31, "x-gzip": 31, "deflate": 15}


async def unpack(chunks: AsyncIterator[bytes], coding: str) -> AsyncIterator[bytes]:
    """Yield a body decompressed, in chunks of at most 256 KiB. Raises ValueError for an unknown coding or broken data.

    gzip may have several members in a row (RFC 1952, 2.2). Zeros after a member are ignored, as by gzip(1); any other
    bytes after the end are broken data. Other tasks can run after each chunk, because a small body may be huge once it
    is decompressed.
    """
    if coding not in _WINDOW_BITS:
        raise ValueError("not a content coding that the client accepts")
    decoder, is_first = zlib.decompressobj(_WINDOW_BITS[coding]), True
    async for packed in chunks:
        data = packed
        while data:
            if decoder.eof:
                data = data.lstrip(b"\0")
                decoder = _next_member(coding) if data else decoder
                continue
            try:
                unpacked = decoder.decompress(data, _UNPACKED_SIZE)
            except zlib.error as error:
                if not (is_first and coding == "deflate"):
                    raise ValueError(str(error)) from None
                decoder, is_first = zlib.decompressobj(-15), False  # some platforms omit the header of deflate
                continue
            data, is_first = decoder.unused_data if decoder.eof else decoder.unconsumed_tail, False
            if unpacked:
                yield unpacked
            await asyncio.sleep(0)
    if not decoder.eof:
        raise ValueError("the compressed body is incomplete")


def _next_member(coding: str) -> zlib._Decompress:
    """Return the decoder for the next member. Raises ValueError for deflate, which has a single member."""
    if coding == "deflate":
        raise ValueError("bytes follow the compressed body")
    return zlib.decompressobj(_WINDOW_BITS[coding])


_decode = msgspec.json.Decoder().decode
_decode_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_rows = msgspec.json.Decoder(list[msgspec.Raw]).decode
_MALFORMED = (msgspec.MsgspecError, ValueError, RecursionError)


def decode(body: bytes | bytearray | msgspec.Raw) -> object:
    """Decode JSON in UTF-8 (RFC 8259). Broken characters become U+FFFD.

    Raises ValueError if the body is not JSON or is nested too deep. NaN and Infinity are not JSON.
    """
    try:
        return _decode(body)
    except _MALFORMED:
        return decode_text(bytes(body).decode("utf-8-sig", errors="replace"))


def decode_long(body: bytes | bytearray) -> object:
    """Decode like `decode`, but row by row for a list in `data`, so that other threads can run in between."""
    try:
        members = _decode_members(body)
        rows = _decode_rows(members.pop("data"))
    except (*_MALFORMED, KeyError):
        return decode(body)
    return {**{name: decode(value) for name, value in members.items()}, "data": [decode(row) for row in rows]}


def decode_text(text: str) -> object:
    """Decode JSON after replacing lone escaped surrogates. Slower than `decode`. Raises ValueError as `decode` does."""
    try:
        return json.loads(repair_utf8(text), parse_constant=_refuse)
    except RecursionError:
        raise NotJson("nested too deep") from None


def decode_first(text: str, start: int) -> tuple[object, int]:
    """Decode the JSON value that begins at `start`. Returns the value and the index of its end.

    Raises NotJson if the text is wrong, or another ValueError if it may only be incomplete.
    """
    try:
        value, end = _DECODER.raw_decode(text, start)
    except RecursionError:
        raise NotJson("nested too deep") from None
    part = text[start:end]
    return (json.loads(repair_utf8(part)) if repair_utf8(part) is not part else value), end


def decode_run(text: str) -> list[object]:
    """Decode JSON values that are separated by commas. Much faster and stricter than `decode_first`.

    Raises ValueError for anything else, and for deeply nested values.
    """
    try:
        items: list[object] = _decode(f"[{repair_utf8(text)}]")
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ValueError(str(error)) from None
    return items


def repair_utf8(text: str) -> str:
    """Return JSON text with every lone escaped surrogate replaced by U+FFFD."""
    # searching one character is much faster than searching three
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
    LenientObject: "an object",
    type(None): "null",
}


def data(document: object, summary: str) -> object:
    """Return the content of the envelope `{data: ...}`. Raises Unreadable if there is no envelope."""
    if isinstance(document, dict) and "data" in document:
        return document["data"]
    raise Unreadable(f"{summary}: the response is not as documented: {type_name(document)} without data")


def rows(document: object, summary: str) -> list[object]:
    """Return the list in the envelope. Raises Unreadable for anything else, even for null."""
    value = data(document, summary)
    if isinstance(value, list):
        return value
    raise Unreadable(f"{summary}: the response is not as documented: data should be a list, not {type_name(value)}")


def type_name(value: object) -> str:
    """Return the JSON type of a value in words, such as `a number` or `null`; for a Broken value, its shape."""
    return value.shape if isinstance(value, Broken) else _TYPE_NAMES.get(type(value), "something else")


@dataclass(frozen=True, slots=True, repr=False)
class Response:
    """Complete response. `headers`: by name, ignoring case. `is_to_change`: the request was a change."""

    summary: str
    status: int
    headers: Mapping[str, str]
    body: bytes | bytearray
    is_to_change: bool = False

    @property
    def is_success(self) -> bool:
        """True if the status is a success. The body may contradict it."""
        return 200 <= self.status < 300

    def value(self, now: datetime) -> object:
        """Return the decoded body of a successful response; None for an empty body.

        Values in the response to a read may be Broken. `now`: time of this machine. Raises Rejected for an error or
        redirect, and Unreadable if the body is not JSON or does not prove the success.
        """
        document = self._json() if self.is_success else self._error_body()
        ruling = decide(self.status, document, is_to_change=self.is_to_change)
        if ruling.decision is Decision.ERROR:
            raise self._rejected(document, now)
        if ruling.decision is Decision.DOUBT:
            raise Unreadable(f"{self.summary}: the response proves nothing: {ruling.reason}")
        return document

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
        if not self.body or self.body.isspace():
            return None
        if self._has_too_many_values():
            raise Unreadable(f"{self.summary}: the response has more than {_MAX_VALUES:,} values")
        try:
            return decode_long(self.body) if len(self.body) > LONG_BODY else decode(self.body)
        except ValueError:
            pass
        try:
            if not self.is_to_change:  # a broken response proves nothing about a change
                return read_lenient(repair_utf8(bytes(self.body).decode("utf-8-sig", errors="replace")))
        except ValueError:
            pass  # the error is raised outside this block, so that no traceback quotes the body
        media_type = values.safe(self.headers.get("Content-Type", "of no stated type").partition(";")[0], 60)
        text = f"{self.summary}: the response ({media_type}) is not JSON; check the address"
        raise Unreadable(text, is_foreign="json" not in media_type.lower())

    def _has_too_many_values(self) -> bool:
        return len(self.body) > _MAX_VALUES and self.body.count(b",") > _MAX_VALUES

    def _error_body(self) -> object:
        try:
            return None if self._has_too_many_values() else decode(self.body)
        except ValueError:  # a proxy's page, which leaves only the status
            return None
