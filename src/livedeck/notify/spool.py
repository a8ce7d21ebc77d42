"""What must not be lost: who was told of what, and the messages that wait. SQLite beside the history; its only sqlite3
but for the history's own.

A step of the notifier is one transaction, synced to the disk, before anything of it is sent. So a message is sent at
least once, and under one key however often it is tried (notifications.md, "What is guaranteed").
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from livedeck.atomic_file import open_private
from livedeck.monitor import AlarmKey
from livedeck.notify.groups import RATE_WINDOW, Box, Life, Outcome, State, Told
from livedeck.notify.message import Beginning, Entry, Message, Status
from livedeck.text.times import isoformat_utc

_APPLICATION = 0x6C646E73  # "ldns", in the header of our files
_SCHEMA = 2
_TABLES = """
CREATE TABLE life (  -- an alarm that somebody was told of, until its end is told; times in ISO 8601, UTC
    id TEXT PRIMARY KEY, event TEXT NOT NULL, kind TEXT NOT NULL, target TEXT NOT NULL, since TEXT NOT NULL,
    standing_at TEXT NOT NULL, is_answered INTEGER NOT NULL
);
CREATE TABLE notified (life TEXT, route TEXT, stage INTEGER, at TEXT NOT NULL, PRIMARY KEY (life, route));
CREATE TABLE escalated (life TEXT, route TEXT, promise TEXT NOT NULL, PRIMARY KEY (life, route));
CREATE TABLE held (route TEXT, target TEXT, body TEXT NOT NULL);
CREATE TABLE counted (route TEXT, target TEXT, at TEXT NOT NULL  -- an alarm each, lately
);
CREATE TABLE spool (  -- state: waiting, sent, dead
    key TEXT PRIMARY KEY, route TEXT NOT NULL, target TEXT NOT NULL, at TEXT NOT NULL, status TEXT NOT NULL,
    title TEXT NOT NULL, text TEXT NOT NULL, payload TEXT NOT NULL, beginnings TEXT NOT NULL,
    state TEXT NOT NULL, tries INTEGER NOT NULL, answer TEXT NOT NULL
);
CREATE INDEX spool_by_state ON spool (state, at);
"""

KEPT = timedelta(days=1)
"""How long what was sent is kept: the rate counts it."""

DEAD_KEPT = timedelta(days=7)
"""How long what was given up is kept, for a person to have it tried again."""

SEEN_EACH = timedelta(seconds=10)
"""Between two notes of which alarms still stand."""

WAITING, SENT, DEAD = "waiting", "sent", "dead"


class SpoolError(Exception):
    """The spool cannot be used: which file, why, and what to do."""


class NotOnDutyError(SpoolError):
    """Another process tells: what this one would tell, or keep, is that one's."""

    def __init__(self) -> None:
        super().__init__("another collector tells")


class OutdatedError(SpoolError):
    """Another process has told since this one last looked: what this one knows is old."""

    def __init__(self) -> None:
        super().__init__("another collector has told meanwhile")


@dataclass(frozen=True, slots=True)
class Spooled:
    """A message and what became of it. `answer`: what its target said last."""

    message: Message
    state: str = WAITING
    tries: int = 0
    answer: str = ""


def spool_path(history: Path) -> Path:
    """The spool of that history."""
    return history.with_name(f"{history.name}.notify")


@contextmanager
def only_notifier(spool: Path) -> Iterator[None]:
    """Be the one process that notifies from that spool. Raises SpoolError where another one is."""
    try:
        descriptor = open_private(Path(f"{spool}.lock"), os.O_RDWR)
    except OSError as error:
        raise SpoolError(f"{spool}.lock: {error.strerror}; let this user write there") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise SpoolError(f"{spool}: another process notifies from this history; end that one, or let it") from None
        yield
    finally:
        os.close(descriptor)


