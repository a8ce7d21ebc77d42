"""Requests beyond the document: every check of a documented call holds, and no path leaves the base address."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.answers import TOKEN, listening
from client.test_transport import api_at
from livedeck.client import (
    Conflict,
    Misconfigured,
    ReadOnly,
    Redirected,
    Secret,
    Unauthorized,
    Unknown,
    Unreadable,
    Validation,
    any_request,
)
from livedeck.text.secrets import is_secret_name, mask_named, masked
from trials import trials

CHANGES = ("POST", "PUT", "PATCH", "DELETE")


def reply(body: bytes, status: bytes = b"200 OK", *headers: bytes) -> bytes:
    """A response, after which the platform hangs up."""
    lines = b"".join(b"\r\n" + header for header in headers)
    return b"HTTP/1.1 " + status + lines + b"\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


@asynccontextmanager
async def recording(*answers: bytes) -> AsyncIterator[tuple[str, list[bytes]]]:
    """A loopback socket: its address, and each request with its whole body. An empty answer hangs up."""
    requests: list[bytes] = []
    left = list(answers)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            lines = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
            requests.append(head + await reader.readexactly(int(lines.get(b"content-length", b"0"))))
            writer.write(left.pop(0) if len(left) > 1 else left[0])
            await writer.drain()
        writer.close()

    async with await asyncio.start_server(talk, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", requests


@pytest.mark.parametrize(
    ("path", "params", "target"),
    [
        ("/v1/projects", None, b"/base/v1/projects"),
        ("v1/projects", {}, b"/base/v1/projects"),
        ("/v1/projects/?page=2&page=3&q=", None, b"/base/v1/projects/?page=2&page=3&q="),
        ("/v1/p?a=1", {"b": ["x y", 2], "c": True, "d": None, "a": 4}, b"/base/v1/p?a=1&a=4&b=x+y&b=2&c=true"),
        ("/v1/a:b@c/%7Bid%7D;v=1/~x", None, b"/base/v1/a:b@c/%7Bid%7D;v=1/~x"),
        ("/v1/\u0417 a", None, b"/base/v1/%D0%97%20a"),
        ("/v1/...", None, b"/base/v1/..."),
        ("/http://cdn.example/x", None, b"/base/http://cdn.example/x"),
    ],
)
async def test_a_path_is_sent_below_the_base_address(path: str, params: dict[str, Any] | None, target: bytes) -> None:
    async with recording(reply(b'{"data":[]}')) as (address, requests), api_at(f"{address}/base/") as api:
        assert await api.request("get", path, params=params) == {"data": []}
    assert [request.split(b" ")[:2] for request in requests] == [[b"GET", target]]
    assert b"Authorization: Bearer " + TOKEN.encode() in requests[0]


REFUSED = [
    "", "/", "//", "//evil.example/x", "///x", "https://evil.example/x", "HTTP:/x", "file:/etc/hosts", "javascript:x",
    "/..", "..", "/v1/../../x", "/v1/..", "../x", "/v1/./x", "/v1/%2e%2e/x", "/v1/%2E./x", "/v1/%252e%252e/x",
    "/v1/..%2fx", "/v1/%2e%2e%2f%2e%2e%2fx", "/v1/..;a=1/x", "/v1/x/%2e", "/v1\\..\\x", "\\\\evil.example", "/v1/%5c..",
    "/v1/x#part", "/v1/x?a=1#part", "/v1/x\r\nHost: evil.example", "/v1/x\0", "/v1/x\x7f", "/v1/%0d%0aX: y", "/v1/%00",
    "/v1/x?a=\r\nX: y", "/v1/100%", "/v1/%zz", "/v1/%25252525252e", "\t/v1/x", "/v1/\u2028x", "/v1/\x85x",
]  # fmt: skip


@pytest.mark.parametrize("path", REFUSED)
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_path_that_may_lead_elsewhere_is_refused(method: str, path: str) -> None:
    async with recording(reply(b"{}")) as (address, requests), api_at(f"{address}/base") as api:
        with pytest.raises(Misconfigured, match="not sent, the path") as caught:
            await api.request(method, path)
    assert not requests
    assert str(caught.value).isprintable()


@trials(2000)
@given(st.text(st.sampled_from("./%25eEfF2cC;\\a:?#\r\n@"), max_size=24))
def test_every_path_that_is_taken_stays_below_the_base_address(path: str) -> None:
    """However often a server decodes it, and whichever slash it splits at."""
    try:
        sent = any_request("GET", path).path
    except Misconfigured:
        return
    for _ in range(9):
        assert not {".", ".."} & {part.partition(";")[0] for part in sent.replace("\\", "/").split("/")}, path
        assert not [char for char in sent if ord(char) < 32], path
        sent = unquote(sent)


@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "CONNECT", "GET /x HTTP/1.1\r\n", "", None, "gët"])
async def test_another_method_is_refused(method: Any) -> None:
    async with recording(reply(b"{}")) as (address, requests), api_at(address) as api:
        with pytest.raises(Misconfigured, match="the method should be one of GET, HEAD, POST"):
            await api.request(method, "/v1/x")
    assert not requests


CIRCLE: list[object] = []
CIRCLE.append(CIRCLE)


@pytest.mark.parametrize(
    ("path", "body", "params"),
    [
        (b"/v1/x", None, None),
        (7, None, None),
        ("/v1/x", math.nan, None),
        ("/v1/x", {"a": [math.inf]}, None),
        ("/v1/x", {1, 2}, None),
        ("/v1/x", CIRCLE, None),
        ("/v1/x", None, [("a", 1)]),
        ("/v1/x", None, {"a": {"b": 1}}),
        ("/v1/x", None, {"a": [None]}),
        ("/v1/x", None, {1: "a"}),
    ],
)
async def test_a_value_that_cannot_be_sent_is_refused(path: Any, body: Any, params: Any) -> None:
    async with recording(reply(b"{}")) as (address, requests), api_at(address) as api:
        with pytest.raises(Misconfigured):
            await api.request("POST", path, json=body, params=params)
        with pytest.raises(Misconfigured, match="a read has no body"):
            await api.request("GET", "/v1/x", json={})
    assert not requests


@pytest.mark.parametrize("method", CHANGES)
async def test_a_read_only_client_opens_no_connection_for_a_change(method: str) -> None:
    async with recording(reply(b"[1]")) as (address, requests), api_at(address, read_only=True) as api:
        with pytest.raises(ReadOnly):
            await api.request(method, "/v1/x", json={})
        assert not requests
        assert await api.request("GET", "/v1/x") == [1]


async def test_the_body_of_a_change_is_its_json() -> None:
    sent = {
        "name": "Zoë",
        "key": Secret("s3cret-key-77"),
        "at": datetime(2026, 11, 21, 18, tzinfo=UTC),
        "list": [1, None],
    }
    async with recording(reply(b'{"data":{"id":"p1"}}', b"201 Created")) as (address, requests), api_at(address) as api:
        assert await api.request("PATCH", "/v1/x", json=sent, params={"dry": 1}) == {"data": {"id": "p1"}}
        assert api.last_response is not None
        assert api.last_response.status == 201
        await api.request("DELETE", "/v1/x")
        await api.request("PUT", "/v1/x", json=[])
    heads, bodies = zip(*(request.split(b"\r\n\r\n", 1) for request in requests), strict=True)
    assert heads[0].startswith(b"PATCH /v1/x?dry=1 HTTP/1.1\r\n")
    assert b"Content-Type: application/json" in heads[0]
    assert json.loads(bodies[0]) == {**sent, "key": "s3cret-key-77", "at": "2026-11-21T18:00:00.000000Z"}
    assert bodies[1:] == (b"", b"[]")


@pytest.mark.parametrize(("sent", "value"), [(b"", None), (b"null", None), (b"[1]", [1]), (b'"x"', "x"), (b" 7 ", 7)])
async def test_any_json_is_a_value(sent: bytes, value: object) -> None:
    async with recording(reply(sent)) as (address, _), api_at(address) as api:
        assert await api.request("GET", "/v1/x") == value


async def test_head_has_no_body_whatever_its_headers_say() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 900\r\n\r\n"
    async with recording(head) as (address, requests), api_at(address) as api:
        assert await api.request("HEAD", "/v1/x") is None
        assert api.last_response is not None
        assert api.last_response.status == 200
    assert requests[0].startswith(b"HEAD /v1/x ")


async def test_a_read_is_retried_and_a_change_is_not() -> None:
    down, done = reply(b"", b"503 Service Unavailable"), reply(b'{"data":1}')
    async with recording(down, done) as (address, requests), api_at(address, retry=30.0, jitter=lambda: 0.0) as api:
        assert await api.request("GET", "/v1/x") == {"data": 1}
    assert len(requests) == 2
    for answer in (down, b"", reply(b"<html>", b"200 OK")):
        async with recording(answer, done) as (address, requests), api_at(address, retry=30.0) as api:
            with pytest.raises(Unknown):
                await api.request("POST", "/v1/x")
        assert len(requests) == 1


async def test_errors_are_those_of_every_call() -> None:
    for status, error in ((b"401 Unauthorized", Unauthorized), (b"409 Conflict", Conflict), (b"422 No", Validation)):
        body = b'{"error":{"code":%s,"message":"why"}}' % (2 * status[:3])
        async with recording(reply(body, status)) as (address, _), api_at(address) as api:
            for method in ("GET", "POST"):
                with pytest.raises(error, match=rf"^request {method} /v1/x: .*why"):
                    await api.request(method, "/v1/x")
    async with recording(reply(b"<html>")) as (address, _), api_at(address) as api:
        with pytest.raises(Unreadable, match="is not JSON"):
            await api.request("GET", "/v1/x")


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_the_token_goes_to_no_other_host(method: str) -> None:
    async with (
        listening(reply(b"{}")) as (elsewhere, seen),
        recording(reply(b"", b"307 Temporary Redirect", b"Location: " + elsewhere.encode() + b"/x")) as (address, _),
        api_at(address) as api,
    ):
        with pytest.raises((Redirected, Unknown)):
            await api.request(method, "/v1/x")
    assert not seen


async def test_a_secret_of_the_body_or_the_response_is_masked_in_every_text() -> None:
    refused = reply(b'{"error":{"code":422422,"message":"no: s3nt-key-881 and rece1ved-key-552"}}', b"422 No")
    given = reply(b'{"data":[{"streamKey":"rece1ved-key-552","url":"https://u:passw0rd-31@cdn.example/"}]}')
    async with recording(given, refused) as (address, _), api_at(address) as api:
        answer = await api.request("GET", "/v1/x")
        assert answer["data"][0]["streamKey"] == "rece1ved-key-552"
        with pytest.raises(Validation) as caught:
            await api.request("POST", "/v1/x", json={"restream": [{"api_key": "s3nt-key-881"}]})
    for secret in ("s3nt-key-881", "rece1ved-key-552"):
        assert secret not in str(caught.value)
    assert "passw0rd-31" not in masked("passw0rd-31")


@pytest.mark.parametrize(
    "name",
    ["key", "stream_key", "streamkey", "streamKey", "apiKeys", "X-Api-Key", "accessToken", "TOKEN", "client_secret",
     "db.password", "sign", "signature", "credentials", "authorization"],
)  # fmt: skip
def test_a_name_of_a_secret(name: str) -> None:
    assert is_secret_name(name)
    assert mask_named({name: "abcdefgh1234"}) == {name: "••••1234"}
    assert mask_named({name: ["ab", "abcdefgh1234"]}) == {name: ["••••", "••••1234"]}
    assert mask_named({name: {"id": "x1"}, "on": True}) == {name: {"id": "x1"}, "on": True}


@pytest.mark.parametrize(
    "name", ["keyframe", "monkey", "design", "author", "keyboard", "tokens_used", "name", "id", ""]
)
def test_a_name_of_no_secret(name: str) -> None:
    assert not is_secret_name(name)
    assert mask_named({name: "abcdefgh1234"}) == {name: "abcdefgh1234"}
