"""Reads are retried within a time limit, changes are not, and all share one budget of requests."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

import pytest

from client.answers import Platform, api_of, listening
from client.test_transport import nobody
from golden.warp import warped
from livedeck.client import (
    Api,
    ApiError,
    Misconfigured,
    NotFound,
    RateLimited,
    Rejected,
    ServerFault,
    Unknown,
    Unreachable,
)
from virtual_clock import VirtualClock

GOOD: tuple[int, bytes, Mapping[str, str]] = (200, b'{"data": {"id": "x"}}', {})


class Time:
    """Clock that moves only during a sleep."""

    def __init__(self) -> None:
        self.now = 0.0
        self.sleeps: list[float] = []

    def timer(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(round(seconds, 3))
        self.now += seconds


def answering(*answers: tuple[int, bytes, Mapping[str, str]]) -> Platform:
    """Return a platform that sends these replies in turn, and then the last one again."""
    left = list(answers)
    return Platform(lambda _path, _query: left.pop(0) if len(left) > 1 else left[0])


def patient(platform: Platform, time: Time, **options: Any) -> Api:
    settings: dict[str, Any] = {"retry": 10.0, "timer": time.timer, "sleep": time.sleep, "jitter": lambda: 1.0}
    return api_of(platform, **settings | options)


PASSING = [408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 525, 526, 527, 528, 529]


@pytest.mark.parametrize("status", PASSING)
async def test_a_read_that_fails_in_passing_is_tried_again(status: int) -> None:
    time, platform = Time(), answering((status, b"", {}), (status, b"", {}), GOOD)
    async with patient(platform, time) as api:
        assert (await api.events.get("x")).id == "x"
    assert len(platform.requests) == 3
    assert time.sleeps == [0.2, 0.4]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 410, 413, 501, 505, 519, 530])
async def test_a_read_that_fails_for_a_reason_is_not(status: int) -> None:
    time, platform = Time(), answering((status, b"", {}))
    async with patient(platform, time) as api:
        with pytest.raises(ApiError):
            await api.events.get("x")
    assert len(platform.requests) == 1
    assert not time.sleeps


@pytest.mark.parametrize("status", [status for status in PASSING if status != 425])
async def test_a_change_is_sent_once_whatever_is_answered(status: int) -> None:
    time, platform = Time(), answering((status, b"", {"Retry-After": "1"}))
    async with patient(platform, time) as api:
        with pytest.raises(Unknown, match="may or may not have been made"):
            await api.events.enable("x")
    assert len(platform.requests) == 1
    assert not time.sleeps


@pytest.mark.parametrize(
    "header",
    [{"Retry-After": "7"}, {"Retry-After": "Sat, 21 Nov 2026 12:00:07 GMT", "Date": "Sat, 21 Nov 2026 12:00:00 GMT"}],
)
async def test_retry_after_is_obeyed(header: dict[str, str]) -> None:
    """As seconds, and as a date by the platform's own clock."""
    time, platform = Time(), answering((503, b"", header), GOOD)
    async with patient(platform, time) as api:
        await api.events.get("x")
    assert time.sleeps == [7.0]


async def test_a_retry_after_that_is_too_far_is_told_at_once() -> None:
    time, platform = Time(), answering((429, b"", {"Retry-After": "60"}))
    async with patient(platform, time) as api:
        with pytest.raises(RateLimited) as caught:
            await api.events.get("x")
    assert caught.value.retry_after == 60
    assert not time.sleeps


async def test_the_pauses_grow_to_five_seconds_and_end_in_time() -> None:
    time, platform = Time(), answering((503, b"", {}))
    async with patient(platform, time, retry=20.0) as api:
        with pytest.raises(ServerFault):
            await api.events.get("x")
    assert time.sleeps == [0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0]
    assert time.now < 20


