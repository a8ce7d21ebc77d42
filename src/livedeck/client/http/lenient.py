"""Lenient reader for a JSON document that a strict reader has refused. Pure.

A raw tab or line break in a string, and a comma after the last item, have only one meaning and are accepted. An
unreadable value becomes `Broken`; the other values of its row and the other rows stay. The end is never guessed: a
document with an open bracket or string is refused.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

MAX_SIZE = 4 * 2**20
"""Maximum number of characters of a document; each takes about a microsecond at worst."""

_MAX_DEPTH = 32
"""Maximum depth of an object or a list; a deeper one is broken. Documents of the platform have five levels."""

_TOKEN = re.compile(
    r'[ \t\r\n]*(?:("[^"\\]*(?:\\.[^"\\]*)*")|([\[\]{},:])|([^\s"\[\]{},:]+)|($))', re.DOTALL | re.ASCII
)
_MARK = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|["\[\]{}]', re.DOTALL)
_CLOSING = {"{": "}", "[": "]"}
_SHAPES = {"{": "an object that is not JSON", "[": "a list that is not JSON"}


@dataclass(frozen=True, slots=True)
class Broken:
    """Place of an unreadable value. `shape`: kind of the value in words, such as `a string with a bad escape`."""

    shape: str


class LenientObject(dict[str, Any]):
    """Object of a document that was read leniently, so that any of its values may be Broken."""


class _MalformedError(ValueError):
    """An object or a list breaks the grammar at the current token."""


def read_lenient(text: str) -> object:
    """Return the document, with Broken in place of each unreadable value.

    Raises ValueError if the text is not an object or list, is not closed, goes on after its end, or is too long.
    """
    if len(text) > MAX_SIZE:
        raise ValueError("too long")
    try:
        document = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return _Reader(text).document()
    if not isinstance(document, dict | list):
        raise ValueError("neither an object nor a list")  # noqa: TRY004  about the text
    return document


def closed_end(text: str, start: int) -> int:
    """Return the end of the object or list that begins at `start`; -1 if it is not closed."""
    depth = 0
    for match in _MARK.finditer(text, start):
        mark = match[0]
        if mark == '"':
            return -1
        depth += (mark in _CLOSING) - (mark in {"]", "}"})
        if depth <= 0:
            return match.end()
    return -1


def plain(value: object) -> object:
    """Return a value as plain dicts and lists. Raises ValueError if a part of it is Broken."""
    if isinstance(value, Broken):
        raise ValueError(value.shape)  # noqa: TRY004  about the text that was read
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, list) else value


class _Reader:
    """Reader at a position in a text. `_text`: current token; empty at the end. `_kind`: name of its pattern group."""

    def __init__(self, text: str) -> None:
        self._document, self._end, self._text = text, 0, ""
        self._kind: int | None = None
        self._advance()

    def document(self) -> object:
        """Return the object or list that is the whole text."""
        opening = self._text
        if opening not in _CLOSING:
            raise _MalformedError("neither an object nor a list")
        self._advance()
        value = self._items(opening, 0)
        if self._text:
            raise _MalformedError("it goes on after its end")
        return value

    def _advance(self) -> None:
        match = _TOKEN.match(self._document, self._end)
        if match is None:
            raise ValueError("a string is not closed")
        self._kind, self._end = match.lastindex, match.end()
        self._text = match[match.lastindex or 0]

    def _value(self, depth: int) -> object:
        opening, kind = self._text, self._kind
        if kind == 2 and opening not in _CLOSING:
            raise _MalformedError("no value")
        self._advance()
        if kind == 1:
            return _string(opening)
        if kind != 2:
            return _scalar(opening)
        if depth > _MAX_DEPTH:
            self._skip(opening)
            return Broken("a value nested too deep")
        try:
            return self._items(opening, depth)
        except _MalformedError:
            self._skip(opening)
            return Broken(_SHAPES[opening])

    def _items(self, opening: str, depth: int) -> object:
        """Return the rest of an object or a list, after its opening bracket."""
        closing = _CLOSING[opening]
        found, members = list[object](), LenientObject()
        while self._text != closing:
            if opening == "{":
                name = self._name()
                members[name] = self._value(depth + 1)
            else:
                found.append(self._value(depth + 1))
            if self._text == ",":
                self._advance()
            elif self._text != closing:
                raise _MalformedError("neither a comma nor the end")
        self._advance()
        return members if opening == "{" else found

    def _name(self) -> str:
        if self._kind != 1:
            raise _MalformedError("no name")
        name, quoted = _string(self._text), self._text
        self._advance()
        if self._text != ":":
            raise _MalformedError("no colon")
        self._advance()
        return name if isinstance(name, str) else quoted[1:-1]

    def _skip(self, opening: str) -> None:
        """Skip to the end of an open object or list. Raises ValueError if the brackets do not match."""
        awaited = [_CLOSING[opening]]
        while awaited:
            if self._kind == 2 and self._text in _CLOSING:
                awaited.append(_CLOSING[self._text])
            elif self._kind == 2 and self._text in {"]", "}"} and self._text != awaited.pop():
                raise ValueError("the brackets do not match")
            elif not self._text:
                raise ValueError("it is not closed")
            self._advance()


def _string(quoted: str) -> object:
    if "\\" not in quoted:
        return quoted[1:-1]
    try:
        return json.loads(quoted, strict=False)
    except ValueError:
        return Broken("a string with a bad escape")


def _scalar(text: str) -> object:
    try:
        return _DECODER.decode(text)
    except ValueError:
        return Broken("no JSON value")


def _integer(digits: str) -> object:
    try:
        return int(digits)
    except ValueError:  # Python refuses to convert thousands of digits, which takes long
        return Broken(f"an integer of {len(digits.lstrip('-')):,} digits")


_DECODER = json.JSONDecoder(strict=False, parse_constant=Broken, parse_int=_integer, object_hook=LenientObject)
