"""A report draws a gap where samples are missing, and nowhere else: in the page's curves and in the terminal's lines.

Each show is written into a history and reported by the command. The test reads the curves back from the page, and
finds the gaps in the samples by arithmetic of its own.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import median
from typing import NamedTuple

from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st

from livedeck.monitor import BroadcastState, EventState, HealthAssessment, History, QosState, Reading, Snapshot
from livedeck.monitor import Phase as EventPhase
from monitor.recordings import readings, snapshot
from monitor.stage import model
from report.test_commands import run
from trials import trials

BEGIN = datetime(2026, 3, 1, 12, tzinfo=UTC)
POLLED = 5.0
"""Seconds between two snapshots of a running deck."""


class Show(NamedTuple):
    """Samples of a show, and the unwatched time; in seconds from its start."""

    length: float
    times: list[float]
    unwatched: tuple[float, float]

    @property
    def spacing(self) -> float:
        """Longest usual time between two samples. A longer time lacks more than one and a half samples."""
        usual = median(after - before for before, after in pairwise(self.times))
        return max(2.5 * usual, usual + 2)

    @property
    def gaps(self) -> list[tuple[float, float]]:
        """Return the samples beside each gap."""
        return [(before, after) for before, after in pairwise(self.times) if after - before > self.spacing]


def make_show(chance: Random) -> Show:
    """Return a show of 30 s to 3 h with a sample each 2 to 30 s, which come early or late, and some outages."""
    length = 30 * 360 ** chance.random()
    cadence = min(chance.uniform(2, 30), length / 4)
    times, at = list[float](), 0.0
    while at < length:
        times.append(round(at, 3))
        at += cadence * chance.uniform(0.85, 1.15)
        if len(times) > 3 and chance.random() < min(0.2, 6 * cadence / length):
            at += cadence * chance.choice((1.1, 3, 10, 30))
    begin = chance.uniform(0, length)
    return Show(length, times, (begin, begin + chance.choice((0, 60, 600))))


async def record(show: Show, path: Path) -> None:
    history = await History.open(path, BEGIN)
    moments = [POLLED * number for number in range(int(show.length / POLLED) + 3)]
    watched = [at for at in moments if not show.unwatched[0] <= at < show.unwatched[1]]
    for at in [*watched, show.length + 700]:
        known = [Reading(BEGIN.timestamp() + time, 4e6, 128e3, 30.0, 0) for time in show.times if time <= at]
        await history.append(_snapshot(show, at, known))
        if at % 600 == 0:
            await history.flush()  # a snapshot holds an hour of samples at most
    await history.close()


def _snapshot(show: Show, at: float, known: list[Reading]) -> Snapshot:
    is_over = at > show.length
    stream = {
        "id": "s1",
        "status": "completed" if is_over else "live",
        "started_at": BEGIN.isoformat(),
        "finished_at": (BEGIN + timedelta(seconds=show.length)).isoformat() if is_over else None,
    }
    tally = BroadcastState.COMPLETED if is_over else BroadcastState.ON_AIR
    state = EventState(
        model(event_id="one", name="Show", stream=stream),
        BEGIN + timedelta(seconds=at),
        EventPhase(tally),
        QosState(readings=readings(known)),
        HealthAssessment(),
    )
    empty = snapshot({}, at)
    return Snapshot(0, empty.at, replace(empty.link, as_of=empty.at), (state,))


def curve(html: str, name: str) -> list[tuple[float, float]]:
    """Return the stretches of a curve of the page, in parts of its width of 1,000."""
    (path,) = re.findall(rf'<path class="line {name}" d="([^"]*)"', html)
    runs = [[float(point.split()[0]) for point in part.split(" L")] for part in path.split("M")[1:]]
    return [(run[0], run[-1]) for run in runs]


def bars(html: str, name: str) -> list[tuple[float, float]]:
    """Return the bars of one kind in the lane of the signal."""
    lane = re.search(r"<title>Signal over time</title>(.*?)</svg>", html)
    assert lane
    found = re.findall(rf'<rect class="{name}" x="([\d.]+)" y="0" width="([\d.]+)"', lane[1])
    return [(float(left), float(left) + float(wide)) for left, wide in found]


@given(seed=st.integers(0, 2**64))
@trials(20, phases=[Phase.generate], suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_a_gap_is_drawn_where_samples_are_missing_and_nowhere_else(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "show.sqlite"
    for old in tmp_path.glob("show.sqlite*"):
        old.unlink()
    show = make_show(Random(seed))
    asyncio.run(record(show, path))
    html = run(path, tmp_path, "past", "report", "Show", "--format", "html")
    _check_page(show, html)
    stretch = ("--from", BEGIN.isoformat(), "--to", (BEGIN + timedelta(seconds=show.length)).isoformat())
    _check_lines(show, run(path, tmp_path, "past", "show", "Show", *stretch))


def _check_page(show: Show, html: str) -> None:
    column, scale = show.length / 400, 1000 / show.length
    for name in ("video", "audio", "fps"):
        drawn = curve(html, name)
        breaks = [(before[1] / scale, after[0] / scale) for before, after in pairwise(drawn)]
        for left, right in breaks:
            assert any(before - column <= left and right <= after + column for before, after in show.gaps), name
        for before, after in show.gaps:
            if after - before > 2 * column:  # at least one whole column has no sample
                assert any(before - column <= left < right <= after + column for left, right in breaks), name
        assert drawn[0][0] / scale <= show.times[0] + column
        assert drawn[-1][1] / scale >= show.times[-1] - column
    signal = [(left / scale, right / scale) for left, right in bars(html, "up")]
    for before, after in pairwise([*show.times, show.length]):
        most = show.spacing if after < show.length else max(show.spacing, 15)  # an encoder may stop before the stream
        middle = (before + after) / 2
        assert any(left <= middle <= right for left, right in signal) == (after - before <= most)
    begin, end = show.unwatched
    for left, right in ((left / scale, right / scale) for left, right in bars(html, "down")):
        margin = 2 / scale  # a bar is at least 1.5 wide
        silent = [*show.gaps, (show.times[-1], show.length)]
        assert any(before - margin <= left and right <= after + margin for before, after in silent)
        assert not (begin + 2 * POLLED < left and right < end - margin), "nobody watched"


def _check_lines(show: Show, text: str) -> None:
    """Check that a line says `no sample` only if a gap covers its whole time."""
    found = re.findall(r"^(\d\d):(\d\d):(\d\d)Z +\d+ .*no sample$", text, re.MULTILINE)
    times = [3600 * (int(hour) - BEGIN.hour) + 60 * int(minute) + int(second) for hour, minute, second in found]
    (minutes, seconds), *_ = re.findall(r"one line per (?:(\d+):)?(\d+)", text)
    for start in times:
        end = start + 60 * int(minutes or 0) + int(seconds)
        assert any(before < start and end <= after for before, after in show.gaps), (start, end)
