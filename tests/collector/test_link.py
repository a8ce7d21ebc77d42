"""Any reply from another server in a collector's place is explained, and no byte of a cut stream is lost."""

from __future__ import annotations

import asyncio
import gzip
import socket
from collections.abc import AsyncIterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.stand_in import Asked, plain, saying, stand_in
from livedeck.client import Misconfigured, Outgoing, Secret
from livedeck.collector.attached.link import CollectorAwayError, CollectorRefusedError, EventParser, Link, ServerEvent

TOKEN = "of-the-deck-4711"


@pytest.fixture
async def outgoing() -> AsyncIterator[Outgoing]:
    """Client for requests to collectors."""
    async with Outgoing() as made:
        yield made


def link_to(outgoing: Outgoing, *addresses: str, silence: float = 5.0) -> Link:
    """Return the link of a deck."""
    return Link(outgoing, addresses, Secret(TOKEN), silence=silence)


async def test_what_is_asked_carries_the_token_and_nothing_else_does(outgoing: Outgoing) -> None:
    async with stand_in(saying(plain("200 OK", b'{"a":1}'))) as server:
        link = link_to(outgoing, f"{server.address}/livedeck/")
        assert await link.get("/v1/snapshot", "samples=60") == {"a": 1}
        assert await link.post("/v1/poke", {"why": "ä"}, idempotency_key="k") == {"a": 1}
    read, change = server.asked
    assert (read.method, read.target) == ("GET", "/livedeck/v1/snapshot?samples=60")
    assert (change.body, change.headers["idempotency-key"]) == (b'{"why":"\\u00e4"}', "k")
    assert {asked.headers["authorization"] for asked in server.asked} == {f"Bearer {TOKEN}"}
    assert TOKEN not in repr(link.__dict__)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (plain("200 OK", b"<html>log in</html>", "Content-Type: text/html"), "responds 200 with text/html, unlike"),
        (plain("302 Found", b"", "Location: https://login.example/?t=1"), "redirects (302)"),
        (plain("200 OK", b"[1]", "Content-Type: application/json"), "responds 200 with application/json, unlike"),
        (plain("200 OK", b"\x1f\x8bno", "Content-Encoding: gzip"), "but not in HTTP"),
        (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "but not in HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{", "broke"),
        (b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"a":', "broke"),
        (b"", "broke"),
    ],
)
async def test_what_is_no_collector_is_told_in_words(outgoing: Outgoing, answer: bytes, words: str) -> None:
    async with stand_in(saying(answer)) as server:
        with pytest.raises(CollectorAwayError) as caught:
            await link_to(outgoing, server.address).get("/v1/snapshot")
    assert words in str(caught.value)
    assert TOKEN not in f"{caught.value!r} {caught.value.__cause__!r}"
    assert len(server.asked) == 1  # no redirect is followed


@pytest.mark.parametrize("status", ["502 Bad Gateway", "503 Service Unavailable", "504 Gateway Time-out"])
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<html>nginx</html>", "text/html"),
        (b"", "text/plain"),
        (b'{"message":"no healthy upstream"}', "application/json"),
        (b'{"v":1', "application/json"),
        (b"event: gone", "text/event-stream"),
    ],
)
async def test_a_proxy_that_fails_is_told_by_its_status_and_not_as_a_broken_answer(
    outgoing: Outgoing, status: str, body: bytes, kind: str
) -> None:
    """Whatever the page is made of: where all is asked for, where something is done, and in the place of a stream."""
    words = f"responds {status[:3]}: the collector or its proxy has failed"
    async with stand_in(saying(plain(status, body, f"Content-Type: {kind}"))) as server:
        link = link_to(outgoing, server.address)
        for asked in (link.get("/v1/snapshot"), link.post("/v1/poke", {}), listen(link, [])):
            with pytest.raises(CollectorAwayError) as caught:
                await asked
            assert str(caught.value) == f"{link.host} {words}"


