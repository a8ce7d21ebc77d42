"""Requests of any method and path, for endpoints beyond the document. A path never leaves the base address. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, quote, unquote

from livedeck.client.http.encoding import encode
from livedeck.client.http.errors import Misconfigured
from livedeck.client.http.request import JsonBody, Request, Summary, describe_call
from livedeck.text.secrets import register_named

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
"""Methods of a request; the first two are reads."""

Scalar = str | int | float | bool

Params = Mapping[str, Scalar | Sequence[Scalar] | None]
"""Query parameters by name; a sequence repeats its name, and None leaves it out."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_BROKEN_ESCAPE = re.compile(r"%(?![0-9a-fA-F]{2})")
_IN_A_PATH = "/%:@!$&'()*+,;=~"
_ROUNDS = 4
"""Maximum number of nested percent-encodings of a path."""


def any_request(method: object, path: object, json: object = None, params: object = None) -> Request:
    """Return a request of any method and path. A query in the path comes before `params` (`Params`).

    Raises Misconfigured for an unknown method, a path that is an address or may leave the base address, and a value
    that cannot be sent.
    """
    verb = str(method).upper()
    if verb not in METHODS:
        raise Misconfigured(f"request: the method should be one of {', '.join(METHODS)}")
    if not isinstance(path, str):
        raise Misconfigured(f"request: the path should be text, not {type(path).__name__}")
    bare, _, query = path.partition("?")
    summary = describe_call("request", f"{verb} {bare}")
    if fault := _path_fault(bare) or _query_fault(query):
        raise Misconfigured(f"{summary}: not sent, the path {fault}")
    sent: dict[str, Any] = {}
    for name, values in (*_parsed(query), *_listed(params, summary)):
        sent[name] = (*sent.get(name, ()), *values)
    body = None if json is None else _body(json, summary)
    request = Request(verb, quote(bare.removeprefix("/"), safe=_IN_A_PATH, errors="replace"), summary, sent, body)
    if request.is_read and body is not None:
        raise Misconfigured(f"{summary}: a read has no body; give params")
    return request


def _path_fault(path: str) -> str:
    """Return the reason why a path cannot be used; empty if it can."""
    if not path.strip("/"):
        return "should name an endpoint, such as /v2/live/events"
    if path.startswith("//") or _SCHEME.match(path):
        return "should be a path below the base address, not a full address"
    if "#" in path:
        return "should have no fragment"
    return "has a % that begins no encoded character" if _BROKEN_ESCAPE.search(path) else _decoded_fault(path)


def _decoded_fault(path: str) -> str:
    """Return the reason why a path may leave the base address once a server has decoded it; empty if it cannot.

    A server may decode the path several times.
    """
    for _ in range(_ROUNDS):
        if _CONTROL.search(path):
            return "should have no control characters"
        names = {segment.partition(";")[0] for segment in path.split("/")}
        if "\\" in path or names & {".", ".."}:
            return "should have no `.` or `..` between slashes and no backslash: they may lead out of the base address"
        path, before = unquote(path), path
        if path == before:
            return ""
    return "is encoded too many times"


def _query_fault(query: str) -> str:
    if "#" in query:
        return "should have no fragment"
    return "should have no control characters" if _CONTROL.search(query) else ""


def _parsed(query: str) -> Iterator[tuple[str, tuple[Scalar, ...]]]:
    return ((name, (value,)) for name, value in parse_qsl(query, keep_blank_values=True))


def _listed(params: object, summary: Summary) -> Iterator[tuple[str, tuple[Scalar, ...]]]:
    """Yield each parameter with its values. Raises Misconfigured."""
    if not isinstance(params, Mapping | None):
        raise Misconfigured(f"{summary}: params should be values by name, not {type(params).__name__}")
    for name, value in (params or {}).items():
        values = () if value is None else tuple(value) if isinstance(value, list | tuple) else (value,)
        if not isinstance(name, str) or not all(isinstance(item, str | int | float) for item in values):
            raise Misconfigured(f"{summary}: params should map names to texts, numbers or booleans")
        if values:
            yield name, values


def _body(json: object, summary: Summary) -> JsonBody:
    if not _is_json(json):
        raise Misconfigured(f"{summary}: the body is not JSON, which has neither NaN nor infinity")
    register_named(json)
    return JsonBody(json)


def _is_json(value: object) -> bool:
    try:
        return bool(encode(value, is_strict=True))
    except (TypeError, ValueError, RecursionError):
        return False
