"""Requests of the probe over loopback: limits, redirects, what is sent, and where it never goes."""

from __future__ import annotations

import asyncio
import gzip
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from client.answers import listening
from livedeck.client import Misconfigured, Outgoing, Unreachable, check_public
from livedeck.probe.fetch import AT_ONCE, AT_ONCE_OF_HOST, Answer, Fetcher, Want
from livedeck.probe.playlist import Part
from probe.stage import Cdn, Reply
from virtual_clock import VirtualClock

FAR = "https://1.1.1.1/live/master.m3u8"  # named, and never asked


def reply(body: bytes, *heads: str, status: str = "200 OK", size: int | None = None) -> bytes:
    length = len(body) if size is None else size
    rows = [f"HTTP/1.1 {status}", f"Content-Length: {length}", "Connection: close", *heads]
    return "\r\n".join(rows).encode() + b"\r\n\r\n" + body


def moved(target: str, *heads: str) -> bytes:
    return reply(b"", f"Location: {target}", *heads, status="302 Found")


@pytest.fixture
async def fetcher() -> AsyncIterator[Fetcher]:
    async with Outgoing() as outgoing:
        yield Fetcher(outgoing, session='sid="x"')


async def got(fetcher: Fetcher, address: str, want: Want = Want.PLAYLIST, home: str = "") -> Answer:
    return await fetcher.get(Part(address), want, home=home or address, seconds=5.0)


async def test_a_playlist_is_asked_without_token_and_cookie(fetcher: Fetcher) -> None:
    async with listening(moved("/two.m3u8", "Set-Cookie: a=b"), reply(b"#EXTM3U", "Set-Cookie: c=d")) as (place, heads):
        first = await got(fetcher, f"{place}/one.m3u8?sign=4711")
        second = await got(fetcher, f"{place}/one.m3u8")
    assert (first.body, first.address, first.error) == (b"#EXTM3U", f"{place}/two.m3u8", "")
    assert second.body == b"#EXTM3U"
    sent = b"".join(heads).lower()
    assert not any(word in sent for word in (b"authorization", b"cookie", b"livedeck/"))
    assert sent.count(b"user-agent: livedeck-probe/") == len(heads)
    assert b'cmcd-session: sid="x"' in sent


class Breaking:
    """Host that closes the first connections without a reply, or never replies in time."""

    def __init__(self, breaks: int = 0, *, is_silent: bool = False) -> None:
        self.breaks, self.is_silent, self.asked = breaks, is_silent, 0

    @asynccontextmanager
    async def open_public(self, address: str, headers: Mapping[str, str], *, home: str) -> AsyncIterator[Any]:
        assert home
        assert headers
        self.asked += 1
        if self.is_silent:
            raise TimeoutError
        if self.asked <= self.breaks:
            raise Unreachable("no reply (reset)", "reset")
        yield Reply(200, b"#EXTM3U", address)


@pytest.mark.parametrize(("breaks", "asked", "error"), [(0, 1, ""), (1, 2, ""), (9, 2, "no reply (reset)")])
async def test_a_closed_connection_is_tried_anew_once(breaks: int, asked: int, error: str) -> None:
    """A host may close a kept connection just as the next request comes, and serves viewers all the same."""
    host = Breaking(breaks)
    answer = await got(Fetcher(host), "https://cdn.example/x")
    assert (host.asked, answer.error) == (asked, error)


@pytest.mark.parametrize(("took", "is_held"), [(5.0, False), (5.9, False), (6.1, True)])
async def test_a_request_that_this_machine_ended_late_proves_nothing(took: float, is_held: bool) -> None:
    times = iter((0.0, took))
    answer = await got(Fetcher(Breaking(is_silent=True), timer=lambda: next(times)), "https://cdn.example/x")
    assert (answer.is_late, answer.is_held) == (True, is_held)


async def test_a_third_redirect_is_followed_and_a_fourth_is_not(fetcher: Fetcher) -> None:
    async with listening(moved("/2"), moved("/3"), moved("/4"), reply(b"#EXTM3U")) as (place, _):
        assert (await got(fetcher, f"{place}/1")).body == b"#EXTM3U"
    async with listening(moved("/again")) as (place, heads):
        answer = await got(fetcher, f"{place}/1")
    assert (answer.error, len(heads)) == ("not followed: more than 3 redirects", 4)


