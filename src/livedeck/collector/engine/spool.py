"""Storage of the notifier's state and messages in Redis, for the next notifier to continue.

Every write is refused unless this collector holds the notifier lease (engine.md, "Notifications of several
collectors").
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import is_dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from pydantic import AwareDatetime, TypeAdapter
from pydantic_core import from_json

from livedeck.collector.engine.packets import check_plausible
from livedeck.collector.engine.shared import SharedDesk, SharedStoreError, UnreadableLog
from livedeck.notify import (
    DEAD,
    DEAD_KEPT,
    KEPT,
    RATE_WINDOW,
    SEEN_EACH,
    SENT,
    WAITING,
    Box,
    Entry,
    Life,
    Message,
    NotOnDutyError,
    Open,
    Outcome,
    OutdatedError,
    Spooled,
    SpoolError,
    State,
    moved,
)

_LIFE, _ENTRY, _SPOOLED = TypeAdapter(Life), TypeAdapter(Entry), TypeAdapter(Spooled)
_HELD, _COUNTED = TypeAdapter(tuple[str, str, list[str]]), TypeAdapter(tuple[str, str, list[AwareDatetime]])
_OPENS, _OPEN = TypeAdapter(Open), "open/"
_IN_MEMORY = "; the notifier's state is kept in memory until Redis is back"


T = TypeVar("T")


class SharedSpool:
    """Storage of the notifier in Redis, for one thread at a time.

    `desk_epoch`: returns the epoch of the notifier lease, or None if another collector holds it. `is_apart`: returns
    whether Redis is unreachable; then no call waits for Redis.
    """

    def __init__(
        self, desk: SharedDesk, desk_epoch: Callable[[], int | None], is_apart: Callable[[], bool] = lambda: False
    ) -> None:
        self._desk, self._desk_epoch, self._is_apart = desk, desk_epoch, is_apart
        self._revision = self._read_epoch = 0
        self._kept: State | None = None
        self._kept_at = datetime.min.replace(tzinfo=UTC)
        self._unreadable = UnreadableLog()

    def close(self) -> None:
        self._desk.close()

    @property
    def is_on_duty(self) -> bool:
        """True if this collector holds the notifier lease."""
        return self._desk_epoch() is not None

    def state(self, now: datetime, offset: float = 0.0) -> State:
        """Return the state of the last notifier. Raises SpoolError.

        `now`: present time. `offset`: seconds by which this machine's clock is ahead of the notifier's clock.
        """
        ahead = timedelta(seconds=offset)
        with self._named():
            text, self._revision, self._read_epoch = self._desk.state()
            messages = self._messages()
        self._kept = None
        sent: dict[Box, tuple[datetime, ...]] = {}
        for message in sorted((spooled.message for spooled in messages), key=lambda message: message.at):
            is_counted = not message.is_urgent and not message.acknowledged
            if now - RATE_WINDOW < message.at - ahead <= now and is_counted:
                box = Box(message.route, message.target)
                sent[box] = (*sent.get(box, ()), message.at - ahead)
        values = self._parse_state(text)
        lives = {life.key: moved(life, -ahead) for life in self._readable("notifier state", _LIFE, values.get("lives"))}
        held = {
            Box(route, target): tuple(self._readable("held entry", _ENTRY, entries))
            for route, target, entries in self._readable("held entry", _HELD, values.get("held"))
        }
        counted = {
            Box(route, target): tuple(at - ahead for at in moments)
            for route, target, moments in self._readable("counted message", _COUNTED, values.get("counted"))
        }
        return State(lives=lives, held=held, sent=sent, counted=counted)

    def _parse_state(self, text: str) -> Mapping[str, object]:
        try:
            values = from_json(text) if text else {}
        except ValueError as error:
            self._unreadable.log("notifier state", error)
            values = {}
        return values if isinstance(values, dict) else {}

    def _readable(self, kind: str, adapter: TypeAdapter[T], rows: object) -> Iterator[T]:
        """Yield the readable rows, and log the others. A row is JSON text or parsed JSON."""
        for row in rows if isinstance(rows, list) else ():
            try:
                value = adapter.validate_json(row) if isinstance(row, str) else adapter.validate_python(row)
                if is_dataclass(value) and not isinstance(value, type):
                    check_plausible(value)
            except ValueError as error:
                self._unreadable.log(kind, error)
            else:
                yield value

    def keep(self, outcome: Outcome, now: datetime, offset: float = 0.0) -> None:
        """Write the outcome of a notifier's step in one transaction, if the next notifier needs it.

        Args:
            outcome: New state, new messages, and keys of withdrawn messages.
            now: Time of the step.
            offset: Seconds by which this machine's clock is ahead of the notifier's clock.

        Raises:
            SpoolError: Redis is unreachable or refuses.
            NotOnDutyError: Another collector holds the notifier lease.
            OutdatedError: Another collector has notified since this state was read.
        """
        state, messages, withdrawn = outcome
        is_news = bool(messages or withdrawn) or self._kept is None or not state.is_kept_as(self._kept)
        if not is_news and (not state.notified_lives or now - self._kept_at < SEEN_EACH):
            return
        ahead = timedelta(seconds=offset)
        lives = tuple(moved(life, ahead) for life in state.notified_lives)
        values = {
            "lives": [_LIFE.dump_python(life, mode="json") for life in lives],
            "held": [[*box, [entry.to_json() for entry in entries]] for box, entries in state.held.items()],
            "counted": [[*box, [(at + ahead).isoformat() for at in moments]] for box, moments in state.counted.items()],
        }
        bodies = {message.key: _encode(Spooled(replace(message, at=message.at + ahead))) for message in messages}
        self._revision += 1
        with self._named():
            epoch, news = self._epoch(), bodies | dict.fromkeys(withdrawn, "")
            is_kept = self._desk.keep(epoch, self._read_epoch, self._revision, json.dumps(values), news)
            notifier_epoch = epoch if is_kept else self._desk.state()[2]
        if not is_kept:
            raise OutdatedError if self._read_epoch < notifier_epoch != epoch else NotOnDutyError
        self._kept, self._kept_at, self._read_epoch = state, now, epoch

    def may_send(self, key: str) -> bool:
        """Return whether a message still waits and this collector holds the notifier lease. Raises SpoolError."""
        with self._named():
            text = self._desk.message(key)
            is_ours = self._desk.mark(self._epoch(), {})
        return is_ours and all(spooled.state == WAITING for spooled in self._decoded(text))

    def mark(self, key: str, state: str, tries: int, answer: str, *, is_taken: bool = False, receipt: str = "") -> None:
        """Store the outcome of a message, and update the alarms that are open at its target.

        Raises SpoolError, NotOnDutyError.

        `is_taken`: the target has accepted the message. The state SENT implies this. `receipt`: name that the target
        gave to the message.
        """
        with self._named():
            for spooled in self._decoded(self._desk.message(key)):
                message, rows = spooled.message, {key: _encode(Spooled(spooled.message, state, tries, answer))}
                if is_taken or state == SENT:
                    opens = [replace(opened, receipt=receipt) for opened in _opens(message)]
                    rows |= {_open_key(opened.target, opened.life): _encode_open(opened) for opened in opens}
                if state != WAITING:
                    rows |= {_open_key(message.target, life): "" for life in message.ends}
                self._write(rows)

    def opens(self) -> tuple[Open, ...]:
        """Return the alarms that are open at a target: it took the message about their onset, and none about their end.

        Raises SpoolError.
        """
        with self._named():
            rows = [body for key, body in self._desk.messages().items() if key.startswith(_OPEN)]
        return tuple(self._readable("open alarm", _OPENS, rows))

    def forget_old(self, now: datetime) -> None:
        """Delete messages that were sent or given up long ago. Raises SpoolError, NotOnDutyError."""
        kept = {SENT: KEPT, DEAD: DEAD_KEPT}
        with self._named():
            old = [
                spooled.message.key
                for spooled in self._messages()
                if spooled.state in kept and spooled.message.at < now - kept[spooled.state]
            ]
            if old:
                self._write(dict.fromkeys(old, ""))

    def revive(self, keys: Collection[str] = ()) -> int:
        """Make these dead letters wait again, all if `keys` is empty. Returns their number. Needs no lease.

        Raises SpoolError.
        """
        return self._change_dead(keys, lambda spooled: _encode(replace(spooled, state=WAITING, tries=0)))

    def drop(self, keys: Collection[str]) -> int:
        """Delete dead letters, and return their number. Needs no lease. Raises SpoolError."""
        return self._change_dead(keys, lambda _: "") if keys else 0

    def _change_dead(self, keys: Collection[str], change: Callable[[Spooled], str]) -> int:
        with self._named():
            return self._desk.change_unchanged(
                (key, body, change(spooled))
                for key, body in self._desk.messages().items()
                if not key.startswith(_OPEN)
                for spooled in self._decoded(body)
                if spooled.state == DEAD and (not keys or key in keys)
            )

    def messages(self, state: str) -> tuple[Spooled, ...]:
        """Return the messages in a state, oldest first. Raises SpoolError."""
        with self._named():
            found = [spooled for spooled in self._messages() if spooled.state == state]
        return tuple(sorted(found, key=lambda spooled: spooled.message.at))

    def _messages(self) -> list[Spooled]:
        return self._decoded(*(body for key, body in self._desk.messages().items() if not key.startswith(_OPEN)))

    def _decoded(self, *texts: str) -> list[Spooled]:
        return [*self._readable("message", _SPOOLED, [text for text in texts if text])]

    def _write(self, messages: Mapping[str, str]) -> None:
        if not self._desk.mark(self._epoch(), messages):
            raise NotOnDutyError

    @contextmanager
    def _named(self) -> Iterator[None]:
        if self._is_apart():
            raise SpoolError(f"Redis is unreachable{self._kept_where()}")
        try:
            yield
        except SharedStoreError as error:
            raise SpoolError(f"{error}{self._kept_where()}") from error

    def _kept_where(self) -> str:
        """Return a note on where the notifier's state is now; empty in any other process, which cannot know."""
        return "" if self._desk_epoch() is None else _IN_MEMORY

    def _epoch(self) -> int:
        epoch = self._desk_epoch()
        if epoch is None:
            raise NotOnDutyError
        return epoch


def _open_key(target: str, life: str) -> str:
    return f"{_OPEN}{target}/{life}"


def _opens(message: Message) -> tuple[Open, ...]:
    """Return the alarms that the message opens at its target; none if the message is malformed."""
    try:
        return message.opens
    except (ValueError, KeyError, TypeError):
        return ()


def _encode_open(opened: Open) -> str:
    return _OPENS.dump_json(opened).decode()


def _encode(spooled: Spooled) -> str:
    return _SPOOLED.dump_json(spooled).decode()
