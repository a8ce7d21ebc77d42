"""Quality of service: measured, missing and incredible values."""

from datetime import UTC, datetime
from math import isnan
from typing import Any

import pytest

from client.answers import api_of, saying
from costs import check
from livedeck.client import QosSample, QosSamples, Unreadable, Validation
from livedeck.client.resources import qos
from livedeck.client.resources.qos import MAX_SAMPLES

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC).timestamp()


def at(second: float) -> datetime:
    """Return the timestamp of that many seconds after noon."""
    return datetime.fromtimestamp(NOON + second, UTC)


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
    assert samples[1] == QosSample(at(1), 4_500_000, 128_000, 30, 3)
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
    assert samples[0] == QosSample(at(0), 0, 0, 0, 0)
    assert samples[1] == QosSample(at(0), None, 128_000, None, None)
    assert samples[2] == QosSample(at(0), None, None, None, None)
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
    assert samples[-1].time == at(3599.5)


@pytest.mark.parametrize("name", ["bitrate_video", "bitrate_audio", "frame_rate", "status"])
@pytest.mark.parametrize("value", ["many", "", True, 10**400, 2**70, -(2**70), 1e300, [], {}])
async def test_a_value_that_cannot_be_read_is_missing_and_costs_no_other(name: str, value: object) -> None:
    """platform-api.md, "QoS response": one bad value must not cost the samples beside it."""
    samples = await read({"data": [sample(1), sample(2, **{name: value}), sample(3)]})
    assert list(samples.time) == [NOON + 1, NOON + 2, NOON + 3]
    assert samples[1] == samples[0]._replace(time=at(2), **{name: None})
    assert samples[2] == samples[0]._replace(time=at(3))
    assert samples.dropped == 0


@pytest.mark.parametrize(
    ("name", "value", "number"),
    [("bitrate_video", "4500000", 4_500_000), ("frame_rate", "29.97", 29.97), ("status", "3", 3), ("status", 3.0, 3)],
)
async def test_a_number_in_a_string_is_a_number(name: str, value: object, number: float) -> None:
    samples = await read({"data": [sample(1, **{name: value})]})
    assert getattr(samples[0], name) == number
    assert not samples.unreadable


async def test_values_that_cannot_be_read_are_counted_and_missing_ones_are_not() -> None:
    odd = [sample(1, status="bad"), sample(2, status=[], bitrate_video={}), sample(3, frame_rate=None), sample(4)]
    assert (await read({"data": odd})).unreadable == {"bitrate_video": 1, "status": 2}


async def test_a_status_that_is_no_whole_number_is_missing() -> None:
    assert (await read({"data": [sample(status=3.5)]}))[0].status is None


@pytest.mark.parametrize(
    "wrong", [sample(time=None), sample(time="soon"), sample(time=7), sample(time=[]), {}, [], None, 7, "sample"]
)
async def test_a_sample_without_a_time_is_dropped_and_counted(wrong: object) -> None:
    samples = await read({"data": [sample(1), wrong, sample(2, mood="blue")]})
    assert list(samples.time) == [NOON + 1, NOON + 2]
    assert samples.dropped == 1
    assert samples.extra == {1: {"mood": "blue"}}


@pytest.mark.parametrize("time", [NOON + 1, int((NOON + 1) * 1000), "2026-11-21T13:00:01+01:00"])
async def test_a_time_may_be_counted_from_1970(time: object) -> None:
    assert list((await read({"data": [sample(time=time)]})).time) == [NOON + 1]


async def test_a_list_in_which_nothing_is_a_sample_is_unreadable() -> None:
    """An empty answer would be read as no signal, and blame the encoder for what the platform writes."""
    with pytest.raises(Unreadable, match="no time in any of 2 samples"):
        await read({"data": [sample(time=7), None]})


@pytest.mark.parametrize("body", [{}, [], None, {"data": {}}, {"data": "none"}, {"samples": []}])
async def test_an_answer_without_a_list_is_unreadable(body: object) -> None:
    with pytest.raises(Unreadable, match="get QoS of event x"):
        await read(body)


