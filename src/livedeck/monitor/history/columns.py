"""Types and ranges of the history's columns, to check stored values before use. Pure.

SQLite stores any type in any column, and a file from elsewhere may hold any number. Values are checked when they are
read, not when they are written, because livedeck writes at every tick.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeVar

SLOT = 60_000
"""Milliseconds that one row of the roll-up covers: fine enough for a chart of 24 h in 480 columns."""

RowT = TypeVar("RowT", bound=Sequence[Any])


class UnsoundError(ValueError):
    """A stored value does not fit its column. The message names the table, the column, the expected and found value."""


class Column(NamedTuple):
    """Column of a table.

    `kind`: type of its values. `low`, `high`: range of a number, or of the length of a text (characters) or blob
    (bytes). `may_miss`: NULL is allowed.
    """

    table: str
    name: str
    kind: type
    low: int
    high: int
    may_miss: bool = False

    def fits(self, value: object) -> bool:
        """Return whether the column can hold `value`."""
        if value is None:
            return self.may_miss
        if type(value) is not self.kind:
            return False
        return self.low <= (value if self.kind is int else len(value)) <= self.high  # type: ignore[arg-type, operator]

    @property
    def condition(self) -> str:
        """SQL condition with the meaning of `fits`: true for a sound value, false or NULL otherwise.

        SQLite sorts every text and blob above all numbers, so only numbers can lie in a range. `name | 0` drops a
        fraction, so it equals `name` only for a whole number. A check of each number by `typeof` would take twice as
        long.
        """
        name, low, high = self.name, self.low, self.high
        if self.kind is int:
            fits = f"{name} BETWEEN {low} AND {high} AND {name} = {name} | 0"
        else:
            kind = "text" if self.kind is str else "blob"
            fits = f"typeof({name}) = '{kind}' AND length({name}) BETWEEN {low} AND {high}"
        return f"({name} IS NULL OR {fits})" if self.may_miss else f"({fits})"

    def check(self, values: Iterable[Any]) -> None:
        """Raise UnsoundError if the column cannot hold one of the values."""
        values = list(values)
        kinds = set(map(type, values))
        present = [value for value in values if value is not None] if self.may_miss else values
        is_sound = kinds <= ({self.kind, type(None)} if self.may_miss else {self.kind})
        if is_sound and present:
            sizes = present if self.kind is int else list(map(len, present))
            is_sound = self.low <= min(sizes) and max(sizes) <= self.high
        if not is_sound:
            raise UnsoundError(self.fault(next(value for value in values if not self.fits(value))))

    def fault(self, value: object) -> str:
        """Return the error message for a value that the column cannot hold."""
        found = {str: "a text", bytes: "a blob", float: "a fraction", type(None): "nothing"}.get(type(value), "")
        if type(value) is self.kind and isinstance(value, str | bytes):
            found = f"{len(value):,}"
        wanted = {
            int: f"a whole number from {self.low:,} to {self.high:,}",
            str: f"a text of at most {self.high:,} characters",
            bytes: f"a blob of at most {self.high:,} bytes",
        }[self.kind]
        return f"table {self.table}, column {self.name}: expected {wanted}, found {found or f'{value:,}'}"


_YEAR_2200 = 7_258_118_400
_MS, _US = _YEAR_2200 * 1000, _YEAR_2200 * 1_000_000
_ID = 2**63 - 1
_NAME = 10_000
"""Maximum length of a name, id or reason, in characters."""
_BODY = 2**20
"""Maximum length of a record's JSON, in characters."""
_RATE = 2**62
"""Largest bit rate; `writer.py` stores a larger rate as this number."""


def _columns(*columns: Column) -> dict[str, tuple[Column, ...]]:
    tables: dict[str, tuple[Column, ...]] = {}
    for column in columns:
        tables[column.table] = (*tables.get(column.table, ()), column)
    return tables


def _number(table: str, names: str, low: int, high: int, *, may_miss: bool = False) -> tuple[Column, ...]:
    return tuple(Column(table, name, int, low, high, may_miss) for name in names.split())


def _text(table: str, names: str, high: int = _NAME, *, may_miss: bool = False) -> tuple[Column, ...]:
    return tuple(Column(table, name, str, 0, high, may_miss) for name in names.split())


