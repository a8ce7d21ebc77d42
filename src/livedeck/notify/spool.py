"""Durable state of the notifier: notified alarms and unsent messages, in an SQLite file beside the history.

Each step is one transaction, synced to the disk before any of its messages is sent. So each message goes out at least
once, and every try has the same key (notifications.md, "Guarantees").
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from livedeck.atomic_file import open_private
from livedeck.monitor import AlarmKey
from livedeck.notify.groups import RATE_WINDOW, Box, Life, Notified, Outcome, State
from livedeck.notify.message import Beginning, Entry, Message, Open, Status
from livedeck.record import Record
from livedeck.text.times import isoformat_utc

_APPLICATION = 0x6C646E73  # "ldns", in the header of our files
_SCHEMA = 10
_TABLES = """
CREATE TABLE life (  -- a notified alarm, until its end is sent; times in ISO 8601, UTC
    id TEXT PRIMARY KEY, event TEXT NOT NULL, kind TEXT NOT NULL, target TEXT NOT NULL, since TEXT NOT NULL,
    seen_at TEXT NOT NULL, is_handled INTEGER NOT NULL,
    cleared_since TEXT, is_hidden INTEGER NOT NULL DEFAULT 0, is_silenced INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE notified (life TEXT, route TEXT, stage INTEGER, at TEXT NOT NULL, PRIMARY KEY (life, route));
CREATE TABLE escalated (life TEXT, route TEXT, acknowledged_at TEXT NOT NULL, PRIMARY KEY (life, route));
CREATE TABLE repeated (life TEXT, route TEXT, at TEXT NOT NULL, PRIMARY KEY (life, route));
CREATE TABLE held (route TEXT, target TEXT, body TEXT NOT NULL);
CREATE TABLE counted (route TEXT, target TEXT, at TEXT NOT NULL  -- one row for each recent alarm
);
CREATE TABLE spool (  -- state: waiting, sent, dead
    key TEXT PRIMARY KEY, route TEXT NOT NULL, target TEXT NOT NULL, at TEXT NOT NULL, status TEXT NOT NULL,
    title TEXT NOT NULL, text TEXT NOT NULL, payload TEXT NOT NULL, beginnings TEXT NOT NULL,
    state TEXT NOT NULL, tries INTEGER NOT NULL, answer TEXT NOT NULL,
    ends TEXT NOT NULL DEFAULT '[]', is_urgent INTEGER NOT NULL DEFAULT 0, acknowledged TEXT NOT NULL DEFAULT '[]',
    entries TEXT NOT NULL DEFAULT '[]'
);
CREATE INDEX spool_by_state ON spool (state, at);
CREATE TABLE open (  -- an alarm whose beginning a target took, until it takes the end
    target TEXT, life TEXT, dedup_key TEXT NOT NULL, route TEXT NOT NULL, body TEXT NOT NULL,
    receipt TEXT NOT NULL DEFAULT '', PRIMARY KEY (target, life)
);
"""
_STEPS = {
    3: """
ALTER TABLE spool ADD COLUMN ends TEXT NOT NULL DEFAULT '[]';
ALTER TABLE spool ADD COLUMN is_urgent INTEGER NOT NULL DEFAULT 0
""",
    4: """
ALTER TABLE life ADD COLUMN cleared_since TEXT;
ALTER TABLE life ADD COLUMN is_hidden INTEGER NOT NULL DEFAULT 0
""",
    5: """
CREATE TABLE open (
    target TEXT, life TEXT, dedup_key TEXT NOT NULL, route TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (target, life)
)
""",
    6: """
ALTER TABLE spool ADD COLUMN acknowledged TEXT NOT NULL DEFAULT '[]';
ALTER TABLE open ADD COLUMN receipt TEXT NOT NULL DEFAULT ''
""",
    7: """
CREATE TABLE repeated (life TEXT, route TEXT, at TEXT NOT NULL, PRIMARY KEY (life, route))
""",
    8: """
ALTER TABLE life ADD COLUMN is_silenced INTEGER NOT NULL DEFAULT 0
""",
    9: """
ALTER TABLE spool ADD COLUMN entries TEXT NOT NULL DEFAULT '[]'
""",
}
"""Schema version of a file -> statements that upgrade it to the next version."""

KEPT = timedelta(days=1)
"""Time for which sent messages are kept, because the rate limit counts them."""

DEAD_KEPT = timedelta(days=7)
"""Time for which a person can retry a dead letter."""

SEEN_EACH = timedelta(seconds=10)
"""Time between two writes of the alarms that are still present."""

WAITING, SENT, DEAD = "waiting", "sent", "dead"


class SpoolError(Exception):
    """The spool cannot be used; the text names the file, the reason and a remedy."""


class OldSpoolError(SpoolError):
    """The spool is of an older version, and this process only reads."""


class NotOnDutyError(SpoolError):
    """Another process sends the notifications, so this process sends and stores nothing."""

    def __init__(self) -> None:
        super().__init__("another collector sends the notifications")


class OutdatedError(SpoolError):
    """Another process has sent notifications meanwhile, so the state of this process is outdated."""

    def __init__(self) -> None:
        super().__init__("another collector has sent notifications meanwhile")


class Spooled(Record):
    """A message and its state. `answer`: the last reply of its target."""

    message: Message
    state: str = WAITING
    tries: int = 0
    answer: str = ""


def spool_path(history: Path) -> Path:
    """Return the path of the spool beside a history."""
    return history.with_name(f"{history.name}.notify")


@contextmanager
def only_notifier(spool: Path) -> Iterator[None]:
    """Hold the lock of a spool. Raises SpoolError if another process holds it."""
    try:
        descriptor = open_private(Path(f"{spool}.lock"), os.O_RDWR)
    except OSError as error:
        raise SpoolError(f"{spool}.lock: {error.strerror}; let this user write there") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise SpoolError(f"{spool}: another process sends notifications from this history; stop it first") from None
        yield
    finally:
        os.close(descriptor)


class Spool:
    """An open spool file, for one thread at a time. Every failure is a SpoolError."""

    def __init__(self, path: Path, *, reads: bool = False) -> None:
        self._path = path
        self._kept: State | None = None
        self._kept_at = datetime.min.replace(tzinfo=UTC)
        with self._named():
            if not reads:
                os.close(open_private(path, os.O_RDWR))
            place = f"{path.absolute().as_uri()}?mode={'ro' if reads else 'rwc'}"
            self._db = sqlite3.connect(place, uri=True, isolation_level=None, check_same_thread=False, timeout=5.0)
            try:
                self._prepare(reads=reads)
            except BaseException:
                self._db.close()
                raise

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @property
    def is_on_duty(self) -> bool:
        """True: the lock keeps other processes out."""
        return True

    def may_send(self, key: str) -> bool:
        """Return True: no other process sends from this file."""
        del key
        return True

    def state(self, now: datetime, offset: float = 0.0) -> State:
        """Return the stored state, with times by the clock of a notifier started at `now`. `offset`: as in `keep`."""
        ahead = timedelta(seconds=offset)
        with self._named():
            notified = self._rows("SELECT life, route, stage, at FROM notified")
            escalated = self._rows("SELECT life, route, acknowledged_at FROM escalated")
            repeated = self._rows("SELECT life, route, at FROM repeated")
            lives = {}
            rows = self._rows(
                "SELECT id, event, kind, target, since, seen_at, cleared_since, is_handled, is_hidden, is_silenced "
                "FROM life"
            )
            for life_id, event, kind, target, since, seen_at, cleared_since, is_handled, is_hidden, is_silenced in rows:
                key = AlarmKey(event, kind, target)
                life = Life(
                    life_id,
                    key,
                    _moment(since),
                    _moment(seen_at),
                    _moment(cleared_since) if cleared_since else None,
                    bool(is_handled),
                    is_hidden=bool(is_hidden),
                    is_silenced=bool(is_silenced),
                    notified={
                        name: Notified(stage, _moment(at)) for owner, name, stage, at in notified if owner == life_id
                    },
                    escalated={name: at for owner, name, at in escalated if owner == life_id},
                    repeated={name: _moment(at) for owner, name, at in repeated if owner == life_id},
                )
                lives[key] = moved(life, -ahead)
            held: dict[Box, tuple[Entry, ...]] = {}
            for route, target, body in self._rows("SELECT route, target, body FROM held ORDER BY rowid"):
                held[Box(route, target)] = (*held.get(Box(route, target), ()), Entry.from_json(body))
            bound = "NOT is_urgent AND acknowledged = '[]'"
            query = f"SELECT route, target, at FROM spool WHERE {bound} ORDER BY at"  # noqa: S608  words of ours
            sent = self._recent(query, now, ahead)
            counted = self._recent("SELECT route, target, at FROM counted ORDER BY at", now, ahead)
        return State(lives=lives, held=held, sent=sent, counted=counted)

    def _recent(self, query: str, now: datetime, ahead: timedelta) -> Mapping[Box, tuple[datetime, ...]]:
        moments: dict[Box, tuple[datetime, ...]] = {}
        for route, target, text in self._rows(query):
            at = _moment(text) - ahead
            if now - RATE_WINDOW < at <= now:
                moments[Box(route, target)] = (*moments.get(Box(route, target), ()), at)
        return moments

    def keep(self, outcome: Outcome, now: datetime, offset: float = 0.0) -> None:
        """Store the outcome of a step at `now` as a whole. Skip an outcome that a restart need not know.

        `offset`: seconds that this machine's clock is ahead of the outcome's times.
        """
        state, messages, withdrawn = outcome
        ahead = timedelta(seconds=offset)
        lives = [moved(life, ahead) for life in state.notified_lives]
        is_news = bool(messages or withdrawn) or self._kept is None or not state.is_kept_as(self._kept)
        if not is_news and (not lives or now - self._kept_at < SEEN_EACH):
            return
        with self._transaction():
            for table in ("life", "notified", "escalated", "repeated", "held", "counted"):
                self._db.execute(f"DELETE FROM {table}")  # noqa: S608  names of ours
            self._db.executemany(
                "INSERT INTO life VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (
                        life.id,
                        *life.key,
                        _text(life.since),
                        _text(life.seen_at),
                        life.is_handled,
                        _text(life.cleared_since) if life.cleared_since else None,
                        life.is_hidden,
                        life.is_silenced,
                    )
                    for life in lives
                ],
            )
            self._db.executemany(
                "INSERT INTO notified VALUES (?, ?, ?, ?)",
                [
                    (life.id, route, last.stage, _text(last.at))
                    for life in lives
                    for route, last in life.notified.items()
                ],
            )
            self._db.executemany(
                "INSERT INTO escalated VALUES (?, ?, ?)",
                [(life.id, *pair) for life in lives for pair in life.escalated.items()],
            )
            self._db.executemany(
                "INSERT INTO repeated VALUES (?, ?, ?)",
                [(life.id, place, _text(at)) for life in lives for place, at in life.repeated.items()],
            )
            self._db.executemany(
                "INSERT INTO held VALUES (?, ?, ?)",
                [(*box, entry.to_json()) for box, entries in state.held.items() for entry in entries],
            )
            self._db.executemany(
                "INSERT INTO counted VALUES (?, ?, ?)",
                [(*box, _text(at + ahead)) for box, moments in state.counted.items() for at in moments],
            )
            self._add(messages, ahead)
            self._db.executemany("DELETE FROM spool WHERE key = ?", [(key,) for key in withdrawn])
        self._kept, self._kept_at = state, now

    def _add(self, messages: Iterable[Message], ahead: timedelta) -> None:
        self._db.executemany(
            "INSERT OR IGNORE INTO spool VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'waiting', 0, '', ?, ?, ?, ?)",
            [
                (
                    message.key,
                    message.route,
                    message.target,
                    _text(message.at + ahead),
                    message.status.value,
                    message.title,
                    message.text,
                    message.payload,
                    json.dumps(message.beginnings),
                    json.dumps(message.ends),
                    message.is_urgent,
                    json.dumps(message.acknowledged),
                    json.dumps(message.entries),
                )
                for message in messages
            ],
        )

    def mark(self, key: str, state: str, tries: int, answer: str, *, is_taken: bool = False, receipt: str = "") -> None:
        """Store the new state of a message, and the alarms that are open at its target.

        `is_taken`: the target has accepted the message. The state SENT implies this. `receipt`: name that the target
        gave to the message.
        """
        with self._transaction():
            self._db.execute(
                "UPDATE spool SET state = ?, tries = ?, answer = ? WHERE key = ?", (state, tries, answer, key)
            )
            for message in (spooled.message for spooled in self._messages("key = ?", key)):
                opens = message.opens if is_taken or state == SENT else ()
                self._db.executemany(
                    "INSERT OR REPLACE INTO open VALUES (?, ?, ?, ?, ?, ?)",
                    [
                        (opened.target, opened.life, opened.dedup_key, opened.route, opened.entry.to_json(), receipt)
                        for opened in opens
                    ],
                )
                ends = message.ends if state != WAITING else ()
                self._db.executemany(
                    "DELETE FROM open WHERE target = ? AND life = ?", [(message.target, life) for life in ends]
                )

    def opens(self) -> tuple[Open, ...]:
        """Return the alarms that are open at each target: the target accepted their beginning but not yet their end."""
        with self._named():
            rows = self._rows("SELECT target, life, dedup_key, route, body, receipt FROM open ORDER BY rowid")
        return tuple(
            Open(target, life, key, route, Entry.from_json(body), receipt)
            for target, life, key, route, body, receipt in rows
        )

    def forget_old(self, now: datetime) -> None:
        """Delete messages that were sent or given up long ago."""
        with self._transaction():
            for state, kept in (SENT, KEPT), (DEAD, DEAD_KEPT):
                self._db.execute("DELETE FROM spool WHERE state = ? AND at < ?", (state, _text(now - kept)))

    def revive(self, keys: Collection[str] = ()) -> int:
        """Put these dead letters back into the queue, all if `keys` is empty. Returns their number."""
        which = _named_keys(keys) if keys else ""
        with self._transaction():
            change = f"UPDATE spool SET state = 'waiting', tries = 0 WHERE state = 'dead'{which}"  # noqa: S608  marks
            return self._db.execute(change, tuple(keys)).rowcount

    def drop(self, keys: Collection[str]) -> int:
        """Delete dead letters, and return their number."""
        with self._transaction():
            change = f"DELETE FROM spool WHERE state = 'dead'{_named_keys(keys)}"  # noqa: S608  marks
            return self._db.execute(change, tuple(keys)).rowcount

    def messages(self, state: str) -> tuple[Spooled, ...]:
        """Return the messages in `state`, oldest first."""
        with self._named():
            return self._messages("state = ?", state)

    def _messages(self, condition: str, value: str) -> tuple[Spooled, ...]:
        columns = (
            "state, tries, answer, key, route, target, at, status, title, text, payload, beginnings, ends, is_urgent,"
            " acknowledged, entries"
        )
        query = f"SELECT {columns} FROM spool WHERE {condition} ORDER BY at, rowid"  # noqa: S608  conditions of ours
        rows = self._rows(query, (value,))
        return tuple(Spooled(_message(*row[3:]), *row[:3]) for row in rows)

    def _rows(self, query: str, values: Iterable[object] = ()) -> list[tuple[Any, ...]]:
        return self._db.execute(query, tuple(values)).fetchall()

    def _prepare(self, *, reads: bool) -> None:
        has_tables = bool(self._rows("SELECT count(*) FROM sqlite_master")[0][0])
        # read after `sqlite_master`, because a process that makes the tables sets these numbers in the same step
        application, schema = (self._rows(f"PRAGMA {name}")[0][0] for name in ("application_id", "user_version"))
        is_ours = application == _APPLICATION and (schema == _SCHEMA or (schema in _STEPS and not reads))
        if reads and application == _APPLICATION and schema in _STEPS:
            raise OldSpoolError(
                f"{self._path}: an older version of livedeck made it; the collector upgrades it at its start"
            )
        if application == _APPLICATION and schema > _SCHEMA:
            raise SpoolError(f"{self._path}: a newer version of livedeck made it; use that version here")
        if reads and not (application or has_tables):
            raise SpoolError(f"{self._path}: it is empty; the collector fills it at its start")
        if not is_ours and (reads or application or has_tables):
            raise SpoolError(f"{self._path}: made by another program or another version of livedeck; move it away")
        if not is_ours:
            self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        if is_ours and schema == _SCHEMA:
            return
        with self._transaction():
            for script in (_STEPS[step] for step in range(schema, _SCHEMA)) if is_ours else (_TABLES,):
                for statement in script.split(";\n"):
                    self._db.execute(statement)
            self._db.execute(f"PRAGMA application_id = {_APPLICATION}")
            self._db.execute(f"PRAGMA user_version = {_SCHEMA}")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._named():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
                raise SpoolError(f"{self._path}: another program has locked it: close that program") from error
            raise SpoolError(f"{self._path}: {error}; check its disk and its folder, or move it away") from error
        except OSError as error:
            raise SpoolError(f"{self._path}: {error.strerror}; let this user write there") from error


def moved(life: Life, ahead: timedelta) -> Life:
    """Return a life with the times of another clock. `ahead`: time by which that clock is ahead of the present one."""
    return replace(
        life,
        since=life.since + ahead,
        seen_at=life.seen_at + ahead,
        cleared_since=life.cleared_since + ahead if life.cleared_since else None,
        notified={route: Notified(last.stage, last.at + ahead) for route, last in life.notified.items()},
        escalated={place: _moved_time(at, ahead) for place, at in life.escalated.items()},
        repeated={place: at + ahead for place, at in life.repeated.items()},
    )


def _moved_time(text: str, ahead: timedelta) -> str:
    with suppress(ValueError, OverflowError):  # empty, or from a store that others can write
        return isoformat_utc(_moment(text) + ahead) or ""
    return text


def _text(at: datetime) -> str:
    return at.astimezone(UTC).isoformat()


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _named_keys(keys: Collection[str]) -> str:
    return f" AND key IN ({', '.join('?' * len(keys))})"


def _message(*columns: Any) -> Message:
    """Return the message of a row."""
    key, route, target, at, status, title, text, payload, beginnings, ends, is_urgent, acknowledged, entries = columns
    return Message(
        key,
        route,
        target,
        _moment(at),
        Status(status),
        title,
        text,
        payload,
        tuple(Beginning(*pair) for pair in json.loads(beginnings)),
        tuple(json.loads(ends)),
        bool(is_urgent),
        tuple(json.loads(acknowledged)),
        entries=tuple(json.loads(entries)),
    )
