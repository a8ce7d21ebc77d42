"""All readable data of a damaged history is saved, and lost data is reported, for ten kinds of damage.

The damage is done to the bytes, by code that knows only SQLite's format. The result is compared with the written rows,
and with `.recover` of the `sqlite3` shell, where that is installed.
"""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st

from livedeck.monitor import ActionKind, Alarm, AlarmAction, History, Severity
from livedeck.monitor.history.maintenance import vacuum
from livedeck.monitor.history.salvage import Salvage, salvage
from monitor.recordings import NOW, everything, readings, snapshot, ticking
from trials import trials

PAGE = 2048
LATER = NOW + timedelta(hours=2)
SAMPLES = 1500
NAMES = ("one", "two")
Rows: TypeAlias = dict[str, set[tuple[Any, ...]]]


@pytest.fixture(scope="module", params=[False, True], ids=["closed", "running"])
def whole(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """History of two events, with alarms, actions, markers and materials; its log was written back into the file.

    The newest samples are in `sample` if the deck has left, and in `recent` if it runs.
    """
    path = tmp_path_factory.mktemp("whole") / "deck.sqlite"
    asyncio.run(_write(path, is_running=request.param))
    return path


async def _write(path: Path, *, is_running: bool) -> None:
    history = await History.open(path, NOW)
    alarms = tuple(
        Alarm("one", f"KIND{number}", Severity.CRITICAL, NOW, "Evening", "0", "1", changed=NOW) for number in range(30)
    )
    streams = {name: readings(ticking(SAMPLES, start=index)) for index, name in enumerate(NAMES)}
    given = snapshot(streams)
    await history.append(type(given)(0, NOW, given.link, given.events, alarms=alarms))
    for number in range(1, 60):
        later = snapshot({name: readings(()) for name in NAMES[: 1 + number % 2]}, 5.0 * number)
        await history.append(later)
    for number, alarm in enumerate(alarms):
        history.record_alarm_action(
            AlarmAction(f"{number:032x}", alarm.key, NOW, ActionKind.ACKNOWLEDGE, NOW, "anna@desk:1", Severity.WARNING)
        )
        await history.mark("one", NOW + timedelta(minutes=number), f"marker {number} {'x' * 200}")
    await history.mark("two", NOW, "long " * 1500)  # on pages of its own
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    running = shutil.copy(path, path.with_suffix(".running"))
    await history.close()
    if is_running:
        shutil.copy(running, path)
    vacuum(path)


def rows_of(path: Path) -> Rows:
    """Return the rows of a whole file by table, with names and times in place of its numbers."""
    queries = {
        "sample": "SELECT event.name, stream.name, base + time, video, audio, fps, status FROM sample "
        "JOIN stream ON stream.id = stream JOIN event ON event.id = event "
        "UNION SELECT event.name, stream.name, time, video, audio, fps, status FROM recent "
        "JOIN stream ON stream.id = stream JOIN event ON event.id = event",
        "journal": "SELECT kind, at, topic, body FROM journal WHERE kind <> 'notification'",
        "alarm": "SELECT event, kind, target, since, state, changed, is_over, body FROM alarm",
        "answer": "SELECT uid, event, kind, since, at, actor FROM answer",
    }
    found: Rows = {}
    with closing(sqlite3.connect(path)) as db:
        for table, query in queries.items():
            try:
                found[table] = set(db.execute(query))
            except sqlite3.Error:
                found[table] = set()  # what `.recover` made has not even the table
    return found


def root(path: Path, name: str) -> int:
    with closing(sqlite3.connect(path)) as db:
        ((page,),) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", [name])
    return int(page)


@contextmanager
def bytes_of(path: Path) -> Iterator[bytearray]:
    """Yield the bytes of the file, which are written back at the end."""
    content = bytearray(path.read_bytes())
    yield content
    path.write_bytes(content)


def cut_in_the_middle(path: Path) -> None:
    with bytes_of(path) as content:
        del content[len(content) // 2 + 333 :]


def cut_a_page_short(path: Path) -> None:
    """Cut the last pages off, as a full disk does."""
    with bytes_of(path) as content:
        del content[-3 * PAGE + 100 :]


def zero_the_header(path: Path) -> None:
    with bytes_of(path) as content:
        content[:100] = bytes(100)


def zero_the_first_page(path: Path) -> None:
    with bytes_of(path) as content:
        content[:PAGE] = bytes(PAGE)


def fill_pages_with_rubbish(path: Path) -> None:
    with bytes_of(path) as content:
        for page in (len(content) // PAGE // 2, len(content) // PAGE // 3):
            content[page * PAGE : (page + 1) * PAGE] = Random(page).randbytes(PAGE)


def spoil_the_index(path: Path) -> None:
    _overwrite(path, root(path, "journal_by_kind"))


def claim_other_pages(path: Path) -> None:
    with bytes_of(path) as content:
        content[16:18] = (4096).to_bytes(2)


def break_the_free_list(path: Path) -> None:
    with bytes_of(path) as content:
        content[32:40] = (7).to_bytes(4) + (999).to_bytes(4)


def lose_the_samples_root(path: Path) -> None:
    _overwrite(path, root(path, "sample"))


def lose_the_streams(path: Path) -> None:
    """Destroy the one page with the base times of all samples."""
    _overwrite(path, root(path, "stream"))


def rot_the_records(path: Path) -> None:
    with bytes_of(path) as content:
        for number in range(5):
            place = content.find(b'"marker %d x' % number)
            content[place - 20 : place] = b"\xff" * 20


def bring_foreign_rows(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("INSERT INTO sample VALUES (99, 5, 1, 1, 1, 0), (1, 9000000000000000, 1, 1, 1, 0)")
        db.execute("INSERT INTO journal (kind, at, topic, body) VALUES ('theirs', 1, '', 'x'), ('marker', 1, '', '[]')")
        db.execute("INSERT INTO answer SELECT 900, 'u', '', '', '', 0, 'theirs', 1, '', '', 0, 0, ''")


def _overwrite(path: Path, page: int) -> None:
    with bytes_of(path) as content:
        content[(page - 1) * PAGE : page * PAGE] = b"\xff" * PAGE


DAMAGE: dict[Callable[[Path], None], set[str]] = {
    cut_in_the_middle: {"sample", "journal", "alarm", "answer"},
    cut_a_page_short: {"sample", "journal", "alarm", "answer"},
    zero_the_header: set(),
    zero_the_first_page: set(),
    fill_pages_with_rubbish: {"sample", "journal", "alarm", "answer"},
    spoil_the_index: set(),
    claim_other_pages: set(),
    break_the_free_list: set(),
    lose_the_samples_root: {"sample"},
    lose_the_streams: set(),
    rot_the_records: {"journal"},
    bring_foreign_rows: set(),
}
"""Kind of damage -> tables that may lose rows."""


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
def test_all_that_is_left_is_saved_and_what_is_lost_is_said(
    whole: Path, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    written, path, into = rows_of(whole), tmp_path / "damaged.sqlite", tmp_path / "new.sqlite"
    shutil.copy(whole, path)
    damage(path)
    before = path.read_bytes()
    found = salvage(path, into, LATER)
    saved = rows_of(into)
    for table, rows in written.items():
        assert saved[table] <= rows, table  # nothing is made up
        assert len(saved[table]) == found.saved.get(table, 0), table
        if table not in DAMAGE[damage]:
            assert saved[table] == rows, table
        lost = len(rows) - len(saved[table])
        assert found.lost.get(table, 0) >= lost or found.unreadable, table
        assert rows & _recovered(path).get(table, set()) <= saved[table], table
    if damage in {zero_the_header, claim_other_pages, break_the_free_list}:
        assert (found.lost, found.unreadable) == ({}, 0)
    assert len(saved["sample"]) > len(written["sample"]) // 3
    assert path.read_bytes() == before
    again = salvage(path, into, LATER)
    assert (again.saved, rows_of(into)) == (found.saved, saved)  # nothing twice


def _recovered(path: Path) -> Rows:
    """Return the rows that SQLite's shell recovers; nothing where the shell is not installed."""
    shell = shutil.which("sqlite3")
    if not shell:
        return {}
    found = path.with_suffix(".recovered")
    if not found.exists():
        copy = path.with_suffix(".copy")
        shutil.copy(path, copy)
        script = subprocess.run([shell, str(copy), ".recover"], capture_output=True, check=False).stdout
        subprocess.run([shell, str(found)], input=script, capture_output=True, check=False)
    return rows_of(found)


def cut_anywhere(content: bytearray, chance: Random) -> None:
    del content[chance.randrange(1, len(content)) :]


def flip_a_bit(content: bytearray, chance: Random) -> None:
    bit = chance.randrange(8 * len(content))
    content[bit // 8] ^= 1 << bit % 8


@pytest.mark.parametrize("damage", [cut_anywhere, flip_a_bit], ids=lambda damage: damage.__name__)
@given(seed=st.integers(0, 2**64))
@trials(20, phases=[Phase.generate], suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_loss_is_said_wherever_the_damage_is_and_never_exaggerated(
    whole: Path, tmp_path: Path, damage: Callable[[bytearray, Random], None], seed: int
) -> None:
    """A value that changed within a row leaves no trace, and that is said too."""
    path, into = tmp_path / "damaged.sqlite", tmp_path / "new.sqlite"
    shutil.copy(whole, path)
    into.unlink(missing_ok=True)
    with bytes_of(path) as content:
        damage(content, Random(seed))
    found = salvage(path, into, LATER)
    written, saved = (rows_of(of) | {"published": published(of)} for of in (whole, into))
    for table, rows in written.items():
        assert found.saved.get(table, 0) == len(saved[table]), table
        assert found.lost.get(table, 0) <= len(rows - saved[table]), table
        if len(saved[table]) < len(rows):
            assert found.lost.get(table, 0) or found.unreadable, table
            assert "lost" in found.text
        if saved[table] - rows:
            assert "a changed value in a saved row cannot be detected" in found.text


def published(path: Path) -> set[tuple[Any, ...]]:
    """Return the snapshots that a history shows: in each segment, those before the first missing one."""
    with closing(sqlite3.connect(path)) as db:
        rows = set(db.execute("SELECT segment, part, at, body FROM published"))
    keys = {row[:2] for row in rows}
    return {row for row in rows if all((row[0], part) in keys for part in range(row[1]))}


@pytest.mark.parametrize("kind", ["picture", "database"])
def test_a_file_of_another_kind_is_not_taken_for_a_history(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "other.sqlite"
    if kind == "picture":
        path.write_bytes(b"\x89PNG\r\n\x1a\n" + Random(1).randbytes(20 * PAGE))
    else:
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("CREATE TABLE contact (id INTEGER PRIMARY KEY, name TEXT)")
            db.executemany("INSERT INTO contact (name) VALUES (?)", [(str(number),) for number in range(500)])
    found = salvage(path, tmp_path / "new.sqlite", LATER)
    assert (found.saved, "no part of a history was found" in found.text) == ({}, True)


def test_a_history_without_silences_gets_no_table_of_them(whole: Path, tmp_path: Path) -> None:
    """An older version shows no file with a table that it does not know."""
    into = tmp_path / "new.sqlite"
    salvage(whole, into, LATER)
    with closing(sqlite3.connect(into)) as db:
        assert not [*db.execute("SELECT 1 FROM sqlite_master WHERE name = 'silence'")]


@pytest.mark.parametrize("share", range(5, 100, 10))
def test_a_file_that_was_cut_says_so_wherever_it_was_cut(whole: Path, tmp_path: Path, share: int) -> None:
    """The header counts the pages, so it tells of those that are gone."""
    path = tmp_path / "damaged.sqlite"
    content = whole.read_bytes()
    path.write_bytes(content[: len(content) * share // 100])
    found = salvage(path, tmp_path / "new.sqlite", LATER)
    pages, left = len(content) // PAGE, -(-path.stat().st_size // PAGE)
    assert found.unreadable >= pages - left > 0
    assert "cut off" in found.text


def test_an_empty_file_is_not_taken_for_an_empty_history(tmp_path: Path) -> None:
    path = tmp_path / "damaged.sqlite"
    path.touch()
    found = salvage(path, tmp_path / "new.sqlite", LATER)
    assert found.text == "saved: nothing; the file is empty: its former contents are unknown"


def test_the_deck_goes_on_at_once_and_says_what_was_saved(whole: Path, tmp_path: Path) -> None:
    """The new file is open and written to while a process copies; the damaged one stays as it was."""
    path = tmp_path / "deck.sqlite"
    shutil.copy(whole, path)
    zero_the_header(path)
    damaged = path.read_bytes()
    rows = ticking(20, start=7200)

    async def session() -> str:
        history = await History.open(path, LATER)
        assert "it was corrupt; renamed to deck.sqlite.corrupt-20260301T140000Z" in history.fault
        await history.append(snapshot({"one": readings(rows)}, 7200))
        await history.flush()
        assert (await everything(history))[-20:] == rows
        await history.salvaged()
        assert await everything(history) == [*ticking(SAMPLES), *rows]
        assert len(await history.markers("one")) == 30
        assert [record.title for record in await history.notifications(NOW)] == [
            "history deck.sqlite.corrupt-20260301T140000Z"
        ]
        fault = history.fault
        await history.close()
        return fault

    assert "saved: 3,000 samples" in asyncio.run(session())
    assert (tmp_path / "deck.sqlite.corrupt-20260301T140000Z").read_bytes() == damaged


@pytest.mark.parametrize("tear", ["lost", "torn", "rubbish in -shm"])
def test_a_log_that_was_lost_or_torn_costs_what_was_in_it_and_no_more(whole: Path, tmp_path: Path, tear: str) -> None:
    """SQLite itself goes on up to the last transaction that is whole."""
    path, log, index = tmp_path / "deck.sqlite", tmp_path / "deck.sqlite-wal", tmp_path / "deck.sqlite-shm"
    shutil.copy(whole, path)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for number in range(3):
            db.execute("INSERT INTO event (name) VALUES (?)", [f"late {number}"])
        main, written = path.read_bytes(), log.read_bytes()
    path.write_bytes(main)
    log.write_bytes({"lost": b"", "torn": written[:-PAGE], "rubbish in -shm": written}[tear])
    index.write_bytes(b"\xa5" * 32_768)

    async def session() -> None:
        history = await History.open(path, LATER)
        assert history.fault == ""
        assert await everything(history) == ticking(SAMPLES)
        await history.close()

    asyncio.run(session())
    with closing(sqlite3.connect(path)) as db:
        names = [name for (name,) in db.execute("SELECT name FROM event WHERE name LIKE 'late%'")]
    assert len(names) == {"lost": 0, "torn": 2, "rubbish in -shm": 3}[tear]


def test_of_a_damaged_file_the_log_beside_it_is_heeded_as_far_as_it_is_whole(whole: Path, tmp_path: Path) -> None:
    path, into = tmp_path / "damaged.sqlite", tmp_path / "new.sqlite"
    shutil.copy(whole, path)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for number in range(2):
            db.execute("INSERT INTO journal (kind, at, topic, body) SELECT kind, ?, topic, body FROM journal", [number])
        main, written = path.read_bytes(), Path(f"{path}-wal").read_bytes()
    path.write_bytes(main)
    zero_the_header(path)
    Path(f"{path}-wal").write_bytes(written[:-PAGE])
    salvage(path, into, LATER)
    assert {at for _, at, *_ in rows_of(into)["journal"]} >= {0}
    assert 1 not in {at for _, at, *_ in rows_of(into)["journal"]}


@pytest.mark.parametrize(("count", "words"), [(1, "1 silence action"), (2, "2 silence actions")])
def test_a_row_and_several_have_the_words_of_their_number(count: int, words: str) -> None:
    assert Salvage({"silence": count}).text.startswith(f"saved: {words};")
