"""Measure the cost of the history (performance.md, "Budgets") against a naive schema of text in the same run.

Run as `python tests/bench/history.py [days]`: a month of ten events at one sample each 2 s, which takes some minutes
and 2 GB of disk under the temporary folder. Prints every figure with its budget, and fails if one is missed. Storing
and reading are judged by the processor time of their thread, the median of many rounds. The time by the clock, in which
the disk and the neighbours of a shared machine count, is printed beside it. A budget in milliseconds is kept too if the
same work on the naive schema, in the same run, takes three times as long.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import sys
import time
from array import array
from collections.abc import Awaitable, Callable, Iterable
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count, islice
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from livedeck.client import Event
from livedeck.monitor import (
    BroadcastState,
    ConnectionState,
    ConnectionStatus,
    EventState,
    HealthAssessment,
    History,
    Phase,
    QosState,
    Readings,
    Snapshot,
)
from livedeck.monitor.history import maintenance, recording
from livedeck.monitor.history.columns import SLOT
from livedeck.monitor.history.database import Database
from livedeck.monitor.history.history import _batch
from livedeck.monitor.history.queries import gather
from livedeck.monitor.history.salvage import salvage
from livedeck.monitor.history.samples import Stream as StoredStream
from livedeck.monitor.history.samples import StreamKey, find_stream, roll_up, store
from livedeck.monitor.history.writer import HistoryWriter

START = datetime(2026, 3, 1, tzinfo=UTC)
EVERY = 2.0
EVENTS = 10
DAY = 86_400.0
COLUMNS = 200
TURNS = 60
TICKS = 360
_NAIVE = "CREATE TABLE sample (event TEXT, stream TEXT, time TEXT, video TEXT, audio TEXT, fps TEXT, status TEXT)"
_NAIVE_INDEX = "CREATE INDEX sample_time ON sample (event, stream, time)"


class Stream:
    """Stream that grows sample by sample, in the form of the monitor."""

    def __init__(self, number: int, known: int, first: int) -> None:
        self.event = Event.model_validate({"id": f"event-{number}", "stream": {"id": f"stream-{number}"}})
        self._next = first
        self.readings = Readings()
        for _ in range(known):
            self.tick()

    def tick(self) -> EventState:
        """Return the stream's event with one sample more, and the newest 3600 of them."""
        new, old = self._next, self.readings
        self._next += 1
        values = (
            START.timestamp() + new * EVERY,
            4.5e6 + new * 104_729 % 600_000 - 300_000,
            128e3 + new * 31 % 900,
            29.97 + new * 17 % 60 / 1000,
        )
        time_, video, audio, fps = (
            (column + array("d", [value]))[-3600:]
            for column, value in zip((old.time, old.video, old.audio, old.fps), values, strict=True)
        )
        self.readings = Readings(time_, video, audio, fps, (old.status + array("q", [0]))[-3600:])
        return EventState(
            self.event, START, Phase(BroadcastState.ON_AIR), QosState(readings=self.readings), HealthAssessment()
        )


def snapshot(streams: list[Stream], at: datetime) -> Snapshot:
    """Return a snapshot in which every stream has one sample more."""
    return Snapshot(0, at, ConnectionStatus(ConnectionState.OK, START), tuple(stream.tick() for stream in streams))


