"""A long answer, decoded piece by piece, is what it would be at once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from livedeck.client.http.response import decode, decode_long
from livedeck.slices import Slices


def run(work: Slices[object]) -> tuple[object, int]:
    """The result, and how many pauses there were."""
    pauses = 0
    while True:
        try:
            next(work)
        except StopIteration as done:
            return done.value, pauses
        pauses += 1


def rows(count: int = 3000, **fields: Any) -> list[Any]:
    return [{"time": f"2026-11-21T12:00:{row % 60:02}Z", "row": row, **fields} for row in range(count)]


def long(value: object, **how: Any) -> bytes:
    return json.dumps(value, **how).encode()


@pytest.mark.parametrize("how", [{}, {"separators": (",", ":")}, {"indent": 2}])
@pytest.mark.parametrize("more", [{}, {"meta": {"pagination": {"total": 3000}}}])
def test_a_long_list_is_decoded_in_pieces(how: dict[str, Any], more: dict[str, Any]) -> None:
    document = {"data": rows(), **more}
    assert run(decode_long(long(document, **how)))[0] == document
    assert run(decode_long(long(document, **how)))[1] > 2


@pytest.mark.parametrize(
    "value",
    [
        {"data": []},
        {"data": rows(3)},
        {"data": [[{"a": 1}, {"b": 2}]] * 5000},
        {"data": rows(text="},{")},
        {"data": rows(text='"},{\\"')},
        {"data": rows(inner=[{"a": 1}, {"b": [{"c": 2}, {}]}])},
        {"data": [*rows(), 1, None, "},"]},
        {"meta": {}, "data": rows()},
        {"data": {"rows": rows()}},
        rows(),
    ],
)
def test_whatever_stands_in_it_the_result_is_the_same(value: object) -> None:
    body = long(value)
    assert run(decode_long(body))[0] == decode(body) == value


def test_a_long_list_with_something_nested_too_deep_behind_it_is_no_json() -> None:
    body = long({"data": rows()}).removesuffix(b"}") + b',"meta":' + b"[" * 5000 + b"]" * 5000 + b"}"
    with pytest.raises(ValueError, match="nested too deep"):
        run(decode_long(body))


@pytest.mark.parametrize("tail", ["", ",]}", "]", "]}}", "]} x", ", NaN]}", '],"data":7}', '],"data":[]}'])
def test_what_is_no_json_at_its_end_is_no_json_and_what_is_is_read_as_it_stands(tail: str) -> None:
    body = long({"data": rows()}).removesuffix(b"]}") + tail.encode()
    try:
        expected = decode(body)
    except ValueError:
        with pytest.raises(ValueError, match=r"."):
            run(decode_long(body))
    else:
        assert json.dumps(run(decode_long(body))[0]) == json.dumps(expected)