@pytest.mark.parametrize(
    ("answer", "status", "words"),
    [
        (
            plain("401 No", b'{"error":"no token","say":"no such token"}'),
            401,
            "refuses this deck's token (401): no such",
        ),
        (plain("403 Forbidden", b'{"error":"read_only","say":"it may only read"}'), 403, "(403): it may only read"),
        (plain("409 Conflict", b'{"error":"worse","say":"it got worse","alarm":{}}'), 409, "it got worse"),
        (plain("503 No", b'{"error":"not_ready","say":"nothing is known yet"}'), 503, "nothing is known yet"),
    ],
)
async def test_a_refusal_is_told_in_the_words_of_the_collector(
    outgoing: Outgoing, answer: bytes, status: int, words: str
) -> None:
    async with stand_in(saying(answer)) as server:
        with pytest.raises(CollectorRefusedError, match=words.replace("(", r"\(").replace(")", r"\)")) as caught:
            await link_to(outgoing, server.address).post("/v1/poke", {})
    assert caught.value.status == status


async def test_a_text_is_given_as_it_is_and_nothing_else_is_taken_for_one(outgoing: Outgoing) -> None:
    async with stand_in(
        saying(plain("200 OK", "größe 1\n".encode(), "Content-Type: text/plain; version=0.0.4"))
    ) as server:
        assert await link_to(outgoing, server.address).get_text("/metrics") == "größe 1\n"
    for answer, error, words in (
        (plain("200 OK", b"{}", "Content-Type: application/json"), CollectorAwayError, "did not send plain text"),
        (plain("200 OK", b"<html>", "Content-Type: text/html"), CollectorAwayError, "responds 200 with text/html"),
        (plain("502 Bad", b"down", "Content-Type: text/plain"), CollectorAwayError, "responds 502"),
        (
            plain("401 No", b'{"error":"no token","say":"a token is needed"}'),
            CollectorRefusedError,
            "a token is needed",
        ),
    ):
        async with stand_in(saying(answer)) as server:
            with pytest.raises(error, match=words):
                await link_to(outgoing, server.address).get_text("/metrics")


async def test_gzip_is_unpacked(outgoing: Outgoing) -> None:
    async with stand_in(saying(plain("200 OK", gzip.compress(b'{"a":1}'), "Content-Encoding: gzip"))) as server:
        assert await link_to(outgoing, server.address).get("/v1/snapshot") == {"a": 1}
    assert server.asked[0].headers["accept-encoding"] == "gzip"


async def test_any_of_several_addresses_will_do_and_no_change_is_sent_twice(outgoing: Outgoing) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        away = f"http://127.0.0.1:{free.getsockname()[1]}"
    async with stand_in(saying(plain("200 OK", b"{}"))) as good, stand_in(saying(b"")) as broken:
        assert await link_to(outgoing, away, good.address).post("/v1/poke", {}) == {}
        assert await link_to(outgoing, broken.address, good.address).get("/v1/x") == {}
        with pytest.raises(CollectorAwayError, match="broke"):
            await link_to(outgoing, broken.address, good.address).post("/v1/poke", {})
    assert [asked.method for asked in good.asked] == ["POST", "GET"]


@pytest.mark.parametrize(
    "address", ["http://collector.example", "ftp://127.0.0.1", "collector", "https://u:p@c.example", "https://c/?a=b"]
)
def test_an_address_that_others_can_read_is_refused_with_a_sentence(address: str) -> None:
    with pytest.raises(Misconfigured, match="collector_url"):
        Link(Outgoing(), [address], Secret(TOKEN))


@pytest.mark.parametrize("token", ["", "two words", "tab\tbetween", "line\nbreak", "größe"])
def test_a_token_that_no_header_can_carry_is_refused(token: str) -> None:
    with pytest.raises(Misconfigured, match="token") as caught:
        Link(Outgoing(), ["https://collector.example"], Secret(token))
    assert not token or token not in str(caught.value)


