"""Over real sockets, each fault of trust.md in a read, a change and a stream gives an ApiError in time."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from client.answers import TOKEN, listening
from client.calls import bound, names, result
from client.test_transport import api_at, nobody
from golden.warp import warped
from livedeck.client import (
    Api,
    ApiError,
    Conflict,
    Forbidden,
    NotFound,
    RateLimited,
    Rejected,
    RelayRunning,
    ServerFault,
    TooManyProfiles,
    Unauthorized,
    Unknown,
    Unreachable,
    Unreadable,
    Validation,
)


def answer(status: int, body: bytes, *headers: str) -> bytes:
    head = [f"HTTP/1.1 {status} So", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(head).encode() + body


def error(status: int, code: int) -> bytes:
    return answer(status, json.dumps({"error": {"code": code, "message": f"for {TOKEN}"}}).encode())


REFUSALS: list[tuple[bytes, type[ApiError]]] = [
    (error(400, 400404), NotFound),
    (error(404, 404404), NotFound),
    (error(400, 400400), Validation),
    (error(400, 400289), TooManyProfiles),
    (error(401, 401401), Unauthorized),
    (error(403, 403403), Forbidden),
    (error(409, 409409), Conflict),
    (error(409, 409298), RelayRunning),
    (error(413, 413413), Validation),
    (error(429, 429429), RateLimited),
    (error(500, 500500), ServerFault),
    (answer(503, b"<html>busy</html>"), ServerFault),
    (answer(302, b"", "Location: https://elsewhere.example.com/?sign=abc"), Rejected),
    (answer(200, b"<html>Sign in</html>", "Content-Type: text/html"), Unreadable),
    (answer(200, b'{"data": [[[' + b"[" * 100_000), Unreadable),
    (answer(200, b'{"data": "' + b"x" * 10 * 2**20 + b'"}'), Unreadable),
    (answer(200, b'{"data": 7}'), Unreadable),
    (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", Unreadable),
]
LOST: list[bytes | None] = [
    b"",
    b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{",
    b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"da',
    None,
]
CALLS: list[Callable[[Api], Awaitable[object] | AsyncIterator[object]]] = [
    lambda api: api.rooms.get("r"),
    lambda api: api.subtitles.copy("v", "s"),
    lambda api: api.chat.messages("e", "s"),
]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(("sent", "kind"), REFUSALS, ids=lambda value: getattr(value, "__name__", ""))
async def test_an_answer_that_is_no_good_has_its_own_error(
    sent: bytes, kind: type[ApiError], call: Callable[[Api], Any]
) -> None:
    async with listening(sent) as (address, _heads), api_at(address) as api:
        with pytest.raises(ApiError) as caught:
            await result(call(api))
    says_nothing = kind in {Unreadable, ServerFault} or b" 302 " in sent
    assert isinstance(caught.value, Unknown if call is CALLS[1] and says_nothing else kind)
    assert TOKEN not in f"{caught.value}"
    assert len(str(caught.value)) < 600


DOUBTED_4XX = (400, 401, 403, 408, 409, 422, 423, 428, 429, 444, 451, 460, 499)
DOUBTFUL = (303, 307, *DOUBTED_4XX, 500, 501, 502, 503, 504, 505, 507, 511, 520, 524, 529, 598)
REFUSING = (404, 405, 407, 410, 411, 413, 414, 415, 417, 421, 425, 431)


@pytest.mark.parametrize("status", [*DOUBTFUL, *REFUSING])
async def test_without_the_error_body_only_a_status_about_the_request_proves_a_refusal(status: int) -> None:
    """A gateway may send any other status after the platform has made the change (trust.md, "Verdicts")."""
    async with listening(answer(status, b"{}")) as (address, _heads), api_at(address) as api:
        with pytest.raises(ApiError) as caught:
            await api.events.enable("e")
    assert isinstance(caught.value, Unknown) == (status in DOUBTFUL)
    assert str(status) in str(caught.value)


@pytest.mark.parametrize("sent", LOST)
@pytest.mark.parametrize(("call", "kind"), [*zip(CALLS, [Unreachable, Unknown, Unreachable], strict=True)])
@warped
async def test_an_answer_that_is_lost_is_told_from_one_that_was_never_there(
    sent: bytes | None, call: Callable[[Api], Any], kind: type[ApiError]
) -> None:
    async with listening(sent) as (address, _heads), api_at(address, timeout=0.2) as api:
        with pytest.raises(kind):
            await result(call(api))


@asynccontextmanager
async def dripping() -> AsyncIterator[str]:
    """Yield a platform that sends a space every hundredth of a second, without an end."""
    talks: set[asyncio.Task[None] | None] = set()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talks.add(asyncio.current_task())
        with suppress(ConnectionError):
            await reader.read(65_536)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
            gone = asyncio.ensure_future(reader.read())
            while not gone.done():
                writer.write(b" ")
                await writer.drain()
                await asyncio.wait([gone], timeout=0.01)
        writer.close()

    async with await asyncio.start_server(talk, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    await asyncio.gather(*(each for each in talks if each))


@pytest.mark.parametrize(("call", "kind"), [*zip(CALLS[:2], [Unreachable, Unknown], strict=True)])
@warped
async def test_a_body_that_drips_ends_in_time(call: Callable[[Api], Any], kind: type[ApiError]) -> None:
    """Silence is bounded by the timeout, and the whole by twice that."""
    async with dripping() as address, api_at(address, timeout=0.1) as api:
        with pytest.raises(kind):
            await result(call(api))


@pytest.mark.parametrize("name", names())
async def test_every_call_to_nobody_is_unreachable(name: str, tmp_path: Path) -> None:
    async with api_at(nobody()) as api:
        with pytest.raises(Unreachable) as caught:
            await result(bound(api, name, tmp_path))
    assert caught.value.cause == "refused"
