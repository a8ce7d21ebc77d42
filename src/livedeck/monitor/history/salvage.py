"""Copies the readable rows of a damaged history into a new one (monitoring.md, "History").

A large file takes minutes, so the work is done in a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from msgspec import field
from pydantic import TypeAdapter, ValidationError

from livedeck.monitor.detection.learnt import parse_learnt
from livedeck.monitor.history import alarm_actions, journal, published, samples, silences, viewers
from livedeck.monitor.history.columns import SLOT, TABLES, Column
from livedeck.monitor.history.database import ADDED, Database, StorageError, check_file, microseconds
from livedeck.monitor.history.foreign import current_stop, open_to_change
from livedeck.monitor.history.pages import PageFile, Row
from livedeck.monitor.history.samples import StreamKey
from livedeck.monitor.model.alarm import Alarm, Severity
from livedeck.monitor.model.records import NotificationRecord
from livedeck.record import Record
from livedeck.text.values import counted

_LIMIT = 900.0
"""Seconds after which the salvage stops. A month of ten events takes six or seven minutes."""

_BATCH = 2000
"""Number of rows in one transaction. It takes a few milliseconds, for which a deck cannot write."""

_BATCH_BYTES = 4 * 2**20
"""Bytes of texts and blobs after which a transaction ends."""

_PATIENCE = 10_000
"""Milliseconds that a statement waits for the deck."""

_ENTRIES = 1000
"""Maximum number of schema entries to read from a damaged file; livedeck's has about twenty."""

_ROLLED_AT_ONCE = 240
"""Number of slots that are rolled up in one transaction."""

_FIRST = datetime(2000, 1, 1, tzinfo=UTC)
"""Earliest plausible time; an earlier time is a sign of damage."""

WORDS = {
    "sample": "samples",
    "journal": "log entries",
    "alarm": "alarms",
    "answer": "alarm actions",
    "silence": "silence actions",
    "viewer_round": "rounds of the probe",
    "published": "published snapshots",
}
"""Table -> words for its rows in the result."""

_EMPTY = "the file is empty: its former contents are unknown"
_FOREIGN = "no part of a history was found: the file is of another kind, or damaged beyond reading"
_UNSEEN = "a changed value in a saved row cannot be detected"

_BEFORE_OTHERS = ("event", "stream", "answer", "silence", "viewer_round", "alarm", "journal", "learnt")


class Salvage(Record):
    """Result of a salvage.

    Attributes:
        saved: Table -> number of saved rows.
        lost: Table -> minimum number of lost rows, because some leave no trace.
        since: First time of a saved row; None if nothing was saved.
        until: Last time of a saved row.
        lost_since: First time of a lost sample; None if no sample is known to be lost.
        lost_until: Last time of a lost sample.
        unreadable: Number of pages that are not fully readable, or are missing at the end of the file.
        fault: Reason why the loss is not fully known: the salvage stopped early, or the file is no history.
    """

    saved: Mapping[str, int] = field(default_factory=dict)
    lost: Mapping[str, int] = field(default_factory=dict)
    since: datetime | None = None
    until: datetime | None = None
    lost_since: datetime | None = None
    lost_until: datetime | None = None
    unreadable: int = 0
    fault: str = ""

    @property
    def text(self) -> str:
        saved = [counted_rows(self.saved[table], words) for table, words in WORDS.items() if self.saved.get(table)]
        lost = [counted_rows(self.lost[table], words) for table, words in WORDS.items() if self.lost.get(table)]
        others = sum(count for table, count in self.lost.items() if table not in WORDS)
        lost += [counted_rows(others, "other rows")] if others else []
        pages = f"{counted(self.unreadable, 'page')} unreadable or cut off, with an unknown number of rows"
        parts = [f"saved: {', '.join(saved) or 'nothing'}{_span(self.since, self.until)}"]
        parts += [f"lost, at least: {', '.join(lost)}{_span(self.lost_since, self.lost_until)}"] if lost else []
        parts += [f"lost: {pages}"] if self.unreadable else []
        parts += [self.fault] if self.fault else []
        parts += ["no lost row found"] if len(parts) == 1 else []
        parts += [_UNSEEN] if saved else []
        return "; ".join(parts)


