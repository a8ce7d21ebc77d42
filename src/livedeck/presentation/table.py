"""Tables as lines, whatever their rows are: which columns fit a width, the head, a row, the order of the rows. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Generic, TypeVar

from livedeck.monitor import Snapshot
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import Line, StyleRole, fit, plain

T = TypeVar("T")

Value = float | str | tuple[str, ...] | None
"""What a row is sorted and filtered by: a number, a word, several words; None where it is not known."""

ValueGetter = Callable[[T, RenderTime], Value]

SORT, SELECT = "view.sort", "row.select"
"""The commands that a click is: on the title of a column, on a line about an event."""

GAP = 1
"""Cells between two columns."""


@dataclass(frozen=True, slots=True)
class Column(Generic[T]):
    """A column: its name in commands and filters, its title, its least width in cells, and how it renders a row.

    `rank`: where not all columns fit, the highest rank is dropped first; 0 is never dropped. `value`: what it is sorted
    by. `grows`: it takes the cells that are left over, up to `max_width` (0: no limit). `draw`: how it renders a row in
    so many cells, where its text depends on them.
    """

    name: str
    title: str
    width: int
    rank: int
    render: Callable[[T, RenderTime], Line]
    value: ValueGetter[T] | None = None
    right: bool = False
    grows: bool = False
    max_width: int = 0
    draw: Callable[[T, RenderTime, int], Line] | None = None


def text_column(
    name: str,
    title: str,
    width: int,
    rank: int,
    text: Callable[[T], str],
    *,
    value: Callable[[T], Value] | None = None,
    role: StyleRole = StyleRole.TEXT,
    right: bool = False,
    grows: bool = False,
) -> Column[T]:
    """A column of plain text, sorted by `value`, or else by the text; in the role STALE on stale data."""
    getter = value or text

    def render(row: T, render_time: RenderTime) -> Line:
        return [(text(row), StyleRole.STALE if render_time.stale else role)]

    return Column(name, title, width, rank, render, lambda row, _: getter(row), right, grows)


@dataclass(frozen=True, slots=True)
class TableSchema(Generic[T]):
    """A kind of table. `key`: the identity that the cursor follows. `text`: where a bare word of a filter is searched.

    `is_critical`: whether the row has a critical fault; such rows are counted wherever they are out of sight. `rows`:
    the rows of a snapshot. `fields`: what can be filtered by besides the columns. `named_by`: the columns that a row is
    called by; none: the one that grows. `is_worst_first`: whether unsorted rows are in the order of their urgency.
    `sections`: of unsorted rows, each head and the number of the row that it stands over. `count`: what rows are that
    are out of sight below, in words. `has_ground`: whether a row with a critical fault stands on a ground of that.
    """

    columns: tuple[Column[T], ...]
    key: Callable[[T], str]
    text: Callable[[T], str]
    is_critical: Callable[[T], bool] = lambda _: False
    rows: Callable[[Snapshot], Sequence[T]] = lambda _: ()
    fields: Mapping[str, ValueGetter[T]] = field(default_factory=dict)
    named_by: tuple[str, ...] = ()
    is_worst_first: bool = False
    sections: Callable[[Sequence[T]], Sequence[tuple[int, Line]]] = lambda _: ()
    count: Callable[[Iterable[T], RenderTime], str] = lambda *_: ""
    has_ground: bool = False

    def row_name(self, row: T, render_time: RenderTime) -> str:
        """What a row is called in a sentence."""
        named = [column for column in self.columns if column.name in self.named_by]
        columns = named or [column for column in self.columns if column.grows][:1]
        return " ".join(plain(column.render(row, render_time)).strip() for column in columns)

    def filter_fields(self) -> dict[str, ValueGetter[T]]:
        """Everything that rows can be filtered by, by name."""
        return {**{column.name: column.value for column in self.columns if column.value}, **self.fields}

    def sortable_columns(self) -> list[str]:
        """The names of the columns that rows can be sorted by."""
        return [column.name for column in self.columns if column.value]


Layout = Sequence[tuple[Column[T], int]]
"""The visible columns and the width of each in cells."""


def layout(columns: Iterable[Column[T]], width: int, hidden: Collection[str] = ()) -> list[tuple[Column[T], int]]:
    """The columns that fit and the width of each; the growing ones share what is left over."""
    visible = [column for column in columns if column.name not in hidden]
    while _total_width(visible) > width and any(column.rank for column in visible):
        visible.remove(max(visible, key=lambda column: column.rank))
    spare, extra = max(0, width - _total_width(visible)), dict[str, int]()
    growing = sorted((column for column in visible if column.grows), key=lambda column: column.max_width or inf)
    for index, column in enumerate(growing):
        share = spare // (len(growing) - index)
        extra[column.name] = max(0, min(share, column.max_width - column.width)) if column.max_width else share
        spare -= extra[column.name]
    return [(column, column.width + extra.get(column.name, 0)) for column in visible]


def _total_width(columns: Sequence[Column[T]]) -> int:
    return sum(column.width + GAP for column in columns)


def head_line(columns: Layout[T], sort: str = "", *, down: bool = False) -> Line:
    """The titles of the columns; an arrow behind the one that the rows are sorted by."""
    line: Line = []
    for column, width in columns:
        arrow = ("↓" if down else "↑") if column.name == sort else ""
        title = fit([(column.title, StyleRole.HEAD), (arrow, StyleRole.STRONG)], width, right=column.right)
        line += [*title, (" " * GAP, StyleRole.TEXT)]
    return line


def row_line(row: T, render_time: RenderTime, columns: Layout[T]) -> Line:
    """One row."""
    line: Line = []
    for column, width in columns:
        text = column.draw(row, render_time, width) if column.draw else column.render(row, render_time)
        cell = fit(text, width, right=column.right, ellipsis=True)
        line += [*cell, (" " * GAP, StyleRole.TEXT)]
    return line


def sort_rows(rows: Iterable[T], value: ValueGetter[T], render_time: RenderTime, *, down: bool) -> list[T]:
    """The rows by that value: a stable sort, rows without a known value last."""
    pairs = [(value(row, render_time), row) for row in rows]
    with_value = sorted(
        (pair for pair in pairs if pair[0] is not None), key=lambda pair: _sort_key(pair[0]), reverse=down
    )
    return [row for _, row in with_value] + [row for key, row in pairs if key is None]


def _sort_key(value: Value) -> tuple[float, str]:
    if isinstance(value, float | int):
        return float(value), ""
    return 0.0, " ".join(value).casefold() if isinstance(value, tuple) else (value or "").casefold()
