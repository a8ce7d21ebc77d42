"""The meter of a published stream under a given clock: rates, verdicts and statuses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import count, takewhile

import pytest

from livedeck import docs
from livedeck.simulator.ingest.meter import STATUSES, Meter, Reading, Verdict
from livedeck.simulator.ingest.session import Media, Session
from simulator import rtmp
from simulator.test_ingest_bytes import events

SEGMENT = 1448
"""Bytes of a TCP segment on Ethernet."""

Arrivals = Iterable[tuple[float, Media]]
"""Messages, each with its time of arrival."""


def stream(
    *,
    fps: float = 25,
    size: int = 1000,
    key_every: int = 50,
    keys: Callable[[int], bool] | None = None,
    first: int = 0,
    arrives: Callable[[float], float] = lambda at: at,
    has_frame: Callable[[int], bool] = lambda _: True,
) -> Arrivals:
    """Yield the messages of an endless encoder. `arrives`: media time -> time of arrival.

    `has_frame`: number of a frame -> whether it is sent.
    """
    is_key = keys or (lambda number: number % key_every == 0)
    for number in count():
        at = number / fps
        stamp = (first + round(at * 1000)) % 2**32
        if has_frame(number):
            yield arrives(at), Media(True, stamp, size, is_key(number))
        yield arrives(at), Media(False, stamp, 320)


def readings(arrivals: Arrivals, seconds: float, gap: float = 2.0) -> list[Reading]:
    """Let the messages arrive, with a beat each `gap` seconds. Returns the readings."""
    meter, beat, found = Meter(0.0), gap, list[Reading]()
    for now, media in takewhile(lambda row: row[0] < seconds, arrivals):
        while beat <= now:
            found.append(meter.beat(beat))
            beat += gap
        meter.arrive(now)
        meter.add(media, now)
    while beat <= seconds:
        found.append(meter.beat(beat))
        beat += gap
    return found


def verdicts(found: Iterable[Reading]) -> list[str]:
    return [reading.verdict for reading in found]


@pytest.mark.parametrize("fps", [15, 24, 25, 29.97, 30, 50, 60])
def test_a_healthy_stream_is_measured_exactly(fps: float) -> None:
    samples = [reading.sample for reading in readings(stream(fps=fps), 60) if reading.sample]
    assert len(samples) >= 28
    for sample in samples:
        assert sample.video == pytest.approx(fps * 8000, rel=0.03 if fps >= 24 else 0.05)
        assert sample.audio == pytest.approx(fps * 2560, rel=0.03 if fps >= 24 else 0.05)
        assert abs(sample.fps - fps) <= 1
        assert sample.status == 0


def test_jitter_of_half_a_second_changes_no_rate() -> None:
    for row in readings(stream(arrives=lambda at: at - at % 0.5 + 0.5), 60)[3:]:
        assert row.sample is not None
        assert row.sample.video == pytest.approx(25 * 8000, rel=0.02)
        assert row.verdict == "ok"


def test_a_stream_whose_time_starts_again_or_anywhere_goes_on() -> None:
    for first in (2**32 - 20_000, 2**31, 86_400_000):
        assert {row.sample for row in readings(stream(first=first), 60)[3:]} == {
            row.sample for row in readings(stream(), 60)[3:]
        }


@pytest.mark.parametrize("drift", [0.999, 1.001])
def test_the_clock_of_an_encoder_may_drift(drift: float) -> None:
    found = readings(stream(arrives=lambda at: at * drift), 900)
    assert set(verdicts(found[3:])) == {"ok"}


def test_a_silent_publisher_gives_samples_of_zero() -> None:
    found = readings([], 6)
    assert verdicts(found) == ["silent"] * 3
    assert all(row.sample == (0, 0, 0, 5) for row in found)


def test_a_stop_of_five_seconds_is_stopped_and_its_catch_up_gives_no_spike() -> None:
    found = readings(stream(arrives=lambda at: max(at, 25.0) if 20 <= at < 25 else at), 50)
    assert verdicts(found[3:10]) == ["ok"] * 7
    assert "stopped" in verdicts(found[10:13])
    assert set(verdicts(found[13:])) == {"ok"}
    assert max(row.sample.video for row in found if row.sample) < 1.05 * 25 * 8000
    assert {row.sample.status for row in found[10:12] if row.sample} == {5}


def test_a_slow_encoder_leaves_the_line_idle_and_a_slow_line_does_not() -> None:
    slow = readings(stream(arrives=lambda at: at / 0.8), 60)
    assert set(verdicts(slow[6:])) == {"encoder slower than real time"}
    busy = readings(stream(fps=200, size=200, arrives=lambda at: at / 0.8), 60)
    assert set(verdicts(busy[6:])) == {"line too slow"}
    assert {row.sample.status for row in slow[6:] + busy[6:] if row.sample} == {5}


@pytest.mark.parametrize("bits", [100_000, 400_000, 1_000_000])
def test_a_slow_line_whose_segments_take_longer_than_an_idle_gap_is_no_slow_encoder(bits: int) -> None:
    frames = (rtmp.frame(40 * number, bits // 200, is_key=number % 50 == 0) for number in range(1000))
    data = rtmp.connect() + rtmp.publish("key") + b"".join(frames)
    session, meter, found, beat = Session(), Meter(0.0), list[Reading](), 2.0
    for start in range(0, len(data), SEGMENT):
        now = start * 8 / (0.8 * bits)
        while beat <= now:
            found.append(meter.beat(beat))
            beat += 2
        meter.arrive(now, is_within_message=session.is_within_message)
        for event in events(session, data[start : start + SEGMENT]):
            if isinstance(event, Media):
                meter.add(event, now)
    assert set(verdicts(found[6:])) == {"line too slow"}
    assert len(found) > 20


def test_media_faster_than_the_clock_is_named_and_measured_at_its_real_rate() -> None:
    found = readings(stream(arrives=lambda at: at if at < 10 else 10 + (at - 10) / 1.5), 40)
    assert verdicts(found[12:]) == ["faster than real time"] * 8
    assert found[-1].sample is not None
    assert found[-1].sample.video == pytest.approx(25 * 8000, rel=0.03)


def test_frames_that_the_encoder_drops_are_missing_ones() -> None:
    found = readings(stream(has_frame=lambda number: number < 500 or number % 10 != 3), 60)
    assert set(verdicts(found[3:10])) == {"ok"}
    assert set(verdicts(found[12:])) == {"frames missing"}
    few = readings(stream(has_frame=lambda number: number % 50 != 3), 60)
    assert set(verdicts(few[3:])) == {"ok"}


@pytest.mark.parametrize(
    ("share", "verdict"),
    [(0, "ok"), (0.16, "ok"), (0.3, "key frames uneven"), (0.7, "key frames severe"), (-0.6, "key frames severe")],
)
def test_a_key_frame_interval_is_judged_by_the_six_before(share: float, verdict: str) -> None:
    at = {*range(0, 501, 50), 500 + round(50 * (1 + share))}
    seen = verdicts(readings(stream(keys=lambda number: number in at), 20 + 2 * (1 + share) + 1.9))
    assert seen[-1] == verdict
    assert set(seen[3:-1]) <= {"ok", verdict, "key frames uneven"}


def test_an_overdue_key_frame_counts_while_it_is_missing() -> None:
    found = readings(stream(keys=lambda number: number % 50 == 0 and number <= 500), 40)
    assert verdicts(found[-5:]) == ["key frames severe"] * 5


def test_a_key_frame_each_eight_seconds_is_normal() -> None:
    assert set(verdicts(readings(stream(fps=30, key_every=250), 90)[3:])) == {"ok"}


def test_the_platform_knows_four_statuses() -> None:
    assert {0, *STATUSES.values()} == {0, 3, 4, 5}


@pytest.mark.parametrize("since", [19.1, 19.4, 19.7, 19.9, 20.2])
def test_a_stop_is_never_called_slow_wherever_it_begins(since: float) -> None:
    found = readings(stream(arrives=lambda at: max(at, since + 5) if since <= at < since + 5 else at), 50)
    assert {"ok", "stopped", "starting"} == set(verdicts(found))


def test_the_documentation_explains_every_verdict() -> None:
    rows = docs.page("simulator").partition("| Verdict | Meaning |")[2].partition("\n\n")[0].splitlines()
    assert {word for row in rows for word in re.findall(r"`([^`]+)`", row.split("|")[1:2][0] if row else "")} == {
        *Verdict
    }
