"""Bytes made into JSON, taken out of the platform's envelope, or made into the error that they are. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, from_json

from livedeck.client.http.error_mapping import error_from_response, retry_after
from livedeck.client.http.errors import Rejected, Unreadable
from livedeck.client.http.secrets import Secret
from livedeck.slices import Slices
from livedeck.text import values

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
        return json.loads(repair_utf8(body.decode("utf-8-sig", errors="replace")), parse_constant=_refuse)
    except RecursionError:
        raise NotJson("nested too deep") from None


def decode_long(body: bytes) -> Slices[object]:
    """The same as `decode`; where it is a long list of objects in `{"data": [`, with a pause after each piece of it."""
    text = repair_utf8(body.decode("utf-8-sig", errors="replace"))
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
    return (json.loads(repair_utf8(piece)) if repair_utf8(piece) is not piece else value), end


def decode_run(text: str) -> list[object]:
    """The JSON values in a text that has a comma between each two.

    Much quicker than `decode_first`, and stricter. Raises ValueError for anything else, and for values nested deep.
    """
    values: list[object] = from_json(f"[{repair_utf8(text)}]", allow_inf_nan=False, cache_strings="keys")
    return values


def repair_utf8(text: str) -> str:
    """JSON text in which every escaped half of a character is U+FFFD."""
    if "\\" not in text or (
        "\\ud" not in text and "\\uD" not in text
    ):  # one character is found much quicker than three
        return text
    return _HALF.sub(lambda match: match[1] or "\\ufffd", text)


def _refuse(name: str) -> object:
    raise NotJson(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


_KINDS: Mapping[type, str] = {
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "a list",
    tuple: "a list",
    dict: "an object",
    type(None): "null",
}

_DEMANDS: Mapping[str, str] = {
    "model_type": "should be an object",
    "missing": "is required",
    "extra_forbidden": "is not to be sent",
}


_PLAIN = frozenset(
    {"value_error", "literal_error", "missing", "extra_forbidden", "string_too_short", "greater_than_equal"}
)

"""Faults of which the kind of the value says nothing."""


B = TypeVar("B", bound=BaseModel)


def read(model: type[B], value: object, what: str) -> B:
    """`value` as that model. Raises Unreadable naming the fields that are wrong, never what was in them."""
    try:
        return model.model_validate(value)
    except ValidationError as error:  # raised below, outside, so that no traceback quotes the value
        fault = _faults(error)
    raise Unreadable(f"{what}: the answer is not as documented: {fault}")


def data(answer: object, what: str) -> object:
    """What is inside the envelope `{data: ...}`. Raises Unreadable where there is none."""
    if isinstance(answer, dict) and "data" in answer:
        return answer["data"]
    raise Unreadable(f"{what}: the answer is not as documented: {kind(answer)} without data")


def rows(answer: object, what: str) -> list[object]:
    """The list inside the envelope; null is an empty one (decisions.md)."""
    value = data(answer, what)
    if value is None:
        return []
    if isinstance(value, list):
        return value
    raise Unreadable(f"{what}: the answer is not as documented: data should be a list, not {kind(value)}")


def kind(value: object) -> str:
    """What JSON calls it: `a number`, `null`."""
    return _KINDS.get(type(value), "something else")


def envelope_error(details: ErrorDetails) -> tuple[str, str]:
    """Where a value is wrong and what it should be: `restreams[1].key`, `should be a string, not a number`."""
    demand = _demand(details)
    found = "" if details["type"] in _PLAIN else f", not {kind(details['input'])}"
    return values.safe(_place(details["loc"]), 80), demand + found


def _faults(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_context=False)
    named = [f"{_place(fault['loc'])} {_demand(fault)}, not {kind(fault['input'])}" for fault in faults[:3]]
    more = f" and {len(faults) - 3} more" if len(faults) > 3 else ""
    return values.safe("; ".join(named), 300) + more


def _place(location: tuple[int | str, ...]) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)
    return "".join(steps).removeprefix(".") or "data"


def _demand(fault: ErrorDetails) -> str:
    if fault["type"] in _DEMANDS:
        return _DEMANDS[fault["type"]]
    return fault["msg"].removeprefix("Value error, ").removeprefix("Input ").removeprefix("String ")


@dataclass(frozen=True, slots=True, repr=False)
class Response:
    """What came for a call, complete. `headers` find a name in any case."""

    what: str
    status: int
    headers: Mapping[str, str]
    body: bytes

    def accepted(self, now: datetime, secrets: Sequence[Secret]) -> Slices[object]:
        """The JSON that it brings, None where it is empty. Raises Rejected where it says no, Unreadable for no JSON."""
        if not 200 <= self.status < 300:
            raise self._refused(self._error(), now, secrets)
        decoded = yield from self._decoded()
        if isinstance(decoded, dict) and "data" not in decoded and decoded.get("error") not in (None, False):
            raise self._refused(decoded, now, secrets)
        return decoded

    def _refused(self, decoded: object, now: datetime, secrets: Sequence[Secret]) -> Rejected:
        return error_from_response(
            self.what,
            status=self.status,
            body=decoded,
            location=self.headers.get("Location", ""),
            retry_after=retry_after(self.headers, now),
            secrets=secrets,
        )

    def _decoded(self) -> Slices[object]:
        if not self.body.strip():
            return None
        try:
            return (yield from decode_long(self.body))
        except ValueError:  # raised below, outside, so that no traceback quotes the body
            sent = values.safe(self.headers.get("Content-Type", "of no stated type").partition(";")[0], 60)
        raise Unreadable(f"{self.what}: the answer ({sent}) is no JSON; check the address")

    def _error(self) -> object:
        try:
            return decode(self.body)
        except ValueError:  # a proxy's page: the status has to do
            return None
