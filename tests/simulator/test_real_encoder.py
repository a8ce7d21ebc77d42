"""A real ffmpeg publishes to the ingest. Skipped without ffmpeg, unless `LIVEDECK_NEED_FFMPEG=1` demands it."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator

import pytest

from livedeck.simulator import Simulator
from simulator.test_ingest import Stage, has_no_publisher, running, until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("ffmpeg") is None and not os.environ.get("LIVEDECK_NEED_FFMPEG"),
        reason="ffmpeg is not installed: real encoder not tested",
    ),
]


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with running(Simulator(seed=7)) as stage:
        yield stage


async def encode(address: str, *pace: str) -> Process:
    """Start an encoder of a small picture with a tone. `pace`: how fast it reads its source."""
    picture = (*pace, "-f", "lavfi", "-i", "testsrc=s=64x36:r=25")
    tone = (*pace, "-f", "lavfi", "-i", "sine=r=44100")
    codecs = ("-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-g", "50", "-sc_threshold", "0")
    out = ("-b:v", "100k", "-c:a", "aac", "-b:a", "64k", "-t", "1800", "-f", "flv", address)
    line = ("ffmpeg", "-nostdin", "-loglevel", "error", *picture, *tone, *codecs, *out)
    return await asyncio.create_subprocess_exec(*line, stdout=DEVNULL, stderr=PIPE)


async def end(encoder: Process) -> None:
    if encoder.returncode is None:
        encoder.kill()
    await encoder.wait()


async def wait_for_verdict(stage: Stage, verdict: str) -> None:
    async def has_verdict() -> bool:
        await asyncio.sleep(0.1)
        return [row["verdict"] for row in (await stage.control("ingest"))["publishers"]] == [verdict]

    await until(has_verdict, seconds=45)


async def test_an_encoder_is_measured_stops_goes_on_and_is_killed(stage: Stage) -> None:
    event = await stage.event()
    encoder = await encode(event["rtmp_link"], "-re")
    try:
        await wait_for_verdict(stage, "ok")
        sample = (await stage.samples(event))[-1]
        assert abs(sample["frame_rate"] - 25) <= 1
        assert 45_000 < sample["bitrate_audio"] < 85_000
        encoder.send_signal(signal.SIGSTOP)
        await wait_for_verdict(stage, "stopped")
        encoder.send_signal(signal.SIGCONT)
        await wait_for_verdict(stage, "ok")
    finally:
        await end(encoder)
    await until(lambda: has_no_publisher(stage))


@pytest.mark.parametrize(
    ("pace", "verdict"), [(("-readrate", "0.8"), "encoder slower than real time"), ((), "faster than real time")]
)
async def test_the_pace_of_an_encoder_is_named(stage: Stage, pace: tuple[str, ...], verdict: str) -> None:
    encoder = await encode((await stage.event())["rtmp_link"], *pace)
    try:
        await wait_for_verdict(stage, verdict)
    finally:
        await end(encoder)


async def test_a_wrong_key_ends_the_encoder_with_the_reason(stage: Stage) -> None:
    encoder = await encode(f"{stage.addresses.ingest_url}/wrong", "-re")
    _, said = await encoder.communicate()
    assert encoder.returncode != 0
    assert b"unknown stream key" in said
