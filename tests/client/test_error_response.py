"""An error has the response behind it, without secrets, over real sockets."""

from __future__ import annotations

import json
import pickle
import string
from collections.abc import Awaitable, Callable
from random import Random

import pytest

from client.answers import TOKEN, listening
from livedeck.client import Api, ApiError, NotFound, Secret, Unauthorized, Unknown, Unreachable, Unreadable
from livedeck.client.http.quoting import MAX_BODY, quoted_body, quoted_headers

KEY = "ingest-key-of-nobody-7f31"
UNREAD = "key-that-no-model-reads-27aa"
COOKIE = "session-of-nobody-51c7"
SIGNATURE = "signature-of-nobody-90ab"


def answer(status: int, body: object, *more: str) -> bytes:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = [f"HTTP/1.1 {status} Any", f"Content-Length: {len(content)}", "X-Request-ID: r-42", *more]
    return "\r\n".join([*head, "", ""]).encode() + content


async def failed(
    reply: bytes | None, call: Callable[[Api], Awaitable[object]] = lambda api: api.events.get("x")
) -> ApiError:
    timeout = 4.0 if reply else 0.2
    async with listening(reply) as (address, _), Api(base_url=address, token=TOKEN, retry=0.0, timeout=timeout) as api:
        with pytest.raises(ApiError) as caught:
            await call(api)
    return caught.value


async def test_a_refusal_has_status_id_headers_and_body() -> None:
    error = await failed(answer(404, {"error": {"code": 404404, "message": "not found"}}, "X-Region: b7"))
    assert isinstance(error, NotFound)
    assert (error.status, error.request_id, error.headers["x-region"]) == (404, "r-42", "b7")
    assert json.loads(error.body) == {"error": {"code": 404404, "message": "not found"}}


@pytest.mark.parametrize(
    ("reply", "kind", "status", "body"),
    [
        (answer(200, b"<html>log in</html>"), Unreadable, 200, "<html>log in</html>"),
        (answer(200, {"data": {"id": {}, "name": "Show"}}), Unreadable, 200, '{"data": {"id": {}, "name": "Show"}}'),
        (b'HTTP/1.1 200 OK\r\nX-Request-ID: r-42\r\nContent-Length: 99\r\n\r\n{"data"', Unreachable, 200, '{"••••"'),
        (answer(302, b"", "Location: https://login.example/"), ApiError, 302, ""),
    ],
)
async def test_so_has_every_other_response_that_cannot_be_used(
    reply: bytes, kind: type[ApiError], status: int, body: str
) -> None:
    error = await failed(reply)
    assert isinstance(error, kind)
    assert (error.status, error.request_id, error.body) == (status, "r-42", body)


async def test_an_unknown_outcome_has_the_response_that_left_it_open() -> None:
    error = await failed(answer(502, b"bad gateway"), lambda api: api.events.enable("x"))
    assert isinstance(error, Unknown)
    assert (error.status, error.request_id, error.body) == (502, "r-42", "bad gateway")


async def test_without_a_response_there_is_nothing_to_describe() -> None:
    error = await failed(None)
    assert (error.status, error.request_id, dict(error.headers), error.body) == (None, "", {}, "")


async def test_a_streamed_response_is_described_too() -> None:
    async def read(api: Api) -> object:
        return [message async for message in api.chat.messages("e", "s")]

    error = await failed(answer(200, b"<html>"), read)
    assert isinstance(error, Unreadable)
    assert (error.status, error.request_id) == (200, "r-42")


async def test_an_error_that_names_the_token_source_keeps_the_response() -> None:
    class Source:
        advice = "write another token"

        async def read(self) -> Secret:
            return Secret(TOKEN)

    async with (
        listening(answer(401, {"error": {"code": 401401, "message": "no"}})) as (address, _),
        Api(base_url=address, token=TOKEN, token_source=Source()) as api,
    ):
        with pytest.raises(Unauthorized) as caught:
            await api.events.list()
    assert str(caught.value) == "write another token (list events: the platform refused the token (no; code 401401))"
    assert caught.value.request_id == "r-42"


async def test_a_page_with_401_blames_no_token() -> None:
    """Whatever sent it, only the platform's error body proves that the platform refused the token."""

    class Source:
        advice = "write another token"

        async def read(self) -> Secret:
            return Secret(TOKEN)

    async with (
        listening(answer(401, b"<html>log in</html>")) as (address, _),
        Api(base_url=address, token=TOKEN, token_source=Source()) as api,
    ):
        with pytest.raises(Unauthorized) as caught:
            await api.events.list()
    assert str(caught.value) == (
        "list events: something that answers for the platform (a gateway or proxy?) answers 401, not in the platform's "
        "error format; check the address, and any proxy on the way"
    )


async def test_no_attribute_shows_a_secret() -> None:
    event = {
        "id": {},
        "streamkey": KEY,
        "rtmp_link": f"rtmp://in.example/live/{KEY}",
        "restreams": [{"key": KEY}, KEY],
        "nested": {"keys": [UNREAD, {"message": "all is well"}, UNREAD]},
        "message": f"token {TOKEN} is old",
        "reason": f"see https://cdn.example/a.vtt?sign={SIGNATURE}",
    }
    error = await failed(
        answer(
            200,
            {"data": event},
            f"Set-Cookie: sid={COOKIE}",
            f"Authorization: Bearer {TOKEN}",
            f"X-Api-Key: {KEY}",
            f"Location: https://cdn.example/a.vtt?sign={SIGNATURE}",
            f"X-Echo: Bearer {TOKEN}",
        )
    )
    told = f"{error.headers} {error.body} {vars(error)} {error!r} {pickle.dumps(error)!r}"
    assert "all is well" in told
    assert not [secret for secret in (TOKEN, KEY, UNREAD, COOKIE, SIGNATURE) if secret in told]


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_an_incomplete_body_shows_no_part_of_a_secret(cut: int) -> None:
    body = json.dumps({"data": {"message": 'a \\ "quote"', "streamkey": KEY, "name": "Show"}}).encode()
    assert not any(KEY[start : start + 6] in quoted_body(body[:-cut]) for start in range(len(KEY) - 6))


@pytest.mark.parametrize("before", range(3900, 4030, 13))
def test_a_long_text_shows_no_half_of_the_token(before: int) -> None:
    Api(base_url="https://platform.example", token=TOKEN)
    shown = quoted_body(
        b"<p>" + b"key=aaaaaaaaaaaaaaaaaaaaaaaaaaa " * (before // 32) + b" " * (before % 32) + TOKEN.encode()
    )
    assert not any(TOKEN[start : start + 8] in shown for start in range(len(TOKEN) - 8))


def test_what_is_quoted_is_bounded_whatever_comes() -> None:
    random = Random(7)
    for _ in range(200):
        body = "".join(random.choices('{}[]":,\\\n' + string.ascii_letters, k=random.randrange(9000)))
        assert len(quoted_body(body.encode())) <= MAX_BODY
    headers = quoted_headers((f"x-{number % 300}", "v" * 10_000) for number in range(1000))
    assert len(headers) <= 50
    assert max(map(len, headers.values())) <= 200