async def test_a_stream_that_breaks_goes_on_at_the_next_address(outgoing: Outgoing) -> None:
    async with (
        stand_in(saying(b"")) as broken,
        stand_in(saying(plain("410 Gone", b'{"error":"gone","say":"x"}'))) as good,
    ):
        link = link_to(outgoing, broken.address, good.address)
        with pytest.raises(CollectorAwayError, match="broke"):
            await listen(link, [])
        with pytest.raises(CollectorRefusedError):
            await listen(link, [])
    assert (len(broken.asked), len(good.asked)) == (1, 1)


async def listen(link: Link, heard: list[ServerEvent]) -> None:
    """Collect the events of a stream until it breaks."""
    async with link.stream("/v1/changes", "a-0") as events:
        async for event in events:
            heard.append(event)  # noqa: PERF401  what came before it broke counts


async def test_a_stream_that_is_silent_is_broken(outgoing: Outgoing) -> None:
    async def answer(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: a-1 2\n\nid: a-1\n")
        await writer.drain()
        await asyncio.Event().wait()

    heard: list[ServerEvent] = []
    async with stand_in(answer) as server:
        with pytest.raises(CollectorAwayError, match="in time"):
            await listen(link_to(outgoing, server.address, silence=0.2), heard)
    assert heard == [ServerEvent(None, comment="a-1 2")]
    assert server.asked[0].headers["last-event-id"] == "a-0"


async def test_a_stream_that_ends_is_broken_and_half_an_event_was_never_sent(outgoing: Outgoing) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream;charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"
    parts = b"a\r\nid: a\ndata\r\n4\r\n: 1\n\r\nb\r\n\ndata: half\r\n0\r\n\r\n"
    heard: list[ServerEvent] = []
    async with stand_in(saying(head, *(bytes([byte]) for byte in parts))) as server:
        with pytest.raises(CollectorAwayError, match="broke"):
            await listen(link_to(outgoing, server.address), heard)
    assert heard == [ServerEvent("1", "message", "a")]


async def test_a_refused_stream_and_a_page_in_its_place_are_told_apart(outgoing: Outgoing) -> None:
    async with stand_in(saying(plain("410 Gone", b'{"error":"gone","say":"too old"}'))) as server:
        with pytest.raises(CollectorRefusedError, match="too old"):
            await listen(link_to(outgoing, server.address), [])
    async with stand_in(saying(plain("200 OK", b"{}", "Content-Type: application/json"))) as server:
        with pytest.raises(CollectorAwayError, match="other than a collector's stream"):
            await listen(link_to(outgoing, server.address), [])


STREAM = (
    '\ufeff: begin\r\n\r\nid: a-1\r\ndata: {"name":"Größe 試合"}\r\revent: gone\ndata\n\n'
    "id:a-2\rdata:x\rdata: y\n\ndata: m\r\ndata: n\r\n\r\nid: a\0b\n\ufeffid: c\ndata:z\n\nid: a-3\n"
).encode()
EVENTS = [
    ServerEvent(None, comment="begin"),
    ServerEvent('{"name":"Größe 試合"}', "message", "a-1"),
    ServerEvent("", "gone", "a-1"),
    ServerEvent("x\ny", "message", "a-2"),
    ServerEvent("m\nn", "message", "a-2"),
    ServerEvent("z", "message", "a-2"),  # an id with NUL is none, and a byte order mark counts at the beginning alone
]


def test_a_stream_reads_the_same_cut_in_two_anywhere() -> None:
    for cut in range(len(STREAM) + 1):
        parser = EventParser()
        assert [event for chunk in (STREAM[:cut], STREAM[cut:]) for event in parser.feed(chunk)] == EVENTS


@given(cuts=st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_a_stream_reads_the_same_wherever_it_is_cut(cuts: list[int]) -> None:
    ends = [0, *sorted(cuts), len(STREAM)]
    parser = EventParser()
    heard = [event for begin, end in pairwise(ends) for event in parser.feed(STREAM[begin:end])]
    assert heard == EVENTS