class Naive:
    """Naive schema: text in a table, an index, and a commit each tick."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.db = sqlite3.connect(path, isolation_level=None)
        for statement in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL", _NAIVE, _NAIVE_INDEX):
            self.db.execute(statement)

    def tick(self, numbers: range, step: int) -> None:
        """Store a sample of each stream."""
        self.db.execute("BEGIN")
        when = (START + timedelta(seconds=step * EVERY)).isoformat()
        for number in numbers:
            row = (f"event-{number:036}", f"stream-{number:036}", when, "4500000", "128000", "29.97", "0")
            self.db.execute("INSERT INTO sample VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        self.db.execute("COMMIT")

    def fill_day(self) -> None:
        """Store a day of one stream."""
        self.db.execute("BEGIN")
        self.db.executemany(
            "INSERT INTO sample VALUES (?, ?, ?, '4500000', '128000', '29.97', '0')",
            (
                (f"event-{0:036}", f"stream-{0:036}", (START + timedelta(seconds=step * EVERY)).isoformat())
                for step in range(int(DAY / EVERY))
            ),
        )
        self.db.execute("COMMIT")
        self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def read(self, number: int, seconds: float) -> int:
        """Read every sample of the first `seconds` as numbers."""
        until = (START + timedelta(seconds=seconds)).isoformat()
        rows = self.db.execute(
            "SELECT time, video, audio, fps, status FROM sample WHERE event = ? AND stream = ? AND time < ?",
            (f"event-{number:036}", f"stream-{number:036}", until),
        ).fetchall()
        return len([(datetime.fromisoformat(at).timestamp(), *map(float, rest)) for at, *rest in rows])


async def timed(work: Callable[[], Awaitable[object]], turns: int = TURNS) -> tuple[float, float]:
    """Return the median and the slowest of `turns` turns, in ms."""
    took = []
    for _ in range(turns):
        began = time.perf_counter()
        await work()
        took.append((time.perf_counter() - began) * 1000)
    return median(took), max(took)


class Took(NamedTuple):
    """Milliseconds of a turn: processor time of this thread, and time on the wall."""

    processor: float
    wall: float

    def __str__(self) -> str:
        return f"on the wall {self.wall:.2f}"


def once(work: Callable[[], object]) -> Took:
    """Return the time that one turn takes."""
    processor, wall = time.thread_time(), time.perf_counter()
    work()
    return Took((time.thread_time() - processor) * 1000, (time.perf_counter() - wall) * 1000)


def middle_of(turns: Iterable[Took]) -> Took:
    """Return the median of each figure."""
    return Took(*(median(column) for column in zip(*turns, strict=True)))


def _at(tick: int) -> datetime:
    """Return the time of a tick. No two are equal, because a segment's number is made from its snapshot's time."""
    return START + timedelta(seconds=tick * EVERY)


def _bytes_written() -> int:
    """Return the bytes that this process has written."""
    facts = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(facts["wchar"])


class Report:
    """Printer of figures that remembers whether one missed its budget."""

    def __init__(self) -> None:
        self.missed = False

    def tell(
        self, what: str, figure: float, budget: float | None = None, naive: float | None = None, more: str = ""
    ) -> None:
        """Print a line. See the module for when a budget is kept."""
        kept = budget is None or figure <= budget or (naive is not None and figure <= naive / 3)
        self.missed |= not kept
        words = [f"{what}: {figure:.2f}"]
        words += [f"budget {budget:g}"] if budget else []
        words += [f"naive {naive:.2f}"] if naive else []
        words += [more] if more else []
        sys.stdout.write(f"{', '.join(words)}{'' if kept else '  MISSED'}\n")
        sys.stdout.flush()


async def ticks(folder: Path, report: Report) -> None:
    """Measure a tick of two hundred streams: its cost, the holds of the event loop, and the bytes of a sample."""
    history = await History.open(folder / "ticks.sqlite", START)
    streams = [Stream(number, 600, 0) for number in range(200)]
    lag = asyncio.create_task(worst_lag())
    await asyncio.sleep(0)
    first = snapshot(streams, START)
    took = await timed(lambda: both(history, first), 1)
    lag.cancel()
    report.tell("first answers of 200 streams, 120,000 samples, in the background, ms", took[0])
    with suppress(asyncio.CancelledError):
        await lag
    report.tell("the longest that the event loop was held meanwhile, ms", LAGS[-1] * 1000)
    now = map(_at, count(1))
    made = [snapshot(streams, next(now)) for _ in range(TURNS)]
    after = iter(made)
    middle, slowest = await timed(lambda: both(history, next(after)))
    report.tell(
        "a tick of 200 samples, from the snapshot to the answer of the thread, ms",
        middle,
        more=f"slowest {slowest:.2f}",
    )
    recorder = HistoryWriter(folder / "ticks.sqlite", START, timedelta(days=30), None)
    stored, written = [], []
    last: Snapshot | None = None
    for at in islice(now, TICKS + 1):  # the first stores all samples of the streams
        given = snapshot(streams, at)
        batch, last = _batch(last, given, ""), given
        before = _bytes_written()
        stored.append(once(partial(recorder.write, batch, at)))
        written.append(_bytes_written() - before)
    del stored[0], written[0]
    usual, every = middle_of(stored), [took.processor for took in stored]
    recorder.close()
    naive = Naive(folder / "naive-ticks.sqlite")
    steps = iter(range(TICKS))
    by_text = middle_of(once(lambda: naive.tick(range(200), next(steps))) for _ in range(TICKS)).processor
    report.tell("a tick of 200 samples stored, ms", usual.processor, 3, by_text, f"best {min(every):.2f}, {usual}")
    report.tell("the same with its share of roll-ups, ms", mean(every), more=f"slowest {max(every):.2f}")
    report.tell(
        "kB written by a tick of 200 samples", median(written) / 1e3, 70, more=f"mean {mean(written) / 1e3:.0f}"
    )
    await history.close()
    naive.db.close()


async def published(folder: Path, report: Report) -> None:
    """Measure the cost of stored snapshots: for the thread that stores a tick, for the event loop, and in bytes.

    Ticks with and without snapshots take turns in one run, with a stream that changes only in its samples. The cost of
    a real event is measured with a recording, in which alarms come and go.
    """
    streams = [Stream(number, 600, 0) for number in range(200)]
    now = START
    with_it, without = (HistoryWriter(folder / name, START, timedelta(days=30), None) for name in ("with", "without"))
    stored: list[tuple[Took, Took]] = []
    last: Snapshot | None = None
    for _ in range(TICKS):
        now += timedelta(seconds=EVERY)
        given = snapshot(streams, now)
        batch, last = _batch(last, given, ""), given
        bare = replace(batch, snapshots=())
        stored.append((once(partial(with_it.write, batch, now)), once(partial(without.write, bare, now))))
    every, plain = (middle_of(turns).processor for turns in zip(*stored, strict=True))
    report.tell("a tick of 200 events stored with what was published, of one without, x", every / plain, 3)
    with_it.close()
    without.close()
    history, held = await History.open(folder / "loop", START), []
    for _ in range(TURNS):
        now += timedelta(seconds=EVERY)
        given, began = snapshot(streams, now), time.thread_time()
        await history.append(given)
        held.append((time.thread_time() - began) * 1000)
        await history.flush()
    await history.close()
    report.tell("the event loop of that, all that a tick keeps, ms", median(held))
    with closing(sqlite3.connect(f"file:{RECORDING}?mode=ro", uri=True)) as db:
        size, first, last = db.execute("SELECT sum(length(body)), min(at), max(at) FROM published").fetchone()
        (events,) = db.execute("SELECT count(*) FROM event").fetchone()
    report.tell("MB of an event-day on air", size / events / ((last - first) / 1e6) * DAY / 1e6, 4)


RECORDING = Path(__file__).parents[1] / "golden" / "recordings" / "audio-lost.livedeck"

LAGS = [0.0]


async def worst_lag() -> None:
    """Measure until cancelled how late the event loop reaches a timer of 1 ms."""
    while True:
        began = time.perf_counter()
        await asyncio.sleep(0.001)
        LAGS[-1] = max(LAGS[-1], time.perf_counter() - began - 0.001)


async def both(history: History, given: Snapshot) -> None:
    """Append a snapshot and wait until it is safe."""
    await history.append(given)
    await history.flush()


def fill(path: Path, days: float) -> int:
    """Write a file of ten events over `days`, as a deck leaves it. Return the number of samples."""
    number = int(days * DAY / EVERY)
    base = int(START.timestamp() * 1000)
    streams = [StoredStream(number, base) for number in range(EVENTS)]
    db = Database(path)
    for stream in streams:
        db.run("INSERT INTO event VALUES (?, ?)", (stream.id, f"event-{stream.id}"))
        db.run("INSERT INTO stream VALUES (?, ?, ?, ?, 0)", (stream.id, stream.id, f"stream-{stream.id}", base))
    for first in range(0, number, 90):
        rows = [
            (
                n * 2000 + n * 7919 % 900,
                4_200_000 + n * 104_729 % 600_000,
                128_000 + n * 31 % 900,
                29_970 + n * 17 % 60,
                5 if n % 500 == 0 else 0,
            )
            for n in range(first, min(first + 90, number))
        ]
        with db.transaction():
            for stream in streams:
                store(db, ((stream.id, *row) for row in rows))
                roll_up(db, stream, rows[0][0] // SLOT, rows[-1][0] // SLOT + 1)
    db.close()
    return number * EVENTS


async def month(folder: Path, days: float, report: Report) -> None:
    """Measure size, queries and pruning of the whole file."""
    path = folder / "month.sqlite"
    began = time.perf_counter()
    samples = fill(path, days)
    report.tell(f"made {samples:,} samples, s", time.perf_counter() - began)
    report.tell("bytes a sample, roll-ups included", path.stat().st_size / samples, 27)
    naive = Naive(folder / "naive.sqlite")
    naive.fill_day()
    report.tell("naive: bytes a sample", naive.path.stat().st_size / (DAY / EVERY))
    await queries(path, days, naive, report)
    naive.db.close()
    maintaining(folder, report)
    await pruning(path, days, report)


async def queries(path: Path, days: float, naive: Naive, report: Report) -> None:
    """Measure the queries of the QoS screen's views."""
    end = START.timestamp() + days * DAY
    history = await History.open(path, START + timedelta(days=days))
    db = Database(path, reads=True)
    stream = find_stream(db, StreamKey("event-3", "stream-3"))
    assert stream
    for name, span, budget in (
        ("last hour", 3600.0, 2.0),
        ("24 h", DAY, 25.0),
        ("7 days", 7 * DAY, 75.0),
        ("30 days", 30 * DAY, 300.0),
    ):
        if span > days * DAY:
            continue
        view = partial(history.series, "event-3", "stream-3", end - span, end, COLUMNS)
        middle, slowest = await timed(view)
        by_text = middle_of(once(partial(naive.read, 0, span)) for _ in range(3)).processor if span <= DAY else None
        report.tell(f"{name}, from the question to the answer of the thread, ms", middle, more=f"slowest {slowest:.2f}")
        read = partial(gather, db, stream, end - span, end, COLUMNS)
        took = middle_of(once(read) for _ in range(TURNS))
        report.tell(f"{name} in {COLUMNS} columns, ms", took.processor, budget, by_text, str(took))
    db.close()
    ended = await known(history, end)
    report.tell("30 days of all ten events at once, ms", ended)
    await history.close()


