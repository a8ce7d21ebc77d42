"""Unwatched time over a real socket raises no alarm, is named, and is the same in the history afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from math import inf
from pathlib import Path
from typing import Any

from livedeck.monitor import BroadcastState, History, HistoryReader, Snapshot
from livedeck.monitor.history.recording import export
from livedeck.monitor.judging import Judgement, judge
from livedeck.monitor.published.codec import decode, encode
from livedeck.presentation.events import not_watched_text
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.serialization import event_object
from livedeck.presentation.time_series import recent_series
from livedeck.report.facts import EventFacts, facts_of, gaps_text
from livedeck.report.recorded import gather
from livedeck.report.spans import Span
from monitor.stage import NOW, event
from monitor.wire import Platform, WallClock, run, watch

HOLDS = 120.0
"""Seconds of samples in a response."""


class Holding(Platform):
    """A platform whose responses hold the newest two minutes."""

    def _sent(self) -> list[dict[str, Any]]:
        oldest = self.clock.now() - timedelta(seconds=HOLDS)
        return [row for row in super()._sent() if datetime.fromisoformat(row["time"]) > oldest]


def sleep(platform: Platform, seconds: float, left_at: float = inf) -> Callable[[WallClock], None]:
    def step(clock: WallClock) -> None:
        clock.slept += seconds
        platform.true_clock.slept += seconds
        platform.silent_from = left_at

    return step


def told(snapshots: list[Snapshot]) -> set[str]:
    """Return the words of every alarm of an event."""
    return {
        f"{alarm.kind} {alarm.actual}"
        for snapshot in snapshots
        for alarm in (*snapshot.alarms, *snapshot.quiet)
        if alarm.event_id
    }


def slept() -> list[Snapshot]:
    platform = Holding(event("one"), event("two"))
    return run(watch(platform, 1000, (200, sleep(platform, 600))))


def gaps(snapshot: Snapshot) -> list[tuple[float, float]]:
    state = next(state for state in snapshot.events if state.id == "one")
    return [(gap.since - NOW.timestamp(), gap.until - NOW.timestamp()) for gap in state.qos.not_watched]


def test_a_machine_that_slept_longer_than_responses_reach_blames_no_event() -> None:
    snapshots = slept()
    assert told(snapshots) == set()
    assert {state.phase.tally for snapshot in snapshots for state in snapshot.events} == {BroadcastState.ON_AIR}
    ((since, until),) = gaps(snapshots[-1])
    assert 190 < since <= 200
    assert 800 - HOLDS < until <= 815 - HOLDS
    assert gaps(decode(encode(snapshots[-1]).values)) == [(since, until)]
    (state,) = (state for state in snapshots[-1].events if state.id == "one")
    render_time = RenderTime.from_snapshot(snapshots[-1], snapshots[-1].at)
    begin, end = (NOW + timedelta(seconds=seconds) for seconds in (since, until))
    assert not_watched_text(state) == f"not watched {begin:%H:%M:%S} to {end:%H:%M:%S}Z"
    (shown,) = event_object(state, render_time)["qos"]["not_watched"]
    assert [datetime.fromisoformat(shown[side]) for side in ("since", "until")] == [begin, end]
    series = recent_series(state, render_time, 900.0, 90)
    assert series is not None
    middle = series.axis.column_of(NOW.timestamp() + (since + until) / 2)
    assert middle in series.unwatched
    assert abs(len(series.unwatched) * series.axis.step - (until - since)) < 3 * series.axis.step


def test_an_encoder_that_left_while_the_machine_slept_is_told_as_far_as_it_is_known() -> None:
    platform = Holding(event("one"))
    snapshots = run(watch(platform, 900, (200, sleep(platform, 600, left_at=300))))
    (words,) = told(snapshots)
    assert words.startswith("RECONNECTING no samples, at least since 12:11:")
    assert words.endswith("(not watched before)")


def test_a_platform_that_refuses_for_longer_than_responses_reach_blames_no_event() -> None:
    platform = Holding(event("one"), event("two"))

    def fail(_: WallClock) -> None:
        platform.fails = 503, {}

    def answer(_: WallClock) -> None:
        platform.fails = None

    snapshots = run(watch(platform, 500, (200, fail), (350, answer)))
    assert told(snapshots) == set()
    ((since, until),) = gaps(snapshots[-1])
    assert 25 < until - since < 45


def test_the_history_a_recording_and_a_report_say_the_same(tmp_path: Path) -> None:
    snapshots = slept()
    ((since, until),) = gaps(snapshots[-1])
    judgement, facts = asyncio.run(_written(tmp_path, snapshots))
    assert [comparison for comparison in judgement.alarms if comparison.today] == []
    assert facts.outages == ()
    words = [entry.text for entry in facts.entries if entry.text.startswith("not watched")]
    end = NOW + timedelta(seconds=until)
    assert words == [
        f"not watched for {int(until - since) // 60:02}:{int(until - since) % 60:02}, until {end:%H:%M:%S}Z"
    ]
    assert any("not watched" in sentence for sentence in gaps_text(facts))


async def _written(folder: Path, snapshots: list[Snapshot]) -> tuple[Judgement, EventFacts]:
    """A judgement and a report from a recording of these snapshots."""
    history = await History.open(folder / "history", NOW)
    for snapshot in snapshots:
        await history.append(snapshot)
    await history.close()
    export(folder / "history", folder / "show.livedeck", event_ids=["one"])
    judgement = await judge(folder / "show.livedeck")
    assert judgement is not None
    reader = HistoryReader(folder / "show.livedeck", is_strict=True)
    span = Span(NOW - timedelta(minutes=10), snapshots[-1].at)
    recorded = await gather(reader, span, snapshots[-1].at + timedelta(hours=1), "one")
    record = recorded.events[-1]
    return judgement, facts_of(recorded, record, 99.0, None)
