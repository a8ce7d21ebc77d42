"""A recording: a history that holds some events and a stretch of time, in one file to be carried elsewhere.

Nothing that opens a door is in a history, so none is in a recording (trust.md, "Secrets"). What detection has learnt is
left out: who judges a recording anew begins with its first sample.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from livedeck.atomic_file import AtomicFile
from livedeck.monitor.history import events, journal
from livedeck.monitor.history.database import Database, StorageError
from livedeck.monitor.history.samples import SLOT

_LATEST = 2**52
"""Ms since the epoch, beyond all times."""

_CHOSEN = """
INSERT INTO chosen SELECT name FROM source.event UNION SELECT event FROM source.alarm
    UNION SELECT topic FROM source.journal WHERE kind = 'event';
INSERT OR IGNORE INTO chosen VALUES ('');
"""
"""All events, and the deck."""

_COPY = f"""
INSERT INTO event SELECT * FROM source.event WHERE name IN (SELECT name FROM chosen);
INSERT INTO stream SELECT * FROM source.stream WHERE event IN (SELECT id FROM event);
INSERT INTO sample SELECT sample.* FROM stream JOIN source.sample ON sample.stream = stream.id
    AND time >= (:since - base) / {SLOT} * {SLOT} AND time < (:until - base + {SLOT - 1}) / {SLOT} * {SLOT};
INSERT INTO rollup SELECT rollup.* FROM stream JOIN source.rollup ON rollup.stream = stream.id
    AND slot >= (:since - base) / {SLOT} AND slot < (:until - base + {SLOT - 1}) / {SLOT};
INSERT INTO journal (kind, at, topic, body) SELECT kind, at, topic, body FROM source.journal
    WHERE at >= :since AND at < :until AND kind <> 'event' AND (:all OR topic IN (SELECT name FROM chosen)
    OR (kind = 'intent' AND json_extract(body, '$.target_id') IN (SELECT name FROM chosen))) ORDER BY id;
INSERT INTO alarm SELECT * FROM source.alarm
    WHERE event IN (SELECT name FROM chosen) AND changed >= :since * 1000 AND since < :until * 1000;
INSERT INTO answer SELECT * FROM source.answer
    WHERE event IN (SELECT name FROM chosen) AND at >= :since * 1000 AND at < :until * 1000
"""  # noqa: S608  constants


@dataclass(frozen=True, slots=True)
class Recording:
    """What was written. `rows`: by table. `size`: bytes."""

    path: Path
    rows: Mapping[str, int]
    size: int


def export(
    source: Path,
    target: Path,
    *,
    event_ids: Collection[str] = (),
    since: datetime | None = None,
    until: datetime | None = None,
    replace: bool = False,
) -> Recording:
    """Write what that history knows of these events (none: of all) and of the deck, from then until before then, into
    one file; samples by whole minutes. Decks may be writing meanwhile. Raises StorageError and OSError, FileExistsError
    where the target is there and was not to be replaced.
    """
    bounds = {
        "since": 0 if since is None else journal.milliseconds(since),
        "until": _LATEST if until is None else journal.milliseconds(until),
        "all": not event_ids,
    }
    with AtomicFile(target, replace=replace) as file, closing(Database(source, reads=True)) as known:
        with closing(Database(file.path)) as db:
            db.become_recording()
            db.run("ATTACH DATABASE ? AS source", [f"{source.absolute().as_uri()}?mode=ro"])
            db.run("CREATE TEMP TABLE chosen (name TEXT PRIMARY KEY)")
            with db.transaction():
                if event_ids:
                    db.run_many("INSERT OR IGNORE INTO chosen VALUES (?)", [(name,) for name in (*event_ids, "")])
                else:
                    for statement in _CHOSEN.split(";\n")[:-1]:
                        db.run(statement)
                for statement in _COPY.split(";\n"):
                    db.run(statement, bounds)
                stood = events.read(known, since, until, None)
                chosen = {name for (name,) in db.rows("SELECT name FROM chosen")}
                journal.write(
                    db,
                    [
                        journal.entry(record, record.at, record.event_id)
                        for record in stood
                        if record.event_id in chosen
                    ],
                )
            db.run("DETACH DATABASE source")
            tables = ("event", "stream", "sample", "journal", "alarm", "answer")
            rows = {table: db.rows(f"SELECT count(*) FROM main.{table}")[0][0] for table in tables}  # noqa: S608  ours
        return Recording(target, rows, file.path.stat().st_size)


def check_recording(path: Path) -> None:
    """Find out whether that file, a recording or a history, can be replayed. Raises StorageError, saying why not."""
    if not path.is_file():
        raise StorageError(path, "there is no such file")
    with closing(Database(path, reads=True)) as db:
        if not db.rows("SELECT 1 FROM sqlite_master WHERE name = 'sample'"):
            raise StorageError(path, "it is empty")
        faults = [text for (text,) in db.rows("PRAGMA quick_check(1)") if text != "ok"]
    if faults:
        raise StorageError(path, f"it is damaged ({faults[0]}): `livedeck history salvage` saves what can be read")
