"""Whatever JSON, status or bytes the platform answers: a model, or an ApiError; no text that harms."""

import json
from collections.abc import Awaitable, Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from client.answers import api_of, saying
from client.test_events import DOCUMENTED
from livedeck.client import Api, ApiError, Event, Page, QosSamples

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
)
events = st.builds(
    lambda whole, changed: whole | changed,
    st.just(DOCUMENTED),
    st.dictionaries(st.sampled_from(sorted(DOCUMENTED)), anything, max_size=4),
)
samples = st.lists(
    st.dictionaries(
        st.sampled_from(["time", "bitrate_video", "bitrate_audio", "frame_rate", "status", "more"]),
        anything | st.just("2026-11-21T12:00:00Z"),
    ),
    max_size=4,
)
errors = st.fixed_dictionaries(
    {}, optional={"code": anything, "message": anything, "detail": anything, "invalid_params": anything}
)
bodies = st.one_of(
    anything,
    st.fixed_dictionaries({"data": anything}),
    st.fixed_dictionaries({"data": events}),
    st.fixed_dictionaries({"data": st.lists(events, max_size=2), "meta": anything}),
    st.fixed_dictionaries({"data": samples}),
    st.fixed_dictionaries({"error": errors}),
)
statuses = st.sampled_from([200, 200, 200, 201, 204, 302, 400, 401, 404, 409, 429, 500, 599])
calls: list[Callable[[Api], Awaitable[object]]] = [
    lambda api: api.events.get("x"),
    lambda api: api.events.list(),
    lambda api: api.qos.get("x"),
]


async def tell(body: bytes, status: int, call: Callable[[Api], Awaitable[object]]) -> None:
    async with api_of(saying(body, status)) as api:
        answer = await outcome(call(api))
    assert isinstance(answer, Event | Page | QosSamples | ApiError)
    if isinstance(answer, ApiError):
        assert str(answer).isprintable()
        assert len(str(answer)) < 1000


async def outcome(answer: Awaitable[object]) -> object:
    try:
        return await answer
    except ApiError as error:
        return error


@settings(max_examples=150, deadline=None)
@given(bodies, statuses, st.sampled_from(calls))
async def test_any_json_makes_a_model_or_an_api_error(
    body: object, status: int, call: Callable[[Api], Awaitable[object]]
) -> None:
    await tell(json.dumps(body).encode(), status, call)


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=60), statuses, st.sampled_from(calls))
async def test_any_bytes_make_a_model_or_an_api_error(
    body: bytes, status: int, call: Callable[[Api], Awaitable[object]]
) -> None:
    await tell(body, status, call)