INSIDE = [
    "http://{host}/", "https://{host}/", "https://localhost:{port}/", "https://127.1:{port}/", "https://0x7f.1:{port}/",
    "https://2130706433:{port}/", "https://[::ffff:127.0.0.1]:{port}/", "https://[64:ff9b::7f00:1]:{port}/",
    "https://0.0.0.0:{port}/", "https://169.254.169.254/latest/meta-data/", "https://10.0.0.1/", "file:///etc/passwd",
    "ftp://{host}/", "data:text/plain,x", "https://user:word@{host}/", "https://[fd00::1]/", "https:///x", "https://[::1",
    "https://{host}:0/",
]  # fmt: skip


@pytest.mark.parametrize("inside", INSIDE)
async def test_a_playlist_of_the_world_never_leads_into_this_network(fetcher: Fetcher, inside: str) -> None:
    """As rung, segment, initialization or redirect all are asked in the same way; a listener counts connections."""
    async with listening(reply(b"secret")) as (place, heads):
        host = place.removeprefix("http://")
        address = inside.format(host=host, port=host.rpartition(":")[2])
        for want in Want:
            answer = await got(fetcher, address, want, home=FAR)
            assert (answer.status, answer.body) == (0, b"")
            assert answer.is_refused, answer.error
    assert heads == []


@pytest.mark.parametrize("inside", ["https://169.254.169.254/", "file:///etc/passwd", "https://10.0.0.1/"])
async def test_a_redirect_is_judged_like_an_address(fetcher: Fetcher, inside: str) -> None:
    async with listening(moved(inside)) as (place, heads):
        answer = await got(fetcher, f"{place}/master.m3u8")
    assert (answer.is_refused, answer.body, len(heads)) == (True, b"", 1)


@pytest.mark.parametrize("broken", ["https://0177.0.0.1/", "https://[::1/"])
async def test_a_redirect_to_no_address_is_a_reply(fetcher: Fetcher, broken: str) -> None:
    async with listening(moved(broken)) as (place, _):
        assert (await got(fetcher, place)).error == "the reply redirects to no address"


