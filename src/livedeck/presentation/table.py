"""Tables as lines, whatever their rows are: which columns fit a width, the head, a row, the order of the rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from livedeck.monitor import Snapshot
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import Line, StyleRole, fit

T = TypeVar("T")


Value = float | str | tuple[str, ...] | None

"""What a row is sorted and filtered by: a number, a word, several words; None where it is not known."""


Cells = Callable[[T, RenderTime], Value]


GAP = 1


@dataclass(frozen=True, slots=True)
class Column(Generic[T]):
    """A column: what it is called in commands, its head, its least cells, and what it says of a row.

    `rank`: its place in line to be dropped where room is short, 0 never. `value`: what it is sorted by. `wide`: it
    takes the cells that are left over, until it has `most` (0: all of them).
    """

    name: str
    head: str
    cells: int
    rank: int
    say: Callable[[T, RenderTime], Line]
    value: Cells[T] | None = None
    right: bool = False
    wide: bool = False
    most: int = 0


@dataclass(frozen=True, slots=True)
class TableSchema(Generic[T]):
    """A kind of table. `key`: the identity that the cursor follows. `text`: what a bare word of a filter is sought in.

    `rows`: the rows of a snapshot. `fields`: what can be filtered by beside the columns. `grave`: whether the row has a
    critical fault: such rows are counted wherever they are out of sight.
    """

    columns: tuple[Column[T], ...]
    key: Callable[[T], str]
    text: Callable[[T], str]
    grave: Callable[[T], bool]
    rows: Callable[[Snapshot], Sequence[T]]
    fields: Mapping[str, Cells[T]] = field(default_factory=dict)

    def said(self) -> dict[str, Cells[T]]:
        """Everything that rows can be filtered by."""
        return {**{column.name: column.value for column in self.columns if column.value}, **self.fields}

    def sortable(self) -> list[str]:
        """The names of the columns that rows can be sorted by."""
        return [column.name for column in self.columns if column.value]


Layout = Sequence[tuple[Column[T], int]]


def layout(columns: Iterable[Column[T]], width: int, hidden: Collection[str] = ()) -> list[tuple[Column[T], int]]:
    """The columns that fit and the cells of each; the wide ones share what is left over."""
    kept = [column for column in columns if column.name not in hidden]
    while _needed(kept) > width and any(column.rank for column in kept):
        kept.remove(max(kept, key=lambda column: column.rank))
    spare, more = max(0, width - _needed(kept)), dict[str, int]()
    wide = sorted((column for column in kept if column.wide), key=lambda column: not column.most)
    for at, column in enumerate(wide):
        share = spare // (len(wide) - at)
        more[column.name] = max(0, min(share, column.most - column.cells)) if column.most else share
        spare -= more[column.name]
    return [(column, column.cells + more.get(column.name, 0)) for column in kept]


def _needed(kept: Sequence[Column[T]]) -> int:
    return sum(column.cells + GAP for column in kept)


def head(columns: Layout[T], sort: str = "", *, down: bool = False) -> Line:
    """The names of the columns; an arrow behind the one that the rows are sorted by."""
    line: Line = []
    for column, size in columns:
        mark = ("↓" if down else "↑") if column.name == sort else ""
        name = fit([(column.head, StyleRole.HEAD), (mark, StyleRole.STRONG)], size, right=column.right)
        line += [*name, (" " * GAP, StyleRole.TEXT)]
    return line


def row(subject: T, moment: RenderTime, columns: Layout[T]) -> Line:
    """One row."""
    line: Line = []
    for column, size in columns:
        cell = fit(column.say(subject, moment), size, right=column.right, ellipsis=True)
        line += [*cell, (" " * GAP, StyleRole.TEXT)]
    return line


def ordered(rows: Iterable[T], said: Cells[T], moment: RenderTime, *, down: bool) -> list[T]:
    """The rows by that value; rows of the same value stay as they are, and what is not known comes last."""
    valued = [(said(each, moment), each) for each in rows]
    known = sorted((pair for pair in valued if pair[0] is not None), key=lambda pair: _rank(pair[0]), reverse=down)
    return [each for _, each in known] + [each for value, each in valued if value is None]


def _rank(value: Value) -> tuple[float, str]:
    if isinstance(value, float | int):
        return float(value), ""
    return 0.0, " ".join(value).casefold() if isinstance(value, tuple) else (value or "").casefold()