async def known(history: History, end: float) -> float:
    """Return the milliseconds for a chart of the whole time of every event."""
    began = time.perf_counter()
    views = (history.series(f"event-{n}", f"stream-{n}", START.timestamp(), end, COLUMNS) for n in range(EVENTS))
    await asyncio.gather(*views)
    return (time.perf_counter() - began) * 1000


def maintaining(folder: Path, report: Report) -> None:
    """Measure the maintenance of the whole file by `livedeck past`, beside as many copies by hand in the same run."""
    path = folder / "month.sqlite"
    began = time.perf_counter()
    shutil.copy(path, folder / "copy.sqlite")
    with (folder / "copy.sqlite").open("rb") as copied:
        os.fsync(copied.fileno())
    copy = time.perf_counter() - began
    naive = folder / "by-hand.sqlite"
    with closing(sqlite3.connect(folder / "copy.sqlite")) as db:
        began = time.perf_counter()
        db.execute("VACUUM INTO ?", [str(naive)])
        by_hand = time.perf_counter() - began
    report.tell("copying its bytes, s", copy)
    report.tell("VACUUM INTO by hand, s", by_hand)
    works: tuple[tuple[str, float, Callable[[], object]], ...] = (
        ("verify", 6, lambda: maintenance.verify(path)),
        ("vacuum", 6, lambda: maintenance.vacuum(folder / "copy.sqlite")),
        ("export", 6, lambda: recording.export(path, folder / "month.livedeck")),
        ("export of a day of one event", 1, lambda: recording.export(path, folder / "day.livedeck", **_DAY_OF_ONE)),
    )
    for name, budget, work in works:
        began = time.perf_counter()
        work()
        report.tell(f"{name}, of VACUUM INTO by hand, x", (time.perf_counter() - began) / by_hand, budget)
    broken = folder / "broken.sqlite"
    broken.write_bytes(bytes(100) + path.read_bytes()[100:])
    began = time.perf_counter()
    saved = salvage(broken, folder / "saved.sqlite", START + timedelta(days=60)).saved["sample"]
    report.tell("salvage, microseconds a sample", (time.perf_counter() - began) / saved * 1e6)