async def test_a_kept_connection_is_not_used_for_a_home_that_may_not_go_there(fetcher: Fetcher) -> None:
    async with listening(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n#EXTM3U") as (place, heads):
        assert (await got(fetcher, place)).body == b"#EXTM3U"
        refused = await got(fetcher, place, home="http://1.1.1.1/x")
    assert (refused.is_refused, len(heads)) == (True, 1)


def test_no_way_leads_from_https_down_to_http() -> None:
    check_public("http://127.0.0.1/a", "http://127.0.0.1/b")
    with pytest.raises(Misconfigured, match="is http"):
        check_public("http://cdn.example/a", "https://cdn.example/b")


@pytest.mark.parametrize(("want", "over"), [(Want.PLAYLIST, 2**20 + 1), (Want.SEGMENT, 8 * 2**20 + 1)])
async def test_a_body_over_its_limit_is_cut(fetcher: Fetcher, want: Want, over: int) -> None:
    async with listening(reply(b"#EXTM3U".ljust(over, b"\n"))) as (place, _):
        answer = await got(fetcher, place, want)
    assert answer.error.startswith("not read: larger than")
    assert len(answer.body) < over + 2**17


async def test_a_small_reply_does_not_unpack_to_a_large_one(fetcher: Fetcher) -> None:
    bomb = gzip.compress(b"#EXTM3U".ljust(20 * 2**20, b"\n"), 9)
    async with listening(reply(bomb, "Content-Encoding: gzip")) as (place, _):
        answer = await got(fetcher, place)
    assert (answer.error, len(answer.body)) == ("not read: larger than 1 MiB", 2**20 + 1)
    async with listening(reply(gzip.compress(b"#EXTM3U"), "Content-Encoding: gzip")) as (place, _):
        assert (await got(fetcher, place)).body == b"#EXTM3U"
    async with listening(reply(gzip.compress(b"#EXTM3U")[:-4], "Content-Encoding: gzip")) as (place, _):
        assert (await got(fetcher, place)).error == "it cannot be decompressed"


async def test_of_a_page_no_more_is_read_than_shows_that_it_is_one(fetcher: Fetcher) -> None:
    async with listening(reply(b"<html>".ljust(900_000))) as (place, _):
        answer = await got(fetcher, place)
    assert (answer.error, len(answer.body) < 200_000) == ("", True)


async def test_the_presence_of_a_segment_is_a_byte(fetcher: Fetcher) -> None:
    async with listening(reply(b"G" * 3_000_000)) as (place, heads):
        answer = await got(fetcher, place, Want.PRESENCE)
    assert b"range: bytes=0-0" in heads[0].lower()
    assert (answer.error, answer.body) == ("", b"")


async def test_a_segment_that_breaks_off_says_where(fetcher: Fetcher) -> None:
    async with listening(reply(b"G" * 1000, size=5000)) as (place, _):
        assert (await got(fetcher, place, Want.SEGMENT)).error == "cut off after 1000 bytes"


async def test_a_refused_connection_is_a_failure_of_the_host(fetcher: Fetcher) -> None:
    async with listening(reply(b"")) as (place, _):
        pass
    answer = await got(fetcher, place)
    assert (answer.error, answer.is_refused) == ("no reply (refused)", False)


async def test_retry_after_holds_the_host_and_no_other() -> None:
    clock = VirtualClock()
    cdn = Cdn(clock, faults={"/busy": (503, b"")}, headers={"Retry-After": "30"})
    fetcher = Fetcher(cdn, timer=clock.monotonic)
    addresses = ["https://a.example/busy", "https://a.example/low.m3u8", "https://b.example/low.m3u8"]
    answers = [await got(fetcher, address) for address in addresses]
    assert [(answer.status, answer.is_held) for answer in answers] == [(503, False), (0, True), (200, False)]
    await clock.run(clock.sleep(30.0))
    assert (await got(fetcher, addresses[1])).status == 200


async def test_requests_of_a_round_take_eight_seconds_together() -> None:
    clock = VirtualClock()

    class Slow(Cdn):
        def _body(self, path: str) -> bytes:
            self.clock._tick += 3.0
            return super()._body(path)

    cdn = Slow(clock)
    requests = Fetcher(cdn, timer=clock.monotonic).round("https://a.example/")
    answers = [await requests.get(Part(f"https://a.example/{number}.ts"), Want.SEGMENT) for number in range(5)]
    assert [answer.is_held for answer in answers] == [False, False, False, True, True]
    assert len(cdn.asked) == 3


async def test_a_request_that_gets_less_than_its_time_proves_nothing() -> None:
    clock = VirtualClock()

    class Slow(Cdn):
        @asynccontextmanager
        async def open_public(self, address: str, headers: Mapping[str, str], *, home: str) -> AsyncIterator[Any]:
            self.clock._tick += 1.0 if address.endswith("2.ts") else 3.5
            if address.endswith("2.ts"):
                raise TimeoutError
            async with super().open_public(address, headers, home=home) as reply:
                yield reply

    for numbers, is_held in (("2", False), ("012", True)):
        requests = Fetcher(Slow(clock), timer=clock.monotonic).round("https://a.example/")
        answers = [await requests.get(Part(f"https://a.example/{number}.ts"), Want.PRESENCE) for number in numbers]
        assert (answers[-1].is_late, answers[-1].is_held) == (True, is_held)


async def test_few_requests_are_under_way_at_a_time() -> None:
    clock, gate = VirtualClock(), asyncio.Event()
    under_way = Counter[str]()
    most = Counter[str]()

    class Gated(Cdn):
        @asynccontextmanager
        async def open_public(self, address: str, headers: Mapping[str, str], *, home: str) -> AsyncIterator[Any]:
            names = (address.split("/")[2], "all")
            under_way.update(names)
            most.update({name: max(0, under_way[name] - most[name]) for name in names})
            await gate.wait()
            under_way.subtract(names)
            async with super().open_public(address, headers, home=home) as reply:
                yield reply

    fetcher = Fetcher(Gated(clock), timer=clock.monotonic)
    addresses = [f"https://{place % 3}.example/{place}.ts" for place in range(12)]
    tasks = [asyncio.create_task(got(fetcher, address, Want.SEGMENT)) for address in addresses]
    await clock.run(asyncio.sleep(0))
    gate.set()
    assert all(answer.status == 200 for answer in await asyncio.gather(*tasks))
    assert most["all"] == AT_ONCE
    assert max(most[f"{place}.example"] for place in range(3)) == AT_ONCE_OF_HOST
