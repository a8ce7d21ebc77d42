"""A watch yields each new sample once, at the given interval, and ends with the stream."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import aclosing
from datetime import timedelta
from typing import Any

import pytest

from client.answers import Platform, api_of
from client.test_qos import at, sample
from livedeck.client import Api, Invalid, Misconfigured, NotFound, QosSample, QosSamples
from livedeck.simulator import Simulator, serve


class Watched:
    """Platform that sends the next reply to each read of the samples, and at the end the last one again.

    `streams`: number of reads of the samples -> stream of the event; the last one stays.
    """

    def __init__(self, answers: Sequence[Sequence[dict[str, Any]]], streams: Sequence[object]) -> None:
        self.answers, self.streams = list(answers), list(streams)
        self.reads = self.event_reads = 0
        self.slept: list[float] = []

    def reply(self, path: str, _query: str) -> tuple[int, bytes, dict[str, str]]:
        if path.endswith("/qos"):
            body: object = self.answers[min(self.reads, len(self.answers) - 1)]
            self.reads += 1
        else:
            self.event_reads += 1
            body = {"id": "e", "stream": self.streams[min(self.reads, len(self.streams) - 1)]}
        return 200, json.dumps({"data": body}).encode(), {}

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        assert len(self.slept) < 100, "the watch has no end"

    async def seconds(self, **options: Any) -> list[int]:
        """The seconds of the samples that a watch yields until its end."""
        async with api_of(Platform(self.reply), sleep=self.sleep) as api:
            return [found.time.second async for found in api.qos.watch("e", **options)]


LIVE = {"id": "s1", "finished_at": None}
OVER = {"id": "s1", "finished_at": "2026-11-21T12:00:30Z"}


def windows(*ranges: range) -> list[list[dict[str, Any]]]:
    return [[sample(second) for second in window] for window in ranges]


async def test_each_sample_comes_once_until_the_stream_is_finished() -> None:
    watched = Watched(
        windows(range(10), range(2, 14), range(6, 18), range(6, 18), range(6, 20)), [LIVE, LIVE, LIVE, OVER]
    )
    assert await watched.seconds() == [9, *range(10, 20)]
    assert watched.slept == [5.0] * 3


async def test_stored_samples_come_first_if_asked_for() -> None:
    watched = Watched(windows(range(10), range(12)), [OVER])
    assert await watched.seconds(since=at(6)) == [7, 8, 9]
    assert watched.slept == []


async def test_every_sample_of_a_stream_that_begins_later_comes() -> None:
    watched = Watched(windows(range(0), range(0), range(8), range(9)), [None, LIVE, LIVE, LIVE, OVER])
    assert await watched.seconds(interval=2) == [*range(9)]
    assert set(watched.slept) == {2}


async def test_a_late_sample_comes_late_and_a_repeated_one_does_not() -> None:
    answers = [
        [sample(1), sample(5)],
        [sample(5), sample(5), sample(3), sample(7)],
        [sample(7), sample(3), sample(5)],
        [sample(1), sample(3), sample(5), sample(7)],
    ]
    assert await Watched(answers, [LIVE, LIVE, LIVE, OVER]).seconds() == [5, 3, 7]


async def test_the_samples_of_the_next_stream_are_not_those_of_this_one() -> None:
    watched = Watched(windows(range(10), range(20, 30)), [LIVE, LIVE, {"id": "s2", "finished_at": None}])
    assert await watched.seconds() == [9]


async def test_a_gap_in_the_same_stream_ends_nothing() -> None:
    assert await Watched(windows(range(3), range(20, 23), range(20, 24)), [LIVE, LIVE, LIVE, OVER]).seconds() == [
        2,
        *range(20, 24),
    ]


async def test_a_live_stream_costs_one_read_a_round() -> None:
    watched = Watched(
        windows(*(range(start, start + 9) for start in range(0, 40, 5)), range(35, 44)), [LIVE] * 9 + [OVER]
    )
    await watched.seconds()
    assert watched.event_reads == 2  # at the start, and when nothing new came


async def test_a_watch_remembers_every_sample_of_a_long_answer() -> None:
    stamp = "2026-11-21T{:02}:{:02}:{:02}.{:06}Z"
    answer = [
        {"time": stamp.format(12, number // 60 // 10 % 60, number // 10 % 60, number % 10)} for number in range(20_000)
    ]
    watched = Watched([answer, answer, answer], [LIVE, LIVE, LIVE, OVER])
    async with api_of(Platform(watched.reply), sleep=watched.sleep) as api:
        assert len([found async for found in api.qos.watch("e")]) == 1


async def test_a_watch_can_be_closed() -> None:
    watched = Watched(windows(range(3)), [LIVE])
    async with api_of(Platform(watched.reply), sleep=watched.sleep) as api, aclosing(api.qos.watch("e")) as samples:
        assert (await anext(samples)).time == at(2)
    assert watched.reads == 1


async def test_what_cannot_be_watched_is_refused_before_a_request() -> None:
    watched = Watched(windows(range(3)), [LIVE])
    async with api_of(Platform(watched.reply), sleep=watched.sleep) as api:
        for interval in (0, -1, float("nan")):
            with pytest.raises(Misconfigured, match="interval should be above 0"):
                await anext(api.qos.watch("e", interval=interval))
        with pytest.raises(Invalid, match="since should have a time zone"):
            await anext(api.qos.watch("e", since=at(0).replace(tzinfo=None)))
    assert (watched.reads, watched.event_reads) == (0, 0)


async def test_an_event_of_the_simulator_is_watched_over_http() -> None:
    service = Simulator(seed=7)
    async with serve(service) as addresses, Api(base_url=addresses.base_url, token=service.token) as api:
        live = await anext(
            event async for event in api.events.iterate() if event.stream and event.stream.status == "live"
        )
        stored = await api.qos.get(live.id)
        assert stored.newest
        since = stored.newest.time - timedelta(seconds=30)
        async with aclosing(api.qos.watch(live.id, since=since)) as samples:
            seen: list[QosSample] = [await anext(samples) for _ in range(10)]
        with pytest.raises(NotFound):
            await anext(api.qos.watch("4d2c2f2e-6f53-4a3e-9b7d-0d8d1c1c7a10"))
    service.close()
    times = [found.time for found in seen]
    assert times == sorted({*times})
    assert times[0] > since


@pytest.mark.parametrize(("order", "second"), [((3, 5, 1), 5), ((5, 5), 5), ((), None)])
async def test_the_newest_sample_has_the_latest_time_and_no_sample_is_none(
    order: Sequence[int], second: int | None
) -> None:
    platform = Watched([[sample(each) for each in order]], [LIVE])
    async with api_of(Platform(platform.reply)) as api:
        samples: QosSamples = await api.qos.get("e")
    assert (samples.newest and samples.newest.time) == (None if second is None else at(second))