TABLES = _columns(
    *_number("event", "id", -_ID - 1, _ID),
    *_text("event", "name"),
    *_number("stream", "id event", -_ID - 1, _ID),
    *_text("stream", "name"),
    *_number("stream", "base", 0, _MS),
    *_number("stream", "rolled", -_MS // SLOT, _MS // SLOT),
    *_number("recent", "time", 0, _MS),
    *_number("recent", "stream", -_ID - 1, _ID),
    *_number("recent", "video audio fps", -_RATE, _RATE, may_miss=True),
    *_number("recent", "status", -_ID - 1, _ID, may_miss=True),
    *_number("sample", "stream", -_ID - 1, _ID),
    *_number("sample", "time", -_MS, _MS),
    *_number("sample", "video audio fps", -_RATE, _RATE, may_miss=True),
    *_number("sample", "status", -_ID - 1, _ID, may_miss=True),
    *_number("rollup", "stream", -_ID - 1, _ID),
    *_number("rollup", "slot", -_MS // SLOT, _MS // SLOT),
    *_number("rollup", "count", 0, SLOT),
    *_number("rollup", "video_low video_high audio_low audio_high fps_low fps_high", -_RATE, _RATE, may_miss=True),
    *_number("rollup", "normal key20 key50 loss", 0, SLOT, may_miss=True),
    *_number("rollup", "odd", -_ID - 1, _ID, may_miss=True),
    *_number("journal", "id", -_ID - 1, _ID),
    *_text("journal", "kind"),
    *_number("journal", "at", -_MS, _MS),
    *_text("journal", "topic", may_miss=True),
    *_text("journal", "body", _BODY),
    *_number("answer", "id", -_ID - 1, _ID),
    *_text("answer", "uid event kind target"),
    *_number("answer", "since", 0, _US),
    *_text("answer", "answer"),
    *_number("answer", "at", 0, _US),
    *_text("answer", "actor severity"),
    *_number("answer", "stage", 0, 1_000_000),
    *_number("answer", "until", 0, _US, may_miss=True),
    *_text("answer", "reason"),
    *_number("silence", "id", -_ID - 1, _ID),
    *_text("silence", "uid silence"),
    *_number("silence", "at ends_at", 0, _US),
    *_text("silence", "body", _BODY),
    *_text("viewer_round", "event"),
    *_number("viewer_round", "at", 0, _MS),
    *_text("viewer_round", "delivery picture sound"),
    *_number("viewer_round", "latency ratio luma change loudness peak", -(10**12), 10**12, may_miss=True),
    *_number("viewer_round", "listed missed", 0, 10**12),
    *_text("alarm", "event kind target"),
    *_number("alarm", "since", 0, _US),
    *_text("alarm", "state"),
    *_number("alarm", "changed", 0, _US),
    *_number("alarm", "is_over", 0, 1),
    *_text("alarm", "body", _BODY),
    *_text("learnt", "event stream"),
    *_number("learnt", "at", 0, _MS),
    *_text("learnt", "body", _BODY),
    *_number("published", "segment", 0, _ID),
    *_number("published", "part", 0, 2**31),
    *_number("published", "at", 0, _US),
    *_number("published", "is_news", 0, 1),
    Column("published", "body", bytes, 0, 8 * 2**20),
    *_number("late", "stream", -_ID - 1, _ID),
    *_number("late", "time", -_MS, _MS),
    *_number("late", "at", 0, _US),
)
"""Columns of each table, in the order of its CREATE TABLE."""

_FIGURES = _columns(
    *_number("stream", "moment", -_MS, 2 * _MS),  # base + time
    *_number("sample", "count", 0, 2**53, may_miss=True),
    *_number("sample", "place", 0, 100_000),  # in a chart
)
"""Columns of queries that are computed from several columns or rows."""


@cache
def columns(names: str) -> tuple[Column, ...]:
    """Return the columns in `names`, a text such as `stream.id .base sample.*`.

    `.column` is a column of the table that was named last; `table.*` means every column of a table.
    """
    found, table = list[Column](), ""
    for part in names.split():
        before, name = part.split(".")
        table = before or table
        candidates = (*TABLES[table], *_FIGURES.get(table, ()))
        found += TABLES[table] if name == "*" else [column for column in candidates if column.name == name][:1]
    return tuple(found)


def sound(table: str) -> str:
    """Return an SQL condition for the rows of a table: true if every column is sound, false or NULL otherwise."""
    return " AND ".join(column.condition for column in TABLES[table])


def checked(names: str, rows: list[RowT]) -> list[RowT]:
    """Return the rows unchanged. Raises UnsoundError if a value does not fit its column (`names`: see `columns`)."""
    if rows:
        for column, values in zip(columns(names), zip(*rows, strict=True), strict=True):
            column.check(values)
    return rows
