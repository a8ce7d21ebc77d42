"""Every try of a request is counted once, by method and outcome, with few different labels."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest

from livedeck.client import Api, ApiError
from livedeck.client.http.request_counts import MAX_OPERATIONS, OTHER, RequestCounts
from livedeck.client.http.timing import ClientTiming


def api_that_answers(*statuses: int) -> Api:
    """Return an Api whose platform sends these statuses in turn. Waiting takes no time on its clock."""
    left = [*statuses]

    async def answer(_scope: Any, _receive: Any, send: Any) -> None:
        status = left.pop(0)
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": b'{"data": []}'})

    async def sleep(_: float) -> None:
        pass

    return Api(base_url="http://127.0.0.1", token="t", mount=answer, sleep=sleep, jitter=lambda: 0.0)


@pytest.mark.parametrize(
    ("statuses", "results"),
    [
        ([200], {"ok": 1}),
        ([503, 503, 200], {"serverfault": 2, "ok": 1}),
        ([401], {"unauthorized": 1}),
        ([404], {"notfound": 1}),
    ],
)
async def test_each_try_is_counted_with_its_end(statuses: Sequence[int], results: dict[str, int]) -> None:
    async with api_that_answers(*statuses) as api:
        with suppress(ApiError):
            await api.qos.get("event-4d2c")
        assert api.request_counts.results == {("get QoS of event", result): n for result, n in results.items()}
        (durations,) = api.request_counts.durations.values()
        assert sum(durations.counts) == len(statuses)


async def test_what_never_went_out_is_not_counted() -> None:
    async with api_that_answers() as api:
        read_only = Api(base_url="http://127.0.0.1", token="t", read_only=True)
        with pytest.raises(ApiError):
            await read_only.events.enable("e-1")
        assert not read_only.request_counts.results
        assert not api.request_counts.results


async def test_what_was_cancelled_has_no_duration() -> None:
    begun = asyncio.Event()

    async def never(*_: Any) -> None:
        begun.set()
        await asyncio.Event().wait()

    async with Api(base_url="http://127.0.0.1", token="t", mount=never) as api:
        call = asyncio.create_task(api.events.get("e-1"))
        await begun.wait()
        call.cancel()
        await asyncio.wait([call])
        assert api.request_counts.results == {("get event", "cancelled"): 1}
        assert sum(api.request_counts.durations["get event"].counts) == 0


async def test_copies_of_a_client_count_together() -> None:
    async with api_that_answers(200, 200) as api:
        await api.without_retry().qos.get("a")
        await api.with_timeout(1).qos.get("b")
        assert api.request_counts.results == {("get QoS of event", "ok"): 2}


def test_there_are_never_more_operations_than_the_bound(timing: ClientTiming) -> None:
    counts = RequestCounts()
    for number in range(MAX_OPERATIONS + 30):
        with counts.counting(f"operation {number}", timing):
            pass
    assert len(counts.durations) == MAX_OPERATIONS + 1
    assert counts.results[OTHER, "ok"] == 30


@pytest.fixture
def timing() -> ClientTiming:
    """Return the timing of a client."""
    return Api(base_url="http://127.0.0.1", token="t")._transport.timing
