"""AMF0, the notation of RTMP commands: decode the values of a message, encode those of a reply."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from struct import Struct
from typing import TypeAlias

from livedeck.simulator.ingest.errors import ProtocolError

Value: TypeAlias = "float | bool | str | dict[str, Value] | list[Value] | None"
"""Value of a command. The types undefined and unsupported decode to None, and dates to a number."""

MAX_DEPTH, MAX_ITEMS = 8, 1000
"""Maximum nesting of values, and maximum number of values in an object or array."""

_NUMBER, _SHORT, _LONG = Struct(">d"), Struct(">H"), Struct(">I")
_OBJECT_END = 9


def decode(data: bytes) -> list[Value]:
    """Return the values in `data`. Raises ProtocolError."""
    reader, values = _Reader(data), list[Value]()
    while reader.position < len(data):
        if len(values) == MAX_ITEMS:
            raise ProtocolError("a message has too many values")
        values.append(reader.value(0))
    return values


def encode(*values: object) -> bytes:
    """Return numbers, booleans, strings, mappings and None as AMF0."""
    return b"".join(map(_encoded, values))


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data, self.position = data, 0

    def _take(self, size: int) -> bytes:
        taken = self._data[self.position : self.position + size]
        if len(taken) != size:
            raise ProtocolError("a message ends inside a value")
        self.position += size
        return taken

    def _text(self, length: Struct) -> str:
        return self._take(length.unpack(self._take(length.size))[0]).decode("utf-8", "replace")

    def value(self, depth: int) -> Value:
        """Return the next value; `depth`: the number of values around it."""
        if depth > MAX_DEPTH:
            raise ProtocolError("values are nested too deeply")
        kind = self._take(1)[0]
        read = _READERS.get(kind)
        if read is None:
            raise ProtocolError("a message has a value of an unknown type")
        return read(self, depth + 1)

    def number(self, _: int) -> float:
        number: float = _NUMBER.unpack(self._take(8))[0]
        return number

    def boolean(self, _: int) -> bool:
        return self._take(1) != b"\0"

    def text(self, _: int) -> str:
        return self._text(_SHORT)

    def long_text(self, _: int) -> str:
        return self._text(_LONG)

    def nothing(self, _: int) -> None:
        return None

    def date(self, depth: int) -> float:
        date = self.number(depth)
        self._take(2)  # a time zone that is always 0
        return date

    def fields(self, depth: int) -> dict[str, Value]:
        fields: dict[str, Value] = {}
        for _ in range(MAX_ITEMS + 1):
            name = self._text(_SHORT)
            if not name and self._data[self.position : self.position + 1] == bytes([_OBJECT_END]):
                self.position += 1
                return fields
            fields[name] = self.value(depth)
        raise ProtocolError("an object has too many fields")

    def counted_fields(self, depth: int) -> dict[str, Value]:
        self._take(4)  # a count that encoders do not keep to
        return self.fields(depth)

    def named_fields(self, depth: int) -> dict[str, Value]:
        self._text(_SHORT)  # the name of a class
        return self.fields(depth)

    def items(self, depth: int) -> list[Value]:
        count = _LONG.unpack(self._take(4))[0]
        if count > MAX_ITEMS:
            raise ProtocolError("an array has too many items")
        return [self.value(depth) for _ in range(count)]


_READERS: Mapping[int, Callable[[_Reader, int], Value]] = {
    0: _Reader.number,
    1: _Reader.boolean,
    2: _Reader.text,
    3: _Reader.fields,
    5: _Reader.nothing,  # null
    6: _Reader.nothing,  # undefined
    8: _Reader.counted_fields,
    10: _Reader.items,
    11: _Reader.date,
    12: _Reader.long_text,
    13: _Reader.nothing,  # unsupported
    15: _Reader.long_text,  # XML
    16: _Reader.named_fields,
}
"""Marker of a value -> the method that reads it."""


def _encoded(value: object) -> bytes:
    match value:
        case None:
            return b"\5"
        case bool():
            return bytes([1, value])
        case int() | float():
            return b"\0" + _NUMBER.pack(value)
        case str():
            return b"\2" + _encoded_name(value)
        case Mapping():
            fields = (_encoded_name(name) + _encoded(field) for name, field in value.items())
            return b"\3" + b"".join(fields) + bytes([0, 0, _OBJECT_END])
        case _:
            raise TypeError(f"AMF0 has no {type(value).__name__}")


def _encoded_name(name: str) -> bytes:
    content = name.encode()
    return _SHORT.pack(len(content)) + content