async def test_a_pause_is_any_part_of_the_longest() -> None:
    """Readers that fail together spread over the whole of it (full jitter)."""
    time, platform = Time(), answering((503, b"", {}))
    parts = [0.5, 0.25, 0.0]
    async with patient(platform, time, jitter=lambda: parts.pop(0) if parts else 1.0) as api:
        with pytest.raises(ServerFault):
            await api.events.get("x")
    assert time.sleeps[:4] == [0.1, 0.1, 0.01, 1.6]


async def test_a_pause_that_the_platform_asked_for_is_not_shortened() -> None:
    time, platform = Time(), answering((429, b"", {}), GOOD)
    async with patient(platform, time, jitter=lambda: 0.0) as api:
        await api.events.get("x")
    assert time.sleeps == [0.1]


async def test_tries_end_even_if_no_pause_is_drawn_on_a_clock_that_stands_still() -> None:
    time, platform = Time(), answering((500, b"", {}))
    async with patient(platform, time, timer=lambda: 0.0, jitter=lambda: 0.0, retry=1.0) as api:
        with pytest.raises(ServerFault):
            await api.events.get("x")
    assert len(platform.requests) == 100


async def test_tries_end_even_on_a_clock_that_stands_still() -> None:
    time, platform = Time(), answering((503, b"", {}))
    async with patient(platform, time, timer=lambda: 0.0) as api:
        with pytest.raises(ServerFault):
            await api.events.get("x")
    assert sum(time.sleeps) < 10


async def test_without_seconds_for_it_a_read_is_tried_once() -> None:
    time, platform = Time(), answering((503, b"", {}), GOOD)
    async with patient(platform, time, retry=0.0) as api:
        with pytest.raises(ServerFault):
            await api.events.get("x")
    assert not time.sleeps


async def test_a_connection_that_is_refused_is_tried_again() -> None:
    time = Time()
    async with Api(base_url=nobody(), token="t", retry=1.0, timer=time.timer, sleep=time.sleep) as api:
        with pytest.raises(Unreachable):
            await api.events.get("x")
    assert len(time.sleeps) > 1


class Crowded:
    """Platform that refuses every request before `opens_at`, on a clock that moves when no task can run."""

    def __init__(self, clock: VirtualClock, opens_at: float, headers: Callable[[float], Mapping[str, str]]) -> None:
        self.refused_at, self.taken_at = list[float](), list[float]()
        self._clock, self._opens_at, self._headers = clock, opens_at, headers

    def reply(self, _path: str, _query: str) -> tuple[int, bytes, Mapping[str, str]]:
        now = self._clock.monotonic()
        if now < self._opens_at:
            self.refused_at.append(now)
            return 429, b"", self._headers(now)
        self.taken_at.append(now)
        return GOOD


def read_by(readers: int, platform: Crowded, clock: VirtualClock) -> Awaitable[list[Any]]:
    """Return the results of that many simultaneous reads."""

    async def read() -> list[Any]:
        options: dict[str, Any] = {"retry": 10.0, "timer": clock.monotonic, "sleep": clock.sleep, "now": clock.now}
        async with api_of(Platform(platform.reply), **options, jitter=lambda: 1.0) as api:
            return await asyncio.gather(*(api.events.get("x") for _ in range(readers)), return_exceptions=True)

    return clock.run(read())


async def test_fifty_readers_make_one_pause_of_it() -> None:
    """Ten are under way when the first is refused; after each pause one goes ahead, and in the end they all follow."""
    clock = VirtualClock()
    platform = Crowded(clock, 3.0, lambda _now: {})
    events = await read_by(50, platform, clock)
    assert [event.id for event in events] == ["x"] * 50
    assert [round(at, 1) for at in platform.refused_at] == [*[0.0] * 10, 0.2, 0.6, 1.4]
    assert [round(at, 1) for at in platform.taken_at] == [3.0] * 50


