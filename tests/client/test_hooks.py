"""Hooks see each request and its end without secrets, and a transport of httpx can carry them."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Callable
from socket import gaierror
from typing import Any

import httpx
import pytest

from client.answers import EMPTY_LIST, TOKEN, listening
from livedeck.client import (
    Api,
    Misconfigured,
    NotFound,
    RequestRecord,
    ResponseRecord,
    ServerFault,
    Unknown,
    Unreachable,
    Unreadable,
)
from livedeck.client.http.transport import HttpTransport

BUSY = b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nX-Request-ID: r-1\r\nSet-Cookie: sid=cookie-of-nobody-77\r\n\r\n"


class Seen:
    """Arguments of the hooks of a client, in order."""

    def __init__(self) -> None:
        self.records: list[RequestRecord | ResponseRecord] = []

    def api(self, address: str, **options: Any) -> Api:
        return Api(
            base_url=address, token=TOKEN, on_request=self.records.append, on_response=self.records.append, **options
        )


async def test_every_try_is_a_request_with_one_end() -> None:
    seen = Seen()
    async with listening(BUSY, EMPTY_LIST) as (address, _), seen.api(address, jitter=lambda: 0.0) as api:
        await api.events.list(order="name.asc")
    first, failed, again, done = seen.records
    assert isinstance(first, RequestRecord)
    assert isinstance(failed, ResponseRecord)
    assert isinstance(done, ResponseRecord)
    assert (first.operation, first.method, first.path) == ("list events", "GET", "/v2/live/events")
    assert (failed.request, failed.status, failed.request_id, failed.fault) == (first, 503, "r-1", "")
    assert (done.request, done.status) == (again, 200)
    assert done.seconds > 0


async def test_no_record_shows_a_secret() -> None:
    seen = Seen()
    async with listening(BUSY) as (address, _), seen.api(address, retry=0) as api:
        with pytest.raises(ServerFault):
            await api.events.list()
        with pytest.raises(ServerFault):
            await api.cdn.content(f"{address}/a/picture.png?sign=signature-of-nobody-31", 10, "read")
    told = str(seen.records)
    assert len(seen.records) == 4
    assert "r-1" in told
    for secret in (TOKEN, "cookie-of-nobody", "signature-of-nobody"):
        assert secret not in told


async def test_a_lost_response_is_an_end_too() -> None:
    seen = Seen()
    async with listening(b"") as (address, _), seen.api(address, retry=0) as api:
        with pytest.raises(Unreachable):
            await api.events.list()
        with pytest.raises(Unknown):
            await api.events.enable("x")
    ends = [record for record in seen.records if isinstance(record, ResponseRecord)]
    assert [(end.request.method, end.status, end.fault) for end in ends] == [
        ("GET", None, "reset"),
        ("PUT", None, "reset"),
    ]


async def test_so_is_a_cancelled_call() -> None:
    seen = Seen()
    async with listening(None) as (address, _), seen.api(address, timeout=30) as api:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(api.events.list(), 0.1)
    assert isinstance(seen.records[-1], ResponseRecord)
    assert (seen.records[-1].status, seen.records[-1].fault) == (None, "cancelled")


async def test_a_hook_that_fails_hides_no_outcome(caplog: pytest.LogCaptureFixture) -> None:
    def fail(_record: object) -> None:
        raise ZeroDivisionError

    done = b"HTTP/1.1 200 OK\r\nContent-Length: 25\r\n\r\n" + b'{"data":{"success":true}}'
    async with (
        listening(done) as (address, _),
        Api(base_url=address, token=TOKEN, on_request=fail, on_response=fail) as api,
    ):
        with caplog.at_level(logging.ERROR):
            await api.events.enable("x")
    assert caplog.text.count("a hook of the client failed") == 2


async def test_a_mock_of_httpx_answers_in_place_of_the_platform() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        assert request.headers["Authorization"] == f"Bearer {TOKEN}"
        found = request.url.path.endswith("/e1")
        return (
            httpx.Response(200, json={"data": {"id": "e1"}})
            if found
            else httpx.Response(404, headers={"X-Request-ID": "m"})
        )

    async with Api(base_url="https://platform.example", token=TOKEN, http_transport=httpx.MockTransport(answer)) as api:
        assert (await api.events.get("e1")).id == "e1"
        with pytest.raises(NotFound) as caught:
            await api.events.get("e2")
    assert caught.value.request_id == "m"


async def test_the_transport_of_httpx_reads_over_a_socket_and_is_closed_with_the_client() -> None:
    transport = httpx.AsyncHTTPTransport()
    async with listening(EMPTY_LIST) as (address, _):
        api = Api(base_url=address, token=TOKEN, http_transport=transport)
        assert len(await api.qos.get("x")) == 0
        await api.aclose()
        await api.aclose()
        with pytest.raises(Misconfigured, match="the client is closed"):
            await api.events.list()


def _raises(error: Exception, cause: Exception | None = None) -> Callable[[httpx.Request], httpx.Response]:
    def answer(_request: httpx.Request) -> httpx.Response:
        raise error from cause

    return answer


@pytest.mark.parametrize(
    ("error", "cause", "expected", "was_sent"),
    [
        (httpx.ConnectError("no"), ConnectionRefusedError(), "refused", False),
        (httpx.ConnectError("no"), OSError("Multiple exceptions: [Errno 111] a, [Errno 101] b"), "refused", False),
        (httpx.ConnectError("no"), OSError(113, "No route to host"), "route", False),
        (httpx.ConnectError("no"), None, "route", False),
        (httpx.ConnectError("no"), gaierror(), "dns", False),
        (httpx.ConnectError("no"), ssl.SSLError(), "tls", False),
        (httpx.ConnectTimeout("no"), None, "timeout", False),
        (httpx.PoolTimeout("no"), None, "timeout", False),
        (httpx.ReadTimeout("no"), None, "timeout", True),
        (httpx.ReadError("no"), None, "reset", True),
        (httpx.RemoteProtocolError("Server disconnected"), None, "reset", True),
        (httpx.RemoteProtocolError("odd"), None, None, True),
    ],
)
async def test_errors_of_a_transport_are_those_of_the_client(
    error: Exception, cause: Exception | None, expected: str | None, was_sent: bool
) -> None:
    transport: HttpTransport = httpx.MockTransport(_raises(error, cause))
    async with Api(base_url="https://platform.example", token=TOKEN, http_transport=transport, retry=0) as api:
        with pytest.raises((Unreachable, Unreadable)) as read:
            await api.events.list()
        with pytest.raises((Unreachable, Unknown)) as changed:
            await api.events.enable("x")
    assert getattr(read.value, "cause", None) == expected
    assert isinstance(changed.value, Unknown) is was_sent


def test_options_of_the_own_connections_are_refused_beside_a_transport() -> None:
    options: list[dict[str, Any]] = [
        {"proxy": "http://proxy.example:3128"},
        {"ca_file": "a.pem"},
        {"client_cert": "a.pem"},
        {"http2": True},
        {"use_environment": True},
    ]
    transport = httpx.MockTransport(lambda _: httpx.Response(200))
    for option in options:
        with pytest.raises(Misconfigured, match="http_transport has a route of its own"):
            Api(base_url="https://a.example", token="t", http_transport=transport, **option)
