"""Hooks: functions of a program that receive each request and response, without secrets, for its log or metrics."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from livedeck.client.http.quoting import quoted_headers
from livedeck.record import Record

_log = logging.getLogger("livedeck.client")

_Headers = Sequence[tuple[str, str]]

T = TypeVar("T")


class RequestRecord(Record):
    """Request that is about to be sent, without secrets. A retry and a followed redirect are requests of their own.

    Attributes:
        operation: Operation in words, such as `list events`.
        method: HTTP method.
        path: Path below the base address, without the query; for a signed link, its address with secrets masked.
        headers: Headers by lower-case name; values that may grant access are masked.
    """

    operation: str
    method: str
    path: str
    headers: Mapping[str, str]


class ResponseRecord(Record):
    """Head of the response to a request, without secrets, or the reason why none came.

    Attributes:
        request: The request.
        status: HTTP status; None if no response came.
        request_id: The platform's id of the request; empty if no response came, or if it has none.
        headers: Headers by lower-case name; values that may grant access are masked.
        seconds: Time since the request began.
        fault: Reason why no response came, such as `timeout`; empty if one came.
    """

    request: RequestRecord
    status: int | None
    request_id: str
    headers: Mapping[str, str]
    seconds: float
    fault: str = ""


RequestHook = Callable[[RequestRecord], object]
ResponseHook = Callable[[ResponseRecord], object]


class Hooks(Record):
    """Hooks of a client. After each request, `on_response` gets the response, or the reason why none came.

    An exception of a hook is logged and not raised, because it would hide the outcome of a change.
    """

    on_request: RequestHook | None = None
    on_response: ResponseHook | None = None

    def begin(self, operation: str, method: str, path: str, headers: _Headers) -> RequestRecord | None:
        """Call `on_request`. Returns the request for `end`; None without hooks."""
        if self.on_request is None and self.on_response is None:
            return None
        request = RequestRecord(operation, method, path, quoted_headers(headers))
        if self.on_request is not None:
            _call(self.on_request, request)
        return request

    def end(
        self,
        request: RequestRecord | None,
        took: Callable[[], float],
        *,
        status: int | None = None,
        request_id: str = "",
        headers: _Headers = (),
        fault: str = "",
    ) -> None:
        """Call `on_response` for a request of `begin`. `took`: returns the seconds since the request began."""
        if request is not None and self.on_response is not None:
            record = ResponseRecord(request, status, request_id, quoted_headers(headers), took(), fault)
            _call(self.on_response, record)


NO_HOOKS = Hooks()


def _call(hook: Callable[[T], object], record: T) -> None:
    try:
        hook(record)
    except Exception:  # noqa: BLE001  code of the program that uses the client
        _log.exception("a hook of the client failed")