@pytest.mark.parametrize(
    "headers",
    [
        lambda now: {"Retry-After": f"{7 - now:.0f}"},
        lambda _now: {"Retry-After": "Sun, 01 Mar 2026 12:00:07 GMT", "Date": "Sun, 01 Mar 2026 12:00:00 GMT"},
    ],
)
async def test_all_readers_hear_when_the_platform_can_be_asked_again(headers: Any) -> None:
    clock = VirtualClock()
    platform = Crowded(clock, 7.0, headers)
    events = await read_by(50, platform, clock)
    assert [event.id for event in events] == ["x"] * 50
    assert platform.refused_at == [0.0] * 10
    assert platform.taken_at == [7.0] * 50


async def test_readers_that_cannot_wait_so_long_are_not_sent() -> None:
    clock = VirtualClock()
    platform = Crowded(clock, 90.0, lambda _now: {"Retry-After": "60"})
    errors = await read_by(50, platform, clock)
    assert len(platform.refused_at) == 10
    assert [type(error) for error in errors] == [RateLimited] * 50
    assert {error.retry_after for error in errors} == {60.0}
    assert sum("because a reply demanded a pause; try again in 60 s" in str(error) for error in errors) == 40


async def test_a_pause_holds_neither_a_change_nor_who_keeps_a_pace_of_his_own() -> None:
    """The change of a person is sent at once; a poller reads once, and obeys what it is answered."""
    time, platform = Time(), answering((429, b"", {"Retry-After": "60"}), GOOD)
    async with patient(platform, time) as api:
        with pytest.raises(RateLimited):
            await api.events.get("x")
        await api.events.enable("x")
        assert (await api.without_retry().events.get("x")).id == "x"
        with pytest.raises(RateLimited, match="not sent"):
            await api.events.get("x")
    assert len(platform.requests) == 3
    assert not time.sleeps


def http(status: int, body: bytes = b"{}", *headers: str) -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status} So", f"Content-Length: {len(body)}", *headers, "", ""]).encode() + body


BUSY, FOUND = http(503), http(200, GOOD[1])


async def test_over_http_a_read_is_retried_until_it_is_answered() -> None:
    """As it is out of the box: nobody has to switch it on."""
    async with listening(BUSY, BUSY, FOUND) as (address, heads), Api(base_url=address, token="t") as api:
        assert (await api.events.get("x")).id == "x"
    assert [head.split()[0] for head in heads] == [b"GET"] * 3


async def test_over_http_a_poller_reads_once_over_the_same_client() -> None:
    async with listening(BUSY, FOUND) as (address, heads), Api(base_url=address, token="t") as api:
        poller = api.without_retry()
        with pytest.raises(ServerFault):
            await poller.events.get("x")
        api.set_token("another-token")
        assert (await poller.events.get("x")).id == "x"
        assert len(poller.timings) == 2
    assert len(heads) == 2
    assert b"Bearer another-token" in heads[1]


async def test_over_http_a_change_is_sent_once() -> None:
    async with listening(BUSY, FOUND) as (address, heads), Api(base_url=address, token="t") as api:
        with pytest.raises(ApiError):
            await api.events.enable("x")
    assert len(heads) == 1


HALF = FOUND[:-3]
HALF_CHUNKED = b"HTTP/1.1 200 So\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n" + GOOD[1]


@pytest.mark.parametrize("broken", [b"", b"HTTP/1.1 200", HALF, HALF_CHUNKED], ids=["none", "head", "half", "chunk"])
async def test_over_http_a_read_whose_answer_breaks_off_is_tried_again(broken: bytes) -> None:
    time = Time()
    options: dict[str, Any] = {"token": "t", "timer": time.timer, "sleep": time.sleep, "jitter": lambda: 1.0}
    async with listening(broken, broken, FOUND) as (address, heads), Api(base_url=address, **options) as api:
        assert (await api.events.get("x")).id == "x"
    assert len(heads) == 3
    assert time.sleeps == [0.2, 0.4]


