"""Recordings and histories that a stranger made to harm their readers, each from an honest file."""

from __future__ import annotations

import os
import shutil
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

RECORDING = Path(__file__).parents[1] / "golden" / "recordings" / "audio-lost.livedeck"

Hostile = Callable[[Path], None]

FILES: dict[str, Hostile] = {}
"""Name -> function that makes an honest copy hostile."""


def hostile(make: Hostile) -> Hostile:
    """Register a function under its name."""
    FILES[make.__name__.replace("_", "-")] = make
    return make


def make(name: str, folder: Path) -> Path:
    """Make a hostile file in a folder."""
    path = Path(shutil.copy(RECORDING, folder / f"{name}.livedeck"))
    FILES[name](path)
    return path


@contextmanager
def changed(path: Path) -> Iterator[sqlite3.Connection]:
    """Change the file by SQL, including its schema."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA writable_schema = ON")
        db.execute("BEGIN")
        yield db
        db.execute("COMMIT")


def script(path: Path, *statements: str) -> None:
    with changed(path) as db:
        for statement in statements:
            db.execute(statement)


def rewritten(path: Path, table: str, sql: str) -> None:
    """Make the schema declare a table differently."""
    with changed(path) as db:
        db.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (sql, table))


def replaced(path: Path, old: str, new: str) -> None:
    with changed(path) as db:
        db.execute("UPDATE sqlite_master SET sql = replace(sql, ?, ?)", (old, new))


_ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"


@hostile
def endless_samples(path: Path) -> None:
    script(
        path,
        "DROP TABLE sample",
        f"CREATE VIEW sample AS {_ENDLESS} SELECT 1 AS stream, x AS time, 1 AS video, 1 AS audio, 1 AS fps, 0 "
        "AS status FROM c",
    )


@hostile
def endless_journal(path: Path) -> None:
    script(
        path,
        "DROP TABLE journal",
        f"CREATE VIEW journal AS {_ENDLESS} SELECT x AS id, 'event' AS kind, x AS at, 'e' AS topic, '[]' AS body "
        "FROM c",
    )


@hostile
def generated_column(path: Path) -> None:
    body = "body TEXT GENERATED ALWAYS AS (hex(zeroblob(400000000))) VIRTUAL"
    script(
        path,
        "ALTER TABLE journal RENAME TO honest",
        f"CREATE TABLE journal (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, at INTEGER NOT NULL, topic TEXT, {body})",
        "INSERT INTO journal (id, kind, at, topic) SELECT id, kind, at, topic FROM honest",
        "DROP TABLE honest",
        "CREATE INDEX journal_by_kind ON journal (kind, at)",
    )


@hostile
def published_in_ages(path: Path) -> None:
    script(path, "UPDATE published SET at = 9000000000000000000")


@hostile
def text_for_a_rate(path: Path) -> None:
    script(path, "UPDATE sample SET video = 'many', fps = 'many', time = time WHERE time % 3 = 0 OR 1")


@hostile
def base_beyond_all_times(path: Path) -> None:
    script(path, f"UPDATE stream SET base = {2**62}")


# --- of our own making


@hostile
def view_of_the_published(path: Path) -> None:
    script(
        path,
        "DROP TABLE published",
        f"CREATE VIEW published AS {_ENDLESS} SELECT x AS segment, 0 AS part, x AS at, 1 AS is_news, x'00' AS body "
        "FROM c",
    )


@hostile
def trigger(path: Path) -> None:
    insert = "INSERT INTO journal (kind, at, topic, body) SELECT kind, at, topic, body FROM journal"
    script(path, f"CREATE TRIGGER grow BEFORE DELETE ON sample BEGIN {insert}; END")


@hostile
def stored_column(path: Path) -> None:
    replaced(path, "status INTEGER, PRIMARY", "status INTEGER AS (length(hex(zeroblob(400000000)))) STORED, PRIMARY")


@hostile
def virtual_table(path: Path) -> None:
    script(path, "CREATE VIRTUAL TABLE words USING fts5(body)", "INSERT INTO words VALUES ('goal')")


@hostile
def virtual_journal(path: Path) -> None:
    script(path, "DROP TABLE journal", "CREATE VIRTUAL TABLE journal USING fts5(id, kind, at, topic, body)")


@hostile
def index_of_an_expression(path: Path) -> None:
    script(path, "CREATE INDEX slow ON journal (length(hex(body)))")


@hostile
def check_with_a_function(path: Path) -> None:
    replaced(path, "name TEXT NOT NULL UNIQUE", "name TEXT NOT NULL UNIQUE CHECK (length(randomblob(900000000)))")


@hostile
def default_with_a_function(path: Path) -> None:
    replaced(path, "topic TEXT, body", "topic TEXT DEFAULT (hex(zeroblob(400000000))), body")


@hostile
def another_collation(path: Path) -> None:
    replaced(
        path,
        "kind TEXT NOT NULL, at INTEGER NOT NULL, topic TEXT",
        "kind TEXT NOT NULL COLLATE theirs, at INTEGER NOT NULL, topic TEXT",
    )


@hostile
def million_tables(path: Path) -> None:
    """Add a million tables: each costs SQLite some hundred bytes before the first query."""
    with changed(path) as db:
        db.execute("PRAGMA writable_schema = ON")
        rows = ((f"t{number}", f"CREATE TABLE t{number} (a, b, c)") for number in range(200_000))
        db.executemany("INSERT INTO sqlite_master VALUES ('table', ?1, ?1, 2, ?2)", ((name, sql) for name, sql in rows))


@hostile
def statement_of_megabytes(path: Path) -> None:
    rewritten(
        path, "event", f"CREATE TABLE event (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) --{'x' * 30_000_000}"
    )


@hostile
def rubbish_in_the_schema(path: Path) -> None:
    script(path, "UPDATE sqlite_master SET sql = 'CREATE TABLE sample (((', rootpage = 1 WHERE name = 'sample'")


@hostile
def two_tables_on_the_schema_page(path: Path) -> None:
    script(path, "UPDATE sqlite_master SET rootpage = 1 WHERE name IN ('sample', 'journal')")


@hostile
def pages_in_circles(path: Path) -> None:
    """Make every page below the samples the same page: twenty times twenty times, without an end."""
    _bomb(path, "sample")


@hostile
def log_in_circles(path: Path) -> None:
    _bomb(path, "journal")


def _bomb(path: Path, table: str) -> None:
    """Build levels of pages, each with many pointers to the one below: countless rows in a file of few pages."""
    with closing(sqlite3.connect(path)) as db:
        ((root,),) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", [table])
        ((page,),) = db.execute("PRAGMA page_size")
    content = bytearray(path.read_bytes())
    is_index = content[(root - 1) * page] in {2, 10}
    leaf = root
    while content[(leaf - 1) * page] in {2, 5}:
        leaf = int.from_bytes(content[(leaf - 1) * page + 8 :][:4])
    template = bytes(content[(leaf - 1) * page : leaf * page])
    count = len(content) // page
    levels = 8
    content += template
    for level in range(levels):
        content += _interior(template, page, is_index=is_index, child=count + level + 1)
    content[(root - 1) * page : root * page] = _interior(template, page, is_index=is_index, child=count + levels + 1)
    content[28:32] = (len(content) // page).to_bytes(4)
    path.write_bytes(content)


def _interior(leaf: bytes, page: int, *, is_index: bool, child: int) -> bytes:
    cells = []
    if is_index:
        place = int.from_bytes(leaf[8:10])
        row = leaf[place : place + leaf[place] + 1]
        cells = [child.to_bytes(4) + row] * (min(100, (page - 100) // (len(row) + 6)))
    else:
        cells = [child.to_bytes(4) + bytes([number]) for number in range(1, 100)]
    body = bytearray(page)
    end, places = page, []
    for cell in cells:
        end -= len(cell)
        body[end : end + len(cell)] = cell
        places.append(end)
    body[:12] = (
        bytes([2 if is_index else 5, 0, 0]) + len(cells).to_bytes(2) + end.to_bytes(2) + b"\0" + child.to_bytes(4)
    )
    for index, place in enumerate(places):
        body[12 + 2 * index : 14 + 2 * index] = place.to_bytes(2)
    return bytes(body)


@hostile
def page_that_is_its_own_child(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        ((root,),) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'sample'")
        ((page,),) = db.execute("PRAGMA page_size")
    content = bytearray(path.read_bytes())
    leaf = bytes(content[(root - 1) * page : root * page])
    content[(root - 1) * page : root * page] = leaf[:8] + root.to_bytes(4) + leaf[12:]
    content[(root - 1) * page] = 2
    path.write_bytes(content)


@hostile
def gigabyte_of_nothing(path: Path) -> None:
    header = path.read_bytes()[:100]
    with path.open("wb") as file:
        file.write(header[:28] + (2**30 // 2048).to_bytes(4) + header[32:])
        file.truncate(2**30)


@hostile
def more_pages_than_it_has(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[28:32] = (2**31 - 2).to_bytes(4)
    path.write_bytes(content)


@hostile
def bomb_in_a_snapshot(path: Path) -> None:
    _published(path, b'{"version":1,"head":[' + b"[]," * 2**24 + b"[]]}")


@hostile
def snapshot_of_empty_lists(path: Path) -> None:
    """Store a snapshot of allowed length that has 2.8 million lists."""
    _published(path, b'{"version":1,"head":[' + b"[]," * (8 * 2**20 // 3 - 20) + b"[]]}")


@hostile
def snapshot_of_other_types(path: Path) -> None:
    """Store texts in place of numbers, and numbers in place of texts."""
    with changed(path) as db:
        ((body,),) = db.execute("SELECT body FROM published WHERE part = 0 LIMIT 1")
    text = zlib.decompress(body)
    for old, new in ((b'"skew":', b'"skew":"x","was":'), (b'"seq":', b'"seq":"x","was":')):
        text = text.replace(old, new)
    _published(path, text)


@hostile
def snapshot_with_samples_of_no_time(path: Path) -> None:
    with changed(path) as db:
        bodies = [body for (body,) in db.execute("SELECT body FROM published WHERE part = 0 ORDER BY at")]
    text = zlib.decompress(bodies[-1])
    start = text.index(b'"samples":[') if b'"samples":[' in text else text.index(b'"events":{')
    _published(path, text[:start] + b'"samples":["s",1e300,-7],"x":[' + text[start:].split(b"[", 1)[1])


def _published(path: Path, text: bytes) -> None:
    body = zlib.compress(text, 9)
    with changed(path) as db:
        db.execute("DELETE FROM published WHERE part > 0")
        db.execute("UPDATE published SET body = ?", [body])


@hostile
def segment_that_goes_back_in_time(path: Path) -> None:
    script(path, "UPDATE published SET at = at - 3600000000 WHERE part > 1")


@hostile
def deep_records(path: Path) -> None:
    with changed(path) as db:
        deep = "[" * 100_000
        db.execute("UPDATE journal SET body = ?", [deep])
        db.execute("UPDATE alarm SET body = ?", [deep])


@hostile
def records_of_no_time_zone(path: Path) -> None:
    script(
        path,
        "UPDATE journal SET body = replace(body, '00Z', '00')",
        "UPDATE journal SET body = replace(body, '2026-', '9999-') WHERE id % 2",
    )


@hostile
def unknown_kinds(path: Path) -> None:
    script(path, "UPDATE journal SET kind = 'theirs' || id")


@hostile
def answers_in_ages(path: Path) -> None:
    script(
        path,
        "INSERT INTO answer VALUES (1, 'uid', 'e', 'AUDIO_LOST', '', 1, 'shelve', 9000000000000000000, "
        "'a', 'critical', 0, NULL, '')",
    )


@hostile
def alarms_of_rubbish(path: Path) -> None:
    script(path, "UPDATE alarm SET body = x'ff00ff', since = 'soon', is_over = 1e308")


@hostile
def rollups_without_end(path: Path) -> None:
    script(path, f"UPDATE rollup SET count = {2**62}, slot = slot + {2**62}")


@hostile
def samples_of_an_eternity(path: Path) -> None:
    script(
        path,
        f"UPDATE sample SET time = {2**62} WHERE time = (SELECT max(time) FROM sample)",
        f"UPDATE sample SET time = -{2**62} WHERE time = (SELECT min(time) FROM sample)",
    )


@hostile
def samples_of_two_centuries(path: Path) -> None:
    """Store samples of two centuries, within the accepted times. No code may do work for each second of them."""
    script(
        path,
        "UPDATE sample SET time = 5000000000000 WHERE time = (SELECT max(time) FROM sample)",
        "UPDATE sample SET time = -1700000000000 WHERE time = (SELECT min(time) FROM sample)",
    )


@hostile
def late_at_a_text(path: Path) -> None:
    script(path, "INSERT INTO late SELECT stream, time, 'late' FROM sample")


@hostile
def learnt_of_megabytes(path: Path) -> None:
    with changed(path) as db:
        db.execute("INSERT INTO learnt SELECT name, 's', 1, ? FROM event", ["[1, " + "[]," * 2**22 + "[]]"])


@hostile
def stream_without_a_base(path: Path) -> None:
    """Remove the base of a stream. The schema says NOT NULL, but SQLite does not check stored rows."""
    with changed(path) as db:
        db.execute(
            "UPDATE sqlite_master SET sql = replace(sql, 'base INTEGER NOT NULL', 'base INTEGER') WHERE name = 'stream'"
        )
    with changed(path) as db:
        db.execute("UPDATE stream SET base = NULL")
    with changed(path) as db:
        db.execute(
            "UPDATE sqlite_master SET sql = replace(sql, 'base INTEGER', 'base INTEGER NOT NULL') WHERE name = 'stream'"
        )


@hostile
def of_another_program(path: Path) -> None:
    script_outside(path, "PRAGMA application_id = 77")


def script_outside(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(statement)


@hostile
def text_of_utf16(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        dump = "\n".join(db.iterdump())
        ids = [db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
    path.unlink()
    with closing(sqlite3.connect(path)) as db:
        db.executescript(f"PRAGMA encoding = 'UTF-16'; {dump}")
        db.executescript(f"PRAGMA application_id = {ids[0]}; PRAGMA user_version = {ids[1]}")


@hostile
def hostile_log_beside_it(path: Path) -> None:
    """Make a history whose newest pages, in its log, turn the samples into a view."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(f"PRAGMA application_id = {0x6C646869}")
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("SELECT count(*) FROM sample").fetchall()
        endless_samples(path)
        copies = {suffix: Path(f"{path}{suffix}").read_bytes() for suffix in ("", "-wal")}
    for suffix, content in copies.items():
        Path(f"{path}{suffix}").write_bytes(content)


@hostile
def bytes_for_a_name(path: Path) -> None:
    script(
        path,
        "UPDATE event SET name = CAST(x'ff1b5b324a00' AS TEXT) WHERE id = 1",
        "UPDATE journal SET body = CAST(x'fffe' AS TEXT)",
    )


@hostile
def escapes_in_names(path: Path) -> None:
    with changed(path) as db:
        db.execute(
            "UPDATE journal SET body = replace(body, 'Main stage', ?)", ["\\u001b]0;owned\\u0007\\u001b[2J\\u0000gala"]
        )


@hostile
def dangling_link(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.parent / "nowhere")


@hostile
def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@hostile
def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