STRANGE = [
    sample(1, time="2026-11-21T12:00:01"),
    sample(2, time="2026-11-21T14:00:02+02:00"),
    sample(3, time="0001-01-01T00:00:00+14:00"),
    sample(4, time=None),
    sample(5, status=True),
    sample(6, status=2**60),
    sample(7, bitrate_video="4500000"),
    sample(8, frame_rate=29.97),
    sample(9, jitter=4),
    {"time": "2026-11-21T12:00:10Z", "bitrate_video": 1, "bitrate_audio": 2, "status": 0, "rate": 25},
    {"time": "2026-11-21T12:00:11Z"},
]


@pytest.mark.parametrize("strange", STRANGE)
async def test_a_sample_reads_the_same_whatever_stands_beside_it(strange: dict[str, Any]) -> None:
    """A list of usual samples is read as a whole; one that is none must not change how the others are read."""
    around = [sample(20), strange, sample(21)]
    together = await read({"data": around})
    alone = [await read({"data": [one, sample(30)]}) for one in around]
    apart = [samples[place] for samples in alone for place in range(len(samples) - 1)]
    assert [together[place] for place in range(len(together))] == apart
    assert [*together.extra.values()] == [fields for samples in alone for fields in samples.extra.values()]


async def test_a_platform_that_counts_kilobits_is_read_in_bits() -> None:
    """platform-api.md, "Units": zero stays zero and missing stays missing."""
    body = {"data": [sample(bitrate_video=4500, bitrate_audio=0), sample(1, bitrate_video=None)]}
    async with api_of(saying(body), bitrate_unit="kbit") as api:
        samples = await api.qos.get("x")
    assert (samples[0].bitrate_video, samples[0].bitrate_audio) == (4_500_000, 0)
    assert (samples[1].bitrate_video, samples[0].frame_rate) == (None, 30)


async def test_a_slice_of_samples_is_samples_and_every_time_is_an_aware_one() -> None:
    samples = await read({"data": [sample(0), sample(1, jitter=4), sample(2, status=None), sample(3)]})
    part = samples[1:3]
    assert isinstance(part, QosSamples)
    assert [*part] == [samples[1], samples[2]]
    assert part.extra == {0: {"jitter": 4}}
    assert [one.time for one in samples[::-1]] == [at(3), at(2), at(1), at(0)]
    assert len(samples[9:]) == 0
    with pytest.raises(IndexError):
        samples[4]


@pytest.mark.parametrize("order", [1, -1], ids=["oldest first", "newest first"])
async def test_of_an_answer_without_end_the_newest_samples_are_read(order: int) -> None:
    """Send a day and 100 samples more; the second newest has a field of its own, and two have no time."""
    rows: list[dict[str, Any]] = [{"time": NOON + second} for second in range(MAX_SAMPLES + 100)]
    rows[-2]["note"] = "last but one"
    rows[-5]["time"] = rows[-7]["time"] = None
    samples = await read({"data": rows[::order]})
    assert (len(samples), samples.older, samples.dropped) == (MAX_SAMPLES - 2, 100, 2)
    assert (min(samples.time), max(samples.time)) == (NOON + 100, NOON + MAX_SAMPLES + 99)
    ((index, fields),) = samples.extra.items()
    assert (samples.time[index], fields) == (NOON + MAX_SAMPLES + 98, {"note": "last but one"})


async def test_no_step_reads_more_than_an_hour_of_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count the rows of each step, between which the event loop goes on."""
    steps = list[int]()
    parse = qos._parse_slice

    def counted(rows: list[object], bits: float) -> QosSamples:
        steps.append(len(rows))
        return parse(rows, bits)

    monkeypatch.setattr(qos, "_parse_slice", counted)
    assert len(await read({"data": [{"time": NOON + second} for second in range(10_000)]})) == 10_000
    check("samples a step", max(steps))
    assert sum(steps) == 10_000


@pytest.mark.parametrize("row", ["{}", "0", '{"time":1}', "[]"])
@pytest.mark.parametrize("status", [200, 400])
async def test_an_answer_of_millions_of_values_is_not_read(status: int, row: str) -> None:
    body = b'{"data":[%s]}' % b",".join([row.encode()] * 2_000_002)
    async with api_of(saying(body, status)) as api:
        with pytest.raises(Unreadable if status == 200 else Validation) as caught:
            await api.events.list()
    assert ("the response has more than 2,000,000 values" in str(caught.value)) == (status == 200)