@pytest.mark.parametrize("broken", [b"", b"HTTP/1.1 200", HALF, http(500), http(408), http(425), http(520)])
async def test_over_http_a_change_whose_answer_breaks_off_is_sent_once(broken: bytes) -> None:
    time = Time()
    options: dict[str, Any] = {"token": "t", "timer": time.timer, "sleep": time.sleep}
    async with listening(broken, FOUND) as (address, heads), Api(base_url=address, **options) as api:
        with pytest.raises((Unknown, Rejected)):
            await api.events.enable("x")
    assert len(heads) == 1
    assert not time.sleeps


async def test_over_http_a_kept_connection_that_is_reset_is_no_failure_of_a_read() -> None:
    """The platform closes an idle connection just as the next read goes out on it."""
    time = Time()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(FOUND)
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            await reader.readuntil(b"\r\n\r\n")
        writer.transport.abort()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with server:
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with Api(base_url=address, token="t", timer=time.timer, sleep=time.sleep) as api:
            for _ in range(4):
                assert (await api.events.get("x")).id == "x"
    assert len(time.sleeps) == 3


@warped
async def test_over_http_a_read_that_is_not_answered_in_time_is_tried_again() -> None:
    time = Time()
    options: dict[str, Any] = {"token": "t", "timeout": 0.05, "timer": time.timer, "sleep": time.sleep}
    async with listening(None, FOUND) as (address, heads), Api(base_url=address, **options) as api:
        assert (await api.events.get("x")).id == "x"
    assert len(heads) == 2


async def test_tries_end_with_the_time_of_the_caller() -> None:
    """Each try takes 4 s; a fourth would begin after the 10 s that all of them may take."""
    time = Time()

    def reply(_path: str, _query: str) -> tuple[int, bytes, Mapping[str, str]]:
        time.now += 4.0
        return 500, b"", {}

    platform = Platform(reply)
    async with patient(platform, time) as api:
        with pytest.raises(ServerFault):
            await api.events.get("x")
    assert (len(platform.requests), time.sleeps) == (3, [0.2, 0.4])


async def test_a_stream_is_tried_again_until_it_begins() -> None:
    time, platform = Time(), answering((502, b"", {}), (200, b'{"data": [{"id": "m"}]}', {}))
    async with patient(platform, time) as api:
        assert [message.id async for message in api.chat.messages("e", "s")] == ["m"]
    assert time.sleeps == [0.2]


async def test_requests_past_the_budget_wait_their_turn() -> None:
    """A second's worth at once, then one at a time; the resources share one budget."""
    time, platform = Time(), answering((404, b"", {}))
    async with patient(platform, time, rate=2.0) as api:
        for call in (api.events.get, api.rooms.get, api.events.get, api.materials.link, api.rooms.get):
            with pytest.raises(NotFound):
                await call("x")
    assert time.sleeps == [0.5, 0.5, 0.5]


async def test_a_request_that_waits_its_turn_while_the_client_closes_is_not_sent() -> None:
    time, platform = Time(), answering(GOOD)
    waits, goes_on = asyncio.Event(), asyncio.Event()

    async def sleep(_seconds: float) -> None:
        waits.set()
        await goes_on.wait()

    async with patient(platform, time, rate=1.0, sleep=sleep) as api:
        await api.events.get("x")
        waiting = asyncio.ensure_future(api.events.get("x"))
        await waits.wait()
    goes_on.set()
    with pytest.raises(Misconfigured, match="get event x: not sent, the client is closed"):
        await waiting
    assert len(platform.requests) == 1


async def test_a_budget_fills_up_again_while_nothing_is_asked() -> None:
    time, platform = Time(), answering(GOOD)
    async with patient(platform, time, rate=2.0) as api:
        for _ in range(3):
            await api.events.get("x")
            await api.events.get("x")
            time.now += 60
    assert not time.sleeps


async def test_a_round_trip_is_counted_on_the_timer() -> None:
    ticks = iter(range(100))
    async with api_of(answering(GOOD), timer=lambda: float(next(ticks))) as api:
        await api.events.get("x")
    assert api.timings[0].round_trip == 1.0
