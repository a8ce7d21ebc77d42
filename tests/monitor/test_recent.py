"""The newest samples are in a table of their own, which no query reveals; the cost of a tick, as counts."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from random import Random
from statistics import mean, median
from typing import Any

import pytest

from costs import check
from livedeck.monitor import History, Reading, Readings, Snapshot
from livedeck.monitor.history import HistoryReader, published, recording
from livedeck.monitor.history.database import Database
from livedeck.monitor.published.codec import encode
from monitor.recordings import NOW, everything, readings, snapshot, ticking

EVENTS = 200
_TWICE = "SELECT count(*) FROM recent JOIN stream ON stream.id = stream JOIN sample USING (stream) WHERE {same}"
_SAME = "sample.time = recent.time - base"
_ASTRAY = (
    "SELECT count(*) FROM sample JOIN stream ON stream.id = stream WHERE time >= rolled * 60000",
    "SELECT count(*) FROM recent JOIN stream ON stream.id = stream WHERE time - base < rolled * 60000",
    _TWICE.format(same=_SAME),
)
"""Query for rows that are where no query looks for them, or twice."""


def _rows(path: Path, *queries: str) -> list[int]:
    with closing(sqlite3.connect(path)) as db:
        return [db.execute(query).fetchone()[0] for query in queries]


class _Stream:
    """Uneven stream: it lags, pauses, repeats and corrects samples, and begins with a backlog."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._lag = random.choice([0, 0, 5, 70, 400, -500_000])
        self._known: dict[float, Reading] = {}

    def until(self, at: float) -> Readings:
        """Return the newest samples at `at` seconds after NOW."""
        random, start = self._random, max((reading.time for reading in self._known.values()), default=0.0)
        if random.random() < 0.8:
            end = NOW.timestamp() + at - self._lag
            first = max(start + 2.0, end - random.choice([10, 600]))
            for step in range(max(0, int((end - first) / 2))):
                time = first + 2.0 * step
                self._known[time] = Reading(time, random.randint(1, 9) * 1e6, 128e3, 29.97, random.choice([0, 3, 5]))
        if self._known and random.random() < 0.2:
            time = random.choice(sorted(self._known)[-40:])
            self._known[time] = self._known[time]._replace(video=random.randint(1, 9) * 1e6)
        if self._known and random.random() < 0.1:
            time = min(self._known) + 1.0 + random.randint(0, 100)
            self._known.setdefault(time, Reading(time, 5e6, 128e3, 29.97, 0))
        return readings(sorted(self._known.values())[-900:])


@pytest.mark.parametrize("seed", range(8))
async def test_no_query_shows_where_a_sample_lies(tmp_path: Path, seed: int) -> None:
    """Two processes write to the file in turn, and may leave; everything that they stored comes back once."""
    random, path = Random(seed), tmp_path / "deck.sqlite"
    streams = {f"e{number}": _Stream(random) for number in range(4)}
    stored: dict[str, dict[float, Reading]] = {name: {} for name in streams}
    histories = [await History.open(path, NOW) for _ in range(2)]
    reader, at = HistoryReader(path, is_strict=True), 0.0
    for _ in range(25):
        at += random.choice([2.0, 2.0, 20.0, 61.0])
        turn = random.randrange(2)
        known = {name: stream.until(at) for name, stream in streams.items()}
        given = {name: found for name, found in known.items() if len(found)}
        await histories[turn].append(snapshot(given, at))
        assert await histories[turn].flush(), histories[turn].fault
        if random.random() < 0.1:
            await histories[turn].close()
            histories[turn] = await History.open(path, NOW + timedelta(seconds=at))
        for name, found in given.items():
            stored[name] |= {found[index].time: found[index] for index in range(len(found))}
        assert _rows(path, *_ASTRAY) == [0, 0, 0]
    await _compare(reader, stored)
    recording.export(path, tmp_path / "all.livedeck")
    await _compare(HistoryReader(tmp_path / "all.livedeck", is_strict=True), stored)
    for history in histories:
        await history.close()
    assert _rows(path, *_ASTRAY, "SELECT count(*) FROM recent") == [0, 0, 0, 0]
    await _compare(reader, stored)


