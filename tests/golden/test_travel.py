"""The view of any past moment equals the snapshot that was published then, field by field."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from golden.player import Clock
from golden.travels import Noted, differences, facts, record
from golden.warp import Warp
from livedeck.monitor import Playback

LATER = 86_400.0
"""Seconds from the show to the look back at it."""


async def _travel(path: Path, noted: list[Noted]) -> list[str]:
    """Return the differences at these moments."""
    await asyncio.sleep(LATER)
    playback = await Playback.open(path, Clock(), noted[-1].at)
    found = []
    for moment in noted:
        await playback.jump(moment.at)
        assert playback.clock.now() == moment.at
        found += [f"{moment.at}: {line}" for line in differences(moment.facts, facts(playback.snapshot))]
    await playback.close()
    return found


def _check(path: Path, scenario: str, seed: int, seconds: float, moments: int) -> None:
    noted = record(path, scenario, seed, seconds, moments)
    assert len(noted) == moments
    assert any(state["qos"]["readings"] for moment in noted for state in moment.facts["events"])
    with asyncio.Runner(loop_factory=Warp) as runner:
        assert runner.run(_travel(path, noted[::-1])) == []


def test_a_moment_is_shown_as_it_stood(tmp_path: Path) -> None:
    _check(tmp_path / "h.sqlite", "bad-night", 1, 900, 20)


@pytest.mark.slow
@pytest.mark.parametrize("scenario", ["bad-night", "late-metrics", "reordered-samples", "broken-json", "clock-skew"])
@pytest.mark.parametrize("seed", [2, 3])
def test_every_moment_is_shown_as_it_stood(tmp_path: Path, scenario: str, seed: int) -> None:
    _check(tmp_path / "h.sqlite", scenario, seed, 1200, 40)
