"""A long reply, decoded row by row in a thread, gives the values of one decoded at once. Broken rows are repaired."""

from __future__ import annotations

import json
from typing import Any

import pytest

from livedeck.client.http.response import decode, decode_long


def rows(count: int = 3000, **fields: Any) -> list[Any]:
    return [{"time": f"2026-11-21T12:00:{row % 60:02}Z", "row": row, **fields} for row in range(count)]


def encoded(value: object, **how: Any) -> bytes:
    return json.dumps(value, **how).encode()


@pytest.mark.parametrize("how", [{}, {"separators": (",", ":")}, {"indent": 2}, {"ensure_ascii": False}])
@pytest.mark.parametrize(
    "value",
    [
        {"data": rows()},
        {"data": rows(), "meta": {"pagination": {"total": 3000}}},
        {"meta": {}, "data": rows(text='"},{\\" \N{GRINNING FACE}')},
        {"data": []},
        {"data": [[{"a": 1}, {"b": 2}]] * 5000},
        {"data": rows(nested=[{"a": 1}, {"b": [{"c": 2}, {}]}])},
        {"data": [*rows(), 1, None, "},"]},
        {"data": {"rows": rows()}},
        {"error": {"code": 1}},
        rows(),
        7,
    ],
)
def test_whatever_stands_in_it_the_result_is_the_same(value: object, how: dict[str, Any]) -> None:
    body = encoded(value, **how)
    assert decode_long(body) == decode(body) == value


@pytest.mark.parametrize("read", [decode, decode_long])
@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'\xef\xbb\xbf{"data": [1]}', [1]),
        (b'{"data": ["caf\xe9"]}', ["caf\N{REPLACEMENT CHARACTER}"]),
        (b'{"data": ["\\ud83d", "\\ude00x", "\\ud83d\\ude00", "\\\\ud83d"]}', ["\ufffd", "\ufffdx", "😀", "\\ud83d"]),
        (b'{"data": [1e400]}', [float("inf")]),
        (b'{"data": [123456789012345678901234567890]}', [123456789012345678901234567890]),
        (b'{"data": [1], "data": [2]}', [2]),
    ],
)
def test_what_is_broken_is_repaired(read: Any, body: bytes, value: object) -> None:
    assert read(body)["data"] == value


@pytest.mark.parametrize("read", [decode, decode_long])
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b'{"data": [1',
        b'{"data": [1,]}',
        b'{"data": [1]]}',
        b'{"data": [1]} x',
        b'{"data": [NaN]}',
        b'{"data": [-Infinity]}',
        b'{"data": [{"a": NaN}, {}]}',
        b'{"data": ["a\tb"]}',
        b'{"data": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"data": [1], "meta": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"data": ' + b"9" * 5000 + b"}",
    ],
    ids=lambda body: ascii(body[:20]),
)
def test_what_is_no_json_is_refused(read: Any, body: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        read(body)