def counted_rows(count: int, words: str) -> str:
    """Format a number of rows; `words` is a plural, such as `log entries`."""
    if count == 1:
        words = words.replace("entries", "entry").removesuffix("s")
    return f"{count:,} {words}"


def _span(since: datetime | None, until: datetime | None) -> str:
    return f" ({since:%Y-%m-%d %H:%M} to {until:%Y-%m-%d %H:%M}Z)" if since and until else ""


def salvage(damaged: Path, into: Path, now: datetime, *, limit: float = _LIMIT) -> Salvage:
    """Copy the readable rows of `damaged` into the history `into`. Decks may write to it meanwhile.

    A row that `into` already has is not added again. `limit`: seconds after which the salvage stops. Raises
    StorageError or OSError if one of the files cannot be opened.
    """
    check_file(damaged)
    with closing(open_to_change(into)) as db, closing(PageFile(damaged)) as file:
        db.run(f"PRAGMA busy_timeout = {_PATIENCE}")
        work = _Salvage(file, db, now, monotonic() + limit)
        fault = ""
        try:
            work.copy_all()
        except (StorageError, TimeoutError) as error:
            fault = f"stopped early: {error}"
        return work.result(fault)


class _Shape(NamedTuple):
    """Columns of a table, and the form in which SQLite stores its rows. `is_index`: in an index (WITHOUT ROWID)."""

    columns: tuple[Column, ...]
    is_index: bool
    has_number: bool  # the first column is the rowid, which is stored beside the row

    def fits(self, row: Row) -> bool:
        """Return whether the types of a row match the table's. If so, the row's page belongs to the table."""
        return len(row.values) == len(self.columns) and all(
            column.may_miss if value is None else type(value) is column.kind for column, value in self._stored(row)
        )

    def is_sound(self, row: Row) -> bool:
        """Return whether the types and ranges of a row's values match the table's."""
        return len(row.values) == len(self.columns) and all(column.fits(value) for column, value in self._stored(row))

    def _stored(self, row: Row) -> Iterator[tuple[Column, Any]]:
        """Return the columns with their values. SQLite stores NULL for a column that is the rowid."""
        first = row.number if self.has_number and row.values[0] is None else row.values[0]
        return zip(self.columns, (first, *row.values[1:]), strict=True)


class _Target(NamedTuple):
    """Stream of the new file that corresponds to a stream of the damaged file.

    `moved`: milliseconds to add to a time of the damaged file.
    """

    id: int
    base: int
    moved: int


