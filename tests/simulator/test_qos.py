"""Quality samples: when they exist, that they never change, and the look of each shape."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise

import httpx
import pytest

from livedeck.simulator import Simulator, SimulatorClock
from simulator.http_client import FindEvent, Row, Samples

EVENTS = "/v2/live/events"
ON_AIR = ["Choir, hall B", "Morning service", "Town hall, main", "Cup final, pitch 2", "Harbour webcam", "City council"]


def at(row: Row) -> datetime:
    return datetime.fromisoformat(row["time"])


def mean(rows: list[Row], field: str) -> float:
    return float(sum(row[field] for row in rows) / len(rows))


async def test_the_envelope_is_data_alone_and_every_value_an_integer(
    api: httpx.AsyncClient, find_event: FindEvent
) -> None:
    body = (await api.get(f"{EVENTS}/{(await find_event('Choir, hall B'))['id']}/qos")).json()
    assert list(body) == ["data"]
    for row in body["data"]:
        assert list(row) == ["bitrate_video", "bitrate_audio", "frame_rate", "status", "time"]
        assert {type(row[name]) for name in ("bitrate_video", "bitrate_audio", "frame_rate", "status")} == {int}


@pytest.mark.parametrize("name", ON_AIR)
async def test_samples_ascend_and_lie_on_ticks_within_the_stream(
    simulator: Simulator, find_event: FindEvent, samples: Samples, name: str
) -> None:
    rows = await samples(name)
    times = [at(row) for row in rows]
    assert all(earlier < later for earlier, later in pairwise(times))
    assert all(time.timestamp() % 2 == 0 for time in times)
    started = datetime.fromisoformat((await find_event(name))["stream"]["started_at"])
    assert started <= times[0]
    assert times[-1] <= simulator.clock.now()


@pytest.mark.parametrize("name", ["Lecture 7", "Evening news", "Concert, open air", "Untitled event"])
async def test_without_an_encoder_there_is_no_sample(samples: Samples, name: str) -> None:
    assert await samples(name) == []


async def test_an_answer_holds_the_last_3600_at_most(simulator: Simulator, samples: Samples) -> None:
    rows = await samples("Harbour webcam")
    assert len(rows) == 3600
    assert simulator.clock.now() - at(rows[-1]) < timedelta(seconds=2)


async def test_a_finished_stream_keeps_its_samples_and_gains_none(simulator: Simulator, samples: Samples) -> None:
    rows = await samples("Rehearsal Tuesday")
    assert len(rows) == (3600 + 31 * 60 + 9 + 1) // 2
    simulator.clock.step(3600)
    assert await samples("Rehearsal Tuesday") == rows


@pytest.mark.parametrize("name", ON_AIR)
async def test_what_was_answered_once_is_answered_alike_ever_after(
    simulator: Simulator, samples: Samples, name: str
) -> None:
    before = await samples(name)
    simulator.clock.step(601)
    after = await samples(name)
    assert len(after) > 3 or name.startswith("Cup")
    times = {row["time"] for row in before}
    assert [row for row in after if row["time"] in times] == [row for row in before if row["time"] >= after[0]["time"]]


@pytest.mark.parametrize("name", ON_AIR)
async def test_asking_often_and_asking_once_give_the_same_bytes(
    api: httpx.AsyncClient, find_event: FindEvent, name: str
) -> None:
    """The cache may not show: steps, leaps and a clock turned back end in what a fresh simulator answers."""
    event = await find_event(name)
    often, once = (
        Simulator(seed=7, clock=SimulatorClock(at({"time": "2026-11-21T09:00:00.5Z"}), paused=True)) for _ in "ab"
    )
    path = f"{EVENTS}/{event['id']}/qos"
    async with (
        httpx.AsyncClient(transport=httpx.ASGITransport(often.app), base_url="http://a", headers=api.headers) as first,
        httpx.AsyncClient(transport=httpx.ASGITransport(once.app), base_url="http://b", headers=api.headers) as second,
    ):
        for step in (0, 3, 900, 20_000, -20_500, 7):
            often.clock.step(step)
            once.clock.step(step)
            last = (await first.get(path)).content
        assert last == (await second.get(path)).content


async def test_another_seed_gives_other_samples(
    samples: Samples, simulator: Simulator, admin: httpx.AsyncClient
) -> None:
    before = await samples("Choir, hall B")
    await admin.post("/_control/reset", json={"seed": simulator.seed + 1})
    after = await samples("Choir, hall B")
    assert [row["time"] for row in after] == [row["time"] for row in before]
    assert after != before


async def test_the_cadence_is_a_setting(simulator: Simulator) -> None:
    quick = Simulator(clock=simulator.clock, cadence=0.5)
    headers = {"Authorization": f"Bearer {quick.token}"}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(quick.app), base_url="http://a", headers=headers) as api:
        events = (await api.get(EVENTS, params={"order": "name.asc"})).json()["data"]
        choir = next(event for event in events if event["name"] == "Choir, hall B")
        rows = (await api.get(f"{EVENTS}/{choir['id']}/qos")).json()["data"]
    assert {(at(later) - at(earlier)).total_seconds() for earlier, later in pairwise(rows)} == {0.5}


@pytest.mark.parametrize("name", ["Choir, hall B", "City council"])
async def test_clean_is_steady_at_4500_and_128_kbit_and_30_frames(samples: Samples, name: str) -> None:
    rows = await samples(name)
    assert {row["status"] for row in rows} == {0}
    assert mean(rows, "bitrate_video") == pytest.approx(4_500_000, rel=0.01)
    assert mean(rows, "bitrate_audio") == pytest.approx(128_000, rel=0.01)
    assert {row["frame_rate"] for row in rows} <= {29, 30, 31}
    assert len({row["bitrate_video"] for row in rows}) > len(rows) * 0.9


async def test_clean_dips_now_and_then_and_not_for_long(samples: Samples) -> None:
    rows = await samples("Choir, hall B")
    dips = [row for row in rows if row["bitrate_video"] < 4_100_000]
    assert 0 < len(dips) < len(rows) * 0.03
    assert min(row["bitrate_video"] for row in rows) > 0.7 * 4_500_000


async def test_keyframe_drift_moves_the_status_and_not_the_bitrate(samples: Samples) -> None:
    rows = await samples("Morning service")
    assert {row["status"] for row in rows} == {0, 3, 4}
    assert all(4_300_000 < row["bitrate_video"] < 4_700_000 for row in rows)


async def test_packet_loss_pulls_video_audio_and_frames_together(samples: Samples) -> None:
    rows = await samples("Town hall, main")
    lost = [row for row in rows if row["status"] == 5]
    good = [row for row in rows if row["status"] == 0]
    assert 0.15 < len(lost) / len(rows) < 0.6
    assert len(lost) + len(good) == len(rows)
    for field, left in (("bitrate_video", 0.75), ("bitrate_audio", 0.9), ("frame_rate", 0.9)):
        assert mean(lost, field) < left * mean(good, field)


async def test_encoder_overload_costs_frames_and_hardly_bits(samples: Samples) -> None:
    rows = (await samples("Harbour webcam"))[-500:]
    assert {row["frame_rate"] for row in rows} <= {22, 23, 24}
    assert {row["status"] for row in rows} == {0, 5}
    assert mean(rows, "bitrate_video") > 0.93 * 4_500_000


async def test_an_interrupted_encoder_goes_and_comes_back_within_the_window(
    simulator: Simulator, find_event: FindEvent, samples: Samples
) -> None:
    rows = await samples("Cup final, pitch 2")
    assert 78 <= (simulator.clock.now() - at(rows[-1])).total_seconds() <= 81
    assert (await find_event("Cup final, pitch 2"))["stream"]["status"] == "live"
    simulator.clock.step(240)
    back = (await samples("Cup final, pitch 2"))[-1]
    assert (simulator.clock.now() - at(back)).total_seconds() < 2
    gaps = [
        (at(later) - at(earlier)).total_seconds() for earlier, later in pairwise(await samples("Cup final, pitch 2"))
    ]
    assert [gap for gap in gaps if gap > 2] == [pytest.approx(309, abs=2)] * 3
    assert max(gaps) < (await find_event("Cup final, pitch 2"))["reconnect_window"]


async def test_warm_up_rises_from_little_to_the_full_rate(simulator: Simulator, samples: Samples) -> None:
    simulator.clock.step(15 * 60)
    rows = await samples("Evening news")
    rise = [row["bitrate_video"] for row in rows[:10]]
    assert rise == sorted(rise)
    assert rise[0] < 0.3 * rows[-1]["bitrate_video"]
    assert rows[0]["frame_rate"] < rows[-1]["frame_rate"]
    assert mean(rows[15:], "bitrate_video") == pytest.approx(4_500_000, rel=0.05)