async def _compare(reader: HistoryReader, stored: dict[str, dict[float, Reading]]) -> None:
    spans = {span.event_id: span for span in await reader.spans()}
    for name, rows in stored.items():
        if not rows:
            continue
        stream = f"stream-{name}"
        found = await reader.readings(name, stream, 0.0, 4e9)
        assert [found[index] for index in range(len(found))] == [rows[time] for time in sorted(rows)]
        (record,) = await reader.streams(name)
        ends = min(rows), max(rows)
        assert (record.samples, record.first.timestamp(), record.last.timestamp()) == (len(rows), *ends)
        assert (spans[name].first.timestamp(), spans[name].last.timestamp()) == ends
        for columns in (1, 7, 500):
            chart = await reader.series(name, stream, ends[0] // 60 * 60, ends[1] + 60.0, columns)
            assert sum(chart.count) == len(rows)


async def test_a_deck_that_is_killed_loses_nothing_that_was_stored(tmp_path: Path) -> None:
    """Its file, copied as it is at this moment, is what a killed process leaves."""
    path, copy = tmp_path / "deck.sqlite", tmp_path / "copy.sqlite"
    history = await History.open(path, NOW)
    rows = ticking(200)
    for end in range(100, 201, 20):
        await history.append(snapshot({"one": readings(rows[:end])}, 2.0 * end))
        assert await history.flush()
    for suffix in ("", "-wal"):
        shutil.copy(f"{path}{suffix}", f"{copy}{suffix}")
    again = await History.open(copy, NOW)
    assert await everything(again) == rows
    await again.append(snapshot({"one": readings(rows)}, 400.0))
    assert await everything(again) == rows
    for opened in (history, again):
        await opened.close()


class _Ticks:
    """Deck of 200 events, each with one more sample in each tick."""

    def __init__(self) -> None:
        self._rows = ticking(300)
        self._end = 100

    def next(self) -> Snapshot:
        self._end += 1
        given = readings(self._rows[self._end - 100 : self._end])
        return snapshot({f"e{number}": given for number in range(EVENTS)}, 2.0 * self._end)


async def test_statements_of_a_tick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    class Traced(sqlite3.Connection):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self.set_trace_callback(seen.append)

    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Traced))
    history, ticks = await History.open(tmp_path / "deck.sqlite", NOW), _Ticks()
    counts = []
    for _ in range(10):
        seen.clear()
        await history.append(ticks.next())
        assert await history.flush()
        counts.append((len(seen), sum(statement == "COMMIT" for statement in seen)))
    await history.close()
    statements, commits = median(count for count, _ in counts), median(commits for _, commits in counts)
    check("history: statements a tick", statements)
    check("history: commits a tick", commits)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_bytes_written_by_a_tick(tmp_path: Path) -> None:
    history, ticks = await History.open(tmp_path / "deck.sqlite", NOW), _Ticks()
    written = []
    for _ in range(91):
        before = _bytes_written()
        await history.append(ticks.next())
        assert await history.flush()
        written.append(_bytes_written() - before)
    await history.close()
    check("history: bytes a tick, median", median(written))
    check("history: bytes a tick, mean", mean(written[1:]))


def _bytes_written() -> int:
    facts = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(facts["wchar"])


def test_calls_that_encode_unchanged_events() -> None:
    given = _Ticks().next()
    before = encode(given)
    again = replace(given, events=tuple(replace(state, phase=replace(state.phase)) for state in given.events))
    with _counted() as calls:
        after = encode(again, before)
    assert after.values == before.values == encode(again).values
    check("history: calls to encode 200 equal events", calls.total())
    db = Database(None)
    segment = published.write(db, None, [given])
    with _counted() as calls:
        published.write(db, segment, [again])
    check("history: calls to write 200 equal events", calls.total())
    db.close()


@contextmanager
def _counted() -> Iterator[Counter[str]]:
    """Count the calls of this thread by kind."""
    calls = Counter[str]()

    def count(_frame: object, kind: str, _argument: object) -> None:
        calls[kind] += kind in {"call", "c_call"}

    profiler = sys.getprofile()
    sys.setprofile(count)
    try:
        yield calls
    finally:
        sys.setprofile(profiler)
