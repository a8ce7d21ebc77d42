"""Transport: sockets that fail, gates that hold requests, and addresses that must not get the token."""

import asyncio
import gzip
import socket
import zlib
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pytest

from client.answers import EMPTY_LIST, TOKEN, api_of, listening, saying
from golden.warp import warped
from livedeck.client import Api, Misconfigured, Rejected, Unknown, Unreachable, Unreadable
from livedeck.client.http.response import LONG_BODY

T = TypeVar("T")


def api_at(address: str, **options: Any) -> Api:
    """Return an Api that tries each read once, with timeouts for a busy machine."""
    return Api(base_url=address, token=TOKEN, **({"retry": 0.0, "timeout": 60.0} | options))


def nobody() -> str:
    """Return an address of this machine where no server listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


async def unreachable(address: str, **options: Any) -> Unreachable:
    async with api_at(address, **options) as api:
        with pytest.raises(Unreachable) as caught:
            await api.events.list()
        assert not api.timings
    assert str(caught.value).startswith("list events: ")
    assert "127.0.0.1" in str(caught.value)
    return caught.value


async def test_nobody_at_the_address_is_refused() -> None:
    assert (await unreachable(nobody())).cause == "refused"


@warped
async def test_an_answer_that_does_not_come_is_a_timeout() -> None:
    async with listening(None) as (address, _heads):
        assert (await unreachable(address, timeout=0.1)).cause == "timeout"


@warped
async def test_an_app_in_process_that_hangs_is_a_timeout() -> None:
    async def hang(_scope: object, _receive: object, _send: object) -> None:
        await asyncio.Event().wait()

    async with api_of(hang, timeout=0.05) as api:
        with pytest.raises(Unreachable, match=r"no complete response from .* in time"):
            await api.events.list()


@warped
async def test_the_time_to_decode_an_answer_is_none_of_the_platforms() -> None:
    async def slowly(decode: Callable[[], T]) -> T:
        await asyncio.sleep(100)
        return decode()

    long = {"data": [], "padding": "x" * LONG_BODY}
    async with api_of(saying(long), timeout=4, run_in_thread=slowly) as api:
        assert (await api.events.list()).items == ()


async def test_an_answer_that_stops_half_way_is_a_reset() -> None:
    async with listening(b'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"data": [') as (address, _heads):
        assert (await unreachable(address)).cause == "reset"


async def test_a_peer_that_hangs_up_without_a_word_is_a_reset() -> None:
    async with listening(b"") as (address, _heads):
        assert (await unreachable(address)).cause == "reset"


async def test_a_peer_without_tls_where_tls_was_asked_for_is_tls() -> None:
    async with listening(b"HTTP/1.1 400 Bad Request\r\n\r\n") as (address, heads):
        assert (await unreachable(address.replace("http:", "https:"))).cause == "tls"
    assert TOKEN.encode() not in b"".join(heads)


async def test_a_peer_that_speaks_another_protocol_is_unreadable() -> None:
    async with listening(b"SSH-2.0-OpenSSH_9.6\r\n\r\n") as (address, _heads), api_at(address) as api:
        with pytest.raises(Unreadable, match="does not speak HTTP; check the address"):
            await api.events.list()


async def test_an_answer_that_cannot_be_unpacked_is_unreadable() -> None:
    packed = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd"
    async with listening(packed) as (address, _heads), api_at(address) as api:
        with pytest.raises(Unreadable, match="cannot be decompressed"):
            await api.events.list()


@pytest.mark.parametrize(("coding", "bits"), [("gzip", 31), ("x-gzip", 31), ("deflate", 15), ("deflate", -15)])
async def test_an_answer_of_one_content_coding_is_unpacked(coding: str, bits: int) -> None:
    packer = zlib.compressobj(wbits=bits)
    packed = packer.compress(b'{"data": [{"id": "x"}]}') + packer.flush()
    async with api_of(saying(packed, headers={"Content-Encoding": coding})) as api:
        assert [event.id for event in (await api.events.list()).items] == ["x"]


async def test_what_unpacks_to_very_much_is_cut_off_and_others_have_their_turn() -> None:
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    packed = gzip.compress(bytes(200 * 2**20), compresslevel=1)
    async with api_of(saying(packed, headers={"Content-Encoding": "gzip"})) as api, asyncio.TaskGroup() as group:
        beside = group.create_task(other())
        with pytest.raises(Unreadable, match="larger than 64 MiB"):
            await api.events.list()
        beside.cancel()
    assert turns >= 200


@pytest.mark.parametrize("coding", ["gzip, gzip", "br", "zstd"])
async def test_another_content_coding_is_unreadable(coding: str) -> None:
    nested = gzip.compress(gzip.compress(bytes(2**20)))
    async with api_of(saying(nested, headers={"Content-Encoding": coding})) as api:
        with pytest.raises(Unreadable, match="cannot be decompressed"):
            await api.events.list()


async def test_an_answer_without_end_is_cut_off() -> None:
    async with api_of(saying(b" " * (64 * 2**20 + 1))) as api:
        with pytest.raises(Unreadable, match="larger than 64 MiB"):
            await api.events.list()


@pytest.mark.parametrize("status", [b"301 Moved", b"307 Temporary"])
async def test_a_redirect_is_named_and_the_token_does_not_follow_it(status: bytes) -> None:
    """trust.md, "Secrets": never along a redirect to another origin."""
    async with listening(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}") as (elsewhere, seen):
        away = f"\r\nLocation: {elsewhere}/v2?sign=signature-of-the-url\r\nContent-Length: 0\r\n\r\n".encode()
        async with listening(b"HTTP/1.1 " + status + away) as (address, _heads), api_at(address) as api:
            with pytest.raises(Rejected, match=f"a redirect to {elsewhere}, which is not followed") as caught:
                await api.events.list()
    assert not seen
    assert "signature" not in str(caught.value)


async def test_read_only_still_reads() -> None:
    platform = saying({"data": {"id": "x"}})
    async with api_of(platform, read_only=True) as api:
        assert api.read_only
        assert (await api.events.get("x")).id == "x"


async def changing(address: str) -> None:
    async with api_at(address, timeout=0.1) as api:
        await api.events.enable("x")


@pytest.mark.parametrize("answer", [None, b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"])
@warped
async def test_a_change_whose_answer_is_lost_is_unknown_and_sent_once(answer: bytes | None) -> None:
    async with listening(answer) as (address, heads):
        with pytest.raises(Unknown, match="enable event x: the response was lost"):
            await changing(address)
    assert len(heads) == 1


@warped
async def test_a_change_that_was_never_sent_is_unreachable() -> None:
    with pytest.raises(Unreachable):
        await changing(nobody())


@pytest.mark.parametrize("answer", [b"204 No Content\r\n\r\n", b"200 OK\r\nContent-Length: 0\r\n\r\n"])
@warped
async def test_an_empty_answer_to_a_change_is_an_answer(answer: bytes) -> None:
    async with listening(b"HTTP/1.1 " + answer) as (address, heads):
        await changing(address)
    assert heads[0].startswith(b"PUT /v2/live/events/x/enable ")


async def test_the_token_goes_as_a_bearer_and_the_agent_is_named() -> None:
    async with listening(EMPTY_LIST) as (address, heads), api_at(address) as api:
        await api.events.list()
        assert f"http://{api.host}" == address
    assert f"Authorization: Bearer {TOKEN}".encode() in heads[0]
    assert b"User-Agent: livedeck" in heads[0]


async def test_the_last_five_answers_are_timed_good_or_bad() -> None:
    ticks = (datetime(2026, 11, 21, 12, tzinfo=UTC) + timedelta(seconds=n) for n in range(100))
    platform = saying({"error": {}}, 500, {"Date": "Sat, 21 Nov 2026 12:00:00 GMT"})
    async with api_of(platform, now=lambda: next(ticks)) as api:
        for _ in range(7):
            with pytest.raises(Rejected):
                await api.events.list()
    ats = [exchange.at for exchange in api.timings]
    assert len(ats) == 5
    assert ats == sorted(ats)
    assert all(exchange.round_trip >= 0 for exchange in api.timings)
    assert api.timings[-1].server_date == datetime(2026, 11, 21, 12, tzinfo=UTC)


async def test_an_answer_to_a_stream_that_says_no_is_timed_too() -> None:
    async with api_of(saying({}, 404)) as api:
        with pytest.raises(Rejected):
            await anext(api.chat.messages("e", "s"))
        assert len(api.timings) == 1


@pytest.mark.parametrize("cookie", [b"session=cookie-of-the-platform", b"name=\xff\xfe"])
async def test_no_cookie_is_kept(cookie: bytes) -> None:
    """One that cannot be sent would spoil every request after it."""
    baked = EMPTY_LIST.replace(b"\r\n\r\n", b"\r\nConnection: close\r\nSet-Cookie: " + cookie + b"\r\n\r\n")
    async with listening(baked) as (address, heads), api_at(address) as api:
        await api.events.list()
        await api.events.list()
    assert len(heads) == 2
    assert b"cookie" not in heads[1].lower()


@pytest.mark.parametrize("date", ["", "yesterday", "Sat, 99 Nov 2026 12:00:00 GMT"])
async def test_a_date_that_cannot_be_read_is_none(date: str) -> None:
    async with api_of(saying({"data": []}, headers={"Date": date})) as api:
        await api.events.list()
    assert api.timings[0].server_date is None


@pytest.mark.parametrize(
    "address",
    [
        "",
        "platform.example.com",
        "ftp://platform.example.com",
        "https://",
        "https://user:word@platform.example.com",
        "https://platform.example.com/?token=1",
        "https://platform.example.com:port",
        "https://platform.example.com:70000",
        "https://999.999.1.1",
        "https://\N{FEMININE ORDINAL INDICATOR}.example.com",
        "http://platform.example.com",
        "http://10.0.0.1",
        "http://127.0.0.1.example.com",
        "http://localhost.example.com",
    ],
)
@pytest.mark.parametrize("name", ["base_url", "upload_url"])
def test_an_address_that_may_not_have_the_token_is_refused(name: str, address: str) -> None:
    options: dict[str, Any] = {"base_url": "https://platform.example.com", name: address}
    with pytest.raises(Misconfigured, match=name):
        Api(token=TOKEN, **options)


@pytest.mark.parametrize(
    "address", ["https://platform.example.com/api", "http://localhost:8787", "http://127.0.0.1", "http://[::1]:8787"]
)
async def test_https_anywhere_and_http_to_this_machine_are_taken(address: str) -> None:
    async with api_at(address) as api:
        assert api.host in address


@pytest.mark.parametrize("times", [{"timeout": 0}, {"timeout": float("nan")}, {"retry": -1}, {"rate": 0}])
def test_times_that_make_no_pace_are_refused(times: dict[str, float]) -> None:
    with pytest.raises(Misconfigured, match="should be above 0"):
        api_at("https://platform.example.com", **times)


async def test_a_client_that_was_closed_sends_nothing() -> None:
    platform = saying({"data": []})
    async with api_of(platform) as api:
        pass
    with pytest.raises(Misconfigured, match="list events: not sent, the client is closed"):
        await api.events.list()
    assert not platform.requests


@pytest.mark.parametrize("token", ["", "two words", "line\nbreak", "ключ"])
def test_a_token_that_cannot_be_sent_is_refused_and_not_shown(token: str) -> None:
    with pytest.raises(Misconfigured) as caught:
        Api(base_url="https://platform.example.com", token=token)
    assert not token or token not in str(caught.value)


@pytest.mark.parametrize("event_id", ["", ".", ".."])
async def test_an_id_that_would_be_another_path_is_not_sent(event_id: str) -> None:
    platform = saying({"data": {}})
    async with api_of(platform) as api:
        calls: list[Callable[[str], Awaitable[object]]] = [api.events.get, api.qos.get]
        for call in calls:
            with pytest.raises(Misconfigured, match="is not an id"):
                await call(event_id)
    assert not platform.requests


@pytest.mark.parametrize("event_id", ["x" * 100_000, "\ud800"])
async def test_an_id_of_any_length_and_any_character_is_an_api_error_at_worst(event_id: str) -> None:
    async with api_of(saying({"data": []})) as api:
        with pytest.raises((Misconfigured, Unreadable)) as caught:
            await api.events.get(event_id)
    assert len(str(caught.value)) < 300