class Spool:
    """The file, open. One thread at a time; every failure is a SpoolError."""

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
        """Let go of the file."""
        self._db.close()

    @property
    def is_on_duty(self) -> bool:
        """Whether this process is the one that tells: the file has no other."""
        return True

    def may_send(self, key: str) -> bool:
        """Whether that message is still to be sent: nobody else has."""
        del key
        return True

    def state(self, now: datetime, offset: float = 0.0) -> State:
        """What a notifier that begins at `now` goes on from, in its times; `offset` as of `keep`."""
        ahead = timedelta(seconds=offset)
        with self._named():
            told = self._rows("SELECT life, route, stage, at FROM notified")
            escalated = self._rows("SELECT life, route, promise FROM escalated")
            lives = {}
            for life_id, event, kind, target, since, standing_at, is_answered in self._rows("SELECT * FROM life"):
                key = AlarmKey(event, kind, target)
                life = Life(
                    life_id,
                    key,
                    _moment(since),
                    _moment(standing_at),
                    is_answered=bool(is_answered),
                    told={route: Told(stage, _moment(at)) for of_life, route, stage, at in told if of_life == life_id},
                    escalated={route: promise for of_life, route, promise in escalated if of_life == life_id},
                )
                lives[key] = moved(life, -ahead)
            held: dict[Box, tuple[Entry, ...]] = {}
            for route, target, body in self._rows("SELECT route, target, body FROM held ORDER BY rowid"):
                held[Box(route, target)] = (*held.get(Box(route, target), ()), Entry.from_json(body))
            sent = self._recent("SELECT route, target, at FROM spool ORDER BY at", now, ahead)
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
        """Write what a step at `now` came to, whole or not at all; nothing where a restart need not know of it.

        `offset`: seconds that this machine's clock is ahead of these times.
        """
        state, messages, withdrawn = outcome
        ahead = timedelta(seconds=offset)
        lives = [moved(life, ahead) for life in state.told_lives]
        is_news = bool(messages or withdrawn) or self._kept is None or not state.is_kept_as(self._kept)
        if not is_news and (not lives or now - self._kept_at < SEEN_EACH):
            return
        with self._transaction():
            for table in ("life", "notified", "escalated", "held", "counted"):
                self._db.execute(f"DELETE FROM {table}")  # noqa: S608  names of ours
            self._db.executemany(
                "INSERT INTO life VALUES (?, ?, ?, ?, ?, ?, ?)",
                [(life.id, *life.key, _text(life.since), _text(life.standing_at), life.is_answered) for life in lives],
            )
            self._db.executemany(
                "INSERT INTO notified VALUES (?, ?, ?, ?)",
                [(life.id, route, told.stage, _text(told.at)) for life in lives for route, told in life.told.items()],
            )
            self._db.executemany(
                "INSERT INTO escalated VALUES (?, ?, ?)",
                [(life.id, *pair) for life in lives for pair in life.escalated.items()],
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
            "INSERT OR IGNORE INTO spool VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'waiting', 0, '')",
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
                )
                for message in messages
            ],
        )

    def mark(self, key: str, state: str, tries: int, answer: str) -> None:
        """Write what became of a message."""
        with self._transaction():
            self._db.execute(
                "UPDATE spool SET state = ?, tries = ?, answer = ? WHERE key = ?", (state, tries, answer, key)
            )

    def forget_old(self, now: datetime) -> None:
        """Let go of what was sent or given up long ago."""
        with self._transaction():
            for state, kept in (SENT, KEPT), (DEAD, DEAD_KEPT):
                self._db.execute("DELETE FROM spool WHERE state = ? AND at < ?", (state, _text(now - kept)))

    def revive(self) -> int:
        """Have what was given up wait again. Returns how many those are."""
        with self._transaction():
            return self._db.execute("UPDATE spool SET state = 'waiting', tries = 0 WHERE state = 'dead'").rowcount

    def messages(self, state: str) -> tuple[Spooled, ...]:
        """Those in that state, the oldest first."""
        with self._named():
            rows = self._rows(
                "SELECT key, route, target, at, status, title, text, payload, beginnings, state, tries, answer "
                "FROM spool WHERE state = ? ORDER BY at, rowid",
                (state,),
            )
        return tuple(
            Spooled(
                Message(key, route, target, _moment(at), Status(status), title, text, payload, _beginnings(beginnings)),
                *rest,
            )
            for key, route, target, at, status, title, text, payload, beginnings, *rest in rows
        )

    def _rows(self, query: str, values: Iterable[object] = ()) -> list[tuple[Any, ...]]:
        return self._db.execute(query, tuple(values)).fetchall()

    def _prepare(self, *, reads: bool) -> None:
        application, schema = (self._rows(f"PRAGMA {name}")[0][0] for name in ("application_id", "user_version"))
        if (application, schema) == (_APPLICATION, _SCHEMA):
            self._db.execute("PRAGMA synchronous = FULL")
            return
        if reads or application or self._rows("SELECT count(*) FROM sqlite_master")[0][0]:
            raise SpoolError(f"{self._path}: another program or another livedeck made it; move it away")
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        with self._transaction():
            for statement in _TABLES.split(";\n"):
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
            raise SpoolError(f"{self._path}: {error}; check its disk and its folder, or move it away") from error
        except OSError as error:
            raise SpoolError(f"{self._path}: {error.strerror}; let this user write there") from error


def moved(life: Life, ahead: timedelta) -> Life:
    """The same by a clock that is so much ahead, as far as it is kept."""
    return replace(
        life,
        since=life.since + ahead,
        standing_at=life.standing_at + ahead,
        over_since=None,
        told={route: Told(told.stage, told.at + ahead) for route, told in life.told.items()},
        escalated={route: _moved_promise(promise, ahead) for route, promise in life.escalated.items()},
    )


def _moved_promise(promise: str, ahead: timedelta) -> str:
    with suppress(ValueError, OverflowError):  # empty, or of a storage that others may write
        return isoformat_utc(_moment(promise) + ahead) or ""
    return promise


def _text(at: datetime) -> str:
    return at.astimezone(UTC).isoformat()


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _beginnings(text: str) -> tuple[Beginning, ...]:
    return tuple(Beginning(*pair) for pair in json.loads(text))
