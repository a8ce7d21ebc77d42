"""A history with two writing processes logs each alarm once, and gives the same alarms when judged again."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import aclosing, closing
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from golden.player import START, Clock, Following, _api
from golden.warp import Warp
from livedeck.monitor import AlarmRecord, AlarmTransition, History, HistoryReader, Monitor
from livedeck.monitor.judging import Judgement, judge
from livedeck.simulator import Simulator, load_scenario

OUTAGES = (18, 22, 27, 33, 41, 70)
"""Seconds for which the restream is away. It counts as a fault after 15; under 30 the moments of the polls decide."""

APART = 97
"""Seconds from one outage to the next: no two begin at the same second of a poll interval."""


def scenario(path: Path) -> Path:
    """Write a scenario whose restream is away for short times."""
    steps, at = [], 30
    for seconds in OUTAGES:
        for begin, connected in ((at, "false"), (at + seconds, "true")):
            steps.append(
                f'[[steps]]\nat = "{_clock(begin)}"\ndo = "restream"\nevent = "Main stage"\n'
                f'restream = "Video share"\nconnected = {connected}\n'
            )
        at += APART + seconds
    path.write_text(f'title = "A restream comes and goes"\nlasts = "{_clock(at)}"\n\n' + "\n".join(steps))
    return path


def _clock(seconds: int) -> str:
    return f"+{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def record(scenario: str | Path, path: Path, *delays: float, seed: int = 1) -> None:
    """Play a scenario to monitors that start at these delays and write the same history."""
    with asyncio.Runner(loop_factory=Warp) as runner:
        runner.run(_record(scenario, path, delays, seed))


async def _record(scenario: str | Path, path: Path, delays: tuple[float, ...], seed: int) -> None:
    clock, lasts = Clock(), load_scenario(scenario).lasts
    with closing(Simulator(seed=seed, clock=Following(clock), scenario=scenario)) as simulator:

        async def watch(number: int, delay: float) -> None:
            await clock.sleep(delay)
            chance = Random(seed + number)
            async with _api(simulator, "in process", clock, chance) as api:
                history = await History.open(path, clock.now())
                monitor = Monitor(api, clock, random=chance, history=history)
                async with aclosing(monitor.snapshots()) as snapshots:
                    async for _ in snapshots:
                        if clock.monotonic() >= lasts:
                            break
                await history.close()

        await asyncio.gather(*(watch(number, delay) for number, delay in enumerate(delays)))


def judged(path: Path) -> Judgement:
    found = asyncio.run(judge(path))
    assert found
    return found


def raises(path: Path) -> Counter[tuple[str, str, str, int]]:
    """Return how often each occurrence of an alarm is logged as raised; onsets within half a minute are one."""
    log: tuple[AlarmRecord, ...] = asyncio.run(HistoryReader(path).alarm_log(START - timedelta(days=1)))
    raised = [record for record in log if record.turn is AlarmTransition.RAISED]
    return Counter(
        (record.event_id, record.kind, record.target, round(record.since.timestamp() / 45)) for record in raised
    )


@pytest.mark.parametrize("delay", [0.7, 2.9, 4.1])
def test_each_outage_of_a_restream_is_told_once_and_told_again_when_judged(tmp_path: Path, delay: float) -> None:
    show, path = scenario(tmp_path / "show.toml"), tmp_path / "deck.sqlite"
    record(show, path, 0.0, delay)
    found = judged(path)
    assert [pair for pair in found.alarms if pair.differences] == []
    assert sum(pair.then is not None for pair in found.alarms) + found.between_polls == len(OUTAGES)
    assert found.between_polls <= sum(seconds < 30 for seconds in OUTAGES)
    assert set(raises(path).values()) == {1}