class _Salvage:
    def __init__(self, file: PageFile, db: Database, now: datetime, deadline: float) -> None:
        self._file, self._db, self._deadline = file, db, deadline
        self._stop = current_stop()
        self._earliest, self._latest = _milliseconds(_FIRST), _milliseconds(now + timedelta(days=1))
        self._shapes = _shapes(db)
        self._saved: Counter[str] = Counter()
        self._lost: Counter[str] = Counter()
        self._broken: Counter[str] = Counter()  # rows whose bytes cannot be read
        self._numbers: defaultdict[str, set[int]] = defaultdict(set)  # rowids of the rows found
        self._indexed: defaultdict[str, set[int]] = defaultdict(set)  # rowids in an index
        self._segments: set[int] = set()  # of the snapshots found
        self._since, self._until = self._latest, self._earliest
        self._lost_since, self._lost_until = self._latest, self._earliest
        self._indexed_parts = 0
        self._unreadable: set[int] = set()
        self._strangeness = _EMPTY if file.is_empty else ""
        self._pages: defaultdict[str, list[int]] = defaultdict(list)
        self._events: dict[int, str] = {}
        self._streams: dict[int, tuple[int, str, int]] = {}
        self._targets: dict[int, _Target] = {}
        self._recent: set[tuple[int, int]] = set()  # stream and time of the saved recent samples
        self._slots: dict[int, tuple[int, int]] = {}  # stream -> first and last slot with saved samples

    def copy_all(self) -> None:
        """Copy every table, the small ones first. Raises StorageError or TimeoutError."""
        self._sort_pages()
        for table in _BEFORE_OTHERS:
            self._copy(table, self._row_writer(table))
        self._find_streams()
        self._copy("recent", self._write_recent)
        self._copy("sample", self._write_samples)
        self._roll_up()
        self._copy("rollup", self._write_rollups)
        self._copy("late", self._write_late)
        for table in self._shapes.keys() - {*_BEFORE_OTHERS, "sample", "recent", "rollup", "late"}:
            self._copy(table, self._row_writer(table))
        self._drop_unreadable_parts()
        self._count_lost_samples()

    def result(self, fault: str) -> Salvage:
        """Return the result so far. `fault`: reason why the salvage stopped early."""
        unreadable = len(self._unreadable.difference(self._file.overflows)) + self._file.blank + self._file.missing
        for table in self._broken.keys() | self._indexed.keys():  # a broken row may have an entry in the index
            numbers, indexed = self._numbers[table], self._indexed[table]
            missing = len(indexed - numbers)
            if not unreadable:  # a damaged number is no loss
                missing = len(indexed) - len(numbers)
            self._lost[table] += max(self._broken[table], missing)
        return Salvage(
            {table: count for table, count in self._saved.items() if count},
            {table: count for table, count in self._lost.items() if count},
            *_moments(self._since, self._until),
            *_moments(self._lost_since, self._lost_until),
            unreadable,
            fault or self._strangeness,
        )

    def _sort_pages(self) -> None:
        """Assign each page to a table: by the trees in the schema, otherwise by the form of its rows."""
        seen = set(self._file.free)
        names = {"stream_copy", *self._shapes}
        seen.update(self._file.tree(1))
        entries = [*islice(self._file.schema(), _ENTRIES)]
        ours = [entry for entry in entries if entry.name in names or entry.table in names]
        for entry in ours:
            pages = [number for number in self._file.tree(entry.root) if number not in seen]
            seen.update(pages)
            if entry.kind == "table" and entry.name in self._shapes:
                self._pages[entry.name] += pages
            elif entry.kind == "index":
                self._read_index(entry.name, entry.table, pages)
        if ours or not entries:
            for number in self._file.filled({1, *seen}):
                self._stop.check()
                self._sort_stray(number)
        if not ours and not any(self._pages.values()):
            self._strangeness = self._strangeness or _FOREIGN

    def _sort_stray(self, number: int) -> None:
        page = self._file.page(number)
        if page is None:
            self._unreadable.add(number)
            return
        for table, shape in self._shapes.items():
            if shape.is_index == page.is_index and any(self._may_be(table, row) for row in page.rows):
                self._pages[table].append(number)
                return
        if page.broken:
            self._unreadable.add(number)

    def _may_be(self, table: str, row: Row) -> bool:
        """Return whether a row can belong to a table.

        Rows of `recent` and `sample` differ only in their first number, which is a time or a stream.
        """
        return self._shapes[table].fits(row) and (table != "recent" or row.values[0] > self._earliest)

    def _read_index(self, name: str, table: str, pages: Iterable[int]) -> None:
        """Read ids, names and bases from an index, in case the rows of the table are lost."""
        has_numbers = table in self._shapes and not self._shapes[table].is_index
        for _, values in self._rows(pages):
            match name, values:
                case "sqlite_autoindex_event_1", (str() as event, int() as number):
                    self._events.setdefault(number, event)
                case "stream_copy", (int() as number, int() as event_number, str() as stream, int() as base, _):
                    self._streams.setdefault(number, (event_number, stream, base))
                case "published_by_time", _:
                    self._indexed_parts += 1
            if has_numbers and values and isinstance(values[-1], int):
                self._indexed[table].add(values[-1])

    def _rows(self, pages: Iterable[int], table: str = "") -> Iterator[Row]:
        for number in pages:
            self._check_time()
            page = self._file.page(number)
            if page:
                if page.is_doubtful:
                    self._unreadable.add(number)
                elif table:
                    self._broken[table] += page.broken
                yield from page.rows

    def _check_time(self) -> None:
        if monotonic() > self._deadline:
            raise TimeoutError("time limit reached; run `livedeck past salvage` to continue")
        self._stop.check()

    def _copy(self, table: str, write: Callable[[list[Row]], object]) -> None:
        shape = self._shapes[table]
        for batch in _batches(self._rows(self._pages[table], table)):
            sound = [row for row in batch if shape.is_sound(row)]
            self._numbers[table].update(row.number for row in batch if row.number is not None)
            self._lost[table] += len(batch) - len(sound)
            with self._db.transaction():
                write(sound)
        if table in {"event", "stream"}:  # an index has a copy of their rows
            copies = self._events if table == "event" else self._streams
            count = len(self._numbers[table]) + self._broken.pop(table, 0)
            self._lost[table] = max(0, count - len(copies))
            self._numbers[table] |= copies.keys()

    def _row_writer(self, table: str) -> Callable[[list[Row]], None]:
        if table in {"event", "stream"}:
            return self._note_events if table == "event" else self._note_streams
        shape = self._shapes[table]
        columns = [column.name for column in shape.columns[shape.has_number :]]
        names, marks = ", ".join(columns), ", ".join("?" * len(columns))
        is_there = " AND ".join(f"{name} IS ?" for name in columns)
        unlike = f"WHERE NOT EXISTS (SELECT 1 FROM {table} WHERE {is_there})"  # noqa: S608  the names of our tables
        statement = f"INSERT OR IGNORE INTO {table} ({names}) SELECT {marks} {unlike}"

        def write(rows: list[Row]) -> None:
            values = [row.values[shape.has_number :] for row in rows]
            sound = [row for row in values if is_sound_row(table, dict(zip(columns, row, strict=True)))]
            self._lost[table] += len(rows) - len(sound)
            self._saved[table] += len(sound)
            if sound and table in ADDED:
                self._db.run(ADDED[table])
            if sound:
                self._db.run_many(statement, [(*row, *row) for row in sound])
            if table == "journal":
                self._note_times(row[columns.index("at")] for row in sound)
            elif table == "published":
                self._segments.update(segment for segment, *_ in sound)

        return write

    def _note_events(self, rows: list[Row]) -> None:
        self._events |= {row.number: row.values[1] for row in rows if row.number is not None}

    def _note_streams(self, rows: list[Row]) -> None:
        self._streams |= {row.number: row.values[1:4] for row in rows if row.number is not None}

    def _note_times(self, times: Iterable[int]) -> None:
        plausible = [time for time in times if self._earliest < time < self._latest]
        self._since, self._until = min([self._since, *plausible]), max([self._until, *plausible])

    def _find_streams(self) -> None:
        """Find or create the new file's stream for each stream of the damaged file."""
        with self._db.transaction():
            for number, (event, name, base) in self._streams.items():
                if event not in self._events or base % SLOT or not self._earliest < base < self._latest:
                    self._lost["stream"] += 1
                    continue
                key = StreamKey(self._events[event], name)
                samples.make_stream(self._db, key, base)
                stream = samples.find_stream(self._db, key)
                if stream:
                    self._targets[number] = _Target(stream.id, stream.base, base - stream.base)
        self._saved["event"], self._saved["stream"] = len(self._events), len(self._targets)

    def _write_recent(self, rows: list[Row]) -> None:
        """Save rows of `recent` into `sample`; `_roll_up` then makes their roll-ups."""
        streams = {number: base for number, (_, _, base) in self._streams.items()}
        found = [(streams.get(stream), stream, time, measures) for _, (time, stream, *measures) in rows]
        self._lost["sample"] += sum(base is None for base, *_ in found)
        self._recent |= self._write_samples(
            [Row(None, (stream, time - base, *measures)) for base, stream, time, measures in found if base is not None]
        )

    def _write_samples(self, rows: list[Row]) -> set[tuple[int, int]]:
        """Save samples. Returns the stream and time of each.

        A sample that is also in a free page counts once.
        """
        values = []
        for _, (number, time, *measures) in rows:
            target = self._targets.get(number)
            if target is None or time is None or not self._earliest < target.base + target.moved + time < self._latest:
                self._lost["sample"] += 1
                continue
            moved = time + target.moved
            values.append((target.id, moved, *measures))
            first, last = self._slots.get(target.id, (moved // SLOT, moved // SLOT))
            self._slots[target.id] = min(first, moved // SLOT), max(last, moved // SLOT)
        self._db.run_many("INSERT OR IGNORE INTO sample VALUES (?, ?, ?, ?, ?, ?)", values)
        found = {(stream, time) for stream, time, *_ in values}
        self._saved["sample"] += len(found - self._recent) if self._recent else len(values)
        bases = {target.id: target.base for target in self._targets.values()}
        self._note_times(bases[stream] + time for stream, time, *_ in values)
        return found

    def _roll_up(self) -> None:
        bases = {target.id: target.base for target in self._targets.values()}
        for stream, (first, last) in self._slots.items():
            end = first
            while (slot := samples.next_slot(self._db, stream, end)) is not None and slot <= last:
                end = min(slot + _ROLLED_AT_ONCE, last + 1)
                with self._db.transaction():
                    samples.roll_up(self._db, samples.Stream(stream, bases[stream]), slot, end)

    def _write_rollups(self, rows: list[Row]) -> None:
        """Save the roll-up of a minute if it counts more samples than were saved for that minute."""
        values = []
        for _, (number, slot, *figures) in rows:
            target = self._targets.get(number)
            base = target.base + target.moved if target else 0
            if target is None or slot is None or not self._earliest < base + slot * SLOT < self._latest:
                self._lost["rollup"] += 1
                continue
            values.append((target.id, slot + target.moved // SLOT, *figures))
        samples.keep_rollups(self._db, values)
        self._saved["rollup"] += len(values)

    def _write_late(self, rows: list[Row]) -> None:
        found = [(self._targets.get(number), time, at) for _, (number, time, at) in rows]
        values = [(target.id, time + target.moved, at) for target, time, at in found if target and time is not None]
        self._db.run_many("INSERT OR IGNORE INTO late VALUES (?, ?, ?)", values)
        self._saved["late"] += len(values)

    def _drop_unreadable_parts(self) -> None:
        """Delete the snapshots that cannot be shown, because an earlier part of their segment is lost or damaged."""
        found = self._saved["published"] + self._lost["published"] + self._broken.pop("published", 0)
        self._saved["published"] = 0
        for segment in self._segments:
            self._check_time()
            with self._db.transaction():
                self._saved["published"] += published.keep_readable(self._db, segment)
        self._lost["published"] = max(0, max(found, self._indexed_parts) - self._saved["published"])

    def _count_lost_samples(self) -> None:
        """Count the lost samples, and the lost roll-ups that no sample replaces.

        Roll-ups show how many samples the file lacks, unsound ones included. The result is the larger of that number
        and the number of unreadable samples.
        """
        missing, rollups = 0, 0
        for target in {target.id: target for target in self._targets.values()}.values():
            lost, first, last = samples.missing(self._db, target.id)
            if lost:
                missing += lost
                self._lost_since = min(self._lost_since, target.base + first * SLOT)
                self._lost_until = max(self._lost_until, target.base + (last + 1) * SLOT)
            ((count,),) = self._db.rows("SELECT count(*) FROM rollup WHERE stream = ?", [target.id])
            rollups += count
        self._lost["sample"] = max(self._lost["sample"] + self._broken.pop("sample", 0), missing)
        found = self._saved["rollup"] + self._lost["rollup"] + self._broken.pop("rollup", 0)
        self._lost["rollup"] = max(0, found - rollups)


def _batches(rows: Iterator[Row]) -> Iterator[list[Row]]:
    """Yield the rows in batches, one for each transaction."""
    batch, size = list[Row](), 0
    for row in rows:
        batch.append(row)
        size += sum(len(value) for value in row.values if isinstance(value, str | bytes))
        if len(batch) >= _BATCH or size > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _shapes(db: Database) -> dict[str, _Shape]:
    """Return table -> columns and storage form of its rows."""
    shapes = {}
    scripts = {**ADDED, **dict(db.rows("SELECT name, sql FROM sqlite_master"))}
    for table, columns in TABLES.items():
        script = scripts[table]
        shapes[table] = _Shape(columns, "WITHOUT ROWID" in script, "id INTEGER PRIMARY KEY" in script)
    return shapes


def _is_anything(_row: Mapping[str, Any]) -> bool:
    return True


def _is_entry(row: Mapping[str, Any]) -> bool:
    if row["kind"] == journal.FORGOTTEN:
        return True
    kinds = {name: kind for kind, name in journal.KINDS.items()}
    return row["kind"] in kinds and bool(journal.parse(kinds[row["kind"]], [row["body"]]))


def _is_alarm(row: Mapping[str, Any]) -> bool:
    return bool(journal.parse(Alarm, [row["body"]]))


JUDGED: dict[str, Callable[[Mapping[str, Any]], bool]] = {
    "journal": _is_entry,
    "alarm": _is_alarm,
    "answer": alarm_actions.is_sound,
    "silence": silences.is_sound,
    "viewer_round": lambda row: viewers.is_known((row["delivery"], row["picture"], row["sound"])),
    "learnt": lambda row: parse_learnt(row["body"]) is not None,
}
"""Table -> function that returns whether this version can parse a row (column name -> value)."""


def is_sound_row(table: str, row: Mapping[str, Any]) -> bool:
    """Return whether this version can parse a row (column name -> value) with sound columns."""
    return JUDGED.get(table, _is_anything)(row)


def _milliseconds(at: datetime) -> int:
    return microseconds(at) // 1000


def _moments(since: int, until: int) -> tuple[datetime | None, datetime | None]:
    if since > until:
        return None, None
    return datetime.fromtimestamp(since / 1000, UTC), datetime.fromtimestamp(until / 1000, UTC)


@cache
def _result() -> TypeAdapter[Salvage]:
    return TypeAdapter(Salvage)


def salvage_in_process(damaged: Path, into: Path, now: datetime) -> Salvage:
    """Run `salvage` in a new process, which outlives the caller's process. Blocks: call this in a thread."""
    arguments = [str(damaged), str(into), now.isoformat()]
    try:
        done = subprocess.run(  # noqa: S603  this very program
            [sys.executable, "-P", "-c", f"from {__name__} import main; main()", *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=2 * _LIMIT,
            start_new_session=True,
            check=False,
        )
        return _result().validate_json(done.stdout)
    except (OSError, subprocess.TimeoutExpired, ValidationError) as error:
        return Salvage(fault=f"{type(error).__name__}; run `livedeck past salvage` to retry")


def main() -> None:
    """Run `salvage` for `salvage_in_process`, store a notification, and print the result as JSON."""
    damaged, into, now = sys.argv[1:]
    os.nice(10)
    at = datetime.fromisoformat(now)
    try:
        result = salvage(Path(damaged), Path(into), at)
        record = NotificationRecord(at, Severity.WARNING, f"history {Path(damaged).name}", result.text)
        db = Database(Path(into))
        try:
            db.run(f"PRAGMA busy_timeout = {_PATIENCE}")
            with db.transaction():
                journal.write(db, [journal.entry(record, at, "")])
        finally:
            db.close()
    except (StorageError, OSError) as error:
        result = Salvage(fault=str(error))
    with suppress(OSError):  # the process that reads the result may have ended
        sys.stdout.write(_result().dump_json(result).decode())
        sys.stdout.flush()