_DAY_OF_ONE: dict[str, Any] = {
    "event_ids": ("event-3",),
    "since": START + timedelta(hours=6),
    "until": START + timedelta(hours=30),
}


async def pruning(path: Path, days: float, report: Report) -> None:
    """Measure the ticks that prune a day that has grown too old, a step each."""
    now = START + timedelta(days=days + 1)
    history = await History.open(path, now, retention_days=days)
    first = int(days * DAY / EVERY) + 1
    streams = [Stream(number, 1, first) for number in range(EVENTS)]
    middle, slowest = await timed(lambda: both(history, snapshot(streams, now)), 200)
    report.tell("a tick of 10 samples with a step of pruning, ms", middle, 10, more=f"slowest {slowest:.2f}")
    end = START.timestamp() + days * DAY
    middle, slowest = await timed(lambda: history.series("event-3", "stream-3", end - DAY, end, COLUMNS))
    report.tell("24 h while it is pruned, ms", middle, 25, more=f"slowest {slowest:.2f}")
    began = time.perf_counter()
    await history.close()
    report.tell("closing it, ms", (time.perf_counter() - began) * 1000, 2000)


async def measure(days: float) -> int:
    """Measure everything. Return 0 if every budget is kept, else 1."""
    report = Report()
    with TemporaryDirectory() as name:
        await ticks(Path(name), report)
        await published(Path(name), report)
        await month(Path(name), days, report)
    return int(report.missed)


if __name__ == "__main__":
    sys.exit(asyncio.run(measure(float(sys.argv[1]) if len(sys.argv) > 1 else 30)))
