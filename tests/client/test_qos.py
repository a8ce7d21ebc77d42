"""Quality of service: what was measured, what was not, and what cannot be believed."""

from datetime import UTC, datetime
from math import isnan
from typing import Any

import pytest

from client.answers import api_of, saying
from livedeck.client import QosSample, QosSamples, Unreadable

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC).timestamp()


def sample(second: int = 0, **fields: object) -> dict[str, Any]:
    whole: dict[str, Any] = {"bitrate_video": 4_500_000, "bitrate_audio": 128_000, "frame_rate": 30, "status": 0}
    return whole | {"time": f"2026-11-21T12:00:{second:02}.000000Z"} | fields


async def read(body: object) -> QosSamples:
    async with api_of(saying(body)) as api:
        return await api.qos.get("x")


async def test_samples_come_in_columns_and_in_the_order_answered() -> None:
    samples = await read({"data": [sample(5), sample(1, status=3), sample(5)]})
    assert list(samples.time) == [NOON + 5, NOON + 1, NOON + 5]
    assert list(samples.status) == [0, 3, 0]
    assert samples[1] == QosSample(NOON + 1, 4_500_000, 128_000, 30, 3)
    assert len(samples) == 3
    assert not samples.extra


@pytest.mark.parametrize("body", [{"data": []}, {"data": None}])
async def test_no_samples_are_no_error(body: object) -> None:
    assert len(await read(body)) == 0


async def test_missing_is_not_zero() -> None:
    samples = await read(
        {
            "data": [
                sample(bitrate_video=0, bitrate_audio=0, frame_rate=0),
                sample(bitrate_video=None, frame_rate=None, status=None),
                {"time": "2026-11-21T12:00:00Z"},
            ]
        }
    )
    assert samples[0] == QosSample(NOON, 0, 0, 0, 0)
    assert samples[1] == QosSample(NOON, None, 128_000, None, None)
    assert samples[2] == QosSample(NOON, None, None, None, None)
    assert isnan(samples.bitrate_video[1])
    assert samples.status[1] == -1


async def test_unknown_statuses_and_unknown_fields_are_kept() -> None:
    samples = await read({"data": [sample(), sample(1, status=77, jitter={"ms": 4})]})
    assert samples[1].status == 77
    assert samples.extra == {1: {"jitter": {"ms": 4}}}


async def test_an_hour_of_samples_is_read_whole() -> None:
    hour = [sample(time=f"2026-11-21T12:{second // 60:02}:{second % 60:02}.5Z") for second in range(3600)]
    samples = await read({"data": hour})
    assert len(samples) == 3600
    assert samples[-1].time == NOON + 3599.5


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (sample(time=None), "data[1].time should be a timestamp, not null"),
        (sample(time="soon"), "data[1].time is no timestamp"),
        (sample(time=NOON), "data[1].time should be a timestamp, not a number"),
        (sample(bitrate_video="4500000"), "data[1].bitrate_video should be a number, not a string"),
        (sample(frame_rate=True), "data[1].frame_rate should be a number, not a boolean"),
        (sample(bitrate_audio=10**400), "data[1].bitrate_audio is too large"),
        (sample(status=3.5), "data[1].status should be a whole number"),
        (sample(status=2**70), "data[1].status is too large"),
        ([], "data[1] is a list"),
        (None, "data[1] is null"),
    ],
)
async def test_a_sample_that_cannot_be_believed_is_named(wrong: object, named: str) -> None:
    with pytest.raises(Unreadable) as caught:
        await read({"data": [sample(), wrong]})
    assert named in str(caught.value)


@pytest.mark.parametrize("body", [{}, [], None, {"data": {}}, {"data": "none"}, {"samples": []}])
async def test_an_answer_without_a_list_is_unreadable(body: object) -> None:
    with pytest.raises(Unreadable, match="get QoS of event x"):
        await read(body)
