"""A recording: a history that holds some events and a stretch of time, in one file to be carried elsewhere.

Nothing that opens a door is in a history, so none is in a recording (trust.md, "Secrets"). What detection has learnt is
left out: who judges a recording anew begins with its first sample.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from livedeck.atomic_file import AtomicFile
from livedeck.monitor.history import events, journal, published
from livedeck.monitor.history.database import TABLES, Database, StorageError
from livedeck.monitor.history.samples import SLOT
from livedeck.monitor.model.alarm import DECK
from livedeck.monitor.published.difference import Values

_LATEST = 2**52
"""Ms since the epoch, beyond all times."""

_CHOSEN = """
INSERT INTO chosen SELECT name FROM source.event UNION SELECT event FROM source.alarm UNION SELECT ''
    UNION SELECT topic FROM source.journal WHERE kind = 'event'
"""
"""All events, and the deck."""

_SLOTS = f"""
{{column}} >= (:since - base) / {SLOT} * {{unit}} AND {{column}} < (:until - base + {SLOT - 1}) / {SLOT} * {{unit}}
"""
_IN_SLOTS, _IN_MINUTES = _SLOTS.format(column="slot", unit=1), _SLOTS.format(column="time", unit=SLOT)

_COPY = {
    "event": "INSERT INTO event SELECT * FROM source.event WHERE name IN (SELECT name FROM chosen)",
    "stream": "INSERT INTO stream SELECT * FROM source.stream WHERE event IN (SELECT id FROM event)",
    "sample": f"""
        INSERT INTO sample SELECT sample.* FROM stream JOIN source.sample ON sample.stream = stream.id AND {_IN_MINUTES}
    """,  # noqa: S608  constants
    "late": f"""
        INSERT INTO late SELECT late.* FROM stream JOIN source.late ON late.stream = stream.id AND {_IN_MINUTES}
    """,  # noqa: S608  constants
    "rollup": f"""
        INSERT INTO rollup SELECT rollup.* FROM stream JOIN source.rollup ON rollup.stream = stream.id AND {_IN_SLOTS}
    """,  # noqa: S608  constants
    "journal": """
        INSERT INTO journal (kind, at, topic, body) SELECT kind, at, topic, body FROM source.journal
        WHERE at >= :since AND at < :until AND kind <> 'event' AND (:all OR topic IN (SELECT name FROM chosen)
        OR (kind = 'intent' AND json_extract(body, '$.target_id') IN (SELECT name FROM chosen))) ORDER BY id
    """,
    "alarm": """
        INSERT INTO alarm SELECT * FROM source.alarm
        WHERE event IN (SELECT name FROM chosen) AND changed >= :since * 1000 AND since < :until * 1000
    """,
    "answer": """
        INSERT INTO answer SELECT * FROM source.answer
        WHERE event IN (SELECT name FROM chosen) AND at >= :since * 1000 AND at < :until * 1000
    """,
}
"""What is copied of each table, in that order."""


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
            there = {name for (name,) in known.rows(TABLES)}
            with db.transaction():
                if event_ids:
                    db.run_many("INSERT OR IGNORE INTO chosen VALUES (?)", [(name,) for name in (*event_ids, "")])
                else:
                    db.run(_CHOSEN)
                for table, statement in _COPY.items():
                    if table in there:  # an older livedeck's has not all of them
                        db.run(statement, bounds)
                _copy_states(known, db, since, until)
                if "published" in there:
                    keep = partial(_about, chosen={*event_ids, DECK}) if event_ids else None
                    published.copy(known, db, bounds["since"] * 1000, bounds["until"] * 1000, keep)
            db.run("DETACH DATABASE source")
            tables = ("event", "stream", "sample", "journal", "alarm", "answer", "published")
            rows = {table: db.rows(f"SELECT count(*) FROM main.{table}")[0][0] for table in tables}  # noqa: S608  ours
        return Recording(target, rows, file.path.stat().st_size)


def _copy_states(source: Database, target: Database, since: datetime | None, until: datetime | None) -> None:
    """Where the chosen events stood at the beginning, and each change of that."""
    chosen = {name for (name,) in target.rows("SELECT name FROM chosen")}
    stood = (record for record in events.read(source, since, until, None) if record.event_id in chosen)
    journal.write(target, [journal.entry(record, record.at, record.event_id) for record in stood])


_TOLD = ("ended", "changes", "answers", "rule_changes", "bells")
"""What a snapshot tells once."""


def _about(values: Values, chosen: Collection[str]) -> Values:
    """What was published, without the other events, and without lists of what belongs to no event."""
    head, order = values["head"], values["order"]
    alarms = {key: alarm for key, alarm in values["alarms"].items() if alarm.get("event_id", DECK) in chosen}
    return {
        **values,
        "head": {**head, **{name: [item for item in head[name] if _event_of(item) in chosen] for name in _TOLD}},
        "lists": {},
        "alarms": alarms,
        "events": {key: event for key, event in values["events"].items() if key in chosen},
        "order": {
            "events": [key for key in order["events"] if key in chosen],
            "alarms": [key for key in order["alarms"] if key in alarms],
            "quiet": [key for key in order["quiet"] if key in alarms],
        },
    }


def _event_of(item: Any) -> Any:
    """Whose it is that is told: an alarm's key, a change with its alarm, or what names the event itself."""
    if isinstance(item, list):
        return item[0]
    item = item.get("alarm", item)
    return item["key"][0] if "key" in item else item.get("event_id", item.get("id", DECK))


def check_recording(path: Path) -> None:
    """Find out whether that file, a recording or a history, can be replayed. Raises StorageError, saying why not."""
    with closing(Database(path, reads=True)) as db:
        if not db.rows("SELECT 1 FROM sqlite_master WHERE name = 'sample'"):
            raise StorageError(path, "it is empty")
        faults = [text for (text,) in db.rows("PRAGMA quick_check(1)") if text != "ok"]
    if faults:
        raise StorageError(path, f"it is damaged ({faults[0]}): `livedeck history salvage` saves what can be read")
